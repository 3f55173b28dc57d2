//! frazil with one more solver: registers it, and is then the whole program.

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
