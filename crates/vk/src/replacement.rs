//! Code that replaces that of shaders while a program runs.

use crate::Result;
use ash::vk;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A raster pipeline whose code can be replaced.
pub(crate) trait RasterPipeline: Send + Sync {
    /// Returns its name, `area.name`.
    fn name(&self) -> &'static str;

    /// Compiles another pipeline from the SPIR-V of a vertex and a fragment shader.
    fn recompile(&self, spirv: [&[u8]; 2]) -> Result<vk::Pipeline>;

    /// Exchanges the pipeline, and returns the former.
    fn replace(&self, pipeline: vk::Pipeline) -> vk::Pipeline;
}

/// SPIR-V that replaces that of the program's shaders, by name.
#[derive(Default)]
pub(crate) struct Replacements(Mutex<State>);

#[derive(Default)]
struct State {
    kernels: HashMap<String, Arc<[u8]>>,
    rasters: HashMap<String, [Arc<[u8]>; 2]>,
    /// All raster pipelines that were created; some may be dropped since.
    live_rasters: Vec<Weak<dyn RasterPipeline>>,
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
    pub fn add_raster(&self, raster: Weak<dyn RasterPipeline>) {
        let mut state = self.state();
        state.live_rasters.retain(|known| known.strong_count() > 0);
        state.live_rasters.push(raster);
    }

    /// Keeps pipelines that are not used any more.
    pub fn retire(&self, pipelines: impl IntoIterator<Item = vk::Pipeline>) {
        self.state().former.extend(pipelines);
    }

    /// Keeps the SPIR-V of a kernel for those that are compiled later.
    pub fn set_kernel(&self, name: &str, spirv: &[u8]) {
        self.state().kernels.insert(name.to_owned(), spirv.into());
    }

    /// Keeps the SPIR-V of a vertex and a fragment shader for pipelines that are created later.
    pub fn set_raster(&self, name: &str, [vertex, fragment]: [&[u8]; 2]) {
        self.state().rasters.insert(name.to_owned(), [vertex.into(), fragment.into()]);
    }

    /// Returns the raster pipelines of a name, or all.
    pub fn rasters(&self, name: Option<&str>) -> Vec<Arc<dyn RasterPipeline>> {
        let all = self.state().live_rasters.iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
        all.into_iter().filter(|raster| name.is_none_or(|name| name == raster.name())).collect()
    }

    /// Destroys all former pipelines. Called when the device is dropped, after all work has finished.
    pub fn destroy(&self, device: &ash::Device) {
        for pipeline in self.state().former.drain(..) {
            // SAFETY: destroyed once, and no submission is left that uses it.
            unsafe { device.destroy_pipeline(pipeline, None) };
        }
    }
}
