//! Validates the `[fluid]` section and its domain.

use super::fluid::{FluidKernel, WallDensity};
use super::section::Pressure;
use crate::check::{Check, Checker, MAX_CELLS, MIN_STEPS_PER_SPACING, number, whole};
use crate::solver::constraint_gradient::ConstraintGradient;
use crate::{ParticleBlock, Scene, Shape, Vec3};

impl Scene {
    /// Checks domain, spacing and support radius against each other and against what the device can count and
    /// represent.
    pub(crate) fn check_pbd_discretization(&self, check: &Checker<'_>) -> Check {
        let domain = &self.domain;
        let d = self.particle_spacing_m();
        let h = self.support_radius_m();
        let extent: Vec3 = std::array::from_fn(|i| domain.max_m[i] - domain.min_m[i]);
        let keys = ["domain", "fluid.particle_spacing_m"];

        let thinnest = extent.iter().copied().fold(f64::INFINITY, f64::min);
        if thinnest < d {
            let found = format!("an extent of {} m", number(thinnest));
            return check.fail_between(
                &keys,
                found,
                format!("at least one particle spacing, {} m", number(d)),
            );
        }
        if self.snow().is_some() && self.initial_disorder_spacings() > 0.0 {
            let found = "a disorder in a scene with [snow]";
            let expected = "jitter_spacings of the blocks, whose particles are not moved to rest density";
            return check.fail("fluid.initial_disorder_spacings", found, expected);
        }
        if self.snow().is_some() && self.constraint_gradient() == ConstraintGradient::Start {
            let key = "fluid.constraint_gradient";
            return check.fail(
                key,
                "\"start\" in a scene with [snow]",
                "\"prediction\", the default with [snow]",
            );
        }
        self.check_projection(check)?;
        if !self.emitters.is_empty() && self.pressure() != Pressure::Projection {
            let found = "emitters in a scene without a projection";
            let expected = match self.snow() {
                Some(_) => "a scene of water alone",
                None => "pbd.pressure = \"projection\", the default of water",
            };
            return check.fail_between(&["emitters", "pbd.pressure", "snow"], found, expected);
        }
        if !self.drains.is_empty() && self.snow().is_some() {
            let found = "drains in a scene with [snow]";
            return check.fail_between(&["drains", "snow"], found, "a scene of water alone");
        }
        if self.fluid().is_some_and(|fluid| fluid.kernel() == FluidKernel::Poly6Spiky) {
            let key = "fluid.kernel";
            let expected = "\"cubic_spline\", the default";
            if self.snow().is_some() {
                return check.fail(key, "\"poly6_spiky\" in a scene with [snow]", expected);
            }
            // The fractions of the kernel that bodies cut off are those of the spline.
            if !self.bodies.is_empty() {
                return check.fail(key, "\"poly6_spiky\" in a scene with bodies", expected);
            }
        }
        if self.wall_density() == Some(WallDensity::Images) {
            let key = "fluid.wall_density";
            if self.snow().is_some() {
                return check.fail(key, "images in a scene with [snow]", "integral, the default with [snow]");
            }
            // A face would need images of images behind the opposite one.
            if thinnest < 0.5 * h {
                let found = format!(
                    "images in a domain {} m thick, with a support radius of {} m",
                    number(thinnest),
                    number(h)
                );
                let expected = format!("a thickness of {} m or more, or \"integral\"", number(0.5 * h));
                return check.fail(key, found, expected);
            }
        }
        let n_cells: f64 = extent.iter().map(|e| (e / h).ceil()).product();
        if n_cells > MAX_CELLS {
            let found = format!("{} cells of edge {} m, the support radius", whole(n_cells), number(h));
            let expected = format!(
                "at most {}; enlarge fluid.particle_spacing_m or shrink the domain",
                whole(MAX_CELLS)
            );
            return check.fail_between(&keys, found, expected);
        }
        let farthest = domain.min_m.iter().chain(&domain.max_m).fold(0.0_f64, |far, x| far.max(x.abs()));
        let step = farthest * f64::from(f32::EPSILON);
        if d < MIN_STEPS_PER_SPACING * step {
            let found = format!(
                "coordinates up to {} m, which 32-bit floats resolve to {} m",
                number(farthest),
                number(step)
            );
            let expected = format!("a domain near the origin of its particle spacing of {} m", number(d));
            return check.fail_between(&keys, found, expected);
        }
        Ok(())
    }

    /// Checks what a projection needs.
    fn check_projection(&self, check: &Checker<'_>) -> Check {
        match self.obstacle_to_projection() {
            Some([key, found, expected]) if self.pressure() == Pressure::Projection => {
                check.fail(&key, found, expected)
            }
            _ => Ok(()),
        }
    }

    /// Checks the requirements of the position-based fluid on a block.
    pub(crate) fn check_pbd_block(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        if !matches!(
            block.shape,
            Shape::Box { .. } | Shape::Sphere { .. } | Shape::Cylinder { .. } | Shape::Points { .. }
        ) {
            check.fail(
                &format!("{key}.shape"),
                format!("a {} in a scene of solver.kind = \"pbd\"", block.shape.name()),
                "box, sphere, cylinder or points; solver.kind = \"mpm\" supports the others",
            )?;
        }
        self.check_phase(check, key, block)
    }
}
