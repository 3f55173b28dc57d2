//! Whichever solver a scene asks for, and what is measured of it.

use crate::failure::Failure;
use frazil_particles::ColumnView;
use frazil_scene::{Sampled, Scene};
use frazil_solvers::SolverError;
use frazil_solvers::mpm::{FaultCheck, Mpm, MpmMetrics, PendingMpmMetrics};
use frazil_solvers::pbd::snow::{LinkCheck, PendingSnowMetrics};
use frazil_solvers::pbd::{Fluid, FluidMetrics, PendingMetrics, Snow, SnowMetrics, StateColumn, Tuning};
use frazil_vk::{Device, Recorder};

/// A solver on the device.
pub enum Solver {
    /// Water.
    Fluid(Box<Fluid>),
    /// Snow and water: scenes with a `[snow]` section.
    Snow(Box<Snow>),
    /// Snow as a continuum: scenes with an `[mpm]` section.
    Mpm(Box<Mpm>),
}

/// A measurement of a whole state.
#[derive(Clone, Debug, PartialEq)]
pub enum Metrics {
    Fluid(FluidMetrics),
    Snow(SnowMetrics),
    Mpm(MpmMetrics),
}

/// A measurement on its way to the host.
pub enum Measuring {
    Fluid(PendingMetrics),
    Snow(Box<PendingSnowMetrics>),
    Mpm(Box<PendingMpmMetrics>),
}

impl Solver {
    /// The scene's initial state.
    pub fn with_tuning(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        refuse_grains(scene)?;
        Ok(if scene.mpm.is_some() {
            Self::Mpm(Box::new(Mpm::of_scene(device, scene, sampled, tuning)?))
        } else if scene.snow.is_some() {
            Self::Snow(Box::new(Snow::with_tuning(device, scene, sampled, tuning)?))
        } else {
            Self::Fluid(Box::new(Fluid::with_tuning(device, scene, sampled, tuning)?))
        })
    }

    /// The scene in the state that was saved after `step` steps.
    pub fn restore(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
    ) -> Result<Self, SolverError> {
        refuse_grains(scene)?;
        Ok(if scene.mpm.is_some() {
            Self::Mpm(Box::new(Mpm::restore_scene(device, scene, state, step)?))
        } else if scene.snow.is_some() {
            Self::Snow(Box::new(Snow::restore(device, scene, state)?))
        } else {
            Self::Fluid(Box::new(Fluid::restore(device, scene, state)?))
        })
    }

    pub fn record_step(&mut self, recorder: &mut Recorder) {
        match self {
            Self::Fluid(fluid) => fluid.record_step(recorder),
            Self::Snow(snow) => snow.record_step(recorder),
            Self::Mpm(mpm) => mpm.record_step(recorder),
        }
    }

    /// Records a measurement of the state.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> Result<Measuring, Failure> {
        Ok(match self {
            Self::Fluid(fluid) => Measuring::Fluid(fluid.record_metrics(recorder)?),
            Self::Snow(snow) => Measuring::Snow(Box::new(snow.record_metrics(recorder)?)),
            Self::Mpm(mpm) => Measuring::Mpm(Box::new(mpm.record_metrics(recorder)?)),
        })
    }

    /// Records a check of the links, where there are any.
    pub fn record_link_check(&self, recorder: &mut Recorder) -> Result<Option<LinkCheck>, Failure> {
        match self {
            Self::Fluid(_) | Self::Mpm(_) => Ok(None),
            Self::Snow(snow) => Ok(snow.record_link_check(recorder)?),
        }
    }

    /// Records the way to the host of what went wrong in the steps before, where the solver finds out by itself.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<FaultCheck>, Failure> {
        match self {
            Self::Fluid(_) | Self::Snow(_) => Ok(None),
            Self::Mpm(mpm) => Ok(Some(mpm.record_fault_check(recorder)?)),
        }
    }

    /// Records what brings [`Self::columns`] and [`Self::state_columns`] to the state at this point of the recorder.
    pub fn record_output(&self, recorder: &mut Recorder) {
        match self {
            // Its columns are the state.
            Self::Fluid(_) => {}
            Self::Snow(snow) => snow.record_output(recorder),
            Self::Mpm(mpm) => mpm.record_output(recorder),
        }
    }

    /// What can be shown, recorded and exported, one element a particle.
    pub fn columns(&self) -> Vec<ColumnView> {
        match self {
            Self::Fluid(fluid) => fluid.columns(),
            Self::Snow(snow) => snow.columns(),
            Self::Mpm(mpm) => mpm.columns(),
        }
    }

    /// The columns shown, and behind them what else the next step depends on.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        match self {
            Self::Fluid(fluid) => fluid.state_columns(),
            Self::Snow(snow) => snow.state_columns(),
            Self::Mpm(mpm) => mpm.state_columns(),
        }
    }

    /// Names and units of [`Metrics::values`].
    pub fn metrics(&self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Fluid(_) => FluidMetrics::NAMES.to_vec(),
            Self::Snow(_) => SnowMetrics::names(),
            Self::Mpm(_) => MpmMetrics::names(),
        }
    }
}

/// Scenes of grains are read, checked and sampled, and have no solver yet.
fn refuse_grains(scene: &Scene) -> Result<(), SolverError> {
    match scene.dem {
        Some(_) => Err(SolverError::Scene {
            key: "dem".into(),
            found: "a section of grains, which `frazil check` understands but no solver of this build runs,"
                .into(),
        }),
        None => Ok(()),
    }
}

impl Measuring {
    pub fn is_ready(&self) -> Result<bool, frazil_vk::Error> {
        match self {
            Self::Fluid(pending) => pending.is_ready(),
            Self::Snow(pending) => pending.is_ready(),
            Self::Mpm(pending) => pending.is_ready(),
        }
    }

    pub fn wait(self) -> Result<Metrics, frazil_vk::Error> {
        Ok(match self {
            Self::Fluid(pending) => Metrics::Fluid(pending.wait()?),
            Self::Snow(pending) => Metrics::Snow(pending.wait()?),
            Self::Mpm(pending) => Metrics::Mpm(pending.wait()?),
        })
    }
}

impl Metrics {
    /// What is measured of any particles, whatever they are made of.
    pub fn motion(&self) -> &FluidMetrics {
        match self {
            Self::Fluid(metrics) => metrics,
            Self::Snow(metrics) => &metrics.all,
            Self::Mpm(metrics) => &metrics.all,
        }
    }

    pub fn values(&self) -> Vec<f64> {
        match self {
            Self::Fluid(metrics) => metrics.values(),
            Self::Snow(metrics) => metrics.values(),
            Self::Mpm(metrics) => metrics.values(),
        }
    }
}
