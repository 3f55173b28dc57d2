//! Reproducible keys of the distributions that sorting is sensitive to.

use crate::random::noise;

/// Distribution of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform over all values.
    Uniform,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// One value: all atomics and counters of a pass contend for one address.
    Equal,
    /// Eight values, mixed.
    FewDistinct,
    /// Uniform with the top bit set, which reveals errors of signed comparisons and shifts.
    TopBit,
}

impl Distribution {
    /// All distributions.
    pub const ALL: [Self; 6] =
        [Self::Uniform, Self::Sorted, Self::Reversed, Self::Equal, Self::FewDistinct, Self::TopBit];

    /// Names, in the order of [`Self::ALL`].
    pub const NAMES: &'static [&'static str] =
        &["uniform", "sorted", "reversed", "equal", "few_distinct", "top_bit"];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Sorted => "sorted",
            Self::Reversed => "reversed",
            Self::Equal => "equal",
            Self::FewDistinct => "few_distinct",
            Self::TopBit => "top_bit",
        }
    }

    /// Returns the distribution of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|distribution| distribution.name() == name)
    }

    /// Returns `n` keys.
    pub fn keys(self, n: usize) -> Vec<u32> {
        // Ascending over the whole range of keys, so that every digit of a sorted array changes somewhere.
        let spread = |i: usize| ((i as u64) << 32).checked_div(n as u64).unwrap_or(0) as u32;
        let key = |i: usize| match self {
            Self::Uniform => noise(i),
            Self::Sorted => spread(i),
            Self::Reversed => spread(n - 1 - i),
            Self::Equal => 0x9e37_79b9,
            Self::FewDistinct => 0x1234_5679u32.wrapping_mul(noise(i) % 8),
            Self::TopBit => noise(i) | 1 << 31,
        };
        (0..n).map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_is_what_its_name_says() {
        let n = 10_007;
        for (distribution, name) in Distribution::ALL.iter().zip(Distribution::NAMES) {
            assert_eq!(distribution.name(), *name);
            assert_eq!(Distribution::from_name(name), Some(*distribution));
            assert!(distribution.keys(0).is_empty());
            assert_eq!(distribution.keys(n).len(), n);
        }
        let distinct = |distribution: Distribution| {
            let mut keys = distribution.keys(n);
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        assert!(Distribution::Sorted.keys(n).is_sorted() && distinct(Distribution::Sorted) == n);
        assert!(Distribution::Reversed.keys(n).iter().rev().is_sorted());
        assert_eq!((distinct(Distribution::Equal), distinct(Distribution::FewDistinct)), (1, 8));
        assert!(Distribution::TopBit.keys(n).iter().all(|key| key >> 31 == 1));
        // Each of 32 bits is set in half of the keys: within 5 standard deviations of √n/2.
        for bit in 0..32 {
            let set = Distribution::Uniform.keys(n).iter().filter(|key| *key >> bit & 1 == 1).count();
            assert!((set as f64 - n as f64 / 2.0).abs() < 2.5 * (n as f64).sqrt(), "bit {bit}: {set}");
        }
    }
}
