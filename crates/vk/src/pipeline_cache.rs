//! Cache of compiled pipelines in a file.

use crate::{Error, Result};
use ash::vk;
use std::path::PathBuf;

/// A pipeline cache and the file it is loaded from and saved to.
pub(crate) struct PipelineCache {
    pub handle: vk::PipelineCache,
    path: Option<PathBuf>,
}

impl PipelineCache {
    /// Loads the cache. A file that is missing, unreadable or from another driver counts as empty: drivers
    /// check the header.
    pub fn open(device: &ash::Device, path: Option<PathBuf>) -> Result<Self> {
        let data = path.as_ref().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data live until the call returns; the driver validates them.
        let created = unsafe { device.create_pipeline_cache(&info, None) };
        let handle = match created {
            Ok(handle) => handle,
            Err(_) => {
                let empty = vk::PipelineCacheCreateInfo::default();
                // SAFETY: an empty cache has no preconditions.
                unsafe { device.create_pipeline_cache(&empty, None) }
                    .map_err(Error::call("create pipeline cache", "the device"))?
            }
        };
        Ok(Self { handle, path })
    }

    /// Saves the cache. It is written under a temporary name first, so that a killed run never leaves a
    /// partial file.
    pub fn save(&self, device: &ash::Device) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        // SAFETY: the cache is alive.
        let data = unsafe { device.get_pipeline_cache_data(self.handle) }.map_err(std::io::Error::other)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&temporary, data)?;
        std::fs::rename(&temporary, path)
    }

    pub fn destroy(&self, device: &ash::Device) {
        // SAFETY: called once, by the device's drop.
        unsafe { device.destroy_pipeline_cache(self.handle, None) };
    }
}
