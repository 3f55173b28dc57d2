//! Curves that tests find, kept as tables and pictures where `FRAZIL_CURVES` names a folder.

use frazil_io::{Panel, Scale, plot_panels_scaled};
use std::path::PathBuf;

/// Writes `NAME.csv` of a header and rows, and `NAME.png`, if asked to.
///
/// # Panics
/// If the folder cannot be written to.
#[allow(clippy::expect_used)]
pub fn keep_curve(name: &str, header: &str, rows: &str, title: &str, panel: Panel<'_>, scale: Scale) {
    let Some(folder) = std::env::var_os("FRAZIL_CURVES").map(PathBuf::from) else { return };
    std::fs::write(folder.join(format!("{name}.csv")), format!("{header}\n{rows}")).expect("a table");
    plot_panels_scaled(title, &[panel], [scale; 2], &folder.join(format!("{name}.png"))).expect("a picture");
}
