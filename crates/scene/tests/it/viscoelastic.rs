//! The `[viscoelastic]` section and periodic domains: what is refused, with the key, what was found and what
//! is expected.

use crate::minimal;
use frazil_scene::Elasticity;

/// A scene of a viscoelastic fluid; the time step of the minimal scene is 0.01 s, its spacing 0.1 m.
fn load(overrides: &[&str]) -> Result<frazil_scene::Scene, frazil_scene::SceneError> {
    minimal(&[&["solver={kind='viscoelastic'}"], overrides].concat())
}

#[test]
fn a_fluid_is_elastic_unless_the_scene_says_otherwise() {
    let scene = load(&[]).unwrap();
    assert_eq!(scene.viscoelastic().elasticity, Elasticity::Conformation);
    assert!(!scene.viscoelastic().sticks());
    // A wave at √(1000/1000) m/s may pass 0.4 of 0.1 m.
    assert!((scene.longest_elastic_dt_s() - 0.04).abs() < 1e-12);
    let without = load(&["viscoelastic={elasticity='none'}"]).unwrap();
    assert!(without.viscoelastic().sticks() && without.longest_elastic_dt_s().is_infinite());
}

#[test]
fn wrong_values_are_refused_with_key_found_and_expected() {
    let nearly = "viscoelastic={modulus_pa=15000}";
    load(&[nearly]).unwrap();
    for (overrides, parts) in [
        (&["fluid.dynamic_viscosity_pa_s=-1"][..], &["fluid.dynamic_viscosity_pa_s", "found -1"][..]),
        (&["fluid.dynamic_viscosity_pa_s=nan"], &["fluid.dynamic_viscosity_pa_s", "expected"]),
        (&["viscoelastic={modulus_pa=-5}"], &["viscoelastic.modulus_pa", "found -5", "expected"]),
        (&["viscoelastic={modulus_pa=nan}"], &["viscoelastic.modulus_pa", "expected"]),
        (&["viscoelastic={modulus_pa=0}"], &["viscoelastic.modulus_pa", "elasticity = \"none\""]),
        (
            &["viscoelastic={relaxation_time_s=0}"],
            &[
                "viscoelastic.relaxation_time_s",
                "found 0, expected a positive number of seconds; for a fluid without",
            ],
        ),
        (
            &["viscoelastic={yield_stress_pa=1001}"],
            &["viscoelastic.yield_stress_pa", "found 1001 Pa", "at most the modulus, 1000 Pa"],
        ),
        (
            &["viscoelastic={modulus_pa=17000}"],
            &["time.dt_s", "modulus of 17000 Pa", "elastic wave", "at most 0.0097"],
        ),
        (
            &["viscoelastic={viscosity={model='carreau'}}"],
            &["viscoelastic.viscosity.model", "without time_s"],
        ),
        (
            &["viscoelastic={viscosity={model='power_law'}}"],
            &["viscoelastic.viscosity.model", "without consistency_pa_s_n"],
        ),
        (
            &["viscoelastic={viscosity={model='herschel_bulkley'}}"],
            &["viscoelastic.viscosity.model", "without consistency_pa_s_n"],
        ),
        (&["viscoelastic={viscosity={exponent=nan}}"], &["viscoelastic.viscosity.exponent", "expected"]),
        (&["viscoelastic={viscosity_tolerance=0}"], &["viscoelastic.viscosity_tolerance", "found 0"]),
        (
            &["viscoelastic={shear={rate_per_s=1}}", "domain.periodic=[true,true,true]"],
            &["viscoelastic.shear", "periodic y faces"],
        ),
        (
            &[
                "domain.periodic=[true,false,false]",
                "bodies=[{name='b',shape={sphere={centre_m=[0.5,0.5,0.5],radius_m=0.1}}}]",
            ],
            &["domain.periodic", "bodies in a periodic domain", "expected"],
        ),
        (
            &["viscoelastic={springs_fixed=true}"],
            &["viscoelastic.springs_fixed", "\"conformation\"", "expected elasticity = \"springs\""],
        ),
        (
            &["viscoelastic={elasticity='springs',relaxation_time_s=1}"],
            &["viscoelastic.relaxation_time_s", "found 1 with springs", "viscoelastic.decay_per_s"],
        ),
        (
            &["viscoelastic={elasticity='springs',yield_stress_pa=10}"],
            &["viscoelastic.yield_stress_pa", "found 10 with springs", "viscoelastic.yield_strain"],
        ),
        (
            &["viscoelastic={elasticity='springs',springs_fixed=true,decay_per_s=2}"],
            &["viscoelastic.decay_per_s", "found 2/s", "springs_fixed = false"],
        ),
        (
            &["viscoelastic={elasticity='springs',yield_strain=-0.1}"],
            &["viscoelastic.yield_strain", "found -0.1", "expected"],
        ),
        (
            &["viscoelastic={elasticity='springs'}", "fluid.support_radius_spacings=1.2"],
            &["fluid.support_radius_spacings", "found 1.2", "at least 1.5 with springs"],
        ),
        (
            &["viscoelastic={elasticity='springs'}", "domain.periodic=[true,false,true]"],
            &["domain.periodic", "springs in a periodic domain", "expected walls"],
        ),
        (
            &["viscoelastic={elasticity='springs',modulus_pa=17000}"],
            &["time.dt_s", "modulus of 17000 Pa", "at most 0.0097"],
        ),
        (&["fluid.neighbour_grid='octree'"], &["fluid.neighbour_grid", "octree", "counting", "sorting"]),
        (&["fluid.wall_density='integral'"], &["fluid.wall_density", "\"images\""]),
    ] {
        let message = load(overrides).expect_err(&format!("{overrides:?}")).to_string();
        for part in parts {
            assert!(message.contains(part), "{overrides:?}: no {part} in: {message}");
        }
    }
}

#[test]
fn other_solvers_have_no_periodic_domain_and_no_viscoelastic_section() {
    let message = minimal(&["domain.periodic=[true,false,false]"]).unwrap_err().to_string();
    assert!(message.contains("domain.periodic") && message.contains("viscoelastic"), "{message}");
    let message = minimal(&["viscoelastic={}"]).unwrap_err().to_string();
    assert!(message.contains("viscoelastic"), "{message}");
}

#[test]
fn live_keys_are_those_of_the_elasticity_model() {
    let keys = |overrides: &[&str]| load(overrides).unwrap().live_keys();
    let fixed = keys(&["viscoelastic={elasticity='springs',springs_fixed=true}"]);
    assert!(fixed.contains(&"viscoelastic.modulus_pa") && !fixed.contains(&"viscoelastic.decay_per_s"));
    let plastic = keys(&["viscoelastic={elasticity='springs'}"]);
    assert!(
        plastic.contains(&"viscoelastic.decay_per_s") && !plastic.contains(&"viscoelastic.yield_stress_pa")
    );
    assert!(keys(&["viscoelastic={}"]).contains(&"viscoelastic.relaxation_time_s"));
    let fluid = keys(&["viscoelastic={elasticity='none'}"]);
    assert!(!fluid.iter().any(|key| key.contains("modulus")), "{fluid:?}");
}
