//! Snow by the material point method against physics.

use frazil_scene::Transfer;
use frazil_tests::snowpack::{Snowpack, disk, empty_space, section};
use frazil_tests::{Random, assert_no_validation_messages};

#[test]
fn snow_that_drifts_keeps_mass_and_momentum() {
    let mut beginning = disk([0.5, 0.5], 0.1, 500, 400.0, &mut Random::new(1));
    beginning.velocities_m_s.iter_mut().for_each(|v| *v = [1.0, 0.5, 0.0]);
    let mut snow = Snowpack::new(&section(2, 0.02), 1e-4, empty_space([0.0; 3], [2.0, 2.0, 0.0]), &beginning);
    let before = snow.advance(0);
    println!("{before:?}");
    let after = snow.advance(100);
    println!("{after:?}");
    assert_no_validation_messages(&snow.device);
}

#[test]
fn a_spinning_disk() {
    for transfer in [Transfer::PicFlip, Transfer::Apic, Transfer::Mls] {
        let mut beginning = disk([0.5, 0.5], 0.1, 500, 400.0, &mut Random::new(1));
        for (v, x) in beginning.velocities_m_s.iter_mut().zip(&beginning.positions_m) {
            *v = [-(x[1] - 0.5), x[0] - 0.5, 0.0].map(|x| 5.0 * x);
        }
        let mut section = section(2, 0.02);
        section.transfer = transfer;
        section.material.plastic = false;
        let mut snow = Snowpack::new(&section, 1e-4, empty_space([0.0; 3], [1.0, 1.0, 0.0]), &beginning);
        let before = snow.advance(0);
        let after = snow.advance(400);
        println!(
            "{transfer:?} {:?} {:?} {} {}",
            before.angular_momentum_kg_m2_s,
            after.angular_momentum_kg_m2_s,
            after.all.kinetic_energy_j,
            after.elastic_energy_j
        );
    }
}
