//! Memory accounting: current and peak memory by name.

use std::collections::BTreeMap;

/// Memory of all buffers and images of one name. Cloned handles share their memory and count once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// Name given at creation.
    pub name: String,
    /// Number of live allocations.
    pub objects: u64,
    /// Current memory in bytes, as requested; it excludes the allocator's rounding.
    pub bytes: u64,
    /// Peak memory in bytes.
    pub bytes_peak: u64,
}

/// Live allocations by name, with totals. It costs one lookup per allocation and none per dispatch.
#[derive(Debug, Default)]
pub(crate) struct MemoryLedger {
    names: BTreeMap<String, Entry>,
    held: u64,
    peak: u64,
}

#[derive(Debug, Default)]
struct Entry {
    objects: u64,
    bytes: u64,
    peak: u64,
}

impl MemoryLedger {
    pub fn add(&mut self, name: &str, bytes: u64) {
        if !self.names.contains_key(name) {
            self.names.insert(name.to_owned(), Entry::default());
        }
        if let Some(entry) = self.names.get_mut(name) {
            entry.objects += 1;
            entry.bytes += bytes;
            entry.peak = entry.peak.max(entry.bytes);
        }
        self.held += bytes;
        self.peak = self.peak.max(self.held);
    }

    pub fn remove(&mut self, name: &str, bytes: u64) {
        if let Some(entry) = self.names.get_mut(name) {
            entry.objects -= 1;
            entry.bytes -= bytes;
        }
        self.held -= bytes;
    }

    /// Resets the peaks, and removes the names that hold no memory.
    pub fn forget_peaks(&mut self) {
        self.names.retain(|_, entry| entry.objects > 0);
        self.names.values_mut().for_each(|entry| entry.peak = entry.bytes);
        self.peak = self.held;
    }

    /// Returns the current and the peak memory in bytes.
    pub fn totals(&self) -> (u64, u64) {
        (self.held, self.peak)
    }

    /// Returns all names, largest current memory first.
    pub fn uses(&self) -> Vec<MemoryUse> {
        let mut uses: Vec<_> = self
            .names
            .iter()
            .map(|(name, entry)| MemoryUse {
                name: name.clone(),
                objects: entry.objects,
                bytes: entry.bytes,
                bytes_peak: entry.peak,
            })
            .collect();
        uses.sort_by_key(|entry| std::cmp::Reverse((entry.bytes, entry.bytes_peak)));
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, DeviceOptions, ImageFormat, Location};

    fn found(device: &Device, name: &str) -> Option<(u64, u64, u64)> {
        let uses = device.memory();
        uses.iter().find(|u| u.name == name).map(|u| (u.objects, u.bytes, u.bytes_peak))
    }

    #[test]
    fn names_and_totals_keep_their_peaks() {
        let mut ledger = MemoryLedger::default();
        ledger.add("a", 10);
        ledger.add("b", 5);
        ledger.remove("a", 10);
        ledger.add("b", 7);
        assert_eq!(ledger.totals(), (12, 15));
        let of = |name: &str, objects, bytes, bytes_peak| MemoryUse {
            name: name.to_owned(),
            objects,
            bytes,
            bytes_peak,
        };
        assert_eq!(ledger.uses(), [of("b", 2, 12, 12), of("a", 0, 0, 10)]);
        ledger.remove("b", 7);
        ledger.forget_peaks();
        assert_eq!((ledger.totals(), ledger.uses()), ((5, 5), vec![of("b", 1, 5, 5)]));
    }

    #[test]
    fn a_device_lists_its_live_objects() {
        let device = Device::open(&DeviceOptions { validation: true, ..Default::default() }).unwrap();
        let first = device.buffer::<u32>("column", 100).unwrap();
        let second = device.buffer_in::<[f32; 3]>("column", 10, Location::Readback).unwrap();
        let clone = first.clone();
        assert_eq!(found(&device, "column"), Some((2, 520, 520)));
        drop((first, second));
        assert_eq!(found(&device, "column"), Some((1, 400, 520)), "a clone keeps the memory alive");
        drop(clone);
        assert_eq!(found(&device, "column"), Some((0, 0, 520)));
        let image = device.image("target", 16, 16, ImageFormat::Rgba8).unwrap();
        let (objects, bytes, _) = found(&device, "target").unwrap();
        assert!(objects == 1 && bytes >= 16 * 16 * 4);
        let statistics = device.statistics();
        assert_eq!(statistics.bytes_held, device.memory().iter().map(|u| u.bytes).sum::<u64>());
        assert!(statistics.bytes_peak >= statistics.bytes_held);
        drop(image);
        device.check_validation().unwrap();
    }
}
