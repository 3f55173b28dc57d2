//! Stream compaction.

use super::exclusive_scan_u32;

/// Returns the indices of the elements whose flag is nonzero, in ascending order. Their number is the length.
pub fn stream_compaction(flags: &[u32]) -> Vec<u32> {
    let kept: Vec<u32> = flags.iter().map(|&flag| u32::from(flag != 0)).collect();
    let (target, n_kept) = exclusive_scan_u32(&kept);
    let mut indices = vec![0; n_kept as usize];
    for (i, (&kept, &target)) in kept.iter().zip(&target).enumerate() {
        if kept == 1 {
            indices[target as usize] = i as u32;
        }
    }
    indices
}

/// Splits a column by flags: the elements whose flag is nonzero, and the others, both in order.
pub fn partition<T: Copy>(column: &[T], flags: &[u32]) -> (Vec<T>, Vec<T>) {
    let (kept, dropped): (Vec<_>, Vec<_>) = column.iter().zip(flags).partition(|(_, flag)| **flag != 0);
    (kept.into_iter().map(|(x, _)| *x).collect(), dropped.into_iter().map(|(x, _)| *x).collect())
}
