//! The loader, the instance, its layers and the debug messenger.

use crate::validation::{self, ValidationLog};
use crate::{Error, Result};
use ash::{ext, khr, vk};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Settings of the validation layer that differ from its defaults; layers without `VK_EXT_layer_settings`, as
/// 1.3.239, behave so in any case. Seen with 1.4.309.
static LAYER_SETTINGS: [(&CStr, vk::Bool32); 2] = [
    // Synchronization validation sees what kernels read and write.
    (c"syncval_shader_accesses_heuristic", vk::TRUE),
    // Each message is reported, not only the first ten of an identifier.
    (c"enable_message_limit", vk::FALSE),
];

/// A Vulkan instance with optional core and synchronization validation.
pub(crate) struct Instance {
    pub entry: ash::Entry,
    pub raw: ash::Instance,
    pub debug_utils: bool,
    /// Set if a device of the instance must not be destroyed, so that the instance must not be, either.
    pub is_abandoned: AtomicBool,
    pub log: ValidationLog,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Target of the messenger's user-data pointer; boxed so that its address is stable.
    _log_for_callback: Box<ValidationLog>,
}

/// Makes an instance that lives as long as the process, so that the loader never unloads the drivers: a
/// process that had opened some 30 devices in turn on an NVIDIA H200 (580.159) found no driver any more.
/// Libraries with thread-local storage of the static kind, as that driver's, cannot be loaded any number of
/// times.
fn keep_drivers_loaded(entry: &ash::Entry) {
    static KEPT: OnceLock<Option<(ash::Entry, ash::Instance)>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let info = vk::InstanceCreateInfo::default();
        // SAFETY: the entry is loaded, and stays so with the instance; info has no pointers. The instance has
        // no children, and the end of the process frees it.
        let raw = unsafe { entry.create_instance(&info, None) }.ok()?;
        Some((entry.clone(), raw))
    });
}

impl Instance {
    pub fn new(validation: bool, gpu_assisted: bool, surface_extensions: &[&'static CStr]) -> Result<Self> {
        // SAFETY: loading the system's Vulkan loader runs its initialisers, as every Vulkan program does.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| Error::NoLoader { cause: e.to_string() })?;
        // SAFETY: the entry is loaded.
        let layers = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(Error::call("list layers", "the Vulkan loader"))?;
        let has_layer = layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
        if validation && !has_layer {
            return Err(Error::NoValidationLayer);
        }
        // SAFETY: the entry is loaded.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }
            .map_err(Error::call("list instance extensions", "the Vulkan loader"))?;
        let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        let debug_utils = validation || has(ext::debug_utils::NAME);

        let mut enabled: Vec<&CStr> = surface_extensions.to_vec();
        if debug_utils {
            enabled.push(ext::debug_utils::NAME);
        }
        let has_settings = validation && has_layer_settings(&entry)?;
        if has_settings {
            enabled.push(ext::layer_settings::NAME);
        }
        let mut flags = vk::InstanceCreateFlags::empty();
        if has(khr::portability_enumeration::NAME) {
            enabled.push(khr::portability_enumeration::NAME);
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let enabled: Vec<_> = enabled.iter().map(|name| name.as_ptr()).collect();
        let enabled_layers: Vec<_> = if validation { vec![VALIDATION_LAYER.as_ptr()] } else { Vec::new() };
        let application = vk::ApplicationInfo::default()
            .application_name(c"frazil")
            .engine_name(c"frazil")
            .api_version(vk::API_VERSION_1_3);
        let mut checks = vec![vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        if gpu_assisted {
            checks.push(vk::ValidationFeatureEnableEXT::GPU_ASSISTED);
            checks.push(vk::ValidationFeatureEnableEXT::GPU_ASSISTED_RESERVE_BINDING_SLOT);
        }
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_extension_names(&enabled)
            .enabled_layer_names(&enabled_layers);
        let settings = LAYER_SETTINGS.each_ref().map(|(name, value)| vk::LayerSettingEXT {
            p_layer_name: VALIDATION_LAYER.as_ptr(),
            p_setting_name: name.as_ptr(),
            ty: vk::LayerSettingTypeEXT::BOOL32,
            value_count: 1,
            p_values: std::ptr::from_ref(value).cast(),
            ..Default::default()
        });
        let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let log = ValidationLog::default();
        let log_for_callback = Box::new(log.clone());
        // Messages of the creation itself.
        let mut messenger = messenger_info(&log_for_callback);
        if validation {
            info = info.push_next(&mut features).push_next(&mut messenger);
        }
        if has_settings {
            info = info.push_next(&mut settings);
        }
        // SAFETY: all pointers in info live until the call returns, and every name comes from the loader's
        // own lists.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDevice,
            result => {
                Error::Call { operation: "create instance", object: "the Vulkan loader".into(), result }
            }
        })?;

        let mut instance = Self {
            entry,
            raw,
            debug_utils,
            is_abandoned: AtomicBool::new(false),
            log,
            messenger: None,
            _log_for_callback: log_for_callback,
        };
        if validation {
            instance.install_messenger()?;
        }
        keep_drivers_loaded(&instance.entry);
        Ok(instance)
    }

    fn install_messenger(&mut self) -> Result<()> {
        let loader = ext::debug_utils::Instance::new(&self.entry, &self.raw);
        let info = messenger_info(&self._log_for_callback);
        // SAFETY: the callback matches the signature, and its user data lives as long as this instance.
        let messenger = unsafe { loader.create_debug_utils_messenger(&info, None) }
            .map_err(Error::call("create debug messenger", "the instance"))?;
        self.messenger = Some((loader, messenger));
        Ok(())
    }
}

/// Returns the messenger that writes to a log, which must outlive it.
fn messenger_info(log: &ValidationLog) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::GENERAL | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
        )
        .pfn_user_callback(Some(validation::callback))
        .user_data(std::ptr::from_ref(log).cast_mut().cast())
}

/// Returns true if the validation layer takes settings from the program.
fn has_layer_settings(entry: &ash::Entry) -> Result<bool> {
    // SAFETY: the entry is loaded, and the layer is one of the loader's list.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(Some(VALIDATION_LAYER)) }
        .map_err(Error::call("list instance extensions", "the validation layer"))?;
    Ok(extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(ext::layer_settings::NAME)))
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.is_abandoned.load(Ordering::Relaxed) {
            // The messenger may still be called.
            std::mem::forget(std::mem::take(&mut self._log_for_callback));
            return;
        }
        if let Some((loader, messenger)) = self.messenger.take() {
            // SAFETY: created by this loader, destroyed once.
            unsafe { loader.destroy_debug_utils_messenger(messenger, None) };
        }
        // SAFETY: the device, the only child, is destroyed before the instance it holds.
        unsafe { self.raw.destroy_instance(None) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use crate::{Device, DeviceOptions};
    use std::collections::BTreeSet;

    fn loaded_libraries() -> BTreeSet<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().filter_map(|line| line.split_once('/')).map(|(_, path)| path.to_owned()).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn drivers_stay_loaded_when_the_last_device_is_dropped() {
        let device = Device::open(&DeviceOptions::default()).unwrap();
        let with_device = loaded_libraries();
        drop(device);
        let unloaded: Vec<_> = with_device.difference(&loaded_libraries()).cloned().collect();
        assert!(
            !unloaded.iter().any(|path| path.contains(".so") && !path.contains("VkLayer")),
            "{unloaded:?}"
        );
        for _ in 0..40 {
            Device::open(&DeviceOptions::default()).unwrap();
        }
    }
}
