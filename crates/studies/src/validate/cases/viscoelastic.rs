//! Viscoelastic fluid: rheometry in a gap between walls, and the rebound of a ball.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_report::{Mark, Series, layer_means, oscillation, profile_deviation};

/// Modulus in Pa, relaxation time in s, and viscosity in Pa s of the solvent of sheared fluids.
const G: f64 = 200.0;
const LAMBDA: f64 = 0.05;
const SOLVENT: f64 = 1.0;

/// Height of the gap in m.
const GAP_M: f64 = 0.02;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "viscoelastic.start_up".to_owned(),
            about: "shear stress and first normal stress difference from rest, Weissenberg number 1",
            reference: "Oldroyd1950: τ = η_s γ̇ + Gλγ̇(1 − e^(−t/λ)), N₁ = 2Gλ²γ̇²(1 − e^(−t/λ)(1 + t/λ))",
            cost: Cost::Quick,
            known: None,
            run: Box::new(start_up),
        },
        Case {
            name: "viscoelastic.channel".to_owned(),
            about: "velocity of a Newtonian fluid across a gap, driven by its weight",
            reference: "Couette and Poiseuille: γ̇ y; ρ g (h² − y²)/2η",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(channel),
        },
        Case {
            name: "viscoelastic.power_law".to_owned(),
            about: "velocity of a shear-thinning fluid, n = 0.5, across a gap",
            reference: "u ∝ h^((n+1)/n) − |y|^((n+1)/n)",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(power_law),
        },
        Case {
            name: "viscoelastic.bingham".to_owned(),
            about: "velocity of a Bingham fluid across a gap of 12 layers",
            reference: "plug of half width τ_y/(ρg) between parabolas",
            cost: Cost::Minutes,
            known: Some("the sheared layers are four spacings wide, and flow about 9 % too slowly"),
            run: Box::new(bingham),
        },
        Case {
            name: "viscoelastic.oscillation".to_owned(),
            about: "storage and loss moduli in oscillating shear over three decades",
            reference: "G′ = Gω²λ²/(1 + ω²λ²), G″ = Gωλ/(1 + ω²λ²) + η_s ω",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(oscillating_shear),
        },
        Case {
            name: "viscoelastic.rebound".to_owned(),
            about: "speed of an elastic ball, 16 particles across, after it hits the floor over that before",
            reference: "an elastic ball bounces: restitution near 1",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(rebound),
        },
    ]
}

/// Returns a gap of some layers of particles, periodic along its walls.
fn gap(layers: u32, dt_s: f64, gravity_m_s2: f64, fluid: &str, material: &str) -> String {
    let d = GAP_M / f64::from(layers);
    let width = 8.0 * d;
    format!(
        "version = 1\nname = \"gap\"\nup_axis = \"y\"\nseed = 7\ngravity_m_s2 = [{gravity_m_s2:?}, 0.0, \
         0.0]\n\
         solver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 100.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{width:?}, {GAP_M}, {width:?}]\nperiodic = [true, \
         false, true]\n\
         [fluid]\nparticle_spacing_m = {d:?}\n{fluid}\n\
         [viscoelastic]\n{material}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{width:?}, {GAP_M}, {width:?}] }}\n"
    )
}

/// Returns the settings of an Oldroyd-B fluid that is sheared.
fn oldroyd_b(lambda_s: f64, shear: &str) -> String {
    format!("modulus_pa = {G:?}\nrelaxation_time_s = {lambda_s:?}\nshear = {shear}")
}

fn start_up(lab: &Lab) -> Result<Outcome, Failure> {
    let rate = 1.0 / LAMBDA;
    let shear = format!("{{ rate_per_s = {rate:?}, stop_s = 10.0 }}");
    let fluid = format!("dynamic_viscosity_pa_s = {SOLVENT:?}");
    let mut gap = Experiment::text(lab, &gap(8, 1e-3, 0.0, &fluid, &oldroyd_b(LAMBDA, &shear)))?;
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

/// Returns the mean velocity along x in m/s in each layer of a gap, by its height over the centre in m.
fn profile(gap: &Experiment, layers: u32) -> Result<Vec<(f64, f64)>, Failure> {
    let frame = gap.frame()?;
    let velocities = frame.vec3("velocity").map_err(Failure::other)?;
    let points = frame.positions().iter().zip(velocities).map(|(x, v)| (f64::from(x[1]), f64::from(v[0])));
    let layers = layer_means(points, GAP_M, layers as usize);
    Ok(layers.into_iter().map(|(y, u)| (y - 0.5 * GAP_M, u)).collect())
}

/// Returns the check of a profile, of its largest speed.
fn profile_check(what: &str, found: f64, most: f64, reason: &'static str) -> Check {
    Check {
        quantity: format!("{what}, largest error over the largest speed"),
        unit: "1",
        found,
        bound: Bound::AtMost(most),
        reason,
    }
}

/// Returns the curves of a profile and of the exact one.
fn profile_curves(profile: Vec<(f64, f64)>, exact: impl Fn(f64) -> f64) -> Vec<Series> {
    let exact = (-50..=50).map(|i| 0.01 * GAP_M * f64::from(i)).map(|y| (y, exact(y))).collect();
    vec![Series::new("found", Mark::Points, profile), Series::new("exact", Mark::Dashes, exact)]
}

const PROFILE_AXES: [&str; 2] = ["y [m]", "speed [m/s]"];

fn channel(lab: &Lab) -> Result<Outcome, Failure> {
    let (half, fluid) = (0.5 * GAP_M, "dynamic_viscosity_pa_s = 1.0");
    let couette = "elasticity = \"none\"\nshear = { rate_per_s = 10.0, is_developed = false }";
    let mut sheared = Experiment::text(lab, &gap(8, 1e-3, 0.0, fluid, couette))?;
    sheared.advance_to_s(0.25)?;
    let mut driven = Experiment::text(lab, &gap(8, 1e-3, 1.0, fluid, "elasticity = \"none\""))?;
    driven.advance_to_s(0.25)?;
    let (linear, parabola) = (|y: f64| 10.0 * y, |y: f64| 1000.0 * (half * half - y * y) / 2.0);
    let (sheared, driven) = (profile(&sheared, 8)?, profile(&driven, 8)?);
    let reason = "eight layers, 2.5 times the time of diffusion ρ h²/η";
    let [x, y] = PROFILE_AXES;
    Ok(Outcome::of(vec![
        profile_check("Couette", profile_deviation(&sheared, linear), 0.03, reason),
        profile_check("Poiseuille", profile_deviation(&driven, parabola), 0.03, reason),
    ])
    .with_curve(x, y, profile_curves(sheared, linear))
    .with_curve(x, y, profile_curves(driven, parabola)))
}

fn power_law(lab: &Lab) -> Result<Outcome, Failure> {
    let (consistency, n, gravity, half) = (10.0, 0.5, 5.0, 0.5 * GAP_M);
    let law = format!(
        "elasticity = \"none\"\n\
         viscosity = {{ model = \"power_law\", consistency_pa_s_n = {consistency:?}, exponent = {n} }}"
    );
    let mut driven = Experiment::text(lab, &gap(8, 1e-3, gravity, "", &law))?;
    driven.advance_to_s(0.3)?;
    let power = (n + 1.0) / n;
    let scale = n / (n + 1.0) * (1000.0 * gravity / consistency).powf(1.0 / n);
    let exact = |y: f64| scale * (half.powf(power) - y.abs().powf(power));
    let found = profile(&driven, 8)?;
    let reason = "eight layers; the rate at the wall is half a spacing away";
    let [x, y] = PROFILE_AXES;
    Ok(Outcome::of(vec![profile_check("profile", profile_deviation(&found, exact), 0.05, reason)])
        .with_curve(x, y, profile_curves(found, exact)))
}

fn bingham(lab: &Lab) -> Result<Outcome, Failure> {
    let (plastic, yields, gravity, half) = (1.0, 40.0, 10.0, 0.5 * GAP_M);
    let edge = yields / (1000.0 * gravity);
    let law = format!(
        "elasticity = \"none\"\nmax_viscosity_iterations = 200\nviscosity = {{ model = \"herschel_bulkley\", \
         consistency_pa_s_n = {plastic:?}, yield_stress_pa = {yields:?}, max_pa_s = 100.0 }}"
    );
    let mut driven = Experiment::text(lab, &gap(12, 5e-4, gravity, "", &law))?;
    driven.advance_to_s(0.2)?;
    let scale = 1000.0 * gravity / (2.0 * plastic);
    let fastest = scale * (half - edge).powi(2);
    let exact = |y: f64| fastest - scale * (y.abs() - edge).max(0.0).powi(2);
    let found = profile(&driven, 12)?;
    let reason = "twice the time of diffusion ρ h²/η";
    let [x, y] = PROFILE_AXES;
    Ok(Outcome::of(vec![profile_check("profile", profile_deviation(&found, exact), 0.03, reason)])
        .with_curve(x, y, profile_curves(found, exact)))
}

fn oscillating_shear(lab: &Lab) -> Result<Outcome, Failure> {
    let (frequency_hz, amplitude, dt_s, solvent) = (2.0, 0.5, 1e-3, 0.1);
    let omega = std::f64::consts::TAU * frequency_hz;
    let mut checks = Vec::new();
    let [mut storages, mut losses, mut exact_storages, mut exact_losses] = [const { Vec::new() }; 4];
    for product in [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0_f64] {
        let lambda = product / omega;
        let shear = format!("{{ rate_per_s = {:?}, frequency_hz = {frequency_hz:?} }}", omega * amplitude);
        let fluid = format!("dynamic_viscosity_pa_s = {solvent:?}");
        let mut gap = Experiment::text(lab, &gap(8, dt_s, 0.0, &fluid, &oldroyd_b(lambda, &shear)))?;
        let per_period = (1.0 / (frequency_hz * dt_s)).round() as u64;
        let mut samples = Vec::new();
        for sample in 1..=32 {
            let stress = gap.advance_to(per_period / 2 + sample * (per_period / 32))?.get("stress_xy");
            samples.push((gap.time_s(), stress));
        }
        // σ = G′ γ + G″ γ̇/ω with γ = γ₀ sin ωt.
        let [loss, storage] = oscillation(&samples, omega, lambda).map(|c| c / amplitude);
        let square = product * product;
        let exact_loss = G * product / (1.0 + square) + solvent * omega;
        let exact_storage = G * square / (1.0 + square);
        let tenth = 0.1 * exact_loss.hypot(exact_storage);
        for (name, found, exact) in [("G′", storage, exact_storage), ("G″", loss, exact_loss)] {
            checks.push(Check {
                quantity: format!("{name} at ωλ = {product}"),
                unit: "Pa",
                found,
                bound: Bound::Within(exact, 0.05 * exact.max(tenth)),
                reason: "5 %; of a modulus below a tenth of the other, 0.5 % of that",
            });
        }
        storages.push((product.log10(), storage.log10()));
        losses.push((product.log10(), loss.log10()));
        exact_storages.push((product.log10(), exact_storage.log10()));
        exact_losses.push((product.log10(), exact_loss.log10()));
    }
    Ok(Outcome::of(checks).with_curve(
        "log₁₀ ωλ",
        "log₁₀ modulus [Pa]",
        vec![
            Series::new("G′", Mark::Points, storages),
            Series::new("G′, exact", Mark::Dashes, exact_storages),
            Series::new("G″", Mark::Points, losses),
            Series::new("G″, exact", Mark::Dashes, exact_losses),
        ],
    ))
}

fn rebound(lab: &Lab) -> Result<Outcome, Failure> {
    let (radius, d, dt_s) = (0.08_f64, 0.01, 2.5e-4);
    let speed = (2.0 * 9.81 * 1.4 * radius).sqrt();
    let centre = [0.0, 1.1 * radius, 0.0];
    let scene = format!(
        "version = 1\nname = \"ball\"\nup_axis = \"y\"\nseed = 3\nsolver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 10.0\n\
         [domain]\nmin_m = [-0.25, 0.0, -0.25]\nmax_m = [0.25, 0.4, 0.25]\n\
         [fluid]\nparticle_spacing_m = {d:?}\n[viscoelastic]\nmodulus_pa = 200000.0\n\
         [[particles]]\nshape.sphere = {{ centre_m = {centre:?}, radius_m = {radius:?} }}\n\
         velocity_m_s = [0.0, {:?}, 0.0]\n",
        -speed
    );
    let mut ball = Experiment::text(lab, &scene)?;
    let (mut down, mut up, mut curve) = (0.0_f64, 0.0_f64, Vec::new());
    while ball.time_s() < 0.1 * radius / speed + 0.06 {
        let momentum = ball.advance_to(ball.simulation.step() + 10)?.get("momentum_y");
        curve.push((ball.time_s(), momentum));
        down = down.min(momentum);
        up = if momentum > down { up.max(momentum) } else { up };
    }
    let check = Check {
        quantity: "restitution".to_owned(),
        unit: "1",
        found: up / -down,
        bound: Bound::Within(0.95, 0.05),
        reason: "0.9 to 1: a ball that bounces, and gains nothing",
    };
    let curve = vec![Series::new("momentum", Mark::Line, curve)];
    Ok(Outcome::of(vec![check]).with_curve("time [s]", "momentum, upwards [kg m/s]", curve))
}
