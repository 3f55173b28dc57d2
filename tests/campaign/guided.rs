//! Fuzzes every reader with libFuzzer, which keeps the files that reach new code and mutates them further.
//!
//! The program is `tests/fuzz/guided`; `tools/campaign` builds it with counters of edges. Each reader begins
//! with its valid files, the inputs that once failed, and what earlier campaigns in the same folder kept. A
//! case fails if a reader violates a requirement of `frazil-fuzz`, panics, takes 30 s or 3 GiB: the file is
//! then in `guided/TARGET`.

use crate::part::{Part, Setting};
use crate::table::{Count, Table};
use crate::workers;
use frazil_fuzz::{Session, targets};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub const PART: Part =
    Part { name: "guided", about: "every reader, by libFuzzer, which is guided by coverage", run };

/// Time of a target without `--minutes`.
const TIME: Duration = Duration::from_secs(3600);

/// Fuzzes all targets that have no row yet, several at a time.
fn run(setting: &Setting) -> Result<Count, String> {
    let table = Table::open(&setting.folder, PART.name)?;
    let names: Vec<&str> = targets::all().iter().map(|target| target.name).collect();
    let pending: Vec<&str> = names.iter().copied().filter(|name| !table.has(PART.name, name)).collect();
    // The time that is left is divided among the targets that have not begun.
    let (n_waiting, table) = (AtomicUsize::new(pending.len()), Mutex::new(table));
    let ended = workers::map(setting.jobs, pending, |name| {
        let rounds = n_waiting.fetch_sub(1, Ordering::Relaxed).div_ceil(setting.jobs) as u32;
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / rounds;
        let verdict = fuzz(setting, name, setting.deadline.map_or(TIME, left))?;
        table.lock().unwrap_or_else(PoisonError::into_inner).add(PART.name, name, verdict)
    });
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(table.report(names.iter().map(|_| PART.name)))
}

/// Fuzzes a target; returns its numbers, or the failure.
fn fuzz(setting: &Setting, name: &str, time: Duration) -> Result<Result<String, String>, String> {
    let folder = setting.folder.join("guided").join(name);
    let corpus = folder.join("corpus");
    let n_seeds = write_seeds(name, &folder.join("files"), &corpus)?;
    let program = setting.folder.join("guided_fuzzer");
    let ended = Command::new(&program)
        .arg(&corpus)
        .arg(format!("-max_total_time={}", time.as_secs().max(1)))
        .arg(format!("-artifact_prefix={}/", folder.display()))
        .args(["-max_len=262144", "-timeout=30", "-rss_limit_mb=3072", "-print_final_stats=1", "-seed=19"])
        .args(["-use_value_profile=1", "-verbosity=1"])
        .env("FRAZIL_FUZZ_TARGET", name)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    fs::write(folder.join("log.txt"), &said).map_err(|error| format!("{}: {error}", folder.display()))?;
    let statistics = Statistics::read(&said).ok_or_else(|| format!("{name}: no libFuzzer: {said}"))?;
    let Statistics { runs, first_edges, edges } = statistics;
    let kept = fs::read_dir(&corpus).map_or(0, Iterator::count);
    let text = format!(
        "{runs} files in {} s; edges {first_edges} of {n_seeds} seeds and {edges}; {kept} kept",
        time.as_secs()
    );
    if ended.status.success() {
        return Ok(Ok(text));
    }
    let problem = said.lines().find(|line| line.contains("panicked at") || line.contains("ERROR: libFuzzer"));
    let after = said.lines().skip_while(|line| Some(*line) != problem).nth(1).unwrap_or_default();
    Ok(Err(format!("{} {after}; {text}", problem.unwrap_or("ended without a message"))))
}

/// Writes the valid files and those that once failed to the corpus; returns their number.
fn write_seeds(name: &str, files: &Path, corpus: &Path) -> Result<usize, String> {
    let text = |error: std::io::Error| format!("{}: {error}", corpus.display());
    let target = targets::find(name).ok_or_else(|| format!("no target {name}"))?;
    fs::create_dir_all(corpus).map_err(text)?;
    let session = Session::new(&target, files).map_err(text)?;
    let regressions = session.regressions().map_err(text)?;
    let seeds = session.seeds().iter().chain(regressions.iter().map(|(_, bytes)| bytes));
    let mut n_seeds = 0;
    for bytes in seeds {
        fs::write(corpus.join(format!("seed-{n_seeds}")), bytes).map_err(text)?;
        n_seeds += 1;
    }
    Ok(n_seeds)
}

/// Numbers that libFuzzer prints.
#[derive(Debug, PartialEq)]
struct Statistics {
    runs: u64,
    /// Edges of the code that the corpus reached at the start.
    first_edges: u64,
    edges: u64,
}

impl Statistics {
    fn read(text: &str) -> Option<Self> {
        let after = |line: &str, word: &str| -> Option<u64> {
            line.split_once(word)?.1.split_whitespace().next()?.parse().ok()
        };
        let edges = |line: &str| after(line, " cov: ");
        let first_edges = text.lines().find(|line| line.contains("INITED")).and_then(edges)?;
        let edges = text.lines().filter_map(edges).max()?;
        // A run that fails has no final statistics, and its last line has the number.
        let number = |line: &str| line.strip_prefix('#')?.split_whitespace().next()?.parse().ok();
        let executed = |line: &str| after(line, "stat::number_of_executed_units:");
        let runs = text.lines().find_map(executed).or_else(|| text.lines().filter_map(number).max())?;
        Some(Self { runs, first_edges, edges })
    }
}

#[cfg(test)]
mod tests {
    use super::Statistics;

    #[test]
    fn numbers_of_lib_fuzzer_are_read() {
        let lines = "INFO: seed corpus: files: 2\n#3\tINITED cov: 100 ft: 120 corp: 2/9b exec/s: 0 rss: \
                     40Mb\n\
                     #57\tNEW    cov: 117 ft: 140 corp: 3/12b lim: 4 exec/s: 0 rss: 40Mb L: 3/5 MS: 1 \
                     Custom-\n";
        let of = |runs| Some(Statistics { runs, first_edges: 100, edges: 117 });
        assert_eq!(Statistics::read(lines), of(57));
        let finished = format!("{lines}Done 2000 runs\nstat::number_of_executed_units: 2000\n");
        assert_eq!(Statistics::read(&finished), of(2000));
        assert_eq!(Statistics::read("error while loading shared libraries"), None);
    }
}
