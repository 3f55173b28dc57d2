//! The four studies of Breekveldt2017 chapter 4, repeated on this engine.
//! Each study is a table, a plot and a page of text, all from results of the solver on the device. Closed
//! formulas of the paper are shown beside the measurements and never replace them. A fifth study,
//! `fragments`, evaluates recordings and needs no device.

mod courant;
pub(crate) mod feedback;
mod fit;
mod fragments;
mod lab;
mod limits;
mod modulus;
mod noise;
mod report;
pub(crate) mod resting;
mod runtime;
mod scaling;
mod study;
pub(crate) mod tipping;
mod variants;

pub use fragments::study as fragments;
pub use limits::study as limits;
pub use noise::study as noise;
pub use report::Report;
pub use runtime::study as runtime;
pub use scaling::study as scaling;
pub use study::{Effort, Study};
