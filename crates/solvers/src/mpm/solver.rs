//! Snow on the device: the stages of a step, and the state between steps.

mod interface;

use super::capacity::CapacityControl;
use super::fault::{FaultCheck, FaultReport};
use super::implicit::{Bodies, ImplicitSolve};
use super::loads::Loads;
use super::metrics::{MpmMeasurePass, PendingMpmMetrics};
use super::nodes::{Constants, Nodes, Outcome, Transfer};
use super::parameters::MpmParameters;
use super::particles::{InitialState, Particles};
use super::sort::KeySort;
use crate::bodies::Shared;
use crate::clock::{Clock, StepPlace};
use crate::grab::GrabPass;
use crate::sources::{Removal, Sources, WhenFull};
use crate::{BodyLoads, Saved, Solver, SolverError, StateColumn, Tuning};
use frazil_kernels::{BlockCapacity, SparseBlocks};
use frazil_particles::ColumnKind;
use frazil_scene::InitialVolume;
use frazil_shaders::mpm::{
    apply_contact, collide_particles, compute_stress, estimate_volume, measure_density, update_particles,
};
use frazil_shaders::types::MpmSolve;
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, Kernel, ReadbackRing, Recorder};

/// A stage of a step; [`Mpm::stages`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Removes the particles in drains.
    Drain,
    /// Adds the particles of emitters that appear before the step.
    Emit,
    /// Computes the key of each particle.
    FindCells,
    /// Sorts the particles by key, and finds the blocks of nodes that they occupy and reach.
    SortByCell,
    /// Permutes the columns, once per step, but for stress and affine velocity, which the step overwrites.
    Reorder,
    /// Steps 1 and 3: mass, momentum and force of nodes, summed for each block of particles.
    Rasterize,
    /// The sums of blocks at nodes, and steps 4 and 5: forces and collisions of nodes.
    UpdateNodes,
    /// Step 6: the semi-implicit solve.
    SolveImplicit,
    /// Gives nodes in the pipes of emitters the velocity of the flow.
    HoldNodes,
    /// Steps 7 to 10: strain, velocity, collisions and position of particles.
    UpdateParticles,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Name in checkpoints of the largest mass that a particle has had, from which fixed-point quanta follow: the
/// heaviest particle may have left through a drain.
const HEAVIEST: &str = "heaviest_mass";

/// Material point method on the device.
pub struct Mpm {
    device: Device,
    parameters: MpmParameters,
    constants: Constants,
    particles: Particles,
    key: Buffer<u32>,
    order: Buffer<u32>,
    sort: KeySort,
    blocks: SparseBlocks,
    capacity_control: CapacityControl,
    sources: Option<Sources>,
    removal: Option<Removal>,
    nodes: Nodes,
    transfer: Transfer,
    implicit: Option<ImplicitSolve>,
    loads: Loads,
    clock: Clock,
    fault: FaultReport,
    kernels: Kernels,
    metrics_pass: MpmMeasurePass,
    grab: GrabPass,
    ring: ReadbackRing,
    tuning: Tuning,
}

struct Kernels {
    update_particles: Kernel<update_particles::Interface>,
    /// Present if there are bodies or particles move by the velocity of the grid; else update_particles moves
    /// them.
    collide_particles: Option<Kernel<collide_particles::Interface>>,
    apply_contact: Option<Kernel<apply_contact::Interface>>,
    estimate_volume: Kernel<estimate_volume::Interface>,
    compute_stress: Kernel<compute_stress::Interface>,
    measure_density: Kernel<measure_density::Interface>,
}

impl Kernels {
    fn new(device: &Device, parameters: &MpmParameters, workgroup_size: u32) -> frazil_vk::Result<Self> {
        let (dimensions, stencil) = (parameters.dimensions, parameters.stencil);
        let (as_printed, transfer) = (parameters.as_printed(), parameters.transfer_number());
        let moves_apart = parameters.moves_apart();
        let moves_with_grid = parameters.moves_with_grid().into();
        Ok(Self {
            update_particles: Kernel::specialized(
                device,
                &update_particles::Specialization {
                    workgroup_size,
                    dimensions,
                    stencil,
                    as_printed,
                    transfer,
                    has_flip: parameters.has_flip.into(),
                    // A GPU would lose a third of its subgroups to registers, see docs/kernels.
                    unrolls_rows: device.is_software().into(),
                    moves: (!moves_apart).into(),
                    has_contact_forces: parameters.has_contact_forces().into(),
                },
            )?,
            collide_particles: moves_apart
                .then(|| {
                    Kernel::specialized(
                        device,
                        &collide_particles::Specialization {
                            workgroup_size,
                            dimensions,
                            body_kinds: parameters.surroundings.kinds(),
                            has_named_bodies: parameters.measures_loads().into(),
                            has_contact_forces: parameters.has_contact_forces().into(),
                            moves_with_grid,
                        },
                    )
                })
                .transpose()?,
            apply_contact: if parameters.has_contact_forces() {
                Some(Kernel::specialized(
                    device,
                    &apply_contact::Specialization {
                        workgroup_size,
                        dimensions,
                        stencil,
                        has_bodies: parameters.has_bodies(),
                        body_kinds: parameters.surroundings.kinds(),
                        has_named_bodies: parameters.measures_loads().into(),
                        moves_with_grid,
                    },
                )?)
            } else {
                None
            },
            estimate_volume: Kernel::specialized(
                device,
                &estimate_volume::Specialization { workgroup_size, dimensions, stencil, as_printed },
            )?,
            compute_stress: Kernel::specialized(
                device,
                &compute_stress::Specialization { workgroup_size, dimensions },
            )?,
            measure_density: Kernel::specialized(
                device,
                &measure_density::Specialization { workgroup_size, dimensions },
            )?,
        })
    }
}

/// Uploads the parameters and the bodies.
fn upload_constants(device: &Device, parameters: &MpmParameters) -> frazil_vk::Result<Constants> {
    let (bodies, body_data) = parameters.surroundings.upload(device)?;
    Ok(Constants { terms: device.buffer_from("terms", &[parameters.terms])?, bodies, body_data })
}

impl Mpm {
    /// Makes the initial state of snow, without strain. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, a buffer larger than the device can bind, or a feature that the device lacks.
    pub fn new(
        device: &Device,
        parameters: MpmParameters,
        initial_state: &InitialState,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let capacity = initial_state.positions_m.len() as u32;
        Self::with_capacity(device, parameters, initial_state, (tuning, capacity))
    }

    /// Like [`Self::new`], with room for `capacity` particles.
    pub(super) fn with_capacity(
        device: &Device,
        parameters: MpmParameters,
        initial_state: &InitialState,
        (tuning, capacity): (Tuning, u32),
    ) -> Result<Self, SolverError> {
        let mut mpm = Self::with_columns(device, parameters, initial_state, (tuning, capacity))?;
        let mut recorder = device.recorder()?;
        for stage in [Stage::FindCells, Stage::SortByCell, Stage::Reorder, Stage::Rasterize] {
            mpm.record_stage(&mut recorder, stage)?;
        }
        if mpm.parameters.initial_volume == InitialVolume::Grid {
            mpm.record_node_sums(&mut recorder);
            mpm.estimate_volume(&mut recorder);
        }
        mpm.particles.permute_overwritten(&mut recorder, &mpm.order);
        mpm.compute_stress(&mut recorder);
        mpm.loads.record.record_start(&mut recorder, mpm.shared());
        device.submit(recorder)?.wait()?;
        Ok(mpm)
    }

    fn with_columns(
        device: &Device,
        mut parameters: MpmParameters,
        initial_state: &InitialState,
        (tuning, n_max): (Tuning, u32),
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let (n_start, n) = (initial_state.positions_m.len() as u32, n_max as usize);
        let heaviest_kg = parameters.heaviest_kg.max(parameters.emitted[0]);
        parameters.heaviest_kg = initial_state.masses_kg.iter().copied().fold(heaviest_kg, f32::max);
        parameters.set_quanta(parameters.heaviest_kg);
        let capacity = CapacityControl::for_particles(&parameters.layout, &initial_state.positions_m);
        let (sort, blocks) = KeySort::new(device, parameters.layout, n_max, capacity, tuning)?;
        let loads = Loads::new(device, &parameters)?;
        let mut particles = Particles::upload(device, &parameters, initial_state, workgroup_size, n_max)?;
        let filled = particles.filled(&parameters);
        let start = (n_start, &mut particles.table);
        let sources = Sources::new(device, workgroup_size, &parameters.sources, start, &filled, false)?;
        loads.record.register(&mut particles.table);
        let has_drains = parameters.sources.has_drains();
        if has_drains {
            let heaviest = device.buffer_from("mass of the heaviest particle", &[parameters.heaviest_kg])?;
            let words = DoubleBuffer::single(heaviest.cast());
            particles.table.array(HEAVIEST, "kg", ColumnKind::F32, words);
        }
        Ok(Self {
            removal: match has_drains {
                true => Some(Removal::new(device, workgroup_size, &particles.table)?),
                false => None,
            },
            sources,
            constants: upload_constants(device, &parameters)?,
            grab: GrabPass::new(device, workgroup_size)?,
            particles,
            key: device.buffer("key", n)?,
            order: device.buffer("order", n)?,
            sort,
            blocks,
            capacity_control: CapacityControl::default(),
            nodes: Nodes::new(device, &parameters, capacity)?,
            transfer: Transfer::new(device, &parameters, tuning)?,
            implicit: ImplicitSolve::new(device, &parameters, n, capacity.active, workgroup_size)?,
            loads,
            clock: Clock::new(device, parameters.division, 0)?,
            fault: FaultReport::new(device, &parameters)?,
            kernels: Kernels::new(device, &parameters, workgroup_size)?,
            metrics_pass: MpmMeasurePass::new(device, &parameters, n_max)?,
            ring: ReadbackRing::new(device),
            device: device.clone(),
            parameters,
            tuning,
        })
    }

    /// Returns the stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        use Stage::*;
        let solve = self.implicit.is_some().then_some(SolveImplicit);
        let drain = self.removal.is_some().then_some(Drain);
        let emit = self.parameters.sources.has_emitters().then_some(Emit);
        let hold = emit.map(|_| HoldNodes);
        drain
            .into_iter()
            .chain(emit)
            .chain([FindCells, SortByCell, Reorder, Rasterize, UpdateNodes])
            .chain(solve)
            .chain(hold)
            .chain([UpdateParticles])
    }

    fn try_record_step(&mut self, recorder: &mut Recorder) -> Result<(), SolverError> {
        if let Some(capacity) = self.capacity_control.next_capacity(&self.blocks)? {
            self.resize(capacity)?;
        }
        for stage in self.stages() {
            self.record_stage(recorder, stage)?;
        }
        self.capacity_control.record(recorder, &self.ring, &self.blocks)?;
        Ok(())
    }

    fn resize(&mut self, capacity: BlockCapacity) -> Result<(), SolverError> {
        let nodes = Nodes::new(&self.device, &self.parameters, capacity)?;
        self.blocks.resize(&self.device, capacity)?;
        self.nodes = nodes;
        if let Some(implicit) = &mut self.implicit {
            implicit.resize(&self.device, capacity.active)?;
        }
        Ok(())
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    ///
    /// # Errors
    /// A primitive returns an error; out of memory.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        let count = &self.particles.phase.count;
        match stage {
            Stage::Drain => {
                self.clock.record_advance(recorder);
                if let (Some(sources), Some(removal)) = (&self.sources, &self.removal) {
                    removal.record(recorder, sources, &self.particles.phase, self.clock.buffer())?;
                }
            }
            Stage::Emit => {
                if self.removal.is_none() {
                    self.clock.record_advance(recorder);
                }
                if let Some(sources) = &self.sources {
                    let Particles { phase, residual, .. } = &self.particles;
                    sources.record_emit(recorder, phase, residual, self.clock.buffer(), WhenFull::Hold);
                }
            }
            Stage::FindCells => {
                let position = self.particles.phase.position.front();
                let hold = self.clock.hold();
                self.blocks.record_keys(recorder, count, position, &self.key, Some(&hold));
            }
            Stage::SortByCell => {
                self.sort.record(recorder, count, &self.blocks, &self.key, &self.order)?;
            }
            Stage::Reorder => self.particles.permute(recorder, &self.order),
            Stage::Rasterize => {
                self.transfer.rasterize(
                    recorder,
                    &self.constants,
                    &self.particles,
                    &self.order,
                    &self.blocks,
                    &self.nodes,
                );
            }
            Stage::UpdateNodes => {
                let advances = self.sources.is_none();
                self.fault.begin_step(recorder, &mut self.clock, &self.blocks, advances);
                self.loads.record.record_places(recorder, self.shared(), true);
                let outcome = Outcome { sums: &self.loads.sums, clock: self.clock.buffer() };
                self.transfer.update(recorder, &self.constants, &self.blocks, &self.nodes, outcome);
            }
            Stage::SolveImplicit => {
                if let Some(implicit) = &self.implicit {
                    let bodies = Bodies {
                        constants: &self.constants,
                        particles: &self.particles,
                        blocks: &self.blocks,
                        nodes: &self.nodes,
                    };
                    implicit.record(recorder, bodies, self.clock.buffer())?;
                }
            }
            Stage::HoldNodes => {
                if let Some(emitters) = self.sources.as_ref().and_then(Sources::emitters) {
                    self.transfer.hold(recorder, &self.constants, &self.blocks, &self.nodes, emitters);
                }
            }
            Stage::UpdateParticles => self.update_particles(recorder),
        }
        Ok(())
    }

    fn update_particles(&mut self, recorder: &mut Recorder) {
        let (p, particles, blocks) = (&self.parameters, &self.particles, &self.blocks);
        let bindings = update_particles::Bindings {
            count: particles.count(),
            terms: &self.constants.terms,
            block_of: blocks.block_of(),
            target: &blocks.target().cast(),
            node_velocity: &self.nodes.velocity,
            node_change: &self.nodes.change,
            volume: particles.volume.front(),
            carried: if p.moves_apart() {
                particles.surface_force.front()
            } else {
                particles.residual.front()
            },
            position: particles.phase.position.front(),
            velocity: particles.phase.velocity.front(),
            elastic: particles.elastic.front(),
            plastic_volume: particles.plastic_volume.front(),
            stress: particles.stress.front(),
            affine: particles.affine.front(),
            fault: self.fault.buffer(),
            clock: self.clock.buffer(),
        };
        let affine = if p.has_affine() { p.matrix_words() } else { 0 };
        let moved = match (p.moves_apart(), p.moves_with_grid()) {
            (false, _) => 9,
            (true, moves_with_grid) => 3 * u32::from(moves_with_grid),
        };
        let own = 4 * u64::from(9 + moved + 2 * p.matrix_words() + 3 + p.symmetric_words() + affine + 1);
        let node_bytes = if p.has_flip { 24 } else { 12 };
        let n_nodes = u64::from(blocks.active_count().expected() * p.layout.block_nodes());
        recorder.declare_bytes(own * u64::from(particles.count().expected()) + node_bytes * n_nodes);
        recorder.dispatch_counted(&self.kernels.update_particles, bindings, ());
        if let Some(collide_particles) = &self.kernels.collide_particles {
            let bindings = collide_particles::Bindings {
                count: particles.count(),
                terms: &self.constants.terms,
                bodies: &self.constants.bodies,
                body_data: &self.constants.body_data,
                residual: particles.residual.front(),
                position: particles.phase.position.front(),
                velocity: particles.phase.velocity.front(),
                fault: self.fault.buffer(),
                clock: self.clock.buffer(),
                mass: particles.mass.front(),
                sums: &self.loads.sums,
                grid_velocity: particles.surface_force.front(),
            };
            recorder.dispatch_counted(collide_particles, bindings, ());
        }
        if let Some(apply_contact) = &self.kernels.apply_contact {
            let bindings = apply_contact::Bindings {
                count: particles.count(),
                terms: &self.constants.terms,
                bodies: &self.constants.bodies,
                body_data: &self.constants.body_data,
                residual: particles.residual.front(),
                mass: particles.mass.front(),
                volume: particles.volume.front(),
                clock: self.clock.buffer(),
                position: particles.phase.position.front(),
                velocity: particles.phase.velocity.front(),
                affine: particles.affine.front(),
                contact: &particles.contact.front().cast(),
                sums: &self.loads.sums,
                carried: particles.surface_force.front(),
                surface_turn: particles.surface_turn.front(),
            };
            recorder.dispatch_counted(apply_contact, bindings, ());
        }
        if self.loads.measured().is_some() {
            self.report_fault(recorder);
        }
        self.loads.record.record_motion(recorder, self.shared());
    }

    /// Returns what dynamic bodies share with the solver.
    fn shared(&self) -> Shared<'_> {
        let Constants { bodies, body_data, .. } = &self.constants;
        Shared { clock: self.clock.buffer(), bodies, body_data }
    }

    /// Records the description of the first fault, if there was one, and the end of a step for loads on
    /// bodies.
    fn report_fault(&self, recorder: &mut Recorder) {
        let terms = &self.constants.terms;
        self.fault.report(recorder, terms, &self.clock, &self.particles, &self.key, &self.loads);
    }

    /// Records step 2, which is computed once.
    fn estimate_volume(&self, recorder: &mut Recorder) {
        let (particles, blocks) = (&self.particles, &self.blocks);
        let bindings = estimate_volume::Bindings {
            count: particles.count(),
            terms: &self.constants.terms,
            block_of: blocks.block_of(),
            target: blocks.target(),
            momentum: &self.nodes.momentum,
            position: particles.phase.position.front(),
            mass: particles.mass.front(),
            volume: particles.volume.front(),
        };
        recorder.dispatch_counted(&self.kernels.estimate_volume, bindings, ());
    }

    fn compute_stress(&self, recorder: &mut Recorder) {
        let particles = &self.particles;
        let bindings = compute_stress::Bindings {
            count: particles.count(),
            terms: &self.constants.terms,
            volume: particles.volume.front(),
            elastic: particles.elastic.front(),
            plastic_volume: particles.plastic_volume.front(),
            stress: particles.stress.front(),
        };
        recorder.dispatch_counted(&self.kernels.compute_stress, bindings, ());
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &MpmParameters {
        &self.parameters
    }

    /// Returns the positions in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        self.particles.phase.position.front()
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        self.particles.count()
    }

    /// Returns the blocks of nodes of the last step.
    pub fn blocks(&self) -> &SparseBlocks {
        &self.blocks
    }

    /// Returns the index of each particle before the last reordering: the order of stresses and affine
    /// velocities between [`Stage::Reorder`] and [`Stage::UpdateParticles`].
    pub fn order(&self) -> &Buffer<u32> {
        &self.order
    }

    /// Records the sums at nodes after [`Stage::Rasterize`], which [`Stage::UpdateNodes`] otherwise computes.
    pub fn record_node_sums(&self, recorder: &mut Recorder) {
        self.transfer.add_tiles(recorder, &self.blocks, &self.nodes);
    }

    /// Returns the momentum in kg m/s and mass in kg of the nodes of the last step.
    pub fn node_momentum(&self) -> &Buffer<[f32; 4]> {
        &self.nodes.momentum
    }

    /// Returns the force of stresses on the nodes of the last step, in N.
    pub fn node_force(&self) -> &Buffer<[f32; 3]> {
        &self.nodes.force
    }

    /// Returns the velocity of the nodes at the end of the last step, in m/s.
    pub fn node_velocity(&self) -> &Buffer<[f32; 3]> {
        &self.nodes.velocity
    }

    /// Returns the change of that velocity in the step in m/s with a share of FLIP, else one unused element.
    pub fn node_change(&self) -> &Buffer<[f32; 3]> {
        &self.nodes.change
    }

    /// Returns the scalars of the last semi-implicit solve, if there is one.
    pub fn solve_scalars(&self) -> Option<&Buffer<MpmSolve>> {
        self.implicit.as_ref().map(ImplicitSolve::scalars)
    }

    /// Returns the number of steps recorded so far.
    pub fn step(&self) -> u64 {
        self.place().step
    }

    /// Returns the place of what has been recorded.
    pub fn place(&self) -> StepPlace {
        self.clock.recorded()
    }

    /// Records a measurement of the state, including densities; the result arrives after the submission has
    /// completed.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingMpmMetrics> {
        self.record_output(recorder);
        self.metrics_pass.record(
            recorder,
            &self.ring,
            &self.parameters,
            &self.constants,
            &self.particles,
            &self.blocks,
        )
    }

    /// Returns the emitters and drains, if the scene has any.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.as_ref()
    }

    /// Returns the loads on bodies, if the scene names any and the step is explicit.
    pub fn body_loads(&self) -> Option<&BodyLoads> {
        self.loads.measured()
    }

    /// Records the read-back of the first fault of the previous steps, if there was one.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> frazil_vk::Result<FaultCheck> {
        // With loads, each step ends with a report.
        if self.loads.measured().is_none() {
            self.report_fault(recorder);
        }
        let emitted = (self.sources.as_ref(), self.count().capacity);
        self.fault.check(recorder, &self.ring, &self.clock, &self.blocks, &self.parameters, emitted)
    }

    /// Restores snow as it was before step `step` + 1, bit for bit. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Like [`Self::new`]; also a column that is missing or has another length.
    pub fn restore(
        device: &Device,
        parameters: MpmParameters,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let n = Saved::new(state)?.ids.len() as u32;
        Self::restore_with(device, parameters, state, step, (tuning, n))
    }

    /// Like [`Self::restore`], with room for `capacity` particles.
    pub(super) fn restore_with(
        device: &Device,
        mut parameters: MpmParameters,
        state: &[StateColumn],
        step: u64,
        (tuning, capacity): (Tuning, u32),
    ) -> Result<Self, SolverError> {
        let saved = Saved::new(state)?;
        let n = saved.ids.len();
        if parameters.sources.has_drains() {
            parameters.heaviest_kg = f32::from_bits(saved.whole(HEAVIEST, 1)?[0]);
        }
        // Capacities follow from the positions, and quanta from the masses.
        let initial_state = InitialState {
            positions_m: saved.vectors("position")?,
            masses_kg: saved.numbers("mass")?,
            velocities_m_s: vec![[0.0; 3]; n],
            volumes_m3: vec![0.0; n],
            ..InitialState::default()
        };
        let mut mpm = Self::with_columns(device, parameters, &initial_state, (tuning, capacity))?;
        mpm.particles.table.restore(&saved)?;
        mpm.clock.start(device, StepPlace::after(step))?;
        Ok(mpm)
    }
}
