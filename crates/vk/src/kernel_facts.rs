//! What can be told of a kernel without running it: its group, its shared memory, and what the driver says of its code.

use crate::compiled::KernelInner;
use crate::device::Device;
use crate::executable::{Executable, Occupancy};
use std::sync::atomic::Ordering;

/// A kernel as it was compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelFacts {
    /// `area.name`.
    pub name: &'static str,
    /// The tunables, by name, as bits.
    pub specialization: Vec<(&'static str, u32)>,
    /// Threads in a workgroup.
    pub workgroup_size: u32,
    /// Elements that a workgroup takes.
    pub tile: u32,
    /// Memory that the shader declares to share in a workgroup, in bytes; none if its size could not be worked out.
    pub shared_memory_bytes: Option<u64>,
    /// How often it was recorded.
    pub dispatches: u64,
    /// What the driver tells of its code; none where it tells nothing, or was not asked
    /// ([`crate::DeviceOptions::pipeline_statistics`]).
    pub executables: Option<Vec<Executable>>,
}

impl KernelFacts {
    /// The statistics known by name of all executables: the largest of each, as the worst one bounds occupancy.
    pub fn occupancy(&self) -> Occupancy {
        let all = self.executables.iter().flatten().map(Executable::occupancy);
        all.fold(Occupancy::default(), |a, b| Occupancy {
            registers: a.registers.max(b.registers),
            spills: a.spills.max(b.spills),
            scratch_bytes: a.scratch_bytes.max(b.scratch_bytes),
            shared_memory_bytes: a.shared_memory_bytes.max(b.shared_memory_bytes),
            code_bytes: a.code_bytes.max(b.code_bytes),
        })
    }
}

impl Device {
    /// What is known of every kernel compiled so far, by name and tunables.
    pub fn kernel_facts(&self) -> Vec<KernelFacts> {
        let mut facts: Vec<_> = self.shared.kernels.all().iter().map(|kernel| kernel.facts()).collect();
        facts.sort_by(|a, b| (a.name, &a.specialization).cmp(&(b.name, &b.specialization)));
        facts
    }
}

impl KernelInner {
    fn facts(&self) -> KernelFacts {
        let names = self.source.specializations.iter().map(|s| s.name);
        KernelFacts {
            name: self.source.name,
            specialization: names.zip(self.specialization.iter().copied()).collect(),
            workgroup_size: self.workgroup_size,
            tile: self.tile,
            shared_memory_bytes: self.shared_memory_bytes,
            dispatches: self.dispatches.load(Ordering::Relaxed),
            executables: self.executables.clone(),
        }
    }
}
