//! Output of a study: a table, a plot, and a page that explains them.

use super::study::Study;
use frazil_engine::Failure;
use frazil_report::{Panel, Scale, Series, plot_panels_scaled};
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// A panel with its own series.
pub struct OwnPanel {
    pub x_label: &'static str,
    pub y_label: &'static str,
    pub series: Vec<Series>,
}

/// Another plot of a study.
pub struct ExtraPlot {
    /// The file is `STUDY_NAME.svg`.
    pub name: &'static str,
    pub title: &'static str,
    pub panels: Vec<OwnPanel>,
    pub scales: [Scale; 2],
}

impl ExtraPlot {
    /// Returns the file name of the plot.
    pub fn file(&self, study: Study) -> String {
        format!("{study}_{}.svg", self.name)
    }
}

/// Results of a study.
pub struct Report {
    /// Study that was run.
    pub study: Study,
    /// Title of plot and page.
    pub title: &'static str,
    /// Column names of the table, with units in brackets.
    pub header: &'static [&'static str],
    /// Rows of the table.
    pub rows: Vec<Vec<String>>,
    pub(super) panels: Vec<OwnPanel>,
    pub(super) scales: [Scale; 2],
    pub(super) more_plots: Vec<ExtraPlot>,
    /// Page text in Markdown, without its title.
    pub page: String,
    /// Main result, for the terminal.
    pub summary: String,
}

impl Report {
    /// Writes `STUDY.csv`, `STUDY.svg`, further plots, and `STUDY.md` into a folder.
    ///
    /// # Errors
    /// A file cannot be written, or a plot not be drawn.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let study = self.study;
        let mut csv = self.header.join(",") + "\n";
        for row in &self.rows {
            csv += &(row.join(",") + "\n");
        }
        write(&folder.join(format!("{study}.csv")), &csv)?;
        let draw = |title: &str, panels: &[OwnPanel], scales, file: &str| {
            let panels: Vec<Panel<'_>> = panels
                .iter()
                .map(|panel| Panel { x_label: panel.x_label, y_label: panel.y_label, series: &panel.series })
                .collect();
            plot_panels_scaled(title, &panels, scales, &folder.join(file)).map_err(Failure::other)
        };
        draw(self.title, &self.panels, self.scales, &format!("{study}.svg"))?;
        let mut links = format!("![{}]({study}.svg)\n", self.title);
        for plot in &self.more_plots {
            let file = plot.file(study);
            draw(plot.title, &plot.panels, plot.scales, &file)?;
            links += &format!("\n![{}]({file})\n", plot.title);
        }
        let page = format!("# {}\n\n{}\n{links}\nAll numbers are in {study}.csv.\n", self.title, self.page);
        write(&folder.join(format!("{study}.md")), &page)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::other(format!("cannot write {}: {error}", path.display())))
}

/// Formats a number such that it parses back to the same bits.
pub fn cell(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Formats a number for a page with the given number of significant digits.
pub fn digits(value: f64, n: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    let power = value.abs().log10().floor() as i32;
    if (-3..6).contains(&power) {
        format!("{value:.*}", (n as i32 - 1 - power).max(0) as usize)
    } else {
        format!("{value:.*e}", n - 1)
    }
}

/// Formats a table in Markdown.
pub fn table<C: Display>(header: &[&str], rows: &[Vec<C>]) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        for (value, text) in [(0.0, "0"), (1895.834, "1896"), (0.0123456, "0.01235"), (1.23e-7, "1.230e-7")] {
            assert_eq!(digits(value, 4), text);
        }
        assert_eq!((cell(2.0), cell(1e-7), cell(0.1)), ("2".into(), "1e-7".into(), "0.1".into()));
    }
}
