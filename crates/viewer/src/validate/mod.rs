//! `frazil validate`: compares the engine on this device with twins, closed forms, experiments and the outcomes
//! that the papers report, case by case.

mod case;
mod cases;
mod experiment;
mod report;

use crate::args::ValidateArgs;
use crate::device;
use crate::failure::{Failure, FailureKind};
use crate::run::Folder;
use crate::say;
use case::{Case, Cost, Lab, Outcome, Status};
use report::{Row, Table};
use std::path::PathBuf;
use std::time::Instant;

/// Runs the selected cases, prints a row for each of their quantities, and writes a table, a page and plots.
pub fn validate(args: &ValidateArgs, validation: bool) -> Result<(), Failure> {
    let cases = select(cases::all(), args)?;
    if args.list {
        return say::data(&report::list(&cases));
    }
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("out").join("validation"));
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let _ = Folder::create(&out)?;
    let lab = Lab::new(device.clone(), args.full);
    let print = |text: &str| if args.quiet { Ok(()) } else { say::data(text) };
    let begin = Instant::now();
    let mut table = Table::new(&device, &cases);
    print(&table.header())?;
    for case in &cases {
        let case_begin = Instant::now();
        let outcome = outcome(case, &lab)?;
        device.check_validation()?;
        if let Some(curve) = &outcome.curve {
            curve.write(case, &out)?;
        }
        table.states.extend(outcome.state.clone());
        let seconds = case_begin.elapsed().as_secs_f64();
        for row in Row::of(case, outcome, seconds) {
            print(&table.line(&row))?;
            table.rows.push(row);
        }
    }
    // If the cache cannot be written, only the next start takes longer.
    let _ = device.save_pipeline_cache();
    table.write(&out, device.info(), begin.elapsed().as_secs_f64())?;
    let summary = table.summary(begin.elapsed().as_secs_f64());
    if !args.quiet {
        say::note(format_args!("{summary}; wrote validation.md and validation.csv in {}", out.display()));
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

/// Returns the cases that the arguments name, or those of the cost that they allow.
fn select(all: Vec<Case>, args: &ValidateArgs) -> Result<Vec<Case>, Failure> {
    let matches = |case: &Case, name: &str| case.name == name || case.name.starts_with(&format!("{name}."));
    if let Some(name) = args.names.iter().find(|name| !all.iter().any(|case| matches(case, name))) {
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
        case.cost <= most && (args.names.is_empty() || args.names.iter().any(|name| matches(case, name)))
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
