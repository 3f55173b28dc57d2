//! Figures of one process that profiled a scene.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Figures of one process that profiled a scene, from which processes are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Device time of a step, in nanoseconds.
    pub step_ns: f64,
    /// Time of each kernel in a step, in nanoseconds.
    pub kernels_ns: BTreeMap<String, f64>,
    /// Copy bandwidth in GB/s.
    pub copy_gb_per_s: Option<f64>,
}
