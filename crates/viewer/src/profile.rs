//! `frazil profile`: what each kernel of a scene's step costs.

use crate::args::ProfileArgs;
use crate::device;
use crate::failure::Failure;
use crate::profiling::PassLog;
use crate::run::{self, Folder};
use crate::say;
use crate::simulation::Simulation;
use frazil_io::{TableStyle, profile_table};
use frazil_vk::{RecorderOptions, Submission};
use std::collections::VecDeque;
use std::time::Instant;

/// Submissions under way at once, as in a run.
const MAX_IN_FLIGHT: usize = 3;

/// Measures, prints a table, and writes `profile.json` and `trace.json`.
pub fn profile(args: &ProfileArgs, validation: bool) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let folder = Folder::create(&args.out.clone().unwrap_or_else(|| run::default_folder(&scene)))?;
    let mut simulation = Simulation::new(&device, scene)?;
    let mut passes = PassLog::new(&device)?;

    steps(&mut simulation, args.warm_up, None)?;
    device.wait_idle()?;
    let begin = Instant::now();
    steps(&mut simulation, args.steps, Some(&mut passes))?;
    let wall_s = begin.elapsed().as_secs_f64();
    device.check_validation()?;

    let hash = run::state_hash(&simulation)?;
    run::write_profile(&folder, &simulation, &passes, Some(hash))?;
    // A cache that cannot be written only costs the next start some time.
    let _ = device.save_pipeline_cache();
    say::data(&summary(&simulation, &passes, wall_s / args.steps as f64))?;
    for gap in passes.gaps() {
        say::note(format_args!("warning: {gap}"));
    }
    say::note(format_args!("wrote {} and {}", folder.profile().display(), folder.trace().display()));
    Ok(())
}

/// The table of kernels, and how host and device worked together.
fn summary(simulation: &Simulation, passes: &PassLog, step_s: f64) -> String {
    let (n, device) = (simulation.n_particles, &simulation.device);
    let steps = passes.steps();
    let mut text = format!(
        "{}: {n} particles, {steps} steps on {}\n",
        simulation.scene.name,
        device::describe(device.info())
    );
    if device.is_software() {
        text += &format!("{}\n", device::SOFTWARE_WARNING);
    }
    text += &format!("\n{}\n", profile_table(&passes.rows(), TableStyle::Plain));
    text += &format!(
        "step          {:.3} ms, {:.3} M particle·steps/s\n",
        1e3 * step_s,
        1e-6 * n as f64 / step_s
    );
    if let Some(copy) = passes.copy_gb_per_s() {
        text += &format!(
            "copy          {copy:.2} GB/s read and written, by the device's own copy of a large buffer\n"
        );
    }
    if let Some(idle) = passes.idle() {
        text += &format!(
            "device idle   {:.2} % of the time, between submissions\n",
            100.0 * idle.between_submissions
        );
        text +=
            &format!("host busy     {:.2} % of the time, recording and submitting\n", 100.0 * idle.host_busy);
    }
    text
}

/// Takes `n` steps as a run does, with nothing leaving the device, and with time stamps if there is a log for them.
fn steps(simulation: &mut Simulation, n: u64, mut passes: Option<&mut PassLog>) -> Result<(), Failure> {
    let device = simulation.device.clone();
    let options = RecorderOptions { profile: passes.is_some(), ..Default::default() };
    let most = u64::from(simulation.scene.solver.steps_per_submission);
    let mut in_flight: VecDeque<(Submission, u64, u32)> = VecDeque::new();
    let mut left = n;
    while left > 0 || !in_flight.is_empty() {
        if left == 0 || in_flight.len() >= MAX_IN_FLIGHT {
            if let Some((oldest, steps, n_passes)) = in_flight.pop_front() {
                oldest.wait()?;
                if let Some(passes) = passes.as_deref_mut() {
                    passes.submission(&oldest.pass_times()?, steps, n_passes);
                }
            }
            continue;
        }
        let begin = Instant::now();
        let steps = most.min(left);
        left -= steps;
        let mut recorder = device.recorder_with(options)?;
        simulation.record_steps(&mut recorder, steps);
        let n_passes = recorder.pass_count();
        in_flight.push_back((device.submit(recorder)?, steps, n_passes));
        if let Some(passes) = passes.as_deref_mut() {
            passes.host("record and submit", begin);
        }
    }
    Ok(())
}
