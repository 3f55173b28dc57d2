//! A rotating rod in a dish: elastic fluid climbs it (Weissenberg's effect), viscous fluid sinks beside it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_testkit::{assert_no_validation_messages, is_full_run};
use frazil_tests::ViscoelasticSimulation;

const SPACING_M: f64 = 0.004;
const ROD_M: f64 = 0.012;

/// Returns the scene of a dish with a rod in the middle, which turns at `spin_rad_s`.
fn dish(spin_rad_s: f64, fluid: &str, material: &str) -> String {
    let block = |min: [f64; 2], max: [f64; 2]| {
        format!(
            "[[particles]]\nshape.box = {{ min_m = [{:?}, 0.0, {:?}], max_m = [{:?}, 0.024, {:?}] }}\n",
            min[0], min[1], max[0], max[1]
        )
    };
    let (outer, inner) = (0.036, 0.016);
    let blocks = [
        block([-outer, -outer], [-inner, outer]),
        block([inner, -outer], [outer, outer]),
        block([-inner, -outer], [inner, -inner]),
        block([-inner, inner], [inner, outer]),
    ];
    format!(
        "version = 1\nname = \"dish\"\nup_axis = \"y\"\nsolver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = 0.001\nduration_s = 10.0\n\
         [domain]\nmin_m = [-{outer}, 0.0, -{outer}]\nmax_m = [{outer}, 0.08, {outer}]\n\
         [fluid]\nparticle_spacing_m = {SPACING_M}\nrest_density_kg_m3 = 1000.0\n{fluid}\n\
         [viscoelastic]\nstick = true\n{material}\n\
         [[bodies]]\nname = \"rod\"\nsticky = true\nfriction = 1.0\n\
         shape.cylinder = {{ from_m = [0.0, 0.0, 0.0], to_m = [0.0, 0.075, 0.0], radius_m = {ROD_M} }}\n\
         motion.spinning = {{ point_m = [0.0, 0.0, 0.0], angular_velocity_rad_s = [0.0, {spin_rad_s:?}, 0.0] \
         }}\n{}",
        blocks.concat()
    )
}

/// Returns the height of the surface beside the rod and near the walls: the mean over sectors of their
/// highest particles, in m.
fn heights(fluid: &ViscoelasticSimulation) -> [f64; 2] {
    const SECTORS: usize = 12;
    let mut highest = [[0.0_f64; SECTORS]; 2];
    for x in fluid.positions() {
        let [x, y, z] = x.map(f64::from);
        let r = x.hypot(z);
        let sector = ((z.atan2(x) / std::f64::consts::TAU + 0.5) * SECTORS as f64) as usize % SECTORS;
        let ring = match r {
            r if r < ROD_M + 1.5 * SPACING_M => 0,
            r if r > 0.028 => 1,
            _ => continue,
        };
        highest[ring][sector] = highest[ring][sector].max(y);
    }
    highest.map(|ring| ring.iter().sum::<f64>() / SECTORS as f64)
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn elastic_fluid_climbs_a_rotating_rod_and_viscous_fluid_does_not() {
    // A fluid of second order climbs if G λ² is more than ρ a²/4 (Joseph1973): here 0.3 and 0.036 Pa s². The
    // viscous fluid is the solvent alone. Both are still on their way: after 0.48 s, the surface is 1.0 mm
    // higher and 0.4 mm lower at the rod, of a spacing of 4 mm.
    let spin = 15.0;
    let elastic = ("dynamic_viscosity_pa_s = 0.05", "modulus_pa = 30.0\nrelaxation_time_s = 0.1");
    let viscous = ("dynamic_viscosity_pa_s = 0.05", "elasticity = \"none\"");
    let measure = |(fluid, material): (&str, &str)| {
        let mut dish = ViscoelasticSimulation::new(&dish(spin, fluid, material));
        let mut climb_m = 0.0;
        for _ in 0..3 {
            dish.advance(160);
            let [rod, wall] = heights(&dish);
            climb_m = rod - wall;
            println!(
                "{material:?} after {:.2} s: {:.2} mm above the walls",
                dish.time_s(),
                1e3 * (rod - wall)
            );
        }
        assert_no_validation_messages(&dish.device);
        1e3 * climb_m
    };
    let climb = measure(elastic);
    assert!(climb > 0.5, "{climb} mm");
    if is_full_run() {
        let dip = measure(viscous);
        println!("climbs by {climb:.2} mm, {dip:.2} mm without elasticity");
        assert!(dip < -0.2, "{dip} mm");
    }
}
