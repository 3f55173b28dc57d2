//! Output folders: results of an earlier command are never replaced unasked.

use crate::tool::{SMALL, command, run_small, stderr, succeed};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the bytes of all files below a folder, without hidden ones.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if !path.file_name().unwrap().to_string_lossy().starts_with('.') {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn every_command_refuses_a_populated_folder_and_names_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("done");
    let plan = ["--steps", "4", "--render", "never", "--record", "4", "--checkpoint", "4"];
    succeed(&mut run_small(&out, &plan));
    let recording = out.join("recording.frazil-rec");
    let recording = recording.to_str().unwrap();
    let video = folder.path().join("video.y4m");
    fs::write(&video, "of another recording").unwrap();
    let before = contents(folder.path());
    let (done, video) = (out.to_str().unwrap(), video.to_str().unwrap());
    for (verb, arguments) in
        [("run", &[][..]), ("profile", &[]), ("sweep", &["--vary", "pbd.iterations=2,3"])]
    {
        let all = [&[verb], SMALL, arguments, &["--steps", "2", "--out", done]].concat();
        refuse(&all, &["the finished run of \"dam_break\", 4 steps"]);
    }
    let whole = "holds the finished run of \"dam_break\", 4 steps (checkpoint.frazil-ckpt, energy.png, ";
    refuse(&["play", recording, "--out", done], &[whole, "which --resume ", "replace it with --overwrite"]);
    refuse(&["play", recording, "--out", video], &["video.y4m: the file exists", "--overwrite"]);
    refuse(&["export", recording, "--format", "csv", "--out", done], &[whole]);
    refuse(&["analyze", "fragments", recording, "--out", done], &[whole]);
    refuse(&["validate", "grains.rebound", "--out", done], &[whole]);
    let both = ["--out", done, "--overwrite", "--resume", "x"];
    refuse(&[&["run"], SMALL, &both[..]].concat(), &["cannot be used with"]);
    assert!(contents(folder.path()) == before, "a refused command changed a file");
}

#[track_caller]
fn refuse(arguments: &[&str], said: &[&str]) {
    let output = command(arguments).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(said.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
}

/// Without `--out`, each run has a folder of its own, and a resumed one that of its checkpoint.
#[test]
fn default_folders_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let plan = ["--render", "never", "--record", "never"];
        let mut command = command(&[&["run"], SMALL, &plan[..], arguments].concat());
        stderr(&succeed(command.current_dir(folder.path())))
    };
    let checkpoint = ["--steps", "2", "--checkpoint", "2"];
    for expected in ["out/dam_break", "out/dam_break-2", "out/dam_break-3"] {
        assert!(run(&checkpoint).contains(&format!("results are in {expected}\n")), "{expected}");
        assert!(folder.path().join(expected).join("run.json").exists());
    }
    let resume = ["--steps", "4", "--resume", "out/dam_break-2/checkpoint.frazil-ckpt"];
    assert!(run(&resume).contains("results are in out/dam_break-2\n"));
    // A folder with the name of a scene is not taken for its file.
    fs::create_dir(folder.path().join("dam_break")).unwrap();
    // With --overwrite, the first folder is used again.
    assert!(run(&["--steps", "3", "--overwrite"]).contains("results are in out/dam_break\n"));
    let steps = |name: &str| {
        let report = folder.path().join("out").join(name).join("run.json");
        frazil_io::RunInfo::read(&report).unwrap().steps
    };
    assert_eq!(["dam_break", "dam_break-2", "dam_break-3"].map(steps), [3, 4, 2]);
}
