//! Twins of the data-parallel primitives. Integers match the device exactly; f32 sums match bit for bit,
//! because both add in the same order.

mod compact;
mod copy;
mod grid;
mod multiply_add;
mod reduce;
mod scan;
mod sort;

pub use compact::{partition, stream_compaction};
pub use copy::copy_words;
pub use grid::{Grid, cell_keys, cell_starts, neighbours_brute_force, z_order_key};
pub use multiply_add::multiply_add;
pub use reduce::{ReduceShape, reduce, reduce_max_u32, reduce_min_u32, reduce_sum_f32, reduce_sum_u32};
pub use scan::{exclusive_scan_u32, inclusive_scan_u32};
pub use sort::{gather, radix_sort_pairs};
