//! Tests of the experiments of Chen2021, chapter 8.

use frazil_scene::{Conduction, LinkLimit, Phase, Scene};

fn scene(name: &str) -> Scene {
    Scene::find(name, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the numbers of particles of water and of snow.
fn counts(scene: &Scene) -> [usize; 2] {
    let sampled = scene.sample().unwrap_or_else(|e| panic!("{e}"));
    [Phase::Water, Phase::Snow].map(|phase| sampled.phases.iter().filter(|&&found| found == phase).count())
}

const NAMES: [&str; 6] =
    ["snow_drop_free", "snow_drop_linked", "snow_drop_dynamic", "melting", "freezing", "water_drop"];

/// Values of tables 8.5 to 8.7; the cube of the snow drops is that of the others.
#[test]
fn the_experiments_have_as_many_particles_as_the_papers() {
    for (name, water, snow) in [
        ("snow_drop_free", 0, 10_648),
        ("snow_drop_linked", 0, 10_648),
        ("snow_drop_dynamic", 0, 10_648),
        ("melting", 64_000, 10_648),
        ("freezing", 32_400, 10_648),
        ("water_drop", 5_888, 147_928),
    ] {
        assert_eq!(counts(&scene(name)), [water, snow], "{name}");
    }
}

#[test]
fn the_experiments_have_the_papers_temperatures() {
    let temperatures =
        |name: &str| -> Vec<f64> { scene(name).particles.iter().map(|block| block.temperature_c).collect() };
    assert_eq!(temperatures("snow_drop_free"), [-10.0]);
    assert_eq!(temperatures("melting"), [50.0, -10.0]);
    assert_eq!(temperatures("freezing"), [1.0, -100.0]);
    assert_eq!(temperatures("water_drop"), [-10.0, 100.0]);
}

/// Values of tables 8.2 to 8.7.
#[test]
fn the_experiments_have_the_papers_parameters() {
    for name in NAMES {
        let scene = scene(name);
        assert!((scene.particle_mass_kg() - 0.01).abs() < 1e-15, "{}", scene.particle_mass_kg());
        assert!((scene.support_radius_m() - 0.0362783).abs() < 1e-15, "{}", scene.support_radius_m());
        assert_eq!((scene.rest_density_kg_m3(), scene.fluid().unwrap().xsph_viscosity), (1000.0, Some(0.01)));
        assert_eq!(scene.dt_s(), 0.00125);
        assert_eq!(scene.n_steps(), if name.starts_with("snow_drop") { 2000 } else { 5000 });
        assert_eq!((scene.iterations(), scene.pbd().over_relaxation), (3, 0.25));
        let snow = scene.snow().unwrap();
        assert_eq!((snow.xsph_viscosity, snow.non_penetration_stiffness), (Some(0.1), Some(0.25)));
        assert_eq!((snow.static_friction, snow.kinetic_friction), (0.5, 0.35));
        assert_eq!((snow.links.stiffness, snow.transition.blend_speed), (Some(0.1), Some(0.01)));
        // Links are made within h at any time.
        let support = scene.fluid().unwrap().support_radius_spacings;
        let links = &snow.links;
        assert_eq!((links.initial_reach_spacings, links.reach_spacings), (support, support));
        assert_eq!((links.most, links.break_ratio), (8, 1.5));
        let heat = &snow.heat;
        assert_eq!((heat.snow_capacity_j_kg_k, heat.water_capacity_j_kg_k), (2090.0, 4182.0));
        assert_eq!((heat.snow_conductivity_w_m_k, heat.water_conductivity_w_m_k), (2500.0, 600.0));
        assert_eq!(heat.conduction, Conduction::Uncorrected);
        assert_eq!((heat.freezing_temperature_c, heat.homogeneous_freezing_temperature_c), (0.0, -30.0));
    }
}

/// Values of figures 8.1 to 8.3.
#[test]
fn the_snow_drops_differ_only_in_their_links() {
    let [mut free, mut linked, mut dynamic] =
        ["snow_drop_free", "snow_drop_linked", "snow_drop_dynamic"].map(scene);
    let limits = [&mut free, &mut linked, &mut dynamic].map(|scene| {
        (scene.name, scene.description) = (String::new(), String::new());
        std::mem::take(&mut scene.snow_mut().unwrap().links.limit)
    });
    assert_eq!(limits, [LinkLimit::None, LinkLimit::Constant, LinkLimit::Dynamic]);
    assert_eq!((&free, &linked), (&linked, &dynamic));
}

/// The cube of the melting scene scales like the rest: about scale³ particles of each phase.
#[test]
fn scaled_experiments_keep_both_phases() {
    for name in NAMES {
        let full = counts(&scene(name));
        for scale in [0.2, 0.35, 0.5] {
            let scene = Scene::find(name, &[format!("scale={scale}")]).unwrap();
            for (found, full) in counts(&scene).into_iter().zip(full) {
                let expected = f64::powi(scale, 3) * full as f64;
                // A cube of at least 4 or 5 layers may have one more or less.
                let ratio = found as f64 / expected.max(f64::MIN_POSITIVE);
                assert!(
                    full == found || (0.5..2.0).contains(&ratio),
                    "{name} at {scale}: {found}, not {expected}"
                );
            }
        }
    }
}
