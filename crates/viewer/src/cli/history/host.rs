//! The machine, and the variables that change times on it.

use frazil_report::HistoryHost;
use std::collections::BTreeMap;
use std::fs;

/// Variables of frazil, and beginnings of the names of drivers' variables, that change the time of a pass.
const VARIABLES: [&str; 4] = ["FRAZIL_LABELS", "FRAZIL_REPLAY", "FRAZIL_ROBUST_ACCESS", "FRAZIL_TUNING"];
const DRIVERS: [&str; 6] = ["ANV_", "GALLIVM_", "LP_", "NVK_", "RADV_", "TU_"];

/// Returns this machine: its name is `FRAZIL_HISTORY_HOST`, or else the host's name.
pub fn host() -> HistoryHost {
    let line = |path: &str| fs::read_to_string(path).ok();
    let variable = |name: &str| std::env::var(name).ok();
    let name = [variable("FRAZIL_HISTORY_HOST"), line("/proc/sys/kernel/hostname"), variable("COMPUTERNAME")]
        .into_iter()
        .flatten()
        .map(|name| name.trim().to_owned())
        .find(|name| !name.is_empty());
    let cpu = line("/proc/cpuinfo").and_then(|text| model_name(&text)).or(variable("PROCESSOR_IDENTIFIER"));
    HistoryHost {
        name: name.unwrap_or_else(|| "unknown".to_owned()),
        cpu: cpu.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Returns the processor's name in the text of `/proc/cpuinfo`.
fn model_name(text: &str) -> Option<String> {
    let name = text.lines().find(|line| line.starts_with("model name"))?;
    Some(name.split_once(':')?.1.trim().to_owned())
}

/// Returns the variables of this process that change times.
pub fn variables() -> BTreeMap<String, String> {
    let matters =
        |name: &str| VARIABLES.contains(&name) || DRIVERS.iter().any(|driver| name.starts_with(driver));
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_string_lossy().into_owned())));
    all.filter(|(name, _)| matters(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_as_by_the_system() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: other\n";
        assert_eq!(model_name(text).as_deref(), Some("A CPU @ 2 GHz"));
        assert_eq!(model_name("Hardware\t: x\n"), None);
        assert!(host().processors > 0 && !host().name.is_empty());
    }
}
