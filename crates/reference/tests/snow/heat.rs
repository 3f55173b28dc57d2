use frazil_reference::primitives::Grid;
use frazil_reference::snow::{ConductionLaw, Heat, Kind, LatentHeat, Parameters, State};

use crate::{SPACING_M, SUPPORT_RATIO, cloud, parameters, solid_and_fluid};

/// A block of the cubic lattice in the middle of the box; what `is_solid` says of a place is snow.
fn block(n: [usize; 3], is_solid: impl Fn([usize; 3]) -> bool) -> State {
    let places = (0..n[0] * n[1] * n[2]).map(|i| [i % n[0], i / n[0] % n[1], i / (n[0] * n[1])]);
    let (solid, fluid): (Vec<_>, Vec<_>) = places.partition(|place| is_solid(*place));
    let at = |place: [usize; 3]| place.map(|k| (3.0 + k as f32) * SPACING_M);
    solid_and_fluid(solid.into_iter().map(at).collect(), fluid.into_iter().map(at).collect())
}

/// Sorts by cell and predicts, without a change of phase.
fn settle(state: &mut State, p: &Parameters) {
    state.integrate(p);
    for kind in Kind::ALL {
        state[kind].leaves = vec![0; state[kind].len()];
    }
    state.scan_leavers();
    state.migrate();
    state.sort_by_cell(p);
    state.reorder();
    state.predict(p);
}

fn set_temperature(state: &mut State, temperature_c: impl Fn([f32; 3]) -> f32) {
    for kind in Kind::ALL {
        state[kind].temperature_c = state[kind].position.iter().map(|x| temperature_c(*x)).collect();
    }
}

/// Σ c T over both phases in J/kg, in f64.
fn heat_content(state: &State, heat: &Heat) -> f64 {
    let content = |kind: Kind| {
        let sum: f64 = state[kind].temperature_c.iter().map(|t| f64::from(*t)).sum();
        f64::from(heat.capacity_j_kg_k(kind)) * sum
    };
    content(Kind::Solid) + content(Kind::Fluid)
}

/// The Laplacian of x² is 2, and the lattice is where the scale makes it so: dT/dt = 2k/(ρ₀ c).
#[test]
fn the_laplacian_is_exact_on_the_lattice() {
    let p = parameters();
    for kind in Kind::ALL {
        let mut state = block([9, 9, 9], |_| kind == Kind::Solid);
        settle(&mut state, &p);
        let centre_m = 7.0 * SPACING_M;
        set_temperature(&mut state, |[x, _, _]| (x - centre_m).powi(2) * 1e4);
        let before = state[kind].temperature_c.clone();
        state.conduct(&p);
        let diffusivity =
            p.heat.conductivity_w_m_k(kind) / (p.fluid.rest_density_kg_m3 * p.heat.capacity_j_kg_k(kind));
        let expected_c = p.fluid.dt_s * diffusivity * 2.0 * 1e4;
        let mut interior = 0;
        for (i, before_c) in before.iter().enumerate() {
            let depth = |x: &f32| (x / SPACING_M - 3.0).min(11.0 - x / SPACING_M);
            if state[kind].position[i].iter().all(|x| depth(x) > 1.5) {
                interior += 1;
                let change_c = state[kind].temperature_c[i] - before_c;
                // Temperatures of 16 °C have an ulp of 2e-6 °C; water changes by 3e-3 °C.
                assert!((change_c / expected_c - 1.0).abs() < 5e-3, "{change_c} is not {expected_c} °C");
            }
        }
        assert_eq!(interior, 125);
    }
}

/// Two layers through which the same heat flows have gradients in the inverse ratio of their conductivities,
/// and then no particle changes: with the harmonic mean this is exact on the lattice.
#[test]
fn between_snow_and_water_the_flow_is_that_of_conductors_in_series() {
    let p = parameters();
    // All neighbours are one spacing away in x or none: at h = 2 spacings the weight is zero.
    let mut state = block([8, 5, 5], |[x, _, _]| x < 4);
    settle(&mut state, &p);
    let (snow, water) = (p.heat.snow_conductivity_w_m_k, p.heat.water_conductivity_w_m_k);
    let interface_m = 6.5 * SPACING_M;
    set_temperature(&mut state, |[x, _, _]| {
        (x - interface_m) / SPACING_M / if x < interface_m { snow } else { water } * 1e4
    });
    let before = [state.solid.temperature_c.clone(), state.fluid.temperature_c.clone()];
    state.conduct(&p);
    for (kind, before) in Kind::ALL.into_iter().zip(before) {
        for (i, before_c) in before.iter().enumerate() {
            let place = state[kind].position[i].map(|x| (x / SPACING_M - 3.0).round());
            // The correction strengthens the pairs of the layer at a free surface, through which no heat
            // flows.
            if (2.0..=5.0).contains(&place[0]) {
                let change_c = state[kind].temperature_c[i] - before_c;
                // A gradient of 16 °C a spacing would change an unbalanced particle by 0.01 °C and more.
                assert!(change_c.abs() < 2e-5, "{kind:?} at {place:?} changes by {change_c} °C");
            }
        }
    }
}

#[test]
fn conduction_keeps_the_heat() {
    let mut p = parameters();
    p.fluid.dt_s = 5e-3;
    let mut state = cloud([200, 200], 11);
    for kind in Kind::ALL {
        state[kind].velocity.fill([0.0; 3]);
    }
    settle(&mut state, &p);
    let before = heat_content(&state, &p.heat);
    let spread = |state: &State| -> f32 {
        Kind::ALL.iter().flat_map(|kind| &state[*kind].temperature_c).map(|t| t * t).sum()
    };
    let rough = spread(&state);
    for _ in 0..100 {
        state.conduct(&p);
    }
    assert!(spread(&state) < 0.5 * rough, "heat flows");
    let capacity = 200.0 * f64::from(p.heat.snow_capacity_j_kg_k + p.heat.water_capacity_j_kg_k);
    let change_c = (heat_content(&state, &p.heat) - before) / capacity;
    // Half an ulp of 30 °C, at random over 400 particles and 100 steps.
    assert!(change_c.abs() < 1e-6, "the mean temperature changed by {change_c} °C");
}

/// A lattice from wall to wall has full neighbourhoods, if walls reflect it: in a box as narrow as three
/// layers, too.
#[test]
fn a_lattice_from_wall_to_wall_needs_no_correction() {
    let mut p = parameters();
    let n = [6, 3, 3];
    p.fluid.domain_max_m = n.map(|n| n as f32 * SPACING_M);
    p.fluid.grid = Grid::covering([0.0; 3], p.fluid.domain_max_m, p.fluid.support_m);
    let at = |i: usize| [i % 6, i / 6 % 3, i / 18].map(|k| (k as f32 + 0.5) * SPACING_M);
    let mut state = solid_and_fluid((0..27).map(at).collect(), (27..54).map(at).collect());
    settle(&mut state, &p);
    for correction in state.correct_conduction(&p).iter().flatten() {
        for (b, exact) in correction.iter().zip([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]) {
            // Rounding of 32 terms, over ε.
            assert!((b - exact).abs() < 1e-3, "{correction:?}");
        }
    }
}

/// Lone particles, pairs and rows have finite corrections.
#[test]
fn corrections_of_few_neighbours_are_finite() {
    let p = parameters();
    for n in 0..4 {
        let at = |k: usize| [(5.0 + k as f32) * SPACING_M, 6.0 * SPACING_M, 6.0 * SPACING_M];
        let mut state = solid_and_fluid((0..n).map(at).collect(), Vec::new());
        settle(&mut state, &p);
        let [snow, water] = state.correct_conduction(&p);
        assert_eq!((snow.len(), water.len()), (n, 0));
        // 1/ε, where there is no neighbour.
        assert!(snow.iter().flatten().all(|b| b.abs() <= 101.5), "{snow:?}");
    }
}

/// Chen2021 eq 6.1 to the letter, summed over all pairs in f64, with the rest density for those of particles.
#[test]
fn the_printed_law_is_the_papers_equation() {
    let mut p = parameters();
    let d_over_h = 1.0 / f64::from(SUPPORT_RATIO);
    p.heat.law = ConductionLaw::Printed;
    p.heat.laplacian_scale = (45.0 / std::f64::consts::PI * d_over_h.powi(3)) as f32;
    p.heat.max_correction = None;
    let mut state = cloud([150, 150], 9);
    settle(&mut state, &p);
    let (h, rest_density) = (f64::from(p.fluid.support_m), f64::from(p.fluid.rest_density_kg_m3));
    let volume_m3 = (d_over_h * h).powi(3);
    let all: Vec<(Kind, [f64; 3], f64)> = Kind::ALL
        .into_iter()
        .flat_map(|kind| {
            let phase = &state[kind];
            let of =
                move |i: usize| (kind, phase.predicted[i].map(f64::from), f64::from(phase.temperature_c[i]));
            (0..phase.len()).map(of).collect::<Vec<_>>()
        })
        .collect();
    let k = |kind: Kind| f64::from(p.heat.conductivity_w_m_k(kind));
    let expected = all.iter().map(|&(kind, x, t)| {
        let sum: f64 = all
            .iter()
            .map(|&(other, y, u)| {
                let r = (0..3).map(|a| (x[a] - y[a]).powi(2)).sum::<f64>().sqrt();
                let laplacian = 45.0 / (std::f64::consts::PI * h.powi(6)) * (h - r).max(0.0);
                volume_m3 * 4.0 * k(kind) * k(other) / (k(kind) + k(other)) * (u - t) * laplacian
            })
            .sum();
        let capacity = f64::from(p.heat.capacity_j_kg_k(kind));
        t + f64::from(p.fluid.dt_s) * sum / (rest_density * capacity)
    });
    let expected: Vec<f64> = expected.collect();
    state.conduct(&p);
    let found = Kind::ALL.into_iter().flat_map(|kind| &state[kind].temperature_c);
    let mut largest_c = 0.0f64;
    for ((found, expected), (.., before)) in found.zip(&expected).zip(&all) {
        largest_c = largest_c.max((expected - before).abs());
        // Some 30 roundings of 60 °C.
        assert!((f64::from(*found) - expected).abs() < 2e-5, "{found} is not {expected} °C");
    }
    assert!(largest_c > 0.02, "heat flows: {largest_c} °C");
}

/// Without rounding nothing is lost: what flows into one particle flows out of another, in a narrow box, too.
#[test]
fn heat_flows_cancel_in_f64() {
    let mut p = parameters();
    // Rounding of some 30 terms of up to 2500 W/(m K) times 60 °C.
    check_that_heat_flows_cancel(&p, 1.0);
    p.fluid.domain_min_m = [8.0 * SPACING_M; 3];
    p.fluid.domain_max_m = [11.5 * SPACING_M; 3];
    // Some 200 terms.
    check_that_heat_flows_cancel(&p, 6.0);
    (p.heat.law, p.heat.max_correction) = (ConductionLaw::Printed, None);
    check_that_heat_flows_cancel(&p, 6.0);
}

fn check_that_heat_flows_cancel(p: &Parameters, rounding_w_m: f64) {
    let mut state = cloud([300, 300], 5);
    settle(&mut state, p);
    let temperature_c =
        Kind::ALL.map(|kind| state[kind].temperature_c.iter().map(|t| f64::from(*t)).collect::<Vec<_>>());
    let truth = Kind::ALL.map(|kind| state.heat_flow(p, kind, &temperature_c));
    let (sum, size) =
        truth.iter().flatten().fold((0.0, 0.0f64), |(sum, size), flow| (sum + flow, size + flow.abs()));
    assert!(size > 1e5, "there is something to cancel");
    assert!(sum.abs() < 1e-14 * size * 600.0, "{sum} of {size} W/m is left");

    let temperature_c = Kind::ALL.map(|kind| state[kind].temperature_c.clone());
    for (kind, truth) in Kind::ALL.into_iter().zip(truth) {
        for (flow, truth) in state.heat_flow(p, kind, &temperature_c).into_iter().zip(truth) {
            assert!((f64::from(flow) - truth).abs() < rounding_w_m, "{flow} is not {truth} W/m");
        }
    }
}

#[test]
fn enthalpy_is_kept_while_snow_melts() {
    let mut p = parameters();
    let latent_j_kg = 20_000.0;
    p.heat.latent_heat = LatentHeat::Enthalpy { latent_j_kg };
    p.fluid.dt_s = 0.02;
    let mut state = block([6, 6, 6], |[x, _, _]| x < 3);
    for kind in Kind::ALL {
        let enthalpy = |t: &f32| p.heat.enthalpy_j_kg(latent_j_kg, kind, *t);
        state[kind].enthalpy_j_kg = state[kind].temperature_c.iter().map(enthalpy).collect();
    }
    // Warm enough to melt some of the snow.
    state.fluid.enthalpy_j_kg.iter_mut().for_each(|h| *h += 100_000.0);
    state.fluid.temperature_c =
        state.fluid.enthalpy_j_kg.iter().map(|h| p.heat.temperature_c(latent_j_kg, *h)).collect();
    let total = |state: &State| -> f64 {
        Kind::ALL.iter().flat_map(|kind| &state[*kind].enthalpy_j_kg).map(|h| f64::from(*h)).sum()
    };
    let before = total(&state);
    for _ in 0..200 {
        state.integrate(&p);
        state.mark_phase_change(&p);
        state.scan_leavers();
        state.migrate();
        state.sort_by_cell(&p);
        state.reorder();
        state.predict(&p);
        state.conduct(&p);
    }
    assert!(state.ledger.melted > 20, "{:?}", state.ledger);
    // Half an ulp of 1e5 J/kg, at random over 216 particles and 200 steps.
    assert!((total(&state) - before).abs() < 4.0, "{} of {before} J/kg", total(&state) - before);
    for kind in Kind::ALL {
        for (temperature_c, h) in state[kind].temperature_c.iter().zip(&state[kind].enthalpy_j_kg) {
            assert_eq!(*temperature_c, p.heat.temperature_c(latent_j_kg, *h));
            let is_snow = kind == Kind::Solid;
            assert!(if is_snow { *temperature_c <= 0.0 || *h > 0.0 } else { *temperature_c >= 0.0 });
        }
    }
}

#[test]
fn temperature_follows_from_enthalpy_and_back() {
    let heat = parameters().heat;
    let latent_j_kg = 333_600.0;
    for (kind, temperature_c) in
        [(Kind::Solid, -40.0), (Kind::Solid, -0.5), (Kind::Fluid, 0.5), (Kind::Fluid, 99.0)]
    {
        let back = heat.temperature_c(latent_j_kg, heat.enthalpy_j_kg(latent_j_kg, kind, temperature_c));
        // An ulp of the latent heat over c.
        assert!((back - temperature_c).abs() < 3e-5, "{back} is not {temperature_c} °C");
    }
    for h in [0.0, 0.5 * latent_j_kg, latent_j_kg] {
        assert_eq!(heat.temperature_c(latent_j_kg, h), heat.freezing_c);
    }
}

/// On the lattice Σ (1 − q)q² at h = 2 spacings is 6 · ½ · ¼ + 12 (1 − √½) · ½ + 8 (1 − √¾) · ¾.
#[test]
fn the_scale_of_the_laplacian_is_the_lattice_sum() {
    let sum: f64 = 0.75 + 6.0 * (1.0 - 0.5f64.sqrt()) + 6.0 * (1.0 - 0.75f64.sqrt());
    assert!((f64::from(Heat::laplacian_scale(f64::from(SUPPORT_RATIO))) - 6.0 / sum).abs() < 1e-6);
}
