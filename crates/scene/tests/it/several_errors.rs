//! Tests of scenes with several wrong values, all of which one message reports.

use frazil_scene::{Scene, SceneError};
use proptest::prelude::*;
use proptest::sample::subsequence;

use crate::dem::{grains, slope};
use crate::mpm::solid;
use crate::{MINIMAL, minimal};

/// Loads a solver's smallest scene with overrides.
type Load = fn(&[&str]) -> Result<Scene, SceneError>;

/// Wrong values, each independent of the others.
type Wrong = &'static [(&'static str, &'static str)];

const WATER: Wrong = &[
    ("time.duration_s", "0"),
    ("fluid.particle_spacing_m", "-1"),
    ("fluid.rest_density_kg_m3", "0"),
    ("fluid.support_radius_spacings", "1e9"),
    ("fluid.dynamic_viscosity_pa_s", "-1"),
    ("fluid.xsph_viscosity", "2"),
    ("fluid.initial_disorder_spacings", "0.7"),
    ("fluid.wall_friction", "1.5"),
    ("fluid.particle_mass_kg", "-2"),
    ("pbd.max_iterations", "0"),
    ("pbd.over_relaxation", "0"),
    ("render.width_px", "0"),
    ("particles.0.temperature_c", "-300"),
    ("particles.0.jitter_spacings", "0.9"),
];

const SNOW: Wrong = &[
    ("fluid.support_radius_spacings", "0"),
    ("snow.contact_radius_spacings", "-1"),
    ("snow.youngs_modulus_pa", "0"),
    ("snow.static_friction", "11"),
    ("snow.kinetic_friction", "-1"),
    ("snow.xsph_viscosity", "2"),
    ("snow.shape_stiffness", "-1"),
    ("snow.heat.snow_capacity_j_kg_k", "0"),
    ("snow.heat.water_conductivity_w_m_k", "-1"),
    ("snow.heat.freezing_temperature_c", "-300"),
    ("snow.heat.latent_heat_j_kg", "-1"),
    ("snow.links.most", "99"),
    ("snow.links.temperature_c", "-400"),
    ("snow.links.reach_spacings", "-1"),
    ("snow.links.break_ratio", "0"),
    ("snow.links.rounds", "0"),
    ("snow.transition.blend_speed", "0"),
    ("snow.transition.blend_threshold", "1"),
];

const MPM: Wrong = &[
    ("mpm.dimensions", "5"),
    ("mpm.cell_size_m", "0"),
    ("mpm.particles_per_cell", "0"),
    ("mpm.material.density_kg_m3", "-1"),
    ("mpm.material.youngs_modulus_pa", "0"),
    ("mpm.material.poissons_ratio", "0.5"),
    ("mpm.material.critical_compression", "1"),
    ("mpm.material.relaxation_time_s", "2"),
    ("mpm.material.min_plastic_volume", "0"),
    ("mpm.flip_ratio", "2"),
    ("mpm.node_mass_cutoff", "2"),
    ("mpm.courant_number", "2"),
    ("mpm.walls.friction", "-1"),
    ("render.height_px", "0"),
    ("particles.0.temperature_c", "-300"),
    ("particles.0.mass_spread", "1"),
    ("particles.0.count", "0"),
];

const DEM: Wrong = &[
    ("dem.radius_m", "0"),
    ("dem.radius_spread", "0.9"),
    ("dem.density_kg_m3", "-1"),
    ("dem.normal_stiffness_n_m", "0"),
    ("dem.tangential_damping_ratio", "11"),
    ("dem.restitution", "2"),
    ("dem.rolling_friction", "-1"),
    ("dem.cohesion_n", "-1"),
    ("dem.cohesion_range_m", "-1"),
    ("dem.terrain_adhesion_range_m", "-2"),
    ("dem.wall_restitution", "0"),
    ("dem.steps_per_contact", "1"),
    ("dem.contacts_per_grain", "100"),
    ("dem.bonds.strength_n", "-1"),
    ("particles.0.temperature_c", "-300"),
    ("particles.0.jitter_spacings", "0.9"),
];

const VISCOELASTIC: Wrong = &[
    ("fluid.rest_density_kg_m3", "0"),
    ("fluid.dynamic_viscosity_pa_s", "-1"),
    ("viscoelastic.modulus_pa", "-5"),
    ("viscoelastic.relaxation_time_s", "-1"),
    ("viscoelastic.yield_strain", "2"),
    ("viscoelastic.decay_per_s", "-1"),
    ("viscoelastic.viscosity_tolerance", "0"),
    ("viscoelastic.max_viscosity_iterations", "0"),
    ("viscoelastic.unresolved_damping", "11"),
    ("viscoelastic.wall_restitution", "2"),
    ("viscoelastic.shear.frequency_hz", "-1"),
    ("viscoelastic.bulk_viscosity_ratio", "200"),
    ("viscoelastic.particle_shifting", "-1"),
    ("viscoelastic.viscosity.exponent", "9"),
    ("viscoelastic.viscosity.infinite_shear_pa_s", "-1"),
    ("particles.0.temperature_c", "-300"),
];

fn snowy(overrides: &[&str]) -> Result<Scene, SceneError> {
    minimal(&[&["snow={}", "particles.0.phase=snow", "particles.0.temperature_c=-10"], overrides].concat())
}

fn viscoelastic(overrides: &[&str]) -> Result<Scene, SceneError> {
    minimal(&[&["solver.kind=viscoelastic", "viscoelastic.shear.rate_per_s=1"], overrides].concat())
}

const SOLVERS: [(Load, Wrong); 5] =
    [(minimal, WATER), (snowy, SNOW), (solid, MPM), (grains, DEM), (viscoelastic, VISCOELASTIC)];

/// Returns the keys of the lines of a message, each with what was found there.
fn lines(message: &str) -> Vec<(&str, &str)> {
    message
        .lines()
        .map(|line| {
            let (before, expected) = line.split_once(", expected ").unwrap_or_else(|| panic!("{message}"));
            assert!(!expected.is_empty(), "{message}");
            let (before, found) = before.rsplit_once(": found ").unwrap_or_else(|| panic!("{message}"));
            (before.rsplit_once(": ").unwrap_or_else(|| panic!("{message}")).1, found)
        })
        .collect()
}

/// Asserts that a scene with these wrong values reports them, in this order, and nothing else.
#[track_caller]
fn assert_reported(load: Load, wrong: &[(&str, &str)]) {
    let sets: Vec<String> = wrong.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let message = load(&sets).expect_err(&sets.join(" ")).to_string();
    let found = lines(&message);
    assert_eq!(found.len(), wrong.len(), "{message}");
    for ((key, value), (expected_key, expected_value)) in found.into_iter().zip(wrong) {
        assert_eq!(key, *expected_key, "{message}");
        assert!(value.starts_with(expected_value), "{message}");
    }
}

#[test]
fn each_solver_reports_all_its_wrong_values() {
    for (load, wrong) in SOLVERS {
        assert_reported(load, wrong);
        // Errors that follow from one of them are not reported.
        wrong.iter().for_each(|one| assert_reported(load, &[*one]));
    }
}

proptest! {
    #[test]
    fn as_many_lines_as_wrong_values(
        (solver, wrong) in (0..SOLVERS.len()).prop_flat_map(|solver| {
            let all = SOLVERS[solver].1;
            (Just(solver), subsequence(all, 1..=all.len()))
        }),
    ) {
        assert_reported(SOLVERS[solver].0, &wrong);
    }
}

#[test]
fn lines_name_the_place_in_the_file() {
    let text =
        MINIMAL.replace("= 0.1\n", "= -0.1\n").replace("1000.0", "-1") + "velocity_m_s = [0, inf, 0]\n";
    assert_eq!(
        Scene::parse(&text, "minimal.toml", &[]).expect_err("three values are wrong").to_string(),
        "minimal.toml:10:1: fluid.particle_spacing_m: found -0.1, expected a positive number of metres\n  \
         minimal.toml:11:1: fluid.rest_density_kg_m3: found -1, expected a positive number of kg/m³\n  \
         minimal.toml:19:1: particles.0.velocity_m_s: found [0, inf, 0], expected three finite numbers of \
         m/s, at most 1e18"
    );
}

#[test]
fn blocks_and_bodies_report_all_their_wrong_values() {
    let message = minimal(&[
        "particles=[{shape={box={min_m=[0.2,0.2,0.2],max_m=[0.4,2,0.4]}},temperature_c=-300},\
         {shape={sphere={centre_m=[0.7,0.7,0.7],radius_m=-1}}},\
         {shape={sphere={centre_m=[0.7,0.7,2],radius_m=0.2}}}]",
        "bodies=[{shape={plane={point_m=[0,0,0],normal=[0,0,0]}},friction=-1},{name='a,b',shape={sphere={centre_m=[0.8,0.8,0.8],radius_m=-1}},friction=-1,motion={keyframed={pivot_m=[0,0,0],keys=[{time_s=0},{time_s=1e99},{time_s=2},{time_s=1}]}}}]",
    ])
    .expect_err("many values are wrong")
    .to_string();
    let keys: Vec<&str> = lines(&message).into_iter().map(|(key, _)| key).collect();
    let body = "bodies.1.motion.keyframed.keys";
    assert_eq!(
        keys,
        [
            // Of each argument first those of ranges, then those between values.
            "particles.0.temperature_c",
            "particles.1.shape.sphere.radius_m",
            "particles.0.shape.box",
            "particles.2.shape.sphere",
            "bodies.0.friction",
            "bodies.1.friction",
            &format!("{body}.1.time_s"),
            "bodies.1.shape.sphere.radius_m",
            "bodies.0.shape.plane.normal",
            "bodies.1.name",
            &format!("{body}.3.time_s"),
        ],
        "{message}"
    );
}

/// The default bulk density of a release follows from that of grains, and is not refused beside it.
#[test]
fn releases_report_all_their_wrong_values() {
    assert_reported(
        slope,
        &[
            ("terrain.generated.inclined_plane.slope_deg", "100"),
            ("dem.density_kg_m3", "-1"),
            ("dem.releases.0.thickness_m", "-1"),
            ("dem.releases.0.jitter", "2"),
        ],
    );
    let message = slope(&["dem.releases.0.polygon_m=[[3,3],[40,3],[7,7]]", "dem.releases.0.jitter=2"]);
    let message = message.expect_err("two values are wrong").to_string();
    let keys: Vec<&str> = lines(&message).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["dem.releases.0.polygon_m", "dem.releases.0.jitter"], "{message}");
    let missing = slope(&["dem.releases=[{jitter=2},{polygon_m=[[3,3],[7,3],[7,7]]}]"]);
    let message = missing.expect_err("three errors").to_string();
    assert_eq!(message.lines().count(), 3, "{message}");
    for part in [
        "polygons or polygon_m: missing",
        "dem.releases.1.thickness_m: missing",
        "dem.releases.0.jitter: found 2",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_number_of_reported_errors_has_a_limit() {
    let block = "{shape={sphere={centre_m=[0.5,0.5,0.5],radius_m=-1}},jitter_spacings=2},";
    let found = minimal(&[&format!("particles=[{}]", block.repeat(100))]).expect_err("100 blocks are wrong");
    let SceneError::Several(errors) = found else { panic!("{found}") };
    assert_eq!(errors.len(), 20, "{errors:?}");
}

/// Scenes with as many sections as fit together.
fn full_scenes() -> Vec<(Load, Vec<&'static str>)> {
    let bodies = crate::bodies::ALL_SHAPES;
    let layer = "dem.weak_layer={strength_n=1,fails_at_s=2,fails_within={centre_m=[5,5],radius_m=1}}";
    let slab = "dem.slabs=[{name='s',density_kg_m3=300,link_strength_pa=1e4,shape={plate={origin_m=[10,5],size_m=[4,4],thickness_m=0.5,pieces=[4,4]}}}]";
    vec![
        (minimal, vec![bodies, "fluid.particle_mass_kg=1"]),
        (snowy, vec![bodies, "snow.links.compliance_m_n=0.001"]),
        (solid, vec!["mpm.implicit={}", "particles.0.count=64", "particles.0.mass_spread=0.1"]),
        (grains, vec!["dem.bonds.strength_n=1", "particles.0.fill=random"]),
        (slope, vec![layer, slab]),
        (
            viscoelastic,
            vec![
                "viscoelastic.heat={conductivity_w_m_k=1,capacity_j_kg_k=1000,activation_temperature_k=1000}",
                "viscoelastic.feed={mouth_m=0.5,velocity_m_s=[0,-1,0]}",
                "viscoelastic.viscosity={model='carreau',time_s=1}",
            ],
        ),
    ]
}

#[test]
fn full_scenes_are_valid() {
    for (load, sets) in full_scenes() {
        load(&sets).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_message_of_many_errors_is_cut_and_tells_how_many_it_leaves_out() {
    // Unlike any key, so that each error lists all keys of the section.
    let keys: Vec<String> = (0..15).map(|i| format!("render.{}=1", "qwzx".repeat(5 + i))).collect();
    let message = minimal(&keys.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err().to_string();
    assert!(message.chars().count() <= 4000, "{message}");
    let lines: Vec<&str> = message.lines().collect();
    let [listed @ .., last] = &lines[..] else { unreachable!() };
    assert!(listed.len() > 2 && listed.iter().all(|line| line.contains("unknown key")), "{message}");
    assert_eq!(last.trim(), format!("and {} more", 15 - listed.len()));
}

proptest! {
    /// Checks after a refused value neither panic nor take long, and name each key once.
    #[test]
    fn extreme_values_are_refused_in_any_combination(
        scene in 0..6_usize,
        wrong in prop::collection::vec((any::<prop::sample::Index>(), 0..9_usize), 1..6),
    ) {
        let (load, sets) = full_scenes().swap_remove(scene);
        let json = serde_json::to_value(load(&sets).unwrap()).unwrap();
        let mut keys = Vec::new();
        crate::errors::collect_numbers(&json, "", &mut keys);
        let values = ["0", "-1", "1", "4294967295", "-1e300", "1e300", "1e-300", "nan", "inf"];
        let wrong = wrong.iter().map(|(key, value)| format!("{}={}", keys[key.index(keys.len())], values[*value]));
        let wrong: Vec<String> = wrong.collect();
        let all: Vec<&str> = sets.iter().copied().chain(wrong.iter().map(String::as_str)).collect();
        if let Err(error @ SceneError::Several(_)) = load(&all) {
            let message = error.to_string();
            let keys = message.lines().filter_map(|line| line.rsplit_once(": found "));
            let mut found: Vec<&str> = keys.map(|(at, _)| at).collect();
            let n = found.len();
            found.sort_unstable();
            found.dedup();
            prop_assert!(found.len() == n, "{message}");
        }
    }
}
