//! The semi-implicit step: (I + β Δt² M⁻¹ ∂²Φ) v = v* (Breekveldt2017 eq 3.25) by conjugate residuals,
//! without a matrix.

use super::nodes::{Constants, Nodes};
use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::SolverError;
use frazil_kernels::{Operation, ReductionF32, SparseBlocks};
use frazil_shaders::mpm::{
    advance_direction, advance_velocity, apply_stiffness, begin_solve, collide_nodes, differentiate_stress,
    dot_nodes, find_contacts, settle_solve,
};
use frazil_shaders::types::{MpmSolve, StepClock};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

/// Vectors, scalars and kernels of the solve.
///
/// Symbols: B = I + β Δt² M⁻¹ ∂²Φ; z residual, p direction, q = B p, w = B z. All are restricted to the
/// degrees of freedom that contacts leave: a node that collided in step 5 keeps its velocity along the
/// normal.
pub struct ImplicitSolve {
    max_iterations: u32,
    tolerance: f32,
    kernels: Kernels,
    vectors: Vectors,
    tangent: Buffer<f32>,
    solve: Buffer<MpmSolve>,
    block_nodes: u32,
}

struct Kernels {
    differentiate: Kernel<differentiate_stress::Interface>,
    apply: Kernel<apply_stiffness::Interface>,
    dot: Kernel<dot_nodes::Interface>,
    begin: Kernel<begin_solve::Interface>,
    direction: Kernel<advance_direction::Interface>,
    velocity: Kernel<advance_velocity::Interface>,
    settle: Kernel<settle_solve::Interface>,
    collide: Kernel<collide_nodes::Interface>,
    find_contacts: Kernel<find_contacts::Interface>,
}

impl Kernels {
    fn new(device: &Device, parameters: &MpmParameters, workgroup_size: u32) -> frazil_vk::Result<Self> {
        let (dimensions, stencil, as_printed) =
            (parameters.dimensions, parameters.stencil, parameters.as_printed());
        let block_nodes = parameters.layout.block_nodes();
        let threads_per_item = block_nodes;
        Ok(Self {
            differentiate: Kernel::specialized(
                device,
                &differentiate_stress::Specialization { workgroup_size, dimensions, stencil, as_printed },
            )?,
            apply: Kernel::specialized(
                device,
                &apply_stiffness::Specialization {
                    workgroup_size,
                    threads_per_item,
                    dimensions,
                    stencil,
                    as_printed,
                },
            )?,
            dot: Kernel::specialized(device, &dot_nodes::Specialization { workgroup_size, block_nodes })?,
            begin: Kernel::specialized(
                device,
                &begin_solve::Specialization { workgroup_size, threads_per_item },
            )?,
            direction: Kernel::specialized(
                device,
                &advance_direction::Specialization { workgroup_size, threads_per_item },
            )?,
            velocity: Kernel::specialized(
                device,
                &advance_velocity::Specialization { workgroup_size, threads_per_item },
            )?,
            settle: Kernel::new(device)?,
            collide: Kernel::specialized(
                device,
                &collide_nodes::Specialization {
                    workgroup_size,
                    threads_per_item,
                    dimensions,
                    has_flip: parameters.has_flip.into(),
                    has_bodies: parameters.has_bodies(),
                    body_kinds: parameters.surroundings.kinds(),
                },
            )?,
            find_contacts: Kernel::specialized(
                device,
                &find_contacts::Specialization {
                    workgroup_size,
                    threads_per_item,
                    dimensions,
                    body_kinds: parameters.surroundings.kinds(),
                },
            )?,
        })
    }
}

/// Vectors with an element per node or active block.
struct Vectors {
    z: Buffer<[f32; 3]>,
    p: Buffer<[f32; 3]>,
    q: Buffer<[f32; 3]>,
    w: Buffer<[f32; 3]>,
    held: Buffer<[f32; 3]>,
    sums: [Buffer<f32>; 2],
    reductions: [ReductionF32; 2],
}

impl Vectors {
    fn new(device: &Device, n_blocks: u32, block_nodes: u32) -> Result<Self, SolverError> {
        let n = n_blocks as usize * block_nodes as usize;
        let reduction = || ReductionF32::new(device, Operation::Sum, n_blocks);
        Ok(Self {
            z: device.buffer("residual", n)?,
            p: device.buffer("direction", n)?,
            q: device.buffer("applied direction", n)?,
            w: device.buffer("applied residual", n)?,
            held: device.buffer("held", n)?,
            sums: [
                device.buffer("first sums", n_blocks as usize)?,
                device.buffer("second sums", n_blocks as usize)?,
            ],
            reductions: [reduction()?, reduction()?],
        })
    }
}

/// Inputs of the passes of a step.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    pub constants: &'a Constants,
    pub particles: &'a Particles,
    pub blocks: &'a SparseBlocks,
    pub nodes: &'a Nodes,
}

impl ImplicitSolve {
    /// Makes the solve, for a scene with a semi-implicit step.
    ///
    /// # Errors
    /// Out of memory; a group size that exceeds the device's limits.
    pub fn new(
        device: &Device,
        parameters: &MpmParameters,
        n_particles: usize,
        n_blocks: u32,
        workgroup_size: u32,
    ) -> Result<Option<Self>, SolverError> {
        let Some(implicit) = parameters.implicit else { return Ok(None) };
        let block_nodes = parameters.layout.block_nodes();
        Ok(Some(Self {
            max_iterations: implicit.max_iterations,
            tolerance: implicit.tolerance as f32,
            kernels: Kernels::new(device, parameters, workgroup_size)?,
            vectors: Vectors::new(device, n_blocks, block_nodes)?,
            tangent: device.buffer("tangent", n_particles.max(1) * parameters.matrix_words() as usize)?,
            solve: device.buffer("solve", 1)?,
            block_nodes,
        }))
    }

    /// Adopts other motions of the same bodies.
    ///
    /// # Errors
    /// A driver rejects a kernel.
    pub fn adopt(
        &mut self,
        device: &Device,
        parameters: &MpmParameters,
        workgroup_size: u32,
    ) -> frazil_vk::Result<()> {
        self.kernels = Kernels::new(device, parameters, workgroup_size)?;
        Ok(())
    }

    /// Reallocates the vectors for the nodes of `n_blocks` blocks.
    ///
    /// # Errors
    /// Out of memory.
    pub fn resize(&mut self, device: &Device, n_blocks: u32) -> Result<(), SolverError> {
        self.vectors = Vectors::new(device, n_blocks, self.block_nodes)?;
        Ok(())
    }

    /// Returns the scalars of the last solve.
    pub fn scalars(&self) -> &Buffer<MpmSolve> {
        &self.solve
    }

    /// Records the solve, starting from the nodes' velocities, and the collisions of nodes.
    ///
    /// # Errors
    /// More blocks than the vectors have capacity for.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        at: Bodies<'_>,
        clock: &Buffer<StepClock>,
    ) -> Result<(), SolverError> {
        let Vectors { z, q, w, .. } = &self.vectors;
        let v = &at.nodes.velocity;
        recorder.fill(&self.solve, 0);
        self.find_contacts(recorder, at, clock);
        self.dot(recorder, at, 0, v, v)?;
        self.settle(recorder, settle_solve::START);
        self.apply(recorder, at, v, w);
        self.begin(recorder, at);
        self.apply(recorder, at, z, w);
        self.dot(recorder, at, 0, z, w)?;
        self.dot(recorder, at, 1, z, z)?;
        self.settle(recorder, settle_solve::FIRST);
        for _ in 0..self.max_iterations {
            self.advance_direction(recorder, at);
            self.dot(recorder, at, 0, q, q)?;
            self.settle(recorder, settle_solve::STEP);
            self.advance_velocity(recorder, at);
            self.apply(recorder, at, z, w);
            self.dot(recorder, at, 0, z, w)?;
            self.dot(recorder, at, 1, z, z)?;
            self.settle(recorder, settle_solve::NEXT);
        }
        self.collide(recorder, at, clock);
        Ok(())
    }

    /// Records `applied` = B `field`.
    fn apply(
        &self,
        recorder: &mut Recorder,
        at: Bodies<'_>,
        field: &Buffer<[f32; 3]>,
        applied: &Buffer<[f32; 3]>,
    ) {
        let Bodies { constants, particles, blocks, nodes } = at;
        let n_particles = u64::from(particles.count().expected());
        let n_nodes = u64::from(blocks.active_count().expected() * self.block_nodes);
        let entries = u64::from(particles.elastic_words());
        let bindings = differentiate_stress::Bindings {
            count: particles.count(),
            terms: &constants.terms,
            block_of: blocks.block_of(),
            target: blocks.target(),
            field,
            position: particles.phase.position.front(),
            elastic: particles.elastic.front(),
            plastic_volume: particles.plastic_volume.front(),
            volume: particles.volume.front(),
            solve: &self.solve,
            tangent: &self.tangent,
        };
        recorder.declare_bytes((20 + 8 * entries) * n_particles + 12 * n_nodes);
        recorder.dispatch_counted(&self.kernels.differentiate, bindings, ());
        let bindings = apply_stiffness::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            source: blocks.source(),
            first_cell: blocks.first_cell(),
            cell_start: blocks.cell_start(),
            position: particles.phase.position.front(),
            tangent: &self.tangent,
            momentum: &nodes.momentum,
            field,
            solve: &self.solve,
            held: &self.vectors.held,
            applied,
        };
        recorder.dispatch(&self.kernels.apply, Threads::Counted(blocks.active_count()), bindings, ());
    }

    fn begin(&self, recorder: &mut Recorder, at: Bodies<'_>) {
        let bindings = begin_solve::Bindings {
            active_count: &at.blocks.active_count().count,
            node_velocity: &at.nodes.velocity,
            applied: &self.vectors.w,
            held: &self.vectors.held,
            residual: &self.vectors.z,
        };
        recorder.dispatch(&self.kernels.begin, Threads::Counted(at.blocks.active_count()), bindings, ());
    }

    /// Records Σ m a·b, into the first or the second of the two sums.
    fn dot(
        &self,
        recorder: &mut Recorder,
        at: Bodies<'_>,
        slot: usize,
        a: &Buffer<[f32; 3]>,
        b: &Buffer<[f32; 3]>,
    ) -> Result<(), SolverError> {
        let count = at.blocks.active_count();
        let (sums, reduction) = (&self.vectors.sums[slot], &self.vectors.reductions[slot]);
        let bindings = dot_nodes::Bindings {
            active_count: &count.count,
            momentum: &at.nodes.momentum,
            a,
            b,
            solve: &self.solve,
            sums,
        };
        recorder.dispatch(&self.kernels.dot, Threads::Counted(count), bindings, ());
        reduction.record(recorder, count, sums)?;
        Ok(())
    }

    fn settle(&self, recorder: &mut Recorder, what: u32) {
        let [first, second] = self.vectors.reductions.each_ref().map(ReductionF32::result);
        let bindings = settle_solve::Bindings { first, second, solve: &self.solve };
        let params = settle_solve::Params { what, tolerance: self.tolerance };
        recorder.dispatch(&self.kernels.settle, Threads::Fixed(1), bindings, params);
    }

    fn advance_direction(&self, recorder: &mut Recorder, at: Bodies<'_>) {
        let count = at.blocks.active_count();
        let Vectors { z, p, q, w, .. } = &self.vectors;
        let bindings = advance_direction::Bindings {
            active_count: &count.count,
            residual: z,
            applied: w,
            solve: &self.solve,
            direction: p,
            applied_direction: q,
        };
        recorder.dispatch(&self.kernels.direction, Threads::Counted(count), bindings, ());
    }

    fn advance_velocity(&self, recorder: &mut Recorder, at: Bodies<'_>) {
        let count = at.blocks.active_count();
        let Vectors { z, p, q, .. } = &self.vectors;
        let bindings = advance_velocity::Bindings {
            active_count: &count.count,
            direction: p,
            applied_direction: q,
            solve: &self.solve,
            node_velocity: &at.nodes.velocity,
            residual: z,
        };
        recorder.dispatch(&self.kernels.velocity, Threads::Counted(count), bindings, ());
    }

    /// Records the detection of the contacts of nodes after step 5.
    fn find_contacts(&self, recorder: &mut Recorder, at: Bodies<'_>, clock: &Buffer<StepClock>) {
        let Bodies { constants, blocks, nodes, .. } = at;
        let bindings = find_contacts::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            momentum: &nodes.momentum,
            bodies: &constants.bodies,
            body_data: &constants.body_data,
            node_velocity: &nodes.velocity,
            held: &self.vectors.held,
            clock,
        };
        recorder.dispatch(&self.kernels.find_contacts, Threads::Counted(blocks.active_count()), bindings, ());
    }

    fn collide(&self, recorder: &mut Recorder, at: Bodies<'_>, clock: &Buffer<StepClock>) {
        let Bodies { constants, blocks, nodes, .. } = at;
        let bindings = collide_nodes::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            momentum: &nodes.momentum,
            bodies: &constants.bodies,
            body_data: &constants.body_data,
            node_velocity: &nodes.velocity,
            node_change: &nodes.change,
            clock,
        };
        recorder.dispatch(&self.kernels.collide, Threads::Counted(blocks.active_count()), bindings, ());
    }
}
