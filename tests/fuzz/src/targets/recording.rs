//! Recordings.

use std::sync::OnceLock;

use frazil_io::{Column, Frame, Recording, RecordingMeta, RecordingWriter, Tail};

use crate::hashes::repair_hashes;
use crate::mutate::Kind;
use crate::target::{Input, Outcome, Target, Verdict, must_equal, refused};

const FILE: &str = "recording.frazil-rec";

pub(super) const TARGETS: &[Target] = &[
    Target::new("recording", FILE, Kind::Binary, files, check_detected),
    Target {
        repair: |bytes| repair_hashes(bytes),
        ..Target::new("recording_rehashed", FILE, Kind::Binary, files, check_read)
    },
];

/// Contents of a frame, by bits: times and values may be NaN.
type Bits = (u64, u64, Vec<(String, String, Vec<u8>)>, Vec<(String, String, Vec<u8>)>);

fn bits(frame: &Frame) -> Bits {
    let of = |columns: &[Column]| {
        let of = |c: &Column| (c.name.clone(), c.unit.clone(), c.data.bytes().to_vec());
        columns.iter().map(of).collect()
    };
    (frame.step(), frame.time_s().to_bits(), of(frame.columns()), of(frame.bodies()))
}

/// A frame of `n` particles, with two bodies if `with_bodies`.
fn frame(number: u64, n: u32, with_bodies: bool) -> Option<Frame> {
    let x = |i: u32| (i as f32 + number as f32).sin();
    let columns = vec![
        Column::vec3("position", "m", (0..n).map(|i| [x(i), 0.5 * x(i), 0.0]).collect()),
        Column::u32("id", "", (0..n).collect()),
        Column::f32("density", "kg/m^3", (0..n).map(|i| 1000.0 + x(i)).collect()),
    ];
    let bodies = vec![Column::vec3("position", "m", vec![[x(1); 3]; 2]), Column::u32("id", "", vec![0, 1])];
    let frame = Frame::new(10 * number, 0.1 * number as f64, columns).ok()?;
    frame.with_bodies(if with_bodies { bodies } else { Vec::new() }).ok()
}

/// Files, and the frames that are in them.
fn originals() -> &'static [(Vec<u8>, Vec<Bits>)] {
    static ORIGINALS: OnceLock<Vec<(Vec<u8>, Vec<Bits>)>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let kinds = [(3, 20, false, true), (3, 20, true, true), (2, 0, false, true), (4, 7, false, false)];
        kinds
            .iter()
            .filter_map(|&(n, particles, bodies, is_finished)| original(n, particles, bodies, is_finished))
            .collect()
    })
}

fn original(n_frames: u64, n: u32, with_bodies: bool, is_finished: bool) -> Option<(Vec<u8>, Vec<Bits>)> {
    let folder = tempfile::tempdir().ok()?;
    let path = folder.path().join("seed");
    let meta = RecordingMeta { scene_json: "{}".to_owned(), seed: 1, device: "none".to_owned() };
    let mut writer = RecordingWriter::create(&path, &meta).ok()?;
    let mut frames = Vec::new();
    for number in 0..n_frames {
        let frame = frame(number, n, with_bodies)?;
        writer.append(&frame).ok()?;
        frames.push(bits(&frame));
    }
    if is_finished {
        writer.finish().ok()?;
    }
    Some((std::fs::read(&path).ok()?, frames))
}

fn files() -> Vec<Vec<u8>> {
    originals().iter().map(|(file, _)| file.clone()).collect()
}

/// Opens a recording and reads its frames; `None` in place of a damaged one.
fn read(input: &Input) -> Result<(Recording, Vec<Option<Frame>>), String> {
    let mut recording = Recording::open(&input.path).map_err(|error| error.to_string())?;
    let mut frames = Vec::new();
    for index in 0..recording.len() {
        frames.push(recording.frame(index).ok());
    }
    Ok((recording, frames))
}

/// A mutation is reported, or the frames are those that were written.
fn check_detected(input: &Input) -> Verdict {
    let (recording, frames) = match read(input) {
        Ok(found) => found,
        Err(message) => return refused(input, &message),
    };
    for (index, frame) in frames.iter().enumerate() {
        let Some(frame) = frame else { continue };
        let number = recording.number(index).unwrap_or(u64::MAX) as usize;
        let found = bits(frame);
        if !originals().iter().any(|(_, frames)| frames.get(number) == Some(&found)) {
            return Err(format!("frame {number} is not one of those that were written"));
        }
    }
    let is_reported =
        *recording.tail() != Tail::Finished || !recording.gaps().is_empty() || frames.contains(&None);
    let is_whole = originals().iter().any(|(_, whole)| whole.len() == frames.len());
    if !is_reported && !is_whole {
        return Err(format!("{} frames, and nothing is reported as missing", frames.len()));
    }
    Ok(Outcome::Accepted)
}

/// Frames with correct checksums are read, and written again as they are.
fn check_read(input: &Input) -> Verdict {
    let (recording, frames) = match read(input) {
        Ok(found) => found,
        Err(message) => return refused(input, &message),
    };
    let frames: Vec<Frame> = frames.into_iter().flatten().collect();
    let again = input.folder.join("again.frazil-rec");
    let write = || -> frazil_io::Result<Vec<Bits>> {
        let mut writer = RecordingWriter::create(&again, recording.meta())?;
        frames.iter().try_for_each(|frame| writer.append(frame))?;
        writer.finish()?;
        let mut recording = Recording::open(&again)?;
        (0..recording.len()).map(|index| recording.frame(index).map(|frame| bits(&frame))).collect()
    };
    let read = write().map_err(|error| format!("what was written is refused: {error}"))?;
    must_equal("a recording", &frames.iter().map(bits).collect(), &read)?;
    Ok(Outcome::Accepted)
}
