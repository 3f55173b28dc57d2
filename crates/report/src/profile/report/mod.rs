//! `profile.html`: a profile as a self-contained page, without scripts and network access.

pub(crate) mod plot;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use plot::{Bar, RoofPoint, Stretch, bars, colour, roofline, timeline};

use super::counters::number;
use super::tables::{PassGroup, empty_label, merged, pass_groups};
use super::{KernelComparison, KernelFact, Profile, ProfileComparison, Throughput, Vary};

/// Maximum number of memory columns shown as bars.
const COLUMNS_SHOWN: usize = 14;

/// Returns the page; `comparison` is the comparison with an earlier profile, if there is one.
pub fn profile_report(profile: &Profile, comparison: Option<&ProfileComparison>) -> String {
    page(
        &format!("{}: profile", profile.scene),
        &html! {
            (head(profile))
            (figures(profile))
            @if let Some(comparison) = comparison { (against(comparison)) }
            (shares(profile))
            (one_step(profile))
            (bounds(profile))
            (bandwidth(profile))
            (throughput(profile))
            (counters(profile))
            (kernels(profile))
            (passes(profile))
            @if let Some(vary) = &profile.vary { (varied(vary)) }
            (memory(profile))
            (gaps(profile))
        },
    )
}

/// Returns a self-contained page with this body.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn us(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}

fn mb(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 / 1e6)
}

fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Profile {
    /// Returns the colour of a kernel, by its rank in cost.
    fn colour_of(&self, kernel: &str) -> usize {
        colour(self.rows.iter().position(|row| row.kernel == kernel))
    }
}

fn counters(profile: &Profile) -> Markup {
    let Some(measured) = &profile.counters else { return html! {} };
    let cells = |values: &[Option<f64>]| html! { @for value in values { td { (number(*value)) } } };
    html! {
        section {
            h2 { "Hardware counters" }
            p { "Means of active calls, over " (measured.steps) " further steps for each group." }
            div class="scroll" { table {
                thead { tr {
                    th { "kernel" }
                    @for counter in &measured.counters {
                        th title=(counter.description) { (counter.label()) }
                    }
                } }
                tbody { @for row in &profile.rows {
                    @if let Some(values) = measured.kernels.get(&row.kernel) {
                        tr { td { (row.kernel) } (cells(values)) }
                    }
                } }
            } }
        }
    }
}

fn head(profile: &Profile) -> Markup {
    let commit = profile.git_commit.as_deref().map(|commit| commit.chars().take(12).collect::<String>());
    html! {
        header {
            h1 { (profile.scene) }
            p {
                (profile.n_particles) " particles, "
                (profile.steps) " steps after " (profile.steps_before) " on "
                (profile.device) " (" (profile.driver) ")"
                @if let Some(commit) = commit { ", frazil at " (commit) }
            }
            @if profile.is_software {
                div class="warning" {
                    "A software device: it shows whether the results are right, not how fast a GPU is."
                }
            }
        }
    }
}

fn figures(profile: &Profile) -> Markup {
    let step_ns = profile.step_median_ns();
    let rate = step_ns.filter(|ns| *ns > 0).map(|ns| 1e3 * profile.n_particles as f64 / ns as f64);
    let all = [
        (or_dash(step_ns.map(|ns| format!("{:.3} ms", ns as f64 / 1e6))), "median step, device time"),
        (or_dash(rate.map(|rate| format!("{rate:.2} M"))), "particle steps per second"),
        (or_dash(profile.copy_gb_per_s.map(|copy| format!("{copy:.1} GB/s"))), "copy bandwidth"),
        (or_dash(profile.peak_gflop_per_s.map(|peak| format!("{peak:.1} GFLOP/s"))), "peak of multiply-adds"),
        (
            or_dash(profile.stamping.and_then(|s| s.ratio()).map(|ratio| format!("{ratio:.3}"))),
            "time with time stamps over time without",
        ),
        (or_dash(profile.idle_between_submissions.map(percent)), "device idle between submissions"),
        (or_dash(profile.host_busy.map(percent)), "host recording and submitting"),
        (format!("{} MB", mb(profile.memory.bytes_peak)), "memory, peak"),
    ];
    html! {
        div class="figures" {
            @for (value, label) in &all { div { b { (value) } span { (label) } } }
        }
    }
}

fn shares(profile: &Profile) -> Markup {
    let rows = profile.rows.iter().enumerate().map(|(rank, row)| Bar {
        label: row.kernel.clone(),
        value: row.share,
        text: format!("{}, {} µs", percent(row.share), us(row.median_ns)),
        colour: colour(Some(rank)),
    });
    html! {
        section {
            h2 { "Where the time goes" }
            p { "Share of the time of a typical step, with the median of each pass, and the median call." }
            (bars("share of the time of a typical step by kernel", &rows.collect::<Vec<_>>(), None))
        }
    }
}

fn one_step(profile: &Profile) -> Markup {
    let stretches: Vec<_> = profile
        .timeline
        .iter()
        .map(|pass| Stretch {
            label: &pass.kernel,
            start_ns: pass.start_ns,
            duration_ns: pass.duration_ns,
            colour: profile.colour_of(&pass.kernel),
        })
        .collect();
    html! {
        section {
            h2 { "One step" }
            p { "The passes of a step of median duration on the device's queue." }
            @if stretches.is_empty() {
                p { "No step was timed." }
            } @else {
                (timeline("one step", &stretches))
            }
        }
    }
}

fn bounds(profile: &Profile) -> Markup {
    let share = |fraction: Option<f64>| or_dash(fraction.map(percent));
    html! {
        section {
            h2 { "What bounds each kernel" }
            p {
                "The least time that its bytes take (the fastest copy of as many), its operations (the peak "
                "of multiply-adds) and a dispatch without work, each over its own time. A kernel that "
                "reaches half of a limit is bound by it; below, latency bounds it: dependent loads, waits, "
                "atomics, divergence. Beyond is the share of the time of all kernels that it takes beyond "
                "the nearest limit."
            }
            div class="scroll" { table {
                thead { tr { @for title in ["kernel", "bound by", "bytes", "flops", "launch", "beyond"] {
                    th { (title) }
                } } }
                tbody { @for bound in profile.bounds() { tr {
                    td { (bound.kernel) }
                    td { (bound.limit) }
                    td { (share(bound.of_bytes)) }
                    td { (share(bound.of_flops)) }
                    td { (share(bound.of_launch)) }
                    td { (percent(bound.beyond)) }
                } } }
            } }
        }
    }
}

fn bandwidth(profile: &Profile) -> Markup {
    let rows: Vec<_> = profile
        .rows
        .iter()
        .filter_map(|row| {
            let rate = row.gb_per_s?;
            let share = row.share_of_copy.map(|share| format!(", {} of copy", percent(share)));
            Some(Bar {
                label: row.kernel.clone(),
                value: rate,
                text: format!("{rate:.2} GB/s{}", share.unwrap_or_default()),
                colour: profile.colour_of(&row.kernel),
            })
        })
        .collect();
    let label = profile.copy_gb_per_s.map(|copy| (copy, format!("copy {copy:.1} GB/s")));
    html! {
        section {
            h2 { "Bandwidth" }
            p {
                "The bytes that a kernel must move at least, over the time it took, beside the device's own "
                "large copy; shares are of the fastest copy of as many bytes or more, which caches make "
                "faster."
            }
            (bars("bandwidth by kernel", &rows, label.as_ref().map(|(copy, label)| (*copy, label.as_str()))))
        }
    }
}

fn throughput(profile: &Profile) -> Markup {
    let all = profile.throughputs();
    if all.is_empty() {
        return html! {};
    }
    let point = |t: &Throughput| {
        Some(RoofPoint {
            label: t.kernel.clone(),
            intensity: t.flop_per_byte?,
            rate: t.gflop_per_s?,
            colour: profile.colour_of(&t.kernel),
        })
    };
    let points: Vec<_> = all.iter().filter_map(point).collect();
    let number = |value: Option<f64>| or_dash(value.map(|value| format!("{value:.2}")));
    html! {
        section {
            h2 { "Work" }
            p {
                "Items that kernels worked on, counted in the last step, and the operations that their "
                "shaders declare for each, over the typical call that has elements. "
                "Operations are those of the method, not executed instructions: threads that wait "
                "for others of their subgroup are not counted."
            }
            @if let (Some(copy), Some(peak)) = (profile.copy_gb_per_s, profile.peak_gflop_per_s) {
                (roofline("roofline of kernels", &points, copy, peak))
            }
            div class="scroll" { table {
                thead { tr {
                    @for title in [
                        "kernel", "calls", "µs", "10⁶ items/s", "GB/s", "of copy", "flop/B", "GFLOP/s",
                        "of peak",
                    ] { th { (title) } }
                } }
                tbody { @for t in &all {
                    tr {
                        td { (t.kernel) }
                        td { (t.calls) }
                        td { (us(t.call_ns as u64)) }
                        td {
                            @for (item, rate) in &t.items { div { (item) " " (format!("{rate:.1}")) } }
                        }
                        td { (number(t.gb_per_s)) }
                        td { (or_dash(t.share_of_copy.map(percent))) }
                        td { (number(t.flop_per_byte)) }
                        td { (number(t.gflop_per_s)) }
                        td { (or_dash(t.share_of_peak.map(percent))) }
                    }
                } }
            } }
        }
    }
}

fn kernels(profile: &Profile) -> Markup {
    let facts_of = |kernel: &str| -> Vec<&KernelFact> {
        profile.kernels.iter().filter(|fact| fact.kernel == kernel).collect()
    };
    // Among several variants of one kernel, the worst limits occupancy.
    let max = |facts: &[&KernelFact], value: fn(&KernelFact) -> Option<u64>| {
        or_dash(facts.iter().filter_map(|fact| value(fact)).max())
    };
    let reports = profile.driver_reports();
    html! {
        section {
            h2 { "Kernels" }
            @if reports {
                p {
                    "Registers, spills and sizes are the driver's, in its units; of several variants of a "
                    "kernel the largest."
                }
            } @else {
                p { "Registers, spills and code size are not reported by this driver." }
            }
            div class="scroll" { table {
                thead { tr {
                    @for title in [
                        "kernel", "calls", "empty",
                        "min µs", "median µs", "mean µs", "p95 µs", "max µs", "outliers",
                        "total ms", "share", "kB/call", "GB/s", "of copy", "group", "shared B",
                    ] {
                        th { (title) }
                    }
                    @if reports {
                        @for title in ["subgroup", "regs", "spills", "scratch B", "code B"] { th { (title) } }
                    }
                } }
                tbody { @for row in &profile.rows {
                    @let facts = facts_of(&row.kernel);
                    tr {
                        td { (row.kernel) }
                        td { (row.calls) }
                        td { (row.empty.calls) }
                        td { (us(row.min_ns)) }
                        td { (us(row.median_ns)) }
                        td { (us(row.mean_ns)) }
                        td { (us(row.p95_ns)) }
                        td { (us(row.max_ns)) }
                        td { (row.outliers) }
                        td { (mb(row.total_ns)) }
                        td { (percent(row.share)) }
                        @let kb_per_call = row.bytes_per_call().map(|bytes| bytes / 1e3);
                        td { (or_dash(kb_per_call.map(|kb| format!("{kb:.1}")))) }
                        td { (or_dash(row.gb_per_s.map(|rate| format!("{rate:.2}")))) }
                        td { (or_dash(row.share_of_copy.map(percent))) }
                        td { (max(&facts, |fact| Some(fact.workgroup_size.into()))) }
                        td { (max(&facts, |fact| fact.shared_memory_bytes)) }
                        @if reports {
                            td { (max(&facts, |fact| fact.subgroup_size.map(u64::from))) }
                            td { (max(&facts, |fact| fact.registers)) }
                            td { (max(&facts, |fact| fact.spills)) }
                            td { (max(&facts, |fact| fact.scratch_bytes)) }
                            td { (max(&facts, |fact| fact.code_bytes)) }
                        }
                    }
                } }
            } }
            @if reports { (driver_statistics(profile)) }
        }
    }
}

fn driver_statistics(profile: &Profile) -> Markup {
    html! {
        details {
            summary { "All statistics of the driver" }
            div class="scroll" { table {
                thead { tr { th { "kernel" } th { "statistic" } th { "value" } th { "description" } } }
                tbody { @for fact in &profile.kernels { @for statistic in &fact.driver_statistics {
                    tr {
                        td { (fact.label(&profile.kernels)) }
                        td { (statistic.name) }
                        td { (statistic.value) }
                        td class="text" { (statistic.description) }
                    }
                } } }
            } }
        }
    }
}

fn passes(profile: &Profile) -> Markup {
    html! {
        section {
            h2 { "Passes of a step" }
            details {
                summary { (profile.passes.len()) " passes in the order of the step" }
                div class="scroll" { table {
                    thead { tr {
                        @for title in [
                            "pass", "min µs", "median µs", "mean µs", "p95 µs", "max µs", "outliers", "share",
                            "GB/s", "of copy",
                        ] { th { (title) } }
                    } }
                    tbody { @for group in pass_groups(&profile.passes) {
                        @match group {
                            PassGroup::Active(pass) => tr {
                                td { (pass.position) " " (pass.label()) }
                                td { (us(pass.row.min_ns)) }
                                td { (us(pass.row.median_ns)) }
                                td { (us(pass.row.mean_ns)) }
                                td { (us(pass.row.p95_ns)) }
                                td { (us(pass.row.max_ns)) }
                                td { (pass.row.outliers) }
                                td { (percent(pass.row.share)) }
                                td { (or_dash(pass.row.gb_per_s.map(|rate| format!("{rate:.2}")))) }
                                td { (or_dash(pass.row.share_of_copy.map(percent))) }
                            },
                            PassGroup::Empty(passes) => tr {
                                @let row = merged(passes);
                                td { (empty_label(passes)) }
                                td { (us(row.empty.min_ns)) }
                                td { (us(row.empty.median_ns)) }
                                td colspan="4" {}
                                td { (percent(row.share)) }
                                td colspan="2" {}
                            },
                        }
                    } }
                } }
            }
        }
    }
}

fn memory(profile: &Profile) -> Markup {
    let n = profile.n_particles.max(1) as f64;
    let rows: Vec<_> = profile
        .memory
        .columns
        .iter()
        .filter(|row| row.bytes > 0)
        .take(COLUMNS_SHOWN)
        .map(|row| Bar {
            label: row.name.clone(),
            value: row.bytes as f64,
            text: format!("{} MB, {:.1} B/particle", mb(row.bytes), row.bytes as f64 / n),
            colour: 0,
        })
        .collect();
    html! {
        section {
            h2 { "Memory" }
            p {
                (mb(profile.memory.bytes)) " MB now, " (mb(profile.memory.bytes_peak)) " MB at most, "
                (format!("{:.1}", profile.memory.bytes as f64 / n)) " bytes a particle. The largest by name:"
            }
            (bars("memory by name", &rows, None))
            details {
                summary { "All of it" }
                div class="scroll" { table {
                    thead { tr { @for title in ["name", "objects", "now MB", "peak MB"] { th { (title) } } } }
                    tbody { @for row in &profile.memory.columns {
                        tr {
                            td { (row.name) } td { (row.objects) }
                            td { (mb(row.bytes)) } td { (mb(row.bytes_peak)) }
                        }
                    } }
                } }
            }
        }
    }
}

fn gaps(profile: &Profile) -> Markup {
    let gaps = &profile.gaps;
    html! {
        section {
            h2 { "Where the device waited for the host" }
            p {
                (gaps.submissions) " submissions, " (us(gaps.total_ns)) " µs idle between them in all, "
                (us(gaps.median_ns)) " µs in the median."
            }
            @if !gaps.largest.is_empty() {
                div class="scroll" { table {
                    thead { tr { th { "idle at ms" } th { "for µs" } th { "host meanwhile, µs" } } }
                    tbody { @for gap in &gaps.largest {
                        tr {
                            td { (format!("{:.3}", gap.start_ns as f64 / 1e6)) }
                            td { (us(gap.duration_ns)) }
                            td { (gap.host_activity()) }
                        }
                    } }
                } }
            }
        }
    }
}

fn varied(vary: &Vary) -> Markup {
    let measured: Vec<_> = vary.candidates.iter().filter(|c| c.refused.is_none()).collect();
    html! {
        section {
            h2 { "Steps by " (vary.key) }
            p {
                "The median of each kernel in µs, the best in green; the values took turns in one process. "
                @if vary.states_agree() {
                    "All ended in the same state, to the bit."
                } @else {
                    "Their final states differ."
                }
            }
            div class="scroll" { table {
                thead { tr { th { "kernel" } @for candidate in &measured { th { (candidate.value) } } } }
                tbody {
                    @for kernel in vary.kernels() { tr {
                        td { (kernel) }
                        @for candidate in &measured {
                            @let best = vary.best_for(kernel) == Some(candidate.value);
                            @let time = candidate.kernels_ns.get(kernel).map(|ns| us(*ns));
                            td class=[best.then_some("best")] { (or_dash(time)) }
                        }
                    } }
                    tr {
                        td { b { "step" } }
                        @for candidate in &measured {
                            @let best = vary.best() == Some(candidate.value);
                            td class=[best.then_some("best")] {
                                (or_dash(candidate.step_ns().map(us)))
                                @if !best && let Some(found) = vary.against_best(candidate) {
                                    " " span class=(found.verdict.to_string()) { (found.verdict) }
                                }
                            }
                        }
                    }
                }
            } }
            @for candidate in &vary.candidates { @if let Some(reason) = &candidate.refused {
                p { (vary.key) "=" (candidate.value) " was refused: " (reason) }
            } }
        }
    }
}

/// Returns a bar for the baseline's and one for the current time of each kernel in a step.
fn pairs(comparison: &ProfileComparison) -> Vec<Bar> {
    let pair = |(rank, kernel): (usize, &KernelComparison)| {
        let bar = |i: usize| {
            let step_us = kernel.step_ns[i].map(|ns| 1e-3 * ns as f64);
            let calls = kernel.rows[i].as_ref().map_or(0, super::ProfileRow::all_calls) as f64
                / comparison.runs[i].steps[0].max(1) as f64;
            Bar {
                label: format!("{} {}", kernel.kernel, ["baseline", "current"][i]),
                value: step_us.unwrap_or(0.0),
                text: step_us
                    .map_or_else(|| "–".to_owned(), |us| format!("{us:.1} µs, {calls:.1} calls a step")),
                colour: if i == 0 { colour(None) } else { colour(Some(rank)) },
            }
        };
        [bar(0), bar(1)]
    };
    comparison.kernels.iter().enumerate().flat_map(pair).collect()
}

/// Shows the facts of both runs side by side.
fn runs(comparison: &ProfileComparison) -> Markup {
    let both = |value: &dyn Fn(usize) -> String| [value(0), value(1)];
    let run = |i: usize| &comparison.runs[i];
    let lines = [
        (
            "commit",
            both(&|i| or_dash(run(i).git_commit.as_deref().map(|c| c.chars().take(12).collect::<String>()))),
        ),
        ("driver", both(&|i| run(i).driver.clone())),
        ("steps", both(&|i| format!("{} after {}", run(i).steps[0], run(i).steps[1]))),
        ("processes", both(&|i| run(i).processes.to_string())),
        ("step µs", both(&|i| or_dash(comparison.step.step_ns[i].map(us)))),
        ("copy GB/s", both(&|i| or_dash(run(i).copy_gb_per_s.map(|copy| format!("{copy:.1}"))))),
        ("memory, peak MB", both(&|i| mb(run(i).bytes_peak))),
        (
            "final state",
            both(&|i| or_dash(run(i).state_hash.as_deref().map(|h| h.chars().take(16).collect::<String>()))),
        ),
    ];
    html! {
        div class="scroll" { table {
            thead { tr { th {} th { "baseline" } th { "current" } } }
            tbody { @for (name, [a, b]) in &lines { tr { td { (name) } td { (a) } td { (b) } } } }
        } }
    }
}

fn against(comparison: &ProfileComparison) -> Markup {
    let interval = |interval: Option<[f64; 2]>| {
        or_dash(interval.filter(|i| i[1].is_finite()).map(|[from, to]| format!("{from:.3} to {to:.3}")))
    };
    let row = |k: &KernelComparison| {
        let verdict = k.verdict();
        let ratio = k.comparison.map(|f| f.ratio).filter(|ratio| ratio.is_finite());
        html! {
            tr {
                td { (k.kernel) }
                td { (or_dash(k.step_ns[0].map(us))) }
                td { (or_dash(k.step_ns[1].map(us))) }
                td { (or_dash(ratio.map(|ratio| format!("{ratio:.3}")))) }
                td { (interval(k.comparison.map(|f| f.interval))) }
                td { (interval(k.same_build)) }
                td class=(verdict) { (verdict) }
            }
        }
    };
    html! {
        section {
            h2 { "Against the baseline" }
            p {
                "Current time in a step over the baseline's, with the 95 % interval of processes; within "
                (percent(comparison.tolerance)) " is the same."
            }
            @for caution in &comparison.cautions { p { (caution) } }
            (runs(comparison))
            (bars("time of a step by kernel, baseline and current", &pairs(comparison), None))
            div class="scroll" { table {
                thead { tr {
                    @for title in [
                        "kernel", "baseline µs", "current µs", "ratio", "95 %", "A/A", "verdict",
                    ] { th { (title) } }
                } }
                tbody {
                    @for k in comparison.kernels.iter().chain([&comparison.step]) { (row(k)) }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compare_profiles, tests::profile};
    use super::*;

    /// Parses the body as XML, without HTML-only parts: fails unless every element is closed and every text
    /// escaped.
    fn body_of(page: &str) -> roxmltree::Document<'_> {
        let (from, to) = (page.find("<body>").unwrap(), page.find("</body>").unwrap() + "</body>".len());
        roxmltree::Document::parse(&page[from..to]).unwrap_or_else(|e| panic!("{e}: {page}"))
    }

    #[test]
    fn the_page_is_well_formed_and_shows_every_part() {
        let profile = profile();
        let comparison = compare_profiles(&profile, &profile, 0.05).unwrap();
        let page = profile_report(&profile, Some(&comparison));
        let body = body_of(&page);
        let texts: Vec<&str> = body.descendants().filter_map(|node| node.text()).collect();
        for kernel in profile.rows.iter().map(|row| row.kernel.as_str()) {
            let shown = texts.iter().filter(|text| text.trim() == kernel).count();
            assert!(shown >= 3, "{kernel} is shown {shown} times");
        }
        let all = texts.concat();
        for part in [
            "dam & break",
            "A software device",
            "Where the time goes",
            "One step",
            "copy 20.0 GB/s",
            "registers a <thread>",
            "position",
            "record 1.5, other 0.5",
            "Steps by workgroup_size",
            "workgroup_size=4096 was refused: too large",
            "Against the baseline",
            "pbd.lambda baseline",
            "calls a step",
            "pair 81.8",
            "time with time stamps over time without",
            "same",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        assert_eq!(body.descendants().filter(|node| node.has_tag_name("svg")).count(), 6);
    }

    #[test]
    fn the_page_is_self_contained() {
        let page = profile_report(&profile(), None);
        for foreign in ["http://", "https://", "<script", "@import", "url(", "src=", "href="] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_profile_without_a_measurement_still_has_a_page() {
        let empty = Profile {
            n_particles: 0,
            step_samples_ns: Vec::new(),
            rows: Vec::new(),
            passes: Vec::new(),
            kernels: Vec::new(),
            memory: Default::default(),
            gaps: Default::default(),
            timeline: Vec::new(),
            vary: None,
            samples_ns: Default::default(),
            copy_gb_per_s: None,
            ..profile()
        };
        let page = profile_report(&empty, None);
        body_of(&page);
        assert!(page.contains("not reported by this driver") && page.contains("No step was timed."));
    }
}
