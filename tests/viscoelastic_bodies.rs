//! Viscoelastic fluid between bodies, which an implicit viscosity holds where they are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_solvers::viscoelastic::Viscoelastic;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::cylinders::{coaxial_cylinders, torque_n_m};
use frazil_tests::{ViscoelasticSimulation, download_loads};

const VISCOSITY_PA_S: f64 = 50.0;

/// Returns the torques on the outer and on the inner of two coaxial cylinders, over that of Couette's flow.
fn torques_of_cylinders(d: f64, dt_s: f64) -> [f64; 2] {
    let sections = format!(
        "solver = {{ kind = \"viscoelastic\" }}\n\
         [fluid]\nparticle_spacing_m = {d:?}\ndynamic_viscosity_pa_s = {VISCOSITY_PA_S:?}\n\
         [viscoelastic]\nelasticity = \"none\"\nstick = false\nwall_friction = 0.0\n"
    );
    // Beside the default disorder of 0.2 spacings. With 0.2 more, the density constraint moves a particle of
    // these rings by more than a support radius in the first step, a fault.
    let (scene, sampled) = coaxial_cylinders(&sections, d, dt_s, 0.1);
    let device = device();
    let solver = Viscoelastic::with_tuning(&device, &scene, &sampled, Default::default()).unwrap();
    assert!(solver.viscosity().is_some(), "viscosity is implicit");
    let mut fluid = ViscoelasticSimulation { device, scene, solver, step: 0, replay: Default::default() };
    let impulses = |fluid: &ViscoelasticSimulation| {
        let loads = download_loads(&fluid.device, fluid.solver.fluid().body_loads());
        [0, 1].map(|k| loads[k].angular_impulse_n_m_s[2])
    };
    // Four times of diffusion, 0.08 s.
    fluid.advance((4.0 / VISCOSITY_PA_S / dt_s).round() as u64);
    let before = impulses(&fluid);
    fluid.advance((0.02 / dt_s).round() as u64);
    let after = impulses(&fluid);
    assert_no_validation_messages(&fluid.device);
    [0, 1].map(|k| (after[k] - before[k]) / (0.02 * torque_n_m(VISCOSITY_PA_S)))
}

/// Bounds: 3 % of a gap of five layers, in which a layer that moves with its body makes 25 %; and 1 % by
/// which the flow is not yet steady.
#[test]
fn the_torques_of_coaxial_cylinders_are_opposite_and_couettes() {
    let cases = [(0.02, 0.001), (0.0125, 0.001), (0.0125, 0.0005)];
    for (d, dt_s) in cases.into_iter().take(if is_full_run() { 3 } else { 1 }) {
        let [outer, inner] = torques_of_cylinders(d, dt_s);
        println!("d {d} m, Δt {dt_s} s: {outer:.4} and {inner:.4} of Couette's torque");
        assert!((outer + inner).abs() < 0.01, "torques {outer} and {inner} are not opposite");
        assert!((outer - 1.0).abs() < 0.03, "outer cylinder: {outer} of Couette's torque");
    }
}
