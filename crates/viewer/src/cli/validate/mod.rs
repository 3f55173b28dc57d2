//! `frazil validate`: compares the engine on this device with twins, closed forms, experiments and the
//! outcomes that the papers report, case by case.

mod args;

use crate::build_info::GIT_COMMIT;
use crate::cli::interrupt;
use crate::say;
pub use args::ValidateArgs;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Output};
use frazil_studies::validate::{Cost, Validation, ValidationOptions, list, select};
use std::path::Path;

/// Runs the selected cases, prints a row for each of their quantities, and writes a table, a page and plots
/// after each case.
pub fn validate(args: &ValidateArgs, validation: bool) -> Result<(), Failure> {
    let selected = select(&args.names, max_cost(args))?;
    if args.list {
        return say::data(&list(&selected));
    }
    let output = Output {
        requested: args.out.as_deref(),
        default: Path::new("out/validation"),
        existing: Existing::of(args.overwrite, args.resume),
    };
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    device.cancel_when(interrupt::flag());
    let (folder, _lock) = output.claim_and_lock()?;
    let options = ValidationOptions {
        is_full: args.full,
        folder: folder.root().to_owned(),
        commit: GIT_COMMIT.map(str::to_owned),
    };
    let mut cases = Validation::new(&device, selected, options);
    if args.resume {
        cases.take_over(&args.names)?;
    }
    cases.run(&mut |text| say::report(text))?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    say::note(format_args!(
        "{}; wrote validation.md, validation.csv and validation.jsonl in {}",
        cases.summary(),
        folder.root().display()
    ));
    cases.check()
}

/// Returns the cost of the cases that the arguments allow.
fn max_cost(args: &ValidateArgs) -> Cost {
    match (args.quick, args.full || args.list || !args.names.is_empty()) {
        (true, _) => Cost::Quick,
        (false, false) => Cost::Minutes,
        (false, true) => Cost::Long,
    }
}
