//! Shape matching of linked neighbourhoods (Müller, Heidelberger, Teschner and Gross 2005, §3.3), in f64 from
//! the f32 columns.
//!
//! Each snow particle forms a cluster with the partners of its links. The best rotation of the cluster's rest
//! positions gives the goal of each member, g = R (X − C) + c. A link counts only if the distance of its
//! ends' rest positions is the length at which it was made.

use super::{Kind, Parameters, State};
use crate::linalg::{
    Matrix, apply, blend, cross, dot, eigen_symmetric, nearest_rotation, product, transpose,
};

/// Maximum deviation of the distance of a link's rest positions from its length, as a share of it, for the
/// link to belong to the shape.
const SHAPE_TOLERANCE: f64 = 0.1;

/// Rounding error of moments in f32, as a share of the summed magnitudes.
const MOMENT_ROUNDING: f64 = 1e-5;

fn wide(v: [f32; 3]) -> [f64; 3] {
    v.map(f64::from)
}

fn between(to: [f64; 3], from: [f64; 3]) -> [f64; 3] {
    blend(1.0, to, -1.0, from)
}

fn length(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}

/// Rotation R that brings rest offsets q nearest to offsets p: the polar factor of A = Σ p qᵀ.
#[derive(Clone, Debug)]
struct Fit {
    rotation: Matrix<f64, 3>,
    /// A in m².
    moments: Matrix<f64, 3>,
    /// Σ |p| |q| in m².
    size: f64,
}

impl Fit {
    fn new(offsets: &[([f64; 3], [f64; 3])]) -> Self {
        let moments =
            std::array::from_fn(|c| std::array::from_fn(|r| offsets.iter().map(|(p, q)| p[r] * q[c]).sum()));
        let size = offsets.iter().map(|(p, q)| length(*p) * length(*q)).sum();
        Self { rotation: nearest_rotation(moments), moments, size }
    }

    /// Returns the rotation from offsets to rest offsets.
    fn back(&self) -> Self {
        Self { rotation: transpose(self.rotation), moments: transpose(self.moments), size: self.size }
    }

    /// Returns the tolerance in m of R q for an offset q if A is summed in f32. The rotation about a
    /// principal axis is as well determined as the sum of the other two singular values is large; about the
    /// axis of a collinear cluster it is undetermined.
    fn slack_m(&self, q: [f64; 3]) -> f64 {
        let (squares, axes) = eigen_symmetric(product(transpose(self.moments), self.moments));
        let mut sigma = squares.map(|x| x.max(0.0).sqrt());
        let [a, b, c] = self.moments;
        if dot(a, cross(b, c)) < 0.0 {
            sigma[2] = -sigma[2];
        }
        let about = |axis: usize| {
            let certainty = sigma[(axis + 1) % 3] + sigma[(axis + 2) % 3];
            // NaN, without any moments, means undetermined.
            let angle = (MOMENT_ROUNDING * self.size / certainty).min(2.0);
            angle * length(cross(axes[axis], q))
        };
        (0..3).map(about).sum()
    }
}

/// A particle and its partners in the shape, with their fit.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Indices in particle order, the particle itself first.
    pub members: Vec<usize>,
    centre_m: [f64; 3],
    rest_centre_m: [f64; 3],
    fit: Fit,
}

impl Cluster {
    /// Returns the goal of a rest position by the fit, in m.
    pub fn goal_m(&self, rest_m: [f32; 3]) -> [f64; 3] {
        let turned = apply(self.fit.rotation, between(wide(rest_m), self.rest_centre_m));
        blend(1.0, self.centre_m, 1.0, turned)
    }

    /// Returns the tolerance in m of [`Self::goal_m`] for another fit in f32.
    pub fn slack_m(&self, rest_m: [f32; 3]) -> f64 {
        self.fit.slack_m(between(wide(rest_m), self.rest_centre_m))
    }
}

/// Rest position that a particle adopts in the shape of a partner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Index of the partner in particle order.
    pub host: usize,
    /// X in m.
    pub rest_m: [f64; 3],
    /// Tolerance of the rest position in m for another fit in f32.
    pub slack_m: f64,
}

impl State {
    /// Returns the partners to whose shape a snow particle belongs, in the order of slots.
    fn shape_partners(&self, i: usize) -> impl Iterator<Item = usize> {
        let rest = &self.solid.rest_position;
        self.links.rows[i].iter().filter_map(move |link| {
            let j = link.partner as usize;
            let (now_m, made_m) =
                (length(between(wide(rest[i]), wide(rest[j]))), f64::from(link.rest_length_m));
            ((now_m - made_m).abs() <= SHAPE_TOLERANCE * made_m).then_some(j)
        })
    }

    fn has_place(&self, i: usize) -> bool {
        self.shape_partners(i).next().is_some()
    }

    /// Returns the rest position that a snow particle without one adopts from its first partner that has one.
    /// Between two without one, the particle with the higher id adopts from the other.
    pub fn attachment(&self, i: usize) -> Option<Attachment> {
        let solid = &self.solid;
        if self.has_place(i) {
            return None;
        }
        let partners = self.links.rows[i].iter().map(|link| link.partner as usize);
        let host = partners.into_iter().find(|j| self.has_place(*j) || solid.id[*j] < solid.id[i])?;
        let from_host = |column: &Vec<[f32; 3]>, k: usize| between(wide(column[k]), wide(column[host]));
        let around = self.shape_partners(host);
        let offsets: Vec<_> =
            around.map(|k| (from_host(&solid.predicted, k), from_host(&solid.rest_position, k))).collect();
        let (back, offset) = (Fit::new(&offsets).back(), from_host(&solid.predicted, i));
        let rest_m = blend(1.0, wide(solid.rest_position[host]), 1.0, apply(back.rotation, offset));
        Some(Attachment { host, rest_m, slack_m: back.slack_m(offset) })
    }

    /// Gives snow without a rest position, such as recently frozen particles, one beside a partner: its
    /// current offset, rotated back by the rotation of the partner's neighbourhood.
    pub fn attach_to_shape(&mut self) {
        let next_rest = (0..self.solid.len()).map(|i| match self.attachment(i) {
            Some(attachment) => attachment.rest_m.map(|x| x as f32),
            None => self.solid.rest_position[i],
        });
        self.solid.rest_position = next_rest.collect();
    }

    /// Returns the clusters of all snow particles at the positions that `compute_lambda` left in
    /// `constraint`.
    pub fn clusters(&self) -> Vec<Cluster> {
        let cluster = |i: usize| {
            let members: Vec<usize> = std::iter::once(i).chain(self.shape_partners(i)).collect();
            let now = |j: usize| wide(self.solid.weighed(j));
            let rest = |j: usize| wide(self.solid.rest_position[j]);
            let mean = |at: &dyn Fn(usize) -> [f64; 3]| -> [f64; 3] {
                std::array::from_fn(|axis| {
                    members.iter().map(|j| at(*j)[axis]).sum::<f64>() / members.len() as f64
                })
            };
            let (centre_m, rest_centre_m) = (mean(&now), mean(&rest));
            let offsets: Vec<_> = members
                .iter()
                .map(|j| (between(now(*j), centre_m), between(rest(*j), rest_centre_m)))
                .collect();
            Cluster { fit: Fit::new(&offsets), members, centre_m, rest_centre_m }
        };
        (0..self.solid.len()).map(cluster).collect()
    }

    /// Moves x* of linked snow towards its goals in all its clusters, and confines it. Each moves by the same
    /// share of the distance, so the corrections of a cluster sum to zero.
    pub fn apply_shape_matching(&mut self, p: &Parameters) {
        let mut away = vec![[0.0; 3]; self.solid.len()];
        for cluster in self.clusters() {
            for i in cluster.members.iter().copied() {
                let goal_m = cluster.goal_m(self.solid.rest_position[i]);
                away[i] = blend(1.0, away[i], 1.0, between(goal_m, wide(self.solid.weighed(i))));
            }
        }
        let share = p.shape_share(self.n_max);
        for (i, away) in away.into_iter().enumerate().filter(|(i, _)| !self.links.rows[*i].is_empty()) {
            let sum = blend(1.0, wide(self.solid.predicted[i]), 1.0, wide(self.solid.residual[1][i]));
            let sum = blend(1.0, sum, share, away);
            let free = sum.map(|x| x as f32);
            let rest = std::array::from_fn(|axis| (sum[axis] - f64::from(free[axis])) as f32);
            let spacing = p.spacing(Kind::Solid, self.solid.contact[i][0]);
            let [confined, rest] = p.fluid.confined_sum([free, rest], spacing);
            self.solid.residual[1][i] = rest;
            for axis in 0..3 {
                self.solid.push[i][axis] += confined[axis] - free[axis];
            }
            self.solid.predicted[i] = confined;
            self.solid.project_out_of_bodies(&p.fluid, i, spacing, 0.0);
        }
    }
}

impl Parameters {
    /// Returns the share of the distance to the goal of one cluster: a particle is in at most one more
    /// cluster than it has links.
    pub fn shape_share(&self, n_max: u32) -> f64 {
        f64::from(self.shape_stiffness) / f64::from(n_max + 1)
    }
}
