use frazil_reference::bonds::Bond;
use frazil_reference::snow::{Averaging, Kind, Parameters, State, Stretch};
use frazil_reference::snow::{LinkLimit, LinkRule};

use crate::{SPACING_M, cloud, distance, parameters, solid_and_fluid, total};

const ORIGIN_M: [f32; 3] = [0.2; 3];

/// Returns a point `r_m` from the origin of these tests, in a direction along no axis.
fn at(r_m: f32) -> [f32; 3] {
    std::array::from_fn(|axis| ORIGIN_M[axis] + r_m * [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0][axis])
}

/// Adds a permanent link: made by the tests, never broken and never built.
fn link(state: &mut State, i: usize, j: usize, rest_length_m: f32) {
    state.links.rows[i].push(Bond::new(j as u32, rest_length_m));
    state.links.rows[j].push(Bond::new(i as u32, rest_length_m));
}

fn iterate(state: &mut State, p: &Parameters, iteration: u32) {
    state.compute_lambda(p);
    state.solve(p, iteration);
}

/// Overlaps shrink by 1 − k_bounce ω g each iteration, Chen2021 eq 5.14 with both ends moving by half: snow
/// with snow or water. The distance at which a pair touches grows with α.
#[test]
fn a_collision_of_two_particles_is_the_closed_form() {
    let mut p = parameters();
    p.blend_speed = 0.0;
    for averaging in [Averaging::Pairwise, Averaging::Off] {
        for (with_water, blend) in
            [(false, [1.0, 1.0]), (true, [1.0, 1.0]), (false, [0.9, 0.4]), (true, [0.3, 0.8])]
        {
            p.averaging = averaging;
            let pair = [at(0.0), at(0.25 * SPACING_M)];
            let mut state = if with_water {
                solid_and_fluid(vec![pair[0]], vec![pair[1]])
            } else {
                solid_and_fluid(pair.to_vec(), vec![])
            };
            let blends =
                Kind::ALL.into_iter().flat_map(|kind| (0..state[kind].len()).map(move |i| (kind, i)));
            for ((kind, i), blend) in blends.collect::<Vec<_>>().into_iter().zip(blend) {
                state[kind].blend[i] = blend;
            }
            state.begin_step(&p);
            let gain = blend[0].min(blend[1]);
            let overlap = |state: &State| {
                let x: Vec<_> = state.solid.predicted.iter().chain(&state.fluid.predicted).copied().collect();
                gain * p.contact_distance_m - distance(x[0], x[1])
            };
            let mut expected_m = overlap(&state);
            for iteration in 0..10 {
                iterate(&mut state, &p, iteration);
                expected_m *= 1.0 - p.bounce_stiffness * p.fluid.over_relaxation * gain;
                // Rounding of positions of 0.2 m, ten times.
                assert!((overlap(&state) - expected_m).abs() < 2e-7, "{} {expected_m}", overlap(&state));
            }
        }
    }
}

/// The middle one of three in a row has two contacts and stays; pairwise averaging halves the displacement of
/// the outer ones.
#[test]
fn averaging_divides_by_the_larger_number_of_constraints() {
    let mut p = parameters();
    p.contact_distance_m = 0.6 * SPACING_M;
    for (averaging, gain) in [(Averaging::Pairwise, 0.5), (Averaging::Off, 1.0)] {
        p.averaging = averaging;
        let r_m = 0.5 * SPACING_M;
        let mut state = solid_and_fluid(vec![at(-r_m), at(0.0), at(r_m)], vec![]);
        state.begin_step(&p);
        iterate(&mut state, &p, 0);
        let place = |id: u32| state.solid.id.iter().position(|other| *other == id).unwrap();
        let [left, middle, right] = [0, 1, 2].map(|id| state.solid.predicted[place(id)]);
        assert_eq!([0, 1, 2].map(|id| state.solid.contact[place(id)]), [[1.0, 1.0], [1.0, 2.0], [1.0, 1.0]]);
        let moved_m = 0.5 * p.bounce_stiffness * p.fluid.over_relaxation * gain * 0.1 * SPACING_M;
        assert!(distance(middle, at(0.0)) < 3e-8);
        for side in [left, right] {
            assert!((distance(side, middle) - (r_m + moved_m)).abs() < 5e-8);
        }
    }
}

/// n_i: snow counts snow and water that it touches and its links, water counts the snow that it touches; at
/// least one.
#[test]
fn contacts_and_links_are_counted() {
    let mut p = parameters();
    p.links = linking();
    let mut state = cloud([150, 150], 13);
    state.begin_step(&p);
    state.compute_lambda(&p);
    let mut max = [0, 0];
    for kind in Kind::ALL {
        for i in 0..state[kind].len() {
            let touched = |other: Kind| {
                let x = state[kind].predicted[i];
                let within = |y: &[f32; 3]| distance(x, *y) < p.contact_distance_m;
                state[other].predicted.iter().filter(|y| within(y)).count()
            };
            let n = match kind {
                // The particle itself is one of those that are so close.
                Kind::Solid => touched(Kind::Solid) - 1 + touched(Kind::Fluid) + state.links.rows[i].len(),
                Kind::Fluid => touched(Kind::Solid),
            };
            max[kind as usize] = n.max(max[kind as usize]);
            assert_eq!(state[kind].contact[i], [state[kind].blend[i], n.max(1) as f32]);
        }
    }
    assert!(max[0] > 10 && max[1] > 3, "{max:?}");
}

/// One particle on the floor and one above it that overlaps: each iteration the floor takes back what contact
/// presses into it.
#[test]
fn walls_push_by_what_they_confine_in_all_iterations() {
    let p = parameters();
    let overlap_m = 0.3 * SPACING_M;
    let floor_m = p.fluid.clearance_m;
    // Below the floor in prediction: predict pushes first.
    let pair = vec![[0.2, floor_m, 0.2], [0.2, floor_m + SPACING_M - overlap_m, 0.2]];
    let mut state = solid_and_fluid(pair, vec![]);
    state.solid.velocity[0] = [0.0, -1.0, 0.0];
    state.begin_step(&p);
    let share = 0.5 * p.bounce_stiffness * p.fluid.over_relaxation;
    let (mut left_m, mut expected_m) = (overlap_m, p.fluid.dt_s);
    for iteration in 0..5 {
        iterate(&mut state, &p, iteration);
        expected_m += share * left_m;
        left_m *= 1.0 - share;
        let lower = state.solid.id.iter().position(|id| *id == 0).unwrap();
        let [x, y, z] = state.solid.push[lower];
        assert_eq!([x, z], [0.0, 0.0]);
        assert!((y - expected_m).abs() < 1e-7, "{y} is not {expected_m} m");
    }
}

/// Stretch shrinks by 1 − k_stretch ω g each iteration (Chen2021 eq 5.12), and compression likewise.
#[test]
fn a_stretched_pair_is_the_closed_form() {
    let mut p = parameters();
    (p.blend_speed, p.contact_distance_m) = (0.0, 0.0);
    p.stretch = Stretch::Stiffness(0.4);
    for averaging in [Averaging::Pairwise, Averaging::Off] {
        for (length_m, blend) in [(1.3 * SPACING_M, 1.0), (0.7 * SPACING_M, 1.0), (3.0 * SPACING_M, 0.5)] {
            p.averaging = averaging;
            let mut state = solid_and_fluid(vec![at(0.0), at(length_m)], vec![]);
            state.solid.blend[1] = blend;
            link(&mut state, 0, 1, SPACING_M);
            state.begin_step(&p);
            let mut expected_m = length_m - SPACING_M;
            for iteration in 0..10 {
                iterate(&mut state, &p, iteration);
                expected_m *= 1.0 - 0.4 * p.fluid.over_relaxation * blend;
                let stretch_m = distance(state.solid.predicted[0], state.solid.predicted[1]) - SPACING_M;
                assert!((stretch_m - expected_m).abs() < 2e-7, "{stretch_m} {expected_m}");
            }
        }
    }
}

/// XPBD leaves −C − α̃ λ to be solved, and takes the share ω g of it each iteration.
#[test]
fn the_multiplier_of_a_compliant_pair_is_the_closed_form() {
    let mut p = parameters();
    p.contact_distance_m = 0.0;
    let compliance_m_n = 2e-5;
    p.stretch = Stretch::Compliance(compliance_m_n);
    let mut state = solid_and_fluid(vec![at(0.0), at(1.5 * SPACING_M)], vec![]);
    link(&mut state, 0, 1, SPACING_M);
    state.begin_step(&p);
    let (w, compliance) = (1.0 / p.mass_kg, compliance_m_n / (p.fluid.dt_s * p.fluid.dt_s));
    let unsatisfied_m = -0.5 * SPACING_M;
    for iteration in 0..20 {
        iterate(&mut state, &p, iteration);
        let done = 1.0 - (1.0 - p.fluid.over_relaxation).powi(iteration as i32 + 1);
        let expected = done * unsatisfied_m / (2.0 * w + compliance);
        let [own, other] = [state.multiplier[0][0], state.multiplier[1][0]];
        assert_eq!(own.to_bits(), other.to_bits(), "both ends come to the same");
        assert!((own / expected - 1.0).abs() < 1e-4, "{own} is not {expected} kg m");
        let stretch_m = distance(state.solid.predicted[0], state.solid.predicted[1]) - SPACING_M;
        assert!((stretch_m - (0.5 * SPACING_M + 2.0 * w * expected)).abs() < 3e-7);
    }
}

/// Pulled apart by F, a spring of compliance a rests at C = F (a + 2Δt²/m (1 − s))/s, with s = 1 − (1 − ω)^N
/// the share of a step that N iterations solve: at F a, and how far from it falls with N as (1 − ω)^N.
#[test]
fn a_spring_under_load_stretches_by_its_compliance() {
    let mut p = parameters();
    p.contact_distance_m = 0.0;
    let (compliance_m_n, force_n) = (2e-4f32, 20.0f32);
    p.stretch = Stretch::Compliance(compliance_m_n);
    let dt2 = p.fluid.dt_s * p.fluid.dt_s;
    let mut gives = Vec::new();
    for iterations in [1, 3, 10, 20] {
        p.iterations = iterations;
        let mut state = solid_and_fluid(vec![at(0.0), at(SPACING_M)], vec![]);
        link(&mut state, 0, 1, SPACING_M);
        for _ in 0..2000 {
            // The system starts from rest each step: only the load moves it, and only equilibrium stays in
            // place.
            let x = &state.solid.position;
            let length_m = distance(x[0], x[1]);
            let pull = |sign: f32| {
                std::array::from_fn(|a| {
                    sign * force_n / p.mass_kg * p.fluid.dt_s * (x[1][a] - x[0][a]) / length_m
                })
            };
            state.solid.velocity = vec![pull(-1.0), pull(1.0)];
            state.step(&p);
        }
        let give_m = distance(state.solid.position[0], state.solid.position[1]) - SPACING_M;
        let solved = 1.0 - (1.0 - p.fluid.over_relaxation).powi(iterations as i32);
        let expected_m = force_n * (compliance_m_n + 2.0 * dt2 / p.mass_kg * (1.0 - solved)) / solved;
        assert!(
            (give_m / expected_m - 1.0).abs() < 2e-3,
            "{iterations} iterations: {give_m} is not {expected_m} m"
        );
        gives.push(give_m);
    }
    assert!((gives[3] / (force_n * compliance_m_n) - 1.0).abs() < 2e-3, "{gives:?}");
    assert!((gives[2] / gives[3] - 1.0).abs() < 2.0 * 0.5f32.powi(10) + 1e-3, "{gives:?}");
}

fn linking() -> Option<LinkRule> {
    let limit = LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 };
    Some(LinkRule { radius_m: 2.0 * SPACING_M, link_temperature_c: 0.0, limit, break_ratio: 1.2 })
}

/// Every pair term is antisymmetric: without walls the centre of mass of both phases together stays where it
/// is.
#[test]
fn iterations_and_friction_keep_the_centre_of_mass() {
    for (seed, averaging, stretch) in [
        (1, Averaging::Pairwise, Stretch::Stiffness(0.5)),
        (2, Averaging::Off, Stretch::Stiffness(0.1)),
        (3, Averaging::Pairwise, Stretch::Compliance(1e-5)),
        (4, Averaging::Off, Stretch::Compliance(1e-3)),
    ] {
        let mut p = parameters();
        (p.averaging, p.stretch, p.links) = (averaging, stretch, linking());
        p.fluid.pressure_strength = 0.001;
        p.link_rounds = 3;
        let mut state = cloud([250, 250], seed);
        state.begin_step(&p);
        let n_links = state.links.rows.iter().flatten().count() / 2;
        assert!(n_links > 100, "{n_links} links are too few to see anything");
        let start = state.clone();
        let before = total(&state, |phase| &phase.predicted);
        for iteration in 0..p.iterations {
            iterate(&mut state, &p, iteration);
        }
        let between = state.clone();
        state.friction(&p);
        let after = total(&state, |phase| &phase.predicted);
        let travelled = |a: &State, b: &State| -> f32 {
            let of = |kind: Kind| {
                a[kind].predicted.iter().zip(&b[kind].predicted).map(|(a, b)| distance(*a, *b)).sum::<f32>()
            };
            of(Kind::Solid) + of(Kind::Fluid)
        };
        assert!(
            travelled(&start, &between) > 0.1 * SPACING_M * 500.0 / 10.0,
            "{}",
            travelled(&start, &between)
        );
        assert!(
            travelled(&between, &state) > 1e-4,
            "friction moves something: {}",
            travelled(&between, &state)
        );
        for (a, b) in after.iter().zip(before) {
            // Half an ulp of positions of 0.2 m, at random over 500 particles and four corrections.
            assert!((a - b).abs() < 1.5e-6, "the particles moved by {} m on the whole", a - b);
        }
    }
}

/// Chen2021 eq 6.6: a particle that is entirely snow does not obey the density constraint; one that has just
/// frozen obeys nothing else.
#[test]
fn blending_replaces_the_density_constraint_by_contacts() {
    let mut p = parameters();
    p.blend_speed = 0.0;
    let frozen = cloud([300, 0], 9);
    for (alpha, is_like_water) in [(0.0, true), (1.0, false)] {
        let mut snow = frozen.clone();
        snow.solid.blend.fill(alpha);
        snow.solid.temperature_c.fill(-1.0);
        let mut water = solid_and_fluid(vec![], frozen.solid.position.clone());
        water.fluid.velocity.clone_from(&frozen.solid.velocity);
        if !is_like_water {
            p.bounce_stiffness = 0.0;
        }
        for state in [&mut snow, &mut water] {
            state.begin_step(&p);
        }
        let start = snow.solid.predicted.clone();
        for state in [&mut snow, &mut water] {
            iterate(state, &p, 0);
        }
        if is_like_water {
            assert_eq!(snow.solid.predicted, water.fluid.predicted);
            assert_ne!(start, snow.solid.predicted);
        } else {
            assert_eq!(snow.solid.predicted, start);
        }
        assert!(snow.solid.density.iter().all(|rho| *rho == 0.0), "left as it was");
    }
}

/// Snow and water press on one another: water counts snow as water, and both give way.
#[test]
fn snow_contributes_to_the_density_of_water_which_pushes_it() {
    let mut p = parameters();
    (p.contact_distance_m, p.fluid.volume_h3) = (0.0, 0.5);
    let mut state = solid_and_fluid(vec![at(0.0)], vec![at(0.5 * SPACING_M)]);
    state.begin_step(&p);
    iterate(&mut state, &p, 0);
    assert!(state.fluid.density[0] > p.fluid.rest_density_kg_m3);
    assert_eq!(state.solid.constraint[0][3], 0.0);
    let [snow_m, water_m] = [state.solid.predicted[0], state.fluid.predicted[0]];
    let moved = [distance(snow_m, at(0.0)), distance(water_m, at(0.5 * SPACING_M))];
    assert!(moved[0] > 1e-4 && (moved[0] - moved[1]).abs() < 5e-8, "{moved:?}");
    assert!(distance(snow_m, water_m) > 0.5 * SPACING_M, "apart");
}
