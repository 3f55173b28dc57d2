//! Heat in snow and water: conduction, and fronts of melting.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_report::{Mark, Series, erf};
use frazil_scene::{Heat, LatentHeat, Scene};
use std::f64::consts::PI;

const SPACING_M: f64 = 0.01;
const DENSITY_KG_M3: f64 = 1000.0;

/// Stefan numbers of the fronts.
const STEFAN_NUMBERS: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

pub fn cases() -> Vec<Case> {
    let conduction = Case {
        name: "snow.conduction".to_owned(),
        about: "temperature of two half-spaces of snow in contact",
        reference: "(T_a + T_b)/2 + (T_b − T_a)/2 erf(x/√(4αt))",
        cost: Cost::Quick,
        known: None,
        run: Box::new(conduction),
    };
    let front = |change: Change, stefan: f64| Case {
        name: match change {
            Change::Melting => format!("snow.stefan_{stefan}"),
            Change::Freezing => format!("snow.stefan_{stefan}_freezing"),
        },
        about: match change {
            Change::Melting => "front of melting between ice at freezing and water",
            Change::Freezing => "front of freezing between ice and water at freezing",
        },
        reference: "Neumann's 2λ√(αt), λ e^(λ²) (1 + erf λ) = Ste/√π",
        // The number of steps is proportional to 1/λ².
        cost: match (change, stefan) {
            (_, ..0.08) => Cost::Long,
            (Change::Melting, 0.4..) => Cost::Quick,
            _ => Cost::Minutes,
        },
        known: None,
        run: Box::new(move |lab: &Lab| phase_front(lab, change, stefan)),
    };
    let fronts = [Change::Melting, Change::Freezing]
        .into_iter()
        .flat_map(|change| STEFAN_NUMBERS.map(|stefan| front(change, stefan)));
    std::iter::once(conduction).chain(fronts).collect()
}

/// Direction of a front.
#[derive(Clone, Copy)]
enum Change {
    Melting,
    Freezing,
}

/// Returns a bar from wall to wall without gravity, in which nothing moves: `n[0]` particles along x of snow,
/// then `n[1]` of snow or water, with the step that conduction allows.
fn bar(
    n: [u32; 2],
    across: u32,
    second: &str,
    temperatures_c: [f64; 2],
    heat: Heat,
) -> Result<Scene, Failure> {
    let end = |n: u32| f64::from(n) * SPACING_M;
    let (middle, length, width) = (end(n[0]), end(n[0] + n[1]), end(across));
    let [first_c, second_c] = temperatures_c;
    let text = format!(
        "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         time = {{ dt_s = 1e-9, duration_s = 1.0 }}\n\
         fluid = {{ particle_spacing_m = {SPACING_M} }}\n\
         domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n\
         snow = {{ links = {{ limit = \"none\" }} }}\n\
         [[particles]]\nphase = \"snow\"\ntemperature_c = {first_c:?}\n\
         shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{middle}, {width}, {width}] }}\n\
         [[particles]]\nphase = \"{second}\"\ntemperature_c = {second_c:?}\n\
         shape.box = {{ min_m = [{middle}, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n"
    );
    let mut scene = Scene::parse(&text, "validation.toml", &[])?;
    let snow = scene.snow_mut().ok_or_else(|| Failure::other("the bar has no snow"))?;
    snow.heat = heat;
    let rate = scene.conduction_rate_per_s().ok_or_else(|| Failure::other("the bar does not conduct"))?;
    // Validation accepts half of the step that would equalize a particle with its neighbours.
    scene.time.dt_s = (0.45 / rate).into();
    Ok(scene)
}

fn conduction(lab: &Lab) -> Result<Outcome, Failure> {
    let (n, temperatures_c, heat) = ([25, 25], [-40.0, -10.0], Heat::default());
    let alpha = heat.snow_conductivity_w_m_k / (DENSITY_KG_M3 * heat.snow_capacity_j_kg_k);
    let [mean, half] =
        [0.5 * (temperatures_c[1] + temperatures_c[0]), 0.5 * (temperatures_c[1] - temperatures_c[0])];
    let mut run = Experiment::of(lab, bar(n, 3, "snow", temperatures_c, heat)?)?;
    let (mut checks, mut found, mut exact) = (Vec::new(), Vec::new(), Vec::new());
    for reach in [3.0, 5.0, 8.0] {
        run.advance_to_s((reach * SPACING_M).powi(2) / (4.0 * alpha))?;
        let t = run.time_s();
        let frame = run.frame()?;
        let temperatures = frame.f32("temperature").map_err(Failure::other)?;
        let x_m = |x: &[f32; 3]| f64::from(x[0]) - f64::from(n[0]) * SPACING_M;
        let at = |x: f64| mean + half * erf(x / (4.0 * alpha * t).sqrt());
        let pairs: Vec<(f64, f64)> =
            frame.positions().iter().map(x_m).zip(temperatures.iter().map(|t| f64::from(*t))).collect();
        let error = pairs.iter().map(|(x, found)| (found - at(*x)).abs()).fold(0.0, larger);
        checks.push(Check {
            quantity: format!("error of T at √(4αt) = {reach} d, of the jump"),
            unit: "1",
            found: error / (2.0 * half),
            bound: Bound::AtMost(0.03),
            reason: "the jump is between two particles; twice the diffusivity is off by 8 %",
        });
        found.extend(pairs.iter().map(|(x, t)| (100.0 * x, *t)));
        exact.extend((-100..=100).map(|k| (0.25 * f64::from(k), at(0.0025 * f64::from(k)))));
        exact.push((f64::NAN, f64::NAN));
    }
    Ok(Outcome::of(checks).with_curve(
        "x [cm]",
        "temperature [°C]",
        vec![Series::new("exact", Mark::Dashes, exact), Series::new("found", Mark::Points, found)],
    ))
}

/// Returns λ of ice at freezing in contact with water.
fn neumann_lambda(stefan: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 2.0_f64);
    for _ in 0..100 {
        let lambda = 0.5 * (low + high);
        let excess = lambda * (lambda * lambda).exp() * (1.0 + erf(lambda)) - stefan / PI.sqrt();
        if excess > 0.0 { high = lambda } else { low = lambda }
    }
    0.5 * (low + high)
}

fn phase_front(lab: &Lab, change: Change, stefan: f64) -> Result<Outcome, Failure> {
    let water = Heat::default();
    let (k, c, latent) =
        (water.water_conductivity_w_m_k, water.water_capacity_j_kg_k, water.latent_heat_j_kg);
    // Ice that conducts and stores heat like water.
    let heat = Heat {
        latent_heat: LatentHeat::Enthalpy,
        snow_conductivity_w_m_k: k,
        snow_capacity_j_kg_k: c,
        ..water
    };
    let (alpha, lambda) = (k / (DENSITY_KG_M3 * c), neumann_lambda(stefan));
    // The half that drives the front must keep its temperature at its far end, √(4αt) = front/λ away.
    let (changing, driving, jump_k) = (14, (8.0 / lambda * 2.5).ceil() as u32, stefan * latent / c);
    let (n, temperatures_c, direction) = match change {
        Change::Melting => ([changing, driving], [0.0, jump_k], 1.0),
        Change::Freezing => ([driving, changing], [-jump_k, 0.0], -1.0),
    };
    let mut run = Experiment::of(lab, bar(n, 1, "water", temperatures_c, heat)?)?;
    let (mut found, mut exact, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
    for part in 0..=4 {
        let target_m = (4.0 + f64::from(part)) * SPACING_M;
        run.advance_to_s((target_m / (2.0 * lambda)).powi(2) / alpha)?;
        let enthalpies = run.state_column("enthalpy")?;
        let molten: f64 = enthalpies.iter().map(|h| (f64::from(*h) / latent).clamp(0.0, 1.0)).sum();
        let front = direction * (molten - f64::from(n[1]));
        let expected = 2.0 * lambda * (alpha * run.time_s()).sqrt() / SPACING_M;
        let error = (front / expected - 1.0).abs();
        worst = larger(worst, error);
        found.push((run.time_s().sqrt(), front));
        exact.push((run.time_s().sqrt(), expected));
    }
    let check = Check {
        quantity: "largest relative error of the front, 4 to 8 d".to_owned(),
        unit: "1",
        found: worst,
        bound: Bound::AtMost(0.05),
        reason: "half a particle is 12 % of the distance",
    };
    Ok(Outcome::of(vec![check]).with_curve(
        "√t [√s]",
        "front [d]",
        vec![Series::new("exact", Mark::Dashes, exact), Series::new("found", Mark::Points, found)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neumanns_lambda_has_its_stefan_number() {
        // Published values of the error function.
        for (x, value) in [(0.5, 0.520_499_877_8), (1.0, 0.842_700_792_9), (3.0, 0.999_977_909_5)] {
            assert!((erf(x) - value).abs() < 1e-9 && (erf(-x) + value).abs() < 1e-9, "erf {x} = {}", erf(x));
        }
        // For small λ, λ = Ste/√π.
        assert!((neumann_lambda(1e-4) * PI.sqrt() / 1e-4 - 1.0).abs() < 1e-3);
    }
}
