//! Random numbers for tests and benches, which must be the same on every platform.

/// A linear congruential generator (Knuth's MMIX).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn advance(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// Returns 24 random bits.
    pub fn bits(&mut self) -> u32 {
        (self.advance() >> 40) as u32
    }

    /// Returns a number in 0 … 1, without 1.
    pub fn unit(&mut self) -> f32 {
        self.bits() as f32 / (1_u32 << 24) as f32
    }

    /// Returns a number below `n`, which is at least 1.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.advance() >> 33) % n
    }
}

/// Returns word `i` of a pseudorandom stream: the output function of Steele and others, Fast splittable
/// pseudorandom number generators, 2014.
pub fn noise(i: usize) -> u32 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 32) as u32
}

/// Returns [`noise`] in 0 … 1, without 1.
pub fn unit_noise(i: usize) -> f32 {
    (noise(i) >> 8) as f32 / (1 << 24) as f32
}
