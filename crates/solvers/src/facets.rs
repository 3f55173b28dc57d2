//! Optional parts of a solver: traits that [`Solver`](crate::Solver) returns if they apply.

use crate::pending::PendingResult;
use crate::{Pair, SolverError};
use frazil_particles::{ColumnKind, ColumnView};
use frazil_vk::{Buffer, Device, Recorder};

/// Pairs of particles, such as bonds and contacts.
pub trait PairInspection {
    /// Returns the pairs that the particle with this id is part of, as of the last
    /// [`Solver::record_output`](crate::Solver::record_output); none if no particle has this id. It waits for
    /// the device.
    ///
    /// # Errors
    /// The device was lost.
    fn pairs_of(&self, device: &Device, id: u32) -> Result<Vec<Pair>, SolverError>;
}

/// Rigid bodies that move by the solver's steps.
pub trait RigidBodies {
    /// Returns the poses for pictures, as of the last [`Self::record_poses`].
    fn poses(&self) -> BodyPoses;

    /// Records the update of [`Self::poses`] to the state at this point of the recorder.
    fn record_poses(&self, recorder: &mut Recorder);

    /// Returns the recorded columns, one element per body, as of the last
    /// [`Solver::record_output`](crate::Solver::record_output).
    fn body_columns(&self) -> Vec<ColumnView>;
}

/// A grid of which only blocks near particles are stored.
pub trait SparseGrid {
    /// Returns the blocks of nodes that the last step used.
    fn active_blocks(&self) -> ActiveBlocks;
}

/// A map of what a flow left on the scene's terrain.
pub trait FlowMapping {
    /// Records the read-back of what all steps and the present state left on the map.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_flow(&self, recorder: &mut Recorder) -> Result<PendingFlow, SolverError>;
}

/// Poses of rigid bodies on the device.
#[derive(Clone, Debug)]
pub struct BodyPoses {
    /// Centres of mass in m.
    pub centre_m: Buffer<[f32; 3]>,
    /// Rotations since the initial state, unit quaternions (x, y, z, w).
    pub rotation: Buffer<[f32; 4]>,
}

/// Returns the recorded columns of rigid bodies, those of each solver alike: centres of mass in m, rotation
/// vectors since the initial state in rad, and velocities in m/s.
pub(crate) fn body_columns(
    centre_m: &Buffer<[f32; 3]>,
    turn: &Buffer<[f32; 3]>,
    velocity_m_s: &Buffer<[f32; 3]>,
) -> Vec<ColumnView> {
    [("centre", "m", centre_m), ("turn", "rad", turn), ("velocity", "m/s", velocity_m_s)]
        .map(|(name, unit, words)| ColumnView::new(name, unit, ColumnKind::Vec3, words.cast()))
        .to_vec()
}

/// Blocks of nodes of a sparse grid, on the device.
#[derive(Clone, Debug)]
pub struct ActiveBlocks {
    /// Number of active blocks, one element.
    pub count: Buffer<u32>,
    /// Numbers of the active blocks in the lattice, x fastest.
    pub numbers: Buffer<u32>,
    /// Number of blocks of the lattice along each axis.
    pub lattice_blocks: [u32; 3],
    /// First node of the lattice, in m.
    pub origin_m: [f32; 3],
    /// Extent of a block along each axis in m; 0 along axes without nodes.
    pub block_m: [f32; 3],
}

impl ActiveBlocks {
    /// Downloads the lower corner of each active block, in m. It waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn corners_m(&self, device: &Device) -> Result<Vec<[f32; 3]>, SolverError> {
        let n = device.download(&self.count, 1)?[0] as usize;
        let numbers = device.download(&self.numbers, n.min(self.numbers.len()))?;
        let [nx, ny, _] = self.lattice_blocks;
        let corner = |number: u32| {
            let at = [number % nx, number / nx % ny, number / nx / ny];
            std::array::from_fn(|axis| self.origin_m[axis] + at[axis] as f32 * self.block_m[axis])
        };
        Ok(numbers.into_iter().map(corner).collect())
    }
}

/// Flow over each cell of a terrain's grid, rows from the south and each from the west.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowCells {
    /// Volume of particles in m³ over the cell now.
    pub volume_m3: Vec<f32>,
    /// Maximum of that volume after any step.
    pub peak_volume_m3: Vec<f32>,
    /// Maximum after any step of the mean speed of particles over the cell, weighted by volume, in m/s.
    pub peak_speed_m_s: Vec<f32>,
    /// First step after which a particle was over the cell, 0 for the initial state, or [`Self::NEVER`].
    pub first_step: Vec<u32>,
}

impl FlowCells {
    /// First step of a cell over which no particle has been.
    pub const NEVER: u32 = u32::MAX;
}

/// Map of a flow that is being read back, without waiting.
pub type PendingFlow = Box<dyn PendingResult<FlowCells>>;
