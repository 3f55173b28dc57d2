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
    assert_eq!(state_hash(whole), state_hash(broken));
    let pictures = fs::read_dir(whole.join("frames")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<PathBuf> = pictures.map(|name| Path::new("frames").join(name)).collect();
    assert_eq!(files.len(), fs::read_dir(broken.join("frames")).unwrap().count());
    files.extend(["recording.frazil-rec", "metrics.csv"].map(PathBuf::from));
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

/// Runs with these intervals to a step, and to a checkpoint there.
const CADENCES: [&str; 6] = ["--render", "10", "--record", "4", "--metrics", "5"];

#[test]
fn one_run_at_a_time_writes_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let mut endless = run_small(out, &["--steps", "1000000", "--metrics", "1", "--checkpoint", "5"]);
    let mut child = endless.spawn().unwrap();
    let checkpoint = out.join("checkpoint.frazil-ckpt");
    wait_until("checkpoint", || checkpoint.exists());
    let resume = ["--steps", "40", "--resume", checkpoint.to_str().unwrap()];
    for arguments in [&["--steps", "40"][..], &resume] {
        let second = run_small(out, arguments).output().unwrap();
        assert_eq!(second.status.code(), Some(2), "{}", stderr(&second));
        let holder = format!("is in use by process {} (", child.id());
        assert!(stderr(&second).contains(&holder), "{}", stderr(&second));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock ends with its process; rows are those of one run.
    let text = fs::read_to_string(out.join("metrics.csv")).unwrap();
    let steps: Vec<u64> =
        text.lines().skip(1).filter_map(|row| row.split(',').next()?.parse().ok()).collect();
    assert!(steps.iter().enumerate().all(|(i, step)| i as u64 == *step), "{steps:?}");
    let step = frazil_io::Checkpoint::read(&checkpoint).unwrap().step;
    succeed(&mut run_small(out, &["--steps", &step.to_string(), "--metrics", "1", "--resume", resume[3]]));
}

/// What happens to a file between a run and its resumption: its name and the change.
type FileDamage = (&'static str, fn(&Path));

fn damages() -> [FileDamage; 5] {
    fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
        let mut bytes = fs::read(path).unwrap();
        change(&mut bytes);
        fs::write(path, bytes).unwrap();
    }
    [
        ("deleted", |path| fs::remove_file(path).unwrap()),
        ("empty", |path| change(path, Vec::clear)),
        ("truncated", |path| change(path, |bytes| bytes.truncate(bytes.len() / 2))),
        ("zeroed", |path| change(path, |bytes| bytes.fill(0))),
        ("with a flipped bit", |path| change(path, |bytes| bytes[200] ^= 1)),
    ]
}

#[test]
fn a_run_whose_earlier_outputs_are_damaged_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    succeed(&mut run_small(&whole, &[&CADENCES[..], &["--steps", "12", "--checkpoint", "12"]].concat()));
    let files = ["recording.frazil-rec", "metrics.csv", "checkpoint.frazil-ckpt"];
    let pictures = ["frames/frame_000000.png", "frames/frame_000001.png"];
    let copy = |name: &str| {
        let out = folder.path().join(name);
        fs::create_dir_all(out.join("frames")).unwrap();
        for file in files.iter().chain(&pictures) {
            fs::copy(whole.join(file), out.join(file)).unwrap();
        }
        out
    };
    let resume = |out: &Path, more: &[&str]| {
        let checkpoint = out.join("checkpoint.frazil-ckpt");
        let arguments = ["--steps", "16", "--resume", checkpoint.to_str().unwrap()];
        run_small(out, &[&CADENCES[..], &arguments, more].concat()).output().unwrap()
    };
    let complete = copy("complete");
    // Step times are not among them.
    fs::write(complete.join("timing.csv"), "no table").unwrap();
    let ended = resume(&complete, &[]);
    assert!(ended.status.success(), "{}", stderr(&ended));

    for (damage, harm) in damages() {
        let of_outputs = files[..2].iter().chain(&pictures[1..]);
        for file in of_outputs.filter(|file| !file.ends_with("png") || ["deleted", "empty"].contains(&damage))
        {
            let out = copy(&format!("{damage} {file}").replace(['/', ' '], "_"));
            harm(&out.join(file));
            let read = || files.map(|file| fs::read(out.join(file)).ok());
            let before = read();
            let refused = resume(&out, &[]);
            let message = stderr(&refused);
            assert_eq!(refused.status.code(), Some(2), "{file} {damage}: {message}");
            assert!(
                message.contains(file) && message.contains("--discard-outputs"),
                "{file} {damage}: {message}"
            );
            assert!(read() == before, "{file} {damage}: the refused run changed a file");
        }
    }

    let out = copy("discarded");
    fs::remove_file(out.join("recording.frazil-rec")).unwrap();
    let ended = resume(&out, &["--discard-outputs"]);
    assert!(ended.status.success(), "{}", stderr(&ended));
    assert_eq!(state_hash(&out), state_hash(&complete));
    let recording = Recording::open(&out.join("recording.frazil-rec")).unwrap();
    assert_eq!(recording.times().map(|(step, _)| step).collect::<Vec<_>>(), [16]);

    // A folder without outputs that is not the checkpoint's begins at its step.
    let elsewhere = folder.path().join("elsewhere");
    let checkpoint = whole.join("checkpoint.frazil-ckpt");
    let arguments = ["--steps", "16", "--resume", checkpoint.to_str().unwrap()];
    let ended = run_small(&elsewhere, &[&CADENCES[..], &arguments].concat()).output().unwrap();
    assert!(ended.status.success(), "{}", stderr(&ended));
    let report = frazil_io::RunInfo::read(&elsewhere.join("run.json")).unwrap();
    assert!(report.warnings.iter().any(|warning| warning.ends_with("begin at the checkpoint's step 12")));
    assert_eq!(state_hash(&elsewhere), state_hash(&complete));
}

#[test]
fn a_run_that_replaces_another_keeps_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    succeed(&mut run_small(out, &["--steps", "8", "--checkpoint", "8"]));
    let checkpoint = out.join("checkpoint.frazil-ckpt");
    let earlier = fs::read(&checkpoint).unwrap();
    for n in 1..=2 {
        let run = run_small(out, &["--steps", "4", "--overwrite"]).output().unwrap();
        assert!(run.status.success(), "{}", stderr(&run));
        if n == 1 {
            let warnings = frazil_io::RunInfo::read(&out.join("run.json")).unwrap().warnings;
            assert!(warnings.iter().any(|warning| warning.ends_with("checkpoint.earlier-1.frazil-ckpt")));
        }
        assert!(!checkpoint.exists());
        assert!(fs::read(out.join("checkpoint.earlier-1.frazil-ckpt")).unwrap() == earlier);
    }
}
