//! Grains on the device: packed in the order of their cells, and columns in the order of their ids.

use super::grains::{Grains, MAX_GRAINS};
use crate::SolverError;
use crate::error::check_lengths;
use frazil_particles::{ParticleTable, Uses};
use frazil_shaders::dem::reorder;
use frazil_shaders::types::{ContactLoad, GrainMotion};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// Grains on the device. Steps update the packed form; columns are those of output, and those from which
/// contact lists are built.
pub struct Particles {
    /// All columns, by id.
    pub table: ParticleTable,
    /// Number of grains.
    pub count: DeviceCount,
    /// Position in m, by id like all columns.
    pub position: Buffer<[f32; 3]>,
    /// Velocity in m/s.
    pub velocity: Buffer<[f32; 3]>,
    /// Angular velocity in 1/s.
    pub spin: Buffer<[f32; 3]>,
    /// Part of the position in m below its ulp.
    pub residual: Buffer<[f32; 3]>,
    /// Radius in m.
    pub radius: Buffer<f32>,
    /// Centre and radius of each grain in m, in cell order.
    pub sphere: Buffer<[f32; 4]>,
    /// Motion of each grain.
    pub motion: Buffer<GrainMotion>,
    /// Sum of each grain's contact forces.
    pub load: Buffer<ContactLoad>,
    reorder: Kernel<reorder::Interface>,
}

impl Particles {
    /// Makes columns for `capacity` grains, and uploads the initial state. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory; columns of different lengths.
    pub fn upload(
        device: &Device,
        grains: &Grains,
        workgroup_size: u32,
        capacity: usize,
    ) -> Result<Self, SolverError> {
        let Grains { positions_m, velocities_m_s, spins_1_s, radii_m, .. } = grains;
        let n = positions_m.len();
        let lengths =
            [("velocity", velocities_m_s.len()), ("spin", spins_1_s.len()), ("radius", radii_m.len())];
        check_lengths(n, lengths)?;
        if capacity > MAX_GRAINS {
            let problem = format!("has {capacity} grains, expected {MAX_GRAINS} at most");
            return Err(SolverError::State { column: "position".into(), problem });
        }
        let mut residuals_m = grains.residuals_m.clone();
        residuals_m.resize(n, [0.0; 3]);
        let ids: Vec<u32> = (0..capacity as u32).collect();
        let uses = Uses::RECORDED;
        let mut table = ParticleTable::new(device, n as u32, capacity as u32, workgroup_size)?;
        let position = table.computed("position", "m", uses, positions_m)?.front().clone();
        let velocity = table.computed("velocity", "m/s", uses, velocities_m_s)?.front().clone();
        table.computed("id", "1", uses, &ids)?;
        let particles = Self {
            count: table.count().clone(),
            position,
            velocity,
            radius: table.computed("radius", "m", uses, radii_m)?.front().clone(),
            spin: table.computed("spin", "1/s", uses, spins_1_s)?.front().clone(),
            residual: table.computed("position_residual", "m", Uses::STATE, &residuals_m)?.front().clone(),
            sphere: device.buffer("grain sphere", capacity)?,
            motion: device.buffer("grain motion", capacity)?,
            load: device.buffer("contact load", capacity)?,
            reorder: Kernel::specialized(device, &reorder::Specialization { workgroup_size })?,
            table,
        };
        // Packed in the order of ids until the first sort: the state is mapped before it.
        let sphere = |(&[x, y, z], &r): (&[f32; 3], &f32)| [x, y, z, r];
        let spheres: Vec<[f32; 4]> = positions_m.iter().zip(radii_m).map(sphere).collect();
        device.upload(&particles.sphere, &spheres)?;
        let motion = |id: usize| GrainMotion {
            velocity_m_s: velocities_m_s[id],
            id: id as u32,
            spin_1_s: spins_1_s[id],
            residual_m: residuals_m[id],
        };
        device.upload(&particles.motion, &(0..n).map(motion).collect::<Vec<_>>())?;
        Ok(particles)
    }

    /// Records the packing of columns in the given order of ids, and of the index of each id.
    pub fn sort(
        &self,
        recorder: &mut Recorder,
        listing: &DeviceCount,
        order: &Buffer<u32>,
        place: &Buffer<u32>,
    ) {
        let bindings = reorder::Bindings {
            count: listing,
            order,
            position: &self.position,
            velocity: &self.velocity,
            spin: &self.spin,
            radius: &self.radius,
            place,
            sphere: &self.sphere,
            motion: &self.motion,
            residual_m: &self.residual,
        };
        recorder.dispatch_counted(&self.reorder, bindings, ());
    }
}
