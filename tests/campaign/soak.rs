//! Runs a small scene of each solver for many steps, and samples memory, handles, threads and the time of a
//! step: none may grow. The state is checked on the way, and the program's own checkpoints and metrics are
//! written.
//!
//! Memory is that of the process without pages of files, which the system drops as it likes; on a software
//! device it includes the memory of the device. A line is fitted through the samples after a tenth of the
//! run. Memory has grown if its slope is more than three standard errors, and the line rises by more than
//! [`ALLOWED_MIB`]; the highest number of handles, or of threads, in the last half of the run must not be
//! above that of the half before.

use crate::outcome::Outcome;
use crate::part::{Part, Setting};
use crate::process::said;
use crate::scenes::{Runs, Scene, remove};
use crate::table::{Count, Table};
use crate::workers;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub const PART: Part = Part {
    name: "soak",
    about: "many steps: memory, handles, threads and the time of a step stay flat",
    run,
};

/// Steps of each scene.
const STEPS: u64 = 5_000_000;
/// Time for a scene without `--minutes`.
const TIME: Duration = Duration::from_secs(2 * 3600);
/// Interval of samples.
const INTERVAL: Duration = Duration::from_millis(500);
/// Rise of memory that an allocator's pages may cause.
const ALLOWED_MIB: f64 = 1.0;

const OUTPUTS: &[&str] = &[
    "--record",
    "never",
    "--render",
    "never",
    "--metrics",
    "100",
    "--check",
    "1000",
    "--checkpoint",
    "5000",
];

/// Tiny scenes, so that a step takes a fraction of a millisecond; the fastest ones first, so that they leave
/// time to the others.
const SCENES: [Scene; 5] = [
    soaked("dem", &["column_collapse", "--set", "scale=0.2"]),
    soaked("mpm", &["snowball_collision", "--set", "scale=0.1"]),
    soaked("water", &["dam_break", "--set", "fluid.particle_spacing_m=0.06"]),
    soaked("snow", &["melting", "--set", "scale=0.08"]),
    soaked("viscoelastic", &["viscoelastic_springs", "--set", "scale=0.15"]),
];

const fn soaked(name: &'static str, scene: &'static [&'static str]) -> Scene {
    Scene { name, scene, outputs: OUTPUTS, steps: STEPS }
}

/// State of the process at a step.
struct Sample {
    seconds: f64,
    step: f64,
    memory_mib: f64,
    handles: usize,
    threads: usize,
}

/// Runs all scenes that have no row yet, several at a time.
fn run(setting: &Setting) -> Result<Count, String> {
    let table = Table::open(&setting.folder, PART.name)?;
    let scenes: Vec<&Scene> = SCENES.iter().filter(|scene| !table.has("soak", scene.name)).collect();
    // The time that is left is divided among the scenes that have not begun.
    let (n_waiting, table) = (AtomicUsize::new(scenes.len()), Mutex::new(table));
    let ended = workers::map(setting.jobs, scenes, |scene| {
        let n_waiting = n_waiting.fetch_sub(1, Ordering::Relaxed);
        let rounds = n_waiting.div_ceil(setting.jobs) as u32;
        let time = setting
            .deadline
            .map_or(TIME, |deadline| deadline.saturating_duration_since(Instant::now()) / rounds);
        let verdict = soak(setting, scene, time);
        table.lock().unwrap_or_else(PoisonError::into_inner).add("soak", scene.name, verdict)
    });
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(table.report(SCENES.iter().map(|_| "soak")))
}

/// Runs a scene to its last step, or until the time is over; the run then ends as by Ctrl-C.
fn soak(setting: &Setting, scene: &Scene, time: Duration) -> Result<String, String> {
    let folder = setting.folder.join("soak");
    let out = folder.join(scene.name);
    remove(&out)?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let runs = Runs::new(setting);
    let mut command = runs.command(scene, &out, None, None);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let samples = sample(&mut child, &out, time)?;
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    let is_interrupted = ended.status.code() == Some(1) && said(&ended).contains("interrupted at step");
    if !ended.status.success() && !is_interrupted {
        return Err(format!("{}: {}", ended.status, said(&ended)));
    }
    if !is_interrupted {
        // All files are there.
        Outcome::read(&out)?;
    }
    write_samples(&folder.join(format!("{}.csv", scene.name)), &samples)?;
    judge(&samples, &step_times(&out)?)
}

/// Samples the process until it ends; after `time` it is interrupted.
fn sample(child: &mut Child, out: &Path, time: Duration) -> Result<Vec<Sample>, String> {
    let (begin, mut is_interrupted) = (Instant::now(), false);
    let mut samples = Vec::new();
    let root = format!("/proc/{}", child.id());
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if begin.elapsed() > time && !is_interrupted {
            is_interrupted = true;
            let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        }
        if let (Some(step), Some(memory_mib)) = (last_step(out), memory_mib(&root))
            && !is_interrupted
        {
            let entries = |name: &str| fs::read_dir(format!("{root}/{name}")).map_or(0, Iterator::count);
            let (handles, threads) = (entries("fd"), entries("task"));
            samples.push(Sample {
                seconds: begin.elapsed().as_secs_f64(),
                step,
                memory_mib,
                handles,
                threads,
            });
        }
        std::thread::sleep(INTERVAL);
    }
    Ok(samples)
}

/// Returns the step of the last row of `metrics.csv`.
fn last_step(out: &Path) -> Option<f64> {
    use std::io::{Read, Seek, SeekFrom};
    const END_BYTES: i64 = 4096;
    let mut file = fs::File::open(out.join("metrics.csv")).ok()?;
    let length = file.metadata().ok()?.len() as i64;
    file.seek(SeekFrom::End(-END_BYTES.min(length))).ok()?;
    let mut end = String::new();
    file.read_to_string(&mut end).ok()?;
    // The last row may be incomplete.
    end.lines().rev().nth(1)?.split(',').next()?.parse().ok()
}

/// Returns the memory of a process that is not that of files, resident or swapped out, from its folder in
/// /proc.
fn memory_mib(root: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("{root}/status")).ok()?;
    let kib = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some((kib("RssAnon:")? + kib("RssShmem:")? + kib("VmSwap:")?) / 1024.0)
}

/// Reads the steps and the milliseconds per step of `timing.csv`.
fn step_times(out: &Path) -> Result<Vec<(f64, f64)>, String> {
    let table = frazil_io::MetricsTable::read(&out.join("timing.csv")).map_err(|error| error.to_string())?;
    let column = |name: &str| table.column(name).map_err(|error| error.to_string());
    Ok(column("step")?.iter().copied().zip(column("step_time")?.iter().copied()).collect())
}

fn write_samples(path: &Path, samples: &[Sample]) -> Result<(), String> {
    let mut text = "seconds,step,memory [MiB],handles,threads\n".to_owned();
    for Sample { seconds, step, memory_mib, handles, threads } in samples {
        let _ = writeln!(text, "{seconds:.1},{step},{memory_mib:.3},{handles},{threads}");
    }
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Slope of a line of least squares and its standard error.
#[derive(Clone, Copy)]
struct Slope {
    value: f64,
    error: f64,
}

/// Fits a line; none through fewer than three points, or points above one another.
fn fit(points: &[(f64, f64)]) -> Option<Slope> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x0, y0) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - x0, y - y0)).sum::<f64>();
    let spread = sum(&|x, _| x * x);
    if points.len() < 3 || spread <= 0.0 {
        return None;
    }
    let value = sum(&|x, y| x * y) / spread;
    let residual = sum(&|x, y| (y - value * x).powi(2));
    Some(Slope { value, error: (residual / (n - 2.0) / spread).sqrt() })
}

/// Decides whether something has grown, and describes the samples.
fn judge(samples: &[Sample], times: &[(f64, f64)]) -> Result<String, String> {
    // After the last step the run draws its plots.
    let end = samples.last().map_or(0.0, |sample| sample.step);
    let n_running = samples.partition_point(|sample| sample.step < end);
    let samples = &samples[..n_running];
    let last = samples.last().ok_or("no sample: the run was too short")?;
    let warm: Vec<&Sample> = samples.iter().filter(|sample| sample.step >= 0.1 * last.step).collect();
    let memory: Vec<(f64, f64)> = warm.iter().map(|sample| (sample.step, sample.memory_mib)).collect();
    let slope = fit(&memory).ok_or("too few samples: give it more --minutes")?;
    let first = warm.first().map_or(0.0, |sample| sample.step);
    let rise_mib = slope.value * (last.step - first);
    let (before, after) = warm.split_at(warm.len() / 2);
    let highest =
        |samples: &[&Sample], of: fn(&Sample) -> usize| samples.iter().map(|s| of(s)).max().unwrap_or(0);
    let day_mib = slope.value * last.step / last.seconds * 86_400.0;
    let day_error_mib = slope.error * last.step / last.seconds * 86_400.0;
    let late: Vec<(f64, f64)> = times.iter().copied().filter(|(step, _)| *step >= 0.1 * last.step).collect();
    let half = |range: &[(f64, f64)]| {
        let mut values: Vec<f64> = range.iter().map(|(_, ms)| *ms).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (early_ms, late_ms) = (half(&late[..late.len() / 2]), half(&late[late.len() / 2..]));
    let Sample { seconds, step, memory_mib, handles, threads } = last;
    let [per_million, its_error] = [slope.value, slope.error].map(|value| 1e6 * value);
    let text = [
        format!(
            "{step} of {STEPS} steps in {seconds:.0} s; memory {memory_mib:.1} MiB; rise {rise_mib:.2} MiB"
        ),
        format!("slope {per_million:.3} ± {its_error:.3} MiB per million steps"),
        format!("projected {day_mib:.1} ± {day_error_mib:.1} MiB per day"),
        format!("handles {handles}; threads {threads}"),
        format!("median ms per step {early_ms:.3} then {late_ms:.3}"),
    ]
    .join("; ");
    if slope.value > 3.0 * slope.error && rise_mib > ALLOWED_MIB {
        return Err(format!("memory grows: {text}"));
    }
    for (what, of) in [("handles", (|s| s.handles) as fn(&Sample) -> usize), ("threads", |s| s.threads)] {
        let (before, after) = (highest(before, of), highest(after, of));
        if after > before {
            return Err(format!("{what} grow from {before} to {after}: {text}"));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: impl Fn(usize) -> (f64, usize)) -> Vec<Sample> {
        let sample = |i: usize| {
            let (memory_mib, handles) = of(i);
            Sample { seconds: i as f64, step: 100.0 * i as f64, memory_mib, handles, threads: 4 }
        };
        (0..200).map(sample).collect()
    }

    #[test]
    fn growth_is_found_and_noise_is_not() {
        let noise = |i: usize| f64::from((i * 7919 % 13) as u32) * 0.1;
        assert!(judge(&samples(|i| (100.0 + noise(i), 20)), &[]).is_ok());
        // The warm-up is not growth.
        assert!(judge(&samples(|i| (if i < 15 { 50.0 } else { 100.0 } + noise(i), 20)), &[]).is_ok());
        let leak = judge(&samples(|i| (100.0 + noise(i) + 0.02 * i as f64, 20)), &[]).unwrap_err();
        assert!(leak.starts_with("memory grows"), "{leak}");
        let handles = judge(&samples(|i| (100.0, 20 + i / 150)), &[]).unwrap_err();
        assert!(handles.starts_with("handles grow from 20 to 21"), "{handles}");
    }

    #[test]
    fn a_line_has_its_slope_and_error() {
        let exact: Vec<(f64, f64)> = (0..5).map(|x| (f64::from(x), 3.0 - 2.0 * f64::from(x))).collect();
        let slope = fit(&exact).unwrap();
        assert!((slope.value + 2.0).abs() < 1e-12 && slope.error < 1e-12);
        // Residuals 1, -2, 1 about the mean 0: s² = 6, Σx² = 2.
        let slope = fit(&[(-1.0, 1.0), (0.0, -2.0), (1.0, 1.0)]).unwrap();
        assert!(slope.value.abs() < 1e-12 && (slope.error - 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(fit(&exact[..2]).is_none());
    }
}
