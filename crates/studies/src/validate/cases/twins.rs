//! Kernels and whole steps compared with their twins on the CPU: the workloads of `frazil bench`, not timed.

use crate::validate::bench_failure::bench_failure;
use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, Status};
use frazil_bench::{Bench, Error, Profile, benches, plan};
use frazil_engine::Failure;

pub fn cases() -> Vec<Case> {
    let case = |bench: &'static dyn Bench| Case {
        name: format!("twin.{}", bench.id()),
        about: bench.about(),
        reference: "twin on the CPU, same inputs",
        cost: Cost::Quick,
        known: None,
        run: Box::new(move |lab: &Lab| run(lab, bench)),
    };
    benches::all().iter().map(|bench| case(*bench)).collect()
}

fn run(lab: &Lab, bench: &dyn Bench) -> Result<Outcome, Failure> {
    let session = lab.session()?;
    let planned = plan(&[bench], &[], Profile::Smoke).map_err(bench_failure)?;
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for point in &planned {
        // Runs the workload once over poisoned outputs and compares.
        match session.prepare(bench, &point.point) {
            Ok(_) => {}
            Err(error @ Error::Wrong { .. }) => wrong.push(error.to_string()),
            Err(error) => refused.push(error.to_string()),
        }
    }
    let n_run = planned.len() - refused.len();
    if n_run == 0 {
        return Ok(Outcome::ended(Status::NotRun(refused.into_iter().next().unwrap_or_default())));
    }
    let check = Check {
        quantity: format!("points that differ, of {n_run}"),
        unit: "1",
        found: wrong.len() as f64,
        bound: Bound::AtMost(0.0),
        reason: "exact, or to the rounding that the bench states",
    };
    let ended = wrong.into_iter().next().map(Status::Fail);
    Ok(Outcome { ended, ..Outcome::of(vec![check]) })
}
