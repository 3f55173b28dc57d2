//! Regions of space: containment, volume, and sampling of points.

use std::f64::consts::PI;

use chacha20::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SceneError;
use crate::Vec3;
use crate::loaded::Loaded;
use crate::random::unit_interval;
use crate::shapes::outline::Outline;
use crate::shapes::point_cloud::PointCloud;
use crate::shapes::triangle_mesh::TriangleMesh;
use crate::watch::Watch;

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// (1, 0, 0).
    X,
    /// (0, 1, 0).
    Y,
    /// (0, 0, 1).
    Z,
}

impl Axis {
    /// Returns the index of the axis in a vector: 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the unit vector along the axis.
    pub fn unit(self) -> Vec3 {
        let mut unit = [0.0; 3];
        unit[self.index()] = 1.0;
        unit
    }

    /// Returns the two other axes in alphabetical order.
    pub fn horizontal(self) -> [usize; 2] {
        match self {
            Self::X => [1, 2],
            Self::Y => [0, 2],
            Self::Z => [0, 1],
        }
    }

    /// Returns the two other axes in the order that makes a right-handed frame with this one first.
    pub(crate) fn others(self) -> [usize; 2] {
        let i = self.index();
        [(i + 1) % 3, (i + 2) % 3]
    }
}

/// A region of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shape {
    /// An axis-aligned box.
    Box {
        /// Lower corner in m.
        min_m: Vec3,
        /// Upper corner in m.
        max_m: Vec3,
    },
    /// An axis-aligned rectangle of the x–y plane; scenes of two dimensions only.
    Rectangle {
        /// Lower corner `[x, y]` in m.
        min_m: [f64; 2],
        /// Upper corner `[x, y]` in m.
        max_m: [f64; 2],
    },
    /// A disk of the x–y plane; scenes of two dimensions only.
    Circle {
        /// Centre `[x, y]` in m.
        centre_m: [f64; 2],
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// A ball.
    Sphere {
        /// Centre in m.
        centre_m: Vec3,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// A solid cylinder along an axis.
    Cylinder {
        /// Centre, at half the height, in m.
        centre_m: Vec3,
        /// Direction of the cylinder.
        axis: Axis,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
        /// Length along the axis in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        height_m: f64,
    },
    /// Letters in the x–y plane; scenes of the material point method only.
    Text {
        /// Text, in one line or more.
        text: String,
        /// Height of a capital letter in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        height_m: f64,
        /// Start of the first line on its baseline, in m.
        origin_m: Vec3,
        /// Depth of the letters along z, in m, for scenes of three dimensions. Without it the letters are
        /// flat, for scenes of two dimensions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        depth_m: Option<f64>,
        /// Path of a TTF or OTF file, relative to the scene file; by default DejaVu Sans Bold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        font: Option<String>,
        /// The loaded outline.
        #[serde(skip)]
        outline: Loaded<Outline>,
    },
    /// The region enclosed by a closed surface of triangles; parts within others are cavities. Scenes of the
    /// material point method and of grains only.
    Mesh {
        /// Path of an OBJ, STL or PLY file, relative to the scene file.
        path: String,
        /// Length of one unit of the file in m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
        /// Position of the file's origin, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The loaded surface.
        #[serde(skip)]
        mesh: Loaded<TriangleMesh>,
    },
    /// Particles of a file with their positions and, if it has them, velocities and temperatures, which take
    /// precedence over those of the block. Each has the volume of one particle of the scene's spacing. Not in
    /// scenes of grains, and not with a `scale` of the scene.
    Points {
        /// Path of a PLY, VTU, PVTU, BGEO or CSV file, relative to the scene file; it may be compressed by
        /// gzip.
        path: String,
        /// Length of one unit of the file in m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
        /// Position of the file's origin, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The loaded particles.
        #[serde(skip)]
        points: Loaded<PointCloud>,
    },
}

fn one() -> f64 {
    1.0
}

/// Tolerance for the rounding of decimal numbers, as a share of a spacing: an extent that falls short of a
/// whole number of spacings by no more still holds that number.
pub(crate) const LATTICE_TOLERANCE: f64 = 1e-6;

impl Shape {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Rectangle { .. } => "rectangle",
            Self::Circle { .. } => "circle",
            Self::Sphere { .. } => "sphere",
            Self::Cylinder { .. } => "cylinder",
            Self::Text { .. } => "text",
            Self::Mesh { .. } => "mesh",
            Self::Points { .. } => "points",
        }
    }

    /// Returns true if the shape lies in the x–y plane: areas then stand for volumes, per metre of depth.
    pub fn is_flat(&self) -> bool {
        match self {
            Self::Rectangle { .. } | Self::Circle { .. } | Self::Text { depth_m: None, .. } => true,
            Self::Points { points, .. } => points.get().is_some_and(PointCloud::is_flat),
            _ => false,
        }
    }

    /// Returns true if the font or mesh that the shape needs was loaded, or if it needs none.
    pub(crate) fn is_loaded(&self) -> bool {
        match self {
            Self::Text { outline, .. } => outline.get().is_some(),
            Self::Mesh { mesh, .. } => mesh.get().is_some(),
            Self::Points { points, .. } => points.get().is_some(),
            _ => true,
        }
    }

    /// Returns the lower and upper corner of the axis-aligned bounding box, in m.
    pub fn bounds_m(&self) -> (Vec3, Vec3) {
        let around = |centre: &Vec3, half: Vec3| {
            (std::array::from_fn(|i| centre[i] - half[i]), std::array::from_fn(|i| centre[i] + half[i]))
        };
        match self {
            Self::Box { min_m, max_m } => (*min_m, *max_m),
            Self::Rectangle { min_m: [x0, y0], max_m: [x1, y1] } => ([*x0, *y0, 0.0], [*x1, *y1, 0.0]),
            Self::Circle { centre_m: [x, y], radius_m } => {
                around(&[*x, *y, 0.0], [*radius_m, *radius_m, 0.0])
            }
            Self::Sphere { centre_m, radius_m } => around(centre_m, [*radius_m; 3]),
            Self::Cylinder { centre_m, axis, radius_m, height_m } => {
                let mut half = [*radius_m; 3];
                half[axis.index()] = 0.5 * height_m;
                around(centre_m, half)
            }
            Self::Text { height_m, origin_m: [x, y, z], depth_m, outline, .. } => {
                let [low, high] = outline.get().map_or([[0.0; 2]; 2], |outline| outline.bounds);
                let corner = |[u, v]: [f64; 2], z: f64| [x + height_m * u, y + height_m * v, z];
                (corner(low, *z), corner(high, z + depth_m.unwrap_or(0.0)))
            }
            Self::Mesh { scale, offset_m, mesh, .. } => {
                let [low, high] = mesh.get().map_or([[0.0; 3]; 2], |mesh| mesh.bounds);
                let place = |corner: Vec3| std::array::from_fn(|i| offset_m[i] + scale * corner[i]);
                (place(low), place(high))
            }
            Self::Points { scale, offset_m, points, .. } => {
                let [low, high] = points.get().map_or([[0.0; 3]; 2], PointCloud::bounds);
                let place = |corner: Vec3| std::array::from_fn(|i| offset_m[i] + scale * corner[i]);
                (place(low), place(high))
            }
        }
    }

    /// Returns the particles of a file, if this is one that was loaded.
    pub(crate) fn cloud(&self) -> Option<&PointCloud> {
        match self {
            Self::Points { points, .. } => points.get(),
            _ => None,
        }
    }

    /// Returns the number of particles of a file; none for other shapes.
    pub(crate) fn n_points(&self) -> Option<usize> {
        match self {
            Self::Points { points, .. } => Some(points.get().map_or(0, PointCloud::len)),
            _ => None,
        }
    }

    /// Returns the volume in m³, or the area in m²; 0 for points, whose volume follows from the spacing.
    pub fn volume_m3(&self) -> f64 {
        match self {
            Self::Box { min_m, max_m } => (0..3).map(|i| max_m[i] - min_m[i]).product(),
            Self::Rectangle { min_m, max_m } => (0..2).map(|i| max_m[i] - min_m[i]).product(),
            Self::Circle { radius_m, .. } => PI * radius_m * radius_m,
            Self::Sphere { radius_m, .. } => 4.0 / 3.0 * PI * radius_m * radius_m * radius_m,
            Self::Cylinder { radius_m, height_m, .. } => PI * radius_m * radius_m * height_m,
            Self::Text { height_m, depth_m, outline, .. } => {
                let area_m2 = outline.get().map_or(0.0, |outline| outline.area) * height_m * height_m;
                area_m2 * depth_m.unwrap_or(1.0)
            }
            Self::Mesh { scale, mesh, .. } => {
                mesh.get().map_or(0.0, |mesh| mesh.volume) * scale * scale * scale
            }
            Self::Points { .. } => 0.0,
        }
    }

    /// Returns true if `point_m` lies in the shape and at least `inset_m` from its surface; a negative inset
    /// widens the shape. Points of a file enclose nothing.
    pub fn contains(&self, point_m: Vec3, inset_m: f64) -> bool {
        let square = |x: f64| x * x;
        match self {
            Self::Box { min_m, max_m } => {
                (0..3).all(|i| point_m[i] >= min_m[i] + inset_m && point_m[i] <= max_m[i] - inset_m)
            }
            Self::Rectangle { min_m, max_m } => {
                (0..2).all(|i| point_m[i] >= min_m[i] + inset_m && point_m[i] <= max_m[i] - inset_m)
            }
            Self::Circle { centre_m, radius_m } => {
                let r = radius_m - inset_m;
                r >= 0.0 && (0..2).map(|i| square(point_m[i] - centre_m[i])).sum::<f64>() <= r * r
            }
            Self::Sphere { centre_m, radius_m } => {
                let r = radius_m - inset_m;
                r >= 0.0 && (0..3).map(|i| square(point_m[i] - centre_m[i])).sum::<f64>() <= r * r
            }
            Self::Cylinder { centre_m, axis, radius_m, height_m } => {
                let along = point_m[axis.index()] - centre_m[axis.index()];
                let r = radius_m - inset_m;
                let across: f64 = axis.others().iter().map(|&i| square(point_m[i] - centre_m[i])).sum();
                along.abs() <= 0.5 * height_m - inset_m && r >= 0.0 && across <= r * r
            }
            Self::Text { height_m, origin_m, depth_m, outline, .. } => {
                let flat = [0, 1].map(|i| (point_m[i] - origin_m[i]) / height_m);
                let along = point_m[2] - origin_m[2];
                depth_m.is_none_or(|depth_m| along >= inset_m && along <= depth_m - inset_m)
                    && outline.get().is_some_and(|outline| outline.contains(flat, inset_m / height_m))
            }
            Self::Mesh { scale, offset_m, mesh, .. } => mesh.get().is_some_and(|mesh| {
                let contains = |point_m: Vec3| {
                    mesh.contains(std::array::from_fn(|i| (point_m[i] - offset_m[i]) / scale))
                };
                // Distances along the axes approximate the distance from the surface.
                let mut beside = (0..6).map(|k| {
                    let mut beside_m = point_m;
                    beside_m[k / 2] += if k % 2 == 0 { inset_m } else { -inset_m };
                    beside_m
                });
                if inset_m >= 0.0 {
                    contains(point_m) && (inset_m == 0.0 || beside.all(contains))
                } else {
                    contains(point_m) || beside.any(contains)
                }
            }),
            Self::Points { .. } => false,
        }
    }

    /// Returns the distance in m of a point inside from the surface; none for texts, meshes and points.
    pub(crate) fn depth_m(&self, point_m: Vec3) -> Option<f64> {
        let length = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>().sqrt();
        let from_faces = |min_m: &[f64], max_m: &[f64]| {
            let each = min_m.iter().zip(max_m).zip(point_m);
            each.map(|((min, max), x)| (x - min).min(max - x)).fold(f64::INFINITY, f64::min)
        };
        Some(match self {
            Self::Box { min_m, max_m } => from_faces(min_m, max_m),
            Self::Rectangle { min_m, max_m } => from_faces(min_m, max_m),
            Self::Circle { centre_m, radius_m } => {
                radius_m - length(&[point_m[0] - centre_m[0], point_m[1] - centre_m[1]])
            }
            Self::Sphere { centre_m, radius_m } => {
                radius_m - length(&std::array::from_fn::<f64, 3, _>(|i| point_m[i] - centre_m[i]))
            }
            Self::Cylinder { centre_m, axis, radius_m, height_m } => {
                let along = (point_m[axis.index()] - centre_m[axis.index()]).abs();
                let across = axis.others().map(|i| point_m[i] - centre_m[i]);
                (radius_m - length(&across)).min(0.5 * height_m - along)
            }
            Self::Text { .. } | Self::Mesh { .. } | Self::Points { .. } => return None,
        })
    }

    /// Returns the number of lattice points along each axis of the shape's bounds, as a float because it may
    /// be absurdly large.
    pub(crate) fn lattice_extent(&self, spacing_m: f64) -> Vec3 {
        let (min, max) = self.bounds_m();
        std::array::from_fn(|i| match i {
            2 if self.is_flat() => 1.0,
            _ => ((max[i] - min[i]) / spacing_m + LATTICE_TOLERANCE).floor(),
        })
    }

    /// Calls `visit` with the points of the shape's lattice, x fastest, then y, then z. Their number is at
    /// most that of [`Self::lattice_extent`], which the items of `watch` count.
    pub(crate) fn visit_lattice(
        &self,
        spacing_m: f64,
        watch: &mut Watch<'_>,
        mut visit: impl FnMut(Vec3),
    ) -> Result<(), SceneError> {
        let n = self.lattice_extent(spacing_m);
        let (min, max) = self.bounds_m();
        let first: Vec3 = std::array::from_fn(|i| match self {
            _ if i == 2 && self.is_flat() => 0.0,
            Self::Box { .. } | Self::Rectangle { .. } => min[i] + 0.5 * spacing_m,
            _ => 0.5 * (min[i] + max[i]) - 0.5 * (n[i] - 1.0) * spacing_m,
        });
        let [nx, ny, nz] = n.map(|n| n as u32);
        let tolerance_m = LATTICE_TOLERANCE * spacing_m;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let index = [i, j, k];
                    let point = std::array::from_fn(|a| first[a] + f64::from(index[a]) * spacing_m);
                    watch.tick(1)?;
                    if self.contains(point, -tolerance_m) {
                        visit(point);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the share of the shape in its bounds, from 0 to 1.
    pub(crate) fn share_of_bounds(&self) -> f64 {
        let (min, max) = self.bounds_m();
        let n_axes = if self.is_flat() { 2 } else { 3 };
        let of_bounds: f64 = (0..n_axes).map(|i| max[i] - min[i]).product();
        (self.volume_m3() / of_bounds).clamp(0.0, 1.0)
    }

    /// Draws a point of the shape, uniformly by volume. Only exactly rounded operations are used (rejection
    /// sampling for curved shapes), so that every platform draws the same bits. `None` if that takes
    /// [`Self::max_tries`].
    pub(crate) fn random_point(&self, rng: &mut ChaCha8Rng) -> Option<Vec3> {
        let (min, max) = self.bounds_m();
        let mut draw = || std::array::from_fn(|i| min[i] + unit_interval(rng) * (max[i] - min[i]));
        // Almost always the first few.
        if let Some(point) = (0..8).map(|_| draw()).find(|point| self.contains(*point, 0.0)) {
            return Some(point);
        }
        (8..self.max_tries()).map(|_| draw()).find(|point| self.contains(*point, 0.0))
    }

    /// Returns the number of points drawn from the bounds of which one at least is in the shape, with a
    /// probability of more than 1 − 1e-27.
    fn max_tries(&self) -> u64 {
        (64.0 / self.share_of_bounds()).clamp(64.0, 1e9) as u64
    }
}
