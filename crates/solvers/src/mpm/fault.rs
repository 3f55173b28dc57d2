//! The first fault of a run: detected on the device within the step, reported on the host.

use super::loads::Loads;
use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::SolverFault;
use crate::clock::{Clock, FaultRecord, PendingRecord};
use crate::fault::{free_fall_s, length, number, suggest_dt, vector};
use crate::sources::Sources;
use frazil_kernels::{BLOCK_SIDE, BlockCapacity, SparseBlocks};
use frazil_shaders::mpm::{begin_step, fault, report_fault};
use frazil_shaders::types::{Emission, MpmFault, MpmTerms};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};
use std::fmt;

const NONE: u32 = u32::MAX;

/// Travel in cells per step of the time step that is suggested for particles that are too fast.
const SUGGESTED_TRAVEL: f64 = 0.4;

/// Reason why a simulation cannot go on. The device keeps the state as left by the step that broke it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Step, counted from 1.
    pub step: u64,
    /// Pass that detected the fault.
    pub pass: &'static str,
    /// Kind of fault.
    pub found: FaultKind,
    /// Time step in s.
    pub dt_s: f32,
    /// Side of a cell in m.
    pub cell_m: f32,
    /// Longest step in s that resolves the fall of a particle.
    pub max_dt_s: f64,
}

/// Kind of fault, with the particle concerned.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// Particle with an invalid state.
    Particle {
        /// Description of the problem.
        what: &'static str,
        /// Id of the particle.
        id: u32,
        /// Cell, by its lowest node, at the beginning of the step.
        cell: [u32; 3],
        /// Position in m.
        position_m: [f32; 3],
        /// Velocity in m/s.
        velocity_m_s: [f32; 3],
        /// det F_E.
        determinant: f32,
    },
    /// Overflow of the blocks of nodes.
    GridFull {
        /// Capacity in blocks.
        capacity: BlockCapacity,
        /// Blocks found; of the active ones, those that the occupied blocks within the capacity reach.
        required: BlockCapacity,
    },
    /// Emitters add more particles than there is room for.
    ParticlesFull {
        /// Maximum number of particles.
        capacity: u32,
        /// Number of particles with those that appear before the step.
        required: u32,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SolverFault::from(self.clone()).fmt(f)
    }
}

impl From<Fault> for SolverFault {
    fn from(Fault { step, pass, found, dt_s, cell_m, max_dt_s }: Fault) -> Self {
        let (object, message) = match found {
            FaultKind::Particle { what, id, cell, position_m, velocity_m_s, determinant } => {
                let travel = length(velocity_m_s) * f64::from(dt_s) / f64::from(cell_m);
                // Another share than a half only follows from speed.
                let share = if travel > 1.0 { SUGGESTED_TRAVEL / travel } else { f64::NAN };
                let message = format!(
                    "particle {id}, in cell {cell:?}, {what} (position {} m, velocity {} m/s, det F_E {}, {} \
                     cells per step); {}",
                    vector(position_m),
                    vector(velocity_m_s),
                    number(determinant),
                    number(travel),
                    suggest_dt(f64::from(dt_s), share, max_dt_s)
                );
                (format!("particle {id}"), message)
            }
            FaultKind::GridFull { capacity, required } => (
                "blocks of nodes".to_owned(),
                format!(
                    "snow occupies {} blocks of nodes and reaches {} at least, capacity {} and {}",
                    required.occupied, required.active, capacity.occupied, capacity.active
                ),
            ),
            FaultKind::ParticlesFull { capacity, required } => (
                "particles".to_owned(),
                format!("emitters make {required} particles, more than the capacity of {capacity}"),
            ),
        };
        Self { step, pass, object, message }
    }
}

/// Fault record on the device, and the kernel that completes it at the end of a step.
pub struct FaultReport {
    record: FaultRecord<MpmFault>,
    begin_step: Kernel<begin_step::Interface>,
    report: Kernel<report_fault::Interface>,
}

/// A fault that is being read back.
#[derive(Debug)]
pub struct FaultCheck {
    record: PendingRecord<MpmFault>,
    required: Pending<u32>,
    emission: Option<Pending<Emission>>,
    n_max: u32,
    blocks: [u32; 3],
    dimensions: u32,
    capacity: BlockCapacity,
    dt_s: f32,
    cell_m: f32,
    max_dt_s: f64,
}

impl FaultReport {
    pub fn new(device: &Device, parameters: &MpmParameters) -> Result<Self> {
        let report = report_fault::Specialization { dimensions: parameters.dimensions, ..Default::default() };
        let none = MpmFault { place: NONE, kind: NONE, id: NONE, ..bytemuck::Zeroable::zeroed() };
        Ok(Self {
            record: FaultRecord::new(device, none)?,
            begin_step: Kernel::new(device)?,
            report: Kernel::specialized(device, &report)?,
        })
    }

    /// Forgets any fault. Set-up only: waits for the device.
    pub fn clear(&self, device: &Device) -> Result<()> {
        self.record.clear(device)
    }

    /// Returns true if the first fault is an overflow of blocks. It waits for the device.
    pub fn is_overflow(&self, device: &Device) -> Result<bool> {
        Ok(self.record.download(device)?.place == NONE)
    }

    /// Returns the record, as the pass that detects faults writes it.
    pub fn buffer(&self) -> &Buffer<MpmFault> {
        self.record.buffer()
    }

    /// Records the beginning of a step whose particles need these blocks: without space for all, it is held.
    /// Advances the clock if no earlier pass of the step has.
    pub fn begin_step(
        &self,
        recorder: &mut Recorder,
        clock: &mut Clock,
        blocks: &SparseBlocks,
        advances: bool,
    ) {
        let n_substeps = if advances { clock.note_advance() } else { 0 };
        let capacity = blocks.capacity();
        let bindings = begin_step::Bindings { clock: clock.buffer(), blocks_required: blocks.required() };
        let block_capacity = [capacity.occupied, capacity.active];
        let params = begin_step::Params { advances: advances.into(), n_substeps, block_capacity };
        recorder.dispatch(&self.begin_step, Threads::Fixed(1), bindings, params);
    }

    /// Records the description of the first fault, and the end of a step for the loads on bodies.
    pub fn report(
        &self,
        recorder: &mut Recorder,
        terms: &Buffer<MpmTerms>,
        clock: &Clock,
        particles: &Particles,
        key: &Buffer<u32>,
        loads: &Loads,
    ) {
        let bindings = report_fault::Bindings {
            terms,
            key,
            id: particles.phase.id.front(),
            position: particles.phase.position.front(),
            velocity: particles.phase.velocity.front(),
            elastic: particles.elastic.front(),
            fault: self.buffer(),
            clock: clock.buffer(),
            sums: &loads.sums,
            loads: &loads.record.loads,
        };
        let n_loads = loads.record.names().len();
        let params = report_fault::Params { n_loads: n_loads as u32 };
        recorder.dispatch(&self.report, Threads::Fixed(1 + n_loads), bindings, params);
    }

    /// Records the read-back of the fault record.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        clock: &Clock,
        blocks: &SparseBlocks,
        parameters: &MpmParameters,
        (sources, n_max): (Option<&Sources>, u32),
    ) -> Result<FaultCheck> {
        Ok(FaultCheck {
            emission: sources.map(|sources| sources.record_counts(recorder)).transpose()?,
            n_max,
            record: self.record.read(recorder, ring, clock)?,
            required: ring.read(recorder, blocks.required(), 2)?,
            dt_s: parameters.terms.dt_s,
            cell_m: parameters.terms.cell_m,
            max_dt_s: free_fall_s(
                SUGGESTED_TRAVEL as f32 * parameters.terms.cell_m,
                parameters.terms.gravity_m_s2,
            ),
            blocks: blocks.layout().lattice().blocks,
            dimensions: blocks.layout().dimensions(),
            capacity: blocks.capacity(),
        })
    }
}

impl FaultCheck {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.record.is_ready()
    }

    /// Waits for the result; returns the first fault, if there was one.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<Option<Fault>> {
        let Some((step, record)) = self.record.wait()? else { return Ok(None) };
        let emission = self.emission.map(Pending::wait).transpose()?;
        let n_required = emission.and_then(|counts| counts.first().map(|counts| counts.n_required));
        let particle = |what| FaultKind::Particle {
            what,
            id: record.id,
            cell: cell_of_key(record.key, self.dimensions, self.blocks),
            position_m: record.position_m,
            velocity_m_s: record.velocity_m_s,
            determinant: record.determinant,
        };
        let (pass, found) = match record.kind {
            fault::NODE_NOT_FINITE => ("UpdateNodes", particle("picked up a velocity that is not finite")),
            fault::STRAIN_NOT_FINITE => {
                ("UpdateParticles", particle("has a deformation gradient that is not finite"))
            }
            fault::INVERTED => ("UpdateParticles", particle("was turned inside out")),
            fault::TOO_FAST => ("UpdateParticles", particle("moved more than a cell in one step")),
            // fault::GRID_FULL
            _ if n_required.is_some_and(|n| n > 0) => {
                let required = n_required.unwrap_or_default();
                ("Emit", FaultKind::ParticlesFull { capacity: self.n_max, required })
            }
            _ => {
                let required = self.required.wait()?;
                let required = BlockCapacity { occupied: required[0], active: required[1] };
                ("SortByCell", FaultKind::GridFull { capacity: self.capacity, required })
            }
        };
        let Self { dt_s, cell_m, max_dt_s, .. } = self;
        Ok(Some(Fault { step, pass, found, dt_s, cell_m, max_dt_s }))
    }
}

/// Returns the lowest node that a particle of this key reaches.
fn cell_of_key(key: u32, dimensions: u32, blocks: [u32; 3]) -> [u32; 3] {
    let nodes = 1 << (2 * dimensions);
    let (block, node) = (key / nodes, key % nodes);
    let rows = block / blocks[0];
    let place = [block % blocks[0], rows % blocks[1], rows / blocks[1]];
    let within = [node % BLOCK_SIDE, node / BLOCK_SIDE % BLOCK_SIDE, node / (BLOCK_SIDE * BLOCK_SIDE)];
    std::array::from_fn(|axis| BLOCK_SIDE * place[axis] + within[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_cell() {
        assert_eq!(cell_of_key(0, 3, [2, 3, 4]), [0, 0, 0]);
        // Block (1, 2, 3) of 2 × 3 × 4, node (3, 2, 1) of it.
        let block = (3 * 3 + 2) * 2 + 1;
        assert_eq!(cell_of_key(block * 64 + 16 + 8 + 3, 3, [2, 3, 4]), [7, 10, 13]);
        assert_eq!(cell_of_key(5 * 16 + 4 * 2 + 1, 2, [2, 3, 1]), [5, 10, 0]);
    }
}
