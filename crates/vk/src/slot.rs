//! Place of a resource in the list of a recorder, so that its accesses are found without a hash.

use std::sync::atomic::{AtomicU64, Ordering};

/// Place of a resource in the list of the recorder that used it last: a number of a recorder in the upper
/// half, an index in the lower. It saves a look-up by hash in every pass; being overwritten by another
/// recorder, or left over from one, costs that look-up again and nothing else.
#[derive(Default)]
pub(crate) struct Slot(AtomicU64);

impl Slot {
    /// Returns the index in the list of this recorder, if it used the resource last.
    pub fn get(&self, generation: u32) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        (word >> 32 == u64::from(generation)).then_some(word as u32)
    }

    /// Stores the index in the list of this recorder.
    pub fn set(&self, generation: u32, index: u32) {
        self.0.store(u64::from(generation) << 32 | u64::from(index), Ordering::Relaxed);
    }
}
