//! Twin of snow by the material point method (Cai2020 and Breekveldt2017), in a plane or in space, one
//! function per stage, f64.
//!
//! In a plane all quantities are per metre of depth, the third component of vectors is 0, and matrices have a
//! third axis without motion: F_zz is 1, C_zz and ∇w_z are 0. Plane strain therefore needs no separate
//! formulas.
//!
//! - `splines`: the nodes in the stencil of a particle, their weights and gradients.
//! - `blocks`: keys of particles, blocks of nodes, ranges of particles of one cell.
//! - `constitutive`: energy, stress, its differential, and yield.
//! - `collision`: the effect of contact with bodies on velocities.
//! - `contact`: forces of surfaces on particles.
//! - `transfer`: particles to grid, the grid's step, grid to particles.
//! - `implicit`: the operator of the semi-implicit step, and its solver.
//! - `sources`: emitters and drains.
//! - `step`: a whole step, faults, and sums over all particles.

mod blocks;
mod collision;
mod constitutive;
mod contact;
mod implicit;
mod sources;
mod splines;
mod step;
mod transfer;

use crate::uniform_bodies::{Surface, UniformBody};
use glam::{DMat3, DVec3};

pub use blocks::{Lattice, cell_ranges, keep_order};
pub use collision::collide;
pub use constitutive::{Lame, Material, svd};
pub use implicit::{Solved, apply_stiffness};
pub use splines::{Neighbour, Stencil};
pub use step::{Energy, Fault, FaultKind, State};
pub use transfer::{Grid, Node};

/// B-spline that spreads a particle over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spline {
    /// Four nodes per axis, Breekveldt2017 eq 3.3.
    Cubic,
    /// Three nodes per axis.
    Quadratic,
}

/// Evaluation of the cubic spline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Factored, (2 − |x|)³/6 near its end.
    Factored,
    /// The expanded form, printed in Breekveldt2017 eq 3.3.
    AsPrinted,
}

/// Transfer of velocities between particles and grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfer {
    /// A blend of PIC and FLIP, Breekveldt2017 eq 3.31.
    PicFlip,
    /// Affine particle-in-cell (Jiang et al. 2015).
    Apic,
    /// APIC whose affine velocity is also the velocity gradient (MLS-MPM, Hu et al. 2018).
    Mls,
}

/// Settings of the semi-implicit solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Implicit {
    /// β: ½ trapezoidal, 1 backward Euler.
    pub beta: f64,
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// Tolerance: the solve ends when |M v* − A v| is this share of |M v*|.
    pub tolerance: f64,
}

/// Parameters of the stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// D: 2 or 3.
    pub dimensions: usize,
    /// h in m.
    pub cell_size_m: f64,
    /// Lower corner of the domain in m.
    pub domain_min_m: DVec3,
    /// Upper corner of the domain in m.
    pub domain_max_m: DVec3,
    /// Δt in s.
    pub dt_s: f64,
    /// g in m/s².
    pub gravity_m_s2: DVec3,
    /// The elasto-plastic material.
    pub material: Material,
    /// Transfer of velocities between particles and grid.
    pub transfer: Transfer,
    /// α, the share of FLIP in velocities of particles: 0 is PIC or APIC, 1 is FLIP.
    pub flip_ratio: f64,
    /// The B-spline.
    pub spline: Spline,
    /// Evaluation of the cubic spline.
    pub weights: Weights,
    /// True if entries of Δt ∇v below 2⁻²⁴ count as 0.
    pub strain_floor: bool,
    /// Mass in kg up to which a node takes no stress.
    pub node_mass_cutoff_kg: f64,
    /// Bodies, in the order in which they act on a velocity.
    pub bodies: Vec<UniformBody>,
    /// The lower and the upper walls of the domain, by axis, which act after all bodies.
    pub walls: [[Surface; 3]; 2],
    /// True if surfaces that are not sticky act on particles, not on nodes.
    pub has_contact_forces: bool,
    /// Semi-implicit integration; none for an explicit step.
    pub implicit: Option<Implicit>,
}

impl Parameters {
    /// Position of node 0 in m: four cells outside the domain.
    pub fn origin_m(&self) -> DVec3 {
        self.in_space(self.domain_min_m - 4.0 * self.cell_size_m)
    }

    /// Position of a node in m.
    pub fn node_m(&self, node: [i64; 3]) -> DVec3 {
        self.origin_m() + self.cell_size_m * DVec3::from_array(node.map(|n| n as f64))
    }

    /// D_p in m²: Σ w (x_i − x_p)(x_i − x_p)ᵀ is this times the identity, h²/3 or h²/4 (Jiang et al. 2015).
    pub fn inertia_m2(&self) -> f64 {
        let share = match self.spline {
            Spline::Cubic => 1.0 / 3.0,
            Spline::Quadratic => 0.25,
        };
        share * self.cell_size_m * self.cell_size_m
    }

    /// Returns true if particles have an affine velocity C.
    pub fn is_affine(&self) -> bool {
        self.transfer != Transfer::PicFlip
    }

    /// Returns true if particles keep a share of their velocity, and move by that of the grid (AFLIP).
    pub fn moves_with_grid(&self) -> bool {
        self.is_affine() && self.flip_ratio > 0.0
    }

    /// Removes the third component in a plane.
    fn in_space(&self, v: DVec3) -> DVec3 {
        if self.dimensions == 2 { v.with_z(0.0) } else { v }
    }
}

/// One particle of the device's columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// x in m.
    pub position: DVec3,
    /// Part of x below the ulp of the device's position, in m.
    pub residual: DVec3,
    /// v in m/s.
    pub velocity: DVec3,
    /// Unique id.
    pub id: u32,
    /// m in kg, in a plane kg/m.
    pub mass: f64,
    /// V⁰ in m³, in a plane m².
    pub volume: f64,
    /// F_E.
    pub elastic: DMat3,
    /// J_P = det F_P.
    pub plastic_volume: f64,
    /// C in 1/s; 0 with [`Transfer::PicFlip`].
    pub affine: DMat3,
    /// Slip since contact with a surface began, in m.
    pub slip: DVec3,
    /// Contact radius in m.
    pub contact_radius: f64,
    /// Force of surfaces in N, which the next step adds to nodes, if particles move by the velocity of the
    /// grid.
    pub surface_force: DVec3,
    /// t in N/m of the moment of surfaces, which acts on nodes as w t × (x_i − x_p), likewise.
    pub surface_turn: DVec3,
}

impl Particle {
    /// Particle at rest and undeformed.
    pub fn new(position: DVec3, id: u32, mass: f64, volume: f64) -> Self {
        Self {
            position,
            residual: DVec3::ZERO,
            velocity: DVec3::ZERO,
            id,
            mass,
            volume,
            elastic: DMat3::IDENTITY,
            plastic_volume: 1.0,
            affine: DMat3::ZERO,
            slip: DVec3::ZERO,
            contact_radius: 0.0,
            surface_force: DVec3::ZERO,
            surface_turn: DVec3::ZERO,
        }
    }

    /// Returns S = V⁰ τ in J: the device's stress column.
    pub fn stress(&self, material: &Material) -> DMat3 {
        self.volume * material.lame(self.plastic_volume).kirchhoff_pa(self.elastic)
    }
}

/// Returns a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
