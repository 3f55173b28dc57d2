//! `frazil validate`: compares the engine on this device with twins, closed forms, experiments and the outcomes
//! that the papers report, case by case.

mod args;
mod case;
mod cases;
mod experiment;
mod report;
mod result;

use crate::say;
pub use args::ValidateArgs;
use case::{Case, Cost, Lab, Outcome, Status};
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Output};
use frazil_engine::{Failure, FailureKind};
use report::Table;
use result::{CaseResult, ResultFile, read_finished};
use std::path::Path;
use std::time::Instant;

/// Runs the selected cases, prints a row for each of their quantities, and writes a table, a page and plots
/// after each case.
pub fn validate(args: &ValidateArgs, validation: bool) -> Result<(), Failure> {
    let all = cases::all();
    let mut selected = select(cases::all(), args)?;
    if args.list {
        return say::data(&report::list(&selected));
    }
    let output = Output {
        requested: args.out.as_deref(),
        default: Path::new("out/validation"),
        existing: Existing::of(args.overwrite, args.resume),
    };
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let (folder, _lock) = output.claim_and_lock()?;
    let out = folder.root().to_owned();
    let mut table = Table::new(&device, &all, &selected);
    if args.resume {
        for finished in read_finished(&out, &table.device, args.full)? {
            let is_named = args.names.iter().any(|name| matches(&finished.case, name));
            if !is_named && all.iter().any(|case| case.name == finished.case) {
                selected.retain(|case| case.name != finished.case);
                table.add(finished);
            }
        }
    }
    let mut file = ResultFile::create(&out, &table.results)?;
    let lab = Lab::new(device.clone(), args.full);
    let print = |text: &str| if args.quiet { Ok(()) } else { say::data(text) };
    print(&table.header())?;
    for case in &selected {
        let begin = Instant::now();
        let outcome = outcome(case, &lab)?;
        device.check_validation()?;
        outcome.write_plot(case, &out)?;
        let seconds = begin.elapsed().as_secs_f64();
        let result = CaseResult::new(case, outcome, args.full, seconds, &table.device);
        print(&table.lines(&result))?;
        file.append(&result)?;
        table.add(result);
        table.write(&out)?;
    }
    table.write(&out)?;
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    if !args.quiet {
        say::note(format_args!(
            "{}; wrote validation.md, validation.csv and validation.jsonl in {}",
            table.summary(),
            out.display()
        ));
    }
    match table.unexpected().as_slice() {
        [] => Ok(()),
        failed => Err(Failure::invariant(format!(
            "{} on {}: do not trust results of this kind from this device and driver",
            failed.join(", "),
            device.info().name
        ))),
    }
}

/// Returns true if an argument names a case, or its part.
fn matches(case: &str, name: &str) -> bool {
    case == name || case.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the cases that the arguments name, or those of the cost that they allow.
fn select(all: Vec<Case>, args: &ValidateArgs) -> Result<Vec<Case>, Failure> {
    if let Some(name) = args.names.iter().find(|name| !all.iter().any(|case| matches(&case.name, name))) {
        let names: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
        return Err(Failure::input(format!(
            "found the case \"{name}\", expected one of {}; or the part of a name before a dot",
            names.join(", ")
        )));
    }
    let most = match (args.quick, args.full || args.list || !args.names.is_empty()) {
        (true, _) => Cost::Quick,
        (false, false) => Cost::Minutes,
        (false, true) => Cost::Long,
    };
    let is_selected = |case: &Case| {
        case.cost <= most
            && (args.names.is_empty() || args.names.iter().any(|name| matches(&case.name, name)))
    };
    Ok(all.into_iter().filter(is_selected).collect())
}

/// Runs a case. A device that refuses it, for lack of memory or of a limit, is an outcome; so is a broken
/// invariant, and a result that differs from the twin's.
fn outcome(case: &Case, lab: &Lab) -> Result<Outcome, Failure> {
    match (case.run)(lab) {
        Ok(outcome) => Ok(outcome),
        Err(failure) => match failure.kind {
            FailureKind::Device => Ok(Outcome::ended(Status::NotRun(failure.to_string()))),
            FailureKind::Invariant | FailureKind::Other => {
                Ok(Outcome::ended(Status::Fail(failure.to_string())))
            }
            FailureKind::Input => Err(failure.within(&case.name)),
        },
    }
}
