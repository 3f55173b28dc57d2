//! Least-significant-digit radix sort, and the gather that applies its permutation.

use core::ops::Range;

use super::exclusive_scan_u32;

/// Bits of a digit. The result does not depend on it.
const DIGIT_BITS: u32 = 8;

/// Sorts pairs by bits `bits` of the key, ascending and stably: pairs that agree in those bits keep their
/// order, regardless of their other bits. An empty range leaves everything unchanged.
///
/// # Panics
/// Panics if the two slices differ in length or `bits` reaches past the key's last bit.
pub fn radix_sort_pairs<K: Copy + Default + Into<u64>>(
    keys: &mut Vec<K>,
    payload: &mut Vec<u32>,
    bits: Range<u32>,
) {
    assert_eq!(keys.len(), payload.len(), "keys and payload are columns of the same pairs");
    let key_bits = 8 * size_of::<K>() as u32;
    assert!(bits.end <= key_bits, "a key has {key_bits} bits, not {}", bits.end);
    let mut begin = bits.start;
    while begin < bits.end {
        let width = DIGIT_BITS.min(bits.end - begin);
        let digit = |key: K| (key.into() >> begin & ((1 << width) - 1)) as usize;
        let mut histogram = vec![0u32; 1 << width];
        for &key in keys.iter() {
            histogram[digit(key)] += 1;
        }
        let (mut target, _) = exclusive_scan_u32(&histogram);
        let (mut sorted_keys, mut sorted_payload) = (vec![K::default(); keys.len()], vec![0; keys.len()]);
        for (&key, &value) in keys.iter().zip(payload.iter()) {
            let slot = &mut target[digit(key)];
            sorted_keys[*slot as usize] = key;
            sorted_payload[*slot as usize] = value;
            *slot += 1;
        }
        (*keys, *payload) = (sorted_keys, sorted_payload);
        begin += width;
    }
}

/// Applies a permutation to a column: `output[i] = column[permutation[i]]`.
pub fn gather<T: Copy>(column: &[T], permutation: &[u32]) -> Vec<T> {
    permutation.iter().map(|&i| column[i as usize]).collect()
}
