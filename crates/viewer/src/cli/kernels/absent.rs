//! Compilation for hardware that is absent, by Mesa's drivers in processes of their own.
//!
//! `tools/setup --compilers` unpacks a recent Mesa with its own C library to a folder. This program is
//! started again by the dynamic loader of that folder, with a shim (`mesa-drm-shim`) that answers for the
//! kernel's interface to the hardware. A driver may end its process on a kernel; the others are compiled all
//! the same.

use super::args::KernelsArgs;
use super::compiled::{Compiled, Line, Progress, Variant};
use super::families::{AMD, FAMILIES, Family};
use crate::cli::user_data;
use frazil_engine::{Failure, FailureKind};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// Folder below the user's data, to which `tools/setup --compilers` unpacks drivers.
const COMPILERS: &str = "frazil/compilers";

/// Compiles the kernels that `select` returns for each family's driver, for several families at a time; the
/// results are in the order of the families.
///
/// # Errors
/// There is no driver for a family, or it offers no device.
pub fn compile(
    families: &[&'static Family],
    args: &KernelsArgs,
    select: impl Fn(&Driver) -> Result<Vec<Variant>, Failure> + Sync,
) -> Result<Vec<Compiled>, Failure> {
    let drivers: Vec<Driver> =
        families.iter().map(|family| Driver::find(family)).collect::<Result<_, _>>()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(drivers.len());
    let next = Mutex::new(0..drivers.len());
    let results: Vec<Mutex<Option<Result<Compiled, Failure>>>> =
        drivers.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let Some(i) = next.lock().ok().and_then(|mut next| next.next()) else { return };
            let driver = &drivers[i];
            let result =
                select(driver).and_then(|variants| compile_for(families[i], driver, args, &variants));
            if let Ok(mut place) = results[i].lock() {
                *place = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let ended = || Failure::other("a compilation ended without a result".to_owned());
    results
        .into_iter()
        .map(|result| result.into_inner().ok().flatten().unwrap_or_else(|| Err(ended())))
        .collect()
}

fn compile_for(
    family: &'static Family,
    driver: &Driver,
    args: &KernelsArgs,
    variants: &[Variant],
) -> Result<Compiled, Failure> {
    let mut progress = Progress::default();
    let mut rest = variants;
    while !rest.is_empty() {
        let before = progress.n_ended();
        let output = driver.run(args, rest)?;
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(Line::parse)
            .for_each(|line| progress.add(line));
        if output.status.success() {
            break;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        // A message of our own says all; a driver that ended the process says little, or nothing.
        if let Some(message) = errors.lines().rev().find_map(|line| line.strip_prefix("frazil: error: ")) {
            return Err(Failure::device(format!("{}: {message}", family.name)));
        }
        let Some(unfinished) = progress.unfinished.take() else {
            return Err(driver.without_device(family, errors.trim()));
        };
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        progress.add(Line::Refused(unfinished, format!("the compiler ended with {}: {last}", output.status)));
        rest = &rest[(progress.n_ended() - before).min(rest.len())..];
    }
    let mut compiled = progress.compiled();
    let report = &mut compiled.report;
    report.family = Some(family.name.to_owned());
    report.processor = Some(family.vendor.processor.to_owned());
    for kernel in &mut report.kernels {
        let share =
            |max: u64| kernel.resident_subgroups.map(|resident| resident.min(max) as f64 / max as f64);
        if let Some(max) = family.max_subgroups {
            kernel.theoretical_occupancy = share(max);
        }
    }
    Ok(compiled)
}

/// Driver for absent hardware, by its place.
pub enum Driver {
    /// Unpacked with its C library, and started over a shim.
    Shimmed { libraries: PathBuf, loader: PathBuf, manifest: PathBuf, family: &'static Family },
    /// The system's RADV before Mesa 26, which takes a family without a shim.
    Forced { manifest: PathBuf, family: &'static Family },
}

impl Driver {
    fn find(family: &'static Family) -> Result<Self, Failure> {
        if let Some(shimmed) = root().and_then(|root| Self::shimmed(&root, family)) {
            return Ok(shimmed);
        }
        let name = format!("radeon_icd.{}.json", std::env::consts::ARCH);
        let folder = Path::new("/usr/share/vulkan/icd.d");
        let system = [name.as_str(), "radeon_icd.json"].map(|name| folder.join(name));
        let found = system.into_iter().find(|manifest| *family.vendor == AMD && manifest.exists());
        found
            .map(|manifest| Self::Forced { manifest, family })
            .ok_or_else(|| not_found(format!("compiles for {}", family.name)))
    }

    fn shimmed(root: &Path, family: &'static Family) -> Option<Self> {
        let libraries = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
        // The name of the loader differs by architecture.
        let is_loader = |name: &str| name.starts_with("ld-linux") && name.contains(".so");
        let entries = std::fs::read_dir(&libraries).ok()?.filter_map(Result::ok);
        let loader = entries
            .map(|entry| entry.path())
            .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_loader))?;
        let manifest = root.join("usr/share/vulkan/icd.d").join(family.vendor.manifest);
        let is_there = manifest.exists() && libraries.join(family.vendor.shim).exists();
        is_there.then_some(Self::Shimmed { libraries, loader, manifest, family })
    }

    /// Runs this program to compile variants of kernels and print a line for each.
    fn run(&self, args: &KernelsArgs, variants: &[Variant]) -> Result<Output, Failure> {
        let mut command = self.command()?;
        command.args(["kernels", "--lines"]).env("FRAZIL_VALIDATION", "0");
        if let Some(form) = &args.asm {
            command.arg(format!("--asm={form}"));
            // Of the drivers here, RADV alone keeps the lines of GLSL, in the code of its compiler ACO, where
            // they count as instructions.
            let has_lines = form.to_lowercase().contains("aco") && args.diff.is_none();
            if *self.family().vendor == AMD && has_lines {
                command.env("RADV_DEBUG", "nirdebuginfo");
            }
        }
        for (name, value) in &args.constants {
            command.arg("--constant").arg(format!("{name}={value}"));
        }
        output(&mut command, &Variant::list(variants))
    }

    /// Returns the kernels of a step of the scene on this driver, which submits the step.
    pub fn variants_of_scene(&self, args: &KernelsArgs) -> Result<Vec<Variant>, Failure> {
        let mut command = self.command()?;
        command.args(["kernels", "--lines"]).args(&args.name);
        if let Some(scene) = &args.scene {
            command.arg("--scene").arg(scene);
        }
        for change in &args.overrides {
            command.arg("--set").arg(change);
        }
        let output = output(command.env("FRAZIL_DRY_RUN", "1").env("FRAZIL_VALIDATION", "0"), "")?;
        let variants = Variant::parse_list(&String::from_utf8_lossy(&output.stdout));
        variants.filter(|_| output.status.success()).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().last().unwrap_or("no message").trim_start_matches("frazil: error: ");
            Failure::device(format!("{}: {last} ({})", self.family().name, output.status))
        })
    }

    fn family(&self) -> &'static Family {
        let (Self::Shimmed { family, .. } | Self::Forced { family, .. }) = self;
        family
    }

    /// Returns the command that starts this program on the driver.
    fn command(&self) -> Result<Command, Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::other(format!("cannot find this program to start it again: {e}")))?;
        let (mut command, manifest) = match self {
            Self::Shimmed { libraries, loader, manifest, family } => {
                let mut command = Command::new(loader);
                command
                    .arg("--library-path")
                    .arg(libraries)
                    .arg("--preload")
                    .arg(libraries.join(family.vendor.shim))
                    .arg(program)
                    .env(family.vendor.variable, family.id);
                // Validation layers of the same release.
                if let Some(shared) = manifest.parent().and_then(Path::parent) {
                    command.env("VK_LAYER_PATH", shared.join("explicit_layer.d"));
                }
                (command, manifest)
            }
            Self::Forced { manifest, family } => {
                let mut command = Command::new(program);
                command.env("RADV_FORCE_FAMILY", family.id);
                (command, manifest)
            }
        };
        // The second is the name that older loaders know.
        command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
        Ok(command)
    }

    /// Returns why there was no device.
    fn without_device(&self, family: &Family, errors: &str) -> Failure {
        let (Self::Shimmed { manifest, .. } | Self::Forced { manifest, .. }) = self;
        let problem = match errors {
            "" => "no message",
            errors => errors,
        };
        let known: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        Failure::device(format!(
            "--for: {} offers no device for {}: {problem}; `tools/setup --compilers` installs a Mesa that \
             knows {}",
            manifest.display(),
            family.name,
            known.join(", ")
        ))
    }
}

fn not_found(that: String) -> Failure {
    Failure::device(format!("--for: found no driver that {that}; `tools/setup --compilers` installs Mesa's"))
}

/// Starts a command that reads all of `input` before it prints, and waits for it.
fn output(command: &mut Command, input: &str) -> Result<Output, Failure> {
    let refused = |e: std::io::Error| Failure::other(format!("cannot start this program again: {e}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(refused)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that ended early says why at its end.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(refused)
}

/// Runs another command of this program on the driver of a family, which computes nothing; with
/// `FRAZIL_DRY_RUN=0`, as if it did.
///
/// # Errors
/// There is no driver that takes submissions, or the command fails.
pub fn dry_run(family: &'static Family, words: &[OsString], validation: bool) -> Result<(), Failure> {
    let driver = Driver::find(family)?;
    // RADV without a shim compiles only: it has no timeline semaphores.
    if matches!(driver, Driver::Forced { .. }) {
        return Err(not_found(format!("takes submissions for {}", family.name)));
    }
    let mut command = driver.command()?;
    command
        .args(words)
        .env("FRAZIL_DRY_RUN", std::env::var_os("FRAZIL_DRY_RUN").unwrap_or_else(|| "1".into()))
        .env("FRAZIL_VALIDATION", if validation { "1" } else { "0" });
    let status =
        command.status().map_err(|e| Failure::other(format!("cannot start this program again: {e}")))?;
    if status.success() {
        return Ok(());
    }
    let kind = match status.code() {
        Some(2) => FailureKind::Input,
        Some(3) => FailureKind::Device,
        Some(4) => FailureKind::Invariant,
        _ => FailureKind::Other,
    };
    Err(Failure::other(format!("{}: the command ended with {status}", family.name)).of_kind(kind))
}

/// Returns the folder that `tools/setup --compilers` makes, if it is there and complete.
fn root() -> Option<PathBuf> {
    Some(user_data::folder()?.join(COMPILERS)).filter(|root| root.join("complete").exists())
}
