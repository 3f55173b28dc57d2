//! Attraction between grains of a flow down a slope: thickness, clumps and run-out over the cohesion number,
//! the ratio of the attraction of two grains to the weight of one.
//!
//! Gucer2010 (section 3.1.2) calls attraction the key factor for flowing bulks of snow, which holds lumps
//! together that can dissolve and reunite, and gives no measurement.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::Grain;
use frazil_report::{Mark, Panel, Scale, Series};
use frazil_scene::Scene;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::curves::keep_curve;
use frazil_tests::scene_grains::SceneGrains;
use frazil_vk::Device;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const RADIUS_M: f64 = 0.3;
const DENSITY_KG_M3: f64 = 400.0;

/// Gap in m up to which grains belong to one clump: the range of their attraction.
const RANGE_M: f64 = 0.1 * RADIUS_M;

/// Flow of one cohesion number.
#[derive(Clone, Copy, Debug)]
struct Measured {
    cohesion: f64,
    /// Mean thickness in m perpendicular to the ground while it flows: twice the mean distance of grains from
    /// it.
    thickness_m: f64,
    /// Mean number of clumps while it flows, a single grain counted as one.
    clumps: f64,
    /// Horizontal distance in m that the centre of mass has moved at the end, and the position of the front,
    /// behind nine tenths of the grains.
    run_out_m: f64,
    front_m: f64,
}

/// Returns the number of clumps.
fn clumps(grains: &[Grain]) -> usize {
    let mut parent: Vec<usize> = (0..grains.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut n = grains.len();
    for i in 0..grains.len() {
        for j in 0..i {
            let reach = grains[i].radius + grains[j].radius + RANGE_M;
            if grains[i].position.distance_squared(grains[j].position) < reach * reach {
                let (a, b) = (root(&mut parent, i), root(&mut parent, j));
                if a != b {
                    parent[a] = b;
                    n -= 1;
                }
            }
        }
    }
    n
}

/// Releases snow on a slope of 35° that runs out on level ground.
fn flow(cohesion: f64, width_m: f64, seed: u64) -> Measured {
    let weight_n = 4.0 / 3.0 * std::f64::consts::PI * RADIUS_M.powi(3) * DENSITY_KG_M3 * 9.81;
    let (low, high) = (10.0 - 0.5 * width_m, 10.0 + 0.5 * width_m);
    let text = format!(
        "version = 1\nname = \"cohesion\"\nup_axis = \"z\"\nseed = {seed}\n\
         [time]\ndt_s = \"auto\"\nduration_s = 10.0\n[solver]\nkind = \"dem\"\n\
         [dem]\nradius_m = {RADIUS_M}\nradius_spread = 0.1\ndensity_kg_m3 = {DENSITY_KG_M3}\n\
         normal_stiffness_n_m = 5e5\nrestitution = 0.3\nfriction = 0.4\nrolling_friction = 0.2\n\
         cohesion_n = {}\n\
         [terrain]\ngenerated.hockey_stick = {{ size_m = [160.0, 20.0], cell_m = 1.0, slope_deg = 35.0, \
         run_out_m = 100.0, transition_radius_m = 20.0 }}\n\
         [domain]\nmin_m = [0.0, 0.0, -1.0]\nmax_m = [160.0, 20.0, 60.0]\n\
         [[dem.releases]]\npolygon_m = [[4.0, {low}], [12.0, {low}], [12.0, {high}], [4.0, {high}]]\n\
         thickness_m = 2.0\n",
        cohesion * weight_n,
    );
    let scene = Scene::parse(&text, "cohesion", &[]).unwrap();
    let duration_s = scene.time.duration_s;
    let ground = scene.ground().unwrap().clone();
    let mut grains = SceneGrains::new(&DEVICE, scene);
    let mean = |of: &dyn Fn(&Grain) -> f64, grains: &[Grain]| {
        grains.iter().map(of).sum::<f64>() / grains.len() as f64
    };
    let start_m = mean(&|g| g.position.x, &grains.grains());
    let (mut thickness_m, mut n_clumps, mut n_frames) = (0.0, 0.0, 0.0);
    const FRAMES: u64 = 40;
    let steps = grains.steps(duration_s) / FRAMES;
    for frame in 1..=FRAMES {
        grains.advance(steps);
        // From 1 s to 4 s it is on its way.
        let time_s = duration_s * frame as f64 / FRAMES as f64;
        if (1.0..=4.0).contains(&time_s) {
            let now = grains.grains();
            let above = |g: &Grain| ground.distance_m(g.position.to_array()).unwrap_or(0.0);
            thickness_m += 2.0 * mean(&above, &now);
            n_clumps += clumps(&now) as f64;
            n_frames += 1.0;
        }
    }
    let end = grains.grains();
    let mut places: Vec<f64> = end.iter().map(|g| g.position.x).collect();
    places.sort_by(f64::total_cmp);
    let measured = Measured {
        cohesion,
        thickness_m: thickness_m / n_frames,
        clumps: n_clumps / n_frames,
        run_out_m: mean(&|g| g.position.x, &end) - start_m,
        front_m: places[places.len() * 9 / 10],
    };
    eprintln!("{} grains: {measured:.2?}", end.len());
    measured
}

/// Writes one quantity over the cohesion number, relative to its value without cohesion.
fn draw(found: &[Measured], table: &str) {
    let of = |of: &dyn Fn(&Measured) -> f64| {
        let relative = |m: &Measured| (m.cohesion, of(m) / of(&found[0]));
        found[1..].iter().map(relative).collect::<Vec<_>>()
    };
    let series = [
        Series::new("thickness", Mark::Line, of(&|m| m.thickness_m)),
        Series::new("number of clumps", Mark::Line, of(&|m| m.clumps)),
        Series::new("run-out of the centre of mass", Mark::Line, of(&|m| m.run_out_m)),
    ];
    let panel = Panel {
        x_label: "cohesion number: attraction over weight [1]",
        y_label: "over its value without attraction [1]",
        series: &series,
    };
    let header = "cohesion_number [1],thickness [m],clumps [1],run_out [m],front [m]";
    keep_curve("cohesion", header, table, "A flow with attraction between grains", panel, Scale::Logarithmic);
}

/// Attraction of a few weights makes a flow thick, holds it together, and stops it earlier.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn attraction_thickens_a_flow_joins_its_clumps_and_shortens_its_run_out() {
    let (numbers, width_m, seeds): (&[f64], f64, u64) = if is_full_run() {
        (&[0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0], 4.0, 2)
    } else {
        (&[0.0, 0.3, 3.0], 3.0, 1)
    };
    let each = |cohesion: f64| {
        let runs: Vec<Measured> = (1..=seeds).map(|seed| flow(cohesion, width_m, seed)).collect();
        let mean = |of: &dyn Fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Measured {
            cohesion,
            thickness_m: mean(&|m| m.thickness_m),
            clumps: mean(&|m| m.clumps),
            run_out_m: mean(&|m| m.run_out_m),
            front_m: mean(&|m| m.front_m),
        }
    };
    let found: Vec<Measured> = numbers.iter().map(|number| each(*number)).collect();
    assert_no_validation_messages(&DEVICE);
    let row = |m: &Measured| {
        format!("{},{:.2},{:.1},{:.1},{:.1}\n", m.cohesion, m.thickness_m, m.clumps, m.run_out_m, m.front_m)
    };
    let table: String = found.iter().map(row).collect();
    eprintln!("cohesion number, thickness, clumps, run-out, front:\n{table}");
    draw(&found, &table);
    // Without attraction, at the number of 3, and the trend between.
    let at = |number: f64| *found.iter().find(|m| m.cohesion == number).unwrap();
    let (none, some, strong) = (at(0.0), at(0.3), at(3.0));
    assert!(strong.thickness_m > 1.4 * none.thickness_m, "{table}");
    assert!(strong.clumps < 0.2 * none.clumps && some.clumps < none.clumps, "{table}");
    assert!(strong.run_out_m < 0.9 * none.run_out_m, "{table}");
    assert!(strong.front_m < some.front_m.max(none.front_m), "{table}");
}
