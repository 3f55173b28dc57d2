//! The program `frazil`, with the solvers that are part of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    frazil::run_cli(std::env::args_os())
}
