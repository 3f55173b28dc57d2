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

/// Returns the prefix sums of f32 in fixed point with `fraction_bits` fractional bits, and the total:
/// exclusive, or inclusive. Returns none if an element is NaN, or an element or a sum reaches 2^(31 −
/// `fraction_bits`).
pub fn scan_fixed(input: &[f32], fraction_bits: u32, inclusive: bool) -> Option<(Vec<f32>, f32)> {
    let unit = f64::from(fraction_bits).exp2();
    let mut sum = 0i32;
    let mut output = Vec::with_capacity(input.len());
    let value = |sum: i32| (f64::from(sum) / unit) as f32;
    for &x in input {
        let scaled = f64::from(x) * unit;
        if scaled.is_nan() || scaled.abs() >= f64::from(1u32 << 31) {
            return None;
        }
        let before = sum;
        // The rounded value of 2³¹ − ½ or more does not fit; the check of the sum finds that, too.
        sum = i32::try_from(i64::from(sum) + scaled.round_ties_even() as i64).ok()?;
        output.push(value(if inclusive { sum } else { before }));
    }
    Some((output, value(sum)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn fixed_point_rounds_to_even_and_refuses_what_does_not_fit() {
        let (scanned, total) = scan_fixed(&[0.5, 1.5, -0.25, 2.0], 0, true).unwrap();
        assert_eq!((scanned, total), (vec![0.0, 2.0, 2.0, 4.0], 4.0));
        assert_eq!(scan_fixed(&[0.5, 0.125], 3, false).unwrap(), (vec![0.0, 0.5], 0.625));
        for bad in [vec![f32::NAN], vec![f32::INFINITY], vec![2f32.powi(31)], vec![2e9, 2e9]] {
            assert_eq!(scan_fixed(&bad, 0, false), None, "{bad:?}");
        }
    }
}
