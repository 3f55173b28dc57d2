//! Curves measured by tests, written as tables and pictures to the folder named by `FRAZIL_CURVES`.

use frazil_report::{Panel, Scale, plot_panels_scaled};
use std::path::PathBuf;

/// Writes `NAME.csv` with a header and rows, and `NAME.png`, if requested.
///
/// # Panics
/// If the folder is not writable.
#[allow(clippy::expect_used)]
pub fn keep_curve(name: &str, header: &str, rows: &str, title: &str, panel: Panel<'_>, scale: Scale) {
    let Some(folder) = std::env::var_os("FRAZIL_CURVES").map(PathBuf::from) else { return };
    std::fs::write(folder.join(format!("{name}.csv")), format!("{header}\n{rows}")).expect("a table");
    plot_panels_scaled(title, &[panel], [scale; 2], &folder.join(format!("{name}.png"))).expect("a picture");
}
