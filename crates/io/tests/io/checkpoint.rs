//! Checkpoints are restored bit-exactly or not at all, and errors name the invalid part.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use frazil_io::{Checkpoint, Error, Extent, WrittenOutputs};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

prop_compose! {
    fn checkpoint()(
        scene_json in ".*",
        step in any::<u64>(),
        time_s in -1e9..1e9_f64,
        seed in any::<u64>(),
        sections in btree_map("[a-z.]{1,6}", vec(any::<u8>(), 0..200), 0..6),
        outputs in proptest::option::of((proptest::option::of(any::<(u64, u64)>()), any::<u64>())),
    ) -> Checkpoint {
        let outputs = outputs.map(|(metrics, end)| WrittenOutputs {
            recording: None,
            metrics: metrics.map(|(bytes, xxh3)| Extent { bytes, xxh3 }),
            pictures: Some(0..end),
        });
        Checkpoint { scene_json, step, time_s, seed, sections, outputs }
    }
}

fn small() -> Checkpoint {
    let sections =
        BTreeMap::from([("position".to_owned(), vec![1, 2, 3]), ("velocity".to_owned(), vec![9; 8])]);
    Checkpoint { scene_json: "{}".to_owned(), step: 40, time_s: 0.2, seed: 1, sections, outputs: None }
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<Checkpoint, Error> {
    fs::write(path, bytes).unwrap();
    Checkpoint::read(path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn checkpoints_come_back_to_the_bit(checkpoint in checkpoint()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        checkpoint.write(&path).unwrap();
        prop_assert_eq!(Checkpoint::read(&path).unwrap(), checkpoint);
    }
}

#[test]
fn any_cut_any_flipped_bit_and_any_extra_byte_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    small().write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for cut in 0..bytes.len() {
        assert!(matches!(write_bytes(&path, &bytes[..cut]), Err(Error::Damaged { .. })), "cut at {cut}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(write_bytes(&path, &flipped).is_err(), "bit {bit} flipped unnoticed");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    let error = write_bytes(&path, &longer).unwrap_err().to_string();
    assert!(error.contains("1 byte(s) too many"), "{error}");
}

#[test]
fn the_bad_section_is_named_with_what_was_found_and_expected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    small().write(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();

    let error = write_bytes(&path, &bytes[..bytes.len() - 8 - 3]).unwrap_err().to_string();
    assert!(error.contains("section 2 of 2 \"velocity\" at byte"), "{error}");
    assert!(error.contains("truncated: expected 8 byte(s), found 5"), "{error}");

    // The checksum of the whole file follows.
    let last = bytes.len() - 8 - 1;
    bytes[last] ^= 0x80;
    let error = write_bytes(&path, &bytes).unwrap_err().to_string();
    assert!(error.contains("\"velocity\"") && error.contains("checksum mismatch: expected xxh3"), "{error}");

    let error = small().section("density").unwrap_err().to_string();
    assert_eq!(error, "the checkpoint of step 40 has no section \"density\"; it has position, velocity");
    assert_eq!(small().section("position").unwrap(), [1, 2, 3]);
}

/// Sections of two checkpoints of one run have correct checksums, and do not make a checkpoint.
#[test]
fn sections_of_different_checkpoints_cannot_be_mixed() {
    let dir = tempfile::tempdir().unwrap();
    let [path, later_path, mixed] = ["checkpoint", "later", "mixed"].map(|name| dir.path().join(name));
    let mut later = Checkpoint { step: 80, ..small() };
    later.sections.insert("velocity".to_owned(), vec![5; later.sections["velocity"].len()]);
    small().write(&path).unwrap();
    later.write(&later_path).unwrap();
    let [mut bytes, of_later] = [path, later_path].map(|path| fs::read(path).unwrap());
    assert_eq!(bytes.len(), of_later.len());
    let middle = bytes.len() - 8 - small().sections["velocity"].len() - 48;
    let end = bytes.len() - 8;
    bytes[middle..end].copy_from_slice(&of_later[middle..end]);
    let error = write_bytes(&mixed, &bytes).unwrap_err().to_string();
    assert!(error.contains("checksum of the whole file at byte"), "{error}");
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_previous_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    small().write(&path).unwrap();
    // A directory at the path of the temporary file makes the write fail, also for root.
    fs::create_dir(dir.path().join(".checkpoint.tmp")).unwrap();
    let error = Checkpoint { step: 41, ..small() }.write(&path).unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
    assert_eq!(Checkpoint::read(&path).unwrap(), small());
}
