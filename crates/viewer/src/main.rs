//! The program `frazil` with its built-in solvers.

use frazil_vk::HostAllocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: HostAllocator = HostAllocator::new(frazil_scene::is_reserving);

fn main() -> ExitCode {
    frazil::run_cli(std::env::args_os())
}
