//! Theoretical occupancy of kernels, and the tail of their dispatches: what the last, partial wave of
//! workgroups leaves idle.

use crate::compute_units::{ComputeUnits, UnitKind};
use crate::kernel_facts::KernelFacts;

/// 32-bit registers of a streaming multiprocessor of NVIDIA, of all architectures since Kepler (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
const NVIDIA_REGISTERS: u64 = 1 << 16;
/// Registers of a thread are given in multiples of 8, warps of an SM in multiples of its four partitions
/// (CUDA Occupancy Calculator).
const NVIDIA_REGISTER_UNIT: u64 = 8;
const NVIDIA_WARP_UNIT: u64 = 4;
const NVIDIA_WARP_THREADS: u64 = 32;

/// Use of a device by the dispatches of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utilization {
    /// Subgroups that are resident when enough groups are dispatched, over the maximum; none for threads of a
    /// CPU. It counts registers on NVIDIA, whose shared memory per multiprocessor Vulkan does not tell, and
    /// all limits on AMD.
    pub theoretical_occupancy: Option<f64>,
    /// Fraction of the places for workgroups that are empty over all waves of a mean dispatch: 1 − g/(s
    /// ⌈g/s⌉) for g groups and s places.
    pub tail: Option<f64>,
}

impl ComputeUnits {
    /// Returns the use of the units by a kernel; none if the driver's statistics do not suffice.
    pub fn utilization(&self, kernel: &KernelFacts) -> Option<Utilization> {
        let known = kernel.occupancy();
        let subgroups_of = |subgroup: u64| u64::from(kernel.workgroup_size).div_ceil(subgroup.max(1));
        let (of_group, resident, max) = match self.kind {
            UnitKind::Thread => (1, 1, None),
            UnitKind::Multiprocessor { max_warps } => {
                let a_thread = known.registers?.max(1).next_multiple_of(NVIDIA_REGISTER_UNIT);
                let warps = NVIDIA_REGISTERS / (a_thread * NVIDIA_WARP_THREADS);
                let warps = warps / NVIDIA_WARP_UNIT * NVIDIA_WARP_UNIT;
                let max = u64::from(max_warps);
                (subgroups_of(NVIDIA_WARP_THREADS), warps.min(max), Some(max))
            }
            UnitKind::ComputeUnit { simds, max_waves, wave_size } => {
                let executable = kernel.executables.iter().flatten().find(|e| e.subgroup_size > 0)?;
                let max = u64::from(simds) * u64::from(max_waves);
                let waves = u64::from((executable.subgroup_size / wave_size).max(1));
                let resident = u64::from(simds) * known.resident_subgroups? / waves;
                (subgroups_of(executable.subgroup_size.into()), resident.min(max), Some(max))
            }
        };
        // A kernel that compiled runs, one group at a time at least.
        let groups = (resident / of_group).max(1);
        let places = groups as f64 * f64::from(self.count.max(1));
        let mean = kernel.groups as f64 / kernel.dispatches as f64;
        Some(Utilization {
            theoretical_occupancy: max.map(|max| (groups * of_group) as f64 / max as f64),
            tail: (kernel.groups > 0).then(|| 1.0 - mean / ((mean / places).ceil() * places)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable::{Executable, Statistic, StatisticValue};

    fn kernel(
        workgroup_size: u32,
        groups: u64,
        statistic: &str,
        value: u64,
        subgroup_size: u32,
    ) -> KernelFacts {
        let statistic = Statistic {
            name: statistic.into(),
            description: String::new(),
            value: StatisticValue::Unsigned(value),
        };
        let executable = Executable {
            name: "main".into(),
            description: String::new(),
            subgroup_size,
            statistics: vec![statistic],
        };
        KernelFacts {
            name: "area.name",
            specialization: Vec::new(),
            workgroup_size,
            tile: workgroup_size,
            shared_memory_bytes: Some(0),
            dispatches: 2,
            groups: 2 * groups,
            work: Vec::new(),
            executables: Some(vec![executable]),
        }
    }

    fn percent(fraction: Option<f64>) -> f64 {
        (fraction.unwrap() * 1e4).round() / 100.0
    }

    /// Figures of NVIDIA's occupancy calculator for compute capability 8.0 (64 warps) and 8.6 (48).
    #[test]
    fn registers_bound_the_warps_of_a_multiprocessor() {
        for (max_warps, size, registers, expected) in [
            (64, 256, 32, 100.0),
            (64, 256, 48, 62.5),
            (64, 256, 64, 50.0),
            (64, 256, 255, 12.5),
            (64, 128, 40, 75.0),
            (48, 256, 40, 100.0),
            (48, 256, 64, 66.67),
        ] {
            let units = ComputeUnits { count: 1, kind: UnitKind::Multiprocessor { max_warps } };
            let found = units.utilization(&kernel(size, 1, "Register Count", registers, 32)).unwrap();
            assert_eq!(percent(found.theoretical_occupancy), expected, "{size} threads of {registers}");
        }
    }

    #[test]
    fn waves_of_a_compute_unit_are_those_that_the_driver_reports() {
        let kind = UnitKind::ComputeUnit { simds: 2, max_waves: 16, wave_size: 32 };
        let units = ComputeUnits { count: 4, kind };
        // 10 waves of each of two SIMDs are two groups of 8, with 4 left over.
        let found = units.utilization(&kernel(256, 9, "Subgroups per SIMD", 10, 32)).unwrap();
        assert_eq!(percent(found.theoretical_occupancy), 50.0);
        // 9 groups in 8 places take two waves.
        assert_eq!(percent(found.tail), 43.75);
        assert_eq!(units.utilization(&kernel(256, 9, "Register Count", 10, 32)), None);
        // 18 waves in subgroups of 64, 9 subgroups of each of two SIMDs, are four groups of 4.
        let found = units.utilization(&kernel(256, 9, "Subgroups per SIMD", 18, 64)).unwrap();
        assert_eq!(percent(found.theoretical_occupancy), 50.0);
    }

    #[test]
    fn threads_of_a_cpu_run_a_group_each() {
        let units = ComputeUnits { count: 2, kind: UnitKind::Thread };
        for (groups, tail) in [(1, 50.0), (2, 0.0), (3, 25.0), (40, 0.0)] {
            let found = units.utilization(&kernel(256, groups, "none", 0, 0)).unwrap();
            assert_eq!((percent(found.tail), found.theoretical_occupancy), (tail, None), "{groups} groups");
        }
        let never = units.utilization(&kernel(256, 0, "none", 0, 0)).unwrap();
        assert_eq!(never.tail, None, "no dispatch has a group");
    }
}
