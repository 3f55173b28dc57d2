//! Grains on the device: packed in the order of their cells, and columns in the order of their ids.

use super::grains::{Grains, MAX_GRAINS};
use crate::SolverError;
use crate::saved::check_lengths;
use frazil_kernels::Counts;
use frazil_particles::{ColumnKind, ColumnView};
use frazil_shaders::dem::reorder;
use frazil_shaders::types::{ContactLoad, GrainMotion};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Grains on the device. Steps update the packed form; columns are those of output, and those from which
/// contact lists are built.
pub struct Particles {
    /// Number of grains.
    pub count: DeviceCount,
    /// Position in m, by id like all columns.
    pub position: Buffer<[f32; 3]>,
    /// Velocity in m/s.
    pub velocity: Buffer<[f32; 3]>,
    /// Angular velocity in 1/s.
    pub spin: Buffer<[f32; 3]>,
    /// Radius in m.
    pub radius: Buffer<f32>,
    id: Buffer<u32>,
    /// Centre and radius of each grain in m, in cell order.
    pub sphere: Buffer<[f32; 4]>,
    /// Motion of each grain.
    pub motion: Buffer<GrainMotion>,
    /// Sum of each grain's contact forces.
    pub load: Buffer<ContactLoad>,
    reorder: Kernel<reorder::Interface>,
}

impl Particles {
    /// Makes columns, and uploads the initial state. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory; columns of different lengths.
    pub fn upload(device: &Device, grains: &Grains, workgroup_size: u32) -> Result<Self, SolverError> {
        let Grains { positions_m, velocities_m_s, spins_1_s, radii_m } = grains;
        let n = positions_m.len();
        let lengths =
            [("velocity", velocities_m_s.len()), ("spin", spins_1_s.len()), ("radius", radii_m.len())];
        check_lengths(n, lengths)?;
        if n > MAX_GRAINS {
            let problem = format!("has {n} grains, expected {MAX_GRAINS} at most");
            return Err(SolverError::State { column: "position".into(), problem });
        }
        let particles = Self {
            count: Counts::new(device)?.upload(device, "particle count", n as u32, n as u32)?,
            position: device.buffer("position", n)?,
            velocity: device.buffer("velocity", n)?,
            spin: device.buffer("spin", n)?,
            radius: device.buffer("radius", n)?,
            id: device.buffer("id", n)?,
            sphere: device.buffer("grain sphere", n)?,
            motion: device.buffer("grain motion", n)?,
            load: device.buffer("contact load", n)?,
            reorder: Kernel::specialized(device, &reorder::Specialization { workgroup_size })?,
        };
        device.upload(&particles.position, positions_m)?;
        device.upload(&particles.velocity, velocities_m_s)?;
        device.upload(&particles.spin, spins_1_s)?;
        device.upload(&particles.radius, radii_m)?;
        device.upload(&particles.id, &(0..n as u32).collect::<Vec<_>>())?;
        // Packed in the order of ids until the first sort: the state is mapped before it.
        let sphere = |(&[x, y, z], &r): (&[f32; 3], &f32)| [x, y, z, r];
        let spheres: Vec<[f32; 4]> = positions_m.iter().zip(radii_m).map(sphere).collect();
        device.upload(&particles.sphere, &spheres)?;
        let motions = velocities_m_s.iter().zip(spins_1_s).zip(0..);
        let motion = |((&velocity_m_s, &spin_1_s), id)| GrainMotion { velocity_m_s, id, spin_1_s };
        device.upload(&particles.motion, &motions.map(motion).collect::<Vec<_>>())?;
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
            count: &listing.count,
            order,
            position: &self.position,
            velocity: &self.velocity,
            spin: &self.spin,
            radius: &self.radius,
            place,
            sphere: &self.sphere,
            motion: &self.motion,
        };
        recorder.dispatch(&self.reorder, Threads::Counted(listing), bindings, ());
    }

    /// Returns the columns to show, record and export, but the number of contacts.
    pub fn columns(&self) -> Vec<ColumnView> {
        let of = ColumnView::new;
        vec![
            of("position", "m", ColumnKind::Vec3, self.position.cast()),
            of("velocity", "m/s", ColumnKind::Vec3, self.velocity.cast()),
            of("id", "1", ColumnKind::U32, self.id.clone()),
            of("radius", "m", ColumnKind::F32, self.radius.cast()),
            of("spin", "1/s", ColumnKind::Vec3, self.spin.cast()),
        ]
    }
}
