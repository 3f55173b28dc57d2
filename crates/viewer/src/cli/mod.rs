//! The command line: one folder a command, with its arguments.

mod analyze;
mod bench;
mod check;
mod export;
mod history;
mod interrupt;
mod kernels;
mod list;
mod manual;
mod new;
mod play;
mod predict;
mod processes;
mod profile;
mod run;
mod sweep;
mod tune;
mod user_data;
mod validate;

use crate::say;
use crate::window::{self, ViewArgs};
use analyze::AnalyzeArgs;
use bench::BenchArgs;
use check::CheckArgs;
use clap::{CommandFactory, Parser, Subcommand};
use export::ExportArgs;
use frazil_engine::Failure;
use kernels::KernelsArgs;
use list::ScenesArgs;
use manual::{CompletionsArgs, ManArgs};
use new::NewArgs;
use play::PlayArgs;
use predict::PredictArgs;
use profile::ProfileArgs;
use run::RunArgs;
use std::ffi::OsString;
use std::process::ExitCode;
use sweep::SweepArgs;
use tune::TuneArgs;
use validate::ValidateArgs;

/// Variables that all commands know, for `frazil --help`.
const ENVIRONMENT: &str = "\
Environment:
  FRAZIL_DEVICE=NAME|INDEX  device of commands without --device
  FRAZIL_HISTORY=DIR|0      folder of the log of measurements, or none
  FRAZIL_HISTORY_HOST=NAME  name of this machine in the log [default: the host's name]
  FRAZIL_DRY_RUN=1          submit steps and take them for finished, on a driver without its hardware
  FRAZIL_TUNING=0           ignore the tunables stored by `frazil tune`
  FRAZIL_REPLAY=0           record every step, also where an earlier one recurs
  FRAZIL_ROBUST_ACCESS=0    no bounds checks of buffers
  FRAZIL_LABELS=1|0         label passes for frame debuggers [default: with validation and in profiles]
  FRAZIL_WATCHDOG=SECONDS   end with an error that names the pass if a submission takes longer; 0: never
                            [default: 60 on a GPU, 1200 on a software device, without the name]
  NO_COLOR=1                no colours on a terminal
All from FRAZIL_TUNING on change the time of a step and no bit of the results. Pipelines and tunables
are kept in $XDG_CACHE_HOME/frazil (~/.cache), the log in $XDG_DATA_HOME/frazil/history (~/.local/share).";

/// A Vulkan-native, data-oriented particle engine.
/// Exit status: 0 success, 2 bad input, 3 device error, 4 violated invariant, 1 any other error.
#[derive(Debug, Parser)]
#[command(name = "frazil", version, max_term_width = 100, after_help = ENVIRONMENT)]
struct Args {
    /// Turn on Vulkan's validation layers; any message is an error. For work on the engine itself.
    #[arg(
        long, global = true, hide = true, env = "FRAZIL_VALIDATION",
        value_parser = clap::builder::FalseyValueParser::new(),
    )]
    validation: bool,
    /// Print errors and data only: no notes, warnings, progress and reports.
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scene and write pictures, metrics and recordings.
    Run(RunArgs),
    /// Run a scene with each combination of parameters, and compare the results side by side.
    ///
    /// --vary KEY=A,B,C runs the scene with --set KEY=A, then B, then C; several --vary make a grid. Keys
    /// joined by commas change together: --vary KEY,OTHER=A:X,B:Y runs it with A and X, then with B and Y,
    /// and --vary KEY,OTHER=A,B with the same value for both. Repeating the command skips finished cases and
    /// resumes an interrupted one.
    Sweep(SweepArgs),
    /// Open a window on a running scene or on a recording.
    ///
    /// Space plays and pauses, → takes one step or frame, ← goes one back, Home and End go to the first and
    /// the last, R starts again, H lists all keys, Esc closes. P shows the parameters that can change while a
    /// simulation runs, M the plot of a metric, C the histogram of the values that are shown; a click on a
    /// particle shows its values; S writes a picture and V a video. A recording plays backwards with J and
    /// forwards with L, faster when pressed again, and K pauses. Drag with the left button to orbit, with the
    /// right or middle one to pan; the wheel zooms. With G held, dragging with the left button pulls the
    /// particles of a running simulation.
    View(ViewArgs),
    /// Play a recording in a window, or make a video of it.
    Play(PlayArgs),
    /// Convert a recording for other programs.
    Export(ExportArgs),
    /// Measure the device time of each kernel of a scene's step.
    Profile(ProfileArgs),
    /// Find the fastest values of a solver's tunables on this device, and store them.
    ///
    /// For each tunable, such as the threads per workgroup, all values within its bounds take the same steps
    /// of the scene, interleaved in rounds. A value is stored if it ends in the same state as the defaults
    /// and is faster by more than the noise between rounds. `frazil run`, `view`, `profile` and `sweep` use
    /// the stored values for all scenes of the solver; FRAZIL_TUNING=0 ignores them. They are kept beside the
    /// pipeline cache, and only for this device and version of its driver.
    Tune(TuneArgs),
    /// Measure primitives and solver steps, verify their results, and compare with an earlier measurement.
    ///
    /// Each point is run once and its result compared with a computation on the CPU; then it is timed with
    /// cold caches, then warm until the median is known to 2 % (95 % confidence), and its result is compared
    /// again. The subgroup size is the device's own: for Mesa's software device set LP_NATIVE_VECTOR_WIDTH to
    /// 128, 256 or 512.
    Bench(BenchArgs),
    /// Repeat a study of the limits of the material point method (Breekveldt2017), or count the pieces in
    /// recordings: a table, a plot and a page of text.
    Analyze(AnalyzeArgs),
    /// Validate the engine on this device: compare it with twins, closed forms, experiments and papers.
    ///
    /// Prints a row for each quantity with its bound, PASS or FAIL, and writes validation.md, validation.csv
    /// and plots. Exit status 4 if a quantity fails that does not fail on every device. A case that the
    /// device is too small for is "not run".
    Validate(ValidateArgs),
    /// Validate a scene and print a summary; a device is needed for --measure only.
    ///
    /// Warns about everything that may give a poor result: steps too long, springs too soft for the weight on
    /// them, bodies outside the domain, keys without effect; with --measure also about a lack of memory.
    Check(CheckArgs),
    /// Compile kernels and list what compilers report: registers, spills, occupancy.
    ///
    /// --for compiles for hardware that is absent, by Mesa's drivers for NVIDIA, AMD, Qualcomm and Apple
    /// ("ada", "navi31", "adreno740", "m1"; an unknown family lists all), which `tools/setup --compilers`
    /// unpacks. Kernels have the default values of their specialization constants, those of a step of
    /// --scene, or those of --constant. A kernel that a compiler refuses, or does not survive, is named below
    /// the table.
    Kernels(KernelsArgs),
    /// Predict the time of a scene's step on GPUs that are not there, and what bounds each kernel.
    ///
    /// Counts bytes and operations of a few steps on this device, and takes registers from the compiler of
    /// the card's family (see `frazil kernels --for`). A call takes the launch and the longest of its bytes,
    /// its operations and the loads that its threads wait for; loops, divergence and atomics are not in the
    /// model. Halves of bytes, operations, registers and launches tell what would help.
    Predict(PredictArgs),
    /// List the Vulkan devices of this machine.
    Devices,
    /// List the built-in scenes, or print one.
    Scenes(ScenesArgs),
    /// Write a commented scene to begin with.
    New(NewArgs),
    /// Print a completion script for a shell, such as `frazil completions bash > ~/.bash_completion`.
    Completions(CompletionsArgs),
    /// Write the man pages of all commands into a folder.
    Man(ManArgs),
}

/// Runs the command given by the arguments, the first of which is the program's name. Results go to files
/// and stdout, notes and errors to stderr.
pub fn run_cli(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = args.into_iter().collect();
    let args = match Args::try_parse_from(&words) {
        Ok(args) => args,
        Err(error) => return explain(&error),
    };
    match dispatch(&args, &words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::error(format_args!("error: {failure}"));
            failure.exit_code()
        }
    }
}

fn dispatch(args: &Args, words: &[OsString]) -> Result<(), Failure> {
    say::set_quiet(args.quiet);
    frazil_vk::ignore_file_size_signal();
    let validation = args.validation;
    match &args.command {
        Command::Run(run) => run::run(run, validation),
        Command::Sweep(sweep) => sweep::sweep(sweep, validation),
        Command::View(view) => window::view(view, validation),
        Command::Play(play) => play::play(play, validation),
        Command::Export(export) => export::export(export, validation),
        Command::Profile(profile) => profile::profile(profile, validation, words),
        Command::Tune(tune) => tune::tune(tune, validation),
        Command::Bench(bench) => bench::bench(bench, validation, words),
        Command::Analyze(arguments) => analyze::analyze(arguments, validation),
        Command::Validate(arguments) => validate::validate(arguments, validation),
        Command::Check(check) => check::check(check, validation),
        Command::Kernels(arguments) => kernels::kernels(arguments, validation),
        Command::Predict(arguments) => predict::predict_scene(arguments, validation),
        Command::Devices => list::devices(),
        Command::Scenes(scenes) => list::scenes(scenes),
        Command::New(new) => new::new_scene(new),
        Command::Completions(completions) => manual::completions(completions, Args::command()),
        Command::Man(man) => manual::man(man, Args::command()),
    }
}

/// Prints the output of the argument parser: help to stdout, errors to stderr.
fn explain(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if !error.use_stderr() {
        return say::data(&text).map_or_else(|failure| failure.exit_code(), |()| ExitCode::SUCCESS);
    }
    match text.starts_with("error:") {
        true => say::error(text.trim_end()),
        // Help for a command line without a command.
        false => drop(error.print()),
    }
    ExitCode::from(2)
}
