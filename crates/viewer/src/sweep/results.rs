//! What a case has come to, read from its folder, and what it leaves there.

use super::plan::Case;
use crate::failure::Failure;
use crate::run::{self, Folder};
use crate::simulation::Simulation;
use frazil_io::{MetricsTable, RunInfo, ShapeStatistics, SweepCase, SweepStatus};
use frazil_scene::Scene;
use std::collections::BTreeMap;

/// Pieces of heaps are told apart by gaps of so many particle spacings.
const LINKING_SPACINGS: f64 = 1.5;

/// A case's row, and the labels of what is measured in it, in order.
pub struct Row {
    pub case: SweepCase,
    pub columns: Vec<String>,
}

/// The row of a case that has not been run, or not to its end.
pub fn pending(case: &Case) -> SweepCase {
    SweepCase {
        folder: format!("{}/{}", super::CASES, case.name),
        values: case.values.clone(),
        status: SweepStatus::Pending,
        reason: None,
        steps: 0,
        wall_time_s: None,
        state_hash: None,
        measured: BTreeMap::new(),
    }
}

/// Writes what a sweep keeps of a final state beyond what every run does.
pub fn write_final(case: &Case, simulation: &Simulation, folder: &Folder) -> Result<(), Failure> {
    let picture = run::draw(simulation)?;
    frazil_render::write_png(&folder.final_picture(), picture.width, picture.height, &picture.pixels)
        .map_err(Failure::other)?;
    let frame = run::read_frame(simulation)?;
    let shape = ShapeStatistics::measure(&frame, case.start_x_m, linking_length_m(&simulation.scene));
    shape.write(&folder.shape()).map_err(Failure::other)
}

fn linking_length_m(scene: &Scene) -> f64 {
    scene.mpm().map_or(LINKING_SPACINGS * scene.particle_spacing_m(), |mpm| mpm.cell_size_m)
}

/// The row of a case that is done; none where its folder holds no whole run of the same scene to the same step.
pub fn read_done(case: &Case, folder: &Folder) -> Result<Option<Row>, Failure> {
    let Ok(info) = RunInfo::read(&folder.report()) else { return Ok(None) };
    let scene = serde_json::to_value(&case.scene).map_err(Failure::other)?;
    let is_same = info.steps == case.last_step && info.effective_scene == scene;
    let (Some(hash), true, true) = (info.final_state_hash, is_same, folder.final_picture().exists()) else {
        return Ok(None);
    };
    // `run.json` is written last: what does not read now was damaged since, and is made again.
    let (Ok(metrics), Ok(shape)) =
        (MetricsTable::read(&folder.metrics()), ShapeStatistics::read(&folder.shape()))
    else {
        return Ok(None);
    };
    let finals = metrics.columns().filter(|(metric, _)| metric.name != "step");
    let finals = finals.filter_map(|(metric, values)| Some((metric.label(), *values.last()?)));
    let shape = shape.columns().map(|(label, value)| (label.to_owned(), value));
    let measured: Vec<(String, f64)> = finals.chain(shape).collect();
    Ok(Some(Row {
        columns: measured.iter().map(|(label, _)| label.clone()).collect(),
        case: SweepCase {
            status: SweepStatus::Done,
            steps: info.steps,
            wall_time_s: info.wall_time_s.get("total").copied(),
            state_hash: Some(hash),
            measured: measured.into_iter().filter(|(_, value)| value.is_finite()).collect(),
            ..pending(case)
        },
    }))
}
