//! Avalanche results: rasters, run-out and map of the flow, and the position of the front over time.
//! Rasters come from the solver, which maps every step whether it is recorded or not; the front is computed
//! from the recording. Both cover the whole of a resumed run.

use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::outputs::Folder;
use frazil_io::{FlowHistory, FlowRasters, Frame, Metric, MetricsWriter, Recording};
use frazil_report::{FlowMap, FlowSnow, RunOut, plot_flow_map};
use frazil_scene::{Polygon, Scene, Terrain};
use frazil_solvers::{FlowCells, FlowMaterial};
use std::path::Path;

/// Fraction of the grains, the lowest ones, that form the front.
const FRONT_SHARE: f64 = 0.01;

/// Columns of `flow.csv`.
const COLUMNS: [(&str, &str); 9] = [
    ("step", ""),
    ("time", "s"),
    ("front_x", "m"),
    ("front_y", "m"),
    ("front_height", "m"),
    ("run_out", "m"),
    ("travel_angle", "deg"),
    ("front_speed", "m/s"),
    ("mean_speed", "m/s"),
];

/// State of a flow at an instant.
struct Instant {
    step: u64,
    time_s: f64,
    /// Mean position of the lowest hundredth of its grains, in m in the scene.
    front_m: [f64; 3],
    mean_speed_m_s: f64,
    /// Height of its highest grain in m.
    top_m: f64,
}

/// Writes rasters, run-out and map of a finished run, if its solver maps a flow on a terrain, and returns the
/// run-out. It waits for the device, which has no more steps to run.
pub fn write_flow(folder: &Folder, simulation: &Simulation) -> Result<Option<RunOut>, Failure> {
    let scene = &simulation.scene;
    let (Some(terrain), Some(material)) = (scene.ground(), simulation.factory.flow_material(scene)) else {
        return Ok(None);
    };
    let mut recorder = simulation.device.recorder()?;
    let Some(map) = simulation.solver.flow_mapping() else { return Ok(None) };
    let pending = map.record_flow(&mut recorder)?;
    simulation.device.submit(recorder)?;
    let FlowCells { volume_m3, peak_volume_m3, peak_speed_m_s, first_step } = pending.wait()?;
    let arrival_s = |step: &u32| match *step {
        FlowCells::NEVER => f32::NAN,
        step => (f64::from(step) * scene.step_s()) as f32,
    };
    let arrival_s = first_step.iter().map(arrival_s).collect();
    let FlowMaterial { particle_density_kg_m3, bulk_density_kg_m3 } = material;
    let volume: f64 = volume_m3.iter().map(|volume| f64::from(*volume)).sum();
    let history = FlowHistory { volume_m3, peak_volume_m3, peak_speed_m_s, arrival_s };
    let rasters = FlowRasters::new(terrain, &history, particle_density_kg_m3, bulk_density_kg_m3);
    rasters.write(folder.root(), terrain).map_err(Failure::other)?;
    let snow = FlowSnow { mass_kg: particle_density_kg_m3 * volume, bulk_density_kg_m3 };
    let run_out = RunOut::measure(terrain, &rasters, snow, simulation.time_s());
    if let Some(run_out) = &run_out {
        run_out.write(&folder.run_out()).map_err(Failure::other)?;
        run_out.write_path(terrain, &folder.flow_path()).map_err(Failure::other)?;
    }
    draw_map(scene, terrain, &rasters, run_out.as_ref(), &folder.map())?;
    Ok(run_out)
}

/// Draws the map of a scene's flow.
///
/// # Errors
/// The picture cannot be written.
pub fn draw_map(
    scene: &Scene,
    terrain: &Terrain,
    rasters: &FlowRasters,
    run_out: Option<&RunOut>,
    path: &Path,
) -> Result<(), Failure> {
    let areas = scene.releases().iter().filter_map(|release| release.areas());
    let releases: Vec<Polygon> =
        areas.flat_map(|areas| areas.iter().map(|area| area.polygon.clone()).collect::<Vec<_>>()).collect();
    let (name, quantity) = (scene.name.as_str(), scene.render.map);
    let map = FlowMap { name, terrain, rasters, quantity, releases: &releases, run_out };
    plot_flow_map(&map, path).map_err(Failure::other)
}

/// Writes `flow.csv` of a recorded flow on a terrain. It writes nothing for a scene without a terrain, or if
/// frames lack velocities.
pub fn write_front(folder: &Folder, scene: &Scene) -> Result<(), Failure> {
    let Some(terrain) = scene.ground() else { return Ok(()) };
    let mut recording = Recording::open(&folder.recording()).map_err(Failure::other)?;
    let mut instants = Vec::new();
    for index in 0..recording.len() {
        let frame = recording.frame(index).map_err(Failure::other)?;
        let Ok(velocities) = frame.vec3("velocity") else {
            return Ok(());
        };
        let positions = frame.vec3("position").map_err(Failure::other)?;
        instants.extend(instant(&frame, positions, velocities));
    }
    write_table(folder, terrain, &instants)
}

fn instant(frame: &Frame, positions: &[[f32; 3]], velocities: &[[f32; 3]]) -> Option<Instant> {
    let n = positions.len();
    let n_front = ((FRONT_SHARE * n as f64).ceil() as usize).clamp(1, n.max(1));
    let mut by_height: Vec<&[f32; 3]> = positions.iter().collect();
    by_height.sort_by(|a, b| a[2].total_cmp(&b[2]));
    let top_m = f64::from(by_height.last()?[2]);
    let front = &by_height[..n_front];
    let mean = |axis: usize| front.iter().map(|x| f64::from(x[axis])).sum::<f64>() / n_front as f64;
    let speed = |v: &[f32; 3]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    Some(Instant {
        step: frame.step(),
        time_s: frame.time_s(),
        front_m: [mean(0), mean(1), mean(2)],
        mean_speed_m_s: velocities.iter().map(speed).sum::<f64>() / n as f64,
        top_m,
    })
}

/// Returns the front on the map, its distance from its initial position, and the angle down to it from the
/// highest grain at the start.
fn write_table(folder: &Folder, terrain: &Terrain, instants: &[Instant]) -> Result<(), Failure> {
    let metrics: Vec<Metric> = COLUMNS.iter().map(|(name, unit)| Metric::new(*name, *unit)).collect();
    let mut table = MetricsWriter::create(&folder.flow(), &metrics).map_err(Failure::other)?;
    let Some(first) = instants.first() else { return Ok(()) };
    let mut before = first;
    for at in instants {
        let [x, y] = terrain.to_map_m([at.front_m[0], at.front_m[1]]);
        let level =
            |a: &Instant, b: &Instant| (a.front_m[0] - b.front_m[0]).hypot(a.front_m[1] - b.front_m[1]);
        let run_out_m = level(at, first);
        let angle_deg = (first.top_m - at.front_m[2]).atan2(run_out_m).to_degrees();
        let duration_s = at.time_s - before.time_s;
        let way_m = level(at, before).hypot(at.front_m[2] - before.front_m[2]);
        let front_speed_m_s = if duration_s > 0.0 { way_m / duration_s } else { 0.0 };
        let height_m = terrain.base_m() + at.front_m[2];
        let (step, time_s) = (at.step as f64, at.time_s);
        let row = [step, time_s, x, y, height_m, run_out_m, angle_deg, front_speed_m_s, at.mean_speed_m_s];
        table.row(&row).map_err(Failure::other)?;
        before = at;
    }
    Ok(())
}
