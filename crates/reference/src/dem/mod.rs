//! Grains that touch (paper 003), in f64: every pair is looked at, and contacts are kept in a map.

mod contact;
mod step;

pub use contact::{Bonds, Memory, Parameters, Response, Touch, damping_ratio, respond};
pub use step::{Grain, Partner, State, Surface};
