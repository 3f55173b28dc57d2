//! Tests of `--set table.key=value`.

use frazil_scene::{Every, Scene, Shape};

use crate::{MINIMAL, minimal};

#[test]
fn a_range_of_colours_belongs_to_the_column_of_its_file() {
    let range = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        Scene::find("dam_break", &overrides).unwrap().render.colour_range
    };
    assert_eq!(range(&[]), Some([0.0, 2.0]));
    assert_eq!(range(&["render.colour_by=\"velocity.x\""]), None);
    let both = ["render.colour_by=\"velocity.x\"", "render.colour_range=[-1.0, 1.0]"];
    assert_eq!(range(&both), Some([-1.0, 1.0]));
}

#[test]
fn overrides_reach_every_level_and_apply_in_order() {
    let scene = minimal(&[
        "name=two words",
        "fluid.rest_density_kg_m3 = 900",
        "fluid.rest_density_kg_m3=950",
        "pbd.artificial_pressure.strength=0.5",
        "particles.0.velocity_m_s=[1, 2, 3]",
        "particles.0.shape.box.max_m.1=0.6",
        "output.render_every=10",
        "output.record_every=20 ms",
        "render={width_px=64}",
        "render.height_px=32",
    ])
    .unwrap();
    assert_eq!(scene.name, "two words");
    assert_eq!(scene.rest_density_kg_m3(), 950.0);
    assert_eq!(scene.pbd().artificial_pressure.strength, 0.5);
    assert_eq!(scene.particles[0].velocity_m_s, [1.0, 2.0, 3.0]);
    assert_eq!(scene.particles[0].shape, Shape::Box { min_m: [0.2; 3], max_m: [0.4, 0.6, 0.4] });
    assert_eq!(scene.output.render_every, Some(Every::Steps(10)));
    assert_eq!(scene.output.record_every, Some(Every::Seconds(0.02)));
    assert_eq!((scene.render.width_px, scene.render.height_px), (64, 32));
}

#[test]
fn an_override_can_correct_an_invalid_value_of_the_file() {
    let broken = MINIMAL.replace("dt_s = 0.01", "dt_s = \"soon\"");
    assert!(Scene::parse(&broken, "x", &[]).is_err());
    assert!(Scene::parse(&broken, "x", &["time.dt_s=0.01".to_owned()]).is_ok());
}

#[test]
fn bad_overrides_are_named() {
    for (argument, message) in [
        ("dt", "--set dt: found no '=', expected table.key=value"),
        ("time.dt_s=", "--set time.dt_s=: found no value after '=', expected table.key=value"),
        ("=1", "--set =1: found the key \"\", expected names joined by single dots"),
        (
            "time..dt_s=1",
            "--set time..dt_s=1: found the key \"time..dt_s\", expected names joined by single dots",
        ),
        (
            "particles.1.jitter_spacings=0",
            "--set particles.1.jitter_spacings=0: particles has 1 elements, expected an index from 0 below \
             1, found \"1\"",
        ),
        (
            "particles.first.fill=uniform",
            "--set particles.first.fill=uniform: particles has 1 elements, expected an index from 0 below 1, \
             found \"first\"",
        ),
        ("time.dt_s.x=1", "--set time.dt_s.x=1: time.dt_s is a number, which holds no \"x\""),
        (
            "fluid.densty=1",
            "minimal.toml with --set fluid.densty=1: fluid.densty: unknown key; expected one of \
             particle_spacing_m, rest_density_kg_m3, support_radius_spacings, dynamic_viscosity_pa_s, \
             xsph_rate_per_s, xsph_viscosity, wall_friction, wall_density, neighbour_grid, kernel, \
             constraint_gradient, initial_disorder_spacings, particle_mass_kg",
        ),
        (
            "fluids.rest_density_kg_m3=1",
            "minimal.toml with --set fluids.rest_density_kg_m3=1: fluids: unknown key; did you mean fluid?",
        ),
        (
            "time.dt_s=fast",
            "minimal.toml with --set time.dt_s=fast: time.dt_s: found \"fast\", expected a number of seconds \
             or \"auto\"",
        ),
        (
            "fluid.rest_density_kg_m3=-1",
            "minimal.toml with --set fluid.rest_density_kg_m3=-1: fluid.rest_density_kg_m3: found -1, \
             expected a positive number of kg/m³",
        ),
    ] {
        assert_eq!(minimal(&[argument]).unwrap_err().to_string(), message);
    }
    let unclosed = minimal(&["particles.0.velocity_m_s=[1, 2"]).unwrap_err().to_string();
    assert!(
        unclosed.starts_with("--set particles.0.velocity_m_s=[1, 2: the value is not valid TOML: "),
        "{unclosed}"
    );
    let deep = format!("{}=1", vec!["a"; 100_000].join("."));
    assert!(
        minimal(&[&deep])
            .unwrap_err()
            .to_string()
            .ends_with("found a key of 100000 names, expected at most 32")
    );
}
