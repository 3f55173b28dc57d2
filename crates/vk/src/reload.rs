//! Replacement of the code of shaders in use.

use crate::Result;
use crate::compiled::Code;
use crate::device::Device;
use crate::kernel::{Target, recompile};
use std::collections::BTreeSet;

impl Device {
    /// Returns the names of all kernels and raster pipelines that were compiled so far.
    pub fn shaders_in_use(&self) -> BTreeSet<&'static str> {
        let kernels = self.shared.kernels.all();
        let rasters = self.shared.replacements.rasters(None);
        let kernels = kernels.iter().map(|kernel| kernel.source.name);
        kernels.chain(rasters.iter().map(|raster| raster.name())).collect()
    }

    /// Replaces the code of a kernel, with all tunables that were compiled and those that will be. Passes
    /// that are recorded from now on run the new code. `spirv` must have the interface of the kernel's
    /// source. Returns the number of pipelines that were replaced.
    ///
    /// # Errors
    /// It exceeds the device's limits, or the driver rejects it; then nothing is replaced.
    pub fn replace_kernel(&self, name: &str, spirv: &[u8]) -> Result<usize> {
        let (target, replacements) = (Target::of(&self.shared), &self.shared.replacements);
        let mut kernels = self.shared.kernels.all();
        kernels.retain(|kernel| kernel.source.name == name);
        let mut codes: Vec<Code> = Vec::new();
        for kernel in &kernels {
            let compiled = recompile(&target, kernel, spirv);
            codes
                .push(compiled.inspect_err(|_| replacements.retire(codes.iter().map(|code| code.pipeline)))?);
        }
        for (kernel, code) in kernels.iter().zip(codes) {
            self.shared.set_name(code.pipeline, kernel.source.name);
            replacements.retire([kernel.replace(code).pipeline]);
        }
        replacements.set_kernel(name, spirv);
        Ok(kernels.len())
    }

    /// Replaces the code of a vertex and a fragment shader, like [`Self::replace_kernel`].
    ///
    /// # Errors
    /// The driver rejects it; then nothing is replaced.
    pub fn replace_raster(&self, name: &str, vertex: &[u8], fragment: &[u8]) -> Result<usize> {
        let replacements = &self.shared.replacements;
        let rasters = replacements.rasters(Some(name));
        let mut pipelines = Vec::new();
        for raster in &rasters {
            let compiled = raster.recompile([vertex, fragment]);
            pipelines.push(compiled.inspect_err(|_| replacements.retire(pipelines.iter().copied()))?);
        }
        for (raster, pipeline) in rasters.iter().zip(pipelines) {
            self.shared.set_name(pipeline, raster.name());
            replacements.retire([raster.replace(pipeline)]);
        }
        replacements.set_raster(name, [vertex, fragment]);
        Ok(rasters.len())
    }
}
