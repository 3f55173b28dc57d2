//! Videos and pictures of recordings, and recordings of chosen columns.

use crate::tool::{command, picture, run_small, stderr, succeed};
use frazil_io::Recording;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WIDTH: usize = 160;
const HEIGHT: usize = 90;

/// Returns a recording of steps 0, 4, …, 24, with the pictures of the run.
fn recorded(folder: &Path, arguments: &[&str]) -> (PathBuf, Vec<Vec<u8>>) {
    let out = folder.join("run");
    let cadences = ["--steps", "24", "--render", "4", "--record", "4"];
    succeed(&mut run_small(&out, &[&cadences[..], arguments].concat()));
    let pictures = (0..7).map(|i| picture(&out.join(format!("frames/frame_{i:06}.png"))).2).collect();
    (out.join("recording.frazil-rec"), pictures)
}

fn play(recording: &Path, arguments: &[&str]) -> Command {
    command(&[&["play", recording.to_str().unwrap()], arguments].concat())
}

/// Returns for each picture of a folder its index in `pictures`.
fn shown(folder: &Path, pictures: &[Vec<u8>]) -> Vec<usize> {
    (0..)
        .map(|i| folder.join(format!("frame_{i:06}.png")))
        .take_while(|path| path.exists())
        .map(|path| pictures.iter().position(|known| *known == picture(&path).2).unwrap())
        .collect()
}

#[test]
fn pictures_of_a_recording_are_those_of_its_run_at_any_speed_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, pictures) = recorded(folder.path(), &[]);
    let out = folder.path().join("pictures");
    let into = ["--overwrite", "--out", out.to_str().unwrap()];
    for (arguments, expected) in [
        (&["--speed", "1"][..], &[0, 1, 2, 3, 4, 5, 6][..]),
        (&["--speed", "-3"], &[6, 3, 0]),
        (&["--speed", "0.5", "--from", "16"], &[4, 4, 5, 5, 6]),
        (&["--speed", "2", "--from", "0.008s", "--to", "21"], &[1, 3, 5]),
        (&["--steps-per-frame", "8"], &[0, 2, 4, 6]),
        (&["--steps-per-frame", "-12"], &[6, 3, 0]),
        (&["--steps-per-frame", "2", "--from", "16"], &[4, 4, 5, 5, 6]),
    ] {
        // Each time into the same folder: no picture of the previous video may remain.
        let said = stderr(&succeed(&mut play(&recording, &[arguments, &into].concat())));
        assert!(said.contains(&format!("{} pictures of 160 × 90", expected.len())), "{said}");
        assert_eq!(shown(&out, &pictures), expected, "{arguments:?}");
    }
}

#[test]
fn a_y4m_video_needs_no_other_program() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, pictures) = recorded(folder.path(), &[]);
    let out = folder.path().join("video.y4m");
    let arguments = ["--fps", "12", "--quiet", "--out", out.to_str().unwrap()];
    assert_eq!(stderr(&succeed(play(&recording, &arguments).env("PATH", ""))), "");
    let video = fs::read(&out).unwrap();
    let head_bytes = video.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let head = std::str::from_utf8(&video[..head_bytes]).unwrap();
    assert!(head.starts_with("YUV4MPEG2 W160 H90 F12:1 "), "{head}");
    let frame_bytes = b"FRAME\n".len() + 3 * WIDTH * HEIGHT;
    assert_eq!(video.len(), head_bytes + 7 * frame_bytes);
    for (i, frame) in video[head_bytes..].chunks_exact(frame_bytes).enumerate() {
        // Luma of BT.601, within rounding; chroma is tested with the writer.
        for (pixel, &luma) in pictures[i].chunks_exact(3).zip(&frame[6..]) {
            let [r, g, b] = [0, 1, 2].map(|c| f64::from(pixel[c]));
            let expected = 16.0 + 219.0 / 255.0 * (0.299 * r + 0.587 * g + 0.114 * b);
            assert!((f64::from(luma) - expected).abs() < 0.51, "frame {i}: {luma}, expected {expected}");
        }
    }
}

/// Creates a folder with a program called ffmpeg, and returns a PATH of this folder and the system's own.
#[cfg(unix)]
fn fake_ffmpeg(folder: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = bin.join("ffmpeg");
    fs::write(&path, format!("#!/bin/sh\nfor out; do :; done\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

#[cfg(unix)]
#[test]
fn other_videos_are_what_ffmpeg_makes_of_the_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, pictures) = recorded(folder.path(), &[]);
    let log = folder.path().join("arguments");
    let script = format!("echo \"$@\" > {}\nexec cat > \"$out\"", log.display());
    let path = fake_ffmpeg(folder.path(), &script);
    for (name, format) in [("video.mp4", "-f mp4"), ("video.gif", "-f gif")] {
        let out = folder.path().join(name);
        succeed(play(&recording, &["--speed", "3", "--out", out.to_str().unwrap()]).env("PATH", &path));
        let arguments = fs::read_to_string(&log).unwrap();
        assert!(arguments.contains("-f rawvideo -pix_fmt rgba -s 160x90 -r 30"), "{arguments}");
        assert!(arguments.contains(format), "{arguments}");
        let sent = fs::read(&out).unwrap();
        let rgb: Vec<u8> = sent.chunks_exact(4).flat_map(|rgba| &rgba[..3]).copied().collect();
        assert!(rgb == [&pictures[0][..], &pictures[3], &pictures[6]].concat(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn an_ffmpeg_failure_is_reported_with_its_message_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, _) = recorded(folder.path(), &[]);
    let out = folder.path().join("video.mp4");
    let fail = |script: &str, said: &str| {
        let path = fake_ffmpeg(folder.path(), script);
        let output = play(&recording, &["--out", out.to_str().unwrap()]).env("PATH", path).output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("video.mp4") && message.contains(said), "{message}");
        assert!(!message.contains("panicked") && !out.exists(), "{message}");
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("video.mp4")));
    };
    // In the middle of the second picture, and at the end.
    fail("head -c 90000 > \"$out\"; echo 'No space left on device' >&2; exit 1", "No space left on device");
    fail("cat > \"$out\"; echo 'cannot write the trailer' >&2; exit 3", "cannot write the trailer");
}

#[test]
fn unplayable_recordings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, _) = recorded(folder.path(), &[]);
    let refuse = |arguments: &[&str], said: &str| {
        let output = play(&recording, arguments).env("PATH", "").output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(said) && !message.contains("panicked"), "{arguments:?}: {message}");
    };
    let mp4 = folder.path().join("v.mp4");
    refuse(&["--out", mp4.to_str().unwrap()], ".y4m is written without it");
    refuse(&["--out", "v.avi"], ".mp4, .gif or .y4m");
    refuse(&["--out", "nosuch/v.y4m"], "nosuch/v.y4m");
    refuse(&["--speed", "0"], "but not 0");
    refuse(&["--speed", "nan"], "recorded frames per picture");
    refuse(&["--steps-per-frame", "0"], "but not 0");
    refuse(&["--steps-per-frame", "2.5"], "a number of steps");
    refuse(&["--steps-per-frame", "2", "--speed", "2"], "cannot be used with");
    refuse(&["--fps", "0"], "--fps");
    refuse(&["--from", "25"], "step 0 (0 s) to 24");
    refuse(&["--from", "soon"], "a step from 0");
    refuse(&["--set", "fluid.rest_density_kg_m3=2"], "a recording is what it is");
    refuse(&["--set", "render.nosuch=2"], "render.nosuch: unknown key");
    refuse(&["--seed", "2"], "a recording is what it is");
    let output = play(&recording, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("play --out"), "{}", stderr(&output));
}

#[test]
fn density_is_shown_as_intensity_live_and_recorded_without_perspective() {
    let folder = tempfile::tempdir().unwrap();
    // The axes are coloured.
    let shading = ["--set", "render.shading=density", "--set", "render.show_scale=false"];
    let camera = "render.camera={projection=\"orthographic\",azimuth_deg=0,elevation_deg=0}";
    let flat = [&shading[..], &["--set", camera]].concat();
    let (recording, pictures) =
        recorded(folder.path(), &[&flat[..], &["--record-columns", "density"]].concat());
    let out = folder.path().join("pictures");
    succeed(&mut play(&recording, &["--out", out.to_str().unwrap()]));
    assert_eq!(shown(&out, &pictures), [0, 1, 2, 3, 4, 5, 6]);
    // Except for the legend and the caption there is only white on black, and water is near its rest density
    // inside.
    let middle = |x: usize, y: usize| &pictures[6][3 * (WIDTH * y + x)..][..3];
    let upper = (0..HEIGHT * 2 / 3).flat_map(|y| (0..WIDTH * 3 / 4).map(move |x| middle(x, y)));
    let grey: Vec<u8> =
        upper.map(|rgb| if rgb[0].abs_diff(rgb[2]) < 12 { rgb[0] } else { panic!("{rgb:?}") }).collect();
    assert!(grey.iter().any(|&value| value > 200) && grey.iter().filter(|&&value| value == 0).count() > 1000);

    // A column that was not recorded is replaced by another property.
    let speed = ["--set", "render.shading=lit", "--to", "0", "--overwrite", "--out", out.to_str().unwrap()];
    succeed(&mut play(&recording, &speed));
    assert!(picture(&out.join("frame_000000.png")).2 != pictures[0]);
}

#[test]
fn a_recording_has_the_columns_that_were_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let columns = |arguments: &[&str]| {
        let plan = ["--steps", "8", "--render", "never", "--record", "4", "--check", "4", "--overwrite"];
        succeed(&mut run_small(folder.path(), &[&plan[..], arguments].concat()));
        let mut recording = Recording::open(&folder.path().join("recording.frazil-rec")).unwrap();
        let frame = recording.frame(1).unwrap();
        frame.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(columns(&[]), ["position", "velocity", "id", "density"]);
    let in_scene = ["--set", "output.record_columns=[\"density\"]"];
    assert_eq!(columns(&in_scene), ["position", "id", "density"]);
    assert_eq!(
        columns(&["--record-columns", "position,velocity", in_scene[0], in_scene[1]]),
        ["position", "velocity", "id"]
    );
    // With a checkpoint due at the same step, more columns are read back than are recorded.
    assert_eq!(columns(&["--record-columns", "id", "--checkpoint", "4"]), ["position", "id"]);

    let refuse = |arguments: &[&str], said: &str| {
        let output = run_small(folder.path(), &[&["--record", "4", "--overwrite"], arguments].concat())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    };
    let available = "expected one of position, velocity, id, density";
    refuse(&["--record-columns", "speed"], &format!("--record-columns: found \"speed\", {available}"));
    refuse(
        &["--set", "output.record_columns=[\"speed\"]"],
        &format!("output.record_columns.0: found \"speed\", {available}"),
    );
    assert!(
        Recording::open(&folder.path().join("recording.frazil-rec")).is_ok(),
        "the old one is still there"
    );
}

/// Frames that are whole are played and exported; the command reports the rest, with a status.
#[test]
fn a_damaged_or_unfinished_recording_is_used_as_far_as_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pictures) = recorded(folder.path(), &[]);
    let bytes = fs::read(&path).unwrap();
    let frames: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, window)| window == b"FRAM").map(|(at, _)| at).collect();
    let index = bytes.windows(4).rposition(|window| window == b"INDX").unwrap();
    let exported = |path: &Path| {
        let out = folder.path().join("exported");
        let _ = fs::remove_dir_all(&out);
        let arguments = ["export", path.to_str().unwrap(), "--format", "ply", "--out", out.to_str().unwrap()];
        let output = command(&arguments).output().unwrap();
        let numbers: Vec<usize> =
            (0..7).filter(|i| out.join(format!("particles_{i:06}.ply")).exists()).collect();
        (numbers, output.status.code(), stderr(&output))
    };
    let mut flipped = bytes.clone();
    flipped[frames[2] + 300] ^= 1;
    // A finished recording without one frame, and one that was not finished, with a damaged header.
    let mut headless = bytes[..index].to_vec();
    headless[frames[2]..frames[2] + 48].fill(0);
    for damaged in [flipped, headless] {
        fs::write(&path, damaged).unwrap();
        let (numbers, status, said) = exported(&path);
        assert_eq!((numbers, status), (vec![0, 1, 3, 4, 5, 6], Some(2)), "{said}");
        assert!(said.contains("frame 2") && said.contains("6 frame(s) are whole"), "{said}");
    }
    let mut flipped = bytes.clone();
    flipped[frames[2] + 300] ^= 1;
    fs::write(&path, flipped).unwrap();
    let out = folder.path().join("pictures");
    let played = play(&path, &["--out", out.to_str().unwrap()]).output().unwrap();
    assert_eq!(played.status.code(), Some(2), "{}", stderr(&played));
    assert!(stderr(&played).contains("skipped") && stderr(&played).contains("frame 2, column"));
    assert_eq!(shown(&out, &pictures), [0, 1, 1, 3, 4, 5, 6]);

    fs::write(&path, &bytes[..frames[1]]).unwrap();
    let (numbers, status, said) = exported(&path);
    assert_eq!((numbers, status), (vec![0], Some(0)), "{said}");
    assert!(said.contains("warning: ") && said.contains("1 frame(s), up to step 0"), "{said}");
    // The folder of the run stands for its recording, and quiet commands say nothing.
    let run = folder.path().join("run");
    let quiet = command(&["export", run.to_str().unwrap(), "--format", "ply", "--quiet"]).output().unwrap();
    assert_eq!((quiet.status.code(), &*stderr(&quiet)), (Some(0), ""));
    assert!(run.join("export/particles_000000.ply").exists());
}
