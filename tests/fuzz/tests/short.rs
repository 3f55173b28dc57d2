//! A short run of each target in the suite: its seeds are accepted, inputs that once failed hold the
//! requirements, and so do some mutations, the same in each run. `FRAZIL_CASES=N` sets their number.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_fuzz::{Outcome, Session, targets};

/// Mutations of each target.
const CASES: u64 = 60;

fn run(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let target = targets::find(name).unwrap();
    let session = Session::new(&target, folder.path()).unwrap();
    assert!(!session.seeds().is_empty(), "{name} has no seed");
    for (i, seed) in session.seeds().iter().enumerate() {
        assert_eq!(session.check(seed), Ok(Outcome::Accepted), "{name}: seed {i}");
    }
    for (path, bytes) in session.regressions().unwrap() {
        session.check(&bytes).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    }
    let cases = std::env::var("FRAZIL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    for case in 0..cases {
        let bytes = session.file(1, case);
        session.check(&bytes).unwrap_or_else(|problem| panic!("{name}, seed 1, case {case}: {problem}"));
    }
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<&str> = targets::all().iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets![
    scene,
    overrides,
    scene_json,
    interval,
    checkpoint,
    checkpoint_rehashed,
    recording,
    recording_rehashed,
    metrics,
    run_info,
    sweep_info,
    shape,
    run_out,
    profile,
    kernel_budget,
    ascii_grid,
    geotiff,
    png_heights,
    projection,
    flow_raster,
    geojson,
    shapefile,
    dbase,
    obj,
    stl,
    stl_text,
    ply,
    ply_text,
    font,
];
