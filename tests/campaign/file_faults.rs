//! Fails file operations of runs, one at a time, and resumes the runs.
//!
//! For each kind of fault and each file operation of a small run, the operation fails
//! (`tests/campaign/file_faults.c` says how). Then
//!
//! - the run has ended with a status of its own and a message, or was killed as planned;
//! - the checkpoint, if there is one, is whole, and the run resumed from it ends with the state, recording
//!   and metrics of a run without faults;
//! - without a checkpoint, a new run does.

use crate::outcome::Outcome;
use crate::part::{Part, Setting};
use crate::process::{self, said};
use crate::table::{Count, Table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

pub const PART: Part = Part { name: "files", about: "every file operation of a run fails in turn", run };

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
    reference: Option<Outcome>,
}

/// Runs all cases that have no row yet.
fn run(setting: &Setting) -> Result<Count, String> {
    let text = |error: std::io::Error| error.to_string();
    let folder = setting.folder.join("files");
    fs::create_dir_all(&folder).map_err(text)?;
    let (out, log) = (folder.join("reference"), folder.join("operations"));
    let _ = fs::remove_dir_all(&out);
    let _ = fs::remove_file(&log);
    let faults = setting.folder.join("file_faults.so");
    let mut campaign = Campaign { program: setting.program.clone(), faults, folder, reference: None };
    let ended = campaign.start(&out, &[], &[("FRAZIL_FAULT_LOG", &log.display().to_string())])?;
    if !ended.status.success() {
        return Err(format!("the run without faults ended with {}: {}", ended.status, said(&ended)));
    }
    campaign.reference = Some(Outcome::read(&out)?);
    let n_operations = fs::metadata(&log).map_err(text)?.len();

    let mut table = Table::open(&setting.folder, PART.name)?;
    let cases = KINDS.into_iter().flat_map(|kind| (1..=n_operations).map(move |at| (kind, at)));
    for (kind, at) in cases.clone() {
        if setting.is_over() {
            break;
        }
        if !table.has(kind, &at.to_string()) {
            table.add(kind, &at.to_string(), campaign.case(kind, at).map(str::to_owned))?;
        }
    }
    Ok(table.report(cases.map(|(kind, _)| kind)))
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
        let Some(reference) = &self.reference else { return Ok(()) };
        Outcome::read(out)?.must_equal(reference).map_err(|problem| format!("{arguments:?}: {problem}"))
    }

    /// Runs the scene into a folder.
    fn start(&self, out: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        command.args(SCENE).args(CADENCES).args(arguments).arg("--out").arg(out);
        if !environment.is_empty() {
            command.env("LD_PRELOAD", &self.faults).env("FRAZIL_FAULT_DIR", out);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        process::run(&mut command, LONGEST)
    }
}
