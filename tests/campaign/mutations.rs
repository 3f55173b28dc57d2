//! Mutates every kind of file that frazil reads, and reads it.
//!
//! The readers run in the program `fuzz`, some hundred cases a process, whose memory is bounded: a count in a
//! file that is allocated before it is refused ends the process. The requirements are in the crate
//! `frazil-fuzz`. A process that is ended by a signal, or by its own limit of time, is the failure of the
//! case that it was in.

use crate::part::{Part, Setting};
use crate::table::{Count, Table};
use frazil_fuzz::{Session, targets};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

pub const PART: Part =
    Part { name: "mutations", about: "mutated files and scenes are refused or read, in bounded memory", run };

/// The cases of this seed are those of docs/results.md.
const SEED: u64 = 19;
/// Bound of the address space of a process in KiB: the largest maps and pictures that are accepted take a
/// quarter of it.
const MAX_MEMORY_KIB: u64 = 3 << 20;
/// Cases of one process.
const CASES_PER_PROCESS: u64 = 500;

/// Number of cases of a target.
fn n_cases(target: &str) -> u64 {
    match target {
        "scene" => 60_000,
        "overrides" | "scene_json" => 20_000,
        _ => 1000,
    }
}

/// Runs all cases that have no row yet.
fn run(setting: &Setting) -> Result<Count, String> {
    let mut table = Table::open(&setting.folder, PART.name)?;
    let inputs = setting.folder.join(PART.name);
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("fuzz");
    let names: Vec<&str> = targets::all().iter().map(|target| target.name).collect();
    for name in &names {
        let mut next = 0;
        while next < n_cases(name) && !setting.is_over() {
            if table.has(name, &next.to_string()) {
                next += 1;
                continue;
            }
            let end = (next - next % CASES_PER_PROCESS + CASES_PER_PROCESS).min(n_cases(name));
            next = run_process(&program, &inputs, name, next..end, &mut table)?;
        }
    }
    Ok(table.report(names.iter().flat_map(|name| (0..n_cases(name)).map(move |_| *name))))
}

/// Runs cases in one process, as far as it comes; returns the case to go on with.
fn run_process(
    program: &Path,
    inputs: &Path,
    name: &str,
    cases: std::ops::Range<u64>,
    table: &mut Table,
) -> Result<u64, String> {
    let folder = inputs.join("files").join(name);
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh", &MAX_MEMORY_KIB.to_string()])
        .arg(program)
        .args([name, &SEED.to_string(), &cases.start.to_string(), &cases.end.to_string()])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let mut next = cases.start;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| format!("{}: {error}", program.display()))?;
            // The line of a case that ended the process is its number alone.
            let Some((case, result)) = line.split_once(' ') else { break };
            let verdict = result.strip_prefix("FAILED ").map_or(Ok(result.to_owned()), |p| Err(p.to_owned()));
            if verdict.is_err() {
                keep(inputs, name, next)?;
            }
            table.add(name, case, verdict)?;
            next += 1;
        }
    }
    let status = child.wait().map_err(|error| format!("{}: {error}", program.display()))?;
    if next < cases.end {
        if status.code() == Some(2) {
            return Err(format!("{}: cannot run {name} in {}", program.display(), folder.display()));
        }
        keep(inputs, name, next)?;
        table.add(name, &next.to_string(), Err(format!("the process ended with {status}")))?;
        next += 1;
    }
    Ok(next)
}

/// Writes the file of a failed case beside the table.
fn keep(inputs: &Path, name: &str, case: u64) -> Result<(), String> {
    let target = targets::find(name).ok_or_else(|| format!("no target {name}"))?;
    let text = |error: std::io::Error| format!("{}: {error}", inputs.display());
    let session = Session::new(&target, &inputs.join("kept")).map_err(text)?;
    fs::write(inputs.join(format!("{name}-{case}")), session.file(SEED, case)).map_err(text)
}
