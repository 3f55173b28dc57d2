//! Bodies without effect, because they are outside of the domain or far smaller than particles.

use crate::check::{number, vector};
use crate::scene::{ParticleBlock, Scene};
use crate::vector::{cross, dot, length, minus};
use crate::{Body, BodyMotion, BodyShape, Shape, Side, TriangleMesh, Vec3};

/// Units of files in m, the most common first.
const UNITS: [(f64, &str); 5] =
    [(1e-3, "millimetres"), (1.0, "metres"), (1e-2, "centimetres"), (0.0254, "inches"), (0.3048, "feet")];

/// Factors by which the scale of a mesh in another unit is wrong, the most common first.
const FACTORS: [f64; 8] = [1e-3, 1e3, 1e-2, 1e2, 0.0254, 1.0 / 0.0254, 0.3048, 1.0 / 0.3048];

/// Maximum extent of a body, in spacings of particles, that has hardly an effect on them.
const TINY_SPACINGS: f64 = 0.1;

/// Extent of a mesh in the domain, in spacings, for which a scale is suggested.
const USEFUL_SPACINGS: f64 = 0.5;

impl Body {
    /// Returns the corners in m of a box around the body in the scene file; `None` for shapes without bounds,
    /// and for a mesh that was not loaded.
    pub(crate) fn bounds_m(&self) -> Option<[Vec3; 2]> {
        let around = |centre: Vec3, half: Vec3| {
            [std::array::from_fn(|i| centre[i] - half[i]), std::array::from_fn(|i| centre[i] + half[i])]
        };
        match &self.shape {
            BodyShape::Sphere { centre_m, radius_m } => Some(around(*centre_m, [*radius_m; 3])),
            BodyShape::Box { centre_m, size_m, rotation_deg } => {
                let axes = crate::box_axes(*rotation_deg);
                let half = |i: usize| (0..3).map(|k| 0.5 * size_m[k] * axes[k][i].abs()).sum::<f64>();
                Some(around(*centre_m, std::array::from_fn(half)))
            }
            BodyShape::Cylinder { from_m, to_m, radius_m }
            | BodyShape::Capsule { from_m, to_m, radius_m } => Some([
                std::array::from_fn(|i| from_m[i].min(to_m[i]) - radius_m),
                std::array::from_fn(|i| from_m[i].max(to_m[i]) + radius_m),
            ]),
            BodyShape::Mesh { scale, offset_m, mesh, .. } => {
                let bounds = mesh.get()?.bounds;
                Some(bounds.map(|corner| std::array::from_fn(|i| offset_m[i] + scale * corner[i])))
            }
            _ => None,
        }
    }

    /// Returns the corners in m of a box around all places of the body up to `end_s`.
    fn swept_bounds_m(&self, end_s: f64) -> Option<[Vec3; 2]> {
        let [low, high] = self.bounds_m()?;
        let joined = |a: [Vec3; 2], b: [Vec3; 2]| {
            [std::array::from_fn(|i| a[0][i].min(b[0][i])), std::array::from_fn(|i| a[1][i].max(b[1][i]))]
        };
        let moved = |by: Vec3| [low, high].map(|corner| std::array::from_fn(|i| corner[i] + by[i]));
        // All places of a body that turns about a point.
        let turned = |about: Vec3, by: Vec3| {
            let arm = std::array::from_fn(|i| (low[i] - about[i]).abs().max((high[i] - about[i]).abs()));
            let reach = length(arm);
            [
                std::array::from_fn(|i| about[i] + by[i] - reach),
                std::array::from_fn(|i| about[i] + by[i] + reach),
            ]
        };
        Some(match &self.motion {
            None => [low, high],
            // It may come anywhere.
            Some(BodyMotion::Dynamic(_)) => [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]],
            Some(BodyMotion::Uniform(motion)) => joined([low, high], moved(motion.offset_m(end_s))),
            Some(BodyMotion::Oscillating { amplitude_m, .. }) => {
                joined(moved(*amplitude_m), moved(amplitude_m.map(|x| -x)))
            }
            Some(BodyMotion::Spinning { point_m, .. }) => turned(*point_m, [0.0; 3]),
            Some(BodyMotion::Keyframed { pivot_m, keys }) => {
                let turns = keys.iter().any(|key| key.rotation_deg != [0.0; 3]);
                let place = |by: Vec3| if turns { turned(*pivot_m, by) } else { moved(by) };
                let places = keys.iter().map(|key| place(key.offset_m));
                places.reduce(joined).unwrap_or([low, high])
            }
        })
    }
}

impl Scene {
    /// Warns about bodies that lie outside the domain, or that are so small that particles hardly meet them.
    pub(crate) fn advise_placement(&self, warn: &mut dyn FnMut(&str, String)) {
        for (idx, body) in self.bodies.iter().enumerate() {
            let key = format!("bodies.{idx}");
            let Some(bounds) = body.bounds_m() else { continue };
            let extent = minus(bounds[1], bounds[0]);
            let hint = self.scale_hint_of_body(body);
            if self.has_no_effect(body) {
                let [low, high] = self.extent_m();
                let mesh_of_domain = body.mesh().is_some()
                    && (0..3).all(|i| bounds[0][i] <= low[i] && bounds[1][i] >= high[i]);
                let where_it_is = match mesh_of_domain {
                    true => "does not come into the domain, which is in its bounds: it has no effect",
                    false => "lies outside the domain, where no particle is: it has no effect",
                };
                let moves = if body.motion.is_some() { ", with all of its motion," } else { "" };
                let [swept_low, swept_high] =
                    body.swept_bounds_m(self.time.duration_s).unwrap_or(bounds).map(rounded);
                warn(
                    &key,
                    format!(
                        "{where_it_is}; it extends{moves} from {} m to {} m, the domain from {} m to {} \
                         m{hint}",
                        vector(swept_low),
                        vector(swept_high),
                        vector(low),
                        vector(high)
                    ),
                );
                continue;
            }
            let (longest, d) = (extent.into_iter().fold(0.0, f64::max), self.particle_spacing_m());
            if longest < TINY_SPACINGS * d {
                warn(
                    &key,
                    format!(
                        "is only {} m in extent, {} of a particle's {} m: particles hardly meet it{hint}",
                        number(super::estimate::two_digits(longest)),
                        number(super::estimate::two_digits(longest / d)),
                        number(d)
                    ),
                );
            }
        }
    }

    /// Returns the corners of the domain in m; scenes of two dimensions take the cross-section at z = 0.
    fn extent_m(&self) -> [Vec3; 2] {
        let is_plane = |axis: usize| axis >= self.n_dimensions();
        [self.domain.min_m, self.domain.max_m]
            .map(|corner| std::array::from_fn(|i| if is_plane(i) { 0.0 } else { corner[i] }))
    }

    /// Returns true if no point of the surface of a body ever comes into the domain.
    fn has_no_effect(&self, body: &Body) -> bool {
        let [low, high] = self.extent_m();
        let is_apart = |[from, to]: [Vec3; 2]| (0..3).any(|i| from[i] > high[i] || to[i] < low[i]);
        if body.motion.is_some() {
            return body.swept_bounds_m(self.time.duration_s).is_some_and(is_apart);
        }
        match &body.shape {
            BodyShape::Mesh { scale, offset_m, mesh, .. } => mesh.get().is_some_and(|mesh| {
                let in_file =
                    |corner: Vec3| -> Vec3 { std::array::from_fn(|i| (corner[i] - offset_m[i]) / scale) };
                let is_free = !mesh.meets_box([in_file(low), in_file(high)]);
                // A solid around the whole domain is refused with the particles in it.
                let middle = std::array::from_fn(|i| 0.5 * (low[i] + high[i]));
                is_free && (body.side == Side::Inside || !mesh.contains(in_file(middle)))
            }),
            _ => self.is_beside_domain(body),
        }
    }

    /// Returns true if no point of a ball around the body, or of a box around it, is inside the domain. Half-
    /// spaces and upright cylinders have none.
    fn is_beside_domain(&self, body: &Body) -> bool {
        let [low, high] = self.extent_m();
        let Some([from, to]) = body.bounds_m() else { return false };
        if (0..3).any(|i| from[i] > high[i] || to[i] < low[i]) {
            return true;
        }
        let (centre_m, reach_m) = match &body.shape {
            BodyShape::Sphere { centre_m, radius_m } => (*centre_m, *radius_m),
            BodyShape::Box { centre_m, size_m, .. } => (*centre_m, 0.5 * length(*size_m)),
            BodyShape::Cylinder { from_m, to_m, radius_m }
            | BodyShape::Capsule { from_m, to_m, radius_m } => {
                let half: Vec3 = std::array::from_fn(|axis| 0.5 * (to_m[axis] - from_m[axis]));
                let centre_m = std::array::from_fn(|axis| from_m[axis] + half[axis]);
                (centre_m, length(half) + std::f64::consts::SQRT_2 * radius_m)
            }
            _ => return false,
        };
        let outside_m: Vec3 =
            std::array::from_fn(|i| (low[i] - centre_m[i]).max(centre_m[i] - high[i]).max(0.0));
        length(outside_m) > reach_m
    }

    /// Returns the end of a message about a body: the scale of its mesh with which it would be in the domain,
    /// if another unit of its file explains that it is not.
    pub(crate) fn scale_hint_of_body(&self, body: &Body) -> String {
        match &body.shape {
            BodyShape::Mesh { scale, offset_m, mesh, .. } => self.scale_hint(mesh.get(), *scale, *offset_m),
            _ => String::new(),
        }
    }

    /// Like [`Self::scale_hint_of_body`], of a block.
    pub(crate) fn scale_hint_of_block(&self, block: &ParticleBlock) -> String {
        match &block.shape {
            Shape::Mesh { scale, offset_m, mesh, .. } => self.scale_hint(mesh.get(), *scale, *offset_m),
            _ => String::new(),
        }
    }

    /// Returns the hint about the scale of a mesh that is not in the domain; empty if no unit explains it, or
    /// if it is in the domain and not tiny.
    pub(crate) fn scale_hint(&self, mesh: Option<&TriangleMesh>, scale: f64, offset_m: Vec3) -> String {
        let Some(mesh) = mesh else { return String::new() };
        let [low, high] = self.extent_m();
        let tolerance_m = 1e-6 * self.particle_spacing_m();
        let fits = |scale: f64, spacings: f64| {
            let [from, to] = mesh
                .bounds
                .map(|corner| -> Vec3 { std::array::from_fn(|i| offset_m[i] + scale * corner[i]) });
            let longest = (0..3).map(|i| to[i] - from[i]).fold(0.0, f64::max);
            (0..3).all(|i| from[i] >= low[i] - tolerance_m && to[i] <= high[i] + tolerance_m)
                && longest >= spacings * self.particle_spacing_m()
        };
        if fits(scale, TINY_SPACINGS) {
            return String::new();
        }
        let fitting = FACTORS.into_iter().map(|factor| factor * scale).filter(|s| fits(*s, USEFUL_SPACINGS));
        let named: Vec<String> = fitting
            .take(2)
            .map(|scale| {
                let unit = UNITS.into_iter().find(|(unit, _)| (unit / scale - 1.0).abs() < 1e-9);
                let of = unit.map(|(_, name)| format!(", of a file in {name},")).unwrap_or_default();
                let scale = unit.map_or(scale, |(unit, _)| unit);
                format!("scale = {}{of}", number(scale))
            })
            .collect();
        if named.is_empty() {
            return String::new();
        }
        format!("; {} would put it into the domain", named.join(" or "))
    }
}

/// Rounds to a micrometre, or to six digits below that.
fn rounded(v: Vec3) -> Vec3 {
    v.map(|x| if x.abs() < 1e-3 { format!("{x:.5e}").parse().unwrap_or(x) } else { (x * 1e6).round() / 1e6 })
}

impl TriangleMesh {
    /// Returns true if a point of the surface lies in an axis-aligned box.
    pub(crate) fn meets_box(&self, [low, high]: [Vec3; 2]) -> bool {
        let middle = std::array::from_fn(|i| 0.5 * (low[i] + high[i]));
        let half: Vec3 = std::array::from_fn(|i| 0.5 * (high[i] - low[i]));
        self.triangles().iter().any(|triangle| {
            let corners = triangle.map(|v| minus(self.vertices()[v as usize], middle));
            // An axis separates two convex bodies that do not meet: a normal of one, or one perpendicular to
            // an edge of each.
            let edges = [0, 1, 2].map(|k| minus(corners[(k + 1) % 3], corners[k]));
            let units = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            let crossed = edges.iter().flat_map(|edge| units.map(|unit| cross(unit, *edge)));
            let normal = cross(edges[0], edges[1]);
            let separates = |axis: Vec3| {
                let reach = (0..3).map(|i| half[i] * axis[i].abs()).sum::<f64>();
                let along = corners.map(|corner| dot(corner, axis));
                let min = along.into_iter().fold(f64::INFINITY, f64::min);
                let max = along.into_iter().fold(f64::NEG_INFINITY, f64::max);
                min > reach || max < -reach
            };
            !units.into_iter().chain([normal]).chain(crossed).any(separates)
        })
    }
}
