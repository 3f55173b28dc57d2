//! Map of a flow over its terrain: peaks of all steps, accumulated on the device.

use super::map_grid::MapGrid;
use super::particles::Particles;
use crate::FlowCells;
use crate::clock::Clock;
use frazil_particles::{ColumnKind, ParticleTable};
use frazil_shaders::dem::map::MAP_WORDS;
use frazil_shaders::dem::{add_to_map, clear_map, raise_peaks};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Pending, ReadbackRing, Recorder};

/// Bytes of the sums of a cell, the largest of the buffers.
const BYTES_PER_CELL: u64 = 4 * MAP_WORDS as u64;

/// Map of a flow on the device.
///
/// Invariant: no bit of it depends on the order of the grains, nor on what is recorded.
pub struct FlowMap {
    grid: MapGrid,
    /// Sums of the step that is being mapped, two fixed-point numbers per cell; 0 between steps.
    sums: Buffer<u32>,
    /// Bits of the maximum volume of grains in m³ over each cell, after any step.
    peak_volume: Buffer<u32>,
    /// Bits of the maximum mean speed in m/s over each cell.
    peak_speed: Buffer<u32>,
    /// First step with a grain over each cell, [`FlowCells::NEVER`] if there was none.
    first_step: Buffer<u32>,
    add: Kernel<add_to_map::Interface>,
    raise: Kernel<raise_peaks::Interface>,
    clear: Kernel<clear_map::Interface>,
}

impl FlowMap {
    /// Makes an empty map; `None` if the device cannot bind its buffers. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, grid: MapGrid, workgroup_size: u32) -> frazil_vk::Result<Option<Self>> {
        let n = grid.n();
        if BYTES_PER_CELL * n as u64 > device.capabilities().max_storage_range {
            return Ok(None);
        }
        let of = |name: &str, len: usize, word: u32| {
            let buffer = device.buffer(name, len)?;
            let mut recorder = device.recorder()?;
            recorder.fill(&buffer, word);
            device.submit(recorder)?;
            Ok(buffer)
        };
        Ok(Some(Self {
            grid,
            sums: of("map sums", MAP_WORDS as usize * n, 0)?,
            peak_volume: of("map_peak_volume", n, 0)?,
            peak_speed: of("map_peak_speed", n, 0)?,
            first_step: of("map_first_step", n, FlowCells::NEVER)?,
            add: Kernel::specialized(device, &add_to_map::Specialization { workgroup_size })?,
            raise: Kernel::specialized(device, &raise_peaks::Specialization { workgroup_size })?,
            clear: Kernel::specialized(device, &clear_map::Specialization { workgroup_size })?,
        }))
    }

    /// Records the mapping of the current state. To map a state twice changes nothing.
    pub fn record(&self, recorder: &mut Recorder, grains: &Particles, clock: &Clock) {
        self.raise(recorder, grains, clock);
        self.clear(recorder, grains, clock);
    }

    /// Records the sums and the peaks; the sums remain.
    fn raise(&self, recorder: &mut Recorder, grains: &Particles, clock: &Clock) {
        let MapGrid { n_cells, cells_per_m, quanta_per_m3 } = self.grid;
        let bindings = add_to_map::Bindings {
            count: &grains.count,
            sphere: &grains.sphere,
            motion: &grains.motion,
            clock: clock.buffer(),
            sums: &self.sums,
        };
        let params = add_to_map::Params { n_cells, cells_per_m, quanta_per_m3 };
        recorder.dispatch_counted(&self.add, bindings, params);
        let bindings = raise_peaks::Bindings {
            count: &grains.count,
            sphere: &grains.sphere,
            clock: clock.buffer(),
            sums: &self.sums,
            peak_volume: &self.peak_volume,
            peak_speed: &self.peak_speed,
            first_step: &self.first_step,
        };
        let params = raise_peaks::Params { n_cells, cells_per_m, m3_per_quantum: 1.0 / quanta_per_m3 };
        recorder.dispatch_counted(&self.raise, bindings, params);
    }

    fn clear(&self, recorder: &mut Recorder, grains: &Particles, clock: &Clock) {
        let MapGrid { n_cells, cells_per_m, .. } = self.grid;
        let bindings = clear_map::Bindings {
            count: &grains.count,
            sphere: &grains.sphere,
            clock: clock.buffer(),
            sums: &self.sums,
        };
        let params = clear_map::Params { n_cells, cells_per_m };
        recorder.dispatch_counted(&self.clear, bindings, params);
    }

    /// Records the read-back of the map, with the volumes of the current state.
    pub fn read(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        grains: &Particles,
        clock: &Clock,
    ) -> frazil_vk::Result<PendingFlowCells> {
        self.raise(recorder, grains, clock);
        let sums = ring.read(recorder, &self.sums, self.sums.len())?;
        self.clear(recorder, grains, clock);
        let n = self.grid.n();
        Ok(PendingFlowCells {
            sums,
            peak_volume: ring.read(recorder, &self.peak_volume, n)?,
            peak_speed: ring.read(recorder, &self.peak_speed, n)?,
            first_step: ring.read(recorder, &self.first_step, n)?,
            quanta_per_m3: self.grid.quanta_per_m3,
        })
    }

    /// Registers the maxima so far for checkpoints.
    pub fn register(&self, table: &mut ParticleTable) {
        let words = DoubleBuffer::single;
        table.array("map_peak_volume", "m³", ColumnKind::F32, words(self.peak_volume.clone()));
        table.array("map_peak_speed", "m/s", ColumnKind::F32, words(self.peak_speed.clone()));
        table.array("map_first_step", "1", ColumnKind::U32, words(self.first_step.clone()));
    }
}

/// Map of a flow that is being read back.
#[derive(Debug)]
pub struct PendingFlowCells {
    sums: Pending<u32>,
    peak_volume: Pending<u32>,
    peak_speed: Pending<u32>,
    first_step: Pending<u32>,
    quanta_per_m3: f32,
}

impl PendingFlowCells {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.first_step.is_ready()
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> frazil_vk::Result<FlowCells> {
        // The rounding of `fixed_sum` in glsl/common/fixed.glsl, so that no volume is above its peak.
        let rounded = |low: u32, high: u32| high as f32 * 2.0_f32.powi(32) + low as f32;
        let volume_m3 = |sums: &[u32]| rounded(sums[0], sums[1]) / self.quanta_per_m3;
        let of_bits = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect();
        Ok(FlowCells {
            volume_m3: self.sums.wait()?.chunks_exact(MAP_WORDS as usize).map(volume_m3).collect(),
            peak_volume_m3: of_bits(self.peak_volume.wait()?),
            peak_speed_m_s: of_bits(self.peak_speed.wait()?),
            first_step: self.first_step.wait()?,
        })
    }
}
