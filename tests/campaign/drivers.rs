//! Final states of a scene of each solver with other versions of Mesa's software device, at all of its vector
//! widths: `frazil validate bits --quick` in each setting. All must be equal.

use crate::part::{Part, Setting};
use crate::process::{self, said};
use crate::table::{Count, Table};
use crate::workers;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub const PART: Part = Part {
    name: "drivers",
    about: "final states with two versions of Mesa, at vector widths of 128, 256 and 512 bits",
    run,
};

const WIDTHS: [&str; 3] = ["128", "256", "512"];
/// Kernels are compiled anew for each setting, which takes a minute on a busy machine.
const LONGEST: Duration = Duration::from_secs(3600);

/// A failure that a driver is known for: it is no failure of the campaign.
struct Known {
    /// Part of the driver's name and version.
    driver: &'static str,
    width: &'static str,
    scene: &'static str,
    reason: &'static str,
}

const KNOWN: &[Known] = &[];

/// Rows of `hashes.csv` by scene, change and steps.
type Hashes = BTreeMap<String, String>;

/// Finds the manifests of software devices: the system's, and that of `tools/setup --drivers`.
fn manifests() -> Result<Vec<(&'static str, PathBuf)>, String> {
    let folder = Path::new("/usr/share/vulkan/icd.d");
    let system = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_software = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("lvp_icd"))
    };
    let system =
        system.into_iter().find(is_software).ok_or("the system has no lvp_icd.*.json: run tools/setup")?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let data = std::env::var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
    let other = data.join("frazil/drivers/lvp_icd.json");
    if !other.exists() {
        return Err(format!("no {}: run tools/setup --drivers", other.display()));
    }
    Ok(vec![("system", system), ("backports", other)])
}

fn run(setting: &Setting) -> Result<Count, String> {
    let folder = setting.folder.join("drivers");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut table = Table::open(&setting.folder, PART.name)?;
    let (mut planned, mut columns) = (Vec::new(), Vec::new());
    let mut expected: Option<Hashes> = None;
    let mut all = "device,driver,scene,change,steps,hash\n".to_owned();
    let manifests = manifests()?;
    let settings = manifests.iter().flat_map(|(name, manifest)| WIDTHS.map(|width| (*name, manifest, width)));
    let settings: Vec<_> = settings.collect();
    let of = |name: &str, width: &str| folder.join(format!("{name}_{width}"));
    let validated = workers::map(setting.jobs, settings.clone(), |(name, manifest, width)| {
        if setting.is_over() { Ok(()) } else { validate(setting, manifest, width, &of(name, width)) }
    });
    validated.into_iter().collect::<Result<Vec<()>, String>>()?;
    for (name, _, width) in settings {
        let Some((device, hashes)) = read(&of(name, width).join("hashes.csv"), &mut all)? else { continue };
        let expected = expected.get_or_insert_with(|| hashes.clone());
        for (scene, expected) in expected.iter() {
            planned.push(name);
            let case = format!("{width} {}", scene.split(',').next().unwrap_or_default());
            // A validation that was cut short is continued by the next start.
            let is_pending = setting.is_over() && !hashes.contains_key(scene);
            if !is_pending && !table.has(name, &case) {
                table.add(name, &case, compare(&device, width, scene, hashes.get(scene), expected))?;
            }
        }
        columns.push((device, width, hashes));
    }
    fs::write(folder.join("hashes.csv"), all).map_err(|error| error.to_string())?;
    fs::write(folder.join("hashes.md"), page(&columns)).map_err(|error| error.to_string())?;
    Ok(table.report(planned))
}

/// Runs the cases in one setting.
fn validate(setting: &Setting, manifest: &Path, width: &str, out: &Path) -> Result<(), String> {
    let mut command = Command::new(&setting.program);
    command.args(["validate", "bits", "--quick", "--quiet", "--out"]).arg(out);
    if out.join("validation.jsonl").exists() {
        command.arg("--resume");
    }
    let cache = out.join("cache");
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
    // Libraries beside the manifest are for its driver.
    command.env("LD_LIBRARY_PATH", manifest.with_file_name("lib"));
    command.env("LP_NATIVE_VECTOR_WIDTH", width).env("XDG_CACHE_HOME", cache);
    let ended = process::run(&mut command, LONGEST)?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(format!("{}, width {width}: {}: {}", manifest.display(), ended.status, said(&ended))),
    }
}

/// Reads the states of a setting, appends them to a list, and returns the driver's name with them.
fn read(path: &Path, list: &mut String) -> Result<Option<(String, Hashes)>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut driver, mut hashes) = (String::new(), Hashes::new());
    for line in text.lines().skip(1) {
        let bad = || format!("{}: not a row: {line}", path.display());
        let (run, hash) = line.rsplit_once(',').ok_or_else(bad)?;
        // Only device and driver may have commas.
        let fields: Vec<&str> = run.rsplitn(4, ',').collect();
        let [steps, change, scene, device] = fields[..] else { return Err(bad()) };
        device.rsplit('"').nth(1).unwrap_or(device).clone_into(&mut driver);
        hashes.insert(format!("{scene},{change},{steps}"), hash.to_owned());
        let _ = writeln!(list, "{line}");
    }
    Ok(Some((driver, hashes)))
}

fn compare(
    driver: &str,
    width: &str,
    scene: &str,
    found: Option<&String>,
    expected: &str,
) -> Result<String, String> {
    let found = found.map_or("none", String::as_str);
    if found == expected {
        return Ok(format!("{driver}; {found}"));
    }
    let name = scene.split(',').next().unwrap_or_default();
    let known = KNOWN
        .iter()
        .find(|known| driver.contains(known.driver) && known.width == width && known.scene == name);
    known.map_or_else(
        || Err(format!("{driver}: found {found}, expected {expected}")),
        |known| Ok(format!("{driver}: known: {}", known.reason)),
    )
}

/// Returns the states as a table in Markdown: a row for each scene, a column for each setting.
fn page(columns: &[(String, &str, Hashes)]) -> String {
    let mut text = "| scene, change, steps |".to_owned();
    for (driver, width, _) in columns {
        let _ = write!(text, " {driver}, {width} bits |");
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(columns.len()));
    let Some((.., first)) = columns.first() else { return text };
    for scene in first.keys() {
        let _ = write!(text, "| {} |", scene.replace(',', ", "));
        for (.., hashes) in columns {
            let hash = hashes.get(scene).map(|hash| format!("`{}`", &hash[..hash.len().min(8)]));
            let _ = write!(text, " {} |", hash.as_deref().unwrap_or("not run"));
        }
        text.push('\n');
    }
    text
}
