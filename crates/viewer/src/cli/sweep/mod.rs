//! `frazil sweep`: runs a scene at each point of a grid of parameters, one after the other, and compares the
//! results.

mod args;
mod bar;

use crate::cli::interrupt;
use crate::say;
pub use args::SweepArgs;
use bar::SweepBar;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::outputs::default_folder;
use frazil_studies::sweep::{Case, Sweep, SweepObserver, cases, claim};
use frazil_vk::Device;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Sweeps a scene over its grid.
pub fn sweep(args: &SweepArgs, validation: bool) -> Result<(), Failure> {
    let out = out_folder(args);
    let options = args.options();
    let cases = cases(&options)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    introduce(&cases, &device);
    let lock = claim(&out, args.overwrite)?;
    if let Some(warning) = lock.warning() {
        say::note(format_args!("warning: {warning}"));
    }
    let observe = |n_steps| -> Box<dyn SweepObserver> { Box::new(SweepBar::new(n_steps)) };
    Sweep::new(&options, &device, cases, out, observe)?.run(interrupt::flag())
}

fn out_folder(args: &SweepArgs) -> PathBuf {
    let name = Path::new(&args.scene.scene).file_stem().unwrap_or_default().to_string_lossy();
    args.out.clone().unwrap_or_else(|| default_folder(&name, "_sweep"))
}

/// Prints once the messages that each run would print.
fn introduce(cases: &[Case], device: &Device) {
    say::note(format_args!("device {}: {}", device.info().index, device::describe(device.info())));
    if device.is_software() {
        say::note(format_args!("warning: {}", device::SOFTWARE_WARNING));
    }
    let advice = cases.iter().flat_map(|case| case.scene.advice()).map(|advice| advice.to_string());
    for advice in advice.collect::<BTreeSet<_>>() {
        say::note(format_args!("warning: {advice}"));
    }
}
