//! Nodes of the active blocks: sums over particles, and the resulting velocities.

use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::{SolverError, Tunable, Tuning};
use frazil_kernels::SparseBlocks;
use frazil_scene::Rasterization;
use frazil_shaders::mpm::{
    clear_nodes, rasterize_fixed, rasterize_float, rasterize_gather, read_fixed, update_nodes,
};
use frazil_shaders::types::{Body, MpmTerms};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

/// Number of nodes along x that one thread gathers; a block has four.
pub static NODES_PER_THREAD: Tunable =
    Tunable { name: "nodes_per_thread", default: 4, min: 1, max: frazil_kernels::BLOCK_SIDE };

/// Words of a node's sums in fixed point: seven numbers of two words.
const FIXED_WORDS: u32 = 14;

/// Parameters that all kernels of a step read.
pub struct Constants {
    /// Parameters common to all kernels.
    pub terms: Buffer<MpmTerms>,
    /// Bodies that snow collides with.
    pub colliders: Buffer<Body>,
    /// Heights of heightfields in m.
    pub heights: Buffer<f32>,
}

/// Arrays with one element per node of the active blocks.
pub struct Nodes {
    /// Momentum in kg m/s, and mass in kg.
    pub momentum: Buffer<[f32; 4]>,
    /// Force of stresses in N.
    pub force: Buffer<[f32; 3]>,
    /// Velocity at the end of the step, in m/s.
    pub velocity: Buffer<[f32; 3]>,
    /// Change of the velocity in the step; FLIP only.
    pub change: Buffer<[f32; 3]>,
    sums: Option<Buffer<u32>>,
}

impl Nodes {
    /// Makes arrays for the nodes of `n_blocks` blocks, with undefined contents.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Device, parameters: &MpmParameters, n_blocks: u32) -> Result<Self, SolverError> {
        let n = n_blocks as usize * parameters.layout.block_nodes() as usize;
        let has_sums = parameters.rasterization == Rasterization::FixedPoint;
        let sums = has_sums.then(|| device.buffer("node sums", FIXED_WORDS as usize * n)).transpose()?;
        Ok(Self {
            momentum: device.buffer("node momentum", n)?,
            force: device.buffer("node force", n)?,
            velocity: device.buffer("node velocity", n)?,
            change: device.buffer("node change", if parameters.has_affine() { 1 } else { n })?,
            sums,
        })
    }

    /// Returns the number of bytes per node.
    pub fn bytes_per_node(parameters: &MpmParameters) -> u64 {
        let change = if parameters.has_affine() { 0 } else { 12 };
        let sums = if parameters.rasterization == Rasterization::FixedPoint { 4 * FIXED_WORDS } else { 0 };
        u64::from(16 + 12 + 12 + change + sums)
    }
}

/// Kernels from particles to nodes, and the update of nodes.
pub struct Transfer {
    rasterize: Rasterize,
    update: Kernel<update_nodes::Interface>,
}

enum Rasterize {
    Gather(Kernel<rasterize_gather::Interface>),
    Fixed {
        clear: Kernel<clear_nodes::Interface>,
        add: Kernel<rasterize_fixed::Interface>,
        read: Kernel<read_fixed::Interface>,
    },
    Float {
        clear: [Kernel<clear_nodes::Interface>; 2],
        add: Kernel<rasterize_float::Interface>,
    },
}

impl Transfer {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// A group size that exceeds the device's limits; floating-point atomics asked for on a device without
    /// them.
    pub fn new(device: &Device, parameters: &MpmParameters, tuning: Tuning) -> Result<Self, SolverError> {
        let (workgroup_size, nodes_per_thread) = (tuning.workgroup_size(), tuning.get(&NODES_PER_THREAD));
        let (dimensions, stencil) = (parameters.dimensions, parameters.stencil);
        let (as_printed, transfer) = (parameters.as_printed(), parameters.transfer_number());
        let threads_per_item = parameters.layout.block_nodes();
        let clear = |words| {
            let specialization = clear_nodes::Specialization { workgroup_size, threads_per_item, words };
            Kernel::specialized(device, &specialization)
        };
        let rasterize = match parameters.rasterization {
            Rasterization::Gather => Rasterize::Gather(Kernel::specialized(
                device,
                &rasterize_gather::Specialization {
                    // A group covers as many nodes as those of other kernels.
                    workgroup_size: workgroup_size / nodes_per_thread,
                    threads_per_item: threads_per_item / nodes_per_thread,
                    nodes_per_thread,
                    dimensions,
                    stencil,
                    as_printed,
                    transfer,
                },
            )?),
            Rasterization::FixedPoint => Rasterize::Fixed {
                clear: clear(FIXED_WORDS)?,
                add: Kernel::specialized(
                    device,
                    &rasterize_fixed::Specialization {
                        workgroup_size,
                        dimensions,
                        stencil,
                        as_printed,
                        transfer,
                    },
                )?,
                read: Kernel::specialized(
                    device,
                    &read_fixed::Specialization { workgroup_size, threads_per_item },
                )?,
            },
            Rasterization::FloatAtomics => {
                if !device.capabilities().float_atomics {
                    return Err(SolverError::Scene {
                        key: "mpm.rasterization".into(),
                        found: "\"float_atomics\" on a device without VK_EXT_shader_atomic_float; expected \
                                \"gather\" or \"fixed_point\""
                            .into(),
                    });
                }
                Rasterize::Float {
                    clear: [clear(4)?, clear(3)?],
                    add: Kernel::specialized(
                        device,
                        &rasterize_float::Specialization {
                            workgroup_size,
                            dimensions,
                            stencil,
                            as_printed,
                            transfer,
                        },
                    )?,
                }
            }
        };
        let update = Kernel::specialized(
            device,
            &update_nodes::Specialization {
                workgroup_size,
                threads_per_item,
                dimensions,
                transfer,
                has_colliders: parameters.has_colliders(),
                body_kinds: parameters.surroundings.kinds(),
                has_named_bodies: parameters.measures_loads().into(),
                only_sticky: parameters.has_contact_forces().into(),
            },
        )?;
        Ok(Self { rasterize, update })
    }

    /// Records steps 1 and 3: mass, momentum and force of every node.
    pub fn rasterize(
        &self,
        recorder: &mut Recorder,
        constants: &Constants,
        particles: &Particles,
        blocks: &SparseBlocks,
        nodes: &Nodes,
    ) {
        let n_nodes = u64::from(blocks.active_count().expected() * blocks.layout().block_nodes());
        let n_particles = u64::from(particles.count().expected());
        let own = particles.rasterized_bytes();
        let active = Threads::Counted(blocks.active_count());
        match &self.rasterize {
            Rasterize::Gather(gather) => {
                let bindings = rasterize_gather::Bindings {
                    active_count: &blocks.active_count().count,
                    terms: &constants.terms,
                    active_block: blocks.active(),
                    source: blocks.source(),
                    cell_start: blocks.cell_start(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    momentum: &nodes.momentum,
                    force: &nodes.force,
                };
                recorder.dispatch(gather, active, bindings, ());
            }
            Rasterize::Fixed { clear, add, read } => {
                let Some(sums) = &nodes.sums else { return };
                let bindings =
                    clear_nodes::Bindings { active_count: &blocks.active_count().count, nodes: sums };
                recorder.dispatch(clear, active, bindings, ());
                let bindings = rasterize_fixed::Bindings {
                    count: &particles.count().count,
                    terms: &constants.terms,
                    block_of: blocks.block_of(),
                    target: blocks.target(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    sums,
                };
                recorder.declare_bytes(own * n_particles + u64::from(8 * FIXED_WORDS) * n_nodes);
                recorder.dispatch(add, Threads::Counted(particles.count()), bindings, ());
                let bindings = read_fixed::Bindings {
                    active_count: &blocks.active_count().count,
                    terms: &constants.terms,
                    sums,
                    momentum: &nodes.momentum,
                    force: &nodes.force,
                };
                recorder.dispatch(read, active, bindings, ());
            }
            Rasterize::Float { clear, add } => {
                for (clear, words) in clear.iter().zip([nodes.momentum.cast(), nodes.force.cast()]) {
                    let bindings =
                        clear_nodes::Bindings { active_count: &blocks.active_count().count, nodes: &words };
                    recorder.dispatch(clear, active, bindings, ());
                }
                let bindings = rasterize_float::Bindings {
                    count: &particles.count().count,
                    terms: &constants.terms,
                    block_of: blocks.block_of(),
                    target: blocks.target(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    momentum: &nodes.momentum.cast(),
                    force: &nodes.force.cast(),
                };
                recorder.declare_bytes(own * n_particles + 56 * n_nodes);
                recorder.dispatch(add, Threads::Counted(particles.count()), bindings, ());
            }
        }
    }

    /// Records steps 4 and 5: velocities of nodes after forces, gravity and collisions at the given time,
    /// and the sums of impulses on bodies.
    pub fn update(
        &self,
        recorder: &mut Recorder,
        constants: &Constants,
        blocks: &SparseBlocks,
        nodes: &Nodes,
        sums: &Buffer<u32>,
        time_s: f32,
    ) {
        let bindings = update_nodes::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            momentum: &nodes.momentum,
            force: &nodes.force,
            colliders: &constants.colliders,
            heights: &constants.heights,
            node_velocity: &nodes.velocity,
            node_change: &nodes.change,
            sums,
        };
        let params = update_nodes::Params { time_s };
        recorder.dispatch(&self.update, Threads::Counted(blocks.active_count()), bindings, params);
    }
}
