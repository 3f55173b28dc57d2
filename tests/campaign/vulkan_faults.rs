//! Fails calls of Vulkan in runs of each solver, one at a time, and resumes the runs.
//!
//! The layer `tests/campaign/vulkan_faults.c` counts the calls of a run that may fail, and fails one of them
//! with a result that the specification lists for it. Then
//!
//! - the run has ended with status 3 and an error that names the operation and its object, or, where it can
//!   do without the call, with the results of a run without faults;
//! - it has destroyed all Vulkan objects, by the layer's list and, in a quarter of the cases, by that of the
//!   validation layers, unless the device hangs;
//! - the checkpoint, if there is one, is whole, and the run resumed from it ends with the state, recording,
//!   metrics and pictures of a run without faults; without a checkpoint, a new run does. This is tried once
//!   for equal files.
//!
//! Cases are tried in three groups, so that a campaign that is ended early has had the most telling ones: the
//! first and the last call of each function with all results; the first call of each call site, which is a
//! chain of callers in the program, with one result; all others. Within a group the order is the same each
//! time and looks random.

use crate::outcome::{self, Outcome};
use crate::part::{Part, Setting};
use crate::process::{self, said};
use crate::table::{Count, Table};
use crate::workers;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub const PART: Part =
    Part { name: "vulkan", about: "every fallible Vulkan call of a run fails in turn", run };

/// A run takes a second or two; with empty caches, half a minute; many times that on a busy machine.
const LONGEST: Duration = Duration::from_secs(900);

/// Limit of the watchdog in cases of a device that hangs. A step takes a few milliseconds.
const WATCHDOG_S: &str = "5";

/// Runs of this share of the cases have the validation layers.
const VALIDATED: u64 = 4;

/// A small scene with all kinds of outputs, and checkpoints between them.
struct Subject {
    name: &'static str,
    scene: &'static [&'static str],
    /// Compiles all kernels and repeats the trials of a new device.
    has_empty_cache: bool,
}

const SNOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/viewer/tests/it/snow.toml");
const SUBJECTS: &[Subject] = &[
    Subject {
        name: "water",
        scene: &["dam_break", "--set", "time.dt_s=0.002", "--set", "fluid.particle_spacing_m=0.0243333333"],
        has_empty_cache: false,
    },
    Subject { name: "snow", scene: &[SNOW], has_empty_cache: false },
    Subject {
        name: "viscoelastic",
        scene: &["viscoelastic_springs", "--set", "fluid.particle_spacing_m=0.08"],
        has_empty_cache: false,
    },
    Subject {
        name: "mpm",
        scene: &[
            "snowball_collision",
            "--set",
            "scale=0.35",
            "--set",
            "particles.0.count=100",
            "--set",
            "particles.1.count=100",
        ],
        has_empty_cache: false,
    },
    Subject { name: "dem", scene: &["slope_obstacle", "--set", "scale=0.3"], has_empty_cache: false },
    Subject {
        name: "set-up and profile",
        scene: &["dam_break", "--set", "fluid.particle_spacing_m=0.0243333333", "--profile"],
        has_empty_cache: true,
    },
];
const OUTPUTS: &[&str] = &[
    "--steps",
    "24",
    "--record",
    "4",
    "--metrics",
    "5",
    "--render",
    "8",
    "--checkpoint",
    "7",
    "--set",
    "render.width_px=160",
    "--set",
    "render.height_px=90",
    "--quiet",
];

/// Groups of cases, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Functions,
    Sites,
    Others,
}

impl Group {
    fn about(self) -> &'static str {
        match self {
            Self::Functions => "first and last call of each function, all results",
            Self::Sites => "first call of each other call site, one result",
            Self::Others => "all other calls and results",
        }
    }
}

/// A fault of one call.
struct Case {
    subject: &'static Subject,
    group: Group,
    function: String,
    at: u64,
    result: String,
    is_validated: bool,
}

/// Results of a subject without faults.
struct Reference {
    outcome: Outcome,
    /// Hashes of the files that faults have left, from which these results were reproduced. Most faults
    /// precede the first checkpoint and leave the same files.
    verified: Mutex<HashSet<u64>>,
}

impl Reference {
    fn verified(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Result of a case.
enum Verdict {
    Passed(&'static str),
    /// The number of calls depends on timing: this one did not occur.
    Absent,
}

/// Folders of a worker.
struct Place {
    folder: PathBuf,
    /// Folder of data with the layer's manifest.
    data: PathBuf,
}

/// Findings of the layer in a run.
#[derive(Default)]
struct Log {
    /// Function, number of calls, results.
    calls: Vec<(String, u64, Vec<String>)>,
    /// Function and number of the first call of each call site, and its chain of callers.
    sites: HashMap<(String, u64), String>,
    has_fired: bool,
    leaks: Vec<String>,
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// Runs all cases that have no row yet.
fn run(setting: &Setting) -> Result<Count, String> {
    let folder = setting.folder.join("vulkan");
    let data = folder.join("data");
    write_manifest(&data, &setting.folder.join("vulkan_faults.so"))?;
    let mut cases = Vec::new();
    let mut references = Vec::new();
    let mut chains = HashSet::new();
    for subject in SUBJECTS {
        let place = Place { folder: folder.join("reference").join(subject.name), data: data.clone() };
        let (outcome, mut log) = undisturbed(setting, &place, subject)?;
        references.push(Reference { outcome, verified: Mutex::default() });
        let n_calls: u64 = log.calls.iter().map(|(_, n, _)| n).sum();
        // Call sites that an earlier subject has with the same scene are not tried again.
        log.sites.retain(|_, chain| chains.insert((subject.scene[0], chain.clone())));
        println!("{}: {n_calls} calls that may fail, {} call sites", subject.name, log.sites.len());
        for (function, n, results) in log.calls {
            for at in 1..=n {
                let is_site = log.sites.contains_key(&(function.clone(), at));
                // The result of a site differs from site to site.
                let of_site = order_of(&(subject.name, &function, at)) as usize % results.len().max(1);
                for (i, result) in results.iter().enumerate() {
                    let group = match (at == 1 || at == n, is_site && i == of_site) {
                        (true, _) => Group::Functions,
                        (false, true) => Group::Sites,
                        (false, false) => Group::Others,
                    };
                    let order = order_of(&(subject.name, &function, at, result));
                    let is_validated = order % VALIDATED == 0;
                    let (function, result) = (function.clone(), result.clone());
                    cases.push((order, Case { subject, group, function, at, result, is_validated }));
                }
            }
        }
    }
    cases.sort_by_key(|(order, case)| (case.group, *order));
    let cases: Vec<Case> = cases.into_iter().map(|(_, case)| case).collect();

    let table = Mutex::new(Table::open(&setting.folder, PART.name)?);
    let next = AtomicUsize::new(0);
    let work = |worker: usize| {
        let place = Place { folder: folder.join(format!("worker {worker}")), data: data.clone() };
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if setting.is_over() {
                break;
            }
            let table = || table.lock().unwrap_or_else(PoisonError::into_inner);
            let (class, name) = (case.class(), case.name());
            if table().has(&class, &name) {
                continue;
            }
            let i = SUBJECTS.iter().position(|subject| subject.name == case.subject.name).unwrap_or(0);
            match case.run(setting, &place, &references[i]) {
                Ok(Verdict::Passed(detail)) => table().add(&class, &name, Ok(detail.to_owned()))?,
                Ok(Verdict::Absent) => table().skip(&class, &name, "the call did not occur")?,
                Err(problem) => table().add(&class, &name, Err(problem))?,
            }
        }
        Ok(())
    };
    let ended = workers::map(setting.jobs, (0..setting.jobs).collect(), work);
    ended.into_iter().collect::<Result<Vec<()>, String>>()?;
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    for group in [Group::Functions, Group::Sites, Group::Others] {
        let of_group = || cases.iter().filter(|case| case.group == group);
        let n_tried = of_group().filter(|case| table.has(&case.class(), &case.name())).count();
        println!("{}: {n_tried} of {} cases have been tried", group.about(), of_group().count());
    }
    let classes: Vec<String> = cases.iter().map(Case::class).collect();
    Ok(table.report(classes.iter().map(String::as_str)))
}

/// Returns a number that depends on the case only.
fn order_of(case: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    case.hash(&mut hasher);
    hasher.finish()
}

/// Makes the loader find the layer below this folder of data.
fn write_manifest(data: &Path, library: &Path) -> Result<(), String> {
    let folder = data.join("vulkan/implicit_layer.d");
    fs::create_dir_all(&folder).map_err(text)?;
    let manifest = format!(
        r#"{{
  "file_format_version": "1.1.2",
  "layer": {{
    "name": "VK_LAYER_FRAZIL_faults",
    "description": "fails calls and lists objects",
    "type": "GLOBAL",
    "library_path": "{}",
    "api_version": "1.3.0",
    "implementation_version": "1",
    "disable_environment": {{ "FRAZIL_VULKAN_NO_FAULTS": "1" }},
    "pre_instance_functions": {{
      "vkEnumerateInstanceLayerProperties": "frazil_EnumerateInstanceLayerProperties",
      "vkEnumerateInstanceExtensionProperties": "frazil_EnumerateInstanceExtensionProperties"
    }}
  }}
}}
"#,
        library.display()
    );
    fs::write(folder.join("frazil_faults.json"), manifest).map_err(text)
}

/// Runs a subject without faults: to fill its cache, and to count its calls.
fn undisturbed(setting: &Setting, place: &Place, subject: &Subject) -> Result<(Outcome, Log), String> {
    for _ in 0..2 {
        let _ = fs::remove_dir_all(place.out());
        if subject.has_empty_cache {
            let _ = fs::remove_dir_all(place.cache());
        }
        fs::create_dir_all(&place.folder).map_err(text)?;
        let ended = start(setting, place, subject, &[], &place.layer(None))?;
        if !ended.status.success() {
            return Err(format!("{}: ended with {}: {}", subject.name, ended.status, said(&ended)));
        }
    }
    let log = Log::read(&place.log())?;
    if !log.leaks.is_empty() {
        return Err(format!("{}: leaks without a fault: {}", subject.name, log.leaks.join(" ")));
    }
    Ok((Outcome::read(&place.out())?, log))
}

/// Runs a subject into the folder of the place.
fn start(
    setting: &Setting,
    place: &Place,
    subject: &Subject,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Result<Output, String> {
    let mut command = Command::new(&setting.program);
    command.arg("run").args(subject.scene).args(OUTPUTS).args(arguments).arg("--out").arg(place.out());
    // Workers share the cores; threads of a software device change no bit.
    command.env("XDG_CACHE_HOME", place.cache()).env("LP_NUM_THREADS", "0");
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "FRAZIL_VALIDATION", "FRAZIL_WATCHDOG"] {
        command.env_remove(name);
    }
    for (name, value) in environment {
        command.env(name, value);
    }
    process::run(&mut command, LONGEST)
}

impl Place {
    fn out(&self) -> PathBuf {
        self.folder.join("run")
    }

    fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("calls.log")
    }

    fn validation_log(&self) -> PathBuf {
        self.folder.join("validation.log")
    }

    /// Returns the environment of a run with the layer and this fault.
    fn layer(&self, fault: Option<String>) -> Vec<(&'static str, String)> {
        let mut environment = vec![
            ("XDG_DATA_HOME", self.data.display().to_string()),
            ("FRAZIL_VULKAN_LOG", self.log().display().to_string()),
        ];
        environment.extend(fault.map(|fault| ("FRAZIL_VULKAN_FAULT", fault)));
        environment
    }

    /// Returns a hash of the files of which a run may continue: results without times, and caches.
    fn left(&self) -> Result<u64, String> {
        let mut hasher = DefaultHasher::new();
        for folder in [self.out(), self.cache()] {
            if folder.exists() {
                outcome::files(&folder)?.hash(&mut hasher);
            }
        }
        Ok(hasher.finish())
    }

    /// Empties the folder, and fills the cache with that of the undisturbed run unless it shall be empty.
    fn prepare(&self, setting: &Setting, subject: &Subject) -> Result<(), String> {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder).map_err(text)?;
        if subject.has_empty_cache {
            return Ok(());
        }
        let filled = setting.folder.join("vulkan/reference").join(subject.name).join("cache");
        copy_folder(&filled, &self.cache())
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(text)?;
    for entry in fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target).map_err(text)?;
        }
    }
    Ok(())
}

impl Case {
    fn class(&self) -> String {
        format!(
            "{} {}",
            self.subject.name,
            self.result.trim_start_matches("VK_").trim_start_matches("ERROR_")
        )
    }

    fn name(&self) -> String {
        format!("{}:{}", self.function, self.at)
    }

    fn is_hang(&self) -> bool {
        self.result == "HANG"
    }

    /// Runs with the fault, and resumes.
    fn run(&self, setting: &Setting, place: &Place, reference: &Reference) -> Result<Verdict, String> {
        place.prepare(setting, self.subject)?;
        let and_later = if self.is_hang() { "+" } else { "" };
        let fault = format!("{}:{}{and_later}:{}", self.function, self.at, self.result);
        let mut environment = place.layer(Some(fault));
        if self.is_hang() {
            environment.push(("FRAZIL_WATCHDOG", WATCHDOG_S.into()));
        }
        if self.is_validated {
            let settings = place.folder.join("vk_layer_settings.txt");
            let lines = format!(
                "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
                 khronos_validation.report_flags = error\n\
                 khronos_validation.log_filename = {}\n",
                place.validation_log().display()
            );
            fs::write(&settings, lines).map_err(text)?;
            environment.push(("VK_LAYER_SETTINGS_PATH", settings.display().to_string()));
            environment.push(("FRAZIL_VALIDATION", "1".into()));
        }
        let ended = start(setting, place, self.subject, &[], &environment)?;
        let said = said(&ended);
        let at_end = format!("ended with {}: {said}", ended.status);
        if ended.status.code().is_none() || said.contains("panicked at") {
            return Err(at_end);
        }
        let log = Log::read(&place.log()).map_err(|problem| format!("{problem}; {at_end}"))?;
        if !log.has_fired {
            return Ok(Verdict::Absent);
        }
        if !log.leaks.is_empty() && !self.is_hang() {
            return Err(format!("leaks {}; {at_end}", log.leaks.join(" ")));
        }
        let messages = fs::read_to_string(place.validation_log()).unwrap_or_default();
        if !messages.trim().is_empty() && !self.is_hang() {
            return Err(format!("validation: {}; {at_end}", messages.trim()));
        }
        match ended.status.code() {
            Some(0) if !self.is_hang() => {
                let outcome = Outcome::read(&place.out())?;
                outcome
                    .must_equal(&reference.outcome)
                    .map_err(|problem| format!("status 0, but {problem}"))?;
                return Ok(Verdict::Passed("not needed"));
            }
            Some(3) => {}
            _ => return Err(at_end),
        }
        let has_object = ["failed on ", " needs ", "device lost in ", "the device hangs", "no Vulkan device"]
            .iter()
            .any(|part| said.contains(part));
        let has_names = match self.is_hang() {
            true => said.contains("the device hangs") && has_pass(&said),
            false => said.contains("error: "),
        };
        if !has_object || !has_names {
            return Err(format!("the error does not name operation and object; {at_end}"));
        }
        let checkpoint = place.out().join("checkpoint.frazil-ckpt");
        let (arguments, detail) = if checkpoint.exists() {
            frazil_io::Checkpoint::read(&checkpoint).map_err(|error| error.to_string())?;
            (vec!["--resume".to_owned(), checkpoint.display().to_string()], "resumed")
        } else {
            let _ = fs::remove_dir_all(place.out());
            (Vec::new(), "new run")
        };
        let left = place.left()?;
        if reference.verified().contains(&left) {
            return Ok(Verdict::Passed(detail));
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = start(setting, place, self.subject, &arguments, &[])?;
        if !ended.status.success() {
            return Err(format!("{detail}: ended with {}: {}", ended.status, process::said(&ended)));
        }
        let outcome = Outcome::read(&place.out())?;
        outcome.must_equal(&reference.outcome).map_err(|problem| format!("{detail}: {problem}"))?;
        reference.verified().insert(left);
        Ok(Verdict::Passed(detail))
    }
}

/// Returns true if an error tells the pass at which a device hangs, or that the submission has none.
fn has_pass(said: &str) -> bool {
    said.contains("in pass ") || said.contains("without passes")
}

impl Log {
    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("no log of the layer: {error}"))?;
        let mut log = Self::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["call", function, n, ref results @ ..] => {
                    let n = n.parse().map_err(|_| format!("not a line of the layer: {line}"))?;
                    let results = results.iter().map(|result| (*result).to_owned()).collect();
                    log.calls.push((function.to_owned(), n, results));
                }
                ["fired", ..] => log.has_fired = true,
                ["site", function, n, chain] => {
                    let n = n.parse().map_err(|_| format!("not a line of the layer: {line}"))?;
                    log.sites.insert((function.to_owned(), n), chain.to_owned());
                }
                _ => log.leaks.push(line.trim().to_owned()),
            }
        }
        // frazil-vk keeps one instance for the life of the process, so that the loader never unloads drivers.
        if let Some(kept) = log.leaks.iter().position(|leak| leak == "live Instance") {
            log.leaks.remove(kept);
        }
        Ok(log)
    }
}
