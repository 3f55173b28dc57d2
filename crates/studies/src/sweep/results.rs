//! Results of a case, read from and written to its folder.

use super::plan::Case;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::outputs::Folder;
use frazil_io::{MetricsTable, RunInfo, SweepCase, SweepStatus};
use frazil_report::ShapeStatistics;
use std::collections::BTreeMap;

/// Row of a case, with the labels of its metrics in order.
pub struct Row {
    pub case: SweepCase,
    pub columns: Vec<String>,
}

/// Returns the row of a case that has not finished.
pub fn pending(case: &Case) -> SweepCase {
    SweepCase {
        folder: format!("{}/{}", super::plan::CASES, case.name),
        values: case.values.clone(),
        status: SweepStatus::Pending,
        reason: None,
        steps: 0,
        wall_time_s: None,
        state_hash: None,
        measured: BTreeMap::new(),
    }
}

/// Writes the results of a final state that only a sweep keeps.
pub fn write_final(case: &Case, simulation: &Simulation, folder: &Folder) -> Result<(), Failure> {
    let picture = frazil_engine::picture::draw(simulation)?;
    frazil_render::write_png(&folder.final_picture(), picture.width, picture.height, &picture.pixels)
        .map_err(Failure::other)?;
    let frame = frazil_engine::snapshot::read_frame(simulation)?;
    let shape = ShapeStatistics::measure(
        &frame,
        case.start_x_m,
        simulation.factory.linking_length_m(&simulation.scene),
    );
    shape.write(&folder.shape()).map_err(Failure::other)
}

/// Returns true if the folder of a case has a complete run of another scene, or to another step.
pub fn is_of_other(case: &Case, folder: &Folder) -> bool {
    RunInfo::read(&folder.report()).is_ok_and(|info| {
        let is_same = info.steps == case.last_step
            && serde_json::to_value(&case.scene).is_ok_and(|scene| info.effective_scene == scene)
            && info.changes.is_empty();
        info.final_state_hash.is_some() && !is_same
    })
}

/// Returns the row of a finished case; none if its folder has no complete run of the same scene to the same
/// step.
pub fn read_done(case: &Case, folder: &Folder) -> Result<Option<Row>, Failure> {
    let Ok(info) = RunInfo::read(&folder.report()) else { return Ok(None) };
    let scene = serde_json::to_value(&case.scene).map_err(Failure::other)?;
    let is_same = info.steps == case.last_step && info.effective_scene == scene && info.changes.is_empty();
    let (Some(hash), true, true) = (info.final_state_hash, is_same, folder.final_picture().exists()) else {
        return Ok(None);
    };
    // `run.json` is written last: a file that cannot be read was damaged later, and the case is run again.
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
