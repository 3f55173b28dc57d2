//! `frazil`: the command line that assembles the engine.
//!
//! Here live the commands, the window, the order in which results leave the device, and the exit status. Here will never
//! live: a kernel, a solver's step, a file format or a Vulkan call.

mod analyze;
mod args;
mod bench;
mod body_lines;
mod check;
mod device;
mod export;
mod failure;
mod invariants;
mod landscape;
mod list;
mod outline;
mod painter;
mod play;
mod plots;
mod profile;
mod profiling;
mod run;
mod say;
mod simulation;
mod slab_files;
mod snow_plots;
mod solver;
mod state;
mod surface;
mod sweep;
mod view;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return args::explain(&error),
    };
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::note(format_args!("error: {failure}"));
            failure.exit_code()
        }
    }
}

fn dispatch(args: &Args) -> Result<(), Failure> {
    let validation = args.validation;
    match &args.command {
        Command::Run(run) => run::run(run, validation),
        Command::Sweep(sweep) => sweep::sweep(sweep, validation),
        Command::View(view) => view::view(view, validation),
        Command::Play(play) => play::play(play, validation),
        Command::Export(export) => export::export(export, validation),
        Command::Profile(profile) => profile::profile(profile, validation),
        Command::Bench(bench) => bench::bench(bench, validation),
        Command::Analyze(arguments) => analyze::analyze(arguments, validation),
        Command::Check(check) => check::check(check),
        Command::Devices => list::devices(),
        Command::Scenes(scenes) => list::scenes(scenes),
    }
}
