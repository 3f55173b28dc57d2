//! How long a step is.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::validate::{Check, Checker, number, rounded_down};
use crate::{Collider, Dem, DerivedDem, DerivedMpm, Mpm, Scene, Vec3, damping_ratio};

/// A time step: seconds, or as long as is safe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// As long as waves, contacts and particles allow (`"auto"`); scenes of the material point and of the discrete element method only.
    Auto,
    /// In s.
    Seconds(f64),
}

impl From<f64> for TimeStep {
    fn from(dt_s: f64) -> Self {
        Self::Seconds(dt_s)
    }
}

impl Serialize for TimeStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Seconds(dt_s) => serializer.serialize_f64(*dt_s),
        }
    }
}

impl<'de> Deserialize<'de> for TimeStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimeStepVisitor;

        impl Visitor<'_> for TimeStepVisitor {
            type Value = TimeStep;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds or \"auto\"")
            }

            fn visit_f64<E: serde::de::Error>(self, dt_s: f64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s))
            }

            fn visit_i64<E: serde::de::Error>(self, dt_s: i64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s as f64))
            }

            fn visit_u64<E: serde::de::Error>(self, dt_s: u64) -> Result<TimeStep, E> {
                Ok(TimeStep::Seconds(dt_s as f64))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<TimeStep, E> {
                match text {
                    "auto" => Ok(TimeStep::Auto),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(TimeStepVisitor)
    }
}

impl JsonSchema for TimeStep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeStep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seconds, or \"auto\" (mpm and dem only): as long as waves, contacts and particles allow.",
            "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "const": "auto" }]
        })
    }
}

/// Plastic volume ratio J_P of the snow whose stiffness sets `"auto"`: hardened as by a fair impact.
const HARDENED_PLASTIC_VOLUME: f64 = 0.8;

/// An implicit step has no wave speed to heed, and in a scene at rest no other: this share of it stands for the speeds to come.
const IMPLICIT_SHARE_OF_WAVE_SPEED: f64 = 0.1;

impl Scene {
    /// The time step Δt in s, whether the scene says it or leaves it open.
    pub fn dt_s(&self) -> f64 {
        match (self.time.dt_s, &self.mpm, &self.dem) {
            (TimeStep::Seconds(dt_s), ..) => dt_s,
            (TimeStep::Auto, Some(mpm), _) => self.auto_dt_s(mpm),
            (TimeStep::Auto, None, Some(dem)) => self.auto_contact_dt_s(dem),
            // Refused when the scene is validated.
            (TimeStep::Auto, None, None) => f64::NAN,
        }
    }

    /// Δt = C h / (c + v), cut off after four digits: c is the speed of waves in hardened snow, v that of the fastest particle. An
    /// implicit step is as long as C h / v allows, v being a tenth of fresh snow's wave speed at least.
    pub(crate) fn auto_dt_s(&self, mpm: &Mpm) -> f64 {
        let v = self.fastest_to_come_m_s();
        let speed = match mpm.implicit {
            Some(_) => v.max(IMPLICIT_SHARE_OF_WAVE_SPEED * mpm.material.wave_speed_m_s(1.0)),
            None => mpm.hardened_wave_speed_m_s() + v,
        };
        rounded_down(mpm.courant_number * mpm.cell_size_m / speed)
    }

    pub(crate) fn derived_mpm(&self, mpm: &Mpm) -> DerivedMpm {
        let extent = |i: usize| self.domain.max_m[i] - self.domain.min_m[i];
        let wave = mpm.hardened_wave_speed_m_s();
        let (mu, lambda) = mpm.material.lame_pa();
        DerivedMpm {
            // The rounding of decimal numbers adds no cell.
            n_cells: std::array::from_fn(|i| ((extent(i) / mpm.cell_size_m - 1e-9).ceil() as u64).max(1)),
            lame_pa: [mu, lambda],
            wave_speed_m_s: mpm.material.wave_speed_m_s(1.0),
            hardened_wave_speed_m_s: wave,
            fastest_m_s: self.fastest_to_come_m_s(),
            wave_courant_number: wave * self.dt_s() / mpm.cell_size_m,
        }
    }

    /// What falling through the whole domain adds to the fastest start of a block or motion of a collider, in m/s.
    pub(crate) fn fastest_to_come_m_s(&self) -> f64 {
        let speed = |v: &Vec3| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let releases = self.releases.iter().map(|release| speed(&release.velocity_m_s));
        let slabs = self.slabs.iter().map(|slab| speed(&slab.velocity_m_s));
        let starts = self.particles.iter().map(|block| block.fastest_m_s()).chain(releases).chain(slabs);
        let motions = self.colliders.iter().map(Collider::speed_m_s);
        let diagonal_m = {
            let (low, high) = (self.domain.min_m, self.domain.max_m);
            speed(&std::array::from_fn(|i| high[i] - low[i]))
        };
        let bodies = self.bodies.iter().filter_map(|body| body.motion.as_ref());
        let motions = motions.chain(bodies.map(|motion| motion.speed_m_s(diagonal_m)));
        starts.chain(motions).fold(0.0, f64::max) + self.fall_m2_s2().sqrt()
    }

    /// Square of the speed that falling through the whole domain gives, in m²/s².
    pub(crate) fn fall_m2_s2(&self) -> f64 {
        let gravity = self.gravity_m_s2();
        let extent: Vec3 = std::array::from_fn(|i| self.domain.max_m[i] - self.domain.min_m[i]);
        (0..3).map(|i| 2.0 * gravity[i].abs() * extent[i]).sum()
    }

    pub(crate) fn derived_dem(&self, dem: &Dem) -> DerivedDem {
        let extent = |i: usize| self.domain.max_m[i] - self.domain.min_m[i];
        let fastest_m_s = self.impact_m_s();
        DerivedDem {
            tangential_stiffness_n_m: dem.tangential_stiffness_n_m(),
            damping_ratio: damping_ratio(dem.restitution),
            wall_damping_ratio: damping_ratio(dem.wall_restitution()),
            contact_time_s: dem.contact_time_s(),
            steps_per_contact: dem.contact_time_s() / self.dt_s(),
            fastest_m_s,
            deepest_overlap_radii: dem.overlap_radii(fastest_m_s),
            n_cells: std::array::from_fn(|i| ((extent(i) / dem.reach_m() - 1e-9).ceil() as u64).max(1)),
        }
    }

    /// Speed in m/s of the hardest impact that is expected of grains: that of a fall through the whole domain; on a terrain, which they slide
    /// down against friction, half of it.
    pub(crate) fn impact_m_s(&self) -> f64 {
        if self.terrain.is_some() { 0.5 * self.fastest_to_come_m_s() } else { self.fastest_to_come_m_s() }
    }

    /// A contact that a step nearly skips surely gains energy.
    pub(crate) fn check_contact_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if dt * LEAST_STEPS_PER_CONTACT <= contact {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "dem"],
            format!(
                "{} s, which makes {:.2} steps of a contact of {} s: surely unstable",
                number(dt),
                contact / dt,
                number(rounded_down(contact))
            ),
            format!(
                "at most {} s; dt_s = {} or dt_s = \"auto\" resolves contacts",
                number(rounded_down(contact / LEAST_STEPS_PER_CONTACT)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// A swing of a piece of a slab that has too few steps surely gains energy.
    pub(crate) fn check_slab_time(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        let (dt, Some(swing)) = (self.dt_s(), self.slab_contact_time_s()) else { return Ok(()) };
        if dt * LEAST_STEPS_PER_SWING <= swing {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "slabs", "dem"],
            format!(
                "{} s, which makes {:.2} steps of the {} s that a piece of a slab swings to one side on its links and contacts: surely unstable",
                number(dt),
                swing / dt,
                number(rounded_down(swing))
            ),
            format!(
                "at most {} s, heavier pieces or softer links (slabs.link_stiffness_n_m); dt_s = \"auto\" takes {} s",
                number(rounded_down(swing / LEAST_STEPS_PER_SWING)),
                number(self.auto_contact_dt_s(dem))
            ),
        )
    }

    /// A step that resolves contacts of grains and swings of slabs' pieces, in s.
    pub(crate) fn auto_contact_dt_s(&self, dem: &Dem) -> f64 {
        let swing = self.slab_contact_time_s().map_or(f64::INFINITY, |swing| swing / STEPS_PER_SWING);
        dem.auto_dt_s().min(rounded_down(swing))
    }

    /// A step in which a wave or a particle passes a whole cell surely fails.
    pub(crate) fn check_time_step(&self, check: &Checker<'_>, mpm: &Mpm) -> Check {
        let (dt, h) = (self.dt_s(), mpm.cell_size_m);
        let (wave, particle) = (mpm.material.wave_speed_m_s(1.0), self.fastest_to_come_m_s());
        let (speed, what) = if mpm.implicit.is_none() && wave >= particle {
            (wave, "an elastic wave in fresh snow")
        } else {
            (particle, "a particle that falls through the domain")
        };
        if speed * dt <= h {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "mpm", "particles", "colliders", "domain"],
            format!(
                "{} s, in which {what}, at {} m/s, passes {:.3} cells: surely unstable",
                number(dt),
                number(rounded_down(speed)),
                speed * dt / h
            ),
            format!(
                "at most {} s; dt_s = {} or dt_s = \"auto\" has room for hardening",
                number(rounded_down(h / speed)),
                number(self.auto_dt_s(mpm))
            ),
        )
    }
}

/// Steps that a contact must take. In a packing a grain has several, whose stiffnesses add up: the explicit step is then stable up to
/// some 0.3 √(m/k) (O'Sullivan & Bray 2004, Eng. Comput. 21, 278), of which this is 1.5 times; two grains alone bear 1.4 √(m/k).
pub(crate) const LEAST_STEPS_PER_CONTACT: f64 = 5.0;

/// Steps that half a period of a slab's piece must take, of which an explicit step bears π/2 without dampers; and those that it takes
/// where a scene leaves the step open.
const LEAST_STEPS_PER_SWING: f64 = 2.5;
const STEPS_PER_SWING: f64 = 5.0;

impl Dem {
    /// Δt = t_c / `steps_per_contact`, cut off after four digits: with 20 steps 0.11 √(m/k), within the 0.17 √(m/k) that packings bear
    /// whatever their order (O'Sullivan & Bray 2004), and short enough for a restitution within some 0.03 of what was asked.
    pub fn auto_dt_s(&self) -> f64 {
        rounded_down(self.contact_time_s() / self.steps_per_contact)
    }

    /// How deep an impact at `speed_m_s` presses a grain of mean size into a wall, in its radii: v √(m/k), without damping.
    pub fn overlap_radii(&self, speed_m_s: f64) -> f64 {
        let mass_kg = self.grain_mass_kg(self.radius_m);
        speed_m_s * (mass_kg / self.normal_stiffness_n_m).sqrt() / self.radius_m
    }
}

impl Mpm {
    /// Speed of elastic waves in m/s in snow at J_P = 0.8, or as hard as it can become, which `"auto"` counts on.
    pub fn hardened_wave_speed_m_s(&self) -> f64 {
        self.material.wave_speed_m_s(HARDENED_PLASTIC_VOLUME.max(self.material.least_plastic_volume))
    }
}
