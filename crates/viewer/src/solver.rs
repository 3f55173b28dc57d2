//! Whichever solver a scene asks for, and what is measured of it.

use crate::failure::Failure;
use frazil_particles::ColumnView;
use frazil_scene::{Sampled, Scene};
use frazil_solvers::SolverError;
use frazil_solvers::dem::{Dem, DemFaultCheck, DemMetrics, PendingDemMetrics};
use frazil_solvers::mpm::{self, Mpm, MpmMetrics, PendingMpmMetrics};
use frazil_solvers::pbd::snow::{LinkCheck, PendingSnowMetrics};
use frazil_solvers::pbd::{
    BodyMetrics, Fluid, FluidMetrics, PendingMetrics, Snow, SnowMetrics, StateColumn, Tuning,
};
use frazil_vk::{Device, Recorder};

/// A solver on the device.
pub enum Solver {
    /// Water.
    Fluid(Box<Fluid>),
    /// Snow and water: scenes with a `[snow]` section.
    Snow(Box<Snow>),
    /// Snow as a continuum: scenes with an `[mpm]` section.
    Mpm(Box<Mpm>),
    /// Snow as grains: scenes with a `[dem]` section.
    Dem(Box<Dem>),
}

/// A measurement of a whole state.
#[derive(Clone, Debug, PartialEq)]
pub enum Metrics {
    Fluid(FluidMetrics),
    Snow(SnowMetrics),
    Mpm(MpmMetrics),
    Dem(DemMetrics),
}

/// A measurement on its way to the host.
pub enum Measuring {
    Fluid(PendingMetrics),
    Snow(Box<PendingSnowMetrics>),
    Mpm(Box<PendingMpmMetrics>),
    Dem(Box<PendingDemMetrics>),
}

impl Solver {
    /// The scene's initial state.
    pub fn with_tuning(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        Ok(if scene.dem.is_some() {
            Self::Dem(Box::new(Dem::of_scene(device, scene, sampled, tuning)?))
        } else if scene.mpm.is_some() {
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
        Ok(if scene.dem.is_some() {
            Self::Dem(Box::new(Dem::restore_scene(device, scene, state, step)?))
        } else if scene.mpm.is_some() {
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
            Self::Dem(dem) => dem.record_step(recorder),
        }
    }

    /// Records a measurement of the state.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> Result<Measuring, Failure> {
        Ok(match self {
            Self::Fluid(fluid) => Measuring::Fluid(fluid.record_metrics(recorder)?),
            Self::Snow(snow) => Measuring::Snow(Box::new(snow.record_metrics(recorder)?)),
            Self::Mpm(mpm) => Measuring::Mpm(Box::new(mpm.record_metrics(recorder)?)),
            Self::Dem(dem) => Measuring::Dem(Box::new(dem.record_metrics(recorder)?)),
        })
    }

    /// Records a check of the links, where there are any.
    pub fn record_link_check(&self, recorder: &mut Recorder) -> Result<Option<LinkCheck>, Failure> {
        match self {
            Self::Fluid(_) | Self::Mpm(_) | Self::Dem(_) => Ok(None),
            Self::Snow(snow) => Ok(snow.record_link_check(recorder)?),
        }
    }

    /// Records the way to the host of what went wrong in the steps before, where the solver finds out by itself.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> Result<Option<FaultCheck>, Failure> {
        match self {
            Self::Fluid(_) | Self::Snow(_) => Ok(None),
            Self::Mpm(mpm) => Ok(Some(FaultCheck::Mpm(mpm.record_fault_check(recorder)?))),
            Self::Dem(dem) => Ok(Some(FaultCheck::Dem(dem.record_fault_check(recorder)?))),
        }
    }

    /// Records what brings [`Self::columns`] and [`Self::state_columns`] to the state at this point of the recorder.
    pub fn record_output(&self, recorder: &mut Recorder) {
        match self {
            // Its columns are the state.
            Self::Fluid(_) => {}
            Self::Snow(snow) => snow.record_output(recorder),
            Self::Mpm(mpm) => mpm.record_output(recorder),
            Self::Dem(dem) => dem.record_output(recorder),
        }
    }

    /// Records what brings the rigid bodies that pictures show to the state at this point of the recorder.
    pub fn record_bodies(&self, recorder: &mut Recorder) {
        if let Self::Dem(dem) = self {
            dem.record_pieces(recorder);
        }
    }

    /// What can be shown, recorded and exported, one element a particle.
    pub fn columns(&self) -> Vec<ColumnView> {
        match self {
            Self::Fluid(fluid) => fluid.columns(),
            Self::Snow(snow) => snow.columns(),
            Self::Mpm(mpm) => mpm.columns(),
            Self::Dem(dem) => dem.columns(),
        }
    }

    /// What is recorded of rigid bodies, one element a body, after [`Self::record_output`].
    pub fn body_columns(&self) -> Vec<ColumnView> {
        match self {
            Self::Fluid(_) | Self::Snow(_) | Self::Mpm(_) => Vec::new(),
            Self::Dem(dem) => dem.body_columns(),
        }
    }

    /// The columns shown, and behind them what else the next step depends on.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        match self {
            Self::Fluid(fluid) => fluid.state_columns(),
            Self::Snow(snow) => snow.state_columns(),
            Self::Mpm(mpm) => mpm.state_columns(),
            Self::Dem(dem) => dem.state_columns(),
        }
    }

    /// Names and units of [`Metrics::values`].
    pub fn metrics(&self) -> Vec<(String, &'static str)> {
        let names = match self {
            Self::Fluid(_) => FluidMetrics::NAMES.to_vec(),
            Self::Snow(_) => SnowMetrics::names(),
            Self::Mpm(_) => MpmMetrics::names(),
            // Bodies have names of their own.
            Self::Dem(dem) => return DemMetrics::names(dem.parameters()),
        };
        let bodies = match self {
            Self::Fluid(fluid) => fluid.parameters().body_names(),
            Self::Snow(snow) => snow.parameters().fluid.body_names(),
            _ => Vec::new(),
        };
        let names = names.into_iter().map(|(name, unit)| (name.to_owned(), unit));
        names.chain(BodyMetrics::names(&bodies)).collect()
    }
}

/// A check on its way to the host.
#[derive(Debug)]
pub enum FaultCheck {
    Mpm(mpm::FaultCheck),
    Dem(DemFaultCheck),
}

impl FaultCheck {
    /// Waits for it: what went wrong first, if anything did.
    pub fn wait(self) -> Result<Option<String>, frazil_vk::Error> {
        Ok(match self {
            Self::Mpm(check) => check.wait()?.map(|fault| fault.to_string()),
            Self::Dem(check) => check.wait()?.map(|fault| fault.to_string()),
        })
    }
}

impl Measuring {
    pub fn is_ready(&self) -> Result<bool, frazil_vk::Error> {
        match self {
            Self::Fluid(pending) => pending.is_ready(),
            Self::Snow(pending) => pending.is_ready(),
            Self::Mpm(pending) => pending.is_ready(),
            Self::Dem(pending) => pending.is_ready(),
        }
    }

    pub fn wait(self) -> Result<Metrics, frazil_vk::Error> {
        Ok(match self {
            Self::Fluid(pending) => Metrics::Fluid(pending.wait()?),
            Self::Snow(pending) => Metrics::Snow(pending.wait()?),
            Self::Mpm(pending) => Metrics::Mpm(pending.wait()?),
            Self::Dem(pending) => Metrics::Dem(pending.wait()?),
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
            Self::Dem(metrics) => &metrics.all,
        }
    }

    pub fn values(&self) -> Vec<f64> {
        let mut values = match self {
            Self::Fluid(metrics) => metrics.values(),
            Self::Snow(metrics) => metrics.values(),
            Self::Mpm(metrics) => metrics.values(),
            Self::Dem(metrics) => metrics.values(),
        };
        values.extend(self.motion().body_values());
        values
    }
}
