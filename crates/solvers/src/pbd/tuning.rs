//! What may be tuned without changing a result.

use frazil_kernels::CellSortMethod;
use frazil_shaders::pbd::solve_density;
use std::ops::RangeInclusive;

/// Tunables of the fluid's kernels and of the primitives that a step uses. The kernels that measure keep their own: the shape of
/// their sums, and so the last bits of metrics, hangs on the group size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    workgroup_size: u32,
    /// How particles are sorted by cell; without one, by what is fastest on the device.
    pub cell_sort: Option<CellSortMethod>,
}

/// A tunable that no device could take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("workgroup_size: found {found}, expected a power of two from {} to {}", Tuning::WORKGROUP_SIZES.start(), Tuning::WORKGROUP_SIZES.end())]
pub struct TuningError {
    /// What was found.
    pub found: u32,
}

impl Tuning {
    /// The sort takes 64 threads or more; its tile must stay below 2¹⁶ elements.
    pub const WORKGROUP_SIZES: RangeInclusive<u32> = 64..=4096;

    /// Kernels of `workgroup_size` threads a group. Whether a device takes it shows when the fluid is made.
    ///
    /// # Errors
    /// It is no power of two, or out of range.
    pub fn new(workgroup_size: u32) -> Result<Self, TuningError> {
        if !workgroup_size.is_power_of_two() || !Self::WORKGROUP_SIZES.contains(&workgroup_size) {
            return Err(TuningError { found: workgroup_size });
        }
        Ok(Self { workgroup_size, cell_sort: None })
    }

    /// Threads a workgroup.
    pub fn workgroup_size(self) -> u32 {
        self.workgroup_size
    }
}

impl Default for Tuning {
    /// What the shaders declare.
    fn default() -> Self {
        Self { workgroup_size: solve_density::Specialization::default().workgroup_size, cell_sort: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_kernel_could_take_are_refused() {
        for found in [0, 8, 48, 8192, u32::MAX] {
            let error = Tuning::new(found).unwrap_err();
            assert_eq!(error, TuningError { found });
            assert!(error.to_string().contains("a power of two from 64 to 4096"), "{error}");
        }
        for size in [64, 256, 4096] {
            assert_eq!(Tuning::new(size).map(Tuning::workgroup_size), Ok(size));
        }
        assert_eq!(Tuning::new(256), Ok(Tuning::default()));
    }
}
