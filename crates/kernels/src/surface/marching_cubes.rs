//! Marching cubes on a sparse lattice of nodes.

use super::cases;
use super::{check_layout, check_nodes, check_workgroup};
use crate::error::check_room;
use crate::settle::Settle;
use crate::{BlockLayout, Counts, KernelError, Scan, ScanOptions};
use frazil_shaders::surface::{
    classify_cubes, count_cube_blocks, emit_triangles, emit_vertices, link_nodes, list_cube_blocks,
    mark_cube_blocks,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Cubes of a block.
const BLOCK_CUBES: u32 = 64;
/// Blocks of cubes that the nodes of one block are corners of.
const REACH: u32 = 8;

/// Room for a mesh, and for the cubes that it is found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshCapacity {
    /// Blocks of 4³ cubes: those of nodes, and the ones a step below them.
    pub cube_blocks: u32,
    /// Vertices.
    pub vertices: u32,
    /// Triangles.
    pub triangles: u32,
}

/// What [`MarchingCubes::wanted`] holds, in its order: what there was, whether there was room for it or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct MeshWanted {
    /// Blocks of 4³ cubes.
    pub cube_blocks: u32,
    /// Vertices, of the blocks that there was room for.
    pub vertices: u32,
    /// Triangles, of the blocks that there was room for.
    pub triangles: u32,
}

impl MeshWanted {
    /// Returns true if there was room for all, so that the mesh is whole.
    pub fn fits(&self, capacity: MeshCapacity) -> bool {
        self.cube_blocks <= capacity.cube_blocks
            && self.vertices <= capacity.vertices
            && self.triangles <= capacity.triangles
    }
}

/// Finds the surface on which a field of nodes takes one value: an indexed mesh, without a vertex twice, that is closed.
///
/// The field is given at the nodes of a list of blocks; all other nodes count as 0, below the level, so that the surface closes about the
/// blocks. Where a node's value is at least the level, it is inside. Triangles are counter-clockwise seen from outside, each edge has two
/// of them, in opposite directions, and each vertex one ring, whatever the field (Lorensen and Cline 1987, with faces that are told apart
/// in one way by both of their cubes). A vertex lies on each edge of the lattice that the surface crosses, 1/1024 of the edge or more away
/// from its nodes; its normal is the field's gradient there, by central differences.
///
/// Vertices, triangles and their order depend on the blocks and values and on nothing else. Nothing waits for the host: counts stay on the device,
/// and [`Self::wanted`] tells what there was. Memory follows the blocks, but for 12 bytes for each 32 blocks of the lattice.
pub struct MarchingCubes {
    layout: BlockLayout,
    kernels: Kernels,
    workgroup_size: u32,
    table: Buffer<u32>,
    /// One bit a block of the lattice, in words.
    words: DeviceCount,
    marked: Buffer<u32>,
    in_word: Buffer<u32>,
    word_base: Buffer<u32>,
    scan_words: Scan,
    settle: Settle,
    room: Room,
}

struct Kernels {
    mark_cube_blocks: Kernel<mark_cube_blocks::Interface>,
    count_cube_blocks: Kernel<count_cube_blocks::Interface>,
    list_cube_blocks: Kernel<list_cube_blocks::Interface>,
    link_nodes: Kernel<link_nodes::Interface>,
    classify_cubes: Kernel<classify_cubes::Interface>,
    emit_vertices: Kernel<emit_vertices::Interface>,
    emit_triangles: Kernel<emit_triangles::Interface>,
}

/// What is as long as a capacity says.
struct Room {
    cube_blocks: DeviceCount,
    cube_block: Buffer<u32>,
    node_block: Buffer<u32>,
    cube: Buffer<u32>,
    vertices_in: Buffer<u32>,
    triangles_in: Buffer<u32>,
    vertex_base: Buffer<u32>,
    triangle_base: Buffer<u32>,
    scan: Scan,
    vertices: DeviceCount,
    position: Buffer<[f32; 3]>,
    normal: Buffer<[f32; 3]>,
    triangles: DeviceCount,
    triangle: Buffer<[u32; 3]>,
}

impl Room {
    fn new(device: &Device, capacity: MeshCapacity, workgroup_size: u32) -> Result<Self, KernelError> {
        let [blocks, vertices, triangles] =
            [capacity.cube_blocks, capacity.vertices, capacity.triangles].map(|n| n.max(1));
        let n = blocks as usize;
        let options = ScanOptions { workgroup_size, ..Default::default() };
        let room = Self {
            cube_blocks: DeviceCount::new(device, "cube block count", blocks)?,
            cube_block: device.buffer("cube blocks", n)?,
            node_block: device.buffer("node blocks of cubes", n)?,
            cube: device.buffer("cubes", n * BLOCK_CUBES as usize)?,
            vertices_in: device.buffer("vertices of blocks", n)?,
            triangles_in: device.buffer("triangles of blocks", n)?,
            vertex_base: device.buffer("vertex base", n)?,
            triangle_base: device.buffer("triangle base", n)?,
            scan: Scan::with_options(device, blocks, options)?,
            vertices: DeviceCount::new(device, "vertex count", vertices)?,
            position: device.buffer("vertex position", vertices as usize)?,
            normal: device.buffer("vertex normal", vertices as usize)?,
            triangles: DeviceCount::new(device, "triangle count", triangles)?,
            triangle: device.buffer("triangles", triangles as usize)?,
        };
        // Until a surface is found, there is none.
        for count in [&room.cube_blocks, &room.vertices, &room.triangles] {
            device.upload(&count.count, &[0])?;
        }
        Ok(room)
    }
}

impl MarchingCubes {
    /// Makes room for the surface of a field on a lattice. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The lattice is one in a plane; workgroups of fewer than 64 threads, or more than the device allows; no memory.
    pub fn new(
        device: &Device,
        layout: BlockLayout,
        capacity: MeshCapacity,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        check_layout(&layout)?;
        check_workgroup("marching cubes", workgroup_size)?;
        let threads_per_item = BLOCK_CUBES;
        let kernels = Kernels {
            mark_cube_blocks: Kernel::specialized(
                device,
                &mark_cube_blocks::Specialization { workgroup_size, threads_per_item: REACH },
            )?,
            count_cube_blocks: Kernel::specialized(
                device,
                &count_cube_blocks::Specialization { workgroup_size },
            )?,
            list_cube_blocks: Kernel::specialized(
                device,
                &list_cube_blocks::Specialization { workgroup_size },
            )?,
            link_nodes: Kernel::specialized(device, &link_nodes::Specialization { workgroup_size })?,
            classify_cubes: Kernel::specialized(
                device,
                &classify_cubes::Specialization { workgroup_size, threads_per_item },
            )?,
            emit_vertices: Kernel::specialized(
                device,
                &emit_vertices::Specialization { workgroup_size, threads_per_item },
            )?,
            emit_triangles: Kernel::specialized(
                device,
                &emit_triangles::Specialization { workgroup_size, threads_per_item },
            )?,
        };
        // The lattice of cubes begins one block lower; its bits are fewer than 2³¹, as keys of nodes have 32.
        let blocks: u64 = layout.lattice().blocks.iter().map(|n| u64::from(*n) + 1).product();
        let n_words = blocks.div_ceil(u64::from(u32::BITS)) as u32;
        let options = ScanOptions { workgroup_size, ..Default::default() };
        Ok(Self {
            layout,
            kernels,
            workgroup_size,
            table: device.buffer_from("cases of cubes", &cases::table())?,
            words: Counts::new(device)?.upload(device, "cube block words", n_words, n_words)?,
            marked: device.buffer("marked cube blocks", n_words as usize)?,
            in_word: device.buffer("cube blocks in words", n_words as usize)?,
            word_base: device.buffer("cube blocks before words", n_words as usize)?,
            scan_words: Scan::with_options(device, n_words, options)?,
            settle: Settle::new(device, "surface", 3)?,
            room: Room::new(device, capacity, workgroup_size)?,
        })
    }

    /// Makes other room, whose contents are undefined until the next [`Self::record`].
    ///
    /// # Errors
    /// No memory.
    pub fn resize(&mut self, device: &Device, capacity: MeshCapacity) -> Result<(), KernelError> {
        self.room = Room::new(device, capacity, self.workgroup_size)?;
        Ok(())
    }

    /// Records the search for the surface on which the field takes the value `iso`.
    ///
    /// `block` has the numbers of `blocks` blocks of the lattice, x fastest, in any order, each once; `value` has 64 values for each, x
    /// fastest: what [`crate::SparseBlocks::active`] and [`crate::SplatDensity`] make.
    ///
    /// # Errors
    /// `iso` is not above 0, or not finite: the field is 0 outside its blocks, which must be outside. A buffer has no room for as many
    /// blocks as there may be.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        blocks: &DeviceCount,
        block: &Buffer<u32>,
        value: &Buffer<f32>,
        iso: f32,
    ) -> Result<(), KernelError> {
        if !(iso > 0.0 && iso.is_finite()) {
            let problem = format!("a surface at the level {iso}, expected a finite level above 0");
            return Err(KernelError::Surface { problem });
        }
        check_room("marching cubes", blocks, block)?;
        check_nodes("marching cubes", blocks, value)?;
        self.find_cube_blocks(recorder, blocks, block)?;
        self.classify(recorder, value, iso)?;
        self.emit(recorder, value, iso);
        Ok(())
    }

    fn find_cube_blocks(
        &self,
        recorder: &mut Recorder,
        blocks: &DeviceCount,
        block: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        let (kernels, room, lattice) = (&self.kernels, &self.room, self.layout.lattice());
        recorder.fill(&self.marked, 0);
        let bindings = mark_cube_blocks::Bindings { block_count: &blocks.count, block, marked: &self.marked };
        let params = mark_cube_blocks::Params { lattice };
        recorder.dispatch(&kernels.mark_cube_blocks, Threads::Counted(blocks), bindings, params);

        let words = Threads::Counted(&self.words);
        let bindings = count_cube_blocks::Bindings {
            word_count: &self.words.count,
            marked: &self.marked,
            in_word: &self.in_word,
        };
        recorder.dispatch(&kernels.count_cube_blocks, words, bindings, ());
        self.scan_words.record(
            recorder,
            &self.words,
            &self.in_word,
            &self.word_base,
            Some(self.settle.total()),
        )?;
        let bindings = list_cube_blocks::Bindings {
            word_count: &self.words.count,
            marked: &self.marked,
            word_base: &self.word_base,
            cube_block: &room.cube_block,
            node_block: &room.node_block,
        };
        let params = list_cube_blocks::Params { capacity: room.cube_blocks.capacity };
        recorder.dispatch(&kernels.list_cube_blocks, words, bindings, params);
        self.settle.record(recorder, &room.cube_blocks, 0);
        let bindings = link_nodes::Bindings {
            block_count: &blocks.count,
            block,
            cube_block_count: &room.cube_blocks.count,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &room.node_block,
        };
        let params = link_nodes::Params { lattice };
        recorder.dispatch(&kernels.link_nodes, Threads::Counted(blocks), bindings, params);
        Ok(())
    }

    fn classify(&self, recorder: &mut Recorder, value: &Buffer<f32>, iso: f32) -> Result<(), KernelError> {
        let room = &self.room;
        let bindings = classify_cubes::Bindings {
            cube_block_count: &room.cube_blocks.count,
            cube_block: &room.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &room.node_block,
            value,
            table: &self.table,
            cube: &room.cube,
            vertices_in: &room.vertices_in,
            triangles_in: &room.triangles_in,
        };
        let params = classify_cubes::Params { lattice: self.layout.lattice(), iso };
        let cubes = Threads::Counted(&room.cube_blocks);
        recorder.dispatch(&self.kernels.classify_cubes, cubes, bindings, params);
        let (blocks, total) = (&room.cube_blocks, Some(self.settle.total()));
        room.scan.record(recorder, blocks, &room.vertices_in, &room.vertex_base, total)?;
        self.settle.record(recorder, &room.vertices, 1);
        room.scan.record(recorder, blocks, &room.triangles_in, &room.triangle_base, total)?;
        self.settle.record(recorder, &room.triangles, 2);
        Ok(())
    }

    fn emit(&self, recorder: &mut Recorder, value: &Buffer<f32>, iso: f32) {
        let (room, lattice) = (&self.room, self.layout.lattice());
        let cubes = Threads::Counted(&room.cube_blocks);
        let cube_bytes = 4 * u64::from(BLOCK_CUBES) * u64::from(room.cube_blocks.expected());
        let bindings = emit_vertices::Bindings {
            cube_block_count: &room.cube_blocks.count,
            cube_block: &room.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &room.node_block,
            value,
            cube: &room.cube,
            vertex_base: &room.vertex_base,
            position: &room.position,
            normal: &room.normal,
        };
        let params = emit_vertices::Params {
            lattice,
            iso,
            cell_m: 1.0 / lattice.cells_per_m,
            capacity: room.vertices.capacity,
        };
        // The two nodes of an edge, at the least.
        recorder.declare_bytes(cube_bytes + (24 + 8) * u64::from(room.vertices.expected()));
        recorder.dispatch(&self.kernels.emit_vertices, cubes, bindings, params);
        let bindings = emit_triangles::Bindings {
            cube_block_count: &room.cube_blocks.count,
            cube_block: &room.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            table: &self.table,
            cube: &room.cube,
            vertex_base: &room.vertex_base,
            triangle_base: &room.triangle_base,
            triangle: &room.triangle,
        };
        let params = emit_triangles::Params {
            lattice,
            vertex_capacity: room.vertices.capacity,
            triangle_capacity: room.triangles.capacity,
        };
        recorder.declare_bytes(cube_bytes + 12 * u64::from(room.triangles.expected()));
        recorder.dispatch(&self.kernels.emit_triangles, cubes, bindings, params);
    }

    /// The lattice.
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// Room that there is.
    pub fn capacity(&self) -> MeshCapacity {
        MeshCapacity {
            cube_blocks: self.room.cube_blocks.capacity,
            vertices: self.room.vertices.capacity,
            triangles: self.room.triangles.capacity,
        }
    }

    /// Bytes of all that a capacity and the lattice ask for.
    pub fn bytes(&self) -> u64 {
        let MeshCapacity { cube_blocks, vertices, triangles } = self.capacity();
        let of_lattice = 12 * u64::from(self.words.capacity);
        let of_cubes = u64::from(4 * (BLOCK_CUBES + 6)) * u64::from(cube_blocks);
        of_lattice + of_cubes + 24 * u64::from(vertices) + 12 * u64::from(triangles)
    }

    /// What there was last, three words ([`MeshWanted`]). A mesh for which there was no room lacks what came last: fewer vertices, and triangles
    /// without area where one of theirs is lacking.
    pub fn wanted(&self) -> &Buffer<u32> {
        self.settle.wanted()
    }

    /// How many blocks of cubes were looked at.
    pub fn cube_block_count(&self) -> &DeviceCount {
        &self.room.cube_blocks
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> &DeviceCount {
        &self.room.vertices
    }

    /// Places of vertices, in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        &self.room.position
    }

    /// Unit normals of vertices, out of the surface.
    pub fn normal(&self) -> &Buffer<[f32; 3]> {
        &self.room.normal
    }

    /// How many triangles there are.
    pub fn triangle_count(&self) -> &DeviceCount {
        &self.room.triangles
    }

    /// The vertices of each triangle, counter-clockwise seen from outside.
    pub fn triangle(&self) -> &Buffer<[u32; 3]> {
        &self.room.triangle
    }
}
