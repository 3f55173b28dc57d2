//! Results of a run that need statistics or plots: plots of its metrics, forces on bodies, and the flow of an
//! avalanche.

mod flow;
mod impacts;
mod plots;
mod solver_plots;

pub use flow::draw_map;

use frazil_engine::Failure;
use frazil_engine::run::{RunReport, RunResults};

/// Writes the results of a run into its folder, and its run-out into the report; `show` gets a summary of the
/// run-out.
///
/// # Errors
/// A file cannot be read or written; the device was lost.
pub fn write(
    run: &RunResults<'_>,
    report: &mut RunReport,
    show: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let RunResults { simulation, folder, schedule, final_state } = run;
    if schedule.metrics.is_some() {
        plots::write(folder, &simulation.scene, &simulation.factory.plots())?;
        impacts::write(folder, &simulation.scene)?;
    }
    if final_state.is_some() {
        if let Some(run_out) = flow::write_flow(folder, simulation)? {
            show(&run_out.summary());
            report.set_run_out(serde_json::to_value(&run_out).map_err(Failure::other)?);
        }
        if schedule.record.is_some() && simulation.factory.flow_material(&simulation.scene).is_some() {
            flow::write_front(folder, &simulation.scene)?;
        }
    }
    Ok(())
}
