//! Copy of words.

/// Returns `to` with its first `n` words from `from`.
pub fn copy_words(from: &[u32], to: &[u32], n: usize) -> Vec<u32> {
    from.iter().take(n).chain(to.iter().skip(n)).copied().collect()
}
