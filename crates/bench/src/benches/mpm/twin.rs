//! Conversion of the device's parameters and columns to the twin's.

use frazil_reference::mpm as twin;
use frazil_scene::{Mpm as Section, Spline, Transfer, Weights};
use frazil_solvers::StateColumn;
use frazil_solvers::mpm::{MpmParameters, Surroundings};
use glam::{DMat3, DVec3};

/// Returns particles of the twin from a saved state; columns that it lacks are empty.
///
/// # Panics
/// If a column is shorter than the ids.
pub fn particles_of_state(parameters: &MpmParameters, state: &[StateColumn]) -> Vec<twin::Particle> {
    let words = |name: &str| {
        let column = state.iter().find(|c| c.name == name);
        column.map(|c| c.words.as_slice()).unwrap_or_default()
    };
    let numbers = |name: &str| words(name).iter().map(|word| f32::from_bits(*word)).collect::<Vec<f32>>();
    let (position, velocity) = (numbers("position"), numbers("velocity"));
    let (mass, volume, plastic) = (numbers("mass"), numbers("volume"), numbers("plastic_volume"));
    let (elastic, affine) = (numbers("elastic"), numbers("affine"));
    let d = parameters.dimensions as usize;
    let vector =
        |column: &[f32], i: usize| DVec3::from_array(std::array::from_fn(|k| column[3 * i + k].into()));
    let matrix = |column: &[f32], i: usize, corner: f64| {
        let mut m = DMat3::ZERO;
        m.z_axis.z = corner;
        for c in 0..d {
            for r in 0..d {
                m.col_mut(c)[r] = column[d * d * i + d * c + r].into();
            }
        }
        m
    };
    let one = |i: usize, id: u32| twin::Particle {
        position: vector(&position, i),
        velocity: vector(&velocity, i),
        id,
        mass: mass[i].into(),
        volume: volume[i].into(),
        elastic: matrix(&elastic, i, 1.0),
        plastic_volume: plastic[i].into(),
        affine: if affine.is_empty() { DMat3::ZERO } else { matrix(&affine, i, 0.0) },
    };
    words("id").iter().enumerate().map(|(i, id)| one(i, *id)).collect()
}

/// Returns the twin's parameters for a section without bodies, with those of the scene's surroundings that it
/// supports.
pub fn twin_parameters(section: &Section, dt_s: f64, surroundings: &Surroundings) -> twin::Parameters {
    let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    let m = &section.material;
    twin::Parameters {
        dimensions: section.dimensions as usize,
        cell_size_m: f64::from(section.cell_size_m as f32),
        domain_min_m: wide(surroundings.domain_min_m),
        domain_max_m: wide(surroundings.domain_max_m),
        dt_s: f64::from(dt_s as f32),
        gravity_m_s2: wide(surroundings.gravity_m_s2),
        material: twin::Material {
            youngs_modulus_pa: m.youngs_modulus_pa,
            poissons_ratio: m.poissons_ratio,
            hardening: m.hardening,
            critical_compression: m.critical_compression,
            critical_stretch: m.critical_stretch,
            least_plastic_volume: m.least_plastic_volume,
            plastic: m.plastic,
        },
        transfer: match section.transfer {
            Transfer::PicFlip => twin::Transfer::PicFlip { flip_ratio: section.flip_ratio },
            Transfer::Apic => twin::Transfer::Apic,
            Transfer::Mls => twin::Transfer::Mls,
        },
        spline: match section.spline {
            Spline::Cubic => twin::Spline::Cubic,
            Spline::Quadratic => twin::Spline::Quadratic,
        },
        weights: match section.weights {
            Weights::Factored => twin::Weights::Factored,
            Weights::AsPrinted => twin::Weights::AsPrinted,
        },
        strain_floor: section.strain_floor,
        colliders: Vec::new(),
        walls: twin::Surface { friction: section.walls.friction, sticky: section.walls.sticky },
        implicit: section.implicit.map(|i| twin::Implicit {
            beta: i.beta,
            max_iterations: i.max_iterations,
            tolerance: i.tolerance,
        }),
    }
}
