//! End-to-end tests of the program: arguments in, exit status, messages and files out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod absent_hardware;
mod analyze;
mod authoring;
mod bad_input;
mod bench;
mod dem;
mod emitters;
mod export;
mod history;
mod host_limits;
mod interrupts;
mod kernels;
mod live;
mod mpm;
mod output_folder;
mod overflow;
mod pages;
mod play;
mod predict;
mod profile;
mod reproducibility;
mod resume;
mod run;
mod snow;
mod sweep;
mod tasks;
mod tool;
mod tune;
mod tutorial;
mod validate;
mod view;
