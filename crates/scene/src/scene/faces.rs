//! Faces of the domain that coincide with a body.

use crate::{Body, Scene, Vec3};

/// Distance from a face within which a body's surface coincides with it, as a share of the domain's extent
/// across the face: the rounding of coordinates in a scene file.
const COINCIDENCE: f64 = 1e-6;

/// Points along each side of a face at which surfaces are compared.
const POINTS_PER_SIDE: usize = 9;

impl Scene {
    /// Returns the index of the body at rest whose surface coincides with the whole of each lower and each
    /// upper face of the domain, by axis, if there is one: such a body is the wall, with its own friction. A
    /// mesh never counts.
    pub fn bodies_at_faces(&self) -> [[Option<usize>; 3]; 2] {
        [0.0, 1.0].map(|side| {
            std::array::from_fn(|axis| {
                self.bodies.iter().position(|body| body.motion.is_none() && self.is_at_face(body, axis, side))
            })
        })
    }

    /// Returns true if a body's surface coincides with the face at the lower (`side` 0) or the upper (1) end
    /// of an axis.
    fn is_at_face(&self, body: &Body, axis: usize, side: f64) -> bool {
        let extent_m: Vec3 = std::array::from_fn(|k| self.domain.max_m[k] - self.domain.min_m[k]);
        let share = |idx: usize| (idx as f64 + 0.5) / POINTS_PER_SIDE as f64;
        let depth_m = |i: usize, j: usize, inside: f64| {
            let mut shares = [0.0; 3];
            shares[axis] = side + (1.0 - 2.0 * side) * inside;
            shares[(axis + 1) % 3] = share(i);
            shares[(axis + 2) % 3] = share(j);
            let point_m = std::array::from_fn(|k| self.domain.min_m[k] + shares[k] * extent_m[k]);
            self.body_depth_m(body, point_m) / extent_m[axis]
        };
        (0..POINTS_PER_SIDE * POINTS_PER_SIDE).all(|point| {
            let (i, j) = (point / POINTS_PER_SIDE, point % POINTS_PER_SIDE);
            // A point inside the domain is as far from the body as from the face.
            [0.0, 1e-3].iter().all(|inside| (depth_m(i, j, *inside) + inside).abs() < COINCIDENCE)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use crate::Scene;

    const SCENE: &str = "
        version = 1
        name = \"faces\"
        up_axis = \"y\"
        [time]
        duration_s = 0.1
        dt_s = \"auto\"
        [solver]
        kind = \"dem\"
        [dem]
        radius_m = 0.01
        density_kg_m3 = 900.0
        normal_stiffness_n_m = 1e4
        [domain]
        min_m = [1, 2, 3]
        max_m = [2, 4, 6]
        [[particles]]
        shape = { box = { min_m = [1.4, 2.5, 4], max_m = [1.5, 2.6, 4.1] } }
    ";

    fn at_faces(bodies: &str) -> [[Option<usize>; 3]; 2] {
        let text = format!("{SCENE}\n{bodies}");
        Scene::parse(&text, "faces.toml", &[]).unwrap().bodies_at_faces()
    }

    #[test]
    fn a_body_is_at_a_face_if_its_surface_is_the_face() {
        let none = [[None; 3]; 2];
        let [lower, upper] = [[None, Some(0), None], [None; 3]];
        let plane = |point: &str, normal: &str| {
            at_faces(&format!("[[bodies]]\nshape = {{ plane = {{ point_m = {point}, normal = {normal} }} }}"))
        };
        assert_eq!(plane("[7, 2, 0]", "[0, 3, 0]"), [lower, upper]);
        assert_eq!(plane("[7, 4, 0]", "[0, -1, 0]"), [upper, lower]);
        assert_eq!(plane("[7, 2.0001, 0]", "[0, 1, 0]"), none);
        assert_eq!(plane("[1, 2, 3]", "[0.001, 1, 0]"), none);
        assert_eq!(plane("[7, 2, 0]", "[0, -1, 0]"), none);
        let container = |more: &str| {
            at_faces(&format!(
                "[[bodies]]\nside = \"inside\"\nshape = {{ box = {{ centre_m = [1.5, 3, 4.5], size_m = {more} }} }}"
            ))
        };
        assert_eq!(container("[1, 2, 3]"), [[Some(0); 3]; 2]);
        assert_eq!(container("[1, 2.1, 3]"), [[Some(0), None, Some(0)]; 2]);
        // A table that is smaller than the floor is not the floor.
        let table = "[[bodies]]\nshape = { box = { centre_m = [1.5, 1.5, 4.5], size_m = [0.5, 1, 1] } }";
        assert_eq!(at_faces(table), none);
        // A plane that moves leaves the face.
        let moving = "[[bodies]]\nshape = { plane = { point_m = [0, 2, 0], normal = [0, 1, 0] } }\n\
                      motion = { uniform = { velocity_m_s = [0, -1, 0] } }";
        assert_eq!(at_faces(moving), none);
    }
}
