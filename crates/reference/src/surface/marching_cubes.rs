//! Isosurface of a field, cube by cube and without a table.
//!
//! Each cube's polygons are found by walking along its faces; the choice on a face depends on its four
//! corners alone.

use super::nodes::{BLOCK_SIDE, Nodes, split};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum distance of a vertex from the nodes of its edge, as a share of the edge.
pub const NEAREST: f64 = 1.0 / 1024.0;

/// A node of the lattice.
type Node = [i64; 3];

/// An edge of the lattice: its lower node and its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    node: Node,
    axis: usize,
}

/// A mesh, and the data for its normals.
#[derive(Clone, Debug, Default)]
pub struct IsoMesh {
    /// Positions of vertices in m; ascending by the block of their edge's lower node, that node and the axis.
    pub position: Vec<DVec3>,
    /// Minus the gradient at each vertex, times two cells: its direction is the normal.
    pub outwards: Vec<DVec3>,
    /// True for each vertex whose edge has no gradient at either end. Two gradients that cancel at the vertex
    /// do so here to the rounding of f64 only.
    pub is_flat: Vec<bool>,
    /// Direction of the edge at each vertex, towards its outside end: the normal where there is no gradient.
    pub edge_outwards: Vec<DVec3>,
    /// Vertices of triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

fn step(node: Node, axis: usize) -> Node {
    let mut next = node;
    next[axis] += 1;
    next
}

fn edge_between(a: Node, b: Node) -> Edge {
    let axis = (0..3).find(|axis| a[*axis] != b[*axis]).unwrap_or(0);
    Edge { node: std::array::from_fn(|i| a[i].min(b[i])), axis }
}

impl Edge {
    fn ends(self) -> [Node; 2] {
        [self.node, step(self.node, self.axis)]
    }

    /// Returns the number of an edge among those of a cube: by axis, then by its position on the following
    /// axes, the nearer one first.
    fn number(self, cube: Node) -> (usize, i64, i64) {
        let [b, c] = [1, 2].map(|k| (self.axis + k) % 3).map(|axis| self.node[axis] - cube[axis]);
        (self.axis, c, b)
    }

    /// Returns true if both edges of a cube lie in one of its faces.
    fn shares_face(self, other: Self) -> bool {
        let nodes = [self.ends(), other.ends()].concat();
        (0..3).any(|axis| nodes.iter().all(|node| node[axis] == nodes[0][axis]))
    }
}

/// Returns the corners of the six faces of a cube, each counter-clockwise seen from outside.
fn faces(cube: Node) -> impl Iterator<Item = [Node; 4]> {
    (0..3).flat_map(move |axis| {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        let square = |first: Node, b, c| [first, step(first, b), step(step(first, b), c), step(first, c)];
        [square(cube, c, b), square(step(cube, axis), b, c)]
    })
}

/// Returns the next crossed edge in a polygon of a cube for each of its crossed edges.
fn successors(cube: Node, is_inside: &impl Fn(Node) -> bool) -> BTreeMap<Edge, Edge> {
    let mut next = BTreeMap::new();
    for corners in faces(cube) {
        // Along the boundary of the face: from the edge where the inside is entered to the next where it is
        // left.
        let mut entered = None;
        for i in 0..8 {
            let (from, to) = (corners[i % 4], corners[(i + 1) % 4]);
            match (is_inside(from), is_inside(to)) {
                (false, true) => entered = Some(edge_between(from, to)),
                (true, false) => {
                    if let Some(entry) = entered.take() {
                        next.insert(entry, edge_between(from, to));
                    }
                }
                _ => {}
            }
        }
    }
    next
}

/// Returns the triangles of a cube, as edges: each polygon is a fan around its first edge from which no
/// diagonal lies in a face of the cube.
fn triangles(cube: Node, is_inside: &impl Fn(Node) -> bool) -> Vec<[Edge; 3]> {
    let corner = |c: i64| is_inside([cube[0] + (c & 1), cube[1] + (c >> 1 & 1), cube[2] + (c >> 2)]);
    let first = corner(0);
    if (1..8).all(|c| corner(c) == first) {
        return Vec::new();
    }
    let mut next = successors(cube, is_inside);
    let mut found = Vec::new();
    while let Some(first) = next.keys().min_by_key(|edge| edge.number(cube)).copied() {
        let mut polygon = Vec::new();
        let mut at = first;
        while let Some(to) = next.remove(&at) {
            polygon.push(at);
            at = to;
        }
        let n = polygon.len();
        let is_hub = |hub: &usize| (2..n - 1).all(|k| !polygon[*hub].shares_face(polygon[(*hub + k) % n]));
        let hub = (0..n).filter(is_hub).min_by_key(|hub| polygon[*hub].number(cube));
        let hub = hub.expect("every polygon of a cube has such a fan");
        found.extend((1..n - 1).map(|k| [polygon[hub], polygon[(hub + k) % n], polygon[(hub + k + 1) % n]]));
    }
    found
}

/// Returns all cubes that have a corner in a block of the field, by block, then by index in the block.
fn cubes(nodes: &Nodes) -> impl Iterator<Item = Node> {
    let below = |[x, y, z]: [i64; 3]| (0..8).map(move |s| [z - (s >> 2 & 1), y - (s >> 1 & 1), x - (s & 1)]);
    let blocks: BTreeSet<[i64; 3]> = nodes.blocks().flat_map(below).collect();
    blocks.into_iter().flat_map(|[z, y, x]| {
        (0..64).map(move |n| {
            let local = [n % BLOCK_SIDE, n / BLOCK_SIDE % BLOCK_SIDE, n / (BLOCK_SIDE * BLOCK_SIDE)];
            let first = [x, y, z].map(|block| block * BLOCK_SIDE);
            std::array::from_fn(|axis| first[axis] + local[axis])
        })
    })
}

/// Returns the isosurface of a field at `iso`, above 0, with node 0 at `origin_m`. Nodes with that value are
/// inside.
pub fn marching_cubes(nodes: &Nodes, origin_m: DVec3, cell_m: f64, iso: f64) -> IsoMesh {
    let is_inside = |node: Node| nodes.value(node) >= iso;
    let mut mesh = IsoMesh::default();
    let mut places = BTreeMap::new();
    for cube in cubes(nodes) {
        for axis in 0..3 {
            let edge = Edge { node: cube, axis };
            let ends = edge.ends();
            if is_inside(ends[0]) == is_inside(ends[1]) {
                continue;
            }
            let (block, place) = split(cube);
            places.insert((block, place, axis), mesh.position.len() as u32);
            let [begin, end] = ends.map(|node| nodes.value(node));
            let t = (iso - begin) / (end - begin);
            // Written so that NaN gives the start of the edge.
            let t = if t > NEAREST { t.min(1.0 - NEAREST) } else { NEAREST };
            let [from, to] = ends.map(|node| DVec3::from_array(node.map(|n| n as f64)));
            mesh.position.push(origin_m + cell_m * from.lerp(to, t));
            let [slope, slope_end] = ends.map(|node| DVec3::from_array(nodes.twice_gradient(node)));
            mesh.outwards.push(-slope.lerp(slope_end, t));
            mesh.is_flat.push(slope == DVec3::ZERO && slope_end == DVec3::ZERO);
            mesh.edge_outwards.push(if begin >= iso { to - from } else { from - to });
        }
    }
    let vertex = |edge: Edge| {
        let (block, place) = split(edge.node);
        places[&(block, place, edge.axis)]
    };
    for cube in cubes(nodes) {
        mesh.triangles.extend(triangles(cube, &is_inside).into_iter().map(|edges| edges.map(vertex)));
    }
    mesh
}
