//! Static parts of a picture: ground, bodies on it, sun and fog; and slabs, unless they are moved.

use super::body_lines::is_solid_on_ground;
use super::body_solids;
use super::space::{up_axis, vec3};
use crate::failure::Failure;
use frazil_render::glam::Vec3;
use frazil_render::{
    DirectionalLight, Frame, Light, Mesh, OrbitCamera, PieceShapes, Pieces, SnowLook, Solid, SolidShape,
    Terrain,
};
use frazil_scene::{Body, BodyShape, Scene, box_axes};
use frazil_solvers::BodyPoses;
use frazil_vk::Device;

/// Ground, bodies on it, slabs and light of a scene, on the device.
pub struct Landscape {
    terrain: Option<Terrain>,
    /// Solid bodies on the ground, each with its index in the scene.
    solids: Vec<(usize, Solid)>,
    slabs: Option<Slabs>,
    /// Surfaces of dynamic bodies.
    bodies: Option<PieceShapes>,
    light: Light,
    lights: Vec<DirectionalLight>,
    snow: SnowLook,
}

/// Pieces of a scene's slabs.
struct Slabs {
    shapes: PieceShapes,
    /// Poses at time 0.
    start: BodyPoses,
}

/// Uploads poses of rigid bodies: centres in m, and rotations as unit quaternions (x, y, z, w). Set-up: it
/// waits for the device.
///
/// # Errors
/// Out of memory.
pub fn poses(device: &Device, centres_m: &[[f32; 3]], rotations: &[[f32; 4]]) -> Result<BodyPoses, Failure> {
    Ok(BodyPoses {
        centre_m: device.buffer_from("centres of bodies", centres_m)?,
        rotation: device.buffer_from("rotations of bodies", rotations)?,
    })
}

/// Display-encoded colours of solid bodies and of ice.
const SOLID_COLOUR: [f32; 3] = [0.47, 0.34, 0.25];
const ICE_COLOUR: [f32; 3] = [0.62, 0.79, 0.90];
/// Default angle of the sun to the left of the scene's camera, in degrees.
const SUN_ASIDE_DEG: f64 = 60.0;
/// Defaults of the relief and the glitter of snow in scenes with a terrain; lengths in spacings.
const BUMP_SLOPE: f64 = 0.08;
const BUMP_SPACINGS: f64 = 6.0;
const GLITTER: f64 = 0.5;
const GLITTER_CELL_SPACINGS: f64 = 0.25;

impl Landscape {
    /// Uploads the static parts of a scene to the device. Set-up: it waits.
    pub fn new(device: &Device, scene: &Scene) -> Result<Self, Failure> {
        let ground = scene.ground().map(|ground| {
            Terrain::new(device, ground.n_columns(), ground.cell_m() as f32, &ground.heights_m())
        });
        let standing = scene.bodies.iter().enumerate().filter(|(_, body)| is_solid_on_ground(scene, body));
        let shapes = standing.filter_map(|(idx, body)| Some((idx, shape_of(scene, body)?)));
        let solids =
            shapes.map(|(idx, shape)| Solid::new(device, &shape, SOLID_COLOUR).map(|solid| (idx, solid)));
        let slabs = if scene.slabs().is_empty() { None } else { Some(Slabs::new(device, scene)?) };
        Ok(Self {
            terrain: ground.transpose().map_err(Failure::device)?,
            solids: solids.collect::<Result<_, _>>().map_err(Failure::device)?,
            slabs,
            bodies: body_solids::shapes(device, scene).map_err(Failure::device)?,
            light: light_of(scene),
            lights: lights_of(scene),
            snow: snow_of(scene),
        })
    }

    /// Returns true if the scene has a visible ground, which then replaces the default plane.
    pub fn has_ground(&self) -> bool {
        self.terrain.is_some()
    }

    /// Returns the number of triangles of the ground in a picture.
    pub fn n_triangles(&self, camera: &OrbitCamera, width: u32, height: u32) -> u64 {
        self.terrain.as_ref().map_or(0, |terrain| terrain.n_triangles(camera, width, height))
    }

    /// Returns two opposite corners in m of a box around the ground.
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        self.terrain.as_ref().map(Terrain::bounds)
    }

    /// Returns the meshes of the solid bodies on the ground, without those that move in `scene`, which
    /// differs in live parameters alone.
    pub fn solids<'a>(&'a self, scene: &'a Scene) -> impl Iterator<Item = Mesh<'a>> {
        let at_rest = self.solids.iter().filter(|(idx, _)| is_solid_on_ground(scene, &scene.bodies[*idx]));
        at_rest.map(|(_, solid)| solid.mesh())
    }

    /// Returns the slabs at `poses`, or at their poses at time 0.
    pub fn slabs<'a>(&'a self, poses: Option<&'a BodyPoses>) -> Option<Pieces<'a>> {
        let slabs = self.slabs.as_ref()?;
        let BodyPoses { centre_m, rotation } = poses.unwrap_or(&slabs.start);
        Some(Pieces { shapes: &slabs.shapes, centre: centre_m, rotation, color: ICE_COLOUR })
    }

    /// Returns the dynamic bodies at `poses`.
    pub fn bodies<'a>(&'a self, poses: Option<&'a BodyPoses>) -> Option<Pieces<'a>> {
        let (shapes, poses) = (self.bodies.as_ref()?, poses?);
        Some(Pieces { shapes, centre: &poses.centre_m, rotation: &poses.rotation, color: SOLID_COLOUR })
    }

    /// Returns a frame with only the ground and the light.
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            terrain: self.terrain.as_ref(),
            light: self.light,
            lights: &self.lights,
            snow: self.snow,
            ..Frame::default()
        }
    }
}

impl Slabs {
    fn new(device: &Device, scene: &Scene) -> Result<Self, Failure> {
        let sampled = scene.sample_slabs()?;
        let narrow = |v: &[f64; 3]| v.map(|x| x as f32);
        let shapes = sampled
            .pieces
            .iter()
            .map(|piece| (piece.vertices_m.iter().map(narrow).collect(), piece.faces.as_slice()));
        let centres: Vec<[f32; 3]> = sampled.pieces.iter().map(|piece| narrow(&piece.centre_m)).collect();
        let unturned = vec![[0.0, 0.0, 0.0, 1.0]; centres.len()];
        Ok(Self {
            shapes: PieceShapes::new(device, shapes).map_err(Failure::device)?,
            start: poses(device, &centres, &unturned)?,
        })
    }
}

fn shape_of(scene: &Scene, body: &Body) -> Option<SolidShape> {
    match &body.shape {
        BodyShape::Box { centre_m, size_m, rotation_deg } => {
            let axes = box_axes(*rotation_deg).map(vec3);
            let half = std::array::from_fn(|axis| axes[axis] * (0.5 * size_m[axis]) as f32);
            Some(SolidShape::cuboid(vec3(*centre_m), half))
        }
        BodyShape::UprightCylinder { foot_m, radius_m, height_m } => {
            let level = scene.up_axis.horizontal();
            let mut foot = Vec3::ZERO;
            foot[level[0]] = foot_m[0] as f32;
            foot[level[1]] = foot_m[1] as f32;
            // Extended into the ground, which may slope away below its rim.
            foot[scene.up_axis.index()] = (scene.foot_height_m(*foot_m) - radius_m) as f32;
            let height_m = (height_m + radius_m) as f32;
            Some(SolidShape::cylinder(foot, *radius_m as f32, height_m, up_axis(scene.up_axis)))
        }
        BodyShape::Mesh { scale, offset_m, .. } => {
            let mesh = body.mesh()?;
            let place = |idx: u32| {
                let vertex = mesh.vertices()[idx as usize];
                vec3(std::array::from_fn(|axis| offset_m[axis] + scale * vertex[axis]))
            };
            Some(SolidShape::flat(mesh.triangles().iter().map(|triangle| triangle.map(place))))
        }
        _ => None,
    }
}

fn light_of(scene: &Scene) -> Light {
    let render = &scene.render;
    let azimuth_deg = render.sun_azimuth_deg.unwrap_or(render.camera.azimuth_deg - SUN_ASIDE_DEG);
    let up_axis = up_axis(scene.up_axis);
    Light {
        fog_color: render.background_srgb.map(|component| component as f32),
        fog_per_m: render.fog_per_m as f32,
        ..Light::from_sun(up_axis, azimuth_deg as f32, render.sun_elevation_deg as f32)
    }
}

fn lights_of(scene: &Scene) -> Vec<DirectionalLight> {
    let up_axis = up_axis(scene.up_axis);
    let lights = scene.render.lights.iter().map(|light| DirectionalLight {
        to_light: Light::from_sun(up_axis, light.azimuth_deg as f32, light.elevation_deg as f32).to_sun,
        color: light.color_srgb.map(|component| component as f32),
        intensity: light.intensity as f32,
    });
    lights.collect()
}

fn snow_of(scene: &Scene) -> SnowLook {
    let (snow, spacing_m) = (&scene.render.snow, scene.particle_spacing_m());
    // On the scale of a snowball, bumps look like dirt.
    let on_terrain = |value: f64| if scene.ground().is_some() { value } else { 0.0 };
    SnowLook {
        bump_slope: snow.bump_slope.unwrap_or(on_terrain(BUMP_SLOPE)) as f32,
        bump_wavelength_m: snow.bump_wavelength_m.unwrap_or(BUMP_SPACINGS * spacing_m) as f32,
        glitter: snow.glitter.unwrap_or(on_terrain(GLITTER)) as f32,
        glitter_cell_m: snow.glitter_cell_m.unwrap_or(GLITTER_CELL_SPACINGS * spacing_m) as f32,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use crate::picture::{Painter, Shown, camera, schemes};
    use frazil_kernels::Counts;
    use frazil_particles::{ColumnKind, ColumnView, Material, ParticleSet};
    use frazil_render::Pixels;
    use frazil_scene::RenderScheme;
    use frazil_testkit::own_device;
    use frazil_vk::ReadbackRing;

    /// Draws the initial state of a scene in each scheme, and in the third also with all slabs lifted by 20
    /// m. The pictures are written into the folder that `FRAZIL_WRITE_PICTURES` names.
    fn pictures(scene: &Scene) -> Vec<(RenderScheme, Pixels)> {
        let device = own_device();
        let positions = scene.sample().unwrap().positions_m;
        let n = positions.len() as u32;
        let count = Counts::new(&device).unwrap().upload(&device, "count", n, n).unwrap();
        let position = device.buffer_from("position", &positions).unwrap();
        let ring = ReadbackRing::new(&device);
        let mut painter = Painter::new(&device, scene, positions.len()).unwrap();
        let lifted: Vec<[f32; 3]> = scene
            .sample_slabs()
            .unwrap()
            .pieces
            .iter()
            .map(|piece| (vec3(piece.centre_m) + 20.0 * Vec3::Z).to_array())
            .collect();
        let unturned = vec![[0.0, 0.0, 0.0, 1.0]; lifted.len()];
        let poses = poses(&device, &lifted, &unturned).unwrap();
        // Without water, the scheme of fluids is that of sprites.
        let schemes = schemes(scene).into_iter().filter(|scheme| *scheme != RenderScheme::Fluid);
        let schemes = schemes.map(|scheme| (scheme, None));
        let cases: Vec<_> = schemes.chain([(RenderScheme::SurfaceAndSlabs, Some(poses))]).collect();
        let mut drawn = Vec::new();
        for (i, (scheme, slabs)) in cases.into_iter().enumerate() {
            painter.set_scheme(scheme);
            let columns = vec![ColumnView::new("position", "m", ColumnKind::Vec3, position.cast())];
            let set = ParticleSet { name: "grains", material: Material::Grains, count: &count, columns };
            let shown = Shown { sets: vec![set], slabs, bodies: None, blocks: None };
            let mut recorder = device.recorder().unwrap();
            let image = painter.record(&mut recorder, &shown, camera(scene), "height", 0.0).unwrap();
            let (width, height) = image.size();
            let pending = ring.read_image(&mut recorder, image).unwrap();
            device.submit(recorder).unwrap();
            let pixels = pending.wait().unwrap();
            if let Some(folder) = std::env::var_os("FRAZIL_WRITE_PICTURES") {
                let path = std::path::Path::new(&folder).join(format!("{i}_{}.png", scheme.name()));
                frazil_render::write_png(&path, width, height, &pixels).unwrap();
            }
            drawn.push((scheme, Pixels { width, height, pixels }));
        }
        device.check_validation().unwrap();
        drawn
    }

    /// Returns the fraction of pixels in which two pictures differ by more than rounding.
    fn difference(a: &Pixels, b: &Pixels) -> f64 {
        let differs = |(a, b): (&u32, &u32)| {
            a.to_le_bytes().iter().zip(b.to_le_bytes()).any(|(a, b)| a.abs_diff(b) > 8)
        };
        a.pixels.iter().zip(&b.pixels).filter(|pair| differs(*pair)).count() as f64 / a.pixels.len() as f64
    }

    #[test]
    fn the_three_schemes_of_an_avalanche_with_slabs_differ_by_what_they_show() {
        let size = if std::env::var_os("FRAZIL_WRITE_PICTURES").is_some() { [1280, 720] } else { [480, 270] };
        let near = "render.camera={target_m=[28,80,158],distance_m=120,azimuth_deg=60,elevation_deg=35}";
        let overrides = [
            "scale=0.5".to_owned(),
            near.to_owned(),
            format!("render.width_px={}", size[0]),
            format!("render.height_px={}", size[1]),
        ];
        // Not a built-in scene, as long as no solver moves slabs.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/avalanche_slabs.toml");
        let scene = Scene::find(path, &overrides).unwrap();
        let pictures = pictures(&scene);
        let schemes: Vec<_> = pictures.iter().map(|(scheme, _)| *scheme).collect();
        assert_eq!(schemes[..3], RenderScheme::ALL[..3]);
        let between = |a: usize, b: usize| difference(&pictures[a].1, &pictures[b].1);
        assert!(between(0, 1) > 0.01, "sprites and surface: {}", between(0, 1));
        // The third adds only slabs: a strip above the snow.
        assert!((0.003..0.3).contains(&between(1, 2)), "slabs: {}", between(1, 2));
        assert!(between(2, 3) > 0.003, "slabs lifted: {}", between(2, 3));
    }

    #[test]
    fn the_sun_stands_beside_the_camera_unless_the_scene_says_where() {
        let sun = |overrides: &[&str]| {
            let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
            light_of(&Scene::find("slope_obstacle", &overrides).unwrap()).to_sun
        };
        // The scene's camera is at 0, and 0 is against the y axis.
        let expected = |azimuth_deg: f32, elevation_deg: f32| {
            let [a, e] = [azimuth_deg, elevation_deg].map(f32::to_radians);
            Vec3::new(a.sin() * e.cos(), -a.cos() * e.cos(), e.sin())
        };
        assert!((sun(&[]) - expected(-60.0, 35.0)).length() < 1e-6);
        assert!(
            (sun(&["render.sun_azimuth_deg=90", "render.sun_elevation_deg=10"]) - expected(90.0, 10.0))
                .length()
                < 1e-6
        );
    }
}
