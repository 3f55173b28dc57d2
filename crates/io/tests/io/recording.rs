//! Recordings survive round trips bit-exactly and cuts at any byte, and any flipped bit is detected.

use std::fs;
use std::path::Path;

use crate::common::{frame, same_bits, small_frame};
use frazil_io::{Column, Error, Frame, Recording, RecordingMeta, RecordingWriter, Tail};
use proptest::collection::vec;
use proptest::prelude::*;

const CHUNK_BYTES: u64 = 48;

fn meta() -> RecordingMeta {
    RecordingMeta { scene_json: r#"{"version":1}"#.to_owned(), seed: u64::MAX, device: "llvmpipe".to_owned() }
}

fn record(path: &Path, steps: std::ops::Range<u64>) -> RecordingWriter {
    let mut writer = RecordingWriter::create(path, &meta()).unwrap();
    for step in steps {
        writer.append(&small_frame(step)).unwrap();
    }
    writer
}

fn steps(recording: &Recording) -> Vec<u64> {
    recording.times().map(|(step, _)| step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn frames_come_back_to_the_bit_in_any_order(frames in vec(frame(), 0..5)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.frazil-rec");
        let mut writer = RecordingWriter::create(&path, &meta()).unwrap();
        for frame in &frames {
            writer.append(frame).unwrap();
        }
        writer.finish().unwrap();

        let mut recording = Recording::open(&path).unwrap();
        prop_assert_eq!(recording.meta(), &meta());
        prop_assert_eq!(recording.tail(), &Tail::Finished);
        prop_assert_eq!(recording.len(), frames.len());
        for (i, frame) in frames.iter().enumerate().rev() {
            prop_assert!(same_bits(&recording.frame(i).unwrap(), frame));
        }
    }
}

#[test]
fn truncated_at_any_byte_it_holds_every_complete_frame_and_reports_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    // End offsets of the head, each frame and the end mark.
    let mut ends = Vec::new();
    let mut writer = RecordingWriter::create(&path, &meta()).unwrap();
    ends.push(fs::metadata(&path).unwrap().len());
    for step in 0..3 {
        writer.append(&small_frame(step)).unwrap();
        ends.push(fs::metadata(&path).unwrap().len());
    }
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();

    for cut in 0..bytes.len() as u64 {
        fs::write(&path, &bytes[..cut as usize]).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count();
        if whole == 0 {
            let error = Recording::open(&path).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "cut at {cut}: {error}");
            continue;
        }
        let mut recording = Recording::open(&path).unwrap();
        assert_eq!(recording.len(), whole - 1, "cut at {cut}");
        for i in 0..recording.len() {
            assert!(same_bits(&recording.frame(i).unwrap(), &small_frame(i as u64)));
        }
        match recording.tail() {
            Tail::Open => assert_eq!(cut, ends[whole - 1]),
            Tail::Damaged(damage) => {
                // After the last frame come the index, which counts as a frame until its header is complete,
                // and the end mark.
                let place = match (whole == ends.len(), cut >= bytes.len() as u64 - CHUNK_BYTES) {
                    (true, true) => "the end mark".to_owned(),
                    (true, false) if cut >= ends[whole - 1] + CHUNK_BYTES => "the index".to_owned(),
                    _ => format!("frame {}", whole - 1),
                };
                let said = damage.to_string();
                assert!(said.starts_with(&place) && said.contains(" at byte "), "cut at {cut}: {said}");
                assert!((ends[whole - 1]..=cut).contains(&damage.offset_bytes), "cut at {cut}: {said}");
            }
            Tail::Finished => panic!("cut at {cut} and yet finished"),
        }
    }
}

#[test]
fn any_flipped_bit_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    record(&path, 0..3).finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        let Ok(mut recording) = Recording::open(&path) else { continue };
        let bad_frame = (0..recording.len()).any(|i| recording.frame(i).is_err());
        assert!(bad_frame || *recording.tail() != Tail::Finished, "bit {bit} flipped unnoticed");
        for i in 0..recording.len() {
            if let Ok(frame) = recording.frame(i) {
                assert!(same_bits(&frame, &small_frame(i as u64)), "bit {bit} changed frame {i}");
            }
        }
    }
}

#[test]
fn a_damaged_column_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    record(&path, 0..2).finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(13).position(|window| window == b"densitykg/m^3").unwrap();
    bytes[at + 13] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = Recording::open(&path).unwrap().frame(0).unwrap_err().to_string();
    assert!(error.contains("frame 0, column \"density\" at byte"), "{error}");
    assert!(error.contains("expected xxh3"), "{error}");
}

#[test]
fn it_can_be_followed_while_it_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    let mut writer = record(&path, 0..1);
    let mut recording = Recording::open(&path).unwrap();
    assert_eq!((recording.len(), recording.tail()), (1, &Tail::Open));
    writer.append(&small_frame(1)).unwrap();
    assert_eq!(recording.refresh().unwrap(), 2);
    assert!(same_bits(&recording.frame(1).unwrap(), &small_frame(1)));
    writer.finish().unwrap();
    assert_eq!(recording.refresh().unwrap(), 2);
    assert_eq!(recording.tail(), &Tail::Finished);
    let error = recording.frame(2).unwrap_err().to_string();
    assert!(error.contains("no frame 2") && error.contains("2 frame(s)"), "{error}");
}

#[test]
fn a_resumed_recording_equals_an_uninterrupted_one() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, resumed) = (dir.path().join("whole.frazil-rec"), dir.path().join("resumed.frazil-rec"));
    record(&whole, 0..5).finish().unwrap();
    // Recorded past the checkpoint of step 2, then killed inside a frame.
    drop(record(&resumed, 0..4));
    let length = fs::metadata(&resumed).unwrap().len();
    fs::OpenOptions::new().write(true).open(&resumed).unwrap().set_len(length - 5).unwrap();

    let mut writer = RecordingWriter::resume(&resumed, 2).unwrap();
    assert_eq!(writer.n_frames(), 3);
    for step in 3..5 {
        writer.append(&small_frame(step)).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(fs::read(&resumed).unwrap(), fs::read(&whole).unwrap());
    assert_eq!(steps(&Recording::open(&resumed).unwrap()), [0, 1, 2, 3, 4]);
}

#[test]
fn a_finished_recording_can_be_appended_to() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, resumed) = (dir.path().join("whole.frazil-rec"), dir.path().join("resumed.frazil-rec"));
    record(&whole, 0..5).finish().unwrap();
    record(&resumed, 0..3).finish().unwrap();
    let mut follower = Recording::open(&resumed).unwrap();
    let mut writer = RecordingWriter::resume(&resumed, u64::MAX).unwrap();
    assert_eq!(writer.n_frames(), 3);
    for step in 3..5 {
        writer.append(&small_frame(step)).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(fs::read(&resumed).unwrap(), fs::read(&whole).unwrap());
    assert!(same_bits(&follower.frame(2).unwrap(), &small_frame(2)), "who opened it before still reads it");
}

#[test]
fn a_finished_recording_is_opened_by_its_index_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    record(&path, 0..4).finish().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // A reader that walks from frame to frame would stop at this one.
    let second = bytes.windows(4).enumerate().filter(|(_, window)| window == b"FRAM").nth(1).unwrap().0;
    bytes[second] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut recording = Recording::open(&path).unwrap();
    assert_eq!((recording.tail(), recording.len()), (&Tail::Finished, 4));
    for i in [0, 2, 3] {
        assert!(same_bits(&recording.frame(i).unwrap(), &small_frame(i as u64)));
    }
    let error = recording.frame(1).unwrap_err().to_string();
    assert!(error.contains(&format!("frame 1 at byte {second}: checksum mismatch")), "{error}");
}

#[test]
fn a_damaged_index_costs_no_frame() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    record(&path, 0..4).finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    let index = bytes.windows(4).rposition(|window| window == b"INDX").unwrap();
    for (at, said) in [(index + 60, "the index"), (bytes.len() - 30, "the end mark")] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let mut recording = Recording::open(&path).unwrap();
        assert_eq!(recording.len(), 4, "{said}");
        assert!((0..4).all(|i| same_bits(&recording.frame(i).unwrap(), &small_frame(i as u64))), "{said}");
        let Tail::Damaged(damage) = recording.tail() else { panic!("{said}: {:?}", recording.tail()) };
        assert!(damage.to_string().starts_with(said), "{damage}");
        // It is rewritten when the recording continues.
        RecordingWriter::resume(&path, 3).unwrap().finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

/// Without an index, frames after a damaged part are found by their headers.
#[test]
fn frames_after_a_damaged_part_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    drop(record(&path, 0..5));
    let bytes = fs::read(&path).unwrap();
    let starts: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, window)| window == b"FRAM").map(|(at, _)| at).collect();
    let cut = |from: usize, to: usize| [&bytes[..from], &bytes[to..]].concat();
    let zeroed = |from: usize, to: usize| [&bytes[..from], &vec![0; to - from], &bytes[to..]].concat();
    // A header, a frame and the next header, and a part of each of two frames.
    for (content, left) in [
        (zeroed(starts[1], starts[1] + 20), vec![0, 2, 3, 4]),
        (zeroed(starts[0], starts[1] + 20), vec![2, 3, 4]),
        (cut(starts[1] + 60, starts[2] + 30), vec![0, 1, 3, 4]),
        (cut(starts[0] + 10, starts[4]), vec![4]),
    ] {
        fs::write(&path, &content).unwrap();
        let mut recording = Recording::open(&path).unwrap();
        assert_eq!(steps(&recording), left);
        assert_eq!(recording.gaps().len(), 1, "{:?}", recording.gaps());
        for (i, step) in left.iter().enumerate() {
            assert_eq!(recording.number(i), Some(*step));
            match recording.frame(i) {
                Ok(frame) => assert!(same_bits(&frame, &small_frame(*step))),
                Err(error) => assert!(error.to_string().contains("frame 1"), "{error}"),
            }
        }
        // A resumed run does not continue after a gap.
        let n_kept = RecordingWriter::resume(&path, 4).unwrap().n_frames();
        assert_eq!(n_kept, left.iter().zip(0..).take_while(|(step, i)| **step == *i).count() as u64);
    }
}

#[test]
fn columns_are_packed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    // A sheet of particles in rows, like the initial state of a planar scene.
    let sheet = (0..10_000).map(|i| [(i % 100) as f32 * 0.01, (i / 100) as f32 * 0.01, 0.0]).collect();
    let columns = vec![Column::vec3("position", "m", sheet), Column::u32("id", "", (0..10_000).collect())];
    let frame = Frame::new(0, 0.0, columns).unwrap();
    let mut writer = RecordingWriter::create(&path, &meta()).unwrap();
    writer.append(&frame).unwrap();
    writer.finish().unwrap();
    let length = fs::metadata(&path).unwrap().len();
    assert!(length < 10_000 * 16 / 4, "{length} bytes");
    assert!(same_bits(&Recording::open(&path).unwrap().frame(0).unwrap(), &frame));
}

/// Written according to `docs/formats.md` by another program: the frames of [`small_frame`], steps 0 and 1.
const VERSION_1: &[u8] = include_bytes!("version_1.frazil-rec");

#[test]
fn a_recording_of_version_1_is_read_and_appended_to_as_version_1() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    fs::write(&path, VERSION_1).unwrap();
    let mut recording = Recording::open(&path).unwrap();
    assert_eq!((recording.meta(), recording.tail()), (&meta(), &Tail::Finished));
    for (i, step) in steps(&recording).into_iter().enumerate() {
        assert!(same_bits(&recording.frame(i).unwrap(), &small_frame(step)));
    }

    let mut writer = RecordingWriter::resume(&path, 0).unwrap();
    for step in 1..3 {
        writer.append(&small_frame(step)).unwrap();
    }
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    let frames = VERSION_1.len() - CHUNK_BYTES as usize;
    assert_eq!(bytes[..frames], VERSION_1[..frames], "the first two frames are the same bytes");
    let mut recording = Recording::open(&path).unwrap();
    assert_eq!((steps(&recording), recording.tail()), (vec![0, 1, 2], &Tail::Finished));
    assert!(same_bits(&recording.frame(2).unwrap(), &small_frame(2)));
}

#[test]
fn other_files_are_refused_with_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.frazil-rec");
    let error = Recording::open(&path).unwrap_err().to_string();
    assert!(error.contains("cannot open") && error.contains("run.frazil-rec"), "{error}");

    fs::write(&path, "# vtk DataFile Version 3.0").unwrap();
    let error = Recording::open(&path).unwrap_err().to_string();
    assert!(error.contains("is not a frazil recording") && error.contains("# vtk Da"), "{error}");

    drop(record(&path, 0..1));
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 9;
    fs::write(&path, &bytes).unwrap();
    let error = Recording::open(&path).unwrap_err().to_string();
    assert!(error.contains("format version 9; this build reads version 1 to 4"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_file() {
    let error = RecordingWriter::create(Path::new("/dev/full"), &meta()).unwrap_err().to_string();
    assert!(error.contains("cannot write /dev/full: No space left on device"), "{error}");
}
