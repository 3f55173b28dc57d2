//! Lengths of arrays derived from a count on the device: the host's side of `primitives/length.glsl`.

use frazil_shaders::types::Length;

/// The counted array itself.
pub(crate) const COUNTED: Length = Length { divisor: 1, multiplier: 1, shrink: 1 };

/// Returns the length of `multiplier` entries for each tile of `tile` elements of the counted array.
pub(crate) fn per_tile(tile: u32, multiplier: u32) -> Length {
    Length { divisor: tile, multiplier, shrink: 1 }
}

/// Returns the length of one entry for each tile of `tile` elements of `array`.
pub(crate) fn reduced(array: Length, tile: u32) -> Length {
    Length { shrink: array.shrink.saturating_mul(tile), ..array }
}

/// Returns the length for a count of `count`, as the device computes it.
pub(crate) fn length_of(length: Length, count: u32) -> u32 {
    (count.div_ceil(length.divisor) * length.multiplier).div_ceil(length.shrink)
}
