//! Tests of the `[snow]` section and the keys that require it.

use frazil_scene::{LatentHeat, LinkBuilder, LinkLimit, Links, Phase, Scene, SceneError, Snow, WallModel};

use crate::{MINIMAL, minimal};

/// Loads the minimal scene with its block made of snow; `[snow]` begins in line 22.
fn snowy(lines: &str, overrides: &[&str]) -> Result<Scene, SceneError> {
    let text = format!("{MINIMAL}phase = \"snow\"\ntemperature_c = -10\n\n[snow]\n{lines}");
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Scene::parse(&text, "snow.toml", &overrides)
}

#[track_caller]
fn assert_message(result: Result<Scene, SceneError>, expected: &str) {
    assert_eq!(result.expect_err("the scene is wrong").to_string(), expected);
}

#[test]
fn omitted_keys_of_snow_have_defaults() {
    let scene = snowy("", &[]).unwrap();
    let snow = scene.snow().cloned().unwrap();
    assert_eq!(snow, Snow::default());
    assert_eq!(
        (snow.youngs_modulus_pa, snow.non_penetration_stiffness, snow.links.stiffness),
        (1e5, None, None)
    );
    assert_eq!((snow.static_friction, snow.kinetic_friction, snow.shape_stiffness), (0.5, 0.35, 0.0));
    assert_eq!((snow.links.limit, snow.links.most), (LinkLimit::Constant, 18));
    assert_eq!(snow.links.builder, LinkBuilder::Reproducible);
    assert_eq!(snow.heat.latent_heat, LatentHeat::Blending);
    // The paper's growth per step at its step, and half of it at half of the step.
    assert_eq!([1.25e-3, 6.25e-4].map(|dt_s| snow.transition.blend_step(dt_s)), [0.01, 0.005]);
    assert_eq!(minimal(&[]).unwrap().snow(), None);
    // A partly given section keeps the defaults of its other keys.
    let partly = snowy("links.most = 4", &[]).unwrap().snow().cloned().unwrap();
    assert_eq!(partly.links, Links { most: 4, ..Links::default() });
    assert_eq!(partly.heat, snow.heat);
}

#[test]
fn values_of_snow_out_of_range_are_placed() {
    for (line, message) in [
        (
            "contact_radius_spacings = 1.5",
            "contact_radius_spacings: found 1.5, expected a number from 0.1 to 1",
        ),
        (
            "non_penetration_stiffness = 0",
            "non_penetration_stiffness: found 0, expected a number above 0 and up to 1",
        ),
        ("youngs_modulus_pa = 0", "youngs_modulus_pa: found 0, expected a positive number of Pa"),
        (
            "contact_compliance_m_n = -1",
            "contact_compliance_m_n: found -1, expected a positive number of m/N",
        ),
        ("static_friction = 11", "static_friction: found 11, expected a number from 0 to 10"),
        ("kinetic_friction = -0.1", "kinetic_friction: found -0.1, expected a number from 0 to 10"),
        ("kinetic_friction = 0.6", "kinetic_friction: found 0.6, expected at most snow.static_friction, 0.5"),
        ("xsph_viscosity = 2", "xsph_viscosity: found 2, expected a number from 0 to 1"),
        ("shape_stiffness = 1.01", "shape_stiffness: found 1.01, expected a number from 0 to 1"),
        (
            "links.most = 0",
            "links.most: found 0, expected a whole number from 1 to 32; limit = \"none\" makes snow without \
             links",
        ),
        (
            "links.most = 33",
            "links.most: found 33, expected a whole number from 1 to 32; limit = \"none\" makes snow \
             without links",
        ),
        (
            "links.temperature_c = -300",
            "links.temperature_c: found -300, expected a temperature from -273.15 °C to 10000 °C",
        ),
        (
            "links.temperature_c = 1",
            "links.temperature_c: found 1 °C, expected at most snow.heat.freezing_temperature_c, 0 °C, \
             because water is not linked",
        ),
        ("links.reach_spacings = 9.0", "links.reach_spacings: found 9, expected a number from 0.1 to 2"),
        ("links.break_ratio = 0.9", "links.break_ratio: found 0.9, expected a number from 1 to 1e9"),
        ("links.stiffness = 1.5", "links.stiffness: found 1.5, expected a number above 0 and up to 1"),
        ("links.compliance_m_n = 0", "links.compliance_m_n: found 0, expected a positive number of m/N"),
        ("links.rounds = 0", "links.rounds: found 0, expected a whole number from 1 to 256"),
        ("links.rounds = 257", "links.rounds: found 257, expected a whole number from 1 to 256"),
        ("links.limit = \"some\"", "links.limit: found \"some\", expected one of none, constant, dynamic"),
        (
            "heat.snow_capacity_j_kg_k = 0",
            "heat.snow_capacity_j_kg_k: found 0, expected a positive number of J/(kg K)",
        ),
        (
            "heat.water_capacity_j_kg_k = -1",
            "heat.water_capacity_j_kg_k: found -1, expected a positive number of J/(kg K)",
        ),
        (
            "heat.snow_conductivity_w_m_k = 0",
            "heat.snow_conductivity_w_m_k: found 0, expected a positive number of W/(m K)",
        ),
        (
            "heat.water_conductivity_w_m_k = 0",
            "heat.water_conductivity_w_m_k: found 0, expected a positive number of W/(m K)",
        ),
        (
            "heat.freezing_temperature_c = 2e4",
            "heat.freezing_temperature_c: found 20000, expected a temperature from -273.15 °C to 10000 °C",
        ),
        (
            "heat.homogeneous_freezing_temperature_c = 0",
            "heat.homogeneous_freezing_temperature_c: found 0 °C, expected less than \
             snow.heat.freezing_temperature_c, 0 °C",
        ),
        ("heat.latent_heat_j_kg = 0", "heat.latent_heat_j_kg: found 0, expected a positive number of J/kg"),
        (
            "transition.blend_speed = 0",
            "transition.blend_speed: found 0, expected a number above 0 and up to 1000",
        ),
        (
            "transition.blend_speed = 1001",
            "transition.blend_speed: found 1001, expected a number above 0 and up to 1000",
        ),
        (
            "transition.blend_rate_per_s = -1",
            "transition.blend_rate_per_s: found -1, expected a number above 0 and up to 1e9",
        ),
        (
            "density_kg_m3 = 300",
            "density_kg_m3: found 300 kg/m³, at which a particle has its next neighbours outside the support \
             radius, expected more than 354 kg/m³, or a larger fluid.support_radius_spacings",
        ),
        ("density_kg_m3 = 0", "density_kg_m3: found 0, expected a positive number of kg/m³"),
        (
            "transition.blend_threshold = 1",
            "transition.blend_threshold: found 1, expected a number from 0 to below 1",
        ),
        (
            "friction = 0.5",
            "friction: unknown key; expected one of contact_radius_spacings, density_kg_m3, \
             youngs_modulus_pa, contact_compliance_m_n, non_penetration_stiffness, averaging, \
             static_friction, kinetic_friction, xsph_rate_per_s, xsph_viscosity, shape_stiffness, links, \
             heat, transition",
        ),
    ] {
        let (key, _) = line.split_once(" = ").unwrap();
        let column = key.rfind('.').map_or(1, |dot| dot + 2);
        assert_message(snowy(line, &[]), &format!("snow.toml:23:{column}: snow.{message}"));
    }
}

#[test]
fn the_ends_of_ranges_are_allowed() {
    for line in [
        "kinetic_friction = 0.5",
        "static_friction = 0\nkinetic_friction = 0",
        "non_penetration_stiffness = 1",
        "links.most = 32",
        "links.break_ratio = 1",
        "links.rounds = 256",
        "links.temperature_c = -273.15",
        "links.limit = \"none\"",
        "transition.blend_speed = 1000",
        "transition.blend_threshold = 0",
    ] {
        snowy(line, &[]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn snow_needs_its_section() {
    assert_message(
        Scene::parse(&format!("{MINIMAL}phase = \"snow\"\n"), "minimal.toml", &[]),
        "minimal.toml:19:1: particles.0.phase: found \"snow\" in a scene without [snow], expected \
         \"water\", or a [snow] section",
    );
    assert_message(
        minimal(&["domain.walls=particles"]),
        "minimal.toml with --set domain.walls=particles: domain.walls: found \"particles\" in a scene \
         without snow, expected \"analytic\", or a [snow] section",
    );
    assert_eq!(snowy("", &["domain.walls=particles"]).unwrap().domain.walls, WallModel::Particles);
    // Boundary particles are sampled on planes and spheres at rest only.
    let ball = "sphere={centre_m=[0.8,0.8,0.8],radius_m=0.1";
    for (given, what) in [
        (
            "bodies=[{shape={box={centre_m=[0.8,0.8,0.8],size_m=[0.1,0.1,0.1]}}}]",
            "bodies.0.shape.box: found a box",
        ),
        (
            &*format!("bodies=[{{shape={{{ball}}}}},motion={{uniform={{velocity_m_s=[0,0,1]}}}}}}]"),
            "bodies.0.shape.sphere: found a moving sphere",
        ),
    ] {
        let error = snowy("", &["domain.walls=particles", given]).unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("domain.walls = \"analytic\""), "{error}");
    }
    snowy("", &["domain.walls=particles", &format!("bodies=[{{shape={{{ball}}}}}}}]")]).unwrap();
    assert_eq!(minimal(&["render.colour_by=phase"]).unwrap().render.colour_by, "phase");
}

#[test]
fn temperatures_of_blocks_are_physical() {
    assert_message(
        snowy("", &["particles.0.temperature_c=-274"]),
        "snow.toml with --set particles.0.temperature_c=-274: particles.0.temperature_c: found -274, \
         expected a temperature from -273.15 °C to 10000 °C",
    );
    assert_message(
        minimal(&["particles.0.temperature_c=nan"]),
        "minimal.toml with --set particles.0.temperature_c=nan: particles.0.temperature_c: found nan, \
         expected a temperature from -273.15 °C to 10000 °C",
    );
}

#[test]
fn scenes_of_snow_alone_and_of_water_alone_are_fine() {
    for overrides in [&[][..], &["particles.0.phase=water", "particles.0.temperature_c=20"]] {
        let scene = snowy("", overrides).unwrap();
        assert_eq!(scene.advice(), []);
        assert_eq!(scene.sample().unwrap().len(), 8);
    }
}

#[test]
fn phases_and_temperatures_follow_their_block() {
    let scene = snowy(
        "",
        &["particles=[{shape.box={min_m=[0,0,0],max_m=[0.2,0.1,0.1]},phase='snow',temperature_c=-7.5},\
           {shape.box={min_m=[0.5,0,0],max_m=[0.6,0.1,0.1]}}]"],
    )
    .unwrap();
    let sampled = scene.sample().unwrap();
    assert_eq!(sampled.phases, [Phase::Snow, Phase::Snow, Phase::Water]);
    assert_eq!(sampled.temperatures_c, [-7.5, -7.5, 20.0]);
}

#[test]
fn fronts_without_correction_are_advised_against() {
    let scene = snowy("heat.conduction = \"uncorrected\"", &[]).unwrap();
    assert_eq!(scene.advice(), []);
    let scene = snowy("heat = { conduction = \"uncorrected\", latent_heat = \"enthalpy\" }", &[]).unwrap();
    let advice = scene.advice();
    assert_eq!(advice.len(), 1, "{advice:?}");
    assert_eq!(advice[0].key, "snow.heat.conduction");
    assert!(advice[0].message.contains("Fourier's law"), "{advice:?}");
}

#[test]
fn blocks_that_change_at_once_are_advised_against() {
    let advice = |overrides: &[&str]| -> Vec<String> {
        snowy("", overrides).unwrap().advice().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        advice(&["particles.0.temperature_c=1.5"]),
        ["snow.toml with --set particles.0.temperature_c=1.5: particles.0.temperature_c: 1.5 °C makes \
          snow above freezing, which melts at once; freezing is at 0 °C"]
    );
    assert_eq!(
        advice(&["particles.0.phase=water"]),
        ["snow.toml:20:1: particles.0.temperature_c: -10 °C makes water below freezing, which freezes at \
          once; freezing is at 0 °C"]
    );
    assert_eq!(advice(&["particles.0.temperature_c=0"]), [""; 0]);
    // Without snow, temperature has no effect.
    assert_eq!(minimal(&["particles.0.temperature_c=-10"]).unwrap().advice(), []);
}

/// Lattice sums at h/d = 2: 6 neighbours at q = 1/2, 12 at 1/√2, 8 at √3/2, 6 at 1.
#[test]
fn the_conduction_scale_is_the_lattices() {
    let scene = snowy("", &[]).unwrap();
    let (a, b, c) = (0.5, 0.5_f64.sqrt(), 0.75_f64.sqrt());
    let second_moment = 6.0 * (1.0 - a) * a * a + 12.0 * (1.0 - b) * b * b + 8.0 * (1.0 - c) * c * c;
    assert!((scene.conduction_scale() / (6.0 / second_moment) - 1.0).abs() < 1e-12);
    let rest = 6.0 * (1.0 - a) + 12.0 * (1.0 - b) + 8.0 * (1.0 - c);
    let diffusivity = 2.2 / (1000.0 * 2090.0);
    // Spacing 0.1 m: corrected weights sum to 6 over its square at most.
    let rate_per_s = diffusivity * 6.0 / 0.01;
    assert!((scene.conduction_rate_per_s().unwrap() / rate_per_s - 1.0).abs() < 1e-12);
    let scene = snowy("heat.conduction = \"uncorrected\"", &[]).unwrap();
    let rate_per_s = diffusivity / 0.04 * 6.0 / second_moment * rest;
    assert!((scene.conduction_rate_per_s().unwrap() / rate_per_s - 1.0).abs() < 1e-12);
    assert_eq!(minimal(&[]).unwrap().conduction_rate_per_s(), None);
}

/// Eq 6.1 with V = d³ and ρ₀ for densities: between two particles s = 45/π (d/h)³ and 4k/2 = 2k.
#[test]
fn the_printed_law_has_the_scale_of_its_kernel_and_twice_the_conductivity() {
    let printed = "heat = { law = \"printed\", conduction = \"uncorrected\" }";
    let scene = snowy(printed, &[]).unwrap();
    let scale = 45.0 / std::f64::consts::PI / 8.0;
    assert!((scene.conduction_scale() / scale - 1.0).abs() < 1e-12, "{}", scene.conduction_scale());
    let fourier = snowy("heat.conduction = \"uncorrected\"", &[]).unwrap();
    let rate = |scene: &Scene| scene.conduction_rate_per_s().unwrap();
    let faster = 2.0 * scale / fourier.conduction_scale();
    assert!((rate(&scene) / rate(&fourier) / faster - 1.0).abs() < 1e-12, "{}", rate(&scene));
    assert_eq!(scene.conduction_moments(), fourier.conduction_moments());
}

#[test]
fn the_printed_law_without_its_sum_is_refused() {
    let given = ["snow.heat.law=printed"];
    assert_message(
        snowy("", &given),
        "snow.toml with --set snow.heat.law=printed: snow.heat.conduction: found \"corrected\" with \
         snow.heat.law = \"printed\", which has the kernel's weights as they are, expected \
         snow.heat.conduction = \"uncorrected\"",
    );
    assert_message(
        snowy("heat = { conduction = \"uncorrected\", latent_heat = \"enthalpy\" }", &given),
        "snow.toml with --set snow.heat.law=printed: snow.heat.latent_heat: found \"enthalpy\" with \
         snow.heat.law = \"printed\", which conducts by temperature, expected snow.heat.latent_heat = \
         \"blending\"",
    );
    let written = snowy("heat.law = \"printed\"", &[]).unwrap_err().to_string();
    assert!(written.starts_with("snow.toml:23:"), "{written}");
}

/// With this scale the lattice's sum for a quadratic field is its Laplacian at every support radius. The
/// kernel alone is off by a few percent: an integral instead of the sum gives s = 45/(π (h/d)³).
#[test]
fn the_conduction_scale_corrects_the_kernel_by_little() {
    for (support, exact) in [(1.684, 1.11), (2.0, 0.99), (2.5, 1.02), (3.0, 0.96), (4.0, 1.01)] {
        let scene = minimal(&[&format!("fluid.support_radius_spacings={support}")]).unwrap();
        let kernel = 45.0 / (std::f64::consts::PI * f64::powi(support, 3));
        let ratio = kernel / scene.conduction_scale();
        assert!((ratio - exact).abs() < 0.006, "h/d = {support}: {ratio}");
    }
}

#[test]
fn steps_too_long_for_heat_are_refused_with_one_that_works() {
    let hot = "heat.snow_conductivity_w_m_k = 1e6";
    let rate_per_s = snowy(hot, &["time.dt_s=1e-6"]).unwrap().conduction_rate_per_s().unwrap();
    let message = snowy(hot, &[]).unwrap_err().to_string();
    let (before, after) = message.split_once(" s, or a smaller ").unwrap();
    assert_eq!(after, "snow.heat.snow_conductivity_w_m_k than 1000000");
    let (before, largest) = before.rsplit_once(' ').unwrap();
    assert_eq!(
        before,
        "snow.toml:6:1: time.dt_s: found 0.01 s, in which heat is conducted farther than between \
         neighbouring particles, expected at most"
    );
    let largest_s: f64 = largest.parse().unwrap();
    assert!((0.999..=1.0).contains(&(largest_s * rate_per_s / 0.5)), "{largest}");
    assert!(snowy(hot, &[&format!("time.dt_s={largest}")]).is_ok());
    assert!(snowy(hot, &[&format!("time.dt_s={}", 1.001 * largest_s)]).is_err());
    // The error names the key that was set last.
    let message = snowy("", &["snow.heat.water_conductivity_w_m_k=1e6"]).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "snow.toml with --set snow.heat.water_conductivity_w_m_k=1e6: time.dt_s: found 0.01 s"
        ),
        "{message}"
    );
}

#[test]
fn a_scene_with_snow_reads_back() {
    let lines = "averaging = \"off\"\nshape_stiffness = 0.3\n\
                 links = { limit = \"constant\", compliance_m_n = 1e-4, builder = \"compare_and_swap\", \
                 rounds = 3 }\n\
                 heat = { latent_heat = \"enthalpy\", latent_heat_j_kg = 3e5 }\ntransition.blend_threshold = \
                 0.25";
    let scene = snowy(lines, &["domain.walls=particles", "render.colour_by=temperature"]).unwrap();
    assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
}

#[test]
fn particles_that_touch_are_within_the_support() {
    let overrides = ["snow.contact_radius_spacings=0.8", "fluid.support_radius_spacings=1.5"];
    let error = snowy("", &overrides).unwrap_err().to_string();
    assert!(
        error.contains("snow.contact_radius_spacings: found 0.8, expected a number from 0.1 to 0.75"),
        "{error}"
    );
    assert!(snowy("", &["snow.contact_radius_spacings=0.8"]).is_ok());
}

#[test]
fn stiff_corrections_that_are_not_averaged_are_advised_against() {
    let advice = |lines: &str| snowy(lines, &["time.dt_s=0.001"]).unwrap().advice();
    let stiff = advice("averaging = \"off\"\nnon_penetration_stiffness = 0.5");
    assert_eq!(stiff.len(), 1);
    assert!(stiff[0].to_string().contains("snow.averaging: off, with"), "{}", stiff[0]);
    assert_eq!(advice("averaging = \"off\"\nnon_penetration_stiffness = 0.25"), []);
    assert_eq!(advice("non_penetration_stiffness = 1.0"), []);
}

/// Returns the advice for snow with these lines, scaled in height by more particles of the same spacing.
fn advice(lines: &str, overrides: &[&str]) -> Vec<String> {
    snowy(lines, overrides).unwrap().advice().iter().map(ToString::to_string).collect()
}

#[test]
fn snow_too_soft_for_its_own_height_is_advised_against() {
    assert_eq!(advice("", &[]), Vec::<String>::new());
    for (lines, overrides, expected) in [
        (
            "youngs_modulus_pa = 1e3",
            &[][..],
            "snow.youngs_modulus_pa: Young's modulus of the snow: 1.0e3 Pa; ",
        ),
        (
            "links.limit = \"none\"\nyoungs_modulus_pa = 2e3",
            &[],
            "snow.youngs_modulus_pa: Young's modulus of the snow: 8.0e2 Pa; ",
        ),
        (
            "non_penetration_stiffness = 0.01",
            &[],
            "snow.non_penetration_stiffness: carries snow like a modulus of ",
        ),
    ] {
        let found = advice(lines, overrides);
        assert!(found.iter().any(|line| line.contains(expected)), "{lines}: {found:?}");
    }
}

#[test]
fn springs_that_a_step_does_not_resolve_are_softened() {
    let springs = |lines: &str, overrides: &[&str]| {
        let scene = snowy(lines, overrides).unwrap();
        scene.snow_springs(scene.snow().unwrap())
    };
    let (small, large) = (springs("", &["time.dt_s=1e-4"]), springs("", &["time.dt_s=2e-2"]));
    assert!(small.softening == 1.0 && large.softening < 1.0, "{small:?} {large:?}");
    // k = 2/5 E d.
    let d = snowy("", &[]).unwrap().particle_spacing_m();
    assert!((small.link_n_m.unwrap() / (0.4 * 1e5 * d) - 1.0).abs() < 1e-12);
    assert_eq!(small.contact_n_m, small.link_n_m);
    assert!((small.modulus_pa(d).unwrap() / 1e5 - 1.0).abs() < 1e-12);
    // More iterations resolve more, and a compliance is the inverse of the constant.
    let more = springs("", &["time.dt_s=2e-2", "pbd.iterations=20"]);
    assert!(more.softening > 3.0 * large.softening, "{more:?}");
    let compliant =
        springs("contact_compliance_m_n = 1e-3\nlinks.compliance_m_n = 2e-3", &["time.dt_s=1e-5"]);
    let constants = [compliant.contact_n_m, compliant.link_n_m].map(|spring| spring.unwrap().round());
    assert_eq!(constants, [1000.0, 500.0]);
    let shares = springs("non_penetration_stiffness = 0.5\nlinks.stiffness = 0.1", &[]);
    assert_eq!((shares.contact_n_m, shares.link_n_m, shares.softening), (None, None, 1.0));
    for both in [
        "non_penetration_stiffness = 0.5\ncontact_compliance_m_n = 1e-3",
        "links = { stiffness = 0.5, compliance_m_n = 1e-3 }",
    ] {
        assert!(snowy(both, &[]).unwrap_err().to_string().contains("only one of"), "{both}");
    }
}
