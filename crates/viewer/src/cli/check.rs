//! `frazil check`: validation of a scene without a device, and what it costs on one.

use crate::cli::interrupt;
use crate::cli::profile;
use crate::common_args::SceneArgs;
use crate::say;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::device;
use frazil_scene::Scene;
use frazil_vk::Device;
use std::sync::atomic::Ordering;
use std::time::Instant;

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

/// Number of steps before the measurement, in which kernels are compiled and lists grow.
const WARM_UP_STEPS: u64 = 2;
/// Number of measured steps.
const MEASURED_STEPS: u64 = 10;
/// Share of the device's memory beyond which other programs may take what a run needs.
const SAFE_MEMORY_SHARE: f64 = 0.9;

/// Loads, validates and samples the scene; prints a summary, and all warnings to stderr.
pub fn check(args: &CheckArgs, validation: bool) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let interrupt = interrupt::flag();
    // Sampling may take long.
    let early = scene.advice();
    for advice in &early {
        say::note(format_args!("warning: {advice}"));
    }
    let sampled = scene.sample_observed(&mut |_, _| !interrupt.load(Ordering::Relaxed))?;
    let advice = scene.thorough_advice(&sampled);
    for advice in &advice[early.len()..] {
        say::note(format_args!("warning: {advice}"));
    }
    let mut text = match advice.len() {
        0 => format!("scene {} is sound\n", scene.name),
        1 => format!("scene {} is valid, with 1 warning\n", scene.name),
        n => format!("scene {} is valid, with {n} warnings\n", scene.name),
    };
    for (label, line) in scene.describe(&sampled)? {
        text += &format!("  {label:<16}{line}\n");
    }
    let [x, y, z] = scene.gravity_m_s2();
    text += &format!("  gravity         ({x}, {y}, {z}) m/s²\n");
    if !scene.live_keys().is_empty() {
        text += &format!("  live keys       {}\n", scene.live_keys().join(", "));
    }
    if args.measure {
        for (label, line) in measure(scene, args.device.as_deref(), validation)? {
            text += &format!("  {label:<16}{line}\n");
        }
    }
    say::data(&text)
}

/// Takes some steps on a device; returns its memory and the time of the whole run.
fn measure(
    scene: Scene,
    selector: Option<&str>,
    validation: bool,
) -> Result<[(&'static str, String); 3], Failure> {
    let device = device::open(selector, validation, Vec::new())?;
    let n_steps = scene.n_steps();
    let mut simulation = Simulation::new(&device, scene)?;
    for warning in &simulation.warnings {
        say::note(format_args!("warning: {warning}"));
    }
    profile::steps(&mut simulation, WARM_UP_STEPS, None)?;
    device.wait_idle()?;
    let begin = Instant::now();
    profile::steps(&mut simulation, MEASURED_STEPS, None)?;
    device.wait_idle()?;
    let step_s = begin.elapsed().as_secs_f64() / MEASURED_STEPS as f64;
    device.check_validation()?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    let name = &device.info().name;
    Ok([
        ("memory", memory(&device, simulation.n_particles)),
        ("step", format!("{:.3} ms on {name}, the mean of {MEASURED_STEPS}", 1e3 * step_s)),
        (
            "estimated time",
            format!(
                "{} for {n_steps} steps, without pictures and recordings",
                duration(step_s * n_steps as f64)
            ),
        ),
    ])
}

/// Describes the peak of the device memory so far; warns if a run has hardly room for it.
fn memory(device: &Device, n_particles: usize) -> String {
    let held = profile::memory(device).bytes_peak;
    let available = device.capabilities().device_memory;
    if held as f64 > SAFE_MEMORY_SHARE * available as f64 {
        say::note(format_args!(
            "warning: the simulation takes {:.0} % of the device's memory; other programs may leave less",
            100.0 * held as f64 / available as f64
        ));
    }
    format!(
        "{:.1} MB of {:.0} MB on the device, {:.0} B per particle",
        held as f64 / 1e6,
        available as f64 / 1e6,
        held as f64 / n_particles.max(1) as f64
    )
}

/// Formats a time with two digits and a unit.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.1} min", s / 60.0),
        s if s < 86_400.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_have_a_unit_that_fits() {
        for (seconds, text) in
            [(0.04, "0.0 s"), (59.0, "59.0 s"), (90.0, "1.5 min"), (9e3, "2.5 h"), (2e5, "2.3 days")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
