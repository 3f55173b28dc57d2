//! Discrete element method (Gucer2010) in f64: all pairs are tested, and contacts are kept in a map.

mod contact;
mod lists;
mod map;
mod oscillator;
mod slab;
mod step;
mod surroundings;

pub use contact::{
    Bonds, ContactForce, ContactHistory, ContactKinematics, Parameters, Phase, WeakLayer, damping_ratio,
    evaluate_contact,
};
pub use lists::{check_lists, count_contacts, fit_lists};
pub use map::FlowMap;
pub use oscillator::Oscillator;
pub use slab::{Link, Motion, Slabs, Solid, Wrench};
pub use step::{Grain, State};
pub use surroundings::{Partner, Surface};
