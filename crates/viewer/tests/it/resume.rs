//! Killed, interrupted and resumed runs.

use crate::tool::{run_small, state_hash, stderr, succeed, wait_until};
use frazil_io::{Recording, Tail};
use std::fs;
use std::path::{Path, PathBuf};

/// Runs 40 steps without a break, and in two parts with a checkpoint between them; returns the folders of
/// both. `run` takes a folder and arguments.
pub fn run_whole_and_broken(folder: &Path, run: impl Fn(&Path, &[&str])) -> [PathBuf; 2] {
    let [whole, broken] = ["whole", "broken"].map(|name| folder.join(name));
    let cadences = ["--render", "10", "--record", "8", "--metrics", "5", "--check", "10"];
    let run = |out: &Path, arguments: &[&str]| run(out, &[&cadences[..], arguments].concat());
    run(&whole, &["--steps", "40"]);
    run(&broken, &["--steps", "22", "--checkpoint", "22"]);
    let checkpoint = broken.join("checkpoint.frazil-ckpt");
    run(&broken, &["--steps", "40", "--resume", checkpoint.to_str().unwrap()]);
    [whole, broken]
}

/// Panics, naming the file, unless the results of an interrupted run equal those of a complete one.
pub fn assert_same_results(whole: &Path, broken: &Path) {
    assert_same_pictures_and_recording(whole, broken);
    let metrics = [whole, broken].map(|out| fs::read(out.join("metrics.csv")).unwrap());
    assert!(metrics[0] == metrics[1], "metrics.csv differs");
}

/// Compares like the function above, except for metrics.
pub fn assert_same_pictures_and_recording(whole: &Path, broken: &Path) {
    assert_eq!(state_hash(whole), state_hash(broken));
    let pictures = fs::read_dir(whole.join("frames")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<PathBuf> = pictures.map(|name| Path::new("frames").join(name)).collect();
    assert_eq!(files.len(), fs::read_dir(broken.join("frames")).unwrap().count());
    files.push(PathBuf::from("recording.frazil-rec"));
    for file in files {
        assert!(
            fs::read(whole.join(&file)).unwrap() == fs::read(broken.join(&file)).unwrap(),
            "{file:?} differs"
        );
    }
}

#[test]
fn a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let cadences = ["--render", "10", "--record", "8", "--metrics", "5"];
    succeed(&mut run_small(&whole, &[&cadences[..], &["--steps", "40"]].concat()));
    // 22 is neither a multiple of the output intervals nor of the steps per submission.
    succeed(&mut run_small(&broken, &[&cadences[..], &["--steps", "22", "--checkpoint", "22"]].concat()));
    let checkpoint = broken.join("checkpoint.frazil-ckpt");
    let resume = ["--steps", "40", "--resume", checkpoint.to_str().unwrap()];
    succeed(&mut run_small(&broken, &[&cadences[..], &resume].concat()));
    assert_same_results(&whole, &broken);

    let other = run_small(&broken, &[&resume[..], &["--set", "time.dt_s=0.001"]].concat()).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("time.dt_s differs"), "{}", stderr(&other));
    let past = run_small(&broken, &["--steps", "10", resume[2], resume[3]]).output().unwrap();
    assert_eq!(past.status.code(), Some(2));
    assert!(stderr(&past).contains("past the run's last step 10"), "{}", stderr(&past));
}

#[test]
fn a_killed_run_leaves_a_readable_recording_and_a_checkpoint_to_resume_from() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let cadences = ["--render", "never", "--record", "1", "--metrics", "1", "--checkpoint", "5"];
    let endless = [&cadences[..], &["--steps", "1000000"]].concat();
    let mut child = run_small(&killed, &endless).spawn().unwrap();
    let checkpoint = killed.join("checkpoint.frazil-ckpt");
    wait_until("checkpoint", || checkpoint.exists());
    // Kill is SIGKILL on Unix: the process executes nothing after it.
    child.kill().unwrap();
    child.wait().unwrap();

    let mut recording = Recording::open(&killed.join("recording.frazil-rec")).unwrap();
    assert!(recording.len() > 5 && recording.tail() != &Tail::Finished, "{}", recording.len());
    assert!((0..recording.len()).all(|i| recording.frame(i).unwrap().step() == i as u64));

    let step = frazil_io::Checkpoint::read(&checkpoint).unwrap().step;
    let steps = (step + 10).to_string();
    let until = [&cadences[..], &["--steps", &steps]].concat();
    succeed(&mut run_small(&whole, &until));
    succeed(&mut run_small(&killed, &[&until[..], &["--resume", checkpoint.to_str().unwrap()]].concat()));
    assert_eq!(state_hash(&whole), state_hash(&killed));
    let metrics = [&whole, &killed].map(|out| fs::read_to_string(out.join("metrics.csv")).unwrap());
    assert_eq!(metrics[0], metrics[1]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_well_and_says_where_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut interrupted =
        run_small(out, &["--steps", "1000000", "--record", "4", "--metrics", "1", "--checkpoint", "100000"]);
    let child = interrupted.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let metrics = out.join("metrics.csv");
    wait_until("metrics", || fs::read_to_string(&metrics).is_ok_and(|text| text.lines().count() > 4));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));

    let report = frazil_io::RunInfo::read(&out.join("run.json")).unwrap();
    assert!(report.final_state_hash.is_none() && report.steps > 0);
    assert_eq!(frazil_io::Checkpoint::read(&out.join("checkpoint.frazil-ckpt")).unwrap().step, report.steps);
    assert_eq!(Recording::open(&out.join("recording.frazil-rec")).unwrap().tail(), &Tail::Finished);
}
