//! `frazil profile`: measures the time of each kernel of a scene's step.

mod against;
mod args;
mod counters;
mod document;
mod pass_log;
mod pictures;
mod stamping;
mod stepping;
mod vary;

pub use document::{document, kernel_fact, kernel_facts, memory, write};
pub use pass_log::PassLog;
pub use stepping::steps;
pub use vary::Runner;

use crate::cli::history::{self, Format, Log, Measured};
use crate::cli::interrupt;
use crate::say;
pub use args::ProfileArgs;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Output};
use frazil_kernels::MultiplyAdd;
use frazil_report::{
    HistoryEntry, Profile, ProfileRow, RunFigures, TableStyle, WorkItem, bound_table, comparison_table,
    counter_table, facts_table, gap_table, median, memory_table, pass_table, profile_csv, profile_table,
    throughput_table, vary_table,
};
use frazil_scene::Scene;
use frazil_solvers::SolverError;
use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Number of memory names in the table.
const COLUMNS_SHOWN: usize = 12;

/// Measures, compares and varies as requested, prints tables, and writes `profile.json`, `trace.json` and
/// `profile.html`. `words` are the arguments of this process.
pub fn profile(args: &ProfileArgs, validation: bool, words: &[OsString]) -> Result<(), Failure> {
    let interrupt = interrupt::flag();
    let scene = args.scene.as_deref().map(|scene| args.changes.load(scene)).transpose()?;
    if args.history.history.is_some() {
        return show_history(args, scene.as_ref());
    }
    if args.counters.as_deref() == Some(counters::LIST) {
        let device = device::open_to_profile(args.device.device.as_deref(), validation, true)?;
        say::data(&counters::list(&device)?)?;
        return Ok(device.check_validation()?);
    }
    let scene = scene.ok_or_else(|| Failure::input("found no scene, expected a name or a file"))?;
    if let Some(candidates) = &args.vary {
        vary::check_key(candidates, &scene)?;
    }
    let baseline = args.compare.against.as_deref().map(against::open).transpose()?;
    let device = device::open_to_profile(args.device.device.as_deref(), validation, args.counters.is_some())?;
    if let Some(requested) = args.requested_counters() {
        counters::choose(&device.counters()?, &requested)?;
    }
    let scene_hash = frazil_engine::outputs::scene_hash(&scene)?;
    if let Some(baseline) = &baseline {
        baseline.check(&device.info().name, &scene.name, &scene_hash, [args.steps, args.warm_up])?;
    }
    let output = Output {
        requested: args.out.as_deref(),
        default: &frazil_engine::outputs::default_folder(&scene.name, "_profile"),
        existing: Existing::of(args.overwrite, false),
    };
    let (folder, _lock) = output.claim_and_lock()?;
    let peak_gflop_per_s = MultiplyAdd::peak_gflop_per_s(&device).map_err(SolverError::from)?;
    let mut passes = PassLog::new(&device)?;
    let mut simulation = Simulation::watched(&device, scene, &mut |_, _| !interrupt.load(Ordering::Relaxed))?;
    for warning in &simulation.warnings {
        say::note(format_args!("warning: {warning}"));
    }

    // Clocks fall while the host creates the scene.
    MultiplyAdd::raise_clocks(&device).map_err(SolverError::from)?;
    steps(&mut simulation, args.warm_up, None)?;
    device.wait_idle()?;
    let begin = Instant::now();
    steps(&mut simulation, args.steps, Some(&mut passes))?;
    let wall_s = begin.elapsed().as_secs_f64();
    device.check_validation()?;

    // Only the simulation holds memory now; read-backs and other candidates come later.
    let (memory, kernels) = (memory(&device), kernel_facts(&device, &passes.rows()));
    let hash = frazil_engine::snapshot::state_hash(&simulation)?;
    let mut profile = document(&simulation, &passes, memory, kernels, Some(hash))?;
    profile.peak_gflop_per_s = peak_gflop_per_s;
    profile.work = work(&simulation)?;
    // Measurements so far are kept if the rest is interrupted.
    let mut interrupted = unless_interrupted(measure_more(args, &mut simulation, &mut profile))?.1;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    let (described, is_dry_run) = (device::describe(device.info()), device.is_dry_run());
    drop((simulation, device));
    let (comparison, load) = match interrupted {
        Some(_) => Default::default(),
        None => {
            let compared = against::measure(args, baseline.as_ref(), &mut profile, words);
            let (compared, failure) = unless_interrupted(compared)?;
            interrupted = failure;
            compared.unwrap_or_default()
        }
    };
    write(&folder, &profile, &passes.spans(), comparison.as_ref())?;
    if !is_dry_run {
        log(args, &profile, validation);
    }

    if args.csv {
        say::data(&profile_csv(&profile))?;
    } else {
        let mut text = summary(&profile, &described, wall_s / args.steps as f64, args.compare.wide);
        if let Some(comparison) = &comparison {
            text += &format!("\n{}", comparison_table(comparison, args.compare.wide, TableStyle::Plain));
        }
        if let Some(load) = &load {
            text += &format!("{load}\n");
        }
        say::report(&text)?;
    }
    for gap in passes.gaps() {
        say::note(format_args!("warning: {gap}"));
    }
    for caution in comparison.iter().flat_map(|c| &c.cautions) {
        say::note(format_args!("warning: {caution}"));
    }
    let (json, trace, page) = (folder.profile(), folder.trace(), folder.profile_page());
    say::note(format_args!("wrote {}, {} and {}", json.display(), trace.display(), page.display()));
    vary::check_states(&profile)?;
    if let Some(failure) = interrupted {
        return Err(failure.with_remedy("the profile has what was measured before"));
    }
    check_rates(&profile)?;
    against::check_regressions(baseline.as_ref(), comparison.as_ref())
}

/// Prints logged profiles: of a scene if it is given, with its changes if there are any.
fn show_history(args: &ProfileArgs, scene: Option<&Scene>) -> Result<(), Failure> {
    let hash = scene.map(frazil_engine::outputs::scene_hash).transpose()?;
    let hash = hash.filter(|_| !args.changes.all().is_empty());
    let format =
        Format { csv: args.csv, wide: args.compare.wide, tolerance: args.compare.tolerance_of_files() };
    Log::Profile.show(&args.history, &format, |record, _| {
        let is = |setting: &str, value: Option<&str>| {
            value.is_none_or(|value| record.settings.get(setting).is_some_and(|found| found == value))
        };
        is("scene", scene.map(|scene| scene.name.as_str())) && is("scene_hash", hash.as_deref())
    })
}

/// Logs the kernels and the step: the medians of the processes, if there are several.
fn log(args: &ProfileArgs, profile: &Profile, validation: bool) {
    let runs = profile.run_figures();
    let typical = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        median(&mut runs.iter().filter_map(value).collect::<Vec<f64>>())
    };
    let as_f64 = |samples: &[u64]| samples.iter().map(|ns| *ns as f64).collect::<Vec<_>>();
    let step = history::entry("step", typical(&|run| Some(run.step_ns)), as_f64(&profile.step_samples_ns));
    let kernel = |row: &ProfileRow| {
        let samples = profile.samples_ns.get(&row.kernel)?;
        let time_ns = typical(&|run| run.kernels_ns.get(&row.kernel).copied());
        Some(HistoryEntry {
            bytes: row.bytes.map(|bytes| bytes as f64 / row.calls.max(1) as f64),
            gb_per_s: row.gb_per_s,
            share_of_copy: row.share_of_copy,
            ..history::entry(&row.kernel, time_ns, as_f64(samples))?
        })
    };
    let tuning: Vec<String> = profile.tuning.iter().map(|(name, value)| format!("{name}:{value}")).collect();
    let settings = [
        ("scene", profile.scene.clone()),
        ("scene_hash", profile.scene_hash.clone()),
        ("steps", profile.steps.to_string()),
        ("warm_up", args.warm_up.to_string()),
    ];
    let tuning = (!tuning.is_empty()).then(|| ("tuning", tuning.join(",")));
    let measured = Measured {
        device: profile.device.clone(),
        driver: profile.driver.clone(),
        settings: settings.into_iter().chain(tuning).chain(history::validation(validation)).collect(),
        copy_gb_per_s: profile.copy_gb_per_s,
        entries: step.into_iter().chain(profile.rows.iter().filter_map(kernel)).collect(),
    };
    Log::Profile.append(&args.history, measured);
}

/// Measures what follows the profile itself, in steps that come last, because they change the state.
fn measure_more(
    args: &ProfileArgs,
    simulation: &mut Simulation,
    profile: &mut Profile,
) -> Result<(), Failure> {
    profile.stamping = Some(stamping::compare(simulation, args.steps)?);
    if let Some(requested) = args.requested_counters() {
        profile.counters = Some(counters::measure(simulation, &requested, args.steps, profile)?);
        simulation.device.check_validation()?;
    }
    profile.pictures = args.pictures.map(|n| pictures::measure(simulation, n)).transpose()?;
    if let Some(candidates) = &args.vary {
        let (device, tuning) = (&simulation.device, simulation.tuning);
        profile.vary =
            Some(vary::vary(candidates, &simulation.scene, device, tuning, args.warm_up, args.steps)?);
        device.check_validation()?;
    }
    Ok(())
}

/// Returns a result, or else the failure if it is that of an interrupt.
fn unless_interrupted<T>(result: Result<T, Failure>) -> Result<(Option<T>, Option<Failure>), Failure> {
    match result {
        Ok(result) => Ok((Some(result), None)),
        Err(failure) if interrupt::is_set() => Ok((None, Some(failure))),
        Err(failure) => Err(failure),
    }
}

/// Returns an error if more bytes were counted for a kernel than a copy can move in its time.
fn check_rates(profile: &Profile) -> Result<(), Failure> {
    overcounted(profile).map_or(Ok(()), |error| Err(Failure::invariant(error)))
}

/// Says for which kernels more bytes were counted than a copy can move in their time, if there are any.
pub fn overcounted(profile: &Profile) -> Option<String> {
    let found = profile.overcounted();
    (!found.is_empty()).then(|| {
        format!(
            "an error of the profiler: {}; more bytes are counted than were moved: see the Elements: line of \
             the kernel's header, or declare_bytes in its solver",
            found.join(", ")
        )
    })
}

/// Returns the items that kernels worked on in the last step.
pub fn work(simulation: &Simulation) -> Result<Vec<WorkItem>, Failure> {
    let counters = simulation.solver.work_counters(&simulation.device)?;
    let item = |counter: frazil_solvers::WorkCounter| WorkItem {
        item: counter.item.to_owned(),
        kernels: counter.kernels.iter().map(|&name| name.to_owned()).collect(),
        count: counter.count,
    };
    Ok(counters.into_iter().map(item).collect())
}

/// Formats the tables, and the overlap of host and device.
fn summary(profile: &Profile, device: &str, step_s: f64, wide: bool) -> String {
    let (n, plain) = (profile.n_particles, TableStyle::Plain);
    let mut text = format!("{}: {n} particles, {} steps on {device}\n", profile.scene, profile.steps);
    if !profile.tuning.is_empty() {
        let tuned: Vec<String> = profile.tuning.iter().map(|(name, v)| format!("{name}={v}")).collect();
        text += &format!("stored tunables: {}\n", tuned.join(", "));
    }
    if profile.is_software {
        text += &format!("{}\n", device::SOFTWARE_WARNING);
    }
    text += &format!("\n{}", profile_table(&profile.rows, wide, plain));
    text += &format!("\n{}", bound_table(&profile.bounds(), plain));
    text += &format!("\n{}", pass_table(&profile.passes, wide, plain));
    let throughputs = profile.throughputs();
    if !throughputs.is_empty() {
        text += &format!("\n{}", throughput_table(&throughputs, wide, plain));
    }
    if let Some(measured) = &profile.counters {
        text += &format!("\n{}", counter_table(measured, &profile.rows, wide, plain));
        text += &format!("hardware counters of {} steps for each group, after those timed\n", measured.steps);
    }
    text += &format!("\n{}", facts_table(&profile.kernels, wide, plain));
    if !profile.driver_reports() {
        text += "registers, spills and code size: not reported by this driver\n";
    }
    text += &format!("\n{}\n", memory_table(&profile.memory, n, COLUMNS_SHOWN, plain));
    text += &format!(
        "step          {:.3} ms, {:.3} M particle·steps/s\n",
        1e3 * step_s,
        1e-6 * n as f64 / step_s
    );
    if let Some(pictures) = &profile.pictures {
        text += &format!("pictures      {pictures}\n");
    }
    if let Some(copy) = profile.copy_gb_per_s {
        text += &format!(
            "copy          {copy:.2} GB/s read and written, a large copy by a kernel or the driver\n"
        );
    }
    if let Some(peak) = profile.peak_gflop_per_s {
        text += &format!("peak          {peak:.1} GFLOP/s of multiply-adds, measured\n");
    }
    if let Some(launch_ns) = profile.launch_ns {
        text += &format!("launch        {:.1} µs for a dispatch of one word, measured\n", 1e-3 * launch_ns);
    }
    if let Some((stamping, ratio)) = profile.stamping.and_then(|s| Some((s, s.ratio()?))) {
        text += &format!(
            "time stamps   {ratio:.3} times the time of {} steps without them, taken in turns\n",
            stamping.steps
        );
    }
    if let Some(idle) = profile.idle_between_submissions {
        text += &format!(
            "device idle   {:.2} % of the time, between {} submissions\n",
            100.0 * idle,
            profile.gaps.submissions
        );
    }
    if let Some(busy) = profile.host_busy {
        text += &format!("host busy     {:.2} % of the time, recording and submitting\n", 100.0 * busy);
    }
    if !profile.gaps.largest.is_empty() {
        text += &format!("\n{}", gap_table(&profile.gaps, plain));
    }
    if let Some(vary) = &profile.vary {
        text += &format!("\n{}", vary_table(vary, plain));
    }
    text
}
