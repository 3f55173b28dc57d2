//! The frazil program with one more solver registered.

use std::process::ExitCode;

fn main() -> ExitCode {
    match frazil_own_solver::register() {
        Ok(()) => frazil::run_cli(std::env::args_os()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
