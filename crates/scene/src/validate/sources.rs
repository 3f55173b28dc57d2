//! Validates emitters and drains.

use super::bodies::check_direction;
use crate::check::{Check, Checker, MIN_POSITIVE, number, rounded_down, vector};
use crate::scene::Scene;
use crate::sources::GRAIN_ROOM;
use crate::vector::{cross, length, minus, unit};
use crate::{Emitter, Mouth, Stream, Vec3};

/// Share of the distance between layers that particles may move in a step.
const MAX_TRAVEL: f64 = 0.5;
/// Tolerance for the rounding of decimal numbers, as a share of a spacing.
const TOLERANCE_SPACINGS: f64 = 1e-6;

impl Scene {
    /// Checks emitters and drains by themselves.
    pub(crate) fn check_sources(&self, check: &Checker<'_>) -> Check {
        for (idx, emitter) in self.emitters.iter().enumerate() {
            self.check_emitter(check, &format!("emitters.{idx}"), emitter)?;
        }
        for (idx, drain) in self.drains.iter().enumerate() {
            let key = |corner: &str| format!("drains.{idx}.shape.box.{corner}");
            let [min_m, max_m] = drain.bounds_m();
            check.extent(&key("min_m"), &min_m, &key("max_m"), &max_m)?;
        }
        Ok(())
    }

    fn check_emitter(&self, check: &Checker<'_>, key: &str, emitter: &Emitter) -> Check {
        let within = |name: &str| format!("{key}.{name}");
        let mouth = within(&format!("mouth.{}", emitter.mouth.name()));
        check.vector(&format!("{mouth}.centre_m"), emitter.mouth.centre_m(), "metres")?;
        check.vector(&within("direction"), emitter.direction, "no unit")?;
        let expected = "a direction, not the zero vector";
        check_direction(check, &within("direction"), emitter.direction, expected)?;
        if let Mouth::Rectangle { side: Some(side), .. } = &emitter.mouth {
            let key = format!("{mouth}.side");
            check.vector(&key, *side, "no unit")?;
            check_direction(check, &key, *side, expected)?;
            if length(cross(unit(*side), unit(emitter.direction))) < 1e-6 {
                let expected = "another direction than that of the flow";
                check.fail_between(&[&key, &within("direction")], vector(*side), expected)?;
            }
        }
        match (emitter.speed_m_s, emitter.mass_flow_kg_s) {
            (Some(_), Some(_)) => check.fail_between(
                &[&within("mass_flow_kg_s"), &within("speed_m_s")],
                "a mass flow beside a speed",
                "one of both, since the other follows",
            )?,
            (None, None) => check.fail(key, "no flow", "speed_m_s or mass_flow_kg_s")?,
            _ => {}
        }
        match emitter.until_s {
            Some(until_s) if until_s <= emitter.from_s => check.fail_between(
                &[&within("until_s"), &within("from_s")],
                format!("{} s", number(until_s)),
                format!("a time after from_s, {} s", number(emitter.from_s)),
            ),
            _ => Ok(()),
        }
    }

    /// Checks where emitters are, and how far their particles move in a step. The other values are valid.
    pub(crate) fn check_streams(&self, check: &Checker<'_>) -> Check {
        let d = self.particle_spacing_m();
        let diagonal_m = length(minus(self.domain.max_m, self.domain.min_m));
        for (idx, emitter) in self.emitters.iter().enumerate() {
            let widest_m = emitter.mouth.widest_m();
            if widest_m > diagonal_m {
                let mouth = format!("emitters.{idx}.mouth.{}", emitter.mouth.name());
                return check.fail_between(
                    &[&mouth, "domain"],
                    format!("a mouth {} m wide", number(widest_m)),
                    format!("at most the domain's diagonal, {} m", number(rounded_down(diagonal_m))),
                );
            }
        }
        let streams = self.streams();
        let spacing_key = self.spacing().0;
        for (idx, (emitter, stream)) in self.emitters.iter().zip(&streams).enumerate() {
            let key = format!("emitters.{idx}");
            let mouth = format!("{key}.mouth.{}", emitter.mouth.name());
            if emitter.mouth.width_m() < d * (1.0 - TOLERANCE_SPACINGS) {
                return check.fail_between(
                    &[&mouth, spacing_key],
                    format!("a mouth {} m wide", number(emitter.mouth.width_m())),
                    format!("at least one particle spacing, {} m", number(d)),
                );
            }
            self.check_place(check, &mouth, stream)?;
            let occupied =
                streams.iter().enumerate().filter(|(other, _)| *other != idx).find(|(_, other)| {
                    ends(stream).any(|points| points.iter().any(|point| other.holds(*point, d)))
                });
            if let Some((other, _)) = occupied {
                let other = format!("emitters.{other}");
                let expected = "pipes that do not meet";
                return check.fail_between(&[&mouth, &other], format!("a mouth in {other}"), expected);
            }
            let longest_m = MAX_TRAVEL * stream.layer_m;
            let travel_m = stream.speed_m_s * self.step_s();
            if travel_m > longest_m {
                return check.fail_between(
                    &[&format!("{key}.{}", emitter.flow_key()), "time.dt_s"],
                    format!(
                        "{} m/s, which moves particles by {} m in a step",
                        number(rounded_down(stream.speed_m_s)),
                        number(rounded_down(travel_m))
                    ),
                    format!(
                        "at most half of the distance between layers, {} m: a step of {} s or less, or a \
                         wider mouth",
                        number(rounded_down(longest_m)),
                        number(rounded_down(longest_m / stream.speed_m_s))
                    ),
                );
            }
            if stream.layer_share == 0 {
                return check.fail(
                    &format!("{key}.{}", emitter.flow_key()),
                    format!("{} m/s", number(stream.speed_m_s.max(MIN_POSITIVE))),
                    "a speed at which a layer follows within 4e9 steps",
                );
            }
        }
        Ok(())
    }

    /// Refuses an emitter that is not inside the domain, in a body or in a drain.
    fn check_place(&self, check: &Checker<'_>, mouth: &str, stream: &Stream) -> Check {
        let d = self.particle_spacing_m();
        let (low, high) = (self.domain.min_m, self.domain.max_m);
        let is_rigid = self.solver_scene().is_some_and(|solver| solver.has_rigid_particles());
        let room = if is_rigid { GRAIN_ROOM } else { 1.0 };
        let least = (0.5 - TOLERANCE_SPACINGS) * room * d;
        let is_inside = |point: &Vec3| {
            (0..3).all(|i| {
                self.domain.periodic[i] || (point[i] - low[i] >= least && high[i] - point[i] >= least)
            })
        };
        let points: Vec<Vec3> = ends(stream).flatten().collect();
        let n_outside = points.iter().filter(|point| !is_inside(point)).count();
        if n_outside > 0 {
            return check.fail_between(
                &[mouth, "domain"],
                format!("{n_outside} of {} points of the mouth or the pipe behind it outside", points.len()),
                format!(
                    "mouth and pipe, {} m behind it, inside the domain, half a spacing from its faces",
                    number(stream.reach_m)
                ),
            );
        }
        if let Some(terrain) = self.ground() {
            let is_above =
                |point: &Vec3| terrain.distance_m(*point).is_some_and(|distance_m| distance_m >= least);
            if !points.iter().all(is_above) {
                return check.fail_between(
                    &[mouth, "terrain"],
                    "a mouth or a pipe in the ground or off the map",
                    "both above the terrain, half a spacing at least",
                );
            }
        }
        for (idx, body) in self.bodies.iter().enumerate() {
            if points.iter().any(|point| self.is_within_body(body, least, *point)) {
                let (place, _) = body.misplaced(&format!("bodies.{idx}"), "particles");
                let keys = [mouth, &format!("bodies.{idx}")];
                return check.fail_between(
                    &keys,
                    format!("a mouth or a pipe {place}, or at its surface"),
                    "both where particles may be, half a spacing from surfaces",
                );
            }
        }
        for (idx, drain) in self.drains.iter().enumerate() {
            if points.iter().any(|point| drain.contains(*point)) {
                let key = format!("drains.{idx}");
                let expected = "a drain that does not cover an emitter";
                return check.fail_between(&[mouth, &key], format!("a mouth or a pipe in {key}"), expected);
            }
        }
        Ok(())
    }
}

/// Returns the points of a layer where it appears, and at the mouth.
fn ends(stream: &Stream) -> impl Iterator<Item = Vec<Vec3>> {
    [0.0, stream.reach_m].into_iter().map(|along_m| {
        let moved = |point: &Vec3| std::array::from_fn(|i| point[i] + along_m * stream.axes[0][i]);
        stream.points_m.iter().map(moved).collect()
    })
}
