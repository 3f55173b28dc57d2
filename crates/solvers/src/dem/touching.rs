//! Neighbour search among grains on the host, for the initial state.

use super::grains::Grains;
use std::collections::HashMap;

/// Calls `found` with each grain and each other grain within `reach` of their radii (which increases with
/// both), in the order of grains, each pair from both ends.
pub fn for_each_neighbour(
    grains: &Grains,
    reach: impl Fn(f32, f32) -> f32,
    mut found: impl FnMut(usize, usize),
) {
    let (x, r) = (&grains.positions_m, &grains.radii_m);
    let widest = r.iter().copied().fold(0.0, f32::max);
    let side_m = reach(widest, widest);
    let cell = |x: &[f32; 3]| x.map(|x| (x / side_m).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for (i, x) in x.iter().enumerate() {
        cells.entry(cell(x)).or_default().push(i);
    }
    for (i, at) in x.iter().enumerate() {
        let home = cell(at);
        let about = (0..27_i64).map(|k| [home[0] + k % 3 - 1, home[1] + k / 3 % 3 - 1, home[2] + k / 9 - 1]);
        for j in about.filter_map(|cell| cells.get(&cell)).flatten().copied().filter(|j| *j != i) {
            let distance2: f32 = (0..3).map(|k| (at[k] - x[j][k]).powi(2)).sum();
            if distance2 <= reach(r[i], r[j]).powi(2) {
                found(i, j);
            }
        }
    }
}
