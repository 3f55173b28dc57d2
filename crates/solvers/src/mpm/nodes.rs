//! Nodes of the active blocks: sums over particles, and the resulting velocities.

use super::parameters::MpmParameters;
use super::particles::Particles;
use crate::{SolverError, Tunable, Tuning};
use frazil_kernels::{BLOCK_SIDE, BlockCapacity, SparseBlocks};
use frazil_scene::Rasterization;
use frazil_shaders::mpm::{
    add_tiles, clear_nodes, hold_nodes, rasterize_fixed, rasterize_float, rasterize_tiles, read_fixed,
    update_nodes,
};
use frazil_shaders::types::{Body, Emitter, MpmTerms, StepClock};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

/// Maximum number of rows of the stencil's nodes that one thread sums, of 3 or 4 rows in a plane, 9 or 16 in
/// space. More rows read a particle fewer times and take more registers, so that there is a
/// maximum for each kind of device, too.
pub static ROWS_PER_THREAD: Tunable = Tunable { name: "rows_per_thread", default: 16, min: 1, max: 16 };

/// Number of threads of a group that sums particles on tiles, if its tiles fit the shared memory.
const TILE_THREADS: u32 = 64;

/// Bytes of a node of a tile: momentum, mass and force.
const TILE_NODE_BYTES: u32 = 28;

/// Words of a node's sums in fixed point: seven numbers of two words.
const FIXED_WORDS: u32 = 14;

/// Parameters that all kernels of a step read.
pub struct Constants {
    /// Parameters common to all kernels.
    pub terms: Buffer<MpmTerms>,
    /// Bodies that snow collides with.
    pub bodies: Buffer<Body>,
    /// Heights of heightfields in m.
    pub body_data: Buffer<f32>,
}

/// Results of a step apart from the state.
#[derive(Clone, Copy)]
pub struct Outcome<'a> {
    /// Sums of impulses on bodies.
    pub sums: &'a Buffer<u32>,
    /// Clock of the simulation.
    pub clock: &'a Buffer<StepClock>,
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
    tiles: Tiles,
}

/// Sums of the particles of each occupied block at the nodes that they reach; one unused element each if
/// particles are summed otherwise.
struct Tiles {
    momentum: Buffer<[f32; 4]>,
    force: Buffer<[f32; 3]>,
}

/// Returns the number of nodes of a tile.
fn tile_nodes(parameters: &MpmParameters) -> u32 {
    (BLOCK_SIDE + parameters.stencil - 1).pow(parameters.dimensions)
}

impl Nodes {
    /// Makes arrays for the nodes of blocks, with undefined contents.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        device: &Device,
        parameters: &MpmParameters,
        capacity: BlockCapacity,
    ) -> Result<Self, SolverError> {
        let n = capacity.active as usize * parameters.layout.block_nodes() as usize;
        let has_tiles = parameters.rasterization == Rasterization::Tiles;
        let n_tile = capacity.occupied.max(1) as usize * tile_nodes(parameters) as usize;
        let n_tile = if has_tiles { n_tile } else { 1 };
        let has_sums = parameters.rasterization == Rasterization::FixedPoint;
        let sums = has_sums.then(|| device.buffer("node sums", FIXED_WORDS as usize * n)).transpose()?;
        Ok(Self {
            momentum: device.buffer("node momentum", n)?,
            force: device.buffer("node force", n)?,
            velocity: device.buffer("node velocity", n)?,
            change: device.buffer("node change", if parameters.has_flip { n } else { 1 })?,
            sums,
            tiles: Tiles {
                momentum: device.buffer("tile momentum", n_tile)?,
                force: device.buffer("tile force", n_tile)?,
            },
        })
    }

    /// Returns the number of bytes of the arrays.
    pub fn bytes(parameters: &MpmParameters, capacity: BlockCapacity) -> u64 {
        let change = if parameters.has_flip { 12 } else { 0 };
        let (sums, tile) = match parameters.rasterization {
            Rasterization::Tiles => (0, TILE_NODE_BYTES * tile_nodes(parameters)),
            Rasterization::FixedPoint => (4 * FIXED_WORDS, 0),
            Rasterization::FloatAtomics => (0, 0),
        };
        let nodes = u64::from(capacity.active) * u64::from(parameters.layout.block_nodes());
        nodes * u64::from(16 + 12 + 12 + change + sums) + u64::from(capacity.occupied) * u64::from(tile)
    }
}

/// Returns the rows of a thread beyond which a software device compiles for seconds; or whose sums a GPU
/// keeps in registers: 49 numbers for a row of the cubic spline, while four leave AMD's compiler 6 of 32
/// subgroups.
fn max_rows(device: &Device) -> u32 {
    if device.is_software() { 9 } else { 1 }
}

/// Returns the constants of the kernel that sums the particles of blocks.
fn tile_sums(device: &Device, parameters: &MpmParameters, tuning: Tuning) -> rasterize_tiles::Specialization {
    let (dimensions, stencil) = (parameters.dimensions, parameters.stencil);
    let stencil_rows = stencil.pow(dimensions - 1);
    let rows_per_thread = tuning.get(&ROWS_PER_THREAD).min(max_rows(device)).min(stencil_rows);
    // A thread for each line of cells in a block and each part of the rows.
    let parts = stencil_rows.div_ceil(rows_per_thread).next_power_of_two();
    let threads_per_item = parameters.layout.block_nodes() / BLOCK_SIDE * parts;
    let fitting = device.capabilities().max_shared_memory / (TILE_NODE_BYTES * tile_nodes(parameters));
    let mut n_blocks = (TILE_THREADS / threads_per_item).max(1);
    while n_blocks > fitting.max(1) {
        n_blocks /= 2;
    }
    rasterize_tiles::Specialization {
        workgroup_size: threads_per_item * n_blocks,
        threads_per_item,
        dimensions,
        stencil,
        as_printed: parameters.as_printed(),
        transfer: parameters.transfer_number(),
        rows_per_thread,
        has_surface_forces: parameters.has_surface_forces().into(),
    }
}

/// Kernels from particles to nodes, and the update of nodes.
pub struct Transfer {
    rasterize: Rasterize,
    update: Kernel<update_nodes::Interface>,
    hold: Option<Kernel<hold_nodes::Interface>>,
}

enum Rasterize {
    Tiles {
        sum: Kernel<rasterize_tiles::Interface>,
        add: Kernel<add_tiles::Interface>,
    },
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
        let workgroup_size = tuning.workgroup_size();
        let (dimensions, stencil) = (parameters.dimensions, parameters.stencil);
        let (as_printed, transfer) = (parameters.as_printed(), parameters.transfer_number());
        let threads_per_item = parameters.layout.block_nodes();
        let has_surface_forces = parameters.has_surface_forces().into();
        let clear = |words| {
            let specialization = clear_nodes::Specialization { workgroup_size, threads_per_item, words };
            Kernel::specialized(device, &specialization)
        };
        let rasterize = match parameters.rasterization {
            Rasterization::Tiles => Rasterize::Tiles {
                sum: Kernel::specialized(device, &tile_sums(device, parameters, tuning))?,
                add: Kernel::specialized(
                    device,
                    &add_tiles::Specialization { workgroup_size, threads_per_item, dimensions, stencil },
                )?,
            },
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
                        has_surface_forces,
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
                                \"tiles\" or \"fixed_point\""
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
                            has_surface_forces,
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
                has_flip: parameters.has_flip.into(),
                has_bodies: parameters.has_bodies(),
                body_kinds: parameters.surroundings.kinds(),
                has_named_bodies: parameters.measures_loads().into(),
                only_sticky: parameters.has_contact_forces().into(),
                stencil,
                from_tiles: (parameters.rasterization == Rasterization::Tiles).into(),
            },
        )?;
        let constants = hold_nodes::Specialization {
            workgroup_size,
            threads_per_item,
            dimensions,
            has_flip: parameters.has_flip.into(),
        };
        let has_emitters = parameters.sources.has_emitters();
        let hold = has_emitters.then(|| Kernel::specialized(device, &constants)).transpose()?;
        Ok(Self { rasterize, update, hold })
    }

    /// Records steps 1 and 3: mass, momentum and force of every node, or their sums on the tiles of blocks,
    /// which [`Self::update`] adds up.
    /// `order` is the order of stresses, affine velocities and forces of surfaces.
    pub fn rasterize(
        &self,
        recorder: &mut Recorder,
        constants: &Constants,
        particles: &Particles,
        order: &Buffer<u32>,
        blocks: &SparseBlocks,
        nodes: &Nodes,
    ) {
        let n_nodes = u64::from(blocks.active_count().expected() * blocks.layout().block_nodes());
        let n_particles = u64::from(particles.count().expected());
        let own = particles.rasterized_bytes();
        let active = Threads::Counted(blocks.active_count());
        match &self.rasterize {
            Rasterize::Tiles { sum, .. } => {
                let bindings = rasterize_tiles::Bindings {
                    occupied_count: &blocks.occupied_count().count,
                    terms: &constants.terms,
                    first_cell: blocks.first_cell(),
                    cell_start: blocks.cell_start(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    order,
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    surface_force: particles.surface_force.front(),
                    surface_turn: particles.surface_turn.front(),
                    tile_momentum: &nodes.tiles.momentum,
                    tile_force: &nodes.tiles.force,
                };
                recorder.dispatch(sum, Threads::Counted(blocks.occupied_count()), bindings, ());
            }
            Rasterize::Fixed { clear, add, read } => {
                let Some(sums) = &nodes.sums else { return };
                let bindings =
                    clear_nodes::Bindings { active_count: &blocks.active_count().count, nodes: sums };
                recorder.dispatch(clear, active, bindings, ());
                let bindings = rasterize_fixed::Bindings {
                    count: particles.count(),
                    terms: &constants.terms,
                    block_of: blocks.block_of(),
                    target: blocks.target(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    order,
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    surface_force: particles.surface_force.front(),
                    surface_turn: particles.surface_turn.front(),
                    sums,
                };
                recorder.declare_bytes(own * n_particles + u64::from(8 * FIXED_WORDS) * n_nodes);
                recorder.dispatch_counted(add, bindings, ());
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
                    count: particles.count(),
                    terms: &constants.terms,
                    block_of: blocks.block_of(),
                    target: blocks.target(),
                    position: particles.phase.position.front(),
                    velocity: particles.phase.velocity.front(),
                    mass: particles.mass.front(),
                    order,
                    stress: particles.stress.front(),
                    affine: particles.affine.front(),
                    surface_force: particles.surface_force.front(),
                    surface_turn: particles.surface_turn.front(),
                    momentum: &nodes.momentum.cast(),
                    force: &nodes.force.cast(),
                };
                recorder.declare_bytes(own * n_particles + 56 * n_nodes);
                recorder.dispatch_counted(add, bindings, ());
            }
        }
    }

    /// Records the sums of tiles at every node, where [`Self::update`] does not follow.
    pub fn add_tiles(&self, recorder: &mut Recorder, blocks: &SparseBlocks, nodes: &Nodes) {
        let Rasterize::Tiles { add, .. } = &self.rasterize else { return };
        let bindings = add_tiles::Bindings {
            active_count: &blocks.active_count().count,
            source: blocks.source(),
            tile_momentum: &nodes.tiles.momentum,
            tile_force: &nodes.tiles.force,
            momentum: &nodes.momentum,
            force: &nodes.force,
        };
        recorder.dispatch(add, Threads::Counted(blocks.active_count()), bindings, ());
    }

    /// Records the sums of tiles at every node, and steps 4 and 5: velocities of nodes after forces, gravity
    /// and collisions, and the sums of impulses on bodies.
    pub fn update(
        &self,
        recorder: &mut Recorder,
        constants: &Constants,
        blocks: &SparseBlocks,
        nodes: &Nodes,
        outcome: Outcome<'_>,
    ) {
        let bindings = update_nodes::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            source: blocks.source(),
            tile_momentum: &nodes.tiles.momentum,
            tile_force: &nodes.tiles.force,
            momentum: &nodes.momentum,
            force: &nodes.force,
            bodies: &constants.bodies,
            body_data: &constants.body_data,
            node_velocity: &nodes.velocity,
            node_change: &nodes.change,
            sums: outcome.sums,
            clock: outcome.clock,
        };
        recorder.dispatch(&self.update, Threads::Counted(blocks.active_count()), bindings, ());
    }

    /// Records that nodes in the pipes of emitters move by the velocity of the flow.
    pub fn hold(
        &self,
        recorder: &mut Recorder,
        constants: &Constants,
        blocks: &SparseBlocks,
        nodes: &Nodes,
        emitters: &Buffer<Emitter>,
    ) {
        let Some(hold) = &self.hold else { return };
        let bindings = hold_nodes::Bindings {
            active_count: &blocks.active_count().count,
            terms: &constants.terms,
            active_block: blocks.active(),
            emitters,
            momentum: &nodes.momentum,
            node_velocity: &nodes.velocity,
            node_change: &nodes.change,
        };
        recorder.dispatch(hold, Threads::Counted(blocks.active_count()), bindings, ());
    }
}
