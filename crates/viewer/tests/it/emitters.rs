//! Runs of scenes in which particles enter and leave.

use crate::resume::{assert_same_results, run_whole_and_broken};
use crate::tool::{command, stderr, succeed};
use frazil_io::{MetricsTable, Recording, RunInfo};

/// An empty basin with a tap, and room for half of what enters in 40 steps.
const SCENE: [&str; 10] = [
    "run",
    "fountain",
    "--set",
    "fluid.particle_spacing_m=0.015",
    "--set",
    "particles=[]",
    "--set",
    "time={dt_s=0.002,duration_s=0.04}",
    "--set",
    "render={width_px=160,height_px=90}",
];

#[test]
fn a_run_that_begins_empty_grows_is_drawn_and_resumes_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, broken] = run_whole_and_broken(folder.path(), |out, arguments| {
        let out = ["--out", out.to_str().unwrap()];
        let output = succeed(&mut command(&[&SCENE[..], &out, arguments].concat()));
        let is_whole = !arguments.contains(&"--checkpoint") && !arguments.contains(&"--resume");
        let has_grown = stderr(&output).contains("particles exceeded a capacity");
        assert!(has_grown || !is_whole, "{}", stderr(&output));
    });
    assert_same_results(&whole, &broken);
    let mut recording = Recording::open(&whole.join("recording.frazil-rec")).unwrap();
    let lengths: Vec<usize> = (0..recording.len()).map(|k| recording.frame(k).unwrap().len()).collect();
    assert!(lengths[0] == 0 && lengths.is_sorted() && lengths.last() > Some(&20), "{lengths:?} particles");
    let metrics = MetricsTable::read(&whole.join("metrics.csv")).unwrap();
    let [n, emitted, drained] =
        ["n_particles", "n_emitted", "n_drained"].map(|name| *metrics.column(name).unwrap().last().unwrap());
    assert_eq!(n, emitted - drained);
    assert_eq!(RunInfo::read(&whole.join("run.json")).unwrap().n_particles as f64, n);
}
