//! Values of tunables that `frazil tune` found, stored as findings of the device beside the pipeline cache.

use crate::device::is_on;
use frazil_solvers::{SolverFactory, Tunable, Tuning};
use frazil_vk::Device;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Value of a tunable that was measured to be faster than its default.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    /// The value.
    pub value: u32,
    /// Share of a step's time that it saved.
    pub gain: f64,
    /// Name of the scene that was measured.
    pub scene: String,
    /// Day of the measurement, as YYYY-MM-DD in UTC.
    pub date: String,
}

/// Returns the tuning of a solver's steps: the stored values, and the defaults of all other tunables. Values
/// that cannot be read or are out of bounds are ignored with a warning each. `FRAZIL_TUNING=0` ignores all.
pub fn of_solver(device: &Device, factory: &dyn SolverFactory) -> (Tuning, Vec<String>) {
    let (mut tuning, mut warnings) = (Tuning::default(), Vec::new());
    if !is_on("FRAZIL_TUNING").unwrap_or(true) {
        return (tuning, warnings);
    }
    for tunable in factory.tunables() {
        match read(device, factory.kind(), tunable) {
            Ok(stored) => {
                let with = stored.and_then(|stored| tuning.with(tunable, stored.value).ok());
                tuning = with.unwrap_or(tuning);
            }
            Err(problem) => warnings.push(problem),
        }
    }
    (tuning, warnings)
}

/// Reads the stored value of a tunable.
///
/// # Errors
/// The file, what was found in it and what is expected.
pub fn read(device: &Device, kind: &str, tunable: &'static Tunable) -> Result<Option<StoredValue>, String> {
    let Some(text) = device.stored_finding(&key(kind, tunable)) else { return Ok(None) };
    parse(&text, tunable).map(Some).map_err(|problem| {
        let file = file(device, kind, tunable).unwrap_or_default();
        format!(
            "{}: {problem}; the default {} is used; `frazil tune` measures anew",
            file.display(),
            tunable.default
        )
    })
}

/// Stores the value of a tunable.
///
/// # Errors
/// The file cannot be written.
pub fn write(
    device: &Device,
    kind: &str,
    tunable: &Tunable,
    stored: &StoredValue,
) -> Result<(), std::io::Error> {
    let StoredValue { value, gain, scene, date } = stored;
    let info = device.info();
    let text = json!({
        "value": value, "default": tunable.default, "gain": gain, "scene": scene, "date": date,
        "device": info.name, "driver": info.driver,
    });
    device.write_finding(&key(kind, tunable), &format!("{text}\n"))
}

/// Removes the stored value of a tunable; returns false if there was none.
///
/// # Errors
/// The file cannot be removed.
pub fn forget(device: &Device, kind: &str, tunable: &Tunable) -> Result<bool, std::io::Error> {
    device.forget_finding(&key(kind, tunable))
}

/// Returns the file of a tunable's value; none if there is no cache folder.
pub fn file(device: &Device, kind: &str, tunable: &Tunable) -> Option<PathBuf> {
    device.finding_file(&key(kind, tunable))
}

fn key(kind: &str, tunable: &Tunable) -> String {
    let name = format!("tuning-{kind}-{}", tunable.name);
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

fn parse(text: &str, tunable: &'static Tunable) -> Result<StoredValue, String> {
    let expected =
        format!("expected JSON whose \"value\" is a power of two from {} to {}", tunable.min, tunable.max);
    let found: Value =
        serde_json::from_str(text).map_err(|error| format!("found no JSON ({error}), {expected}"))?;
    let of_tunable = |n: u64| u32::try_from(n).ok().filter(|&n| Tuning::default().with(tunable, n).is_ok());
    let Some(value) = found["value"].as_u64().and_then(of_tunable) else {
        let value = &found["value"];
        return Err(format!("found the value {value} of {}, {expected}", tunable.name));
    };
    let text_of = |key: &str| found[key].as_str().unwrap_or("unknown").to_owned();
    let gain = found["gain"].as_f64().unwrap_or(0.0);
    Ok(StoredValue { value, gain, scene: text_of("scene"), date: text_of("date") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_solvers::WORKGROUP_SIZE;

    #[test]
    fn only_values_within_bounds_are_read() {
        let text = r#"{"value": 128, "gain": 0.25, "scene": "dam_break", "date": "2026-11-25"}"#;
        let stored = parse(text, &WORKGROUP_SIZE).unwrap();
        assert_eq!((stored.value, stored.gain, &*stored.scene), (128, 0.25, "dam_break"));
        for (text, found) in [
            ("", "no JSON"),
            ("{\"value\": 1", "no JSON"),
            ("[]", "value null"),
            ("{\"value\": \"128\"}", "value \"128\""),
            ("{\"value\": 48}", "value 48"),
            ("{\"value\": 8192}", "value 8192"),
            ("{\"value\": 4294967424}", "value 4294967424"),
        ] {
            let problem = parse(text, &WORKGROUP_SIZE).unwrap_err();
            assert!(problem.contains(found) && problem.contains("from 64 to 4096"), "{text}: {problem}");
        }
    }
}
