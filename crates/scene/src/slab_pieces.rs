//! The rigid pieces of slabs: their shape, mass and inertia, and the links between neighbours.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::sample::unit_interval;
use crate::terrain::normal_of;
use crate::validate::{number, vector};
use crate::{Scene, SceneError, Slab, SlabShape, Terrain, TriangleMesh, Vec3};

/// The slabs of a scene at time 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledSlabs {
    /// Slab after slab.
    pub pieces: Vec<SlabPiece>,
    /// Links between pieces of one slab.
    pub links: Vec<SlabLink>,
}

/// A convex rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabPiece {
    /// The slab that it is a piece of, by its place in [`Scene::slabs`].
    pub slab: usize,
    /// Corners in m, seen from the centre of mass.
    pub vertices_m: Vec<Vec3>,
    /// Faces by their corners, counter-clockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
    /// Centre of mass in m.
    pub centre_m: Vec3,
    /// Volume in m³.
    pub volume_m3: f64,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Moment of inertia about the centre of mass along the scene's axes in kg m²: symmetric, row by row.
    pub inertia_kg_m2: [Vec3; 3],
    /// Initial velocity in m/s.
    pub velocity_m_s: Vec3,
}

/// Two pieces that share a face.
#[derive(Clone, Debug, PartialEq)]
pub struct SlabLink {
    /// The pieces, by their place in [`SampledSlabs::pieces`], the lower first.
    pub pieces: [usize; 2],
    /// Middle of the face in m.
    pub point_m: Vec3,
    /// The face's unit normal, from the first piece to the second.
    pub normal: Vec3,
    /// Area of the face in m².
    pub area_m2: f64,
    /// Force along the normal that breaks it, in N.
    pub strength_n: f64,
    /// Force across the normal that breaks it, in N.
    pub shear_strength_n: f64,
}

/// Streams of random numbers of slabs, behind those of releases.
const FIRST_SLAB_STREAM: u64 = 1 << 60;

/// Corners may lie beyond a face by this share of the piece's size before it counts as hollow.
const CONVEX_TOLERANCE: f64 = 1e-6;

/// Corners of pieces are one if no further apart than this share of a piece.
const SHARED_TOLERANCE: f64 = 1e-6;

/// Gap between plate and terrain, in thicknesses: more than the rounding of positions to f32.
const CLEARANCE: f64 = 1e-3;

/// Times at most that a plate is moved along its normal, and of those how many may be downwards.
const MAX_LIFTS: usize = 64;
const SETTLING_LIFTS: usize = 8;

/// Points along an edge at most by which the plane below a plate is found.
const MAX_PLATE_POINTS: usize = 513;

/// Points in a cell, and along an edge at most, at which the edge of a plate is held against the terrain.
const EDGE_POINTS_PER_CELL: f64 = 64.0;
const MAX_EDGE_POINTS: f64 = 65536.0;

impl Scene {
    /// The slabs' pieces and links at time 0. The same scene and seed give the same bits.
    ///
    /// # Errors
    /// [`SceneError::Value`] for a plate off the map, a mesh that is not convex, and pieces beyond the walls, in the ground, in
    /// obstacles, in colliders or in one another.
    pub fn sample_slabs(&self) -> Result<SampledSlabs, SceneError> {
        let mut sampled = SampledSlabs::default();
        for (idx, slab) in self.slabs.iter().enumerate() {
            let key = format!("slabs.{idx}.shape.{}", slab.shape.name());
            let first = sampled.pieces.len();
            match &slab.shape {
                SlabShape::Plate { .. } => {
                    let Some(terrain) = self.ground() else {
                        let found = "a terrain that was not there when the scene was read";
                        return Err(self.value_error(&key, found, "it where the scene says"));
                    };
                    let Some(plate) = Plate::on(terrain, slab) else {
                        let found = "a plate off the map, or over heights that are unknown";
                        return Err(self.value_error(
                            &key,
                            found,
                            "a plate on the known heights of the terrain",
                        ));
                    };
                    plate.cut(idx, slab, &mut self.slab_rng(idx), &mut sampled);
                }
                SlabShape::Meshes { paths, scale, offset_m, meshes } => {
                    let Some(meshes) = meshes.get() else {
                        let found = "files that were not there when the scene was read";
                        return Err(self.value_error(&key, found, "them where the scene says"));
                    };
                    for (mesh_idx, mesh) in meshes.iter().enumerate() {
                        let pieces = solid_pieces(idx, slab, mesh, *scale, *offset_m);
                        if let Some(problem) = pieces.iter().find_map(SlabPiece::hollow) {
                            return Err(self.value_error(
                                &format!("{key}.paths.{mesh_idx}"),
                                format!("{}: {problem}", paths.get(mesh_idx).map_or("", |path| path)),
                                "closed surfaces that are convex; divide others into convex ones",
                            ));
                        }
                        sampled.pieces.extend(pieces);
                    }
                    link_neighbours(first, slab, &mut sampled);
                }
            }
        }
        self.refuse_misplaced_pieces(&sampled)?;
        Ok(sampled)
    }

    /// The same pieces and links lying anywhere: what is needed of masses and sizes, without looking for a place on the terrain.
    pub(crate) fn flat_slabs(&self) -> SampledSlabs {
        let mut sampled = SampledSlabs::default();
        for (idx, slab) in self.slabs.iter().enumerate() {
            let first = sampled.pieces.len();
            match &slab.shape {
                SlabShape::Plate { .. } => {
                    if let Some(plate) = Plate::level(slab) {
                        plate.cut(idx, slab, &mut self.slab_rng(idx), &mut sampled);
                    }
                }
                SlabShape::Meshes { scale, offset_m, meshes, .. } => {
                    let meshes = meshes.get().map_or(&[][..], Vec::as_slice);
                    let pieces =
                        meshes.iter().flat_map(|mesh| solid_pieces(idx, slab, mesh, *scale, *offset_m));
                    sampled.pieces.extend(pieces);
                    link_neighbours(first, slab, &mut sampled);
                }
            }
        }
        sampled
    }

    /// What the corners of a slab's pieces are drawn from.
    fn slab_rng(&self, slab_idx: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(FIRST_SLAB_STREAM + slab_idx as u64);
        rng
    }
}

impl SlabPiece {
    /// The convex piece with corners in the scene's coordinates and faces counter-clockwise seen from outside; mass and inertia are those
    /// of the solid.
    pub fn new(slab_idx: usize, slab: &Slab, vertices_m: Vec<Vec3>, faces: Vec<Vec<u32>>) -> Self {
        let Moments { volume, centre, inertia } = moments(&vertices_m, &faces);
        Self {
            slab: slab_idx,
            vertices_m: vertices_m.into_iter().map(|v| std::array::from_fn(|i| v[i] - centre[i])).collect(),
            faces,
            centre_m: centre,
            volume_m3: volume,
            mass_kg: slab.density_kg_m3 * volume,
            inertia_kg_m2: inertia.map(|row| row.map(|x| slab.density_kg_m3 * x)),
            velocity_m_s: slab.velocity_m_s,
        }
    }

    /// Planes of the faces: unit normal out of the piece, and its distance in m from the centre of mass.
    pub fn planes(&self) -> Vec<(Vec3, f64)> {
        self.faces
            .iter()
            .map(|face| {
                let corners: Vec<Vec3> = face.iter().map(|&v| self.vertices_m[v as usize]).collect();
                // Newell's normal is that of the best plane, should the corners not quite lie in one.
                let sum = corners.iter().zip(corners.iter().cycle().skip(1)).fold([0.0; 3], |sum, (a, b)| {
                    let cross = cross(*a, *b);
                    std::array::from_fn(|i| sum[i] + cross[i])
                });
                let normal = unit(sum);
                (normal, dot(normal, corners[0]))
            })
            .collect()
    }

    /// Distance in m of its farthest corner from the centre of mass.
    pub fn bounding_radius_m(&self) -> f64 {
        self.vertices_m.iter().map(|v| dot(*v, *v).sqrt()).fold(0.0, f64::max)
    }

    /// Distance of a point in m from the farthest of [`Self::planes`]: negative inside, outside no more than the distance from the piece.
    pub fn distance_m(&self, planes: &[(Vec3, f64)], point_m: Vec3) -> f64 {
        let arm: Vec3 = std::array::from_fn(|i| point_m[i] - self.centre_m[i]);
        planes.iter().map(|(normal, offset_m)| dot(*normal, arm) - offset_m).fold(f64::NEG_INFINITY, f64::max)
    }

    /// What makes it other than convex, if anything does.
    fn hollow(&self) -> Option<String> {
        let size = self.vertices_m.iter().map(|v| dot(*v, *v).sqrt()).fold(0.0, f64::max);
        for (normal, offset) in self.planes() {
            for v in &self.vertices_m {
                let beyond = dot(normal, *v) - offset;
                if beyond > CONVEX_TOLERANCE * size {
                    let corner: Vec3 = std::array::from_fn(|i| self.centre_m[i] + v[i]);
                    return Some(format!(
                        "a hollow: the corner at {} m is {} m beyond a face",
                        vector(corner),
                        number(beyond)
                    ));
                }
            }
        }
        None
    }
}

/// A flat rectangle on a slope.
struct Plate {
    /// Corner of the lower face.
    origin: Vec3,
    /// Unit vectors along both edges and through the thickness.
    axes: [Vec3; 3],
    size_m: [f64; 2],
    thickness_m: f64,
    pieces: [u32; 2],
    irregularity: f64,
}

impl Plate {
    /// The plate of a slab as it would lie on level ground at height 0; none of slabs that are no plates.
    fn level(slab: &Slab) -> Option<Self> {
        let SlabShape::Plate { origin_m, size_m, rotation_deg, thickness_m, pieces, irregularity } =
            &slab.shape
        else {
            return None;
        };
        let (sin, cos) = rotation_deg.to_radians().sin_cos();
        Some(Self {
            origin: [origin_m[0], origin_m[1], 0.0],
            axes: [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]],
            size_m: *size_m,
            thickness_m: *thickness_m,
            pieces: *pieces,
            irregularity: *irregularity,
        })
    }

    /// The plate of a slab on the terrain; none where a part of it is off the map.
    fn on(terrain: &Terrain, slab: &Slab) -> Option<Self> {
        let mut plate = Self::level(slab)?;
        plate.origin[2] = terrain.height_m([plate.origin[0], plate.origin[1]])?;
        let [cos, sin, _] = plate.axes[0];
        let thickness_m = plate.thickness_m;
        // The footprint depends on the plane and the plane on the footprint: a few rounds settle both.
        for _ in 0..4 {
            let (gradient, height) = plate.fitted_plane(terrain)?;
            let normal = normal_of(gradient);
            let along = unit([cos, sin, gradient[0] * cos + gradient[1] * sin]);
            plate.axes = [along, cross(normal, along), normal];
            plate.origin[2] = height;
        }
        // Moved along its normal its footprint moves, too; at last it only goes up.
        let clearance_m = CLEARANCE * thickness_m;
        for round in 0..MAX_LIFTS {
            let highest_m = plate.highest_m(terrain)?;
            let is_free = highest_m <= -0.5 * clearance_m;
            if is_free && (round >= SETTLING_LIFTS || highest_m >= -1.5 * clearance_m) {
                break;
            }
            let lift_m = highest_m + clearance_m;
            plate.origin = std::array::from_fn(|i| plate.origin[i] + lift_m * plate.axes[2][i]);
        }
        Some(plate)
    }

    fn point(&self, [u, v, w]: Vec3) -> Vec3 {
        std::array::from_fn(|i| {
            self.origin[i] + u * self.axes[0][i] + v * self.axes[1][i] + w * self.axes[2][i]
        })
    }

    /// Points of the lower face: no farther apart than half of the terrain's cells, and its corners.
    fn points(&self, terrain: &Terrain) -> impl Iterator<Item = Vec3> {
        let n = self
            .size_m
            .map(|size| ((2.0 * size / terrain.cell_m()).ceil() as usize).clamp(8, MAX_PLATE_POINTS - 1));
        (0..=n[1]).flat_map(move |j| (0..=n[0]).map(move |i| [i, j])).map(move |[i, j]| {
            self.point([
                self.size_m[0] * i as f64 / n[0] as f64,
                self.size_m[1] * j as f64 / n[1] as f64,
                0.0,
            ])
        })
    }

    /// Gradient of the plane nearest to the terrain below, by least squares, and its height at the origin.
    fn fitted_plane(&self, terrain: &Terrain) -> Option<([f64; 2], f64)> {
        let (mut n, mut mean) = (0.0, [0.0; 3]);
        let mut ground = Vec::new();
        for [x, y, _] in self.points(terrain) {
            let point = [x, y, terrain.height_m([x, y])?];
            mean = std::array::from_fn(|i| mean[i] + point[i]);
            n += 1.0;
            ground.push(point);
        }
        let mean = mean.map(|sum| sum / n);
        let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for point in ground {
            let [x, y, z]: Vec3 = std::array::from_fn(|i| point[i] - mean[i]);
            (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
            (xz, yz) = (xz + x * z, yz + y * z);
        }
        let determinant = xx * yy - xy * xy;
        let gradient = [(yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant];
        let height = mean[2] + (0..2).map(|i| gradient[i] * (self.origin[i] - mean[i])).sum::<f64>();
        Some((gradient, height))
    }

    /// How far the terrain reaches beyond the lower face, along the plate's normal, in m.
    ///
    /// Over a plane a bilinear patch is highest at a corner of the region: at heights within the footprint, and along its edge.
    fn highest_m(&self, terrain: &Terrain) -> Option<f64> {
        let over = |[x, y, z]: Vec3| Some((terrain.height_m([x, y])? - z) * self.axes[2][2]);
        let mut highest = f64::NEG_INFINITY;
        let step_m = terrain.cell_m() / EDGE_POINTS_PER_CELL;
        let corner =
            |k: usize| [[0.0, 0.0], [self.size_m[0], 0.0], self.size_m, [0.0, self.size_m[1]]][k % 4];
        for k in 0..4 {
            let (a, b) = (corner(k), corner(k + 1));
            let n = (self.size_m[k % 2] / step_m).ceil().clamp(8.0, MAX_EDGE_POINTS);
            for i in 0..n as u32 {
                let [u, v] = [0, 1].map(|axis| a[axis] + f64::from(i) / n * (b[axis] - a[axis]));
                highest = highest.max(over(self.point([u, v, 0.0]))?);
            }
        }
        let corners = [0, 1, 2, 3].map(|k| self.point([corner(k)[0], corner(k)[1], 0.0]));
        let range = |axis: usize, n: usize| {
            let least = corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min) / terrain.cell_m();
            let greatest =
                corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max) / terrain.cell_m();
            (least.ceil().max(0.0) as usize)..=(greatest.floor().max(0.0) as usize).min(n - 1)
        };
        let [along, across, _] = self.axes;
        let determinant = along[0] * across[1] - along[1] * across[0];
        for row in range(1, terrain.n_rows()) {
            for column in range(0, terrain.n_columns()) {
                let [x, y] = [column, row].map(|i| i as f64 * terrain.cell_m());
                let (dx, dy) = (x - self.origin[0], y - self.origin[1]);
                let (u, v) = (
                    (dx * across[1] - dy * across[0]) / determinant,
                    (dy * along[0] - dx * along[1]) / determinant,
                );
                if (0.0..=self.size_m[0]).contains(&u) && (0.0..=self.size_m[1]).contains(&v) {
                    highest = highest.max(over(self.point([u, v, 0.0]))?);
                }
            }
        }
        Some(highest)
    }

    /// Appends the pieces, row by row along the first edge, and their links.
    fn cut(&self, slab_idx: usize, slab: &Slab, rng: &mut ChaCha8Rng, sampled: &mut SampledSlabs) {
        let [nx, ny] = self.pieces.map(|n| n as usize);
        // Corners on an edge stay on it.
        let mut corners = Vec::with_capacity((nx + 1) * (ny + 1));
        for j in 0..=ny {
            for i in 0..=nx {
                let mut place = |k: usize, n: usize| {
                    let shift = self.irregularity * (2.0 * unit_interval(rng) - 1.0);
                    if k == 0 || k == n { k as f64 } else { k as f64 + shift }
                };
                let (u, v) = (place(i, nx), place(j, ny));
                corners.push([u * self.size_m[0] / nx as f64, v * self.size_m[1] / ny as f64]);
            }
        }
        let corner = |i: usize, j: usize, w: f64| {
            let [u, v] = corners[j * (nx + 1) + i];
            self.point([u, v, w])
        };
        let first = sampled.pieces.len();
        let top = self.thickness_m;
        for j in 0..ny {
            for i in 0..nx {
                let around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let mut vertices: Vec<Vec3> = around.iter().map(|&(i, j)| corner(i, j, 0.0)).collect();
                vertices.extend(around.iter().map(|&(i, j)| corner(i, j, top)));
                let faces =
                    [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
                let faces = faces.iter().map(|face| face.to_vec()).collect();
                sampled.pieces.push(SlabPiece::new(slab_idx, slab, vertices, faces));
            }
        }
        let mut link = |pieces: [usize; 2], (ai, aj): (usize, usize), (bi, bj): (usize, usize)| {
            let (a, b) = (corner(ai, aj, 0.0), corner(bi, bj, 0.0));
            let face = [a, b, corner(bi, bj, top), corner(ai, aj, top)];
            let edge: Vec3 = std::array::from_fn(|i| b[i] - a[i]);
            let area_m2 = dot(edge, edge).sqrt() * self.thickness_m;
            let point_m = std::array::from_fn(|i| 0.25 * face.iter().map(|v| v[i]).sum::<f64>());
            let normal = facing(&sampled.pieces, pieces, unit(cross(edge, self.axes[2])));
            sampled.links.push(SlabLink::new(pieces, slab, point_m, normal, area_m2));
        };
        for j in 0..ny {
            for i in 0..nx {
                let piece = first + j * nx + i;
                if i + 1 < nx {
                    link([piece, piece + 1], (i + 1, j), (i + 1, j + 1));
                }
                if j + 1 < ny {
                    link([piece, piece + nx], (i, j + 1), (i + 1, j + 1));
                }
            }
        }
    }
}

impl SlabLink {
    fn new(pieces: [usize; 2], slab: &Slab, point_m: Vec3, normal: Vec3, area_m2: f64) -> Self {
        Self {
            pieces,
            point_m,
            normal,
            area_m2,
            strength_n: slab.link_strength_pa * area_m2,
            shear_strength_n: slab.link_shear_strength_pa() * area_m2,
        }
    }
}

/// A normal turned to point from the first piece to the second.
fn facing(pieces: &[SlabPiece], [a, b]: [usize; 2], normal: Vec3) -> Vec3 {
    let arm = std::array::from_fn(|i| pieces[b].centre_m[i] - pieces[a].centre_m[i]);
    if dot(arm, normal) < 0.0 { normal.map(|x| -x) } else { normal }
}

/// A closed surface in one piece, its faces counter-clockwise seen from outside.
struct Solid {
    vertices: Vec<Vec3>,
    faces: Vec<Vec<u32>>,
}

/// The surfaces that a mesh is made of, in the order of their first corners.
fn components(mesh: &TriangleMesh) -> Vec<Solid> {
    let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
    // The least corner that each hangs on, found by joining.
    let mut root: Vec<u32> = (0..vertices.len() as u32).collect();
    fn find(root: &mut [u32], mut v: u32) -> u32 {
        while root[v as usize] != v {
            root[v as usize] = root[root[v as usize] as usize];
            v = root[v as usize];
        }
        v
    }
    for [a, b, c] in triangles {
        for other in [b, c] {
            let (p, q) = (find(&mut root, *a), find(&mut root, *other));
            root[p.max(q) as usize] = p.min(q);
        }
    }
    let mut solids: Vec<Solid> = Vec::new();
    let mut solid_of = vec![usize::MAX; vertices.len()];
    let mut place = vec![0_u32; vertices.len()];
    for (v, vertex) in vertices.iter().enumerate() {
        let r = find(&mut root, v as u32) as usize;
        if solid_of[r] == usize::MAX {
            solid_of[r] = solids.len();
            solids.push(Solid { vertices: Vec::new(), faces: Vec::new() });
        }
        let solid = &mut solids[solid_of[r]];
        place[v] = solid.vertices.len() as u32;
        solid.vertices.push(*vertex);
    }
    for triangle in triangles {
        let r = find(&mut root, triangle[0]) as usize;
        solids[solid_of[r]].faces.push(triangle.iter().map(|&v| place[v as usize]).collect());
    }
    solids.retain(|solid| !solid.faces.is_empty());
    for solid in &mut solids {
        if signed_volume(&solid.vertices, &solid.faces) < 0.0 {
            solid.faces.iter_mut().for_each(|face| face.reverse());
        }
    }
    solids
}

/// The solids of a mesh as pieces of a slab, so many metres a unit, moved.
fn solid_pieces(
    slab_idx: usize,
    slab: &Slab,
    mesh: &TriangleMesh,
    scale: f64,
    offset_m: Vec3,
) -> Vec<SlabPiece> {
    let place = |v: &Vec3| std::array::from_fn(|i| offset_m[i] + scale * v[i]);
    let piece = |solid: Solid| {
        SlabPiece::new(slab_idx, slab, solid.vertices.iter().map(place).collect(), solid.faces)
    };
    components(mesh).into_iter().map(piece).collect()
}

/// Links pieces, from the `first` on, that share the corners of a face.
fn link_neighbours(first: usize, slab: &Slab, sampled: &mut SampledSlabs) {
    for b in first..sampled.pieces.len() {
        for a in first..b {
            let corners = |piece: &SlabPiece| -> Vec<Vec3> {
                piece.vertices_m.iter().map(|v| std::array::from_fn(|i| piece.centre_m[i] + v[i])).collect()
            };
            let size = sampled.pieces[a].volume_m3.min(sampled.pieces[b].volume_m3).cbrt();
            let theirs = corners(&sampled.pieces[b]);
            let is_shared = |v: &Vec3| {
                theirs.iter().any(|w| (0..3).all(|i| (v[i] - w[i]).abs() <= SHARED_TOLERANCE * size))
            };
            let shared: Vec<Vec3> =
                corners(&sampled.pieces[a]).into_iter().filter(|v| is_shared(v)).collect();
            if let Some((point_m, normal, area_m2)) = polygon_of(&shared) {
                let normal = facing(&sampled.pieces, [a, b], normal);
                sampled.links.push(SlabLink::new([a, b], slab, point_m, normal, area_m2));
            }
        }
    }
}

/// Middle, unit normal and area of the convex polygon that points of a plane are the corners of; none of fewer than three.
fn polygon_of(points: &[Vec3]) -> Option<(Vec3, Vec3, f64)> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let middle: Vec3 = std::array::from_fn(|i| points.iter().map(|p| p[i]).sum::<f64>() / n);
    let arms: Vec<Vec3> = points.iter().map(|p| std::array::from_fn(|i| p[i] - middle[i])).collect();
    let normal = arms[1..]
        .iter()
        .map(|arm| cross(arms[0], *arm))
        .max_by(|a, b| dot(*a, *a).total_cmp(&dot(*b, *b)))
        .filter(|normal| dot(*normal, *normal) > 0.0)
        .map(unit)?;
    let first = unit(arms[0]);
    let second = cross(normal, first);
    let mut around: Vec<(f64, Vec3)> =
        arms.iter().map(|arm| (dot(*arm, second).atan2(dot(*arm, first)), *arm)).collect();
    around.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut area, mut moment) = (0.0, [0.0; 3]);
    for (k, (_, a)) in around.iter().enumerate() {
        let b = around[(k + 1) % around.len()].1;
        let part = 0.5 * dot(normal, cross(*a, b));
        area += part;
        moment = std::array::from_fn(|i| moment[i] + part * (a[i] + b[i]) / 3.0);
    }
    (area > 0.0).then(|| (std::array::from_fn(|i| middle[i] + moment[i] / area), normal, area))
}

/// Volume, centre of mass, and moment of inertia about it of a solid of density 1.
struct Moments {
    volume: f64,
    centre: Vec3,
    inertia: [Vec3; 3],
}

/// Sums over tetrahedra from a corner to the triangles of the faces: exact for what plane faces bound.
fn moments(vertices: &[Vec3], faces: &[Vec<u32>]) -> Moments {
    // Seen from a corner, so that coordinates of a map do not cancel.
    let origin = vertices[0];
    let arm = |v: u32| -> Vec3 { std::array::from_fn(|i| vertices[v as usize][i] - origin[i]) };
    let (mut six_volumes, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for face in faces {
        for pair in face[1..].windows(2) {
            let [a, b, c] = [face[0], pair[0], pair[1]].map(arm);
            let determinant = dot(a, cross(b, c));
            let sum: Vec3 = std::array::from_fn(|i| a[i] + b[i] + c[i]);
            six_volumes += determinant;
            for i in 0..3 {
                first[i] += determinant * sum[i] / 24.0;
                for j in 0..3 {
                    second[i][j] +=
                        determinant * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]) / 120.0;
                }
            }
        }
    }
    let volume = six_volumes / 6.0;
    let mean: Vec3 = first.map(|x| x / volume);
    let about_mean = |i: usize, j: usize| second[i][j] - volume * mean[i] * mean[j];
    let trace: f64 = (0..3).map(|i| about_mean(i, i)).sum();
    Moments {
        volume,
        centre: std::array::from_fn(|i| origin[i] + mean[i]),
        inertia: std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { trace - about_mean(i, i) } else { -about_mean(i, j) })
        }),
    }
}

fn signed_volume(vertices: &[Vec3], faces: &[Vec<u32>]) -> f64 {
    moments(vertices, faces).volume
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

pub(crate) fn unit(v: Vec3) -> Vec3 {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}
