//! Validates the `[dem]` section, and the domain and blocks of its grains.

use crate::check::{Check, Checker, MAX_CELLS, MIN_STEPS_PER_SPACING, number, rounded_down, whole};
use crate::scene::MAX_PACKING_FRACTION;
use crate::{Dem, Fill, ParticleBlock, Phase, Scene, Vec3};

/// Maximum number of grains of a block that are packed at random: a sweep over a million takes a second, and
/// packings take hundreds.
const MAX_PACKED: f64 = 2e7;

impl Scene {
    pub(crate) fn check_dem(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let ranges = [
            ("cohesion_range_m", dem.cohesion_range_m),
            ("terrain_adhesion_range_m", dem.terrain_adhesion_range_m),
        ];
        for (name, range_m) in ranges {
            // Further neighbours would be hidden by nearer ones.
            let (key, range_m) = (format!("dem.{name}"), range_m.unwrap_or(0.0));
            check.range_between(&[&key, "dem.radius_m"], range_m, 0.0, dem.radius_m)?;
        }
        if let Some(layer) = &dem.weak_layer {
            if self.terrain.is_none() {
                let expected = "a [terrain] that it is on";
                check.fail("dem.weak_layer", "a weak layer and no [terrain]", expected)?;
            }
            // Grains with a wider gap would be hidden from the search.
            if layer.strength_n > dem.radius_m * dem.normal_stiffness_n_m {
                check.fail_between(
                    &["dem.weak_layer.strength_n", "dem.normal_stiffness_n_m", "dem.radius_m"],
                    format!("{} N", number(layer.strength_n)),
                    format!(
                        "at most {} N, at which a bond is stretched by a radius",
                        number(rounded_down(dem.radius_m * dem.normal_stiffness_n_m))
                    ),
                )?;
            }
            if let Some(circle) = layer.fails_within {
                if layer.fails_at_s.is_none() {
                    let expected = "the time at which the bonds within fail, in seconds";
                    check.fail("dem.weak_layer.fails_within", "it without fails_at_s", expected)?;
                }
                let [x, y] = circle.centre_m;
                check.vector("dem.weak_layer.fails_within.centre_m", [x, y, 0.0], "metres")?;
            }
            if let Some(fails_at_s) = layer.fails_at_s
                && !(fails_at_s >= layer.forms_until_s && fails_at_s.is_finite())
            {
                check.fail_between(
                    &["dem.weak_layer.fails_at_s", "dem.weak_layer.forms_until_s"],
                    format!("{} s", number(fails_at_s)),
                    format!("a time after the layer has formed, {} s", number(layer.forms_until_s)),
                )?;
            }
        }
        for (idx, _) in self.bodies.iter().enumerate().filter(|(_, body)| body.sticky) {
            let expected = "false; cohesion and terrain_adhesion_n of [dem] hold grains";
            let found = "true in a scene of solver.kind = \"dem\"";
            check.fail(&format!("bodies.{idx}.sticky"), found, expected)?;
        }
        Ok(())
    }

    /// Refuses random packings that take hours: their work is at most that of as many sweeps as there may be
    /// over all pairs of near grains.
    pub(crate) fn check_packings(&self, check: &Checker<'_>) -> Check {
        for (idx, block) in self.particles.iter().enumerate().filter(|(_, block)| block.fill == Fill::Random)
        {
            let n = self.block_count_estimate(block);
            if n > MAX_PACKED {
                let key = format!("particles.{idx}.fill");
                let found = format!("\"random\" for {} grains", whole(n));
                let expected = format!(
                    "at most {} grains at random, or a lattice with jitter_spacings",
                    whole(MAX_PACKED)
                );
                return check.fail_between(&[&key, "dem.radius_m"], found, expected);
            }
        }
        Ok(())
    }

    /// Checks domain and reach of contacts against each other and against what the device can count and
    /// represent.
    pub(crate) fn check_cells(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let of_reach = ["dem.radius_m", "dem.radius_spread", "dem.cohesion_n", "dem.cohesion_range_m"];
        if !check.are_valid(&of_reach) || !check.are_valid(&["domain"]) {
            return Ok(());
        }
        let (domain, reach_m) = (&self.domain, dem.reach_m());
        let keys = ["domain", "dem.radius_m"];
        let extent: Vec3 = std::array::from_fn(|i| domain.max_m[i] - domain.min_m[i]);
        let thinnest = extent.iter().copied().fold(f64::INFINITY, f64::min);
        if thinnest < 2.0 * dem.max_radius_m() {
            let found = format!("an extent of {} m", number(thinnest));
            let expected = format!("at least one grain, {} m", number(2.0 * dem.max_radius_m()));
            return check.fail_between(&keys, found, expected);
        }
        let n_cells: f64 = extent.iter().map(|e| (e / reach_m).ceil()).product();
        if n_cells > MAX_CELLS {
            let found =
                format!("{} cells of edge {} m, the reach of a contact", whole(n_cells), number(reach_m));
            let expected = format!("at most {}; enlarge dem.radius_m or shrink the domain", whole(MAX_CELLS));
            return check.fail_between(&keys, found, expected);
        }
        let farthest = domain.min_m.iter().chain(&domain.max_m).fold(0.0_f64, |far, x| far.max(x.abs()));
        let step = farthest * f64::from(f32::EPSILON);
        // Overlaps are hundredths of a radius, and must still be representable.
        if dem.min_radius_m() < MIN_STEPS_PER_SPACING * step {
            let found = format!(
                "coordinates up to {} m, which 32-bit floats resolve to {} m",
                number(farthest),
                number(step)
            );
            let expected = format!(
                "a domain nearer to the origin for grains of radius {} m",
                number(dem.min_radius_m())
            );
            return check.fail_between(&keys, found, expected);
        }
        Ok(())
    }

    /// Checks the requirements of grains on a block, and refuses keys that do not apply to grains.
    pub(crate) fn check_dem_block(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        if block.phase == Phase::Snow {
            let found = "\"snow\" in a scene of solver.kind = \"dem\"";
            check.fail(&format!("{key}.phase"), found, "no phase: the material is that of [dem]")?;
        }
        if block.shape.n_points().is_some() {
            let found = "points in a scene of solver.kind = \"dem\"";
            let expected =
                "a shape to fill with grains; frazil run --resume goes on with those of a checkpoint";
            check.fail(&format!("{key}.shape"), found, expected)?;
        }
        if block.shape.is_flat() {
            let found = format!("a {}, a shape of two dimensions", block.shape.name());
            let expected = "a shape of three (box, sphere, cylinder, text with depth_m, mesh)";
            check.fail(&format!("{key}.shape"), found, expected)?;
        }
        if let Some(w) = block.angular_velocity_rad_s {
            check.vector(&format!("{key}.angular_velocity_rad_s"), w, "rad/s")?;
        }
        if block.mass_spread.is_some() {
            let expected =
                "it in scenes of solver.kind = \"mpm\" only; dem.radius_spread makes grains differ";
            let found = "it in a scene of solver.kind = \"dem\"";
            check.fail(&format!("{key}.mass_spread"), found, expected)?;
        }
        let fill_key = format!("{key}.fill");
        match (block.fill, block.count, block.packing_fraction) {
            (Fill::Uniform, ..) => {
                check.fail(&fill_key, "\"uniform\", at which grains overlap", "\"lattice\" or \"random\"")
            }
            (Fill::BlueNoise, ..) => {
                check.fail(&fill_key, "\"blue_noise\", at which grains overlap", "\"lattice\" or \"random\"")
            }
            (Fill::Lattice, Some(n), _) => {
                let count_key = format!("{key}.count");
                check.fail_between(
                    &[&count_key, &fill_key],
                    format!("{n} grains on a lattice"),
                    "it with fill = \"random\"",
                )
            }
            (Fill::Lattice, _, Some(share)) => {
                let share_key = format!("{key}.packing_fraction");
                let found = format!("{} of a lattice", number(share));
                check.fail_between(&[&share_key, &fill_key], found, "it with fill = \"random\"")
            }
            (Fill::Random, Some(_), Some(_)) => {
                let share_key = format!("{key}.packing_fraction");
                check.fail(&share_key, "it together with count", "one of the two")
            }
            (Fill::Random, Some(n), None) => {
                let grains_m3 = n as f64 * self.particle_mass_kg() / self.rest_density_kg_m3();
                let share = grains_m3 / block.shape.volume_m3();
                if block.shape.is_loaded() && share > MAX_PACKING_FRACTION {
                    let found =
                        format!("{n} grains, which fill {} of the shape", number(rounded_down(share)));
                    let count_key = format!("{key}.count");
                    let shape_key = format!("{key}.shape");
                    return check.fail_between(
                        &[&count_key, &shape_key, "dem.radius_m", "dem.radius_spread"],
                        found,
                        format!("at most {MAX_PACKING_FRACTION} of it"),
                    );
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
