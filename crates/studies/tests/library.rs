//! Sweeps and the selection of cases without the command line.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use frazil_engine::outputs::{Progress, ScheduleRequest};
use frazil_engine::snapshot::state_hash;
use frazil_engine::{FailureKind, Simulation, stepping};
use frazil_io::{SweepInfo, SweepStatus};
use frazil_studies::sweep::{Sweep, SweepObserver, SweepOptions, cases, claim};
use frazil_studies::validate::{Cost, select};
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// Keeps what a user would see.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, line: String) {
        self.0.borrow_mut().push(line);
    }
}

impl SweepObserver for Log {
    fn case(&self, idx: usize, n_cases: usize) {
        self.add(format!("case {idx} of {n_cases}"));
    }

    fn begins_at(&self, n_steps: u64) {
        self.add(format!("begins at {n_steps}"));
    }

    fn reached(&self, n_steps: u64) {
        self.add(format!("reached {n_steps}"));
    }

    fn progress(&self, _: u64) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    fn note(&self, line: &str) {
        self.add(line.to_owned());
    }

    fn clear(&self) {
        self.add("end".to_owned());
    }
}

struct Silent;

impl Progress for Silent {
    fn reached(&self, _: u64) {}

    fn note(&self, _: &dyn Display) {}

    fn clear(&self) {}
}

fn small_sweep() -> SweepOptions {
    let overrides = ["fluid.particle_spacing_m=0.0243333333", "render.width_px=160", "render.height_px=90"];
    SweepOptions {
        scene: "dam_break".to_owned(),
        overrides: overrides.map(str::to_owned).to_vec(),
        axes: vec!["pbd.iterations=2,4".parse().unwrap()],
        schedule: ScheduleRequest { steps: Some(4), ..ScheduleRequest::default() },
        ..SweepOptions::default()
    }
}

#[test]
fn a_sweep_ends_in_the_states_of_single_simulations_and_is_not_repeated() {
    let device = frazil_testkit::own_device();
    let folder = tempfile::tempdir().unwrap();
    let (options, out) = (small_sweep(), folder.path().join("sweep"));
    let sweep = |log: &Log| {
        let observe = |n_steps| -> Box<dyn SweepObserver> {
            assert_eq!(n_steps, 8);
            Box::new(log.clone())
        };
        let _lock = claim(&out, options.overwrite).unwrap();
        let sweep = Sweep::new(&options, &device, cases(&options).unwrap(), out.clone(), observe).unwrap();
        sweep.run(&AtomicBool::new(false)).unwrap();
        log.0.take()
    };
    let shown = sweep(&Log::default());
    let [first, second] = [2, 4].map(|n| format!("iterations = {n}"));
    let end = format!("2 cases done; results are in {}", out.display());
    let expected = [
        "case 0 of 2",
        "begins at 0",
        &format!("case 1 of 2 done: {first}"),
        "reached 4",
        "case 1 of 2",
        "begins at 4",
        &format!("case 2 of 2 done: {second}"),
        "reached 8",
        "end",
        &end,
    ];
    assert_eq!(shown, expected);

    let info = SweepInfo::read(&out.join("sweep.json")).unwrap();
    for (case, row) in cases(&options).unwrap().into_iter().zip(&info.cases) {
        let mut simulation = Simulation::new(&device, case.scene).unwrap();
        stepping::advance(&mut simulation, 4, &mut || false).unwrap();
        assert_eq!(row.status, SweepStatus::Done);
        assert_eq!(row.state_hash, Some(state_hash(&simulation).unwrap()));
    }
    assert_eq!(
        sweep(&Log::default()),
        ["2 of 2 cases are done already", "reached 4", "reached 8", "end", &end]
    );
    device.check_validation().unwrap();
}

#[test]
fn an_interrupted_sweep_names_the_case_and_an_invalid_one_the_values() {
    let device = frazil_testkit::own_device();
    let folder = tempfile::tempdir().unwrap();
    let options = small_sweep();
    let observe = |_| -> Box<dyn SweepObserver> { Box::new(Log::default()) };
    let all = cases(&options).unwrap();
    let sweep = Sweep::new(&options, &device, all, folder.path().to_owned(), observe).unwrap();
    let failure = sweep.run(&AtomicBool::new(true)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Other);
    let expected = "interrupted in case 1 of 2 (iterations = 2) at step 0 of 4, 0 done";
    assert!(failure.to_string().starts_with(expected), "{failure}");

    let axes = vec!["pbd.iterations=2,none".parse().unwrap()];
    let failure = cases(&SweepOptions { axes, ..options }).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.to_string().starts_with("--vary, case pbd.iterations=none: "), "{failure}");
}

#[test]
fn cases_are_selected_by_name_or_part_and_by_cost() {
    let names = |parts: &[&str], max_cost| -> Vec<String> {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        select(&parts, max_cost).unwrap().into_iter().map(|case| case.name).collect()
    };
    assert_eq!(names(&["bits.drop"], Cost::Long), ["bits.drop"]);
    let quick = names(&["bits"], Cost::Quick);
    assert!(quick.len() > 1 && quick.iter().all(|name| name.starts_with("bits.")), "{quick:?}");
    assert!(names(&["bits"], Cost::Minutes).len() > quick.len());
    assert!(names(&[], Cost::Long).len() > names(&[], Cost::Quick).len());
    let failure = select(&["bit".to_owned()], Cost::Long).err().unwrap();
    assert!(
        failure.to_string().starts_with("found the case \"bit\", expected one of bits.dam_break"),
        "{failure}"
    );
}
