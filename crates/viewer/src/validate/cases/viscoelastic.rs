//! Viscoelastic fluid: start-up of simple shear.

use crate::failure::Failure;
use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_report::{Mark, Series};

/// Modulus in Pa, relaxation time in s, and viscosity in Pa s of the solvent.
const G: f64 = 200.0;
const LAMBDA: f64 = 0.05;
const SOLVENT: f64 = 1.0;

pub fn cases() -> Vec<Case> {
    vec![Case {
        name: "viscoelastic.start_up".to_owned(),
        about: "shear stress and first normal stress difference from rest, Weissenberg number 1",
        reference: "Oldroyd1950: τ = η_s γ̇ + Gλγ̇(1 − e^(−t/λ)), N₁ = 2Gλ²γ̇²(1 − e^(−t/λ)(1 + t/λ))",
        cost: Cost::Quick,
        known: None,
        run: Box::new(start_up),
    }]
}

/// Returns a gap of eight spacings, periodic along its moving walls.
fn gap(rate_per_s: f64) -> String {
    let (height, d) = (0.02, 0.0025);
    let width = 8.0 * d;
    format!(
        "version = 1\nname = \"gap\"\nup_axis = \"y\"\nseed = 7\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         solver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = 0.001\nduration_s = 100.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{width:?}, {height}, {width:?}]\nperiodic = [true, false, true]\n\
         [fluid]\nparticle_spacing_m = {d:?}\ndynamic_viscosity_pa_s = {SOLVENT:?}\n\
         [viscoelastic]\nmodulus_pa = {G:?}\nrelaxation_time_s = {LAMBDA:?}\n\
         shear = {{ rate_per_s = {rate_per_s:?}, stop_s = 10.0 }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{width:?}, {height}, {width:?}] }}\n"
    )
}

fn start_up(lab: &Lab) -> Result<Outcome, Failure> {
    let rate = 1.0 / LAMBDA;
    let mut gap = Experiment::text(lab, &gap(rate))?;
    let [mut shear, mut normal, mut exact_shear, mut exact_normal] = [const { Vec::new() }; 4];
    let mut worst = [0.0_f64; 2];
    for part in 1..=20 {
        let measured = gap.advance_to(10 * part)?;
        let (tau, n1) = (measured.get("stress_xy"), measured.get("stress_xx") - measured.get("stress_yy"));
        let t = gap.time_s();
        let grown = 1.0 - (-t / LAMBDA).exp();
        let expected_tau = SOLVENT * rate + G * LAMBDA * rate * grown;
        let expected_n1 = 2.0 * G * (LAMBDA * rate).powi(2) * (grown - t / LAMBDA * (-t / LAMBDA).exp());
        for (worst, error) in worst
            .iter_mut()
            .zip([(tau - expected_tau).abs() / (SOLVENT * rate + G), (n1 - expected_n1).abs() / (2.0 * G)])
        {
            *worst = larger(*worst, error);
        }
        shear.push((t, tau));
        normal.push((t, n1));
        exact_shear.push((t, expected_tau));
        exact_normal.push((t, expected_n1));
    }
    let check = |what: &str, found| Check {
        quantity: format!("largest error of {what}, of its steady value"),
        unit: "1",
        found,
        bound: Bound::AtMost(0.05),
        reason: "eight layers at Δt = λ/50",
    };
    Ok(Outcome::of(vec![check("τ", worst[0]), check("N₁", worst[1])]).with_curve(
        "time [s]",
        "stress [Pa]",
        vec![
            Series::new("τ", Mark::Points, shear),
            Series::new("τ, exact", Mark::Dashes, exact_shear),
            Series::new("N₁", Mark::Points, normal),
            Series::new("N₁, exact", Mark::Dashes, exact_normal),
        ],
    ))
}
