//! Reduction of the metrics of all particles to one record, in two levels on the device.
//!
//! A solver lists the columns of its record in GLSL (`glsl/metrics/record.glsl`), and its kernel measures
//! particles and reduces a tile of them; the second level is one kernel for all records. Sums are trees whose
//! shape depends on the group size and the count alone.

use bytemuck::Pod;
use frazil_shaders::metrics::merge_records;
use frazil_shaders::types::RecordColumns;
use frazil_vk::{
    Buffer, Device, DeviceCount, Kernel, KernelInterface, Pending, ReadbackRing, Recorder, Result, Threads,
};
use std::marker::PhantomData;

/// Record as its kernel writes it: sums of f32 first, then minima, maxima, and counts of u32.
pub(crate) trait MetricsRecord: Pod {
    /// Offsets in bytes of the first minimum, the first maximum and the first count.
    const OFFSETS: [usize; 3];
    /// Offset in bytes of the number of particles that are not finite; no other column includes them.
    const NOT_FINITE: usize;
}

/// Measurement kernel, the kernel that reduces its records, and their scratch buffers.
pub(crate) struct MetricsReduction<K: KernelInterface, R> {
    measure: Kernel<K>,
    merge: Kernel<merge_records::Interface>,
    parts: Buffer<R>,
    total: Buffer<u32>,
}

impl<K: KernelInterface, R: MetricsRecord> MetricsReduction<K, R> {
    /// Makes a reduction for up to `capacity` particles.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, measure: Kernel<K>, capacity: u32) -> Result<Self> {
        Ok(Self {
            parts: device.buffer("metrics parts", capacity.div_ceil(measure.tile()).max(1) as usize)?,
            total: device.buffer("metrics", words(size_of::<R>()) as usize)?,
            merge: Kernel::new(device)?,
            measure,
        })
    }

    /// Returns the buffer to which the measurement kernel writes the records of its tiles.
    pub fn parts(&self) -> &Buffer<R> {
        &self.parts
    }

    /// Records the measurement of `count` particles and its read-back.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        count: &DeviceCount,
        bindings: K::Bindings<'_>,
        params: K::Params,
    ) -> Result<PendingRecord<R>> {
        recorder.dispatch(&self.measure, Threads::Counted(count), bindings, params);
        let bindings = merge_records::Bindings { count, parts: &self.parts.cast(), total: &self.total };
        let [first_minimum, first_maximum, first_count] = R::OFFSETS.map(words);
        let end = words(size_of::<R>());
        let columns = RecordColumns { first_minimum, first_maximum, first_count, end };
        let params = merge_records::Params { particles_per_part: self.measure.tile(), columns };
        // One workgroup per word of the record.
        let threads = end as usize * self.merge.tile() as usize;
        recorder.dispatch(&self.merge, Threads::Fixed(threads), bindings, params);
        Ok(PendingRecord {
            total: ring.read(recorder, &self.total, end as usize)?,
            count: ring.read(recorder, &count.count, 1)?,
            record: PhantomData,
        })
    }
}

fn words(bytes: usize) -> u32 {
    (bytes / 4) as u32
}

/// A record that is being read back.
#[derive(Debug)]
pub(crate) struct PendingRecord<R> {
    total: Pending<u32>,
    count: Pending<u32>,
    record: PhantomData<R>,
}

impl<R: MetricsRecord> PendingRecord<R> {
    /// Returns true once the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.total.is_ready()? && self.count.is_ready()?)
    }

    /// Waits for the record and the number of particles. Minima and maxima of no finite particle are NaN.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<(R, u32)> {
        let (mut total, count) = (self.total.wait()?, self.count.wait()?);
        clear_extrema_of_none::<R>(&mut total, count[0]);
        Ok((bytemuck::pod_read_unaligned(bytemuck::cast_slice(&total)), count[0]))
    }
}

/// Sets the minima and maxima of a record of `count` particles to NaN if none of them is finite: the device
/// leaves the initial values of its comparisons there.
fn clear_extrema_of_none<R: MetricsRecord>(total: &mut [u32], count: u32) {
    let [first_minimum, _, first_count] = R::OFFSETS.map(|bytes| words(bytes) as usize);
    if total[words(R::NOT_FINITE) as usize] >= count {
        total[first_minimum..first_count].fill(f32::NAN.to_bits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_shaders::types::FluidMetrics;

    #[test]
    fn extrema_are_nan_only_without_a_finite_particle() {
        let record = FluidMetrics {
            lower_m: [3e38; 3],
            upper_m: [-3e38; 3],
            n_not_finite: 2,
            ..bytemuck::Zeroable::zeroed()
        };
        let cleared = |count| {
            let mut total: Vec<u32> = bytemuck::cast_slice(&[record]).to_vec();
            clear_extrema_of_none::<FluidMetrics>(&mut total, count);
            bytemuck::pod_read_unaligned::<FluidMetrics>(bytemuck::cast_slice(&total))
        };
        for count in [0, 2] {
            let none = cleared(count);
            assert!([none.lower_m, none.upper_m].concat().iter().all(|x| x.is_nan()), "{none:?}");
            assert_eq!((none.kinetic_j_kg, none.n_not_finite), (0.0, 2));
        }
        assert_eq!((cleared(3).lower_m, cleared(3).upper_m), ([3e38; 3], [-3e38; 3]));
    }
}
