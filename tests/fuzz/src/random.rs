//! Random numbers of a case, the same on every platform.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_64;

/// Random numbers of one case of a target.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Makes the numbers of case `case` of the target `name`: each case has a stream of its own, so that it
    /// can be repeated without those before it.
    pub fn of_case(seed: u64, name: &str, case: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ xxh3_64(name.as_bytes()));
        rng.set_stream(case);
        Self(rng)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias of the remainder does not matter here.
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }

    /// Returns true once in `n` calls, on average.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns an element.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Returns a range of at most `longest` indices below `n`.
    pub fn range(&mut self, n: usize, longest: usize) -> std::ops::Range<usize> {
        let begin = self.below(n);
        let length = self.below(longest.min(n - begin.min(n)) + 1);
        begin..begin + length
    }

    /// Returns a small number: 1 in half of all calls, 2 in a quarter, and so on.
    pub fn few(&mut self) -> usize {
        1 + self.bits().trailing_ones() as usize
    }
}
