//! Solvers: each is a list of passes that reads like the figure in its paper.
//!
//! [`pbd`] is the position-based fluid, with or without snow; [`mpm`] is snow as a continuum [`dem`] snow
//! as grains and [`viscoelastic`] a non-Newtonian fluid. External solvers [`register`] themselves.
//!
//! A [`Solver`] is made from a scene and its sampled particles by the [`SolverFactory`] that [`factory_of`]
//! finds. It records steps into a [`frazil_vk::Recorder`] and returns its columns; the caller decides when to
//! submit, what to read back and where to write it.
//!
//! Invariant: recording a step never waits for the device and never reads anything back. Counts stay on the
//! device, and every dispatch over particles is indirect.

mod bodies;
mod clock;
pub mod dem;
mod display;
mod error;
mod facets;
mod factory;
mod fault;
mod grab;
mod metrics;
mod metrics_reduction;
pub mod mpm;
mod pair;
pub mod pbd;
mod pending;
mod plot;
mod registry;
mod solver;
mod sources;
mod substeps;
mod tuning;
pub mod viscoelastic;
mod work;

pub use bodies::{
    BodyLoad, BodyLoads, BodyPose, DynamicBodies, DynamicBody, MeshProblem, PendingLoads, Surroundings,
    mesh_body,
};
pub use clock::{StepDivision, StepPlace};
pub use error::{RegistryError, SolverError};
pub use facets::{
    ActiveBlocks, BodyPoses, FlowCells, FlowMapping, PairInspection, PendingFlow, RigidBodies, SparseGrid,
};
pub use factory::{FlowMaterial, SolverFactory, SolverStart};
pub use fault::{InvariantFault, Regrown, SolverFault, suggest_dt};
pub use frazil_particles::{Saved, StateColumn};
pub use grab::{Grab, GrabPass};
pub use metrics::{Measurement, MetricInfo, MotionMetrics, PendingMeasurement, StateSummary};
pub use pair::{Pair, Partner};
pub use pending::PendingResult;
pub use plot::{CurveSpec, PanelSpec, PlotSpec};
pub use registry::{factories, factory, factory_of, register, set_infos};
pub use solver::{PendingFault, PendingInvariants, Solver, change_scene};
pub use sources::SourceParameters;
pub use substeps::{Pace, SubstepControl};
pub use tuning::{Tunable, Tuning, TuningError, WORKGROUP_SIZE};
pub use work::WorkCounter;
