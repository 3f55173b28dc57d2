//! The twin of the interlinks on its own: eq 6.8, rounds against the order of all pairs, breaking by hand, and a checker that
//! notices what it is there for.

use frazil_reference::interlinks::{
    INVALID_INDEX, Link, LinkLimit, LinkRule, Links, Particles, Violation, break_links, build_nearest_first,
    build_reproducible, check_build, check_links, check_maximal, claim_links, count_links, move_links,
};
use proptest::prelude::*;

const RULE: LinkRule = LinkRule {
    radius_m: 0.1,
    link_temperature_c: 0.0,
    limit: LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 },
    break_ratio: 1.2,
};

/// Particles on a line, with ids that fall as places rise.
fn on_a_line(x_m: &[f32], temperature_c: f32) -> Particles {
    Particles {
        position: x_m.iter().map(|x| [*x, 0.0, 0.0]).collect(),
        temperature_c: vec![temperature_c; x_m.len()],
        id: (0..x_m.len() as u32).rev().collect(),
    }
}

fn pairs(links: &Links) -> Vec<(u32, u32)> {
    let ends = |(i, record): (usize, &Vec<Link>)| {
        record.iter().map(|link| (i as u32, link.partner)).collect::<Vec<_>>()
    };
    let mut pairs: Vec<_> = links.records.iter().enumerate().flat_map(ends).filter(|(i, j)| i < j).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn limits_follow_equation_6_8() {
    for (temperature_c, links) in [
        (-100.0, 8),
        (-30.0, 8),
        (-29.0, 8),
        (-28.0, 7),
        (-15.0, 4),
        (-10.0, 3),
        (-1.875, 1),
        (-1.874, 0),
        (0.0, 0),
        (0.1, 0),
        (f32::NEG_INFINITY, 8),
        (f32::MIN, 8),
        (f32::MAX, 0),
        (f32::NAN, 0),
    ] {
        assert_eq!(RULE.link_limit(8, temperature_c), links, "{temperature_c} °C");
    }
    let constant = LinkRule { limit: LinkLimit::Constant(5), link_temperature_c: -4.0, ..RULE };
    for (temperature_c, links) in [(-1e30, 5), (-4.0, 5), (-3.999, 0), (f32::NAN, 0)] {
        assert_eq!(constant.link_limit(8, temperature_c), links, "{temperature_c} °C");
    }
}

#[test]
fn the_nearest_are_linked_first_and_ties_go_to_the_lower_id() {
    let rule = LinkRule { limit: LinkLimit::Constant(1), ..RULE };
    // 1 and 2 are nearest; 0 is then left alone, and 3 too far from 4.
    let particles = on_a_line(&[0.0, 0.06, 0.11, 0.2, 0.35], -10.0);
    let mut links = Links::none(5, 4);
    assert_eq!(build_reproducible(&mut links, &particles, &rule, 9), [1, 0]);
    assert_eq!(pairs(&links), [(1, 2)]);
    // A tie between 0–1 and 1–2: id 0 is at place 2.
    let particles = on_a_line(&[0.0, 0.0625, 0.125], -10.0);
    let mut links = Links::none(3, 4);
    build_reproducible(&mut links, &particles, &rule, 9);
    assert_eq!(pairs(&links), [(1, 2)]);
}

#[test]
fn links_break_by_stretch_by_melting_and_by_the_shrinking_limit() {
    let cold = on_a_line(&[0.0, 0.03, 0.05, 0.09], -30.0);
    let mut links = Links::none(4, 8);
    build_reproducible(&mut links, &cold, &RULE, 9);
    assert_eq!(pairs(&links), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    assert_eq!(break_links(&mut links.clone(), &cold, &RULE), 0);

    // 0.09 → 0.11 m is 1.22 times, 0.06 → 0.08 m is 1.33, 0.04 → 0.06 m is 1.5; the others have not moved.
    let mut stretched = cold.clone();
    stretched.position[3][0] = 0.11;
    let mut broken = links.clone();
    assert_eq!(break_links(&mut broken, &stretched, &RULE), 3);
    assert_eq!(pairs(&broken), [(0, 1), (0, 2), (1, 2)]);

    let mut melting = cold.clone();
    melting.temperature_c[1] = 0.01;
    let mut broken = links.clone();
    assert_eq!(break_links(&mut broken, &melting, &RULE), 3);
    assert_eq!(pairs(&broken), [(0, 2), (0, 3), (2, 3)]);

    // −4 °C leaves one link: particle 0 keeps its shortest, to 1, and loses those to 2 and 3.
    let mut warming = cold;
    warming.temperature_c[0] = -4.0;
    let mut broken = links;
    assert_eq!(break_links(&mut broken, &warming, &RULE), 2);
    assert_eq!(pairs(&broken), [(0, 1), (1, 2), (1, 3), (2, 3)]);
}

#[test]
fn records_move_with_their_particles() {
    let particles = on_a_line(&[0.0, 0.03, 0.05, 0.09], -30.0);
    let mut links = Links::none(4, 8);
    build_reproducible(&mut links, &particles, &RULE, 9);
    let rest = |links: &Links, i: usize, j: u32| {
        links.records[i].iter().find(|link| link.partner == j).map(|link| link.rest_length_m)
    };
    // Particle 1 leaves, a new one comes first, and the rest turns round.
    let moved = move_links(&links, &[INVALID_INDEX, 3, 2, 0]);
    assert_eq!(pairs(&moved), [(1, 2), (1, 3), (2, 3)]);
    assert_eq!(rest(&moved, 1, 2), rest(&links, 3, 2));
    assert_eq!(rest(&moved, 3, 2), rest(&links, 0, 2));
}

fn worlds() -> impl Strategy<Value = (Particles, LinkRule, u32)> {
    let coordinate = prop_oneof![3 => (0u8..4).prop_map(|a| f32::from(a) * 0.0625), 1 => 0.0f32..0.2];
    let particle = (prop::array::uniform3(coordinate), -35.0f32..5.0);
    (prop::collection::vec(particle, 0..40), 1u32..6, prop_oneof![Just(None), (0u32..4).prop_map(Some)])
        .prop_flat_map(|(particles, n_max, constant)| {
            let ids: Vec<u32> = (0..particles.len() as u32).map(|i| 3 * i + 5).collect();
            Just(ids).prop_shuffle().prop_map(move |id| {
                let limit = constant.map_or(RULE.limit, |links| LinkLimit::Constant(links.min(n_max)));
                let particles = Particles {
                    position: particles.iter().map(|(x, _)| *x).collect(),
                    temperature_c: particles.iter().map(|(_, t)| *t).collect(),
                    id,
                };
                (particles, LinkRule { limit, ..RULE }, n_max)
            })
        })
}

proptest! {
    #[test]
    fn rounds_end_in_the_order_of_all_pairs((particles, rule, n_max) in worlds()) {
        let n = particles.position.len();
        let (mut rounds, mut nearest_first) = (Links::none(n, n_max), Links::none(n, n_max));
        let made = build_reproducible(&mut rounds, &particles, &rule, 1000);
        build_nearest_first(&mut nearest_first, &particles, &rule);
        prop_assert_eq!(pairs(&rounds), pairs(&nearest_first));
        prop_assert_eq!(made.iter().sum::<u32>() as usize, pairs(&rounds).len());
        prop_assert_eq!(made.last(), Some(&0));
    }

    #[test]
    fn builds_pass_their_checks((particles, rule, n_max) in worlds()) {
        let n = particles.position.len();
        let none = Links::none(n, n_max);
        let (mut rounds, mut claims) = (none.clone(), none.clone());
        build_reproducible(&mut rounds, &particles, &rule, 1000);
        claim_links(&mut claims, &particles, &rule);
        for links in [rounds, claims] {
            prop_assert_eq!(check_build(&none, &links, &particles, &rule), vec![]);
            prop_assert_eq!(check_maximal(&links, &particles, &rule), vec![]);
            let census = count_links(&links, &particles, &rule);
            prop_assert_eq!((census[0] as usize, census[2]), (pairs(&links).len(), 0));
        }
    }
}

#[test]
fn the_checker_names_every_violation() {
    let particles = on_a_line(&[0.0, 0.03, 0.05, 0.3], -15.0);
    let rule = LinkRule { limit: LinkLimit::Constant(2), ..RULE };
    let mut good = Links::none(4, 4);
    build_reproducible(&mut good, &particles, &rule, 9);
    assert_eq!(pairs(&good), [(0, 1), (0, 2), (1, 2)]);
    let none = Links::none(4, 4);
    let violations = |change: &dyn Fn(&mut Links)| {
        let mut links = good.clone();
        change(&mut links);
        check_build(&none, &links, &particles, &rule)
    };
    let has = |change: &dyn Fn(&mut Links), is: &dyn Fn(&Violation) -> bool| {
        let found = violations(change);
        assert!(found.iter().any(is), "{found:?}");
    };
    assert_eq!(violations(&|_| {}), []);
    let link = |partner, rest_length_m| Link { partner, rest_length_m };
    has(&|l| l.records[0][0].partner = 9, &|v| matches!(v, Violation::NoSuchPartner { partner: 9, .. }));
    has(&|l| l.records[0][0].partner = 0, &|v| matches!(v, Violation::SelfLink { particle: 0 }));
    has(&|l| l.records[0][0] = l.records[0][1], &|v| matches!(v, Violation::Duplicate { particle: 0, .. }));
    has(&|l| l.records[0].truncate(1), &|v| matches!(v, Violation::OneWay { partner: 0, .. }));
    has(&|l| l.records[0][0].rest_length_m = 0.04, &|v| matches!(v, Violation::UnequalLength { .. }));
    has(&|l| l.records[0][0].rest_length_m = f32::NAN, &|v| matches!(v, Violation::Length { .. }));
    has(&|l| l.records[0].push(link(3, 0.1)), &|v| {
        matches!(v, Violation::OverLimit { degree: 3, limit: 2, .. })
    });
    let far = |l: &mut Links| {
        l.records[3].push(link(2, 0.1));
        l.records[2][0] = link(3, 0.1);
    };
    has(&far, &|v| matches!(v, Violation::Ineligible { particle: 3, partner: 2, .. }));
    has(&far, &|v| matches!(v, Violation::Length { particle: 3, .. }));
    let lost = check_build(&good, &none, &particles, &rule);
    assert_eq!(lost.iter().filter(|v| matches!(v, Violation::Lost { .. })).count(), 6);
    assert_eq!(check_maximal(&none, &particles, &rule).len(), 3);
    assert_eq!(check_links(&good, &rule, &[2, 2, 1, 0]).len(), 1);

    let table = |partner: [u32; 4], degree| Links::from_table(2, 2, &partner, &[0.1; 4], degree);
    assert!(table([1, 0, INVALID_INDEX, INVALID_INDEX], &[1, 1]).is_ok());
    let hole = [INVALID_INDEX, 0, 1, INVALID_INDEX];
    assert!(
        matches!(table(hole, &[1, 1]), Err(v) if matches!(v[..], [Violation::Unsettled { particle: 0, .. }]))
    );
    assert!(table([1, 0, INVALID_INDEX, INVALID_INDEX], &[1, 2]).is_err());
}
