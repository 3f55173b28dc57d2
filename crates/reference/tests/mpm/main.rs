//! Tests of the twin of the material point method: derivatives against differences, conserved sums, and
//! bodies whose motion is known.

mod blocks;
mod bodies;
mod constitutive;
mod implicit;
mod splines;
mod step;
mod transfer;

use frazil_reference::mpm::{Material, Parameters, Particle, Spline, State, Transfer, Weights};
use frazil_reference::uniform_bodies::Surface;
use glam::{DMat3, DVec3};

const CELL_M: f64 = 0.1;
/// Transfers, with shares of FLIP.
const TRANSFERS: [(Transfer, f64); 5] = [
    (Transfer::PicFlip, 0.0),
    (Transfer::PicFlip, 0.95),
    (Transfer::Apic, 0.0),
    (Transfer::Mls, 0.0),
    (Transfer::Apic, 0.95),
];

/// Material of table 1 of Cai2020.
fn snow() -> Material {
    Material {
        youngs_modulus_pa: 1.4e5,
        poissons_ratio: 0.2,
        hardening: 10.0,
        critical_compression: 2.5e-2,
        critical_stretch: 7.5e-3,
        min_plastic_volume: 0.6,
        yield_share: 1.0,
        plastic: true,
    }
}

/// Parameters of a domain of 20 cells along each axis without gravity.
fn parameters(dimensions: usize) -> Parameters {
    let corner = if dimensions == 2 { DVec3::new(2.0, 2.0, 0.0) } else { DVec3::splat(2.0) };
    Parameters {
        dimensions,
        cell_size_m: CELL_M,
        domain_min_m: DVec3::ZERO,
        domain_max_m: corner,
        dt_s: 1e-3,
        gravity_m_s2: DVec3::ZERO,
        material: snow(),
        transfer: Transfer::PicFlip,
        flip_ratio: 0.95,
        spline: Spline::Cubic,
        weights: Weights::Factored,
        strain_floor: false,
        node_mass_cutoff_kg: 0.0,
        bodies: Vec::new(),
        walls: [[Surface { friction: 0.1, sticky: false }; 3]; 2],
        has_contact_forces: false,
        implicit: None,
    }
}

/// Returns parameters for every number of dimensions with every spline and transfer.
fn settings() -> Vec<Parameters> {
    let mut all = Vec::new();
    for dimensions in [2, 3] {
        for spline in [Spline::Cubic, Spline::Quadratic] {
            for (transfer, flip_ratio) in TRANSFERS {
                all.push(Parameters { spline, transfer, flip_ratio, ..parameters(dimensions) });
            }
        }
    }
    all
}

/// Numbers in 0 … 1, by a fixed linear congruential sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, dimensions: usize, min: f64, max: f64) -> DVec3 {
        let mut v = DVec3::ZERO;
        for axis in 0..dimensions {
            v[axis] = min + (max - min) * self.next();
        }
        v
    }

    /// Returns a matrix with entries of up to `size` along the existing axes.
    fn matrix(&mut self, dimensions: usize, size: f64) -> DMat3 {
        let mut m = DMat3::ZERO;
        for axis in 0..dimensions {
            *m.col_mut(axis) = self.vector(dimensions, -size, size);
        }
        m
    }
}

/// Returns particles in the middle of the domain in a random state.
fn cloud(p: &Parameters, n: u32, seed: u64) -> State {
    let mut random = Random(seed);
    let d = p.dimensions;
    let particle = |id| {
        let mass = 0.5 + random.next();
        Particle {
            velocity: random.vector(d, -1.0, 1.0),
            elastic: DMat3::IDENTITY + random.matrix(d, 0.05),
            plastic_volume: 0.9 + 0.2 * random.next(),
            affine: if p.is_affine() { random.matrix(d, 5.0) } else { DMat3::ZERO },
            ..Particle::new(random.vector(d, 0.8, 1.2), id, mass, mass / 400.0)
        }
    };
    State::new((0..n).map(particle).collect())
}

/// Returns 4 or 8 particles per cell within `radius_m` of a centre.
fn ball(p: &Parameters, centre: DVec3, radius_m: f64) -> Vec<Particle> {
    let spacing = 0.5 * CELL_M;
    let reach = (radius_m / spacing) as i32 + 1;
    let depth = if p.dimensions == 2 { 0..1 } else { -reach..reach };
    let volume = spacing.powi(p.dimensions as i32);
    let mut particles = Vec::new();
    for k in depth {
        for j in -reach..reach {
            for i in -reach..reach {
                let mut offset = spacing * (DVec3::new(i.into(), j.into(), k.into()) + 0.5);
                if p.dimensions == 2 {
                    offset.z = 0.0;
                }
                if offset.length() < radius_m {
                    let id = particles.len() as u32;
                    particles.push(Particle::new(centre + offset, id, 400.0 * volume, volume));
                }
            }
        }
    }
    particles
}

fn close(a: DVec3, b: DVec3, bound: f64) -> bool {
    (a - b).length() <= bound
}

/// Returns the maximum difference of entries.
fn difference(a: DMat3, b: DMat3) -> f64 {
    (a - b).to_cols_array().into_iter().fold(0.0, |max, x| x.abs().max(max))
}
