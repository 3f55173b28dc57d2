//! Log of validation-layer messages, so that tests and users can treat them as errors.

use ash::vk;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Suspicious, probably wrong.
    Warning,
    /// Invalid use of Vulkan.
    Error,
}

/// A message of the validation layers.
#[derive(Clone, Debug)]
pub struct Message {
    /// Severity.
    pub severity: Severity,
    /// Identifier of the rule, such as `VUID-…` or `SYNC-HAZARD-WRITE-AFTER-WRITE`.
    pub id: String,
    /// Text of the layer.
    pub text: String,
}

/// Messages of one instance, in order of arrival. Cloning shares the log.
#[derive(Clone, Debug, Default)]
pub struct ValidationLog {
    messages: Arc<Mutex<Vec<Message>>>,
}

impl ValidationLog {
    /// Returns all messages so far.
    pub fn messages(&self) -> Vec<Message> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes and returns all messages, for tests that provoke them on purpose.
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, message: Message) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}

/// Messages that do not concern frazil, by identifier and part of the text, each with the layer's version and
/// the reason.
const SUPPRESSED: &[(&str, &str)] = &[
    // Seen with layers 1.3.239: the loader warns that a layer on the path was built for an older API.
    ("Loader Message", ""),
    // Seen with layers 1.4.309: GPU-assisted validation lists the features that it enables for itself.
    ("WARNING-GPU-Assisted-Validation", "Internal Warning"),
    // It also recommends to turn other checks off for its sake.
    ("VALIDATION-SETTINGS", "GPU Assisted Validation"),
];

/// Stores a message; the entry point of the debug messenger. `user_data` points to the [`ValidationLog`] that
/// the instance owns.
pub(crate) unsafe extern "system" fn callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut std::ffi::c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes a valid structure for the duration of the call, or null, which as_ref handles.
    let Some(data) = (unsafe { data.as_ref() }) else { return vk::FALSE };
    // SAFETY: user_data is the pointer to the log given at creation; the instance keeps it alive longer than
    // the messenger.
    let Some(log) = (unsafe { user_data.cast::<ValidationLog>().as_ref() }) else { return vk::FALSE };
    let text_of = |pointer: *const std::ffi::c_char| {
        if pointer.is_null() {
            return String::new();
        }
        // SAFETY: Vulkan promises a NUL-terminated string for the duration of the call.
        let text = unsafe { CStr::from_ptr(pointer) };
        text.to_string_lossy().into_owned()
    };
    let (id, text) = (text_of(data.p_message_id_name), text_of(data.p_message));
    if SUPPRESSED.iter().any(|(known, part)| id == *known && text.contains(part)) {
        return vk::FALSE;
    }
    let severity = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        Severity::Error
    } else {
        Severity::Warning
    };
    log.push(Message { severity, id, text });
    vk::FALSE
}

#[cfg(test)]
mod tests {
    use crate::{Device, DeviceOptions, Severity};

    #[test]
    fn a_planted_invalid_call_is_collected_as_an_error() {
        let device = Device::open(&DeviceOptions { validation: true, ..Default::default() }).unwrap();
        let buffer = device.buffer::<u32>("planted", 2).unwrap();
        let mut recorder = device.recorder().unwrap();
        let commands = recorder.commands();
        // A driver must survive it: NVIDIA's crashes at a dispatch without a pipeline.
        // SAFETY: the offset is no multiple of 4. The layer reports it, and the commands are never submitted.
        unsafe { recorder.shared.raw.cmd_fill_buffer(commands, buffer.raw().inner.handle, 2, 4, 0) };
        let messages = device.validation().take();
        assert!(
            messages
                .iter()
                .any(|m| m.severity == Severity::Error && m.id.starts_with("VUID-vkCmdFillBuffer")),
            "{messages:?}"
        );
        drop(recorder);
        device.check_validation().unwrap();
    }
}
