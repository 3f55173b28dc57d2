//! `frazil export --map`: the map of a finished run of a flow on a terrain, drawn again.

use super::args::ExportArgs;
use crate::recordings::check_shown;
use frazil_engine::Failure;
use frazil_engine::outputs::Folder;
use frazil_io::{FlowRasters, RunInfo};
use frazil_report::{FlowSnow, RunOut};
use frazil_scene::{FlowQuantity, Scene};
use frazil_studies::results::draw_map;
use std::path::{Path, PathBuf};

/// Draws `quantity` of the run in a folder, from the rasters there, into `out`; returns the path.
pub fn export_map(
    args: &ExportArgs,
    quantity: FlowQuantity,
    run: &Path,
    out: &Path,
) -> Result<PathBuf, Failure> {
    check_shown(&args.changes)?;
    let folder = Folder::existing(run);
    let report = RunInfo::read(&folder.report()).map_err(Failure::input)?;
    let origin = folder.report().display().to_string();
    let map = format!("render.map=\"{}\"", quantity.name());
    let overrides: Vec<String> = args.changes.shown().into_iter().chain([map]).collect();
    let scene = Scene::from_json_with(&report.effective_scene.to_string(), &origin, &overrides)?;
    let Some(terrain) = scene.ground() else {
        let problem = match scene.terrain.as_ref().and_then(|source| source.file.as_deref()) {
            Some(file) => format!("found no file {file}, expected the terrain of the run"),
            None => format!("found the scene \"{}\" without a [terrain], expected one with it", scene.name),
        };
        return Err(Failure::input(format!("{origin}: {problem}")));
    };
    let rasters = FlowRasters::read(run, terrain).map_err(Failure::input)?;
    let run_out = report.run_out.map(serde_json::from_value::<RunOut>).transpose();
    let run_out = run_out.map_err(|cause| Failure::input(format!("{origin}: run_out: {cause}")))?;
    let run_out = run_out.and_then(|run_out| {
        let (mass_kg, volume_m3) = (run_out.release.mass_kg, run_out.release.volume_m3);
        let snow = FlowSnow { mass_kg, bulk_density_kg_m3: mass_kg / volume_m3 };
        RunOut::measure(terrain, &rasters, snow, report.simulated_time_s)
    });
    let path = out.join(format!("map_{}.png", quantity.name()));
    draw_map(&scene, terrain, &rasters, run_out.as_ref(), &path)?;
    Ok(path)
}
