//! Fails file operations of runs, one at a time, and resumes the runs: nothing may be lost, nothing may be
//! silently wrong. `tools/campaign` builds what it needs and starts it.
//!
//! For each kind of fault and each file operation of a small run, the operation fails
//! (`tests/campaign/file_faults.c` says how). Then
//!
//! - the run has ended with a status of its own and a message, or was killed as planned;
//! - the checkpoint, if there is one, is whole, and the run resumed from it ends with the state, recording
//!   and metrics of a run without faults;
//! - without a checkpoint, a new run does.
//!
//! Results are in `campaign.csv`, a row each; a campaign that is started again goes on after the last row.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

/// A small dam break with all kinds of outputs, and checkpoints between them.
const SCENE: &[&str] = &[
    "run",
    "dam_break",
    "--set",
    "time.dt_s=0.002",
    "--set",
    "fluid.particle_spacing_m=0.0243333333",
    "--set",
    "render.width_px=160",
    "--set",
    "render.height_px=90",
    "--quiet",
];
const CADENCES: &[&str] =
    &["--steps", "24", "--record", "4", "--metrics", "5", "--render", "8", "--checkpoint", "7"];
const KINDS: [&str; 5] = ["kill", "power_cut", "eio", "enospc", "short"];
/// A run that takes longer hangs: it needs half a second.
const LONGEST: Duration = Duration::from_secs(60);

/// Result of a run with a fault, or the problem.
type Verdict = Result<&'static str, String>;

struct Campaign {
    program: PathBuf,
    faults: PathBuf,
    folder: PathBuf,
    reference: Outcome,
}

/// What a resumed run must reproduce.
#[derive(PartialEq)]
struct Outcome {
    state_hash: String,
    recording: Vec<u8>,
    metrics: Vec<u8>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, faults, folder] = &arguments[..] else {
        eprintln!("usage: campaign PROGRAM FAULTS.so FOLDER");
        return ExitCode::from(2);
    };
    match run(program.into(), faults.into(), folder.into()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("campaign: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Runs all cases that have no row yet; returns the number of failures.
fn run(program: PathBuf, faults: PathBuf, folder: PathBuf) -> Result<usize, String> {
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(&folder).map_err(text)?;
    let (out, log) = (folder.join("reference"), folder.join("operations"));
    let _ = fs::remove_dir_all(&out);
    let _ = fs::remove_file(&log);
    let mut campaign = Campaign { program, faults, folder, reference: Outcome::none() };
    let ended = campaign.start(&out, &[], &[("FRAZIL_FAULT_LOG", &log.display().to_string())])?;
    if !ended.status.success() {
        return Err(format!("the run without faults ended with {}: {}", ended.status, said(&ended)));
    }
    campaign.reference = Outcome::read(&out)?;
    let n_operations = fs::metadata(&log).map_err(text)?.len();

    let table = campaign.folder.join("campaign.csv");
    let done = fs::read_to_string(&table).unwrap_or_default();
    let n_done = done.lines().count();
    let mut file = OpenOptions::new().create(true).append(true).open(&table).map_err(text)?;
    let cases = KINDS.into_iter().flat_map(|kind| (1..=n_operations).map(move |at| (kind, at)));
    for (kind, at) in cases.skip(n_done) {
        let row = match campaign.case(kind, at) {
            Ok(result) => format!("{kind},{at},passed,{result}\n"),
            Err(problem) => format!("{kind},{at},FAILED,{}\n", problem.replace([',', '\n'], ";")),
        };
        file.write_all(row.as_bytes()).map_err(text)?;
    }
    report(&fs::read_to_string(&table).map_err(text)?)
}

/// Prints tried, passed and failed cases by kind, and the failures.
fn report(table: &str) -> Result<usize, String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in table.lines() {
        let cells: Vec<&str> = row.split(',').collect();
        let [kind, _, result, ..] = cells[..] else { return Err(format!("not a row: {row}")) };
        let (tried, failed) = counts.entry(kind).or_default();
        *tried += 1;
        *failed += usize::from(result != "passed");
        if result != "passed" {
            println!("{row}");
        }
    }
    println!("{:<12}{:>8}{:>8}{:>8}", "fault", "tried", "passed", "failed");
    for (kind, (tried, failed)) in &counts {
        println!("{kind:<12}{tried:>8}{:>8}{failed:>8}", tried - failed);
    }
    Ok(counts.values().map(|(_, failed)| failed).sum())
}

impl Campaign {
    /// Runs with a fault, and resumes.
    fn case(&self, kind: &str, at: u64) -> Verdict {
        let out = self.folder.join("run");
        let _ = fs::remove_dir_all(&out);
        let (number, dir) = (at.to_string(), out.display().to_string());
        let environment =
            [("FRAZIL_FAULT_KIND", kind), ("FRAZIL_FAULT_AT", &*number), ("FRAZIL_FAULT_DIR", &*dir)];
        let ended = self.start(&out, &[], &environment)?;
        let is_killed = ended.status.code().is_none();
        match ended.status.code() {
            None if matches!(kind, "kill" | "power_cut") => {}
            // Files that do not matter for the result may fail, such as the cache of pipelines.
            Some(0) if !matches!(kind, "kill" | "power_cut") => {}
            Some(1 | 2) if said(&ended).contains("error: ") => {}
            _ => return Err(format!("ended with {}: {}", ended.status, said(&ended))),
        }
        let checkpoint = out.join("checkpoint.frazil-ckpt");
        if !checkpoint.exists() {
            let _ = fs::remove_dir_all(&out);
            self.must_reproduce(&out, &[])?;
            return Ok("new run");
        }
        frazil_io::Checkpoint::read(&checkpoint).map_err(|error| error.to_string())?;
        let resume = ["--resume", &*checkpoint.display().to_string()];
        self.must_reproduce(&out, &resume)?;
        Ok(if is_killed { "resumed" } else { "reported and resumed" })
    }

    /// Runs without faults, and compares with the reference.
    fn must_reproduce(&self, out: &Path, arguments: &[&str]) -> Result<(), String> {
        let ended = self.start(out, arguments, &[])?;
        if !ended.status.success() {
            return Err(format!("{arguments:?} ended with {}: {}", ended.status, said(&ended)));
        }
        let outcome = Outcome::read(out)?;
        for (what, is_same) in [
            ("the state", outcome.state_hash == self.reference.state_hash),
            ("the recording", outcome.recording == self.reference.recording),
            ("metrics.csv", outcome.metrics == self.reference.metrics),
        ] {
            if !is_same {
                return Err(format!("{arguments:?}: {what} differs from that of a run without faults"));
            }
        }
        Ok(())
    }

    /// Runs the scene into a folder.
    fn start(&self, out: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        command.args(SCENE).args(CADENCES).args(arguments).arg("--out").arg(out);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if !environment.is_empty() {
            command.env("LD_PRELOAD", &self.faults).env("FRAZIL_FAULT_DIR", out);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.program.display()))?;
        let begin = Instant::now();
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if begin.elapsed() > LONGEST {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("hangs: killed after {} s", LONGEST.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().map_err(|error| error.to_string())
    }
}

impl Outcome {
    fn none() -> Self {
        Self { state_hash: String::new(), recording: Vec::new(), metrics: Vec::new() }
    }

    fn read(out: &Path) -> Result<Self, String> {
        let read = |name: &str| fs::read(out.join(name)).map_err(|error| format!("{name}: {error}"));
        let report = frazil_io::RunInfo::read(&out.join("run.json")).map_err(|error| error.to_string())?;
        Ok(Self {
            state_hash: report.final_state_hash.unwrap_or_default(),
            recording: read("recording.frazil-rec")?,
            metrics: read("metrics.csv")?,
        })
    }
}

/// Returns what a run has written to stderr.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}
