//! Compilation of kernels for the statistics of the driver's compiler, on a device that need not run them.

use crate::Result;
use crate::capabilities::{Candidate, DeviceInfo, DeviceKind};
use crate::compiled::KernelSource;
use crate::compute_units::ComputeUnits;
use crate::device::{DeviceOptions, Logical, find};
use crate::executable::{InternalRepresentation, internal_representations};
use crate::instance::Instance;
use crate::kernel::{Target, compile};
use crate::kernel_facts::KernelFacts;
use crate::pipeline_layout::SetKind;
use ash::vk;
use std::fmt;

/// Compiles kernels for the statistics that the driver reports, without a queue, memory or a semaphore.
///
/// Mesa's drivers offer such devices for hardware that is absent, over a shim of the kernel's interface
/// (package `mesa-drm-shim`): their compilers report registers, spills and occupancy, but nothing is
/// computed.
pub struct OfflineCompiler {
    logical: Logical,
    candidate: Candidate,
    /// Declared last, because the logical device is its child.
    _instance: Instance,
}

impl OfflineCompiler {
    /// Opens a device to compile on; statistics are requested whatever the options say.
    ///
    /// # Errors
    /// As for [`crate::Device::open`].
    pub fn open(options: &DeviceOptions) -> Result<Self> {
        let options = DeviceOptions { pipeline_statistics: true, ..options.clone() };
        let (instance, candidate) = find(&options, &[])?;
        let logical = Logical::new(&instance, &candidate, &options)?;
        Ok(Self { logical, candidate, _instance: instance })
    }

    /// Returns the identity of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.candidate.info
    }

    /// Returns the processors that run workgroups, if the driver tells.
    pub fn compute_units(&self) -> Option<ComputeUnits> {
        self.candidate.capabilities.compute_units
    }

    /// Returns a subgroup size that a kernel may require: this one, if the device has it, else the device's
    /// own.
    pub fn subgroup_size_near(&self, size: u32) -> u32 {
        let capabilities = &self.candidate.capabilities;
        let (least, most) = capabilities.subgroup_size_range;
        if (least..=most).contains(&size) { size } else { capabilities.subgroup_size }
    }

    /// Returns true if the driver reports statistics of its code.
    pub fn reports_statistics(&self) -> bool {
        self.logical.pipeline_executables.is_some()
    }

    /// Compiles a kernel with the tunables `values`, in the order of the source's.
    ///
    /// # Errors
    /// The kernel exceeds the device's limits, or the driver rejects it.
    pub fn compile(&self, source: &'static KernelSource, values: &[u32]) -> Result<KernelFacts> {
        let kernel = compile(&self.target(false), source, source.spirv, values)?;
        kernel.destroy(&self.logical.raw);
        Ok(kernel.facts())
    }

    /// Compiles a kernel as [`Self::compile`] does, and returns its code in the forms that the compiler
    /// passes through, with the machine code last; empty if the driver shows none.
    ///
    /// # Errors
    /// The kernel exceeds the device's limits, or the driver rejects it.
    pub fn code(&self, source: &'static KernelSource, values: &[u32]) -> Result<Vec<InternalRepresentation>> {
        let Some(loader) = &self.logical.pipeline_executables else { return Ok(Vec::new()) };
        let kernel = compile(&self.target(true), source, source.spirv, values)?;
        let code = internal_representations(loader, kernel.code().pipeline);
        kernel.destroy(&self.logical.raw);
        Ok(code)
    }

    fn target(&self, captures_code: bool) -> Target<'_> {
        Target {
            raw: &self.logical.raw,
            capabilities: &self.candidate.capabilities,
            full_subgroups: self.logical.full_subgroups,
            is_software: self.candidate.info.kind == DeviceKind::Software,
            executables: self.logical.pipeline_executables.as_ref(),
            captures_code: captures_code && self.reports_statistics(),
            cache: vk::PipelineCache::null(),
            sets: SetKind::Pushed,
        }
    }
}

impl fmt::Debug for OfflineCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfflineCompiler").field("info", self.info()).finish_non_exhaustive()
    }
}

impl Drop for OfflineCompiler {
    fn drop(&mut self) {
        // SAFETY: all pipelines are destroyed, and nothing was ever submitted.
        unsafe { self.logical.raw.destroy_device(None) };
    }
}
