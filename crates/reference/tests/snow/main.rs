//! Tests of the twin of the snow step alone: migration, heat, contact and links, friction, and the invariants
//! of a whole step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod boundary;
mod constraints;
mod friction;
mod heat;
mod links;
mod migration;
mod shape;
mod step;

use frazil_reference::fluid::{self, spline_shape, spline_wall_fraction};
use frazil_reference::primitives::Grid;
use frazil_reference::snow::{
    Averaging, ConductionLaw, Heat, Kind, LatentHeat, Parameters, Phase, Springs, State,
};
use frazil_reference::sph;

const SUPPORT_RATIO: f32 = 2.0;
const SPACING_M: f32 = 0.02;

/// Σ V W over a cubic lattice of spacing 1 around one of its points, of the points that `keep` selects.
fn lattice_sum(keep: impl Fn([i32; 3]) -> bool) -> f32 {
    let reach = -2..=2;
    let points =
        reach.clone().flat_map(|z| reach.clone().flat_map(move |y| (-2..=2).map(move |x| [x, y, z])));
    let kernel =
        |[x, y, z]: [i32; 3]| sph::cubic_spline(((x * x + y * y + z * z) as f32).sqrt(), SUPPORT_RATIO);
    points.filter(|point| keep(*point)).map(kernel).sum()
}

/// Parameters with the paper's numbers for a box of 20 spacings a side without gravity, links off.
fn parameters() -> Parameters {
    let support_m = SUPPORT_RATIO * SPACING_M;
    let domain_max_m = [20.0 * SPACING_M; 3];
    let volume_h3 = SUPPORT_RATIO.powi(-3) / lattice_sum(|_| true);
    Parameters {
        fluid: fluid::Parameters {
            dt_s: 1e-3,
            gravity_m_s2: [0.0; 3],
            kernel: fluid::SmoothingKernel::CubicSpline,
            support_m,
            volume_h3,
            rest_density_kg_m3: 1000.0,
            density_tolerance: 0.0,
            iterations: 0,
            max_iterations: 3,
            max_error: f32::INFINITY,
            over_relaxation: 0.5,
            relaxation: 0.1,
            pressure_strength: 0.0,
            pressure_inverse_shape: 1.0 / spline_shape(0.1),
            pressure_exponent: 4,
            xsph_viscosity: 0.05,
            wall_xsph: 1.0,
            viscosity_share: 0.0,
            particles_h3: 1.0,
            max_density_kg_m3: 4000.0,
            max_speed_m_s: 1e3,
            wall_friction: 1.0,
            face_friction: [[0.0; 3]; 2],
            domain_min_m: [0.0; 3],
            domain_max_m,
            excess_share: 1.0,
            deficit_share: 1.0,
            is_projection: false,
            has_images: false,
            gradient_at_start: false,
            periodic: [false; 3],
            clearance_m: 0.5 * SPACING_M,
            body_clearance_m: 0.5 * SPACING_M,
            fraction_scale: lattice_sum(|[_, y, _]| y < 0) / spline_wall_fraction(0.5 / SUPPORT_RATIO),
            bodies: Vec::new(),
            sources: Default::default(),
            particle_mass_kg: 1000.0 * SPACING_M.powi(3),
            time_s: 0.0,
            grid: Grid::covering([0.0; 3], domain_max_m, support_m),
        },
        mass_kg: 1000.0 * SPACING_M.powi(3),
        contact_distance_m: SPACING_M,
        mixed_contact_distance_m: SPACING_M,
        snow_volume: 1.0,
        snow_spacing: 1.0,
        bounce_stiffness: 0.25,
        averaging: Averaging::Pairwise,
        iterations: 3,
        static_friction: 0.5,
        kinetic_friction: 0.35,
        face_friction: [[None; 3]; 2],
        snow_xsph_viscosity: 0.1,
        links: None,
        link_rounds: 1,
        stretch_stiffness: 0.1,
        springs: Springs::default(),
        shape_stiffness: 0.0,
        boundary: None,
        heat: Heat {
            snow_capacity_j_kg_k: 2090.0,
            water_capacity_j_kg_k: 4182.0,
            snow_conductivity_w_m_k: 2500.0,
            water_conductivity_w_m_k: 600.0,
            freezing_c: 0.0,
            law: ConductionLaw::Fourier,
            laplacian_scale: Heat::laplacian_scale(f64::from(SUPPORT_RATIO)),
            max_correction: Some(Heat::lone_correction(f64::from(SUPPORT_RATIO))),
            latent_heat: LatentHeat::Blending,
        },
        blend_speed: 0.01,
        blend_threshold: 0.5,
    }
}

/// Numbers from 0 to below 1, by a fixed linear congruential sequence.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 16_777_216.0
    }

    fn point(&mut self, min: f32, max: f32) -> [f32; 3] {
        std::array::from_fn(|_| min + (max - min) * self.next())
    }
}

fn solid_and_fluid(solid: Vec<[f32; 3]>, fluid: Vec<[f32; 3]>) -> State {
    let first_id = solid.len() as u32;
    State::new(Phase::new(solid, -10.0, 0), Phase::new(fluid, 10.0, first_id), 8)
}

/// A crowded cloud in the middle of the box, of random phases, velocities, temperatures and blends.
fn cloud(n: [usize; 2], seed: u32) -> State {
    let mut random = Random(seed);
    let extent_m = 0.6 * SPACING_M * ((n[0] + n[1]) as f32).cbrt();
    let middle_m = 10.0 * SPACING_M;
    let mut positions =
        |n| (0..n).map(|_| random.point(middle_m - extent_m / 2.0, middle_m + extent_m / 2.0)).collect();
    let mut state = solid_and_fluid(positions(n[0]), positions(n[1]));
    for kind in Kind::ALL {
        for i in 0..state[kind].len() {
            state[kind].velocity[i] = random.point(-1.0, 1.0);
            state[kind].temperature_c[i] = 60.0 * random.next() - 30.0;
            state[kind].blend[i] = random.next();
        }
    }
    state
}

/// Sum of a column of vectors over both phases, in f64.
fn total(state: &State, column: impl Fn(&Phase) -> &Vec<[f32; 3]>) -> [f64; 3] {
    let both = || Kind::ALL.into_iter().flat_map(|kind| column(&state[kind]));
    std::array::from_fn(|axis| both().map(|v| f64::from(v[axis])).sum())
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
}
