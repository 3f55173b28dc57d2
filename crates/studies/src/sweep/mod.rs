//! Sweeps: a scene at each point of a grid of parameters, one after the other, and the results side by side.

mod axis;
mod observer;
mod plan;
mod results;
mod runner;
mod sheet;

pub use axis::VaryAxis;
pub use observer::SweepObserver;
pub use plan::{Case, SweepOptions, cases};
pub use runner::{Sweep, claim};
