//! `frazil`: the program, as a library. [`run_cli`] is the whole of it, for programs that
//! [register](frazil_solvers::register) solvers of their own first. A simulation without a command line is in
//! the crate `frazil-engine`.
//!
//! It has the commands (`cli`), the window (`window`), what both do with recordings (`recordings`), and the
//! exit status. It does not have the loop that steps and writes, studies, pictures, solvers, file formats or
//! Vulkan calls.
//!
//! Feature `window`, on by default: the window of `view` and `play`.

#![cfg_attr(not(feature = "window"), allow(dead_code, reason = "some code is for the window alone"))]

mod build_info;
mod cli;
mod common_args;
mod recordings;
mod say;
mod window;

pub use cli::run_cli;
