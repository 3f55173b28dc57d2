use frazil_reference::bonds::Bond;
use frazil_reference::snow::{Averaging, Kind, Parameters, Springs, State};
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
    p.stretch_stiffness = 0.4;
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

/// Springs of 1/a N/m, of links alone.
fn link_springs(p: &mut Parameters, compliance_m_n: f32) {
    p.contact_distance_m = 0.0;
    let mode = 4.0 * p.fluid.dt_s * p.fluid.dt_s / (p.mass_kg * compliance_m_n);
    p.springs = Springs {
        contact_n_m: 0.0,
        link_n_m: 1.0 / compliance_m_n,
        share: 1.0 / (1.0 + mode),
        ..Springs::default()
    };
}

/// The first iteration takes the force F at the last step's positions; the others approach that of an
/// implicit step, u = −s C̃/(1 + s) on the stretch, by β (1 + s).
#[test]
fn the_displacement_by_a_spring_is_the_closed_form() {
    let mut p = parameters();
    link_springs(&mut p, 2e-3);
    let mut state = solid_and_fluid(vec![at(0.0), at(1.5 * SPACING_M)], vec![]);
    link(&mut state, 0, 1, SPACING_M);
    let along: [f32; 3] = std::array::from_fn(|axis| at(1.0)[axis] - at(0.0)[axis]);
    state.solid.velocity = vec![along.map(|n| -0.5 * n), along.map(|n| 0.5 * n)];
    state.begin_step(&p);
    // Both ends move, so that the stretch has the mode s = 2 k Δt²/m.
    let s = 2.0 * p.fluid.dt_s * p.fluid.dt_s * p.springs.link_n_m / p.mass_kg;
    let (stretch_m, predicted_m) = (0.5 * SPACING_M, 0.5 * SPACING_M + p.fluid.dt_s);
    let (explicit_m, implicit_m) = (s * stretch_m, s / (1.0 + s) * predicted_m);
    for iteration in 0..20 {
        iterate(&mut state, &p, iteration);
        let left = (1.0 - p.springs.share * (1.0 + s)).powi(iteration as i32);
        let expected_m = implicit_m + left * (explicit_m - implicit_m);
        let [own, other] = [state.solid.elastic[0], state.solid.elastic[1]];
        assert_eq!(own, other.map(|u| -u), "opposite at both ends");
        let moved_m = distance(own, other);
        assert!((moved_m - expected_m).abs() < 1e-7, "{own:?} is not half of {expected_m} m");
        let length_m = distance(state.solid.predicted[0], state.solid.predicted[1]);
        assert!((length_m - (SPACING_M + predicted_m - expected_m)).abs() < 1e-7);
    }
}

/// Pulled apart by F, a spring of compliance a rests at F a, for any number of iterations.
#[test]
fn a_spring_under_load_stretches_by_its_compliance() {
    for (iterations, compliance_m_n) in [1u32, 2, 3, 10].into_iter().flat_map(|n| [(n, 2e-4f32), (n, 2e-3)]) {
        let mut p = parameters();
        link_springs(&mut p, compliance_m_n);
        let force_n = 4e-3 / compliance_m_n;
        p.iterations = iterations;
        let mut state = solid_and_fluid(vec![at(0.0), at(SPACING_M)], vec![]);
        link(&mut state, 0, 1, SPACING_M);
        for _ in 0..2000 {
            // Half of the velocity is lost in each step, so that the pair comes to rest.
            let x = &state.solid.position;
            let length_m = distance(x[0], x[1]);
            let pull = |i: usize| {
                let sign = if i == 0 { -1.0 } else { 1.0 };
                std::array::from_fn(|a| {
                    let along = (x[1][a] - x[0][a]) / length_m;
                    0.5 * state.solid.velocity[i][a] + sign * force_n / p.mass_kg * p.fluid.dt_s * along
                })
            };
            state.solid.velocity = vec![pull(0), pull(1)];
            state.step(&p);
        }
        let give_m = distance(state.solid.position[0], state.solid.position[1]) - SPACING_M;
        let expected_m = force_n * compliance_m_n;
        // At rest the spring moves each end by F Δt²/m, 2.5e-4 m at least, to half an ulp of 0.2 m, 7.5e-9
        // m: a share of 3e-5 of the force and so of the stretch, at either end.
        assert!((give_m - expected_m).abs() < 2e-7, "{iterations}: {give_m} is not {expected_m} m");
    }
}

fn linking() -> Option<LinkRule> {
    let limit = LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 };
    Some(LinkRule { radius_m: 2.0 * SPACING_M, link_temperature_c: 0.0, limit, break_ratio: 1.2 })
}

/// Every pair term is antisymmetric: without walls the centre of mass of both phases together stays where it
/// is.
#[test]
fn iterations_and_friction_keep_the_centre_of_mass() {
    let springs = |contact_n_m, link_n_m| Springs { contact_n_m, link_n_m, share: 0.3, ..Springs::default() };
    for (seed, averaging, stretch_stiffness, springs) in [
        (1, Averaging::Pairwise, 0.5, springs(0.0, 0.0)),
        (2, Averaging::Off, 0.1, springs(0.0, 0.0)),
        (3, Averaging::Pairwise, 0.0, springs(0.0, 1e3)),
        (4, Averaging::Off, 0.1, springs(1e3, 0.0)),
        (5, Averaging::Off, 0.0, springs(5e2, 1e3)),
    ] {
        let mut p = parameters();
        (p.averaging, p.stretch_stiffness, p.links, p.springs) =
            (averaging, stretch_stiffness, linking(), springs);
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
