//! The program `frazil` with its built-in solvers.

use std::process::ExitCode;

fn main() -> ExitCode {
    frazil::run_cli(std::env::args_os())
}
