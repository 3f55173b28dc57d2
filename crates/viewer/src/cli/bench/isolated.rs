//! Kernels alone: `frazil bench pbd.solve_density --state CHECKPOINT --steps-before 200`.
//!
//! The step after a state is recorded with one dispatch repeated on equal inputs ([`Isolate`]). Its result is
//! verified: the state at the end of the step is that of an ordinary step, to the bit.

use super::args::BenchArgs;
use super::table::Table;
use crate::build_info::GIT_COMMIT;
use crate::cli::interrupt;
use crate::cli::profile::steps;
use crate::say;
use frazil_bench::{Clock, Point, Row, StopReason, Value, peak_gb_per_s};
use frazil_engine::outputs::scene_hash;
use frazil_engine::simulation::Simulation;
use frazil_engine::{Failure, FailureKind, snapshot};
use frazil_io::Checkpoint;
use frazil_kernels::{CopyWords, MultiplyAdd};
use frazil_report::{median, quantile};
use frazil_scene::Scene;
use frazil_solvers::SolverError;
use frazil_vk::{Device, Isolate, PassTime, RecorderOptions};
use std::path::Path;
use std::time::SystemTime;

/// Repetitions of a kernel, and those of the smoke profile; the first one does not count.
const REPETITIONS: u32 = 31;
const SMOKE_REPETITIONS: u32 = 6;

/// States to measure in, and kernels.
pub struct Plan {
    kernels: Vec<&'static str>,
    states: Vec<State>,
}

/// A state of a simulation, with the point of its rows.
struct State {
    point: Point,
    scene: Scene,
    checkpoint: Option<Checkpoint>,
}

/// Reads the states and finds the kernels of the arguments; no device is needed.
pub fn plan(args: &BenchArgs, state: &str) -> Result<Plan, Failure> {
    let kernels = args.filters.iter().map(|name| find_kernel(name)).collect::<Result<_, _>>()?;
    let of_path = Path::new(state).file_name().map_or(state.into(), |name| name.to_string_lossy());
    let named = |axis: &str, value: &str| Point::default().with(axis, Value::Name(value.replace(',', ";")));
    if !is_checkpoint(Path::new(state)) {
        let states = scene_points(args)
            .into_iter()
            .map(|overrides| {
                let scene = Scene::find(state, &overrides)?;
                let with = |point: Point, text: &String| {
                    let (key, value) = text.split_once('=').unwrap_or((text, ""));
                    point.with(key, Value::Name(value.replace(',', ";")))
                };
                let point = overrides.iter().fold(named("scene", &of_path), with);
                Ok(State { point: at_step(point, args, 0), scene, checkpoint: None })
            })
            .collect::<Result<_, Failure>>()?;
        return Ok(Plan { kernels, states });
    }
    if let Some(given) = args.overrides.first().or(args.axes.first().map(|axis| &axis.axis)) {
        return Err(Failure::input(format!(
            "found {given} beside the checkpoint {state}, which holds its scene; expected a scene as --state"
        )));
    }
    let checkpoint = Checkpoint::read(Path::new(state)).map_err(Failure::input)?;
    let scene = Scene::from_json(&checkpoint.scene_json, state)?;
    let point = at_step(named("checkpoint", &of_path), args, checkpoint.step);
    Ok(Plan { kernels, states: vec![State { point, scene, checkpoint: Some(checkpoint) }] })
}

/// Adds the step and the pass that are measured to a point.
fn at_step(point: Point, args: &BenchArgs, first: u64) -> Point {
    let point = point.with("step", Value::Integer(first + args.steps_before + 1));
    if args.pass == 1 { point } else { point.with("pass", Value::Integer(args.pass.into())) }
}

/// Returns true for a file that is not a scene's TOML.
fn is_checkpoint(path: &Path) -> bool {
    path.is_file() && path.extension().is_none_or(|extension| extension != "toml")
}

/// Returns the overrides of each combination of the axes.
fn scene_points(args: &BenchArgs) -> Vec<Vec<String>> {
    let mut points = vec![args.overrides.clone()];
    for axis in &args.axes {
        let with = |point: &Vec<String>, value: &String| {
            point.iter().cloned().chain([format!("{}={value}", axis.axis)]).collect()
        };
        points =
            points.iter().flat_map(|p| axis.values.iter().map(|v| with(p, v)).collect::<Vec<_>>()).collect();
    }
    points
}

fn find_kernel(name: &str) -> Result<&'static str, Failure> {
    let all = frazil_shaders::KERNELS;
    let found = all.iter().map(|kernel| kernel.name).find(|kernel| *kernel == name);
    found.ok_or_else(|| {
        let similar = all.iter().map(|kernel| kernel.name).filter(|kernel| kernel.contains(name));
        let hint = match similar.take(5).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "`frazil kernels` lists them".to_owned(),
            similar => format!("did you mean {similar}?"),
        };
        Failure::input(format!("found no kernel \"{name}\", expected area.name; {hint}"))
    })
}

impl Plan {
    /// Returns the hash of the scene of a point.
    pub fn scene_hash(&self, point: &Point) -> Option<String> {
        let state = self.states.iter().find(|state| state.point == *point)?;
        scene_hash(&state.scene).ok()
    }

    /// Makes the table of all kernels in all states.
    pub fn table(&self, args: &BenchArgs) -> Table {
        let points: Vec<String> = self.states.iter().map(|state| state.point.to_string()).collect();
        Table::new(args, &self.kernels, &points)
    }

    /// Measures every kernel in every state. A state that does not fit the device is skipped with a warning
    /// unless none fits.
    pub fn measure(&self, args: &BenchArgs, device: &Device) -> Result<Vec<Row>, Failure> {
        if device.capabilities().timestamp_period_ns == 0.0 {
            let device = &device.info().name;
            return Err(Failure::device(format!(
                "{device} has no time stamps, so nothing can be timed on it"
            )));
        }
        let (mut rows, mut skipped) = (Vec::new(), None);
        for state in &self.states {
            match self.measure_in(state, args, device) {
                Ok(found) => rows.extend(found),
                Err(failure) if failure.kind == FailureKind::Device && self.states.len() > 1 => {
                    device.wait_idle()?;
                    say::note(format_args!("warning: skipped {}: {failure}", state.point));
                    skipped = Some(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        if let Some(failure) = skipped
            && rows.is_empty()
        {
            return Err(failure);
        }
        let copy_gb_per_s = CopyWords::gb_per_s(device).map_err(SolverError::from)?.unwrap_or(f64::NAN);
        let with_copy = |row: Row| {
            let share_of_copy = row.gb_per_s.map(|rate| rate / copy_gb_per_s);
            Row { copy_gb_per_s, share_of_copy, ..row }
        };
        Ok(rows.into_iter().map(with_copy).collect())
    }

    /// Measures every kernel in a state; rows have no copy bandwidth yet.
    fn measure_in(&self, state: &State, args: &BenchArgs, device: &Device) -> Result<Vec<Row>, Failure> {
        let before = || {
            let mut simulation = match &state.checkpoint {
                Some(checkpoint) => Simulation::restore(device, state.scene.clone(), checkpoint)?,
                None => Simulation::new(device, state.scene.clone())?,
            };
            steps(&mut simulation, args.steps_before, None)?;
            device.wait_idle()?;
            Ok::<_, Failure>(simulation)
        };
        let expected = {
            let mut simulation = before()?;
            steps(&mut simulation, 1, None)?;
            snapshot::state_hash(&simulation)?
        };
        let repetitions = if args.smoke { SMOKE_REPETITIONS } else { REPETITIONS };
        let measure = |kernel: &'static str| {
            interrupt::check("nothing was appended")?;
            let mut simulation = before()?;
            MultiplyAdd::raise_clocks(device).map_err(SolverError::from)?;
            let isolate = Isolate { kernel, occurrence: args.pass, repetitions };
            let times = step_with(&mut simulation, isolate)?;
            let found = snapshot::state_hash(&simulation)?;
            if found != expected {
                return Err(Failure::invariant(format!(
                    "{kernel} at {}: the step with it repeated ends in another state: {found}, expected \
                     {expected}",
                    state.point
                )));
            }
            row(kernel, &state.point, &times, device)
        };
        self.kernels.iter().map(|kernel| measure(kernel)).collect()
    }
}

/// Takes a step in which a kernel is repeated, and returns its times.
fn step_with(simulation: &mut Simulation, isolate: Isolate) -> Result<Vec<PassTime>, Failure> {
    let device = simulation.device.clone();
    loop {
        let options =
            RecorderOptions { profile: true, trace: true, isolate: Some(isolate), ..Default::default() };
        let mut recorder = device.recorder_with(options)?;
        simulation.record_steps(&mut recorder, 1);
        let fault = simulation.solver.record_fault_check(&mut recorder)?;
        let mut names = recorder.pass_names().to_vec();
        let submission = device.submit(recorder)?;
        let times = submission.pass_times()?;
        if simulation.roll_back_if_faulty(fault)? {
            continue;
        }
        if times.is_empty() {
            let own = names.iter().filter(|name| **name == isolate.kernel).count();
            names.retain(|name| name.contains('.'));
            names.sort_unstable();
            names.dedup();
            let (kernel, pass) = (isolate.kernel, isolate.occurrence);
            return Err(Failure::input(format!(
                "found {own} dispatches of {kernel} in a step, expected {pass} or more; the step has {}",
                names.join(", ")
            )));
        }
        return Ok(times);
    }
}

fn row(kernel: &str, point: &Point, times: &[PassTime], device: &Device) -> Result<Row, Failure> {
    // The first repetition fills caches that the restoration of its inputs has not.
    let samples_ns: Vec<f64> = times.iter().skip(1).map(|time| time.duration_ns).collect();
    let mut sorted = samples_ns.clone();
    let median_ns = median(&mut sorted);
    let (elements, bytes) = times.last().map_or((0, 0), |time| (time.elements.unwrap_or(0), time.bytes));
    if elements == 0 {
        return Err(Failure::input(format!(
            "{kernel} at {point} has no elements: nothing to measure; another --pass or --steps-before may"
        )));
    }
    let gb_per_s = Some(bytes as f64 / median_ns).filter(|rate| rate.is_finite() && *rate > 0.0);
    let info = device.info();
    Ok(Row {
        format_version: Row::FORMAT_VERSION,
        bench: kernel.to_owned(),
        point: point.clone(),
        verified: true,
        clock: Clock::Device,
        median_ns,
        min_ns: sorted.first().copied().unwrap_or(f64::NAN),
        iqr_ns: quantile(&sorted, 0.75) - quantile(&sorted, 0.25),
        cold_median_ns: None,
        host_median_ns: None,
        samples_ns,
        cold_samples_ns: Vec::new(),
        host_samples_ns: Vec::new(),
        stopped_because: StopReason::MaxSamples,
        elements,
        bytes_minimum: bytes,
        bytes_moved: Some(bytes),
        gb_per_s,
        copy_gb_per_s: f64::NAN,
        share_of_copy: None,
        share_of_peak: gb_per_s.and_then(|rate| Some(rate / peak_gb_per_s(&info.name)?)),
        device: info.name.clone(),
        driver: info.driver.clone(),
        subgroup_size: device.capabilities().subgroup_size,
        commit: GIT_COMMIT.map(str::to_owned),
        unix_time_s: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
        session: None,
    })
}
