//! Scenes of grains through the command line.

use crate::resume::{assert_same_results, run_whole_and_broken};
use crate::tool::{SMALL_PICTURES, command, picture, state_hash, stderr, succeed};
use frazil_io::{MetricsTable, Recording, RunInfo};
use frazil_report::RunOut;
use frazil_scene::{FlowQuantity, Terrain};
use std::path::Path;
use std::process::Command;

/// A few hundred grains above trees and a house, with small pictures.
const SMALL: &[&str] =
    &["slope_obstacle", "--set", "scale=0.4", "--set", "render.width_px=160", "--set", "render.height_px=90"];

/// Slabs of fewer pieces above fewer grains.
pub const SLABS: &[&str] = &[
    "avalanche_slabs",
    "--set",
    "scale=0.4",
    "--set",
    "dem.slabs.0.shape.plate.pieces=[2,12]",
    "--set",
    "render.width_px=160",
    "--set",
    "render.height_px=90",
];

/// Runs `frazil run` of the small scene into `out`, with additional `arguments`.
fn run(out: &Path, arguments: &[&str]) -> Command {
    command(&[&["run"], SMALL, &["--quiet", "--out", out.to_str().unwrap()], arguments].concat())
}

#[test]
fn every_scene_of_grains_keeps_its_invariants_and_is_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    for scene in
        ["column_collapse", "hopper", "slope_obstacle", "avalanche", "avalanche_slabs", "slab_release"]
    {
        let run = |name: &str| {
            let out = folder.path().join(name);
            let plan = ["--steps", "60", "--check", "20", "--metrics", "20", "--render", "never", "--quiet"];
            let into = ["--record", "never", "--set", "scale=0.5", "--out", out.to_str().unwrap()];
            succeed(&mut command(&[&["run", scene], &plan[..], &into].concat()));
            let metrics = MetricsTable::read(&out.join("metrics.csv")).unwrap();
            assert_eq!(metrics.column("step").unwrap(), [0.0, 20.0, 40.0, 60.0], "{scene}");
            for fault in ["n_not_finite", "n_outside"] {
                assert_eq!(metrics.column(fault).unwrap(), [0.0; 4], "{scene}: {fault}");
            }
            // It falls.
            let potential = metrics.column("potential_energy").unwrap();
            assert!(potential[3] < potential[0], "{scene}: {potential:?}");
            state_hash(&out)
        };
        let hash = run(scene);
        // The scene with every kernel of the others. `frazil validate bits` has all in the long run.
        if scene == "avalanche_slabs" || frazil_testkit::is_full_run() {
            assert_eq!(hash, run(&format!("{scene} again")), "{scene}");
        }
    }
}

/// Surface, spray and powder of a picture are those of its state: a recording shows the same.
#[test]
fn pictures_with_powder_are_those_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let plan = ["--steps", "240", "--render", "80", "--record", "80", "--record-columns", "velocity"];
    let fast = ["--scheme", "surface", "--set", "dem.releases.0.velocity_m_s=[14,0,0]"];
    let [out, without] = ["run", "without"].map(|name| folder.path().join(name));
    succeed(&mut run(&out, &[&plan[..], &fast].concat()));
    let none = ["--set", "render.powder.suspended_share=0"];
    succeed(&mut run(&without, &[&plan[..], &fast, &none].concat()));
    let (recording, played) = (out.join("recording.frazil-rec"), folder.path().join("played"));
    let arguments = ["play", recording.to_str().unwrap(), "--quiet", "--out", played.to_str().unwrap()];
    std::fs::create_dir(&played).unwrap();
    succeed(&mut command(&arguments));
    for i in 0..4 {
        let name = format!("frame_{i:06}.png");
        let shown = picture(&out.join("frames").join(&name)).2;
        assert!(shown == picture(&played.join(&name)).2, "picture {i}");
        assert!(shown != picture(&without.join("frames").join(&name)).2, "picture {i} has no powder");
    }
}

#[test]
fn a_resumed_run_of_grains_ends_with_the_bits_of_an_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let bonds = "dem.bonds={strength_n=5,form_below_m_s=0.5,at_start=true}";
    let frozen = ["hopper", "--set", "scale=0.5", "--set", bonds, "--set", "dem.rolling_friction=0.2"];
    let frozen = [&frozen[..], &SMALL_PICTURES].concat();
    // Slabs lie on grains above obstacles and a terrain with rasters, as in the plain scene.
    let mut scenes = vec![("frozen", &frozen[..]), ("slabs", SLABS)];
    if frazil_testkit::is_full_run() {
        scenes.push(("plain", SMALL));
    }
    for (name, scene) in scenes {
        let [whole, broken] = run_whole_and_broken(&folder.path().join(name), |out, arguments| {
            let into = ["--quiet", "--out", out.to_str().unwrap()];
            // Capacities determine no result: a run is resumed with others.
            let is_resumed = arguments.contains(&"--resume");
            let more_rows: &[&str] = if is_resumed { &["--set", "dem.contacts_per_grain=13.0"] } else { &[] };
            succeed(&mut command(&[&["run"], scene, more_rows, &into, arguments].concat()));
        });
        assert_same_results(&whole, &broken);
        assert_eq!(whole.join("arrival_time.asc").is_file(), name != "frozen", "{name}");
        if name != "frozen" {
            assert_same_rasters(&whole, &broken);
        }
        if name == "frozen" {
            let metrics = MetricsTable::read(&whole.join("metrics.csv")).unwrap();
            let bonds = metrics.column("bonds_per_grain").unwrap();
            assert!(bonds[0] > 1.0, "{bonds:?}");
        }
    }
}

#[test]
fn a_flow_on_a_terrain_leaves_its_rasters_and_its_front() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run(folder.path(), &["--time", "0.5", "--record", "0.1 s", "--render", "never"]));
    let table = MetricsTable::read(&folder.path().join("flow.csv")).unwrap();
    let (run_out, height) = (table.column("run_out").unwrap(), table.column("front_height").unwrap());
    assert_eq!(run_out.len(), 6);
    assert_eq!(run_out[0], 0.0);
    // It starts at rest and moves down a slope of some 30 degrees: g/2 t² sin θ is at most 0.6 m.
    assert!(run_out[5] > 0.05 && run_out[5] < 0.7, "{run_out:?}");
    assert!(height.windows(2).all(|pair| pair[1] <= pair[0] + 0.01), "{height:?}");
    let [deposit, peak, speed, pressure, arrival] =
        FlowQuantity::ALL.map(|quantity| raster(folder.path(), &format!("{}.asc", quantity.name())));
    let pairs = deposit.map_heights_m().iter().zip(peak.map_heights_m());
    assert!(pairs.clone().all(|(now, max)| now <= max) && pairs.clone().any(|(now, _)| *now > 0.1));
    assert!(speed.map_heights_m().iter().any(|v| *v > 0.5));
    for (speed, pressure) in speed.map_heights_m().iter().zip(pressure.map_heights_m()) {
        // Snow of 270 kg/m³; the pressure is rounded to f32.
        assert!((pressure - 0.27 * speed * speed).abs() <= 1e-6 * pressure, "{pressure} kPa at {speed} m/s");
    }
    let arrivals = arrival.map_heights_m().iter().zip(peak.map_heights_m());
    assert!(arrivals.clone().all(|(arrival, peak)| arrival.is_nan() == (*peak == 0.0)));
    let later: Vec<f64> = arrival.map_heights_m().iter().copied().filter(|t| *t > 0.0).collect();
    assert!(!later.is_empty() && later.iter().all(|t| *t <= 0.5), "{later:?}");
    assert_run_out(folder.path(), &deposit, &peak);
}

/// Checks the run-out of half a second down a plane of 35° from a release between x = 2 m and x = 9 m, and
/// its maps.
fn assert_run_out(folder: &Path, deposit: &Terrain, peak: &Terrain) {
    let found: RunOut = frazil_io::json::read_version(&folder.join("runout.json"), "runout.json", 1).unwrap();
    let report = RunInfo::read(&folder.join("run.json")).unwrap();
    assert_eq!(report.run_out.unwrap(), serde_json::to_value(&found).unwrap());
    assert!((found.simulated_time_s - 0.5).abs() < 1e-3 && found.projection.is_none(), "{found:?}");
    let area_m2 = |terrain: &Terrain| {
        let thick = terrain.map_heights_m().iter().filter(|t| **t > 0.1).count();
        thick as f64 * terrain.cell_m() * terrain.cell_m()
    };
    // The deposit covers cells that the connected flow affected.
    assert!(found.affected_area_m2 <= area_m2(peak) && found.affected_area_m2 > 0.9 * area_m2(peak));
    assert_eq!(found.deposit.area_m2, area_m2(deposit));
    // 6 900 grains of 0.1 m and 500 kg/m³ of a radius spread of 10 %, and of 270 kg/m³ with their pores.
    let mass_kg = 500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 1.01 * report.n_particles as f64;
    assert!((found.release.mass_kg / mass_kg - 1.0).abs() < 0.02, "{} {mass_kg}", found.release.mass_kg);
    assert!((found.release.volume_m3 * 270.0 / found.release.mass_kg - 1.0).abs() < 1e-9);
    assert!(found.deposit.volume_m3 <= found.release.volume_m3 * 1.001);
    let (reach, top) = (&found.run_out, &found.release.top);
    // Scaled by 0.4: from x = 0.8 m to x = 3.6 m, and up to 0.7 m beyond.
    assert!((0.6..1.4).contains(&top.easting_m) && (3.2..4.5).contains(&reach.end.easting_m), "{found:?}");
    assert!((reach.drop_m - (top.height_m - reach.end.height_m)).abs() < 1e-9);
    assert!((reach.alpha_deg - 35.0).abs() < 4.0, "{reach:?}");
    assert!((reach.length_m / reach.straight_m - 1.0).abs() < 0.1, "{reach:?}");
    let path = MetricsTable::read(&folder.join("flow_path.csv")).unwrap();
    assert!((path.column("distance").unwrap().last().unwrap() - reach.length_m).abs() < 1e-9);

    let drawn = picture(&folder.join("map.png"));
    let again = folder.join("again");
    let again = again.to_str().unwrap();
    let export = |quantity: &str| {
        let from = folder.to_str().unwrap();
        succeed(&mut command(&["export", from, "--map", quantity, "--overwrite", "--out", again]));
        picture(&Path::new(again).join(format!("map_{quantity}.png")))
    };
    assert!(export("peak_thickness") == drawn, "the same picture when drawn again");
    assert!(export("peak_speed").2 != drawn.2);
}

fn raster(folder: &Path, name: &str) -> Terrain {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    Terrain::from_ascii_grid(&text).unwrap()
}

fn assert_same_rasters(first: &Path, second: &Path) {
    let names = FlowQuantity::ALL.map(FlowQuantity::name);
    for name in names.iter().flat_map(|name| ["asc", "tif"].map(|extension| format!("{name}.{extension}"))) {
        let [first, second] = [first, second].map(|folder| std::fs::read(folder.join(&name)).unwrap());
        assert!(first == second, "{name} differs");
    }
}

/// Returns the maximum over every `every`-th frame of the mean speed over each cell in m/s, weighted by
/// volume.
fn peak_speed_of_frames(folder: &Path, grid: &Terrain, every: usize) -> Vec<f64> {
    let mut recording = Recording::open(&folder.join("recording.frazil-rec")).unwrap();
    let n = grid.n_columns() * grid.n_rows();
    let mut peaks = vec![0.0_f64; n];
    for index in (0..recording.len()).step_by(every) {
        let frame = recording.frame(index).unwrap();
        let mut sums = vec![[0.0; 2]; n];
        let columns = frame.vec3("position").unwrap().iter().zip(frame.vec3("velocity").unwrap());
        for ((position, velocity), radius) in columns.zip(frame.f32("radius").unwrap()) {
            // The cells are half a metre wide, whose inverse is exact.
            let place = |x: f32| (x * (1.0 / grid.cell_m()) as f32 + 0.5).floor() as usize;
            let volume = f64::from(*radius).powi(3);
            let speed = velocity.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            let sum = &mut sums[place(position[1]) * grid.n_columns() + place(position[0])];
            *sum = [sum[0] + volume, sum[1] + volume * speed];
        }
        for (peak, [volume, flux]) in peaks.iter_mut().zip(&sums).filter(|(_, [volume, _])| *volume > 0.0) {
            *peak = peak.max(flux / volume);
        }
    }
    peaks
}

#[test]
fn rasters_of_a_flow_hold_every_step_whether_it_is_recorded_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let [every, rarely, never] = ["every", "rarely", "never"].map(|name| folder.path().join(name));
    let plan = ["--render", "never", "--metrics", "never"];
    let run = |out: &Path, arguments: &[&str]| succeed(&mut run(out, &[&plan[..], arguments].concat()));
    run(&every, &["--record", "1", "--steps", "800"]);
    run(&rarely, &["--record", "200", "--steps", "800"]);
    // Not recorded, and in two parts.
    run(&never, &["--record", "never", "--steps", "333", "--checkpoint", "333"]);
    let checkpoint = never.join("checkpoint.frazil-ckpt");
    run(&never, &["--record", "never", "--steps", "800", "--resume", checkpoint.to_str().unwrap()]);
    for other in [&rarely, &never] {
        assert_same_rasters(&every, other);
    }
    assert!(!never.join("flow.csv").exists() && rarely.join("flow.csv").is_file());

    let found = raster(&never, "peak_speed.asc");
    let of_all = peak_speed_of_frames(&every, &found, 1);
    let of_few = peak_speed_of_frames(&every, &found, 200);
    let mut n_missed = 0;
    for ((found, all), few) in found.map_heights_m().iter().zip(&of_all).zip(&of_few) {
        // Some ten roundings to single precision.
        assert!((found - all).abs() <= 2e-6 * all, "{found} m/s, {all} m/s in the frames");
        n_missed += usize::from(*few < 0.9 * found);
    }
    assert!(n_missed > 0, "frames miss no peak");
}

#[test]
fn impacts_on_bodies_are_recorded_over_time() {
    let folder = tempfile::tempdir().unwrap();
    // A tree stands just below the grains.
    let tree = "bodies.1.shape.upright_cylinder.foot_m=[9.7,8.0]";
    let plan =
        ["--time", "0.6", "--metrics", "0.1 s", "--record", "never", "--render", "never", "--set", tree];
    succeed(&mut run(folder.path(), &plan));
    let table = MetricsTable::read(&folder.path().join("metrics.csv")).unwrap();
    let forces = MetricsTable::read(&folder.path().join("impacts.csv")).unwrap();
    let bodies: Vec<String> = table
        .metrics()
        .iter()
        .filter_map(|metric| Some(metric.name.strip_prefix("peak_force_on_")?.to_owned()))
        .collect();
    assert!(bodies.len() >= 2, "{bodies:?}");
    let times = table.column("time").unwrap();
    let mut hit = 0;
    for name in &bodies {
        let peak = *table.column(&format!("peak_force_on_{name}")).unwrap().last().unwrap();
        for axis in ["x", "y", "z"] {
            let impulse = table.column(&format!("impulse_on_{name}_{axis}")).unwrap();
            let mean = forces.column(&format!("mean_force_on_{name}_{axis}")).unwrap();
            assert_eq!(mean.len() + 1, impulse.len());
            let summed: f64 = mean.iter().zip(times.windows(2)).map(|(f, t)| f * (t[1] - t[0])).sum();
            let whole = impulse.last().unwrap();
            assert!((summed - whole).abs() <= 1e-9 * (1.0 + whole.abs()), "{name} {axis}: {summed} {whole}");
            assert!(
                mean.iter().all(|force| force.abs() <= peak * 1.0001),
                "{name}: no mean is above the peak"
            );
        }
        hit += usize::from(peak > 0.0);
    }
    assert!(hit > 0, "something is hit");
    assert!(folder.path().join("impacts.png").exists());
}

#[test]
fn slabs_are_measured_recorded_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (made, shown) = (folder.path().join("made"), folder.path().join("shown"));
    let plan = ["--time", "0.3", "--metrics", "0.1 s", "--record", "0.1 s", "--render", "0.3 s", "--quiet"];
    succeed(&mut command(&[&["run"], SLABS, &plan[..], &["--out", made.to_str().unwrap()]].concat()));
    let table = MetricsTable::read(&made.join("metrics.csv")).unwrap();
    let links = table.column("slab_links").unwrap();
    assert_eq!(links[0], 12.0 + 2.0 * 11.0, "all links of 2 by 12 pieces");
    let height = table.column("slab_centre_z").unwrap();
    assert!(height[3] < height[0], "{height:?}");

    let mut recording = Recording::open(&made.join("recording.frazil-rec")).unwrap();
    let (first, last) = (recording.frame(0).unwrap(), recording.frame(3).unwrap());
    let centres = [&first, &last].map(|frame| frame.body_vec3("centre").unwrap().to_vec());
    assert_eq!(centres[0].len(), 24);
    let mean = |centres: &[[f32; 3]]| centres.iter().map(|c| f64::from(c[2])).sum::<f64>() / 24.0;
    // Pieces have similar sizes.
    assert!((mean(&centres[1]) - height[3]).abs() < 0.05, "{} {}", mean(&centres[1]), height[3]);
    assert!(first.body_vec3("turn").unwrap().iter().flatten().all(|x| *x == 0.0));

    // Pictures of the recording equal those of the run, up to rounding of rotations.
    let path = made.join("recording.frazil-rec");
    let from = last.step().to_string();
    let play = ["play", path.to_str().unwrap(), "--from", &from, "--quiet", "--out", shown.to_str().unwrap()];
    succeed(&mut command(&play));
    let made_of = |idx: usize| picture(&made.join(format!("frames/frame_{idx:06}.png"))).2;
    let played = std::fs::read_dir(&shown).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let played = picture(&played).2;
    let differ = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    let moved = differ(&made_of(0), &made_of(1));
    let off = differ(&made_of(1), &played);
    assert!(moved > 100 && off * 20 < moved, "{moved} samples moved, {off} are off when played");
}

#[test]
fn pictures_of_grains_show_the_ground() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut run(folder.path(), &["--steps", "1", "--render", "1"]));
    let (width, height, with) = picture(&folder.path().join("frames/frame_000000.png"));
    assert_eq!((width, height), (160, 90));
    let bright = with.chunks_exact(3).filter(|rgb| rgb.iter().any(|&c| c > 100)).count();
    assert!(bright > 1000, "{bright} bright pixels");
}

/// A mesh in a file beside the scene is a body: the scene runs, and snow released within its walls is an
/// error.
#[test]
fn a_scene_with_a_mesh_in_the_way_runs() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/avalanche_splitter.toml");
    let plan = ["--steps", "40", "--check", "20", "--render", "never", "--record", "never", "--quiet"];
    let into = ["--set", "scale=0.4", "--out", folder.path().to_str().unwrap()];
    succeed(&mut command(&[&["run", scene.to_str().unwrap()], &plan[..], &into].concat()));
    let inside = "bodies.0.shape.mesh.offset_m=[6,8,13]";
    let output = command(&["check", scene.to_str().unwrap(), "--set", inside]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("inside bodies.0, \"hut\""), "{}", stderr(&output));
}

#[test]
fn grains_too_fast_for_the_step_are_refused_or_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--set", "time.dt_s=0.05"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("time.dt_s"), "{}", stderr(&output));
    // Links as stiff as ice: the step that is stable for grains is not stable for pieces.
    let stiff = [
        "check",
        "avalanche_slabs",
        "--set",
        "time.dt_s=4e-4",
        "--set",
        "dem.slabs.0.link_stiffness_n_m=1e10",
    ];
    let output = command(&stiff).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("piece of a slab swings"), "{}", stderr(&output));
}
