//! Free fall of a ball of every material.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_io::Frame;
use frazil_report::{Mark, Series};

/// Solvers, the parts of their scenes, and the extent of the domain along z.
const MATERIALS: [(&str, &str, &str); 5] = [
    ("water", "solver = { kind = \"pbd\" }\nfluid = { particle_spacing_m = 0.02 }", "0.5"),
    ("snow", "solver = { kind = \"pbd\" }\nfluid = { particle_spacing_m = 0.02 }\nsnow = {}", "0.5"),
    (
        "viscoelastic",
        "solver = { kind = \"viscoelastic\" }\nfluid = { particle_spacing_m = 0.02, dynamic_viscosity_pa_s = \
         1.0 }\n\
         viscoelastic = { modulus_pa = 200.0, relaxation_time_s = 0.05 }",
        "0.5",
    ),
    (
        "grid",
        "solver = { kind = \"mpm\" }\nmpm = { dimensions = 3, cell_size_m = 0.04, particles_per_cell = 8.0 }",
        "0.5",
    ),
    (
        "grains",
        "solver = { kind = \"dem\" }\ndem = { radius_m = 0.01, density_kg_m3 = 900.0, normal_stiffness_n_m = \
         100.0 }",
        "0.5",
    ),
];

const GRAVITY_M_S2: f64 = 9.81;

fn scene(name: &str, sections: &str, half_width: &str) -> String {
    let phase = if name == "snow" { "phase = \"snow\"\ntemperature_c = -10.0\n" } else { "" };
    format!(
        "version = 1\nname = \"fall\"\nup_axis = \"y\"\n{sections}\n\
         [time]\ndt_s = 0.0005\nduration_s = 1.0\n\
         [domain]\nmin_m = [-0.5, 0.0, -{half_width}]\nmax_m = [0.5, 3.0, {half_width}]\n\
         [[particles]]\n{phase}shape.sphere = {{ centre_m = [0.0, 2.5, 0.0], radius_m = 0.08 }}\n"
    )
}

/// Returns the mean height in m. All particles have the same mass.
fn height_m(frame: &Frame) -> f64 {
    let sum: f64 = frame.positions().iter().map(|x| f64::from(x[1])).sum();
    sum / frame.len() as f64
}

pub fn cases() -> Vec<Case> {
    let case = |(material, sections, half_width): (&'static str, &'static str, &'static str)| Case {
        name: format!("free_fall.{material}"),
        about: "height that a ball falls without contact",
        reference: "g t (t + Δt)/2, symplectic Euler",
        cost: Cost::Quick,
        known: None,
        run: Box::new(move |lab: &Lab| run(lab, &scene(material, sections, half_width))),
    };
    MATERIALS.map(case).into()
}

fn run(lab: &Lab, scene: &str) -> Result<Outcome, Failure> {
    let mut ball = Experiment::text(lab, scene)?;
    let start = height_m(&ball.frame()?);
    let (mut found, mut exact, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
    for part in 1..=4 {
        ball.advance_to_s(0.1 * f64::from(part))?;
        let t = ball.time_s();
        let fallen = start - height_m(&ball.frame()?);
        let expected = 0.5 * GRAVITY_M_S2 * t * (t + ball.dt_s());
        worst = larger(worst, (fallen / expected - 1.0).abs());
        found.push((t, fallen));
        exact.push((t, expected));
    }
    let check = Check {
        quantity: "largest relative error of the height".to_owned(),
        unit: "1",
        found: worst,
        bound: Bound::AtMost(1e-3),
        reason: "positions are rounded to 1e-7 m in each step, 1e-4 m in all",
    };
    Ok(Outcome::of(vec![check]).with_curve(
        "time [s]",
        "height fallen [m]",
        vec![Series::new("exact", Mark::Dashes, exact), Series::new("found", Mark::Points, found)],
    ))
}
