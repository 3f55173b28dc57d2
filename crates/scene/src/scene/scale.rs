//! Scales a scene relative to its file.

use crate::check::{Checker, number};
use crate::shapes::shape::LATTICE_TOLERANCE;
use crate::{Body, BodyMotion, BodyShape, Drain, DrainShape, Scene, SceneError, Shape, Vec3};

impl Scene {
    /// Multiplies the scene's lengths by `scale`, which is 1 from then on, and returns the old value. Corners
    /// of boxes and of the domain are rounded to whole particle spacings, so that a block that filled a
    /// container from wall to wall still does; not in scenes of grains.
    pub(crate) fn apply_scale(&mut self) -> Result<f64, SceneError> {
        let scale = self.scale;
        self.check_range(&Checker::new(&self.source), "scale", scale)?;
        if scale == 1.0 {
            return Ok(scale);
        }
        self.scale = 1.0;
        if let Some(terrain) = &self.terrain
            && terrain.file.is_some()
        {
            let expected = "1 on a map, which has its own size";
            Checker::new(&self.source).fail_between(&["scale", "terrain.file"], number(scale), expected)?;
        }
        let points = self.particles.iter().position(|block| block.shape.n_points().is_some());
        if let Some(block) = points {
            let key = format!("particles.{block}.shape.points");
            let expected = "1 with particles from a file, whose number is fixed";
            Checker::new(&self.source).fail_between(&["scale", &key], number(scale), expected)?;
        }
        let d = self.scaled_corner_spacing_m();
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
                // Refused above.
                Shape::Points { .. } => {}
            }
        }
        self.bodies.iter_mut().for_each(|body| scale_body(body, scale));
        self.joints.iter_mut().for_each(|joint| joint.apply_scale(scale));
        self.emitters.iter_mut().for_each(|emitter| emitter.apply_scale(scale));
        for Drain { shape: DrainShape::Box { min_m, max_m } } in &mut self.drains {
            times(min_m);
            times(max_m);
        }
        self.scale_terrain(scale);
        if let Some(solver) = self.solver_scene() {
            solver.scale_lengths(self, scale);
        }
        let camera = &mut self.render.camera;
        camera.target_m.iter_mut().for_each(times);
        camera.distance_m.iter_mut().for_each(|distance| *distance *= scale);
        self.render.fog_per_m /= scale;
        let snow = &mut self.render.snow;
        for length in snow.bump_wavelength_m.iter_mut().chain(&mut snow.glitter_cell_m) {
            *length *= scale;
        }
        Ok(scale)
    }
}

impl Scene {
    /// Multiplies the lengths of generated terrain.
    fn scale_terrain(&mut self, scale: f64) {
        if let Some(source) = &mut self.terrain
            && let Some(generated) = &mut source.generated
        {
            generated.apply_scale(scale);
            // Validation refuses invalid terrain later.
            if let Ok(terrain) = generated.terrain(self.seed) {
                source.set(terrain);
            }
        }
    }
}

/// Multiplies the lengths of a body and the times of its motion, whose speed thus stays the same.
fn scale_body(body: &mut Body, scale: f64) {
    let times = |lengths: &mut Vec3| *lengths = lengths.map(|x| scale * x);
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
        BodyShape::Cylinder { from_m, to_m, radius_m } | BodyShape::Capsule { from_m, to_m, radius_m } => {
            times(from_m);
            times(to_m);
            *radius_m *= scale;
        }
        BodyShape::UprightCylinder { foot_m, radius_m, height_m } => {
            *foot_m = foot_m.map(|x| scale * x);
            *radius_m *= scale;
            *height_m *= scale;
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
        Some(BodyMotion::Dynamic(motion)) => {
            motion.contact_gap_m.iter_mut().for_each(|gap_m| *gap_m *= scale);
            motion.mass_kg.iter_mut().for_each(|mass_kg| *mass_kg *= scale.powi(3));
            motion.angular_velocity_rad_s = motion.angular_velocity_rad_s.map(|w| w / scale);
        }
        None => {}
    }
}

/// Rounds to the nearest multiple of the spacing. Halves are rounded away from zero, with a tolerance for the
/// rounding of decimal numbers.
fn to_whole_spacings(x_m: f64, spacing_m: f64) -> f64 {
    // Validation refuses an invalid spacing later.
    if !(spacing_m > 0.0 && spacing_m.is_finite()) {
        return x_m;
    }
    let n = x_m / spacing_m;
    // Adding zero turns a negative zero into a positive one.
    (n + LATTICE_TOLERANCE.copysign(n)).round() * spacing_m + 0.0
}

impl SceneError {
    /// Adds to an error about a scaled length that the value differs from the file's. `of_solver` lists the
    /// keys of such lengths in the solver's sections.
    pub(crate) fn at_scale(mut self, scale: f64, of_solver: &[&str]) -> Self {
        const SCALED: [&str; 6] = ["domain", "particles", "bodies", "joints", "render.camera", "terrain"];
        if let Self::Several(errors) = self {
            return Self::Several(errors.into_iter().map(|error| error.at_scale(scale, of_solver)).collect());
        }
        if let Self::Value { key, found, .. } = &mut self
            && scale != 1.0
            && SCALED.iter().chain(of_solver).any(|scaled| key.starts_with(scaled))
        {
            found.push_str(&format!(" at scale {}", number(scale)));
        }
        self
    }
}
