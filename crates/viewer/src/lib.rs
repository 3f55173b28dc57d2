//! `frazil`: the command line of the engine, as a library. [`run_cli`] is the whole program, for programs
//! that [register](frazil_solvers::register) solvers of their own first; [`engine`] is a simulation without
//! a command line, for programs that step, change and read it.
//!
//! It has the commands, the window, the order in which results leave the device, and the exit status. It
//! does not have kernels, solver steps, file formats or Vulkan calls.
//!
//! Feature `window`, on by default: the window of `view` and `play`.

#![cfg_attr(not(feature = "window"), allow(dead_code, reason = "some code is for the window alone"))]

mod analyze;
mod args;
mod bench;
mod bench_failure;
mod check;
mod damage;
mod export;
mod flow_map;
mod kernels;
mod list;
mod manual;
mod new;
mod play;
mod plots;
mod processes;
mod profile;
mod profiling;
mod run;
mod say;
mod slab_files;
mod solver_plots;
mod sweep;
mod tune;
mod validate;
mod view;

use args::{Args, Command};
use clap::Parser;
use frazil_engine::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command given by the arguments, the first of which is the program's name. Results go to files
/// and stdout, notes and errors to stderr.
pub fn run_cli(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = args.into_iter().collect();
    let args = match Args::try_parse_from(&words) {
        Ok(args) => args,
        Err(error) => return args::explain(&error),
    };
    match dispatch(&args, &words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::note(format_args!("error: {failure}"));
            failure.exit_code()
        }
    }
}

fn dispatch(args: &Args, words: &[OsString]) -> Result<(), Failure> {
    let validation = args.validation;
    match &args.command {
        Command::Run(run) => run::run(run, validation),
        Command::Sweep(sweep) => sweep::sweep(sweep, validation),
        Command::View(view) => view::view(view, validation),
        Command::Play(play) => play::play(play, validation),
        Command::Export(export) => export::export(export, validation),
        Command::Profile(profile) => profile::profile(profile, validation, words),
        Command::Tune(tune) => tune::tune(tune, validation),
        Command::Bench(bench) => bench::bench(bench, validation, words),
        Command::Analyze(arguments) => analyze::analyze(arguments, validation),
        Command::Validate(arguments) => validate::validate(arguments, validation),
        Command::Check(check) => check::check(check, validation),
        Command::Kernels(arguments) => kernels::kernels(arguments, validation),
        Command::Devices => list::devices(),
        Command::Scenes(scenes) => list::scenes(scenes),
        Command::New(new) => new::new_scene(new),
        Command::Completions(completions) => manual::completions(completions),
        Command::Man(man) => manual::man(man),
    }
}
