//! Static facts of a kernel: its group size, its shared memory, and the driver's statistics of its code.

use crate::compiled::{KernelInner, Reach};
use crate::device::Device;
use crate::executable::{Executable, Occupancy};
use std::sync::atomic::Ordering;

/// Static facts of a compiled kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelFacts {
    /// `area.name`.
    pub name: &'static str,
    /// Values of the tunables, by name, as bits.
    pub specialization: Vec<(&'static str, u32)>,
    /// Number of threads in a workgroup.
    pub workgroup_size: u32,
    /// Number of elements that a workgroup processes (tile size).
    pub tile: u32,
    /// Shared memory that the shader declares, in bytes; none if its size could not be determined.
    pub shared_memory_bytes: Option<u64>,
    /// Number of times it was recorded.
    pub dispatches: u64,
    /// Workgroups of all these dispatches, as far as the host knows counts.
    pub groups: u64,
    /// Floating-point operations that the shader declares, for each item of a kind: `particle`, or the name
    /// of a solver's work counter.
    pub work: Vec<(&'static str, u64)>,
    /// Driver statistics of its code; empty if the driver reports none, or was not asked
    /// ([`crate::DeviceOptions::pipeline_statistics`]).
    pub executables: Option<Vec<Executable>>,
}

impl KernelFacts {
    /// Returns the worst over all executables of each statistic with a known name, since it bounds occupancy.
    pub fn occupancy(&self) -> Occupancy {
        let all = self.executables.iter().flatten().map(Executable::occupancy);
        all.fold(Occupancy::default(), Occupancy::worst)
    }
}

impl Device {
    /// Returns the facts of all kernels compiled so far, by name and tunables.
    pub fn kernel_facts(&self) -> Vec<KernelFacts> {
        let mut facts: Vec<_> = self.shared.kernels.all().iter().map(|kernel| kernel.facts()).collect();
        facts.sort_by(|a, b| (a.name, &a.specialization).cmp(&(b.name, &b.specialization)));
        facts
    }
}

impl KernelInner {
    /// Returns the facts known after compilation.
    pub(crate) fn facts(&self) -> KernelFacts {
        let reach = Reach { threads: 0, specialization: &self.specialization, counts: &[], parameters: &[] };
        let names = self.source.specializations.iter().map(|s| s.name);
        let code = self.code();
        KernelFacts {
            name: self.source.name,
            specialization: names.zip(self.specialization.iter().copied()).collect(),
            workgroup_size: self.workgroup_size,
            tile: self.tile,
            shared_memory_bytes: code.shared_memory_bytes,
            work: self.source.work.iter().map(|work| (work.item, (work.flop)(&reach))).collect(),
            dispatches: self.dispatches.load(Ordering::Relaxed),
            groups: self.groups.load(Ordering::Relaxed),
            executables: code.executables.clone(),
        }
    }
}
