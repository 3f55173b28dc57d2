//! Discs that flow out of a flat-bottomed silo: discharge rate against the width of the slot.
//!
//! Beverloo's law (Beverloo, Leniger & van de Velde 1961, Chem. Eng. Sci. 15, 260) for discs is W = C √g (D −
//! k d)^(3/2): grains fall freely from an arch as wide as the slot, independently of the height above it, and
//! those whose centres are nearer to an edge than k d/2 do not pass. For discs k is between 1 and 2 (Mankoc
//! et al. 2007, Granul. Matter 9, 407).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::uniform_bodies::{Motion, Shape, Surface, UniformBody};
use frazil_report::{Mark, Panel, Scale, Series};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::curves::keep_curve;
use frazil_tests::discs::{DEPTH_M, GRAVITY_M_S2, RADIUS_M, loose_rows, section};
use frazil_tests::grains::{Grainpack, dt_s};
use frazil_vk::Device;
use glam::{DMat3, DVec3};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const D: f64 = 2.0 * RADIUS_M;

/// Returns the discharge rates in grains per second through a slot of a width in diameters: while the second
/// to the fifth tenth of the grains pass, and while the next two tenths do.
fn rates(n: usize, slot: f64) -> [f64; 2] {
    let width_m = 22.0 * D;
    let section = section(n as f64 / 22.0);
    let (dt, floor_m) = (dt_s(&section), 12.0 * D);
    let (grains, high_m) = loose_rows(n, width_m, floor_m, 3);
    let pour_s = 2.0 * (2.0 * 0.35 * high_m / GRAVITY_M_S2).sqrt() + 5.0 * (D / GRAVITY_M_S2).sqrt();
    let block = |from_m: f64, to_m: f64, motion: Option<Motion>| UniformBody {
        shape: Shape::Box {
            centre_m: DVec3::new(0.5 * (from_m + to_m), floor_m - D, 0.0),
            size_m: DVec3::new(to_m - from_m, 2.0 * D, 4.0 * DEPTH_M),
            rotation: DMat3::IDENTITY,
        },
        surface: Surface { friction: 0.5, sticky: false },
        motion,
    };
    // The slot's lid moves out across the layer at once.
    let lid = Motion { velocity_m_s: DVec3::new(0.0, 0.0, 1e3), from_s: pour_s, until_s: pour_s + 1.0 };
    let (left, right) = (0.5 * (width_m - slot * D), 0.5 * (width_m + slot * D));
    let bodies = vec![block(-D, left, None), block(right, width_m + D, None), block(left, right, Some(lid))];
    // Discharged grains fall freely, away from the slot.
    let domain = [DVec3::new(0.0, -100.0 * D, 0.0), DVec3::new(width_m, floor_m + 2.0 * high_m, DEPTH_M)];
    let down = DVec3::new(0.0, -GRAVITY_M_S2, 0.0);
    let mut pack = Grainpack::on(DEVICE.clone(), &section, dt, down, domain, bodies, &grains);
    pack.advance((pour_s / dt) as u64);
    let part = (0.2 * (D / GRAVITY_M_S2).sqrt() / dt).ceil() as u64;
    let mut passed = vec![(0.0, 0_usize)];
    while passed.last().unwrap().1 < 7 * n / 10 {
        assert!(passed.len() < 2000, "a slot {slot} diameters wide is blocked: {:?}", passed.last());
        pack.advance(part);
        let n_out = pack.state().grains.iter().filter(|g| g.position.y < floor_m - 2.0 * D).count();
        passed.push((passed.len() as f64 * part as f64 * dt, n_out));
    }
    let when = |share: usize| *passed.iter().find(|(_, n_out)| n_out * 10 >= share * n).unwrap();
    [(1, 5), (5, 7)].map(|(from, to)| {
        let (a, b) = (when(from), when(to));
        (b.1 - a.1) as f64 / (b.0 - a.0)
    })
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn the_discharge_rate_of_a_silo_follows_beverloos_law() {
    let is_full = is_full_run();
    // A slot of four diameters is blocked by an arch eventually.
    let (n, slots): (usize, &[f64]) =
        if is_full { (600, &[5.0, 6.5, 8.0, 10.0]) } else { (340, &[6.0, 8.0, 10.0]) };
    let rates: Vec<[f64; 2]> = slots.iter().map(|&slot| rates(n, slot)).collect();
    // W^(2/3) is linear in D/d with a root at k.
    let points = slots.iter().zip(&rates).map(|(slot, rate)| (*slot, rate[0].powf(2.0 / 3.0)));
    let points: Vec<(f64, f64)> = points.collect();
    let m = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / m, points.iter().map(|p| p.1).sum::<f64>() / m);
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / sxx;
    let k = mx - my / slope;
    let off = points.iter().map(|p| (slope * (p.0 - k) / p.1 - 1.0).abs()).fold(0.0, f64::max);
    // For grains that fall from an arch, C is W/(φ/(π d²/4) √g (D − k d)^(3/2)), where φ = 0.8 is the area
    // fraction of discs.
    let per_area = 0.8 / (0.25 * std::f64::consts::PI * D * D);
    let c = slope.powf(1.5) / (per_area * GRAVITY_M_S2.sqrt() * D.powf(1.5));
    let table: String =
        slots.iter().zip(&rates).map(|(s, r)| format!("{s},{:.1},{:.1}\n", r[0], r[1])).collect();
    eprintln!(
        "{n} grains, D/d, grains a second early and late:\n{table}k = {k:.2}, C = {c:.2}, off by {off:.3}"
    );
    let law = (0..=40).map(|i| 3.0 + 0.225 * f64::from(i)).map(|d| (d, (slope * (d - k).max(0.0)).powf(1.5)));
    let found = slots.iter().zip(&rates).map(|(slot, rate)| (*slot, rate[0])).collect();
    let series = [
        Series::new("silo of discs", Mark::Points, found),
        Series::new(format!("Beverloo, k = {k:.2}, C = {c:.2}"), Mark::Dashes, law.collect()),
    ];
    let panel =
        Panel { x_label: "slot over mean diameter [1]", y_label: "grains out [1/s]", series: &series };
    let header = "slot_over_diameter [1],rate_early [1/s],rate_late [1/s]";
    keep_curve("hopper_rate", header, &table, "Rate at which a silo empties", panel, Scale::Linear);
    assert!((0.5..2.5).contains(&k), "k = {k}\n{table}");
    assert!(off < 0.08, "W^(2/3) is off its line by {off}\n{table}");
    assert!((0.4..1.2).contains(&c), "C = {c}\n{table}");
    // The discharge rate of a liquid is proportional to the root of the height above, and would decrease to
    // 0.76 on average.
    let kept = rates.iter().map(|rate| rate[1] / rate[0]).sum::<f64>() / m;
    assert!((0.82..1.15).contains(&kept), "rates are {kept} of themselves later\n{table}");
    assert_no_validation_messages(&DEVICE);
}
