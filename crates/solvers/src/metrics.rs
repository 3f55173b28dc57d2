//! Metrics as lists of named numbers, and those that all particles have.

use crate::pending::PendingResult;
use std::fmt::Display;

/// Name and unit of a metric; [`Measurement::values`] has its value at the same index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricInfo {
    /// Name, as in the header of `metrics.csv`.
    pub name: String,
    /// SI unit, `1` for none.
    pub unit: &'static str,
}

impl MetricInfo {
    /// Makes a metric.
    pub fn new(name: impl Into<String>, unit: &'static str) -> Self {
        Self { name: name.into(), unit }
    }

    /// Makes a list of metrics from pairs of names and units.
    pub fn list<N: Display>(names: impl IntoIterator<Item = (N, &'static str)>) -> Vec<Self> {
        names.into_iter().map(|(name, unit)| Self::new(name.to_string(), unit)).collect()
    }
}

/// Properties by which any solver's state is checked: no particle is lost, all are finite and inside the
/// domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSummary {
    /// Number of particles.
    pub n_particles: u32,
    /// Number of particles with a NaN or infinite property.
    pub n_not_finite: u32,
    /// Number of particles outside the domain.
    pub n_outside: u32,
    /// Number of particles of each set by its name, if there is more than one set.
    pub sets: Vec<(&'static str, u32)>,
}

/// Measurement of a whole state.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Properties that every solver has.
    pub summary: StateSummary,
    /// Values, in the order of [`crate::Solver::metrics`].
    pub values: Vec<f64>,
}

/// Metrics that all kinds of particles have.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionMetrics {
    /// Number of particles measured.
    pub particles: u32,
    /// Kinetic energy Σ ½mv² in J.
    pub kinetic_energy_j: f64,
    /// Potential energy Σ m g·(x_bottom − x) in J, zero with every particle in the corner that gravity points
    /// to.
    pub potential_energy_j: f64,
    /// Momentum Σ mv in kg m/s.
    pub momentum_kg_m_s: [f64; 3],
    /// Maximum speed in m/s; 0 without particles.
    pub speed_max_m_s: f64,
    /// Mean density in kg/m³; 0 without particles.
    pub density_mean_kg_m3: f64,
    /// Largest density in kg/m³; 0 without particles.
    pub density_max_kg_m3: f64,
    /// Lower corner of the particles' bounding box in m; NaN without particles.
    pub lower_m: [f64; 3],
    /// Upper corner of the particles' bounding box in m; NaN without particles.
    pub upper_m: [f64; 3],
    /// Number of particles with a NaN or infinite position, velocity or density; not 0 is a fault.
    pub n_not_finite: u32,
    /// Number of particles outside the domain; not 0 is a fault.
    pub n_outside: u32,
}

impl MotionMetrics {
    /// Names and units of [`Self::values`].
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        ("n_particles", "1"),
        ("kinetic_energy", "J"),
        ("potential_energy", "J"),
        ("total_energy", "J"),
        ("momentum_x", "kg m/s"),
        ("momentum_y", "kg m/s"),
        ("momentum_z", "kg m/s"),
        ("speed_max", "m/s"),
        ("density_mean", "kg/m^3"),
        ("density_max", "kg/m^3"),
        ("lower_x", "m"),
        ("lower_y", "m"),
        ("lower_z", "m"),
        ("upper_x", "m"),
        ("upper_y", "m"),
        ("upper_z", "m"),
        ("n_not_finite", "1"),
        ("n_outside", "1"),
    ];

    /// Returns the sum of kinetic and potential energy in J.
    pub fn total_energy_j(&self) -> f64 {
        self.kinetic_energy_j + self.potential_energy_j
    }

    /// Returns the properties by which the state is checked.
    pub fn summary(&self) -> StateSummary {
        StateSummary {
            n_particles: self.particles,
            n_not_finite: self.n_not_finite,
            n_outside: self.n_outside,
            sets: Vec::new(),
        }
    }

    /// Returns the values in the order of [`Self::NAMES`].
    pub fn values(&self) -> Vec<f64> {
        let mut values = vec![
            f64::from(self.particles),
            self.kinetic_energy_j,
            self.potential_energy_j,
            self.total_energy_j(),
        ];
        values.extend(self.momentum_kg_m_s);
        values.extend([self.speed_max_m_s, self.density_mean_kg_m3, self.density_max_kg_m3]);
        values.extend(self.lower_m);
        values.extend(self.upper_m);
        values.extend([f64::from(self.n_not_finite), f64::from(self.n_outside)]);
        values
    }
}

impl From<MotionMetrics> for Measurement {
    fn from(metrics: MotionMetrics) -> Self {
        Self { summary: metrics.summary(), values: metrics.values() }
    }
}

/// A measurement that is being read back.
pub type PendingMeasurement = Box<dyn PendingResult<Measurement>>;
