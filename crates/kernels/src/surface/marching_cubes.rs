//! Marching cubes on a sparse lattice of nodes.

use super::cases;
use super::{check_layout, check_nodes, check_workgroup};
use crate::error::check_len;
use crate::kernel_set::kernel_set;
use crate::settle::Settle;
use crate::{BlockLayout, Counts, KernelError, Scan, ScanOptions};
use frazil_shaders::surface::{
    classify_cubes, count_cube_blocks, emit_triangles, emit_vertices, link_nodes, list_cube_blocks,
    mark_cube_blocks,
};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder, Threads};

/// Cubes of a block.
const BLOCK_CUBES: u32 = 64;
/// Blocks of cubes whose corners include nodes of one block.
const REACH: u32 = 8;

/// Capacity of a mesh, and of the list of cubes that it is found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshCapacity {
    /// Blocks of 4³ cubes: one for each block of nodes, and the neighbours one step below.
    pub cube_blocks: u32,
    /// Vertices.
    pub vertices: u32,
    /// Triangles.
    pub triangles: u32,
}

/// Contents of [`MarchingCubes::required`], in its order: the required numbers, even beyond the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct RequiredMeshCapacity {
    /// Blocks of 4³ cubes.
    pub cube_blocks: u32,
    /// Vertices of the blocks within the capacity.
    pub vertices: u32,
    /// Triangles of the blocks within the capacity.
    pub triangles: u32,
}

impl RequiredMeshCapacity {
    /// Returns true if nothing exceeded the capacity, so that the mesh is complete.
    pub fn fits(&self, capacity: MeshCapacity) -> bool {
        self.cube_blocks <= capacity.cube_blocks
            && self.vertices <= capacity.vertices
            && self.triangles <= capacity.triangles
    }
}

/// Extraction of the isosurface of a field of nodes: a closed indexed mesh without duplicate vertices.
///
/// The field is given at the nodes of a list of blocks; all other nodes count as 0, below the level, so that
/// the surface closes around the blocks. A node is inside if its value is at least the level. For any field:
///
/// - triangles are counter-clockwise seen from outside;
/// - each edge has two triangles, in opposite directions, and each vertex one ring (Lorensen and Cline 1987,
///   with ambiguous faces resolved in the same way by both of their cubes);
/// - a vertex lies on each edge of the lattice that the surface crosses, at least 1/1024 of the edge from its
///   nodes; its normal is the field's gradient there, by central differences.
///
/// Vertices, triangles and their order depend only on the blocks and values. Nothing waits for the host:
/// counts stay on the device, and [`Self::required`] reports the required capacity. The memory depends on the
/// capacity, except for 12 bytes for every 32 blocks of the lattice.
pub struct MarchingCubes {
    layout: BlockLayout,
    kernels: Kernels,
    workgroup_size: u32,
    table: Buffer<u32>,
    /// One bit per block of the lattice, in words.
    words: DeviceCount,
    marked: Buffer<u32>,
    in_word: Buffer<u32>,
    word_base: Buffer<u32>,
    scan_words: Scan,
    settle: Settle,
    buffers: Buffers,
}

kernel_set! {
    struct Kernels(workgroup_size) {
        mark_cube_blocks { workgroup_size, threads_per_item: REACH },
        count_cube_blocks { workgroup_size },
        list_cube_blocks { workgroup_size },
        link_nodes { workgroup_size },
        classify_cubes { workgroup_size, threads_per_item: BLOCK_CUBES },
        emit_vertices { workgroup_size, threads_per_item: BLOCK_CUBES },
        emit_triangles { workgroup_size, threads_per_item: BLOCK_CUBES },
    }
}

/// Buffers whose length depends on the capacity.
struct Buffers {
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

impl Buffers {
    fn new(device: &Device, capacity: MeshCapacity, workgroup_size: u32) -> Result<Self, KernelError> {
        let [blocks, vertices, triangles] =
            [capacity.cube_blocks, capacity.vertices, capacity.triangles].map(|n| n.max(1));
        let n = blocks as usize;
        let options = ScanOptions::for_device(device, workgroup_size);
        let buffers = Self {
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
        // Before the first surface is found, there is none.
        for count in [&buffers.cube_blocks, &buffers.vertices, &buffers.triangles] {
            device.upload(&count.count, &[0])?;
        }
        Ok(buffers)
    }
}

impl MarchingCubes {
    /// Makes the buffers for the surface of a field on a lattice. For set-up: it waits for the device.
    ///
    /// # Errors
    /// The lattice is two-dimensional; workgroups of fewer than 64 threads, or more than the device allows;
    /// not enough memory.
    pub fn new(
        device: &Device,
        layout: BlockLayout,
        capacity: MeshCapacity,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        check_layout(&layout)?;
        check_workgroup("marching cubes", workgroup_size)?;
        // The lattice of cubes begins one block lower; its bits are fewer than 2³¹, as keys of nodes have 32.
        let blocks: u64 = layout.lattice().blocks.iter().map(|n| u64::from(*n) + 1).product();
        let n_words = blocks.div_ceil(u64::from(u32::BITS)) as u32;
        let options = ScanOptions::for_device(device, workgroup_size);
        Ok(Self {
            layout,
            kernels: Kernels::new(device, workgroup_size)?,
            workgroup_size,
            table: device.buffer_from("cases of cubes", &cases::table())?,
            words: Counts::new(device)?.upload(device, "cube block words", n_words, n_words)?,
            marked: device.buffer("marked cube blocks", n_words as usize)?,
            in_word: device.buffer("cube blocks in words", n_words as usize)?,
            word_base: device.buffer("cube blocks before words", n_words as usize)?,
            scan_words: Scan::with_options(device, n_words, options)?,
            settle: Settle::new(device, "surface", 3)?,
            buffers: Buffers::new(device, capacity, workgroup_size)?,
        })
    }

    /// Changes the capacity; the contents are undefined until the next [`Self::record`].
    ///
    /// # Errors
    /// Not enough memory.
    pub fn resize(&mut self, device: &Device, capacity: MeshCapacity) -> Result<(), KernelError> {
        self.buffers = Buffers::new(device, capacity, self.workgroup_size)?;
        Ok(())
    }

    /// Records the extraction of the surface on which the field takes the value `iso`.
    ///
    /// `block` has the numbers of `blocks` blocks of the lattice, x fastest, in any order, each once; `value`
    /// has 64 values for each, x fastest, such as [`crate::SparseBlocks::active`] and [`crate::SplatDensity`]
    /// provide.
    ///
    /// # Errors
    /// `iso` is not above 0, or not finite: the field is 0 outside its blocks, which must be outside. A
    /// buffer is too small for the capacity of `blocks`.
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
        check_len("marching cubes", blocks, block)?;
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
        let (kernels, buffers, lattice) = (&self.kernels, &self.buffers, self.layout.lattice());
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
        self.settle.record_scan(recorder, &self.scan_words, &self.words, [&self.in_word, &self.word_base])?;
        let bindings = list_cube_blocks::Bindings {
            word_count: &self.words.count,
            marked: &self.marked,
            word_base: &self.word_base,
            cube_block: &buffers.cube_block,
            node_block: &buffers.node_block,
        };
        let params = list_cube_blocks::Params { capacity: buffers.cube_blocks.capacity };
        recorder.dispatch(&kernels.list_cube_blocks, words, bindings, params);
        self.settle.record(recorder, &buffers.cube_blocks, 0);
        let bindings = link_nodes::Bindings {
            block_count: &blocks.count,
            block,
            cube_block_count: &buffers.cube_blocks.count,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &buffers.node_block,
        };
        let params = link_nodes::Params { lattice };
        recorder.dispatch(&kernels.link_nodes, Threads::Counted(blocks), bindings, params);
        Ok(())
    }

    fn classify(&self, recorder: &mut Recorder, value: &Buffer<f32>, iso: f32) -> Result<(), KernelError> {
        let buffers = &self.buffers;
        let bindings = classify_cubes::Bindings {
            cube_block_count: &buffers.cube_blocks.count,
            cube_block: &buffers.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &buffers.node_block,
            value,
            table: &self.table,
            cube: &buffers.cube,
            vertices_in: &buffers.vertices_in,
            triangles_in: &buffers.triangles_in,
        };
        let params = classify_cubes::Params { lattice: self.layout.lattice(), iso };
        let cubes = Threads::Counted(&buffers.cube_blocks);
        recorder.dispatch(&self.kernels.classify_cubes, cubes, bindings, params);
        let lists = [
            ([&buffers.vertices_in, &buffers.vertex_base], &buffers.vertices),
            ([&buffers.triangles_in, &buffers.triangle_base], &buffers.triangles),
        ];
        for ((lengths, list), slot) in lists.into_iter().zip(1..) {
            self.settle.record_scan(recorder, &buffers.scan, &buffers.cube_blocks, lengths)?;
            self.settle.record(recorder, list, slot);
        }
        Ok(())
    }

    fn emit(&self, recorder: &mut Recorder, value: &Buffer<f32>, iso: f32) {
        let (buffers, lattice) = (&self.buffers, self.layout.lattice());
        let cubes = Threads::Counted(&buffers.cube_blocks);
        let cube_bytes = 4 * u64::from(BLOCK_CUBES) * u64::from(buffers.cube_blocks.expected());
        let bindings = emit_vertices::Bindings {
            cube_block_count: &buffers.cube_blocks.count,
            cube_block: &buffers.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            node_block: &buffers.node_block,
            value,
            cube: &buffers.cube,
            vertex_base: &buffers.vertex_base,
            position: &buffers.position,
            normal: &buffers.normal,
        };
        let params = emit_vertices::Params {
            lattice,
            iso,
            cell_m: 1.0 / lattice.cells_per_m,
            capacity: buffers.vertices.capacity,
        };
        // At least the two nodes of an edge.
        recorder.declare_bytes(cube_bytes + (24 + 8) * u64::from(buffers.vertices.expected()));
        recorder.dispatch(&self.kernels.emit_vertices, cubes, bindings, params);
        let bindings = emit_triangles::Bindings {
            cube_block_count: &buffers.cube_blocks.count,
            cube_block: &buffers.cube_block,
            marked: &self.marked,
            word_base: &self.word_base,
            table: &self.table,
            cube: &buffers.cube,
            vertex_base: &buffers.vertex_base,
            triangle_base: &buffers.triangle_base,
            triangle: &buffers.triangle,
        };
        let params = emit_triangles::Params {
            lattice,
            vertex_capacity: buffers.vertices.capacity,
            triangle_capacity: buffers.triangles.capacity,
        };
        recorder.declare_bytes(cube_bytes + 12 * u64::from(buffers.triangles.expected()));
        recorder.dispatch(&self.kernels.emit_triangles, cubes, bindings, params);
    }

    /// Returns the lattice.
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// Returns the capacity.
    pub fn capacity(&self) -> MeshCapacity {
        MeshCapacity {
            cube_blocks: self.buffers.cube_blocks.capacity,
            vertices: self.buffers.vertices.capacity,
            triangles: self.buffers.triangles.capacity,
        }
    }

    /// Returns the bytes of all buffers, which depend on the capacity and the lattice.
    pub fn bytes(&self) -> u64 {
        let MeshCapacity { cube_blocks, vertices, triangles } = self.capacity();
        let of_lattice = 12 * u64::from(self.words.capacity);
        let of_cubes = u64::from(4 * (BLOCK_CUBES + 6)) * u64::from(cube_blocks);
        of_lattice + of_cubes + 24 * u64::from(vertices) + 12 * u64::from(triangles)
    }

    /// Returns the required numbers of the last surface, three words ([`RequiredMeshCapacity`]). A mesh that
    /// exceeded the capacity lacks its last elements: fewer vertices, and triangles without area where one of
    /// their vertices is missing.
    pub fn required(&self) -> &Buffer<u32> {
        self.settle.required()
    }

    /// Returns the number of blocks of cubes that were examined.
    pub fn cube_block_count(&self) -> &DeviceCount {
        &self.buffers.cube_blocks
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> &DeviceCount {
        &self.buffers.vertices
    }

    /// Returns the positions of vertices, in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        &self.buffers.position
    }

    /// Returns the unit normals of vertices, pointing out of the surface.
    pub fn normal(&self) -> &Buffer<[f32; 3]> {
        &self.buffers.normal
    }

    /// Returns the number of triangles.
    pub fn triangle_count(&self) -> &DeviceCount {
        &self.buffers.triangles
    }

    /// Returns the vertices of each triangle, counter-clockwise seen from outside.
    pub fn triangle(&self) -> &Buffer<[u32; 3]> {
        &self.buffers.triangle
    }
}
