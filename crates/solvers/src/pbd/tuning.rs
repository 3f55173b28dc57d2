//! What may be tuned without changing a result.

use frazil_kernels::CellSortMethod;
use frazil_shaders::pbd::solve_density;

/// Tunables of the solvers' kernels and of the primitives that a step uses. The kernels that measure keep their own: the shape of
/// their sums, and so the last bits of metrics, hangs on the group size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    workgroup_size: u32,
    nodes_per_thread: u32,
    /// How particles are sorted by cell; without one, by what is fastest on the device.
    pub cell_sort: Option<CellSortMethod>,
}

/// A tunable that no device could take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: found {found}, expected a power of two from {least} to {most}")]
pub struct TuningError {
    /// The tunable's name.
    pub key: &'static str,
    /// What was found.
    pub found: u32,
    /// The least it may be.
    pub least: u32,
    /// The most it may be.
    pub most: u32,
}

impl Tuning {
    /// Kernels of `workgroup_size` threads a group. Whether a device takes it shows when the solver is made.
    ///
    /// # Errors
    /// It is no power of two from 64 (the sort takes no fewer) to 4096 (the sort's tile must stay below 2¹⁶ elements).
    pub fn new(workgroup_size: u32) -> Result<Self, TuningError> {
        power_of_two("workgroup_size", workgroup_size, 64, 4096)?;
        Ok(Self { workgroup_size, nodes_per_thread: 4, cell_sort: None })
    }

    /// The same with so many nodes along x for which one thread of the material point method gathers.
    ///
    /// # Errors
    /// It is no power of two from 1 to 4, the nodes along a block.
    pub fn with_nodes_per_thread(self, nodes_per_thread: u32) -> Result<Self, TuningError> {
        power_of_two("nodes_per_thread", nodes_per_thread, 1, frazil_kernels::BLOCK_SIDE)?;
        Ok(Self { nodes_per_thread, ..self })
    }

    /// Threads a workgroup.
    pub fn workgroup_size(self) -> u32 {
        self.workgroup_size
    }

    /// Nodes along x for which one thread of the material point method gathers.
    pub fn nodes_per_thread(self) -> u32 {
        self.nodes_per_thread
    }
}

fn power_of_two(key: &'static str, found: u32, least: u32, most: u32) -> Result<(), TuningError> {
    let is_in_range = found.is_power_of_two() && (least..=most).contains(&found);
    if is_in_range { Ok(()) } else { Err(TuningError { key, found, least, most }) }
}

impl Default for Tuning {
    /// What the shaders declare.
    fn default() -> Self {
        let workgroup_size = solve_density::Specialization::default().workgroup_size;
        Self { workgroup_size, nodes_per_thread: 4, cell_sort: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_kernel_could_take_are_refused() {
        for found in [0, 8, 48, 8192, u32::MAX] {
            let error = Tuning::new(found).unwrap_err();
            assert_eq!(error, TuningError { key: "workgroup_size", found, least: 64, most: 4096 });
            assert!(error.to_string().contains("a power of two from 64 to 4096"), "{error}");
        }
        for size in [64, 256, 4096] {
            assert_eq!(Tuning::new(size).map(Tuning::workgroup_size), Ok(size));
        }
        assert_eq!(Tuning::new(256), Ok(Tuning::default()));
        for found in [0, 3, 8] {
            let error = Tuning::default().with_nodes_per_thread(found).unwrap_err();
            assert!(error.to_string().contains("a power of two from 1 to 4"), "{error}");
        }
        assert_eq!(Tuning::default().with_nodes_per_thread(2).map(Tuning::nodes_per_thread), Ok(2));
    }
}
