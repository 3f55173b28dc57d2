//! Compilation for AMD hardware that is absent, by Mesa's RADV in a process of its own.
//!
//! RADV reads the family from its environment when it is loaded, and ends the process if it does not know
//! the family or cannot compile a kernel.

use super::args::KernelsArgs;
use super::compiled::{Compiled, Line, Progress};
use frazil_engine::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Families by the names that versions of RADV have given them, to find out which ones a driver knows.
const FAMILIES: &[&str] = &[
    "tahiti",
    "pitcairn",
    "verde",
    "oland",
    "hainan",
    "bonaire",
    "kaveri",
    "kabini",
    "hawaii",
    "tonga",
    "iceland",
    "carrizo",
    "fiji",
    "stoney",
    "polaris10",
    "polaris11",
    "polaris12",
    "vegam",
    "vega10",
    "vega12",
    "vega20",
    "raven",
    "raven2",
    "renoir",
    "mi100",
    "mi200",
    "gfx940",
    "navi10",
    "navi12",
    "navi14",
    "navi21",
    "navi22",
    "navi23",
    "navi24",
    "vangogh",
    "rembrandt",
    "raphael_mendocino",
    "gfx1036",
    "navi31",
    "navi32",
    "navi33",
    "phoenix",
    "phoenix2",
    "gfx1100",
    "gfx1101",
    "gfx1102",
    "gfx1103",
    "gfx1150",
    "gfx1151",
    "gfx1152",
    "gfx1153",
    "gfx1200",
    "gfx1201",
];

/// Where a driver is: its manifest, and a folder of libraries that it needs in versions of its own.
struct Driver {
    manifest: PathBuf,
    libraries: Option<PathBuf>,
}

/// Compiles kernels for a family.
pub fn compile(family: &str, args: &KernelsArgs) -> Result<Compiled, Failure> {
    let driver = find_driver()?;
    let mut arguments: Vec<String> = args.name.iter().cloned().collect();
    for (name, value) in &args.constants {
        arguments.extend(["--constant".to_owned(), format!("{name}={value}")]);
    }
    let output = run(&driver, family, &arguments)?;
    let progress = progress(&output);
    if output.status.success() {
        return Ok(progress.compiled());
    }
    let manifest = driver.manifest.display();
    let Some(name) = progress.driver().map(str::to_owned) else { return Err(no_device(&driver, family)) };
    let errors = String::from_utf8_lossy(&output.stderr);
    // A message of our own says all; a driver that ended the process says little, or nothing.
    if let Some(message) = errors.lines().rev().find_map(|line| line.strip_prefix("frazil: error: ")) {
        return Err(Failure::device(message));
    }
    let kernel = progress.unfinished.unwrap_or_default();
    Err(Failure::device(format!(
        "{name} ({manifest}) ended with {} while it compiled {kernel} for {family}; \
         `tools/setup --compilers` installs a recent version for this purpose",
        output.status
    )))
}

/// Returns why there was no device: the family is unknown, or the driver does not compile for absent
/// hardware.
fn no_device(driver: &Driver, family: &str) -> Failure {
    let manifest = driver.manifest.display();
    let knows = |family: &&&str| {
        let output = run(driver, family, &["primitives.prepare_dispatch".to_owned()]);
        output.is_ok_and(|output| progress(&output).driver().is_some())
    };
    let known: Vec<&str> = FAMILIES.iter().filter(knows).copied().collect();
    if known.is_empty() {
        return Failure::device(format!(
            "{manifest}: this driver cannot compile for absent hardware (RADV_FORCE_FAMILY has no effect); \
             `tools/setup --compilers` installs one that can"
        ));
    }
    Failure::input(format!(
        "--for: found \"{family}\", expected a family that {manifest} knows: {}",
        known.join(", ")
    ))
}

fn progress(output: &Output) -> Progress {
    let mut progress = Progress::default();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(Line::parse)
        .for_each(|line| progress.add(line));
    progress
}

/// Runs this program for a family, to print lines.
fn run(driver: &Driver, family: &str, arguments: &[String]) -> Result<Output, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::other(format!("cannot find this program to start it again: {e}")))?;
    let mut command = Command::new(program);
    command
        .args(["kernels", "--lines"])
        .args(arguments)
        .env("RADV_FORCE_FAMILY", family)
        // The second is the name that older loaders know.
        .env("VK_DRIVER_FILES", &driver.manifest)
        .env("VK_ICD_FILENAMES", &driver.manifest)
        .env("FRAZIL_VALIDATION", "0");
    if let Some(libraries) = &driver.libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    command.output().map_err(|e| Failure::other(format!("cannot start this program again: {e}")))
}

/// Returns the driver that `tools/setup --compilers` installed, or else the system's.
fn find_driver() -> Result<Driver, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    if let Some(folder) = data.map(|data| data.join("frazil/compilers")) {
        let manifest = folder.join("radeon_icd.json");
        if manifest.exists() {
            return Ok(Driver { manifest, libraries: Some(folder.join("lib")) });
        }
    }
    let name = format!("radeon_icd.{}.json", std::env::consts::ARCH);
    let folder = Path::new("/usr/share/vulkan/icd.d");
    let system = [name.as_str(), "radeon_icd.json"].map(|name| folder.join(name));
    let found = system.into_iter().find(|manifest| manifest.exists());
    found.map(|manifest| Driver { manifest, libraries: None }).ok_or_else(|| {
        Failure::device(
            "--for: found no driver that compiles for AMD hardware (Mesa's RADV); `tools/setup --compilers` \
             installs one",
        )
    })
}
