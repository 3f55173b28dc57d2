//! Fuzzes one reader with libFuzzer, which keeps the files that reach new code and mutates them further.
//!
//! `FRAZIL_FUZZ_TARGET` is the reader's name; all arguments are those of libFuzzer. Half of the mutations are
//! libFuzzer's, which insert what the code compares with; the others are those of `frazil-fuzz`, which know
//! the words and numbers of the format. `tools/campaign guided` builds and starts this program.
#![no_main]

use frazil_fuzz::{Session, targets};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;

static SESSION: LazyLock<Session> = LazyLock::new(|| {
    let name =
        std::env::var("FRAZIL_FUZZ_TARGET").expect("FRAZIL_FUZZ_TARGET: expected the name of a target");
    let target = targets::find(&name).unwrap_or_else(|| panic!("FRAZIL_FUZZ_TARGET: no target \"{name}\""));
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    Session::new(&target, &folder).expect("a folder of files")
});

fuzz_target!(
    init: {
        LazyLock::force(&SESSION);
    },
    |bytes: &[u8]| {
        if let Err(problem) = SESSION.check(bytes) {
            panic!("{problem}");
        }
    }
);

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 && size > 0 {
        let bytes = SESSION.mutant(&data[..size], seed.into());
        let length = bytes.len().min(max_size);
        data[..length].copy_from_slice(&bytes[..length]);
        return length;
    }
    let length = fuzzer_mutate(data, size, max_size);
    let bytes = SESSION.repaired(data[..length].to_vec());
    let length = bytes.len().min(max_size);
    data[..length].copy_from_slice(&bytes[..length]);
    length
});
