//! Viscoelastic fluid as a [`Solver`].

use super::metrics::ViscoelasticMetrics;
use super::shown::set_infos;
use super::solver::Viscoelastic;
use super::stress::LOOP_NESTING;
use crate::pbd::NEIGHBOUR_SLOTS;
use crate::{
    CurveSpec, Measurement, PanelSpec, PlotSpec, Solver, SolverError, SolverFactory, SolverStart, Tunable,
    Tuning, WORKGROUP_SIZE,
};
use frazil_particles::SetInfo;
use frazil_scene::Scene;
use frazil_vk::Device;

/// Factory of [`Viscoelastic`].
#[derive(Debug)]
pub struct Factory;

impl SolverFactory for Factory {
    fn kind(&self) -> &'static str {
        "viscoelastic"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        Ok(match start {
            SolverStart::Sampled(sampled) => {
                Box::new(Viscoelastic::with_tuning(device, scene, sampled, tuning)?)
            }
            SolverStart::Saved { columns, step } => {
                Box::new(Viscoelastic::restore(device, scene, columns, step, tuning)?)
            }
        })
    }

    fn set_infos(&self, scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
        set_infos(scene, n_particles)
    }

    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE, &NEIGHBOUR_SLOTS, &LOOP_NESTING]
    }

    fn plots(&self) -> Vec<PlotSpec> {
        let panel = |y_label, curves| PanelSpec { x: "time", y_label, curves, since_start: false };
        vec![PlotSpec {
            file: "stress.png",
            title: "Mean stress and energy",
            panels: vec![
                panel(
                    "stress [Pa]",
                    vec![CurveSpec::new("σ_xy", "stress_xy"), CurveSpec::new("σ_xx", "stress_xx")],
                ),
                panel(
                    "energy [J]",
                    vec![
                        CurveSpec::new("kinetic", "kinetic_energy"),
                        CurveSpec::new("elastic", "elastic_energy"),
                    ],
                ),
            ],
        }]
    }
}

impl From<ViscoelasticMetrics> for Measurement {
    fn from(metrics: ViscoelasticMetrics) -> Self {
        Self { summary: metrics.all.summary(), values: metrics.values() }
    }
}
