//! Number of connected pieces over time, from recordings: how snow crumbles (Cai2020 fig 2).

use super::report::{OwnPanel, Report, cell, digits, table};
use super::study::Study;
use frazil_engine::{Failure, recording};
use frazil_report::{FRAGMENT_SHARE, Mark, Scale, Series, ShapeStatistics};
use frazil_solvers::factory_of;
use std::path::{Path, PathBuf};

/// Shapes of the particles of a recording.
struct Fragments {
    label: String,
    linking_length_m: f64,
    /// Step, time in s, and shape of each frame.
    frames: Vec<(u64, f64, ShapeStatistics)>,
}

/// Counts the pieces in each frame of recordings. A linking length is in m; without one it is that of the
/// solver.
///
/// # Errors
/// There is no recording, or one cannot be read or has no frame.
pub fn study(recordings: &[PathBuf], linking_length_m: Option<f64>) -> Result<Report, Failure> {
    if recordings.is_empty() {
        return Err(Failure::input("fragments: expected a recording (*.frazil-rec), found none"));
    }
    let mut all = Vec::with_capacity(recordings.len());
    for path in recordings {
        all.push(measure(path, linking_length_m)?);
    }
    number_equal_labels(&mut all);
    let rows = all.iter().flat_map(|run| run.frames.iter().map(|frame| row(run, frame))).collect();
    let panels = vec![
        panel("number of pieces", &all, |shape| shape.n_pieces as f64),
        panel("number of fragments", &all, |shape| shape.n_fragments as f64),
        panel("share of the mass in smaller pieces", &all, |shape| shape.powder_share),
    ];
    Ok(Report {
        study: Study::Fragments,
        title: "Connected pieces over time",
        header: &[
            "recording",
            "step [1]",
            "time [s]",
            "n_pieces [1]",
            "n_fragments [1]",
            "n_isolated [1]",
            "largest_share [1]",
            "powder_share [1]",
            "linking_length [m]",
        ],
        rows,
        panels,
        scales: [Scale::Linear; 2],
        more_plots: Vec::new(),
        page: page(&all),
        summary: all.iter().map(summary).collect::<Vec<_>>().join("; "),
    })
}

/// Measures all frames of a recording.
fn measure(path: &Path, linking_length_m: Option<f64>) -> Result<Fragments, Failure> {
    let (mut recording, scene) = recording::open(path, &[])?;
    let linking_length_m = match linking_length_m {
        Some(length_m) => length_m,
        None => factory_of(&scene)?.linking_length_m(&scene),
    };
    let mut frames = Vec::with_capacity(recording.len());
    for index in 0..recording.len() {
        let frame = recording.frame(index).map_err(Failure::input)?;
        frames.push((frame.step(), frame.time_s(), ShapeStatistics::measure(&frame, 0.0, linking_length_m)));
    }
    Ok(Fragments { label: scene.name.clone(), linking_length_m, frames })
}

/// Appends numbers from 2 on to names that several recordings have.
fn number_equal_labels(all: &mut [Fragments]) {
    let names: Vec<String> = all.iter().map(|run| run.label.clone()).collect();
    for (i, run) in all.iter_mut().enumerate() {
        let before = names[..i].iter().filter(|name| **name == names[i]).count();
        if before > 0 {
            run.label = format!("{} {}", names[i], before + 1);
        }
    }
}

fn row(run: &Fragments, (step, time_s, shape): &(u64, f64, ShapeStatistics)) -> Vec<String> {
    vec![
        run.label.clone(),
        step.to_string(),
        cell(*time_s),
        shape.n_pieces.to_string(),
        shape.n_fragments.to_string(),
        shape.n_isolated.to_string(),
        cell(shape.largest_share),
        cell(shape.powder_share),
        cell(run.linking_length_m),
    ]
}

fn panel(y_label: &'static str, all: &[Fragments], of: impl Fn(&ShapeStatistics) -> f64) -> OwnPanel {
    let points = |run: &Fragments| run.frames.iter().map(|(_, time_s, shape)| (*time_s, of(shape))).collect();
    let series = all.iter().map(|run| Series::new(&run.label, Mark::Line, points(run))).collect();
    OwnPanel { x_label: "time [s]", y_label, series }
}

/// Returns the largest number of pieces, and its time in s.
fn most(run: &Fragments) -> (u64, f64) {
    run.frames.iter().fold(
        (0, 0.0),
        |(n, at_s), (_, time_s, shape)| {
            if shape.n_pieces > n { (shape.n_pieces, *time_s) } else { (n, at_s) }
        },
    )
}

fn summary(run: &Fragments) -> String {
    let end = run.frames.last().map_or(0, |(_, _, shape)| shape.n_pieces);
    let (n, at_s) = most(run);
    format!("{}: {end} pieces at the end, at most {n} ({} s)", run.label, digits(at_s, 3))
}

fn page(all: &[Fragments]) -> String {
    let numbers = |shape: &ShapeStatistics| {
        [shape.n_pieces, shape.n_fragments, shape.n_isolated].map(|n| n.to_string()).join(", ")
    };
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|run| {
            let ends = [run.frames.first(), run.frames.last()];
            let [first, last] = ends.map(|end| end.map_or(String::new(), |(_, _, shape)| numbers(shape)));
            let (n, at_s) = most(run);
            let length = digits(run.linking_length_m, 3);
            vec![run.label.clone(), length, first, last, format!("{n} at {} s", digits(at_s, 3))]
        })
        .collect();
    let header = [
        "recording",
        "linking length [m]",
        "first frame: pieces, fragments, isolated",
        "last frame",
        "most pieces",
    ];
    format!(
        "Two particles belong to one piece if they, or others between them, are at most a linking length \
         apart. Fragments are pieces with at least {} % of all particles; isolated particles are pieces of \
         one.\n\n{}",
        digits(100.0 * FRAGMENT_SHARE, 1),
        table(&header, &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered() {
        let run = |label: &str| Fragments { label: label.into(), linking_length_m: 1.0, frames: Vec::new() };
        let mut all = [run("a"), run("b"), run("a"), run("a")];
        number_equal_labels(&mut all);
        assert_eq!(all.map(|run| run.label), ["a", "b", "a 2", "a 3"]);
    }
}
