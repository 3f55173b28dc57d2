//! Fails file operations of runs, one at a time, and continues the runs.
//!
//! For each kind of fault and each file operation of a run, the operation fails
//! (`tests/campaign/file_faults.c` says how): of a new run, of a run that is resumed, of one that writes maps
//! of a flow, and reading operations of a resumed run. Then
//!
//! - the run has ended with a status of its own and a message, or was killed as planned;
//! - the checkpoint, if there is one, is whole; the run resumed from it, or begun anew without one, ends with
//!   the state and the files of a run without faults.
//!
//! Controls, in which syncs have no effect, must fail. If there is strace, the operations that count are
//! compared with the system calls of the run.

use crate::outcome::Outcome;
use crate::part::{Part, Setting};
use crate::process::{self, said};
use crate::scenes::{Fault, Runs, Scene, checkpoint_step, remove};
use crate::table::{Count, Table};
use crate::workers;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub const PART: Part = Part { name: "files", about: "every file operation of a run fails in turn", run };

/// Class of the comparison with strace.
const COVERAGE: &str = "coverage";

/// Interval of checkpoints, and the same as an argument.
const EVERY: u64 = 5;
const EVERY_TEXT: &str = "5";

/// Water with all kinds of outputs.
const WATER: Scene = Scene {
    name: "water",
    scene: &[
        "dam_break",
        "--set",
        "fluid.particle_spacing_m=0.0365",
        "--set",
        "render.width_px=64",
        "--set",
        "render.height_px=32",
    ],
    outputs: &["--record", "3", "--metrics", "4", "--render", "6", "--checkpoint", EVERY_TEXT],
    steps: 12,
};

/// Grains on a terrain, with maps at the end.
const TERRAIN: Scene = Scene {
    name: "terrain",
    scene: &["avalanche", "--set", "scale=0.2"],
    outputs: &["--record", "3", "--metrics", "4", "--render", "never", "--checkpoint", EVERY_TEXT],
    steps: 8,
};

/// A series of cases: the operations of one run fail, in one way.
struct Class {
    name: String,
    scene: &'static Scene,
    /// True if the run continues one that has ended at half of its steps.
    is_resumed: bool,
    is_reading: bool,
    kind: &'static str,
    /// "files" or "folders" if syncs of these have no effect: a power cut at the last operation must be
    /// found.
    unsynced: Option<&'static str>,
}

fn classes() -> Vec<Class> {
    let class = |name: &str, scene, is_resumed, is_reading, kind: &'static str| {
        let name = format!("{kind}{name}");
        Class { name, scene, is_resumed, is_reading, kind, unsynced: None }
    };
    let control = [("power_cut", "files"), ("lost_names", "folders")].map(|(kind, unsynced)| Class {
        name: format!("{kind} unsynced {unsynced}"),
        unsynced: Some(unsynced),
        ..class("", &WATER, false, false, kind)
    });
    let new = ["kill", "torn", "power_cut", "lost_names", "eio", "enospc", "short"];
    let new = new.map(|kind| class("", &WATER, false, false, kind));
    let resumed =
        ["kill", "power_cut", "lost_names", "eio"].map(|kind| class(" resumed", &WATER, true, false, kind));
    let terrain =
        ["kill", "lost_names", "enospc"].map(|kind| class(" terrain", &TERRAIN, false, false, kind));
    let reading = [class(" reading", &WATER, true, true, "eio")];
    new.into_iter().chain(resumed).chain(terrain).chain(reading).chain(control).collect()
}

/// Runs of one scene, new or resumed, and the number of their operations.
struct Subject {
    expected: Outcome,
    /// Folder of a run that has ended at half of its steps.
    half: PathBuf,
    n_operations: u64,
}

struct Campaign {
    runs: Runs,
    library: PathBuf,
    folder: PathBuf,
}

/// Runs all cases that have no row yet, those of several classes at a time.
fn run(setting: &Setting) -> Result<Count, String> {
    let table = Mutex::new(Table::open(&setting.folder, PART.name)?);
    compare_with_strace(setting, &table)?;
    let numbers = workers::map(setting.jobs, classes(), |class| of_class(setting, &class, &table));
    let numbers = numbers.into_iter().collect::<Result<Vec<(String, u64)>, String>>()?;
    let planned = numbers.iter().flat_map(|(class, n)| (0..*n).map(move |_| class.as_str()));
    let table = table.into_inner().map_err(|error| error.to_string())?;
    Ok(table.report([COVERAGE].into_iter().chain(planned)))
}

/// Runs the cases of a class; returns its name and their number.
fn of_class(setting: &Setting, class: &Class, table: &Mutex<Table>) -> Result<(String, u64), String> {
    let campaign = Campaign::new(setting, &class.name)?;
    let subject = campaign.subject(class)?;
    let first = if class.unsynced.is_some() { subject.n_operations } else { 1 };
    for at in first..=subject.n_operations {
        let case = at.to_string();
        let table = || table.lock().map_err(|error| error.to_string());
        if setting.is_over() || table()?.has(&class.name, &case) {
            continue;
        }
        let verdict = match (class.unsynced, campaign.case(class, &subject, at)) {
            (None, verdict) => verdict,
            (Some(_), Err(problem)) => Ok(format!("found: {problem}")),
            (Some(unsynced), Ok(_)) => Err(format!("not found that syncs of {unsynced} had no effect")),
        };
        table()?.add(&class.name, &case, verdict)?;
    }
    Ok((class.name.clone(), subject.n_operations + 1 - first))
}

/// Adds the row that tells whether all operations count.
fn compare_with_strace(setting: &Setting, table: &Mutex<Table>) -> Result<(), String> {
    let mut table = table.lock().map_err(|error| error.to_string())?;
    if setting.is_over() || table.has(COVERAGE, WATER.name) {
        return Ok(());
    }
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        return table.skip(COVERAGE, WATER.name, "no strace");
    }
    let verdict = Campaign::new(setting, COVERAGE)?.compare_with_strace();
    table.add(COVERAGE, WATER.name, verdict)
}

impl Campaign {
    fn new(setting: &Setting, class: &str) -> Result<Self, String> {
        let folder = setting.folder.join("files").join(class.replace(' ', "_"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { runs: Runs::new(setting), library: setting.folder.join("file_faults.so"), folder })
    }

    /// Runs without faults, to count the operations and to know the results.
    fn subject(&self, class: &Class) -> Result<Subject, String> {
        let expected = self.runs.reference(class.scene, &self.folder.join("reference"))?;
        let half = self.folder.join("half");
        remove(&half)?;
        if class.is_resumed {
            let begun = Scene { steps: class.scene.steps / 2, ..*class.scene };
            // It ends as if it were killed: only what a checkpoint names is there for certain.
            let fault = Fault::new(&self.library, &half, "kill", 1).with("FRAZIL_FAULT_ONLY", "run.json");
            self.runs.run(&begun, &half, Some(&fault))?;
        }
        let (out, log) = (self.folder.join("run"), self.folder.join("operations"));
        self.begin(class, &half, &out)?;
        let _ = fs::remove_file(&log);
        let counting = self.fault(class, &out, 0).with("FRAZIL_FAULT_LOG", log.display().to_string());
        let ended = self.runs.run(class.scene, &out, Some(&counting))?;
        if !ended.status.success() {
            return Err(format!("{} without faults: {}: {}", class.name, ended.status, said(&ended)));
        }
        let same = Outcome::read(&out)?.must_equal(&expected);
        same.map_err(|problem| format!("{} without faults: {problem}", class.name))?;
        let operations = fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        Ok(Subject { expected, half, n_operations: operations.lines().count() as u64 })
    }

    fn fault(&self, class: &Class, out: &Path, at: u64) -> Fault<'_> {
        let fault = Fault::new(&self.library, out, class.kind, at);
        let fault = fault.with("FRAZIL_FAULT_UNSYNCED", class.unsynced.unwrap_or_default());
        if class.is_reading { fault.with("FRAZIL_FAULT_READS", "1") } else { fault }
    }

    /// Prepares the folder of a run.
    fn begin(&self, class: &Class, half: &Path, out: &Path) -> Result<(), String> {
        remove(out)?;
        remove(&out.with_extension("lost"))?;
        if class.is_resumed {
            copy(half, out).map_err(|error| format!("{}: {error}", out.display()))
        } else {
            Ok(())
        }
    }

    /// Runs with a fault, and continues.
    fn case(&self, class: &Class, subject: &Subject, at: u64) -> Result<String, String> {
        let out = self.folder.join("run");
        self.begin(class, &subject.half, &out)?;
        let log = self.folder.join("operations");
        let _ = fs::remove_file(&log);
        let fault = self.fault(class, &out, at).with("FRAZIL_FAULT_LOG", log.display().to_string());
        let before = checkpoint_step(&out)?;
        let ended = self.runs.run(class.scene, &out, Some(&fault))?;
        let is_kill = !matches!(class.kind, "eio" | "enospc" | "short");
        let operations = fs::read_to_string(&log).unwrap_or_default();
        let ended_by = match ended.status.code() {
            None if is_kill => {
                must_be_kept(class.scene, before, checkpoint_step(&out)?, &operations)?;
                "killed"
            }
            // Rows of step times are written as often as the machine is fast.
            Some(0) if (operations.lines().count() as u64) < at => "not reached",
            // Files that do not matter for the result may fail, such as the cache of pipelines; half of a
            // write is followed by the rest.
            Some(0) if !is_kill => "succeeded",
            Some(1 | 2) if !is_kill && said(&ended).contains("error: ") => "reported",
            _ => return Err(format!("ended with {}: {}", ended.status, said(&ended))),
        };
        if ended.status.success() {
            let same = Outcome::read(&out)?.must_equal(&subject.expected);
            same.map_err(|problem| format!("{ended_by}, but {problem}"))?;
        }
        let continued = match self.runs.must_reproduce(class.scene, &out, &subject.expected)? {
            Some(_) => "resumed",
            None => "begun anew",
        };
        Ok(format!("{ended_by}; {continued}"))
    }

    /// Compares the operations that count with the system calls that strace sees.
    fn compare_with_strace(&self) -> Result<String, String> {
        let (out, log, trace) =
            (self.folder.join("run"), self.folder.join("operations"), self.folder.join("trace"));
        remove(&out)?;
        let _ = fs::remove_file(&log);
        let fault =
            Fault::new(&self.library, &out, "none", 0).with("FRAZIL_FAULT_LOG", log.display().to_string());
        let run = self.runs.command(&WATER, &out, None, Some(&fault));
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-e", "trace=%file,%desc", "-o"]).arg(&trace).arg(run.get_program());
        command.args(run.get_args());
        for (name, value) in run.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let ended = process::run(&mut command, Duration::from_secs(600))?;
        if !ended.status.success() {
            return Err(format!("{}: {}", ended.status, said(&ended)));
        }
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let (log, trace) = (read(&log)?, read(&trace)?);
        let (mut counted, mut called) = (BTreeMap::<&str, u32>::new(), BTreeMap::<&str, u32>::new());
        for line in log.lines() {
            *counted.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
        }
        let dir = out.display().to_string();
        for operation in trace.lines().filter_map(|line| changing_call(line, &dir)) {
            *called.entry(operation).or_default() += 1;
        }
        match counted == called {
            true => Ok(format!("{} operations as strace sees them: {counted:?}", log.lines().count())),
            false => Err(format!("counted {counted:?} and strace {called:?}")),
        }
    }
}

/// Checks that a killed run has its last checkpoint: one is on disk once the run writes something else, after
/// the rename and the sync of the folder. The last operation is the one before which the run was killed.
fn must_be_kept(
    scene: &Scene,
    before: Option<u64>,
    found: Option<u64>,
    operations: &str,
) -> Result<(), String> {
    let operations: Vec<&str> = operations.lines().collect();
    let is_rename = |line: &&str| line.starts_with("rename ") && line.ends_with("/checkpoint.frazil-ckpt");
    let n_written = operations.iter().rev().skip(2).filter(|line| is_rename(line)).count();
    let from = before.unwrap_or(0);
    let steps = (1..=scene.steps).filter(|step| *step > from && (step % EVERY == 0 || *step == scene.steps));
    let expected = steps.take(n_written).last().or(before);
    match found >= expected {
        true => Ok(()),
        false => Err(format!(
            "the checkpoint of step {expected:?} was written, and that of step {found:?} is there"
        )),
    }
}

/// Returns the name, as in the library's log, of the system call in a line of strace, if it changes a file or
/// a name below `dir`, or waits for the disk.
fn changing_call<'a>(line: &'a str, dir: &str) -> Option<&'a str> {
    let (_, call) = line.split_once(' ')?;
    let (call, arguments) = call.trim_start().split_once('(')?;
    // The path of a descriptor, or a path; the log of the library is beside the folder. Buffers may have any
    // text.
    let place = if arguments.starts_with("AT_FDCWD") { arguments } else { arguments.split(',').next()? };
    let is_below = place.contains(&format!("{dir}/"))
        || place.contains(&format!("{dir}\""))
        || place.contains(&format!("{dir}>"));
    let is_quiet =
        ["close", "fcntl", "flock", "lseek", "read", "pread64", "statx", "newfstatat", "fstat", "access"]
            .into_iter()
            .chain([
                "readlink",
                "faccessat2",
                "getdents64",
                "ioctl",
                "mmap",
                "fstatfs",
                "execve",
                "dup",
                "fadvise64",
            ])
            .any(|quiet| quiet == call);
    if !is_below || is_quiet {
        return None;
    }
    match call {
        "openat" if ["O_WRONLY", "O_RDWR"].iter().any(|flag| arguments.contains(flag)) => Some("open"),
        "openat" => None,
        "renameat2" | "renameat" => Some("rename"),
        "unlinkat" | "rmdir" => Some("unlink"),
        "mkdirat" => Some("mkdir"),
        "linkat" => Some("link"),
        other => Some(other),
    }
}

/// Copies a folder and all in it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
