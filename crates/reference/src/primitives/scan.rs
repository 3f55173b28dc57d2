//! Prefix sums.

/// Returns the exclusive prefix sums modulo 2³², and the total: `output[i] = input[0] + … + input[i − 1]`.
pub fn exclusive_scan_u32(input: &[u32]) -> (Vec<u32>, u32) {
    let mut total = 0u32;
    let output = input
        .iter()
        .map(|&x| {
            let before = total;
            total = total.wrapping_add(x);
            before
        })
        .collect();
    (output, total)
}

/// Returns the inclusive prefix sums modulo 2³²: `output[i] = input[0] + … + input[i]`.
pub fn inclusive_scan_u32(input: &[u32]) -> Vec<u32> {
    let (before, _) = exclusive_scan_u32(input);
    before.iter().zip(input).map(|(before, x)| before.wrapping_add(*x)).collect()
}
