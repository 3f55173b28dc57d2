//! A history as a self-contained page with a plot of each series.

use frazil_io::calendar::date_and_time;
use maud::{Markup, html};

use super::series::{HistoryRun, HistorySeries};
use super::table::{commits, heading};
use crate::profile::plot::{WIDTH, at, ticks};
use crate::profile::{page, time};

const HEIGHT: f64 = 200.0;
const LEFT: f64 = 80.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 10.0;

/// Returns the page; series of one environment are together.
pub fn history_page(series: &[HistorySeries]) -> String {
    page(
        "History of measurements",
        &html! {
            header {
                h1 { "History of measurements" }
                p { "A point for each run, a line for the median between two steps." }
            }
            @for of_environment in series.chunk_by(|a, b| a.environment == b.environment) {
                @if let Some(first) = of_environment.first() {
                    header { @for line in heading(&first.environment).lines() { p { (line) } } }
                }
                @for series in of_environment { (section(series)) }
            }
        },
    )
}

fn section(series: &HistorySeries) -> Markup {
    html! {
        section {
            h2 { (series.label()) }
            @if !series.can_find { p { "Too few runs for a step to be significant." } }
            (plot(series))
            @for step in &series.steps {
                p {
                    span class=(step.verdict) { (step.verdict) }
                    (format!(
                        ": {:.3} times, {} → {}, {}, {:.2} % confidence",
                        step.ratio,
                        time(step.times_ns[0]),
                        time(step.times_ns[1]),
                        commits(series, step),
                        100.0 * step.confidence
                    ))
                    @if let Some(ratio) = step.copy_ratio {
                        (format!("; copies take {ratio:.3} times as long"))
                    }
                }
            }
        }
    }
}

/// Draws the times of the runs from zero, at equal distances, with the medians between steps.
fn plot(series: &HistorySeries) -> Markup {
    let longest = series.runs.iter().map(|run| run.entry.time_ns).fold(0.0, f64::max);
    let end = 1.1 * longest;
    let distance = (WIDTH - LEFT - 20.0) / series.runs.len().max(1) as f64;
    let x = |place: f64| LEFT + distance * place;
    let y = |ns: f64| HEIGHT - BOTTOM - ns / end * (HEIGHT - BOTTOM - TOP);
    let about = |run: &HistoryRun| {
        format!("{}, {}: {}", date_and_time(run.unix_time_s), run.short_commit(), time(run.entry.time_ns))
    };
    // A commit is named where it begins, if there is space since the last name.
    let mut named: Vec<(f64, String)> = Vec::new();
    for (i, run) in series.runs.iter().enumerate() {
        let is_new = i == 0 || series.runs[i - 1].commit != run.commit;
        if is_new && named.last().is_none_or(|(last, _)| x(i as f64) - last > 70.0) {
            named.push((x(i as f64), run.short_commit()));
        }
    }
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(series.label()) {
            @for tick in ticks(end) {
                line class="axis" x1=(at(LEFT)) x2=(at(WIDTH - 20.0)) y1=(at(y(tick))) y2=(at(y(tick))) {}
                text class="dim" x=(at(LEFT - 8.0)) y=(at(y(tick) + 4.0)) text-anchor="end" { (time(tick)) }
            }
            @for (x, commit) in &named {
                text class="dim" x=(at(*x)) y=(at(HEIGHT - 6.0)) { (commit) }
            }
            @for runs in series.segments() {
                @let level = at(y(series.level_ns(runs.clone())));
                line class="roof" x1=(at(x(runs.start as f64))) x2=(at(x(runs.end as f64))) y1=(level)
                    y2=(level) {}
            }
            @for step in &series.steps {
                line class="mark" x1=(at(x(step.at as f64))) x2=(at(x(step.at as f64))) y1=(at(TOP))
                    y2=(at(HEIGHT - BOTTOM)) {}
            }
            @for (i, run) in series.runs.iter().enumerate() {
                circle class="c0" cx=(at(x(i as f64 + 0.5))) cy=(at(y(run.entry.time_ns))) r="3.5" {
                    title { (about(run)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::{all, history};
    use super::*;

    #[test]
    fn each_series_has_its_plot_with_runs_levels_and_steps() {
        let text = history_page(&all(&history()));
        let body = &text[text.find("<body>").unwrap()..text.find("</html>").unwrap()];
        let tree = roxmltree::Document::parse(body).unwrap();
        let count = |tag: &str| tree.descendants().filter(|node| node.has_tag_name(tag)).count();
        assert_eq!((count("svg"), count("circle")), (2, 44));
        let marks = tree.descendants().filter(|node| node.attribute("class") == Some("mark"));
        assert_eq!(marks.count(), 1);
        for part in ["slower", "aaaaaaaa..bbbbbbbb", "1970-01-01T00:16:40Z, aaaaaaaa: 100 ns", "1.495 times"]
        {
            assert!(body.contains(part), "{part}: {body}");
        }
        for foreign in ["http://", "https://", "<script", "src=", "href=", "NaN"] {
            assert!(!text.contains(foreign), "{foreign}");
        }
    }
}
