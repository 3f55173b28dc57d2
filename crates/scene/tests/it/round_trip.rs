//! Tests that a serialized scene reads back as itself.

use std::fmt::Write;

use frazil_scene::Scene;
use proptest::prelude::*;

use crate::minimal;

/// Builds a scene's text from random values, valid by construction: one block in each cell of a 2 × 2 × 2
/// partition of the domain.
fn scene_text() -> impl Strategy<Value = String> {
    let numbers = (0.001..0.1_f64, 1.1..5.0_f64, 1.0..1e4_f64, 0.0..1.0_f64, 1e-5..1e-2_f64);
    let integers = (0..i64::MAX, 1..100_u32, 1..1000_u32, 1..4096_u32);
    let corner = prop::array::uniform3(-2.0..2.0_f64);
    let velocity = prop::array::uniform3(-5.0..5.0_f64);
    let blocks = prop::collection::vec((0..3_u8, any::<bool>(), velocity, 0.0..0.5_f64), 1..8);
    let bodies = prop::collection::vec((any::<bool>(), corner, 0.1..2.0_f64), 0..4);
    let choices = (0..3_u8, any::<bool>(), any::<bool>(), 0..4_u8);
    let name = "[a-z][a-z0-9_ \"\\\\é]{0,12}";
    (name, numbers, integers, blocks, bodies, choices).prop_map(
        |(name, numbers, integers, blocks, bodies, (up, gravity, mass, output))| {
            let (d, h_over_d, density, xsph, share) = numbers;
            // So short that viscosity is stable, and that no particle crosses the domain.
            let dt_s = share * (d / 0.1).powi(2);
            let (seed, iterations, width_px, steps) = integers;
            let mut text = String::new();
            let axis = ["x", "y", "z"];
            let cell = 4.0 * d;
            writeln!(
                text,
                "version = 1\nname = {name:?}\nup_axis = \"{}\"\nseed = \
                            {seed}",
                axis[usize::from(up)]
            )
            .unwrap();
            if gravity {
                writeln!(text, "gravity_m_s2 = [{xsph}, -{density}, 0]").unwrap();
            }
            writeln!(text, "[time]\ndt_s = {dt_s}\nduration_s = {}", density * dt_s).unwrap();
            writeln!(text, "[fluid]\nparticle_spacing_m = {d}\nrest_density_kg_m3 = {density}").unwrap();
            writeln!(text, "support_radius_spacings = {h_over_d}\nxsph_viscosity = {xsph}").unwrap();
            if mass {
                writeln!(text, "particle_mass_kg = {dt_s}").unwrap();
            }
            writeln!(text, "[solver]\nsteps_per_submission = {steps}\n[pbd]\niterations = {iterations}")
                .unwrap();
            writeln!(text, "artificial_pressure = {{ strength = {xsph} }}").unwrap();
            writeln!(text, "[domain]\nmin_m = [0, 0, 0]\nmax_m = [{0}, {0}, {0}]", 2.0 * cell).unwrap();
            for (idx, (shape, uniform, [vx, vy, vz], jitter)) in blocks.into_iter().enumerate() {
                let min: [f64; 3] = std::array::from_fn(|a| cell * (idx >> a & 1) as f64);
                let max = min.map(|x| x + cell);
                let centre = min.map(|x| x + 0.5 * cell);
                let shape = match shape {
                    0 => format!("shape.box = {{ min_m = {min:?}, max_m = {max:?} }}"),
                    1 => format!("shape.sphere = {{ centre_m = {centre:?}, radius_m = {} }}", 0.5 * cell),
                    _ => format!(
                        "shape.cylinder = {{ centre_m = {centre:?}, axis = \"{}\", radius_m = {}, height_m = \
                         {} }}",
                        axis[idx % 3],
                        0.4 * cell,
                        0.9 * cell
                    ),
                };
                writeln!(text, "[[particles]]\n{shape}\nvelocity_m_s = [{vx}, {vy}, {vz}]").unwrap();
                if uniform {
                    writeln!(text, "fill = \"uniform\"").unwrap();
                } else {
                    writeln!(text, "jitter_spacings = {jitter}").unwrap();
                }
            }
            for (plane, [x, y, z], radius) in bodies {
                if plane {
                    writeln!(
                        text,
                        "[[bodies]]\nshape.plane = {{ point_m = [{x}, {y}, {z}], normal = [{x}, \
                                    {y}, 1] }}"
                    )
                    .unwrap();
                } else {
                    writeln!(
                        text,
                        "[[bodies]]\nshape.sphere = {{ centre_m = [{x}, {y}, {z}], radius_m = \
                                    {radius} }}"
                    )
                    .unwrap();
                }
            }
            writeln!(
                text,
                "[render]\nwidth_px = {width_px}\ncolour_range = [-{density}, \
                            {density}]"
            )
            .unwrap();
            match output {
                0 => {}
                1 => writeln!(text, "[output]\nrender_every = {iterations}").unwrap(),
                2 => writeln!(text, "[output]\nrecord_every = \"{dt_s} s\"").unwrap(),
                _ => writeln!(text, "[output]\nmetrics_every = \"{iterations} steps\"").unwrap(),
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn through_toml_and_json(text in scene_text()) {
        let scene = Scene::parse(&text, "random", &[]).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let toml = toml::to_string(&scene).unwrap();
        let again = Scene::parse(&toml, "written", &[]).map_err(|e| TestCaseError::fail(format!("{e}\n{toml}")))?;
        prop_assert_eq!(&again, &scene);
        prop_assert_eq!(toml::to_string(&again).unwrap(), toml);

        let json = serde_json::to_string(&scene).unwrap();
        let again = Scene::from_json(&json, "run.json").map_err(|e| TestCaseError::fail(format!("{e}\n{json}")))?;
        prop_assert_eq!(&again, &scene);
        // Random bodies may bury a block; both samplings then fail.
        prop_assert_eq!(again.sample().ok(), scene.sample().ok());
    }

    /// Loading any text returns a result and does not panic.
    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        let _ = Scene::parse(&text, "any", &[]);
        let _ = minimal(&[&text]);
    }

    /// Damaged scenes return a result, too, and an error names the file.
    #[test]
    fn damaged_scenes_are_answered(at in 0..crate::MINIMAL.len(), length in 0..20_usize, replacement in "[\\[\\]{}=.\"0-9a-z\\n]{0,4}") {
        let end = (at + length).min(crate::MINIMAL.len());
        let text = format!("{}{replacement}{}", &crate::MINIMAL[..at], &crate::MINIMAL[end..]);
        if let Err(error) = Scene::parse(&text, "damaged.toml", &[]) {
            prop_assert!(error.to_string().starts_with("damaged.toml:"), "{}", error);
        }
    }
}

#[test]
fn writing_keeps_every_bit_of_a_number() {
    let tenth_and_a_bit = f64::from_bits(0.1_f64.to_bits() + 1);
    let mut scene = minimal(&[]).unwrap();
    scene.fluid_mut().unwrap().particle_spacing_m = tenth_and_a_bit;
    let again = Scene::parse(&toml::to_string(&scene).unwrap(), "written", &[]).unwrap();
    assert_eq!(again.particle_spacing_m().to_bits(), tenth_and_a_bit.to_bits());
}

#[test]
fn json_errors_name_the_key() {
    let json = serde_json::to_string(&minimal(&[]).unwrap()).unwrap();
    let message = |from: &str, to: &str| {
        assert!(json.contains(from), "{json}");
        Scene::from_json(&json.replace(from, to), "run.json").unwrap_err().to_string()
    };
    assert_eq!(
        message("\"rest_density_kg_m3\":1000.0", "\"rest_density_kg_m3\":-1"),
        "run.json: fluid.rest_density_kg_m3: found -1, expected a positive number of kg/m³"
    );
    assert_eq!(
        message("\"rest_density_kg_m3\"", "\"rest_density\""),
        "run.json: fluid.rest_density: unknown key; did you mean rest_density_kg_m3?"
    );
    assert!(
        Scene::from_json("{", "run.json")
            .unwrap_err()
            .to_string()
            .starts_with("run.json:1:1: not valid JSON: ")
    );
}
