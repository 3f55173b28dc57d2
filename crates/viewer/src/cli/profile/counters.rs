//! `--counters`: hardware counters of each pass, in steps of their own.

use super::stepping::counted_steps;
use crate::say;
use frazil_engine::outputs::{Activity, StepTimer, TimedSubmission};
use frazil_engine::{Failure, Simulation};
use frazil_report::{CounterFact, HardwareCounters, Profile, TableStyle, table};
use frazil_vk::{Counter, Device};
use std::collections::BTreeMap;
use std::time::Instant;

/// Maximum number of counters that are chosen by default.
const MAX_DEFAULT: usize = 8;
/// Words of the counters that say how busy a device is, how much it moves and what stays in caches, in the
/// drivers of AMD, Qualcomm and Intel, in the order in which they are chosen.
const DEFAULTS: [&str; 19] = [
    "gpu active cycles",
    "gpu core clocks",
    "clocks",
    "valu busy",
    "shaders busy",
    "eu active",
    "xve active",
    "alu capacity",
    "vram read",
    "vram write",
    "sp memory read",
    "gti read",
    "gti write",
    "l1 cache hit",
    "l2 cache hit",
    "stalled on system memory",
    "l2 miss",
    "waves",
    "occupancy",
];
/// Words of counters that say nothing about compute passes.
const GRAPHICS: [&str; 5] = ["fragment", "vert", "texture", "prim", "pixel"];

/// Value of `--counters` that lists them.
pub const LIST: &str = "list";

/// Returns the indices of the requested counters: of that name, or else of names that contain it, without
/// regard to case; of a default set if none is requested.
///
/// # Errors
/// There is no such counter.
pub fn choose(all: &[Counter], requested: &[String]) -> Result<Vec<u32>, Failure> {
    let with = |matches: &dyn Fn(&str) -> bool| -> Vec<u32> {
        (0..)
            .zip(all)
            .filter(|(_, c)| c.is_per_pass && matches(&c.name.to_lowercase()))
            .map(|(i, _)| i)
            .collect()
    };
    let mut chosen: Vec<u32> = Vec::new();
    let mut add = |found: Vec<u32>| {
        for counter in found {
            if !chosen.contains(&counter) {
                chosen.push(counter);
            }
        }
    };
    if requested.is_empty() {
        for word in DEFAULTS {
            let is_graphics = |name: &str| GRAPHICS.iter().any(|other| name.contains(other));
            add(with(&|name| name.contains(word) && !is_graphics(name)));
        }
        chosen.truncate(MAX_DEFAULT);
        if chosen.is_empty() {
            return Err(Failure::input(
                "--counters: found none of the default set; --counters list lists all",
            ));
        }
        return Ok(chosen);
    }
    for word in requested.iter().map(|word| word.trim().to_lowercase()) {
        let exact = with(&|name| name == word);
        let found = if exact.is_empty() { with(&|name| name.contains(&word)) } else { exact };
        if found.is_empty() || word.is_empty() {
            let names: Vec<&str> = all.iter().filter(|c| c.is_per_pass).map(|c| c.name.as_str()).collect();
            return Err(Failure::input(format!(
                "--counters: found \"{word}\", expected a part of {}",
                names.join(", ")
            )));
        }
        add(found);
    }
    Ok(chosen)
}

/// Lists the counters of a device.
///
/// # Errors
/// The device has none.
pub fn list(device: &Device) -> Result<String, Failure> {
    let all = device.counters()?;
    let default = choose(&all, &[]).unwrap_or_default();
    let line = |(i, c): (u32, &Counter)| {
        let scope = match (c.is_per_pass, c.slows) {
            (false, _) => "command buffer",
            (true, true) => "pass, slows",
            (true, false) => "pass",
        };
        let default = if default.contains(&i) { "yes" } else { "-" };
        [c.name.clone(), c.category.clone(), c.unit.to_owned(), scope.to_owned(), default.to_owned()]
    };
    let lines: Vec<_> = (0..).zip(&all).map(line).collect();
    Ok(table(&["counter", "category", "unit", "scope", "by default"], &lines, TableStyle::Plain))
}

/// Measures counters in further steps: `n` for each group that one execution of a step gives, for a step is
/// never executed twice.
///
/// # Errors
/// There is no such counter; the driver refuses the profiling lock.
pub fn measure(
    simulation: &mut Simulation,
    requested: &[String],
    n: u64,
    profile: &Profile,
) -> Result<HardwareCounters, Failure> {
    let device = simulation.device.clone();
    let all = device.counters()?;
    let chosen = choose(&all, requested)?;
    let (groups, left) = device.counter_groups(&chosen)?;
    for counter in left {
        let name = &all[counter as usize].name;
        say::note(format_args!("warning: {name} takes several executions of a step, and is not measured"));
    }
    let measured: Vec<u32> = groups.concat();
    let mut log = CounterLog { n_counters: measured.len(), ..CounterLog::default() };
    for group in &groups {
        let session = device.measure_counters(group)?;
        counted_steps(simulation, n, &mut log)?;
        device.wait_idle()?;
        drop(session);
        log.first += group.len();
    }
    let fact = |counter: &u32| {
        let Counter { name, category, unit, description, .. } = &all[*counter as usize];
        CounterFact {
            name: name.clone(),
            category: category.clone(),
            unit: (*unit).to_owned(),
            description: description.clone(),
        }
    };
    let none = || vec![None; measured.len()];
    let pass = |pass: &frazil_report::PassRow| {
        let found = log.passes.get(&(pass.position as usize, pass.row.kernel.clone()));
        found.map_or_else(none, |sums| sums.iter().map(Sum::mean).collect())
    };
    Ok(HardwareCounters {
        counters: measured.iter().map(fact).collect(),
        steps: n,
        kernels: log
            .kernels
            .iter()
            .map(|(name, sums)| (name.clone(), sums.iter().map(Sum::mean).collect()))
            .collect(),
        passes: profile.passes.iter().map(pass).collect(),
    })
}

/// Sum of the values of a counter.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    calls: u64,
}

impl Sum {
    fn mean(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.sum / self.calls as f64).filter(|mean| mean.is_finite())
    }
}

/// Sums of all counters of active calls, by kernel and by place in the step.
#[derive(Default)]
struct CounterLog {
    n_counters: usize,
    /// Index of the first counter of the present group.
    first: usize,
    kernels: BTreeMap<String, Vec<Sum>>,
    passes: BTreeMap<(usize, String), Vec<Sum>>,
}

impl StepTimer for CounterLog {
    fn host(&mut self, _: Activity, _: Instant, _: Option<u64>) {}

    fn submission(&mut self, submission: &TimedSubmission<'_>) {
        let mut begin = 0;
        for end in submission.step_ends.iter().map(|end| *end as usize) {
            let Some(step) = submission.times.get(begin..end) else { break };
            begin = end;
            for (position, time) in step.iter().enumerate().filter(|(_, time)| !time.is_empty()) {
                let none = || vec![Sum::default(); self.n_counters];
                let pass = self.passes.entry((position, time.name.clone())).or_insert_with(none);
                let kernel = self.kernels.entry(time.name.clone()).or_insert_with(none);
                for (i, value) in time.counters.iter().enumerate() {
                    for sums in [&mut *pass, &mut *kernel] {
                        if let Some(sum) = sums.get_mut(self.first + i) {
                            sum.sum += value;
                            sum.calls += 1;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_vk::PassTime;

    fn counter(name: &str) -> Counter {
        Counter {
            name: name.to_owned(),
            category: String::new(),
            description: String::new(),
            unit: "",
            is_per_pass: true,
            slows: false,
        }
    }

    fn names<'a>(all: &'a [Counter], chosen: &[u32]) -> Vec<&'a str> {
        chosen.iter().map(|i| all[*i as usize].name.as_str()).collect()
    }

    #[test]
    fn the_default_set_has_load_bytes_and_caches_of_each_driver() {
        let radv = [
            "GPU active cycles",
            "Waves",
            "Instructions",
            "VALU Instructions",
            "VALU Busy",
            "SALU Busy",
            "VRAM read size",
            "VRAM write size",
            "L0 cache hit ratio",
            "L1 cache hit ratio",
            "L2 cache hit ratio",
        ]
        .map(counter);
        let expected = [
            "GPU active cycles",
            "VALU Busy",
            "VRAM read size",
            "VRAM write size",
            "L1 cache hit ratio",
            "L2 cache hit ratio",
            "Waves",
        ];
        assert_eq!(names(&radv, &choose(&radv, &[]).unwrap()), expected);
        let turnip = [
            "Clocks",
            "Avg Bytes / Fragment",
            "SP Memory Read (Bytes)",
            "Texture Memory Read BW (Bytes)",
            "% Shader ALU Capacity Utilized",
            "% Shaders Busy",
            "% Texture L2 Miss",
            "% Stalled on System Memory",
        ]
        .map(counter);
        let expected = [
            "Clocks",
            "% Shaders Busy",
            "% Shader ALU Capacity Utilized",
            "SP Memory Read (Bytes)",
            "% Stalled on System Memory",
        ];
        assert_eq!(names(&turnip, &choose(&turnip, &[]).unwrap()), expected);
        assert!(choose(&[counter("other")], &[]).is_err());
    }

    #[test]
    fn counters_are_named_whole_or_in_part() {
        let all = ["Instructions", "VALU Instructions", "L2 cache hit ratio"].map(counter);
        let chosen = |requested: &[&str]| {
            choose(&all, &requested.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&["instructions"]).unwrap(), [0], "a whole name comes first");
        assert_eq!(chosen(&["l2", "instr", "L2 cache hit ratio"]).unwrap(), [2, 0, 1]);
        for unknown in ["power", ""] {
            let error = chosen(&[unknown]).unwrap_err().to_string();
            assert!(error.contains("expected a part of Instructions, VALU Instructions"), "{error}");
        }
    }

    #[test]
    fn values_are_means_of_active_calls_and_groups_follow_each_other() {
        let mut log = CounterLog { n_counters: 3, ..CounterLog::default() };
        let time = |name: &str, elements: u64, counters: &[f64]| PassTime {
            name: name.to_owned(),
            start_ns: 0.0,
            duration_ns: 1.0,
            bytes: 8,
            elements: Some(elements),
            counters: counters.to_vec(),
        };
        let submit = |log: &mut CounterLog, times: &[PassTime]| {
            log.submission(&TimedSubmission {
                number: 1,
                last_step: 2,
                times,
                step_ends: &[2, 4],
                n_passes: 4,
            });
        };
        submit(
            &mut log,
            &[
                time("a", 2, &[1.0, 10.0]),
                time("b", 2, &[5.0, 6.0]),
                time("a", 2, &[3.0, 30.0]),
                time("b", 0, &[9.0, 9.0]),
            ],
        );
        log.first = 2;
        submit(
            &mut log,
            &[time("a", 2, &[7.0]), time("b", 0, &[1.0]), time("a", 2, &[7.0]), time("c", 2, &[])],
        );
        let means = |sums: &[Sum]| sums.iter().map(Sum::mean).collect::<Vec<_>>();
        assert_eq!(means(&log.kernels["a"]), [Some(2.0), Some(20.0), Some(7.0)]);
        assert_eq!(means(&log.passes[&(1, "b".to_owned())]), [Some(5.0), Some(6.0), None]);
        assert_eq!(means(&log.kernels["c"]), [None; 3]);
    }
}
