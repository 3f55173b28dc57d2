//! A scene's size against what its file says.

use crate::shape::LATTICE_TOLERANCE;
use crate::validate::{Checker, number};
use crate::{BodyMotion, BodyShape, Collider, ObstacleShape, Scene, SceneError, Shape, SlabShape, Vec3};

const MIN_SCALE: f64 = 0.01;
const MAX_SCALE: f64 = 100.0;

impl Scene {
    /// Multiplies the scene's lengths by `scale`, which is 1 from then on, and returns what it was. Corners of boxes and of the
    /// domain go to whole particle spacings, so that what filled a container wall to wall still does; not so in scenes of grains.
    pub(crate) fn apply_scale(&mut self) -> Result<f64, SceneError> {
        let scale = self.scale;
        Checker { source: &self.source }.range("scale", scale, MIN_SCALE, MAX_SCALE)?;
        if scale == 1.0 {
            return Ok(scale);
        }
        self.scale = 1.0;
        if let Some(terrain) = &self.terrain
            && terrain.file.is_some()
        {
            let expected = "1 on a map, which has its own size";
            Checker { source: &self.source }.fail_between(
                &["scale", "terrain.file"],
                number(scale),
                expected,
            )?;
        }
        // Grains at random fill no container wall to wall, and a terrain ends where it does.
        let d = if self.dem.is_some() { 0.0 } else { self.particle_spacing_m() };
        let times = |lengths: &mut Vec3| *lengths = lengths.map(|x| scale * x);
        let corner = |corner: &mut Vec3| *corner = corner.map(|x| to_whole_spacings(scale * x, d));
        corner(&mut self.domain.min_m);
        corner(&mut self.domain.max_m);
        let n_axes = self.n_dimensions() as i32;
        for block in &mut self.particles {
            block.count = block.count.map(|n| ((n as f64 * scale.powi(n_axes)).round() as u64).max(n.min(1)));
            match &mut block.shape {
                Shape::Box { min_m, max_m } => {
                    corner(min_m);
                    corner(max_m);
                }
                Shape::Rectangle { min_m, max_m } => {
                    for corner in [min_m, max_m] {
                        *corner = corner.map(|x| to_whole_spacings(scale * x, d));
                    }
                }
                Shape::Circle { centre_m, radius_m } => {
                    *centre_m = centre_m.map(|x| scale * x);
                    *radius_m *= scale;
                }
                Shape::Sphere { centre_m, radius_m } => {
                    times(centre_m);
                    *radius_m *= scale;
                }
                Shape::Cylinder { centre_m, radius_m, height_m, .. } => {
                    times(centre_m);
                    *radius_m *= scale;
                    *height_m *= scale;
                }
                Shape::Text { height_m, origin_m, depth_m, .. } => {
                    times(origin_m);
                    *height_m *= scale;
                    depth_m.iter_mut().for_each(|depth_m| *depth_m *= scale);
                }
                Shape::Mesh { scale: unit_m, offset_m, .. } => {
                    times(offset_m);
                    *unit_m *= scale;
                }
            }
        }
        for collider in &mut self.colliders {
            match collider {
                Collider::Plane { point_m, .. } => times(point_m),
                Collider::Sphere { centre_m, radius_m, .. } => {
                    times(centre_m);
                    *radius_m *= scale;
                }
                Collider::Box { centre_m, size_m, .. } => {
                    times(centre_m);
                    times(size_m);
                }
                Collider::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                    *origin_m = origin_m.map(|x| scale * x);
                    *spacing_m *= scale;
                    heights_m.iter_mut().flatten().for_each(|height| *height *= scale);
                }
            }
            if let Some(motion) = collider.motion_mut() {
                motion.from_s *= scale;
                motion.until_s.iter_mut().for_each(|until_s| *until_s *= scale);
            }
        }
        for body in &mut self.bodies {
            match &mut body.shape {
                BodyShape::Plane { point_m, .. } => times(point_m),
                BodyShape::Sphere { centre_m, radius_m } => {
                    times(centre_m);
                    *radius_m *= scale;
                }
                BodyShape::Box { centre_m, size_m, .. } => {
                    times(centre_m);
                    times(size_m);
                }
                BodyShape::Cylinder { from_m, to_m, radius_m }
                | BodyShape::Capsule { from_m, to_m, radius_m } => {
                    times(from_m);
                    times(to_m);
                    *radius_m *= scale;
                }
                BodyShape::Mesh { scale: unit_m, offset_m, .. } => {
                    times(offset_m);
                    *unit_m *= scale;
                }
                BodyShape::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                    *origin_m = origin_m.map(|x| scale * x);
                    *spacing_m *= scale;
                    heights_m.iter_mut().flatten().for_each(|height| *height *= scale);
                }
            }
            match &mut body.motion {
                Some(BodyMotion::Uniform(motion)) => {
                    motion.from_s *= scale;
                    motion.until_s.iter_mut().for_each(|until_s| *until_s *= scale);
                }
                Some(BodyMotion::Oscillating { amplitude_m, frequency_hz, .. }) => {
                    times(amplitude_m);
                    *frequency_hz /= scale;
                }
                // As many turns, and as fast at the rim.
                Some(BodyMotion::Spinning { point_m, angular_velocity_rad_s, from_s, until_s }) => {
                    times(point_m);
                    *angular_velocity_rad_s = angular_velocity_rad_s.map(|w| w / scale);
                    *from_s *= scale;
                    until_s.iter_mut().for_each(|until_s| *until_s *= scale);
                }
                Some(BodyMotion::Keyframed { pivot_m, keys }) => {
                    times(pivot_m);
                    for key in keys {
                        times(&mut key.offset_m);
                        key.time_s *= scale;
                    }
                }
                None => {}
            }
        }
        self.scale_ground(scale);
        let camera = &mut self.render.camera;
        camera.target_m.iter_mut().for_each(times);
        camera.distance_m.iter_mut().for_each(|distance| *distance *= scale);
        self.render.fog_per_m /= scale;
        Ok(scale)
    }
}

impl Scene {
    /// Multiplies the lengths of generated terrain and of what lies and stands on it.
    fn scale_ground(&mut self, scale: f64) {
        let times = |lengths: &mut Vec3| *lengths = lengths.map(|x| scale * x);
        let flat = |at: &mut [f64; 2]| *at = at.map(|x| scale * x);
        if let Some(source) = &mut self.terrain
            && let Some(generated) = &mut source.generated
        {
            generated.apply_scale(scale);
            // What is no terrain is refused when the scene is validated.
            if let Ok(terrain) = generated.terrain(self.seed) {
                source.set(terrain);
            }
        }
        for release in &mut self.releases {
            release.polygon_m.iter_mut().flatten().for_each(flat);
            release.thickness_m.iter_mut().for_each(|thickness_m| *thickness_m *= scale);
        }
        for slab in &mut self.slabs {
            match &mut slab.shape {
                SlabShape::Plate { origin_m, size_m, thickness_m, .. } => {
                    flat(origin_m);
                    flat(size_m);
                    *thickness_m *= scale;
                }
                SlabShape::Meshes { scale: unit_m, offset_m, .. } => {
                    times(offset_m);
                    *unit_m *= scale;
                }
            }
        }
        for obstacle in &mut self.obstacles {
            match &mut obstacle.shape {
                ObstacleShape::Box { centre_m, size_m, .. } => {
                    times(centre_m);
                    times(size_m);
                }
                ObstacleShape::Cylinder { foot_m, radius_m, height_m } => {
                    flat(foot_m);
                    *radius_m *= scale;
                    *height_m *= scale;
                }
                ObstacleShape::Mesh { scale: unit_m, offset_m, .. } => {
                    times(offset_m);
                    *unit_m *= scale;
                }
            }
        }
    }
}

/// The multiple of the spacing next to `x_m`. Halves go away from zero, whatever the rounding of decimal numbers did to them.
fn to_whole_spacings(x_m: f64, spacing_m: f64) -> f64 {
    // A spacing that is no length is refused later.
    if !(spacing_m > 0.0 && spacing_m.is_finite()) {
        return x_m;
    }
    let n = x_m / spacing_m;
    // The sum makes a positive zero of a negative one.
    (n + LATTICE_TOLERANCE.copysign(n)).round() * spacing_m + 0.0
}

impl SceneError {
    /// Says with a scaled length that it is not as in the file.
    pub(crate) fn at_scale(mut self, scale: f64) -> Self {
        const SCALED: [&str; 9] = [
            "bodies",
            "domain",
            "particles",
            "colliders",
            "render.camera",
            "terrain",
            "releases",
            "slabs",
            "obstacles",
        ];
        if let Self::Value { key, found, .. } = &mut self
            && scale != 1.0
            && SCALED.iter().any(|section| key.starts_with(section))
        {
            found.push_str(&format!(" at scale {}", number(scale)));
        }
        self
    }
}
