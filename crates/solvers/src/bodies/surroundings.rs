//! Domain, gravity and bodies of a scene, as kernels read them.

use super::convert::{convert_body, convert_terrain, narrow};
use super::dynamic_body::DynamicBody;
use crate::SolverError;
use frazil_scene::{Body as SceneBody, Joint, Scene};
use frazil_shaders::bodies::dynamic_body::FIXED_GROUP;
use frazil_shaders::common::body::{FIRST_MOTION_BIT, MOTION_UNIFORM};
use frazil_shaders::types::Body;
use frazil_vk::{Buffer, Device};

/// Domain, gravity and bodies of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Lower corner of the domain in m.
    pub domain_min_m: [f32; 3],
    /// Upper corner of the domain in m.
    pub domain_max_m: [f32; 3],
    /// Friction of the lower and of the upper faces of the domain, by axis; none where it is that of all
    /// walls.
    pub face_friction: [[Option<f32>; 3]; 2],
    /// True for the lower and the upper faces, by axis, that coincide with a body, which is the wall there.
    pub face_is_body: [[bool; 3]; 2],
    /// Gravitational acceleration in m/s².
    pub gravity_m_s2: [f32; 3],
    /// Vertical axis: 0, 1 or 2.
    pub up_axis: u32,
    /// Bodies that particles collide with: the ground, and those of the scene without and then with a name.
    pub bodies: Vec<Body>,
    /// Names of the last bodies, those that the scene names.
    pub names: Vec<String>,
    /// Data of bodies, to which they refer by index: heights of heightfields in m, triangles of meshes,
    /// keyframes of motions.
    pub body_data: Vec<f32>,
    /// Those of the bodies that move by their loads.
    pub dynamic: Vec<DynamicBody>,
    /// Group of each: welds hold the bodies of one together. The least index + 1, or [`FIXED_GROUP`].
    pub groups: Vec<u32>,
    /// Their joints.
    pub joints: Vec<Joint>,
    /// Time step in s.
    pub dt_s: f32,
    /// Density in kg/m³ of particles that move with a body next to them; 0 if contacts are springs.
    pub medium_kg_m3: f64,
    /// Distance in m of dynamic bodies in contact, unless they have their own.
    pub gap_m: f64,
}

impl Surroundings {
    /// Reads the domain, gravity and bodies of a scene.
    ///
    /// # Errors
    /// The scene has a body of a kind unknown to solvers.
    pub fn of(scene: &Scene) -> Result<Self, SolverError> {
        let are_springs = scene.contact_defaults().is_none_or(|defaults| defaults.restitution.is_some());
        let mut surroundings = Surroundings {
            domain_min_m: narrow(scene.domain.min_m),
            domain_max_m: narrow(scene.domain.max_m),
            face_friction: scene
                .domain
                .friction
                .unwrap_or_default()
                .faces()
                .map(|axes| axes.map(|face| face.map(|friction| friction as f32))),
            face_is_body: scene.bodies_at_faces().map(|axes| axes.map(|body| body.is_some())),
            gravity_m_s2: narrow(scene.gravity_m_s2()),
            up_axis: scene.up_axis.index() as u32,
            joints: scene.joints.clone(),
            dt_s: scene.dt_s() as f32,
            medium_kg_m3: if are_springs { 0.0 } else { scene.rest_density_kg_m3() },
            gap_m: if are_springs { 0.0 } else { scene.particle_spacing_m() },
            ..Default::default()
        };
        if let Some(terrain) = scene.ground() {
            let body = convert_terrain(scene, terrain, &mut surroundings.body_data)?;
            surroundings.bodies.push(body);
        }
        let mut n_dynamic = 0;
        for (body_idx, body) in in_order(scene) {
            let mut converted = convert_body(scene, body_idx, body, &mut surroundings.body_data)?;
            if body.dynamics().is_some() {
                converted.n_keys = n_dynamic;
                n_dynamic += 1;
            }
            surroundings.bodies.push(converted);
            surroundings.names.extend(body.name.clone());
        }
        let first_named = surroundings.first_named() as usize;
        let groups = scene.weld_groups();
        let of_dynamic: Vec<usize> = in_order(scene)
            .filter(|(_, body)| body.dynamics().is_some())
            .filter_map(|(idx, _)| groups.get(idx).copied())
            .collect();
        let first = |group: &usize| of_dynamic.iter().position(|other| other == group).unwrap_or_default();
        let number = |group: &usize| if *group == 0 { FIXED_GROUP } else { first(group) as u32 + 1 };
        surroundings.groups = of_dynamic.iter().map(number).collect();
        let own = usize::from(scene.ground().is_some());
        for (k, (_, body)) in in_order(scene).enumerate() {
            surroundings.dynamic.extend(DynamicBody::of(body, own + k, first_named));
        }
        Ok(surroundings)
    }

    /// Returns a name for each of the scene's bodies, in the order of [`Self::bodies`].
    pub fn labels(scene: &Scene) -> Vec<String> {
        let label = |(idx, body): (usize, &SceneBody)| body.name.clone().unwrap_or(format!("bodies.{idx}"));
        let ground = scene.ground().map(|_| "terrain".to_owned());
        ground.into_iter().chain(in_order(scene).map(label)).collect()
    }

    /// Uploads the bodies, and the data that they refer to. Without any, buffers have one element that no
    /// kernel reads. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn upload(&self, device: &Device) -> frazil_vk::Result<(Buffer<Body>, Buffer<f32>)> {
        let nothing = [placeholder_body()];
        let bodies = if self.bodies.is_empty() { &nothing[..] } else { &self.bodies };
        let data = if self.body_data.is_empty() { &[0.0][..] } else { &self.body_data };
        Ok((device.buffer_from("bodies", bodies)?, device.buffer_from("body data", data)?))
    }

    /// Returns the index of the first body that the scene names: loads are measured on bodies from it on.
    pub fn first_named(&self) -> u32 {
        (self.bodies.len() - self.names.len()) as u32
    }

    /// Returns `BODY_KINDS` of kernels: a bit for each kind of body in the scene, and for each kind of motion
    /// that is not uniform.
    pub(crate) fn kinds(&self) -> u32 {
        let motion = |body: &Body| match body.motion {
            MOTION_UNIFORM => 0,
            motion => 1 << (FIRST_MOTION_BIT + motion),
        };
        self.bodies.iter().fold(0, |kinds, body| kinds | 1 << body.kind | motion(body))
    }
}

/// Returns the scene's bodies with their indices: those with a name last, on which loads are measured.
fn in_order(scene: &Scene) -> impl Iterator<Item = (usize, &SceneBody)> {
    let of = |is_named: bool| {
        scene.bodies.iter().enumerate().filter(move |(_, body)| body.name.is_some() == is_named)
    };
    of(false).chain(of(true))
}

/// Returns a body that no particle touches, for buffers that must not be empty.
fn placeholder_body() -> Body {
    Body { extent: [0.0, 1.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0], ..bytemuck::Zeroable::zeroed() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;
    use frazil_shaders::common::body::{
        BOX, CYLINDER, HEIGHTFIELD, MOTION_SPINNING, SPHERE, UPRIGHT_CYLINDER,
    };

    #[test]
    fn bodies_with_a_name_follow_the_ground_and_the_others_and_kinds_have_bits() {
        let bodies = "bodies=[{name='tree',shape={upright_cylinder={foot_m=[22,5],radius_m=0.4,height_m=8}}},\
             {shape={sphere={centre_m=[34,8,3],radius_m=1}}},\
             {name='ball',shape={sphere={centre_m=[40,8,3],radius_m=2}}}]";
        let scene = Scene::find("slope_obstacle", &[bodies.to_owned()]).unwrap();
        let surroundings = Surroundings::of(&scene).unwrap();
        let kinds: Vec<u32> = surroundings.bodies.iter().map(|body| body.kind).collect();
        assert_eq!(kinds, [HEIGHTFIELD, SPHERE, UPRIGHT_CYLINDER, SPHERE]);
        assert_eq!(
            (surroundings.first_named(), &surroundings.names[..]),
            (2, &["tree", "ball"].map(str::to_owned)[..])
        );
        assert_eq!(Surroundings::labels(&scene), ["terrain", "bodies.1", "tree", "ball"]);
        let foot_m = scene.ground().unwrap().height_m([22.0, 5.0]).unwrap();
        assert_eq!(surroundings.bodies[2].origin_m, [22.0, 5.0, foot_m as f32]);
        let at_rest = 1 << HEIGHTFIELD | 1 << SPHERE | 1 << UPRIGHT_CYLINDER;
        assert_eq!(surroundings.kinds(), at_rest);
        let turning = Surroundings::of(&Scene::find("drum", &[]).unwrap()).unwrap();
        let spinning = 1 << (FIRST_MOTION_BIT + MOTION_SPINNING);
        assert_eq!(turning.kinds(), 1 << BOX | 1 << CYLINDER | spinning);
    }
}
