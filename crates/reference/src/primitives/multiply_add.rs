//! Chains of multiply-adds.

/// Returns, for each start, the sum of `chains` numbers from it on, each of them `operations` times
/// multiplied by a factor and increased by an addend. Exact, and so equal to the device's, where all results
/// are integers below 2²⁴.
pub fn multiply_add(start: &[f32], chains: u32, operations: u32, [factor, addend]: [f32; 2]) -> Vec<f32> {
    let chain = |x: f32| (0..operations).fold(x, |x, _| factor * x + addend);
    start.iter().map(|start| (0..chains).map(|k| chain(start + k as f32)).sum()).collect()
}
