//! A lone particle that drifts through cells: rounding must not strain it (Breekveldt2017 sec 4.1).
//!
//! Where it is a hair off a row of nodes, a fourth row weighs all but nothing. As the spline and the velocity gradient are printed (eq 3.3,
//! 3.26), that weight is off by the rounding of 1, even by its sign, while its gradient is not, and a drifting particle finds a gradient in a
//! field that has none; stress made of it drives those nodes as if they weighed nothing. The remedy has two parts that can be had one by
//! one: weights that are exact where they are small, with velocities taken as differences from the particle's own
//! (`weights = "factored"`), and a floor below which strain counts as none (`strain_floor`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Mpm as Section, Weights};
use frazil_solvers::mpm::Beginning;
use frazil_tests::snowpack::{Snowpack, empty_space};
use frazil_tests::{assert_no_validation_messages, device, is_full_run};
use frazil_vk::{Device, DeviceOptions};
use glam::DMat3;

const H: f64 = 0.01;

/// A step at which elastic waves cross 0.79 of a cell: shorter ones than 0.7 damp what strains a lone particle, which then settles where
/// as much noise comes as goes.
const DT_S: f64 = 4e-4;

/// One particle at 1 m/s along x, off a row of nodes by a share of a cell.
fn drifter(device: Device, section: &Section, offset_cells: f64) -> Snowpack {
    let at = |cells: f64| (H * (cells + offset_cells)) as f32;
    let z = if section.dimensions == 3 { at(8.0) } else { 0.0 };
    let volume = (0.5 * H).powi(section.dimensions as i32);
    let beginning = Beginning {
        positions_m: vec![[at(8.0), at(8.0), z]],
        velocities_m_s: vec![[1.0, 0.0, 0.0]],
        masses_kg: vec![(400.0 * volume) as f32],
        volumes_m3: vec![volume as f32],
    };
    Snowpack::on(device, section, DT_S, empty_space([0.0; 3], [41.0, 0.2, 0.2]), &beginning)
}

fn largest(m: DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// After 1, 2, 4 … steps: the step, the velocity gradient that the next one finds in 1/s, and the energy of strain in J/kg.
fn curve(snow: &mut Snowpack) -> Vec<(u64, f64, f64)> {
    let mut points = Vec::new();
    for k in 0..7 {
        snow.advance((1 << k) - snow.mpm.step());
        let strained = snow.particles()[0];
        let energy = snow.advance(0).elastic_energy_j / strained.mass;
        snow.advance(1);
        let gradient = snow.particles()[0].elastic * strained.elastic.inverse() - DMat3::IDENTITY;
        points.push((1 << k, largest(gradient) / DT_S, energy));
    }
    points
}

#[test]
fn noise_feeds_on_itself_as_printed_and_each_part_of_the_remedy_is_told_by_what_it_stops() {
    for dimensions in [2, 3] {
        let found = [
            ("as printed", Weights::AsPrinted, false, 5e-3),
            ("as printed, floor", Weights::AsPrinted, true, 5e-3),
            ("as printed, floor, nearer", Weights::AsPrinted, true, 1e-3),
            ("factored", Weights::Factored, false, 5e-3),
            ("factored, floor", Weights::Factored, true, 5e-3),
        ]
        .map(|(name, weights, strain_floor, offset)| {
            let section =
                Section { weights, strain_floor, flip_ratio: 1.0, ..Section::sampled(dimensions, H) };
            let mut snow = drifter(device(), &section, offset);
            let curve = curve(&mut snow);
            for (step, rate, energy) in &curve {
                println!(
                    "{dimensions}-D {name}: step {step}: ∇v {rate:.2e} 1/s, strain energy {energy:.2e} J/kg"
                );
            }
            assert_no_validation_messages(&snow.device);
            curve
        });
        let [printed, floor_alone, floor_nearer, factored, both] = found;
        // From the rounding of a velocity over a cell to snow that yields, in no time and from nothing.
        let growth = |curve: &[(u64, f64, f64)]| {
            let most = curve.iter().fold((0.0_f64, 0.0_f64), |m, p| (m.0.max(p.1), m.1.max(p.2)));
            (most.0 / curve[0].1, most.1 / curve[0].2)
        };
        let (rate, energy) = growth(&printed);
        println!("{dimensions}-D: ∇v grows {rate:.1e}-fold, energy {energy:.1e}-fold");
        assert!(rate > 1e3 && energy > 1e6, "{rate:e} {energy:e}");
        // A floor stops what is below it: noise of a particle that is nearer to the row, not of this one.
        assert!(growth(&floor_alone).1 > 1e6);
        for curve in [floor_nearer, factored, both] {
            assert!(curve.iter().all(|(_, rate, energy)| (*rate, *energy) == (0.0, 0.0)), "{curve:?}");
        }
    }
}

#[test]
fn a_lone_particle_drifts_without_strain() {
    // 10⁵ steps in the long run. Validation would take longer than the steps; the test above has it.
    let full = is_full_run();
    let steps = if full { 100_000 } else { 4_000 };
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let mut snow = drifter(device, &Section::sampled(2, H), 5e-3);
    let before = snow.particles()[0];
    snow.advance(steps);
    let after = snow.particles()[0];
    assert_eq!((after.elastic, after.plastic_volume), (DMat3::IDENTITY, 1.0));
    // Its energy is that of its velocity, which has the bits it had.
    assert_eq!(after.velocity, before.velocity);
    let way = after.position.x - before.position.x;
    println!("{steps} steps, {way:.3} m on: F = I, v = {:?}", after.velocity);
    // Places up to 41 m are rounded to 2 µm a step, always alike where velocity is.
    assert!((way - steps as f64 * DT_S).abs() < steps as f64 * 2e-6, "{way} m");
}
