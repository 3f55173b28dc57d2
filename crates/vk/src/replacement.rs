//! Code of shaders that is replaced while a program runs.

use crate::Result;
use crate::compiled::Code;
use crate::device::Device;
use crate::kernel::{Target, recompile};
use crate::raster::RasterInner;
use ash::vk;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// SPIR-V that replaces that of the program's shaders, by name.
#[derive(Default)]
pub(crate) struct Replacements(Mutex<State>);

#[derive(Default)]
struct State {
    kernels: HashMap<String, Arc<[u8]>>,
    rasters: HashMap<String, [Arc<[u8]>; 2]>,
    /// All raster pipelines that were created; some may be dropped since.
    live_rasters: Vec<Weak<RasterInner>>,
    /// Former pipelines. They live as long as the device, since command buffers that are submitted again are
    /// recognised by the handles of their pipelines, which would be used again.
    former: Vec<vk::Pipeline>,
}

impl Replacements {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the SPIR-V that replaces a kernel's.
    pub fn kernel(&self, name: &str) -> Option<Arc<[u8]>> {
        self.state().kernels.get(name).cloned()
    }

    /// Returns the SPIR-V that replaces that of a vertex and a fragment shader.
    pub fn raster(&self, name: &str) -> Option<[Arc<[u8]>; 2]> {
        self.state().rasters.get(name).cloned()
    }

    /// Notes a raster pipeline that was created.
    pub fn add_raster(&self, raster: &Arc<RasterInner>) {
        let mut state = self.state();
        state.live_rasters.retain(|known| known.strong_count() > 0);
        state.live_rasters.push(Arc::downgrade(raster));
    }

    /// Returns the raster pipelines of a name, or all.
    fn rasters(&self, name: Option<&str>) -> Vec<Arc<RasterInner>> {
        let all = self.state().live_rasters.iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
        all.into_iter().filter(|raster| name.is_none_or(|name| name == raster.source.name)).collect()
    }

    /// Destroys all former pipelines. Called when the device is dropped, after all work has finished.
    pub fn destroy(&self, device: &ash::Device) {
        for pipeline in self.state().former.drain(..) {
            // SAFETY: destroyed once, and no submission is left that uses it.
            unsafe { device.destroy_pipeline(pipeline, None) };
        }
    }
}

impl Device {
    /// Returns the names of all kernels and raster pipelines that were compiled so far.
    pub fn shaders_in_use(&self) -> BTreeSet<&'static str> {
        let kernels = self.shared.kernels.all();
        let rasters = self.shared.replacements.rasters(None);
        let kernels = kernels.iter().map(|kernel| kernel.source.name);
        kernels.chain(rasters.iter().map(|raster| raster.source.name)).collect()
    }

    /// Replaces the code of a kernel, with all tunables that were compiled and those that will be. Passes that
    /// are recorded from now on run the new code. `spirv` must have the interface of the kernel's source.
    /// Returns the number of pipelines that were replaced.
    ///
    /// # Errors
    /// It exceeds the device's limits, or the driver rejects it; then nothing is replaced.
    pub fn replace_kernel(&self, name: &str, spirv: &[u8]) -> Result<usize> {
        let (target, replacements) = (Target::of(&self.shared), &self.shared.replacements);
        let mut kernels = self.shared.kernels.all();
        kernels.retain(|kernel| kernel.source.name == name);
        let mut codes: Vec<Code> = Vec::new();
        for kernel in &kernels {
            match recompile(&target, kernel, spirv) {
                Ok(code) => codes.push(code),
                Err(error) => {
                    replacements.state().former.extend(codes.iter().map(|code| code.pipeline));
                    return Err(error);
                }
            }
        }
        let mut state = replacements.state();
        for (kernel, code) in kernels.iter().zip(codes) {
            self.shared.set_name(code.pipeline, kernel.source.name);
            state.former.push(kernel.replace(code).pipeline);
        }
        state.kernels.insert(name.to_owned(), spirv.into());
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
            match raster.recompile([vertex, fragment]) {
                Ok(pipeline) => pipelines.push(pipeline),
                Err(error) => {
                    replacements.state().former.extend(pipelines);
                    return Err(error);
                }
            }
        }
        let mut state = replacements.state();
        for (raster, pipeline) in rasters.iter().zip(pipelines) {
            self.shared.set_name(pipeline, raster.source.name);
            state.former.push(raster.replace(pipeline));
        }
        state.rasters.insert(name.to_owned(), [vertex.into(), fragment.into()]);
        Ok(rasters.len())
    }
}
