//! Reduction of segments.

use super::ReduceShape;

/// Reduces each segment `start[s] .. start[s + 1]` of `input` in the device's order of operations; `identity`
/// for an empty one. `combine` must be associative up to rounding, and `identity` its neutral element.
///
/// The array is cut into tiles. In a tile each thread takes `items_per_thread` consecutive elements; a
/// segmented scan by doubling (Hillis and Steele) gives it the partial sum of its first segment over the
/// threads before it, then it processes its own elements. A segment that spans tiles is the sum of its part
/// in the tile where it begins and of its parts in later tiles, which threads read `workgroup_size` apart and
/// combine by a tree of halves.
pub fn segmented_reduce<T: Copy>(
    input: &[T],
    start: &[u32],
    identity: T,
    shape: ReduceShape,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let n_segments = start.len().saturating_sub(1);
    let mut reduced = vec![identity; n_segments];
    // Segment of each element; empty segments have none.
    let segment_of: Vec<usize> =
        (0..n_segments).flat_map(|s| std::iter::repeat_n(s, (start[s + 1] - start[s]) as usize)).collect();
    let n_tiles = input.len().div_ceil(shape.tile());
    let (mut head, mut tail) = (vec![identity; n_tiles], vec![identity; n_tiles]);
    for tile in 0..n_tiles {
        let begin = tile * shape.tile();
        let end = (begin + shape.tile()).min(input.len());
        let own = |thread: usize| {
            let first = (begin + thread * shape.items_per_thread).min(end);
            first..(first + shape.items_per_thread).min(end)
        };
        let is_head = |i: usize| start[segment_of[i]] as usize == i;
        let step = |(began, value): (bool, T), i: usize| match is_head(i) {
            true => (true, combine(identity, input[i])),
            false => (began, combine(value, input[i])),
        };
        let mut scan: Vec<(bool, T)> =
            (0..shape.workgroup_size).map(|thread| own(thread).fold((false, identity), step)).collect();
        let mut reach = 1;
        while reach < shape.workgroup_size {
            let before = scan.clone();
            for thread in reach..shape.workgroup_size {
                let ((earlier_began, earlier), (began, value)) = (before[thread - reach], before[thread]);
                scan[thread] = (began || earlier_began, if began { value } else { combine(earlier, value) });
            }
            reach *= 2;
        }
        for thread in 0..shape.workgroup_size {
            let mut state = if thread > 0 { scan[thread - 1] } else { (false, identity) };
            for i in own(thread) {
                state = step(state, i);
                let (began, value) = state;
                if start[segment_of[i] + 1] as usize == i + 1 {
                    *if began { &mut reduced[segment_of[i]] } else { &mut head[tile] } = value;
                } else if i + 1 == end {
                    *if began { &mut tail[tile] } else { &mut head[tile] } = value;
                }
            }
        }
    }
    for s in 0..n_segments {
        let (begin, end) = (start[s] as usize, start[s + 1] as usize);
        if begin == end || begin / shape.tile() == (end - 1) / shape.tile() {
            continue;
        }
        let (first, last) = (begin / shape.tile(), (end - 1) / shape.tile());
        let mut tree: Vec<T> = (0..shape.workgroup_size)
            .map(|thread| {
                (first + 1 + thread..=last)
                    .step_by(shape.workgroup_size)
                    .fold(identity, |sum, tile| combine(sum, head[tile]))
            })
            .collect();
        let mut stride = shape.workgroup_size / 2;
        while stride > 0 {
            for thread in 0..stride {
                tree[thread] = combine(tree[thread], tree[thread + stride]);
            }
            stride /= 2;
        }
        reduced[s] = combine(tail[first], tree[0]);
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_shape_sums_like_a_loop() {
        let input: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let start = [0, 0, 1, 1, 130, 131, 900, 900, 1000, 1000];
        let sums: Vec<u32> = start
            .windows(2)
            .map(|w| input[w[0] as usize..w[1] as usize].iter().fold(0u32, |a, b| a.wrapping_add(*b)))
            .collect();
        for (workgroup_size, items_per_thread) in [(1, 2), (4, 1), (8, 8), (64, 8), (256, 8)] {
            let shape = ReduceShape { workgroup_size, items_per_thread };
            assert_eq!(segmented_reduce(&input, &start, 0, shape, u32::wrapping_add), sums, "{shape:?}");
        }
    }
}
