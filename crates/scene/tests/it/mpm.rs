//! Tests of the `[mpm]` section and the keys that require it.

use frazil_scene::{
    BodyMotion, Contact, Implicit, InitialVolume, Material, Scene, SceneError, Shading, Surface, TimeStep,
    Transfer,
};

use crate::minimal;

/// The smallest scene of two dimensions: 8 × 8 cells with a block of 2 × 2 of them. Tests refer to its line
/// numbers.
const FLAT: &str = r#"version = 1
name = "flat"
up_axis = "y"

[time]
dt_s = "auto"
duration_s = 1.0

[solver]
kind = "mpm"

[mpm]
dimensions = 2
cell_size_m = 0.1

[domain]
min_m = [0.0, 0.0, 0.0]
max_m = [0.8, 0.8, 0.0]

[[particles]]
shape.rectangle = { min_m = [0.2, 0.2], max_m = [0.4, 0.4] }
"#;

/// Loads the flat scene with `overrides` applied.
pub fn flat(overrides: &[&str]) -> Result<Scene, SceneError> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    Scene::parse(FLAT, "flat.toml", &overrides)
}

/// Loads the scene in three dimensions.
pub fn solid(overrides: &[&str]) -> Result<Scene, SceneError> {
    let space = [
        "mpm.dimensions=3",
        "domain.max_m.2=0.8",
        "particles.0.shape={box={min_m=[0.2,0.2,0.2],max_m=[0.4,0.4,0.4]}}",
    ];
    flat(&[&space, overrides].concat())
}

/// Returns the error message, after the location, of the flat scene with one override.
#[track_caller]
fn refusal(set: &str) -> String {
    let error = flat(&[set]).expect_err(set).to_string();
    let place = format!("flat.toml with --set {set}: ");
    error.strip_prefix(&place).unwrap_or_else(|| panic!("{error} is not at {place}")).to_owned()
}

#[test]
fn omitted_keys_of_mpm_have_the_papers_values() {
    let scene = flat(&[]).unwrap();
    let mpm = scene.mpm().unwrap();
    assert_eq!((scene.solver.kind.name(), scene.fluid()), ("mpm", None));
    assert_eq!(mpm.material, Material::default());
    assert_eq!((mpm.flip_ratio, mpm.transfer, mpm.strain_floor), (None, Transfer::Apic, true));
    assert_eq!(mpm.initial_volume, InitialVolume::Sampled);
    assert_eq!((mpm.walls, mpm.implicit), (Surface { friction: 0.1, sticky: false }, None));
    assert_eq!((mpm.particles_per_cell(), scene.n_dimensions()), (4.0, 2));
    assert_eq!(flat(&["mpm.implicit={}"]).unwrap().mpm().unwrap().implicit, Some(Implicit::default()));
    let space = solid(&[]).unwrap();
    assert_eq!((space.mpm().unwrap().particles_per_cell(), space.time.dt_s), (8.0, TimeStep::Auto));
}

#[test]
fn the_damping_of_pic_flip_is_per_step_or_per_second() {
    let set = ["mpm.transfer=pic_flip"];
    let share = |more: &[&str], dt_s| flat(&[&set, more].concat()).unwrap().mpm().unwrap().flip_share(dt_s);
    // Unset, twice the step has the square of the share of FLIP, and 0.2 ms that of Cai2020.
    assert!((share(&[], 2e-4) - 0.95).abs() < 1e-9);
    assert!((share(&[], 4e-4) - 0.95 * 0.95).abs() < 1e-9);
    assert_eq!((share(&["mpm.flip_ratio=0.9"], 1e-4), share(&["mpm.flip_ratio=0.9"], 1e-2)), (0.9, 0.9));
    assert!((share(&["mpm.pic_rate_per_s=100"], 1e-3) - (-0.1_f64).exp()).abs() < 1e-12);
    let both = flat(&["mpm.flip_ratio=0.9", "mpm.pic_rate_per_s=100"]).unwrap_err().to_string();
    assert!(both.contains("mpm.flip_ratio: found 0.9 together with mpm.pic_rate_per_s = 100"), "{both}");
    assert!(both.contains("one of them: flip_ratio damps per step, pic_rate_per_s per second"), "{both}");
}

/// AFLIP at a quarter of c/h in explicit steps, APIC in semi-implicit ones; a FLIP ratio of 0 is APIC.
#[test]
fn the_damping_of_affine_transfers_follows_the_wave_speed() {
    for transfer in ["mpm.transfer=apic", "mpm.transfer=mls"] {
        let of = |more: &[&str]| flat(&[&[transfer], more].concat()).unwrap().mpm().unwrap().clone();
        let mpm = of(&[]);
        let rate_per_s = 0.25 * mpm.material.wave_speed_m_s(1.0) / mpm.cell_size_m;
        assert!(mpm.has_flip() && (mpm.flip_share(1e-3) - (-1e-3 * rate_per_s).exp()).abs() < 1e-12);
        assert!((of(&["mpm.pic_rate_per_s=100"]).flip_share(1e-3) - (-0.1_f64).exp()).abs() < 1e-12);
        for set in ["mpm.implicit={}", "mpm.flip_ratio=0"] {
            assert!(!of(&[set]).has_flip() && of(&[set]).flip_share(1e-3) == 0.0);
        }
    }
}

#[test]
fn damping_per_step_is_advised_against() {
    let advice = |sets: &[&str]| -> Vec<(String, String)> {
        flat(sets).unwrap().advice().into_iter().map(|advice| (advice.key, advice.message)).collect()
    };
    let dt = ["time.dt_s=0.0002", "mpm.transfer=pic_flip"];
    let per_step = advice(&[&dt[..], &["mpm.flip_ratio=0.95"]].concat());
    assert_eq!(per_step.len(), 1, "{per_step:?}");
    let (key, message) = &per_step[0];
    assert!(key == "mpm.flip_ratio" && message.contains("pic_rate_per_s = 256.4665"), "{message}");
    assert_eq!(advice(&dt), []);
    assert_eq!(advice(&[&dt[..], &["mpm.pic_rate_per_s=10"]].concat()), []);
    assert_eq!(advice(&["mpm.flip_ratio=0.95"])[0].0, "mpm.flip_ratio");
    assert_eq!(advice(&["mpm.pic_rate_per_s=10"]), []);
}

#[test]
fn particles_are_in_contact_by_default_if_the_transfer_allows() {
    let contact = |sets: &[&str]| flat(sets).unwrap().mpm().unwrap().contact();
    assert_eq!(contact(&[]), Contact::Particles);
    assert_eq!(contact(&["mpm.transfer=mls"]), Contact::Particles);
    assert_eq!(contact(&["mpm.transfer=pic_flip"]), Contact::Nodes);
    assert_eq!(contact(&["mpm.implicit={}"]), Contact::Nodes);
    assert_eq!(contact(&["mpm.pic_rate_per_s=250"]), Contact::Particles);
    assert_eq!(contact(&["mpm.flip_ratio=0"]), Contact::Particles);
    assert_eq!(contact(&["mpm.contact=nodes"]), Contact::Nodes);
    for set in ["mpm.transfer=pic_flip", "mpm.implicit={}"] {
        let error = flat(&["mpm.contact=particles", set]).unwrap_err().to_string();
        assert!(error.contains("an affine transfer and an explicit step"), "{error}");
    }
}

#[test]
fn a_scene_is_a_fluid_or_a_continuum() {
    for (sets, message) in [
        (
            &["fluid={particle_spacing_m=0.1}"][..],
            "flat.toml with --set fluid={particle_spacing_m=0.1}: fluid: found [fluid] in a scene of \
             solver.kind = \"mpm\", expected [mpm] alone; [fluid] needs solver.kind = \"pbd\" or \
             \"viscoelastic\"",
        ),
        (
            &["snow={}"],
            "flat.toml with --set snow={}: snow: found [snow] in a scene of solver.kind = \"mpm\", expected \
             [mpm] alone; [snow] needs solver.kind = \"pbd\"",
        ),
        (
            &["solver.kind=pbd"],
            "flat.toml with --set solver.kind=pbd: mpm: found [mpm] in a scene of solver.kind = \"pbd\", \
             expected [fluid] alone or with [snow] and [pbd]; [mpm] needs solver.kind = \"mpm\"",
        ),
    ] {
        assert_eq!(flat(sets).unwrap_err().to_string(), message);
    }
    assert_eq!(
        minimal(&["solver.kind=mpm"]).unwrap_err().to_string(),
        "minimal.toml with --set solver.kind=mpm: fluid: found [fluid] in a scene of solver.kind = \"mpm\", \
         expected [mpm] alone; [fluid] needs solver.kind = \"pbd\" or \"viscoelastic\""
    );
    let without = |text: &str, section: &str| {
        let begin = text.find(section).unwrap();
        let end = begin + text[begin + 1..].find("\n[").unwrap() + 1;
        let text = format!("{}{}", &text[..begin], &text[end..]);
        Scene::parse(&text, "x.toml", &[]).unwrap_err().to_string()
    };
    assert_eq!(without(FLAT, "[mpm]"), "x.toml: mpm: missing, and it has no default");
    assert_eq!(without(crate::MINIMAL, "[fluid]"), "x.toml: fluid: missing, and it has no default");
}

#[test]
fn values_of_mpm_out_of_range_are_placed() {
    for (set, message) in [
        ("dimensions=1", "found 1, expected 2 or 3; 2 is the x–y plane"),
        ("dimensions=4", "found 4, expected 2 or 3; 2 is the x–y plane"),
        ("cell_size_m=0", "found 0, expected a positive number of metres"),
        ("cell_size_m=-1", "found -1, expected a positive number of metres"),
        ("particles_per_cell=0", "found 0, expected a number from 0.01 to 1000"),
        ("flip_ratio=1.1", "found 1.1, expected a number from 0 to 1"),
        ("pic_rate_per_s=-1", "found -1, expected a number from 0 to 1e9"),
        ("node_mass_cutoff=-1", "found -1, expected a number from 0 to 1"),
        ("courant_number=0", "found 0, expected a number above 0 and up to 1"),
        ("courant_number=1.5", "found 1.5, expected a number above 0 and up to 1"),
        ("walls.friction=-1", "found -1, expected a number from 0 to 100"),
        ("implicit.beta=0", "found 0, expected a number above 0 and up to 1"),
        ("implicit.max_iterations=0", "found 0, expected a whole number from 1 to 10000"),
        ("implicit.tolerance=0", "found 0, expected a number from 1e-7 to 0.1"),
        ("material.density_kg_m3=0", "found 0, expected a positive number of kg/m³"),
        ("material.youngs_modulus_pa=0", "found 0, expected a positive number of Pa"),
        ("material.poissons_ratio=0.5", "found 0.5, expected a number from 0 to below 0.5"),
        ("material.poissons_ratio=-0.1", "found -0.1, expected a number from 0 to below 0.5"),
        ("material.hardening=-1", "found -1, expected a number from 0 to 100"),
        ("material.critical_compression=1", "found 1, expected a number from 0 to below 1"),
        ("material.critical_stretch=1", "found 1, expected a number from 0 to below 1"),
        ("material.relaxation_time_s=-1", "found -1, expected a number from 0 to 1"),
        ("material.min_plastic_volume=0", "found 0, expected a number above 0 and up to 1"),
        ("material.min_plastic_volume=1.1", "found 1.1, expected a number above 0 and up to 1"),
    ] {
        let key = set.split('=').next().unwrap();
        assert_eq!(refusal(&format!("mpm.{set}")), format!("mpm.{key}: {message}"));
    }
    for set in
        ["flip_ratio=0", "material.poissons_ratio=0", "material.critical_stretch=0", "courant_number=1"]
    {
        flat(&[&format!("mpm.{set}")]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn every_number_of_mpm_refuses_nan() {
    let more = [
        "mpm.implicit={}",
        "mpm.particles_per_cell=4",
        "particles.0.angular_velocity_rad_s=[0,0,0]",
        "particles.0.mass_spread=0.1",
        "bodies=[{shape={box={centre_m=[0.6,0.6,0],size_m=[0.1,0.1,1],rotation_deg=[0,0,0]}},friction=0.1,\
         motion={uniform={velocity_m_s=[0,0,0],until_s=1}}},\
         {shape={heightfield={origin_m=[0,0],spacing_m=1,heights_m=[[0.1]]}}}]",
    ];
    let scene = flat(&more).expect("valid");
    let json = serde_json::to_value(&scene).unwrap();
    let mut numbers = Vec::new();
    for section in ["mpm", "particles", "bodies"] {
        crate::errors::collect_numbers(&json[section], section, &mut numbers);
    }
    assert!(numbers.len() > 40, "only {} numbers found", numbers.len());
    for path in numbers {
        for bad in ["nan", "inf", "-inf"] {
            let set = format!("{path}={bad}");
            let message = flat(&[&more[..], &[set.as_str()]].concat()).expect_err(&set).to_string();
            assert!(message.contains(&set) && message.contains("expected"), "{message}");
        }
    }
}

#[test]
fn auto_is_a_courant_number_of_hardened_waves() {
    let scene = flat(&["gravity_m_s2=[0,-9,0]", "particles.0.velocity_m_s=[3,4,0]"]).unwrap();
    let mpm = scene.mpm().unwrap();
    let (mu, lambda) = mpm.material.lame_pa();
    let c = ((10.0 * 0.2_f64).exp() * (lambda + 2.0 * mu) / 400.0).sqrt();
    let v = 5.0 + (2.0 * 9.0 * 0.8_f64).sqrt();
    let expected = 0.5 * 0.1 / (c + v);
    assert!(scene.dt_s() <= expected && scene.dt_s() > 0.999 * expected, "{} and {expected}", scene.dt_s());
    assert_eq!(scene.advice(), []);
    let derived = scene.derived();
    assert_eq!(derived.dt_s, scene.dt_s());
    let facts = scene.derived_mpm().unwrap();
    assert!((facts.hardened_wave_speed_m_s / c - 1.0).abs() < 1e-12 && (facts.fastest_m_s - v).abs() < 1e-12);
    assert_eq!(facts.n_cells, [8, 8, 1]);

    // Moving bodies and rotating disks count.
    let plow =
        "bodies=[{shape={plane={point_m=[0,0,0],normal=[0,1,0]}},motion={uniform={velocity_m_s=[7,0,0]}}}]";
    let fastest = |sets: &[&str]| flat(sets).unwrap().derived_mpm().unwrap().fastest_m_s;
    assert!((fastest(&[plow, "gravity_m_s2=[0,0,0]"]) - 7.0).abs() < 1e-12);
    let spin = fastest(&["particles.0.angular_velocity_rad_s=[0,0,10]", "gravity_m_s2=[0,0,0]"]);
    assert!((spin - 10.0 * 0.02_f64.sqrt()).abs() < 1e-12);
    // An implicit step is not limited by waves.
    let still = flat(&["mpm.implicit={}", "gravity_m_s2=[0,0,0]"]).unwrap();
    let slowest = 0.1 * mpm.material.wave_speed_m_s(1.0);
    assert!((still.dt_s() * slowest / (0.5 * 0.1) - 1.0).abs() < 1e-3);
}

#[test]
fn steps_that_cannot_be_stable_are_refused_with_one_that_is() {
    let error = flat(&["time.dt_s=0.01"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "flat.toml with --set time.dt_s=0.01: time.dt_s: found 0.01 s, in which an elastic wave in fresh \
         snow, at 19.72 m/s, passes 1.972 cells: surely unstable, expected at most 0.00507 s; dt_s = \
         0.0008685 or dt_s = \"auto\" leaves a margin for hardening"
    );
    for dt in ["0.00507", "0.0008685"] {
        assert!(flat(&[&format!("time.dt_s={dt}")]).is_ok());
    }
    // Within the limit of fresh snow, but not of hardened snow.
    let advice = flat(&["time.dt_s=0.005"]).unwrap().advice();
    assert_eq!(advice.len(), 1);
    assert!(
        advice[0].message.starts_with("an elastic wave in hardened snow, at 53.6 m/s, passes 2.68 cells"),
        "{}",
        advice[0]
    );
    // Waves do not limit an implicit step, but the speed of particles does.
    assert!(flat(&["time.dt_s=0.02", "mpm.implicit={}"]).is_ok());
    let error = flat(&["time.dt_s=0.03", "mpm.implicit={}"]).unwrap_err().to_string();
    assert!(
        error.contains(
            "0.03 s, in which a particle that falls through the domain, at 3.961 m/s, passes 1.189"
        ),
        "{error}"
    );
}

#[test]
fn grids_fit_what_the_device_counts() {
    assert_eq!(
        refusal("mpm.cell_size_m=1"),
        "mpm.cell_size_m: found 1 m, expected at most the extent of the domain, 0.8 m"
    );
    assert_eq!(
        refusal("mpm.cell_size_m=1e-5"),
        "mpm.cell_size_m: found 1e-5 m, which makes a grid of 400120009 blocks, expected larger cells or a \
         smaller domain, of 268435456 blocks at most"
    );
    let error = solid(&["mpm.cell_size_m=0.0004", "particles.0.count=100"]).unwrap_err().to_string();
    assert!(
        error.contains("blocks, expected larger cells or a smaller domain, of 67108864 blocks"),
        "{error}"
    );
    let far = flat(&[
        "domain={min_m=[1e5,0,0],max_m=[100001,0.8,0]}",
        "particles.0.shape.rectangle={min_m=[100000.2,0.2],max_m=[100000.4,0.4]}",
    ]);
    let error = far.unwrap_err().to_string();
    assert!(error.contains("which 32-bit floats resolve to 0.0119"), "{error}");
}

#[test]
fn nothing_leaves_the_plane() {
    for (set, key, found) in [
        ("gravity_m_s2=[0,0,-1]", "gravity_m_s2", "[0, 0, -1]"),
        ("particles.0.velocity_m_s=[0,0,1]", "particles.0.velocity_m_s", "[0, 0, 1]"),
    ] {
        assert_eq!(
            refusal(set),
            format!("{key}: found {found}, expected a third component of 0, because mpm.dimensions = 2")
        );
    }
    assert_eq!(
        refusal("particles.0.angular_velocity_rad_s=[1,0,0]"),
        "particles.0.angular_velocity_rad_s: found [1, 0, 0], expected [0, 0, rate about z], because \
         mpm.dimensions = 2"
    );
    assert!(refusal("up_axis=z").starts_with("up_axis: found \"z\", expected \"x\" or \"y\""));
    assert!(
        refusal("domain={min_m=[0,0,1],max_m=[0.8,0.8,2]}").starts_with("domain: found z from 1 m to 2 m")
    );
}

#[test]
fn shapes_have_the_dimensions_of_the_scene() {
    assert_eq!(
        refusal("particles.0.shape={sphere={centre_m=[0.4,0.4,0],radius_m=0.1}}"),
        "particles.0.shape: found a sphere, a shape of three dimensions, expected a shape of two (rectangle, \
         circle, text), because mpm.dimensions = 2"
    );
    let error =
        solid(&["particles.0.shape={circle={centre_m=[0.4,0.4],radius_m=0.1}}"]).unwrap_err().to_string();
    assert!(
        error.contains("found a circle, a shape of two dimensions, expected a shape of three"),
        "{error}"
    );
    let error =
        minimal(&["particles.0.shape={circle={centre_m=[0.4,0.4],radius_m=0.1}}"]).unwrap_err().to_string();
    assert!(error.contains("found a circle in a scene of solver.kind = \"pbd\""), "{error}");
}

#[test]
fn features_of_mpm_alone_are_refused_in_scenes_of_water() {
    for (set, kinds) in [
        ("count=3", "\"mpm\" or \"dem\""),
        ("mass_spread=0.1", "\"mpm\""),
        ("angular_velocity_rad_s=[0,0,1]", "\"mpm\" or \"dem\""),
    ] {
        let set = format!("particles.0.{set}");
        let error = minimal(&[&set]).unwrap_err().to_string();
        assert!(error.ends_with(&format!("expected it in scenes of solver.kind = {kinds} only")), "{error}");
    }
    assert!(refusal("particles.0.phase=snow").contains("expected no phase"));
}

#[test]
fn numbers_of_particles_are_plausible() {
    assert_eq!(refusal("particles.0.count=0"), "particles.0.count: found 0, expected a whole number from 1");
    assert_eq!(
        refusal("particles.0.count=1000000000000"),
        "particles.0.count: found 1000000000000 particles, expected at most 268435455 in all; lower \
         particles.0.count"
    );
    assert_eq!(
        refusal("particles.0.mass_spread=1"),
        "particles.0.mass_spread: found 1, expected a number from 0 to below 1"
    );
    assert_eq!(
        refusal("particles.0.shape.rectangle.max_m=[0.4,0.2]"),
        "particles.0.shape.rectangle.max_m: found y = 0.2 m, expected more than the lower corner's y = 0.2 m"
    );
    assert_eq!(
        refusal("particles.0.shape.rectangle.max_m=[0.4,0.21]"),
        "particles.0.shape.rectangle: found no particles, because the shape is 0.01 m thin, expected a shape \
         at least one lattice spacing, 0.05 m, thick"
    );
    assert_eq!(
        refusal("particles.0={fill='uniform',shape.circle={centre_m=[0.4,0.4],radius_m=0.01}}"),
        "particles.0.shape.circle: found no particles, because the shape's area is 0.000314159265 m², \
         expected at least the area of a particle, 0.0025 m²"
    );
    assert!(
        refusal("particles.0.shape.rectangle.max_m=[1,0.4]")
            .contains("expected a shape inside the domain, x from")
    );
}

#[test]
fn scenes_of_mpm_are_scaled_at_the_same_cell_size() {
    let plow = "bodies=[{shape={box={centre_m=[0.7,0.7,0],size_m=[0.1,0.1,1]}},\
                motion={uniform={velocity_m_s=[1,0,0],from_s=1,until_s=3}}}]";
    let scene = flat(&["scale=2", "particles.0.count=10", plow]).unwrap();
    assert_eq!(scene.mpm().unwrap().cell_size_m, 0.1);
    assert_eq!((scene.domain.max_m, scene.particles[0].count), ([1.6, 1.6, 0.0], Some(40)));
    assert_eq!(scene.particles[0].shape.bounds_m(), ([0.4, 0.4, 0.0], [0.8, 0.8, 0.0]));
    let Some(BodyMotion::Uniform(motion)) = scene.bodies[0].motion else { panic!("no motion") };
    assert_eq!((motion.from_s, motion.until_s), (2.0, Some(6.0)));
    assert_eq!(motion.offset_m(7.0), [4.0, 0.0, 0.0]);
    assert_eq!((motion.velocity_m_s(1.0), motion.velocity_m_s(3.0)), ([0.0; 3], [1.0, 0.0, 0.0]));
    assert_eq!(solid(&["scale=2", "particles.0.count=10"]).unwrap().particles[0].count, Some(80));
}

#[test]
fn the_camera_faces_a_plane() {
    let view = flat(&[]).unwrap().view();
    assert_eq!((view.target_m, view.eye_m[0], view.eye_m[1]), ([0.4, 0.4, 0.0], 0.4, 0.4));
    let turned = flat(&["render.camera.azimuth_deg=25"]).unwrap();
    assert_eq!((turned.render.camera.azimuth_deg, turned.render.camera.elevation_deg), (25.0, 0.0));
    assert_eq!(solid(&[]).unwrap().render.camera.azimuth_deg, 25.0);
    let density = flat(&["render.shading=density", "render.colour_by=mass"]).unwrap().render;
    assert_eq!((density.shading, density.colour_by.as_str()), (Shading::Density, "mass"));
}

#[test]
fn a_scene_of_mpm_reads_back() {
    for scene in [flat(&["mpm.implicit={}", "particles.0.mass_spread=0.5"]), solid(&["time.dt_s=1e-4"])] {
        let scene = scene.unwrap();
        let json = serde_json::to_string(&scene).unwrap();
        assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
        assert_eq!(Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap(), scene);
    }
}

#[test]
fn random_positions_and_volumes_from_the_grid_are_advised_against() {
    let advice = |sets: &[&str]| {
        let advice = flat(sets).unwrap().advice();
        advice.into_iter().map(|advice| (advice.key, advice.message)).collect::<Vec<_>>()
    };
    for sets in [&["particles.0.count=500"][..], &["particles.0.fill=blue_noise"]] {
        assert_eq!(advice(sets), []);
    }
    let [(key, message)] = &advice(&["particles.0.fill=uniform"])[..] else { panic!("one warning") };
    assert!(key == "particles.0.fill" && message.contains("density of the grid varies by 24 %"), "{message}");
    let found = advice(&["particles.0.fill=uniform", "particles.0.count=200"]);
    assert!(found[0].1.contains("varies by 7 %"), "{found:?}");
    let [(key, message)] = &advice(&["mpm.material.relaxation_time_s=0.001"])[..] else {
        panic!("one warning")
    };
    assert!(key == "mpm.material.relaxation_time_s" && message.contains("over 0.0197"), "{message}");
    assert_eq!(advice(&["mpm.material.relaxation_time_s=0.0051"]), []);
    let [(key, message)] = &advice(&["mpm.initial_volume=grid"])[..] else { panic!("one warning") };
    assert!(key == "mpm.initial_volume" && message.contains("a body 2.0 cells thick"), "{message}");
}
