//! Level of detail of terrains: a quadtree of chunks, coarser where the difference is invisible.
//!
//! A node of level L covers 32 × 32 quads of 2^L cells a side. Its error bound is computed once, from all
//! heights; the nodes to draw are selected for each picture, from the camera.

use frazil_shaders::render::terrain::{
    CHUNK_QUADS, COARSER_HIGH_X, COARSER_HIGH_Y, COARSER_LOW_X, COARSER_LOW_Y,
};
use frazil_shaders::types::View;
use glam::Vec3;

/// A chunk of 32 × 32 quads over every `stride`-th height; vertices beyond the last height are clamped to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// Index of its first height along x and y.
    pub first: [u32; 2],
    /// Cells along each side of a quad, a power of two.
    pub stride: u32,
    /// Neighbours with quads twice as large: bit 0 for lower x, 1 higher x, 2 lower y, 3 higher y. On an edge
    /// to one, vertices with odd numbers snap to the ones before them.
    pub coarser: u32,
}

/// Error bounds of all nodes of a terrain.
#[derive(Debug)]
pub(crate) struct TerrainDetail {
    /// Number of heights along x and y.
    n: [u32; 2],
    cell_m: f32,
    /// Levels, from level 0 with one chunk per node to the level with one node.
    levels: Vec<Level>,
}

/// Nodes of a level, x fastest.
#[derive(Debug)]
struct Level {
    nodes: [u32; 2],
    node: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Maximum vertical distance in m of the drawn surface from the heights, in the node and in quads half as
    /// large along its edges.
    error_m: f32,
    /// Lowest of the node's heights and of those one quad beyond.
    lowest_m: f32,
    highest_m: f32,
}

/// View of a camera in the form that bounds need.
struct Sight {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    tan: [f32; 2],
    near_m: f32,
    /// Half the visible width and height in m, without perspective only.
    half_m: Option<[f32; 2]>,
    /// Pixels per metre at a depth of 1 m, or everywhere without perspective.
    px: f32,
}

/// An axis-aligned box.
struct Bounds {
    lo: Vec3,
    hi: Vec3,
}

impl TerrainDetail {
    /// Computes the bounds of a grid of `n` heights in m, x fastest, NaN where unknown.
    pub fn new(n: [u32; 2], cell_m: f32, heights_m: &[f32]) -> Self {
        let cells = n.map(|n| n - 1);
        let mut levels: Vec<Level> = Vec::new();
        loop {
            let level = levels.len() as u32;
            let found = Level::new(n, level, heights_m, levels.last());
            levels.push(found);
            if cells.iter().all(|cells| *cells <= CHUNK_QUADS << level) {
                return Self { n, cell_m, levels };
            }
        }
    }

    /// Returns the chunks of a picture in which no point of the surface is more than `error_px` pixels from
    /// its exact position.
    ///
    /// A height error ε causes an error of at most ε K √(1 + t²) / z in the picture, where K = h / (2 tan ½α)
    /// is the number of pixels (of the picture's height h) per metre at a distance of 1 m, t the tangent of
    /// half the diagonal angle of view, and z the minimum depth of the node. Without perspective it is ε K,
    /// with K in pixels per metre. Chunks outside the picture are omitted.
    pub fn chunks(&self, view: &View, height: u32, error_px: f32) -> Vec<Chunk> {
        let sight = Sight::of(view, height);
        let mut map = LevelMap::new(self.levels[0].nodes);
        self.choose(&sight, error_px, self.levels.len() - 1, [0, 0], &mut map);
        map.balance();
        let mut chunks = Vec::new();
        self.emit(&sight, self.levels.len() - 1, [0, 0], &map, &mut chunks);
        chunks
    }

    /// Sets the levels of a node's chunks.
    fn choose(&self, sight: &Sight, error_px: f32, level: usize, at: [u32; 2], map: &mut LevelMap) {
        let Some(node) = self.levels[level].get(at) else { return };
        let bounds = self.bounds(node, level, at);
        let is_fine = || {
            node.error_m == 0.0 || !sight.sees(&bounds) || {
                // Written such that an unbounded error is refined at any distance.
                sight.px_of(node.error_m, &bounds) <= error_px
            }
        };
        if level == 0 || is_fine() {
            map.fill(level, at);
        } else {
            children(at).for_each(|child| self.choose(sight, error_px, level - 1, child, map));
        }
    }

    fn emit(&self, sight: &Sight, level: usize, at: [u32; 2], map: &LevelMap, chunks: &mut Vec<Chunk>) {
        let Some(node) = self.levels[level].get(at) else { return };
        let first = at.map(|at| at << level);
        if usize::from(map.level[map.place(first)]) < level {
            return children(at).for_each(|child| self.emit(sight, level - 1, child, map, chunks));
        }
        if sight.sees(&self.bounds(node, level, at)) {
            let coarser = map.coarser(level, at);
            chunks.push(Chunk { first: first.map(|at| at * CHUNK_QUADS), stride: 1 << level, coarser });
        }
    }

    fn bounds(&self, node: &Node, level: usize, at: [u32; 2]) -> Bounds {
        let (side, quad) = (CHUNK_QUADS << level, 1 << level);
        let lo = at.map(|at| (at * side).saturating_sub(quad) as f32 * self.cell_m);
        let last = [0, 1].map(|axis| ((at[axis] + 1) * side + quad).min(self.n[axis] - 1));
        let hi = last.map(|last| last as f32 * self.cell_m);
        Bounds { lo: Vec3::new(lo[0], lo[1], node.lowest_m), hi: Vec3::new(hi[0], hi[1], node.highest_m) }
    }
}

fn children([i, j]: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    (0..4).map(move |child| [2 * i + (child & 1), 2 * j + (child >> 1)])
}

impl Level {
    fn get(&self, [i, j]: [u32; 2]) -> Option<&Node> {
        (i < self.nodes[0] && j < self.nodes[1]).then(|| &self.node[(j * self.nodes[0] + i) as usize])
    }

    /// Computes the nodes of a level. Their errors are not below those of the finer nodes in them: refining
    /// never makes a picture worse.
    fn new(n: [u32; 2], level: u32, heights_m: &[f32], finer: Option<&Self>) -> Self {
        let quad = 1 << level;
        let windows = n.map(|n| (n - 1).div_ceil(quad));
        let window = windows_of(n, quad, heights_m);
        let nodes = windows.map(|n| n.div_ceil(CHUNK_QUADS));
        let mut node = Vec::with_capacity((nodes[0] * nodes[1]) as usize);
        for j in 0..nodes[1] {
            for i in 0..nodes[0] {
                // Includes one quad beyond the node: finer neighbours snap vertices there to its edge.
                let range = |at: u32, windows: u32| {
                    (at * CHUNK_QUADS).saturating_sub(1)..((at + 1) * CHUNK_QUADS + 1).min(windows)
                };
                let mut found = Node { error_m: 0.0, lowest_m: f32::INFINITY, highest_m: f32::NEG_INFINITY };
                for y in range(j, windows[1]) {
                    for x in range(i, windows[0]) {
                        found.join(&window[(y * windows[0] + x) as usize]);
                    }
                }
                if let Some(finer) = finer {
                    children([i, j]).filter_map(|at| finer.get(at)).for_each(|child| found.join(child));
                } else {
                    // Level 0 draws the heights exactly.
                    found.error_m = 0.0;
                }
                node.push(found);
            }
        }
        Self { nodes, node }
    }
}

impl Node {
    fn join(&mut self, other: &Self) {
        self.error_m = self.error_m.max(other.error_m);
        self.lowest_m = self.lowest_m.min(other.lowest_m);
        self.highest_m = self.highest_m.max(other.highest_m);
    }
}

/// Bounds, for windows of `quad` cells a side, the distance of any triangle with vertices among a window's
/// heights from those heights.
///
/// With p a plane, heights minus p are between r₁ and r₂ in the whole window, and so is the triangle minus p:
/// their difference is at most r₂ − r₁. p goes through the mean of the window's corners with their mean
/// slopes. A window with both known and unknown heights has no bound and requires level 0.
fn windows_of(n: [u32; 2], quad: u32, heights_m: &[f32]) -> Vec<Node> {
    let windows = n.map(|n| (n - 1).div_ceil(quad));
    let at = |x: u32, y: u32| heights_m[(y * n[0] + x) as usize];
    let window = |i: u32, j: u32| {
        let [x, y] = [i * quad, j * quad];
        let [last_x, last_y] = [(x + quad).min(n[0] - 1), (y + quad).min(n[1] - 1)];
        let [sw, se, nw, ne] = [at(x, y), at(last_x, y), at(x, last_y), at(last_x, last_y)];
        let [width, depth] = [(last_x - x) as f32, (last_y - y) as f32];
        let mean = 0.25 * (sw + se + nw + ne);
        let [east, north] = [0.5 * ((se - sw) + (ne - nw)) / width, 0.5 * ((nw - sw) + (ne - se)) / depth];
        let mut off = [f32::INFINITY, f32::NEG_INFINITY];
        let mut found = Node { error_m: 0.0, lowest_m: f32::INFINITY, highest_m: f32::NEG_INFINITY };
        let mut n_unknown = 0;
        for b in y..=last_y {
            for a in x..=last_x {
                let height = at(a, b);
                if height.is_nan() {
                    n_unknown += 1;
                    continue;
                }
                let plane =
                    mean + east * ((a - x) as f32 - 0.5 * width) + north * ((b - y) as f32 - 0.5 * depth);
                off = [off[0].min(height - plane), off[1].max(height - plane)];
                found.lowest_m = found.lowest_m.min(height);
                found.highest_m = found.highest_m.max(height);
            }
        }
        let n_heights = (last_x - x + 1) * (last_y - y + 1);
        found.error_m = match n_unknown {
            0 => off[1] - off[0],
            _ if n_unknown == n_heights => 0.0,
            _ => f32::INFINITY,
        };
        found
    };
    (0..windows[1]).flat_map(|j| (0..windows[0]).map(move |i| (i, j))).map(|(i, j)| window(i, j)).collect()
}

/// The level at which each chunk of level 0 is drawn.
struct LevelMap {
    n: [u32; 2],
    level: Vec<u8>,
}

impl LevelMap {
    fn new(n: [u32; 2]) -> Self {
        Self { n, level: vec![0; (n[0] * n[1]) as usize] }
    }

    fn place(&self, [i, j]: [u32; 2]) -> usize {
        (j * self.n[0] + i) as usize
    }

    fn fill(&mut self, level: usize, at: [u32; 2]) {
        let [first, end] = [at, at.map(|at| at + 1)].map(|at| at.map(|at| at << level));
        for j in first[1]..end[1].min(self.n[1]) {
            for i in first[0]..end[0].min(self.n[0]) {
                let place = self.place([i, j]);
                self.level[place] = level as u8;
            }
        }
    }

    /// Returns the existing neighbours of a place, of the possible four.
    fn beside(&self, [i, j]: [u32; 2]) -> [Option<[u32; 2]>; 4] {
        let inside = |at: [u32; 2]| (at[0] < self.n[0] && at[1] < self.n[1]).then_some(at);
        [
            inside([i.wrapping_sub(1), j]),
            inside([i + 1, j]),
            inside([i, j.wrapping_sub(1)]),
            inside([i, j + 1]),
        ]
    }

    /// Subdivides nodes until neighbours differ by at most one level.
    fn balance(&mut self) {
        loop {
            let mut is_balanced = true;
            for j in 0..self.n[1] {
                for i in 0..self.n[0] {
                    let own = self.level[self.place([i, j])];
                    for other in self.beside([i, j]).into_iter().flatten() {
                        let level = usize::from(self.level[self.place(other)]);
                        if level > usize::from(own) + 1 {
                            let node = other.map(|at| at >> level);
                            children(node).for_each(|child| self.fill(level - 1, child));
                            is_balanced = false;
                        }
                    }
                }
            }
            if is_balanced {
                return;
            }
        }
    }

    /// Returns the neighbours of a node that are one level coarser, as in [`Chunk::coarser`]. A neighbour
    /// that is not finer spans the whole edge.
    fn coarser(&self, level: usize, at: [u32; 2]) -> u32 {
        let first = at.map(|at| at << level);
        let last = [0, 1].map(|axis| (((at[axis] + 1) << level) - 1).min(self.n[axis] - 1));
        let (low, high) = (self.beside(first), self.beside(last));
        let beside = [low[0], high[1], low[2], high[3]];
        let is_coarser =
            |at: &Option<[u32; 2]>| at.is_some_and(|at| usize::from(self.level[self.place(at)]) > level);
        let bits = [COARSER_LOW_X, COARSER_HIGH_X, COARSER_LOW_Y, COARSER_HIGH_Y];
        beside.iter().zip(bits).map(|(at, bit)| if is_coarser(at) { bit } else { 0 }).sum()
    }
}

impl Sight {
    fn of(view: &View, height: u32) -> Self {
        let is_flat = view.depth_reach > 0.0;
        let tan = view.half_extent;
        Self {
            eye: Vec3::from_array(view.eye),
            right: Vec3::from_array(view.right),
            up: Vec3::from_array(view.up),
            forward: Vec3::from_array(view.forward),
            tan,
            near_m: view.near,
            half_m: is_flat.then_some(tan),
            px: 0.5 * height as f32 / tan[1],
        }
    }

    /// Returns the minimum depth of a box.
    fn depth_m(&self, bounds: &Bounds) -> f32 {
        bounds.min_along(self.forward) - self.eye.dot(self.forward)
    }

    fn px_of(&self, error_m: f32, bounds: &Bounds) -> f32 {
        if self.half_m.is_some() {
            return error_m * self.px;
        }
        let depth_m = self.depth_m(bounds);
        if depth_m <= self.near_m {
            return f32::INFINITY;
        }
        let [x, y] = self.tan;
        error_m * self.px * (1.0 + x * x + y * y).sqrt() / depth_m
    }

    /// Returns true if a box may intersect the picture; false for one without heights.
    fn sees(&self, bounds: &Bounds) -> bool {
        if bounds.lo.z > bounds.hi.z {
            return false;
        }
        // A box is outside the picture if all of its points are outside one side.
        let is_past = |side: Vec3, reach: f32, slope: f32| {
            bounds.min_along(side - slope * self.forward) - self.eye.dot(side - slope * self.forward) > reach
        };
        let sides = [(self.right, 0), (-self.right, 0), (self.up, 1), (-self.up, 1)];
        match self.half_m {
            Some(half_m) => !sides.iter().any(|(side, axis)| is_past(*side, half_m[*axis], 0.0)),
            None => !sides.iter().any(|(side, axis)| is_past(*side, 0.0, self.tan[*axis])),
        }
    }
}

impl Bounds {
    /// Returns the minimum of the dot product of a direction with any point of the box.
    fn min_along(&self, direction: Vec3) -> f32 {
        (direction * self.lo).min(direction * self.hi).element_sum()
    }
}
