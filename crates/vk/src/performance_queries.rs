//! Calls of `VK_KHR_performance_query`, and the counters that are being measured.

use crate::instance::Instance;
use ash::{khr, vk};
use std::sync::{Arc, Mutex, PoisonError};

/// Calls of the extension, and the counters that are being measured.
pub(crate) struct PerformanceQueries {
    pub instance: khr::performance_query::Instance,
    pub device: khr::performance_query::Device,
    group: Mutex<Option<Arc<Group>>>,
}

/// Counters that one execution gives.
pub(crate) struct Group {
    pub indices: Vec<u32>,
    pub storages: Vec<vk::PerformanceCounterStorageKHR>,
}

impl PerformanceQueries {
    pub fn new(instance: &Instance, device: &ash::Device) -> Self {
        Self {
            instance: khr::performance_query::Instance::new(&instance.entry, &instance.raw),
            device: khr::performance_query::Device::new(&instance.raw, device),
            group: Mutex::default(),
        }
    }

    /// Replaces the counters that are being measured, and returns the earlier ones.
    pub fn set_group(&self, group: Option<Arc<Group>>) -> Option<Arc<Group>> {
        let mut present = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut present, group)
    }

    /// Returns the counters that are being measured.
    pub fn group(&self) -> Option<Arc<Group>> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
