//! The command line.

use crate::analyze::Study;
use crate::new::Kind;
use crate::run::RunOptions;
use crate::say;
use crate::sweep::VaryAxis;
use clap::{Parser, Subcommand};
use frazil_bench::AxisOverride;
use frazil_engine::outputs::{Cadence, ChangeAt, ScheduleRequest};
use frazil_engine::picture;
use frazil_io::{Format, MeshFormat};
use frazil_report::MIN_RUNS;
use frazil_scene::{FlowQuantity, RenderScheme, Scene, SceneError};
use frazil_solvers::{Tunable, Tuning, factories};
use std::path::PathBuf;
use std::process::ExitCode;

/// Variables that all commands know, for `frazil --help`.
const ENVIRONMENT: &str = "\
Environment:
  FRAZIL_DEVICE=NAME|INDEX  device of commands without --device
  FRAZIL_TUNING=0           ignore the tunables stored by `frazil tune`
  FRAZIL_REPLAY=0           record every step, also where an earlier one recurs
  FRAZIL_ROBUST_ACCESS=0    no bounds checks of buffers
  FRAZIL_LABELS=1|0         label passes for frame debuggers [default: with validation and in profiles]
  FRAZIL_WATCHDOG=SECONDS   end with an error that names the pass if a submission takes longer; 0: never
                            [default: 60 on a GPU, without the name; 0 on a software device]
  NO_COLOR=1                no colours on a terminal
All but the first change the time of a step and no bit of the results. Pipelines and tunables are
kept in $XDG_CACHE_HOME/frazil, or else in ~/.cache/frazil.";

/// A Vulkan-native, data-oriented particle engine.
/// Exit status: 0 success, 2 bad input, 3 device error, 4 violated invariant, 1 any other error.
#[derive(Debug, Parser)]
#[command(name = "frazil", version, max_term_width = 100, after_help = ENVIRONMENT)]
pub struct Args {
    /// Turn on Vulkan's validation layers; any message is an error. For work on the engine itself.
    #[arg(long, global = true, hide = true, env = "FRAZIL_VALIDATION", value_parser = clap::builder::FalseyValueParser::new())]
    pub validation: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
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
    /// Compile kernels and list what the driver's compiler reports: registers, spills, occupancy.
    ///
    /// --for FAMILY compiles for AMD hardware that is absent, by Mesa's RADV: "navi31", "vega10" and others;
    /// an unknown family lists those that the driver knows. `tools/setup --compilers` installs a recent RADV
    /// for that alone. Kernels have the default values of their specialization constants, or those of
    /// --constant.
    Kernels(KernelsArgs),
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

/// Selection of a scene, and overrides.
#[derive(Debug, clap::Args)]
pub struct SceneArgs {
    /// Path of a scene file, or the name of a built-in scene (see `frazil scenes`).
    pub scene: String,
    #[command(flatten)]
    pub changes: SceneChanges,
}

#[derive(Debug, clap::Args)]
pub struct SceneChanges {
    /// Override a value of the scene, such as fluid.particle_spacing_m=0.005; may be given several times.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Seed of everything random in the scene.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Representation of particles: sprites, surface, surface_and_slabs or fluid [default: the scene's
    /// render.scheme].
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub scheme: Option<RenderScheme>,
}

impl SceneArgs {
    /// Loads the scene with its overrides; warnings go to stderr unless `quiet`.
    pub fn load(&self) -> Result<Scene, SceneError> {
        self.changes.load(&self.scene)
    }
}

impl SceneChanges {
    pub fn load(&self, scene: &str) -> Result<Scene, SceneError> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        let overrides: Vec<String> = self.shown().into_iter().chain(seed).collect();
        let scene = Scene::find(scene, &overrides)?;
        picture::check(&scene)?;
        Ok(scene)
    }

    /// Returns all changes but the seed, as overrides.
    pub fn shown(&self) -> Vec<String> {
        let scheme = self.scheme.map(|scheme| format!("render.scheme=\"{}\"", scheme.name()));
        self.overrides.iter().cloned().chain(scheme).collect()
    }
}

fn scheme(text: &str) -> Result<RenderScheme, String> {
    let found = RenderScheme::ALL.into_iter().find(|scheme| scheme.name() == text);
    found.ok_or_else(|| format!("found \"{text}\", expected sprites, surface, surface_and_slabs or fluid"))
}

fn quantity(text: &str) -> Result<FlowQuantity, String> {
    let found = FlowQuantity::ALL.into_iter().find(|quantity| quantity.name() == text);
    let names = FlowQuantity::ALL.map(FlowQuantity::name).join(", ");
    found.ok_or_else(|| format!("found \"{text}\", expected one of {names}"))
}

/// Selection of a device.
#[derive(Debug, clap::Args)]
pub struct DeviceArgs {
    /// Device, by part of its name or by index (see `frazil devices`) [default: $FRAZIL_DEVICE, or the best
    /// one].
    #[arg(long, value_name = "NAME|INDEX")]
    pub device: Option<String>,
}

fn cadence(text: &str) -> Result<Cadence, String> {
    match text {
        "never" => Ok(Cadence::Never),
        _ => text.parse().map(Cadence::Every).map_err(|e: frazil_scene::EveryError| format!("{e}, or never")),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a number above 0, such as 0.05 for 5 %")),
    }
}

fn metres(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a length in metres above 0, such as 0.02")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('s').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a time in seconds above 0")),
    }
}

/// Duration of the simulation.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(multiple = false)]
pub struct LengthArgs {
    /// Stop at step N [default: the scene's duration].
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop at this simulated time in s.
    #[arg(long, value_name = "T", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f64>,
}

impl LengthArgs {
    /// Returns a request for this duration, with the scene's outputs.
    pub fn request(self) -> ScheduleRequest {
        ScheduleRequest { steps: self.steps, time_s: self.time, ..ScheduleRequest::default() }
    }
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    #[command(flatten)]
    pub length: LengthArgs,
    /// Output folder [default: the checkpoint's with --resume, else out/<scene's name>, or if that has
    /// results out/<scene's name>-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results of an earlier run in the output folder; its checkpoint is renamed. Without it, a
    /// folder that holds anything is refused.
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Write a picture every N steps (10) or every simulated time (0.05s), or never [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub render: Option<Cadence>,
    /// Write a frame of the recording at this interval [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub record: Option<Cadence>,
    /// Columns of those frames beside position and id, such as velocity,density [default: the scene's, or
    /// all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub record_columns: Option<Vec<String>>,
    /// Write a row of metrics at this interval [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub metrics: Option<Cadence>,
    /// Check at this interval that every particle exists exactly once, is finite and is inside the domain
    /// [default: never].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub check: Option<Cadence>,
    /// Write a checkpoint at this interval, and at the end [default: never].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub checkpoint: Option<Cadence>,
    /// Change a parameter after STEP steps, while the simulation runs, such as
    /// "100:fluid.dynamic_viscosity_pa_s=5.0"; may be given several times. `frazil check` lists the keys.
    #[arg(long = "at", value_name = "STEP:KEY=VALUE")]
    pub changes_at: Vec<ChangeAt>,
    /// Resume from a checkpoint, with bit-identical results.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// With --resume: begin new outputs at the checkpoint's step, and delete those in the output folder.
    /// Without it, a run whose earlier outputs are missing or damaged is not resumed.
    #[arg(long, requires = "resume")]
    pub discard_outputs: bool,
    /// Time every kernel; writes profile.json, trace.json and profile.html.
    #[arg(long)]
    pub profile: bool,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

impl RunArgs {
    /// Returns what the run loop needs.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            schedule: ScheduleRequest {
                picture: self.render,
                record: self.record,
                metrics: self.metrics,
                check: self.check,
                checkpoint: self.checkpoint,
                ..self.length.request()
            },
            record_columns: self.record_columns.clone(),
            resume: self.resume.clone(),
            discard_outputs: self.discard_outputs,
            profile: self.profile,
            quiet: self.quiet,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Values to vary, such as mpm.material.hardening=5,10,20; may be given several times. The first gives
    /// the rows of the contact sheet, the second its columns.
    #[arg(long = "vary", value_name = "KEY[,KEY…]=VALUE[:VALUE…],…", required = true)]
    pub axes: Vec<VaryAxis>,
    /// Duration of each case.
    #[command(flatten)]
    pub length: LengthArgs,
    /// Output folder [default: out/<scene's name>_sweep]. A sweep that is there is resumed.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace finished cases of other parameters in the output folder, which are refused without it.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// A scene file, the name of a built-in scene, or a recording (*.frazil-rec).
    #[arg(value_name = "SCENE|RECORDING")]
    pub source: String,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Pause at step N.
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Show the picture without the panel.
    #[arg(long)]
    pub hide_overlay: bool,
    /// Show the parameters of a simulation from the beginning; P shows and hides them.
    #[arg(long)]
    pub parameters: bool,
    /// Show the list of keys from the beginning; H shows and hides it.
    #[arg(long)]
    pub keys: bool,
    /// Use the shaders of this folder, such as glsl of a checkout, and replace them whenever a file changes.
    #[arg(long, value_name = "DIR")]
    pub shaders: Option<PathBuf>,
    /// Write the picture (PNG, without the overlay) once it is shown at the step of --steps.
    #[arg(long, value_name = "FILE", requires = "steps")]
    pub screenshot: Option<PathBuf>,
    /// Close the window at that step.
    #[arg(long, requires = "steps")]
    pub exit: bool,
}

#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// Recording of a run (*.frazil-rec), which may still be in progress.
    pub recording: PathBuf,
    /// Recorded frames per picture: 2 shows every second frame, 0.5 each frame twice, -1 plays backwards.
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = speed, allow_hyphen_values = true)]
    pub speed: f64,
    /// Steps of the simulation per picture, whatever the interval of recorded frames; negative backwards.
    #[arg(long, value_name = "N", value_parser = steps_per_frame, conflicts_with = "speed", allow_hyphen_values = true)]
    pub steps_per_frame: Option<i64>,
    /// Frames per second.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=240))]
    pub fps: u32,
    /// Write a video (.mp4 or .gif by ffmpeg, .y4m without) or, into a folder, pictures; no window is opened.
    #[arg(long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// Replace the video, or the pictures in the folder, which are refused without it.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// Begin at this step (120) or simulated time (0.5s) [default: the first frame].
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub from: Option<Moment>,
    /// End at this step or time [default: the last frame].
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub to: Option<Moment>,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

/// A point in a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    Step(u64),
    Seconds(f64),
}

impl std::str::FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let seconds = |(number, unit_s): (&str, f64)| {
            let seconds = number.trim().parse::<f64>().ok()? * unit_s;
            (seconds.is_finite() && seconds >= 0.0).then_some(Self::Seconds(seconds))
        };
        let time = trimmed.strip_suffix("ms").map(|number| (number, 1e-3));
        let time = time.or_else(|| Some((trimmed.strip_suffix('s')?, 1.0)));
        let found = time.map_or_else(|| trimmed.parse().ok().map(Self::Step), seconds);
        found.ok_or_else(|| {
            format!("found \"{text}\", expected a step from 0 (120) or a simulated time from 0 (0.5s, 20ms)")
        })
    }
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value != 0.0 => Ok(value),
        _ => Err(format!(
            "found \"{text}\", expected recorded frames per picture, such as 1, 0.5 or -2, but not 0"
        )),
    }
}

fn steps_per_frame(text: &str) -> Result<i64, String> {
    match text.parse::<i64>() {
        Ok(steps) if steps != 0 => Ok(steps),
        _ => Err(format!("found \"{text}\", expected a number of steps, such as 100 or -100, but not 0")),
    }
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Recording of a run (recording.frazil-rec); for --map also its output folder.
    pub recording: PathBuf,
    #[command(flatten)]
    pub what: ExportWhat,
    /// Export these frames only, by their numbers from 0, both ends included: 10..20, 10.., ..20, 7, and with
    /// a step 0..100:10 [default: all].
    #[arg(long, value_name = "A..B:STEP", conflicts_with = "map")]
    pub frames: Option<FrameRange>,
    /// Output folder [default: export beside the recording, or if that has files export-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace earlier files of these formats in the output folder, which is refused without it if it holds
    /// anything.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Formats of the exported frames.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub struct ExportWhat {
    /// Particles, sorted by id: vtk, vtu, ply, bgeo, csv or several, as vtk,csv. For slabs, vtk and vtu have
    /// the faces of pieces, the others one row or point per piece.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Surface of the particles, computed on the device, and in a separate file that of slabs: obj, ply or
    /// both. The vertices of ply have the velocity and the property of render.colour_by.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    pub mesh: Vec<MeshFormat>,
    /// Map of a flow on a terrain, from the rasters of the run: deposit_thickness, peak_thickness,
    /// peak_speed, peak_pressure or arrival_time, as map_QUANTITY.png.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity)]
    pub map: Option<FlowQuantity>,
}

/// Comparison with another build or with an earlier measurement.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Compare with another build of frazil, whose processes take turns with those of this one, or with an
    /// earlier measurement (rows of a bench, profile.json) on the same device; exit status 1 if anything is
    /// slower.
    #[arg(long, value_name = "BINARY|FILE")]
    pub against: Option<PathBuf>,
    /// Number of rounds with another build, each of two processes of both.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(3..))]
    pub rounds: u16,
    /// Measure in N processes, so that a later comparison knows the variance between them [default: 1; 5 if
    /// compared with a file that has at least 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: Option<u16>,
    /// Tolerated relative difference [default: 0.02 with another build, 0.05 with a file].
    #[arg(long, value_name = "SHARE", value_parser = tolerance, allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Print all columns of tables, beyond a width of 100.
    #[arg(long)]
    pub wide: bool,
}

impl CompareArgs {
    /// Options of the comparison, and true for those with a value: processes that only measure do without.
    pub const OPTIONS: [(&str, bool); 5] =
        [("against", true), ("rounds", true), ("runs", true), ("tolerance", true), ("wide", false)];

    /// Returns the tolerated relative difference with another build.
    pub fn tolerance_of_builds(&self) -> f64 {
        self.tolerance.unwrap_or(0.02)
    }

    /// Returns the tolerated relative difference with an earlier measurement.
    pub fn tolerance_of_files(&self) -> f64 {
        self.tolerance.unwrap_or(0.05)
    }

    /// Returns the number of processes that measure, if they are compared with a file whose measurement took
    /// `earlier`; `None` for none but this one.
    pub fn processes(&self, earlier: Option<usize>) -> Option<usize> {
        let default = if earlier.is_some_and(|n| n >= MIN_RUNS) { 5 } else { 1 };
        Some(self.runs.map_or(default, usize::from)).filter(|n| *n > 1)
    }
}

/// Numbers of frames: from `first` to `last`, both included, every `step`th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    pub first: u64,
    pub last: u64,
    pub step: u64,
}

impl FrameRange {
    /// Returns true if a frame is exported.
    pub fn contains(&self, number: u64) -> bool {
        (self.first..=self.last).contains(&number) && (number - self.first).is_multiple_of(self.step)
    }
}

impl std::str::FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (range, step) = text.split_once(':').unwrap_or((text, "1"));
        let number = |text: &str, if_empty: u64| match text.trim() {
            "" => Some(if_empty),
            text => text.parse().ok(),
        };
        let bounds = match range.split_once("..") {
            Some((first, last)) => number(first, 0).zip(number(last, u64::MAX)),
            None => range.trim().parse().ok().map(|frame: u64| (frame, frame)),
        };
        let step = step.trim().parse().ok().filter(|step: &u64| *step > 0);
        match bounds.zip(step) {
            Some(((first, last), step)) if first <= last => Ok(Self { first, last, step }),
            _ => Err(format!(
                "found \"{text}\", expected frames as 10..20, 10.., ..20 or 7, and a step from 1 as 0..100:10"
            )),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct ProfileArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Number of steps to measure.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Number of warm-up steps, so that caches and clocks settle.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub warm_up: u64,
    /// Output folder of profile.json, trace.json and profile.html [default: out/<scene's name>_profile, or if
    /// that has results out/<scene's name>_profile-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Measure the same steps with other values of one of the solver's tunables too, interleaved, such as
    /// workgroup_size=64,128,256 or rows_per_thread=1,2,4.
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub vary: Option<VaryArg>,
    /// Draw N pictures too, each after a step, and report the rate of both together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub pictures: Option<u64>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// A tunable to vary, and the values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaryArg {
    pub tunable: &'static Tunable,
    pub values: Vec<u32>,
}

#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Scene to measure: path of a scene file, or name of a built-in scene. With --list and --reset, only its
    /// solver.
    #[arg(required_unless_present_any = ["list", "reset"])]
    pub scene: Option<String>,
    #[command(flatten)]
    pub changes: SceneChanges,
    /// Tune only this one, such as workgroup_size; may be given several times [default: all of the solver].
    #[arg(long = "tunable", value_name = "NAME")]
    pub tunables: Vec<String>,
    /// Number of steps to measure with each value, in 8 rounds.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Number of warm-up steps, so that caches and clocks settle.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub warm_up: u64,
    /// Print the values stored for the device instead.
    #[arg(long, conflicts_with = "reset")]
    pub list: bool,
    /// Remove the values stored for the device instead.
    #[arg(long)]
    pub reset: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Returns the tunables of all solvers, each once.
fn tunables() -> Vec<&'static Tunable> {
    let mut all: Vec<&'static Tunable> = Vec::new();
    for tunable in factories().into_iter().flat_map(|factory| factory.tunables()) {
        if !all.contains(&tunable) {
            all.push(tunable);
        }
    }
    all
}

impl std::str::FromStr for VaryArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        let known = tunables();
        let tunable = known.iter().find(|tunable| tunable.name == key && !values.is_empty());
        let Some(&tunable) = tunable else {
            let names: Vec<String> = known.iter().map(|tunable| format!("{}=", tunable.name)).collect();
            return Err(format!(
                "found \"{text}\", expected {} and values, such as workgroup_size=64,128,256",
                names.join(" or ")
            ));
        };
        let mut tried: Vec<u32> = Vec::new();
        for text in values.split(',') {
            let value =
                text.trim().parse().map_err(|_| format!("found \"{text}\", expected a whole number"))?;
            if tried.contains(&value) {
                return Err(format!("{key}: {value} is given twice"));
            }
            Tuning::default().with(tunable, value).map_err(|error| error.to_string())?;
            tried.push(value);
        }
        Ok(Self { tunable, values: tried })
    }
}

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Measure only benches whose id contains one of these [default: all].
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// List the benches with their axes and metrics; no device is needed.
    #[arg(long)]
    pub list: bool,
    /// Measure a few points briefly, to test that every bench runs and is correct.
    #[arg(long)]
    pub smoke: bool,
    /// Measure these values on an axis, such as count=1000,65537; may be given several times.
    #[arg(long = "axis", value_name = "NAME=VALUE,…")]
    pub axes: Vec<AxisOverride>,
    /// Append a row for each point to this file (JSON Lines).
    #[arg(long, value_name = "FILE", default_value = "out/bench.jsonl")]
    pub out: PathBuf,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct AnalyzeArgs {
    /// Study to run.
    pub study: Study,
    /// fragments: recordings of runs (*.frazil-rec).
    #[arg(value_name = "RECORDING")]
    pub recordings: Vec<PathBuf>,
    /// fragments: distance in m within which two particles belong to one piece [default: 1.5 mean distances
    /// of particles at the start].
    #[arg(long = "linking-length", value_name = "M", value_parser = metres, allow_hyphen_values = true)]
    pub linking_length_m: Option<f64>,
    /// Output folder of STUDY.csv, STUDY.svg and STUDY.md [default: out/analyze_STUDY, or if that has results
    /// out/analyze_STUDY-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long)]
    pub overwrite: bool,
    /// noise: number of steps that a single particle drifts [default: 4096].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
    pub steps: Option<u64>,
    /// runtime: maximum number of particles that are timed [default: 65536].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(64..=4_194_304))]
    pub particles: Option<u32>,
    /// Run a few points briefly, to test that the study runs.
    #[arg(long)]
    pub smoke: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Run only these cases, such as water.rest, or all of a part, such as water [default: all but the long
    /// ones].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// List the cases with their references and costs; no device is needed.
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    pub list: bool,
    /// Run the quick cases only: bits, twins, conservation and closed forms, in a minute or two.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Run all cases, the papers' experiments at their own sizes: hours on a processor.
    #[arg(long)]
    pub full: bool,
    /// Output folder [default: out/validation, or if that has results out/validation-2 and so on; the last of
    /// them with --resume].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder. Without it, a folder that holds anything is refused.
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Take over the results in the output folder that this device has at the same sizes, and run the other
    /// cases; cases given by name are run again.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Print errors only.
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Run ten steps on a device, and print its memory and the estimated time of the whole run.
    #[arg(long)]
    pub measure: bool,
    /// Device of --measure, by part of its name or by index [default: $FRAZIL_DEVICE, or the best one].
    #[arg(long, value_name = "NAME|INDEX", requires = "measure")]
    pub device: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct KernelsArgs {
    /// Kernel, such as pbd.solve_density, or an area, such as pbd [default: all].
    pub name: Option<String>,
    /// Family of AMD hardware to compile for, such as navi31 [default: compile for --device].
    #[arg(long = "for", value_name = "FAMILY", conflicts_with = "device")]
    pub family: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Set a specialization constant of the kernels that have it; may be given several times.
    #[arg(long = "constant", value_name = "NAME=N", value_parser = constant)]
    pub constants: Vec<(String, u32)>,
    /// Compare with a budget: exit status 1 if a kernel needs more registers, scratch or shared memory,
    /// spills more, or leaves fewer subgroups per SIMD.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Write the results as a budget.
    #[arg(long, value_name = "FILE")]
    pub write_budget: Option<PathBuf>,
    /// Print JSON with all statistics of the driver.
    #[arg(long)]
    pub json: bool,
    /// Print all columns of the table, beyond a width of 100.
    #[arg(long)]
    pub wide: bool,
    /// Print a line of JSON before and after each kernel, for the process that waits for this one.
    #[arg(long, hide = true)]
    pub lines: bool,
}

fn constant(text: &str) -> Result<(String, u32), String> {
    let found = text.split_once('=').and_then(|(name, n)| Some((name.to_lowercase(), n.parse().ok()?)));
    found.ok_or_else(|| format!("found \"{text}\", expected NAME=N, such as workgroup_size=128"))
}

#[derive(Debug, clap::Args)]
pub struct ScenesArgs {
    /// Print the text of a built-in scene instead.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["schema", "reference"])]
    pub show: Option<String>,
    /// Print the JSON Schema of scene files instead.
    #[arg(long, conflicts_with = "reference")]
    pub schema: bool,
    /// Print the reference of all keys, as in docs/scene.md, instead.
    #[arg(long)]
    pub reference: bool,
}

#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Kind of the scene.
    pub kind: Kind,
    /// File to write [default: KIND.toml].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file, which is refused without it.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell that reads the script.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder, such as ~/.local/share/man/man1; pages that are there are replaced.
    pub folder: PathBuf,
}

/// Prints the output of the argument parser: help to stdout, errors to stderr.
pub fn explain(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    if !error.use_stderr() {
        return say::data(&text).map_or_else(|failure| failure.exit_code(), |()| ExitCode::SUCCESS);
    }
    match text.starts_with("error:") {
        true => say::note(text.trim_end()),
        // Help for a command line without a command.
        false => drop(error.print()),
    }
    ExitCode::from(2)
}
