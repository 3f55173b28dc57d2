//! Predicts the time of a step on a GPU that is not there, from a profile's counts and a compiler's report.
//!
//! A call of a kernel takes the launch of a dispatch and the longest of three times: its bytes at the rate of
//! the memory, or of the last cache if the scene fits it; its operations at the peak rate; and its bytes at
//! the rate that the threads in flight reach, each with a vector of four words under way (Little's law), but
//! at least a chain of dependent loads. Loops, divergence and conflicts of atomics are not modelled.

use crate::profile::{KernelFact, Limit, Profile, TableStyle, table};
use serde::{Deserialize, Serialize};

/// Bytes that a thread has under way: a vector of four words.
const BYTES_IN_FLIGHT: f64 = 16.0;
/// Loads that depend on one another in any kernel: its parameters or rows, an index, an element.
const DEPENDENT_LOADS: f64 = 3.0;
/// Share of a processor's threads that keeps its arithmetic busy.
const BUSY_SHARE: f64 = 0.25;

/// Published figures of a GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// Name of the card.
    pub name: String,
    /// Family whose compiler tells registers, such as `ada`; none if there is no such compiler.
    pub family: Option<String>,
    /// Processors: streaming multiprocessors, compute units, cores.
    pub processors: f64,
    /// Maximum of the threads that a processor holds.
    pub threads_per_processor: f64,
    /// Bandwidth of the memory, in GB/s.
    pub bandwidth_gb_per_s: f64,
    /// Size of the last cache, in MB.
    pub cache_mb: f64,
    /// Bandwidth of the last cache, in GB/s.
    pub cache_gb_per_s: f64,
    /// Peak rate of multiply-adds in f32, in GFLOP/s.
    pub peak_gflop_per_s: f64,
    /// Time of a dispatch that waits for the one before, in µs.
    pub launch_us: f64,
    /// Latency of a load from memory, in ns.
    pub latency_ns: f64,
    /// Source of the figures.
    pub source: String,
}

impl Gpu {
    /// Checks that all figures are above 0 and finite.
    ///
    /// # Errors
    /// The first key that is not, with its value.
    pub fn check(&self) -> Result<(), String> {
        let all = [
            ("processors", self.processors),
            ("threads_per_processor", self.threads_per_processor),
            ("bandwidth_gb_per_s", self.bandwidth_gb_per_s),
            ("cache_mb", self.cache_mb),
            ("cache_gb_per_s", self.cache_gb_per_s),
            ("peak_gflop_per_s", self.peak_gflop_per_s),
            ("launch_us", self.launch_us),
            ("latency_ns", self.latency_ns),
        ];
        match all.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            Some((key, value)) => Err(format!("{key}: found {value}, expected a finite number above 0")),
            None => Ok(()),
        }
    }

    /// Returns the device on which a profile was taken, with its measured rates; none if they were not
    /// measured. Threads of a CPU run one group each, so that nothing is in flight.
    pub fn of_profile(profile: &Profile) -> Option<Self> {
        let bandwidth_gb_per_s = profile.copy_gb_per_s?;
        Some(Self {
            name: profile.device.clone(),
            family: None,
            processors: 1.0,
            threads_per_processor: 1.0,
            bandwidth_gb_per_s,
            cache_mb: f64::MIN_POSITIVE,
            cache_gb_per_s: bandwidth_gb_per_s,
            peak_gflop_per_s: profile.peak_gflop_per_s?,
            launch_us: 1e-3 * profile.launch_ns?,
            latency_ns: 0.0,
            source: "measured by this profile".into(),
        })
    }
}

/// Predicted time of a profile's step on a GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Name of the GPU.
    pub gpu: String,
    /// Time of a step, in ns.
    pub step_ns: f64,
    /// One row per kernel, the longest first.
    pub kernels: Vec<KernelPrediction>,
}

/// Prediction for all calls of a kernel in a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelPrediction {
    /// The kernel's name.
    pub kernel: String,
    /// Active calls in a step.
    pub calls: f64,
    /// Their time, and that of empty calls, in ns.
    pub ns: f64,
    /// Limit that takes the largest part of it.
    #[serde(serialize_with = "limit_text")]
    pub limit: Limit,
    /// Resident threads over the maximum, by the compiler; 1 if it is unknown.
    pub occupancy: f64,
    /// Share of the time of the step that half of the bytes, of the operations, of the registers and of the
    /// launches would save.
    pub gain: [f64; 4],
    /// Time that the profile measured, in ns; not on another device.
    pub measured_ns: f64,
}

fn limit_text<S: serde::Serializer>(limit: &Limit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(limit)
}

/// Divisors of what a kernel needs.
#[derive(Clone, Copy)]
struct Change {
    bytes: f64,
    flop: f64,
    registers: f64,
    launches: f64,
}

const NO_CHANGE: Change = Change { bytes: 1.0, flop: 1.0, registers: 1.0, launches: 1.0 };
const HALVES: [Change; 4] = [
    Change { bytes: 2.0, ..NO_CHANGE },
    Change { flop: 2.0, ..NO_CHANGE },
    Change { registers: 2.0, ..NO_CHANGE },
    Change { launches: 2.0, ..NO_CHANGE },
];

/// Counts of a kernel in a step.
struct Counts {
    calls: f64,
    empty_calls: f64,
    bytes: f64,
    flop: f64,
    threads: f64,
    occupancy: f64,
}

impl Counts {
    /// Returns the time of all calls in ns and what takes the largest part of it.
    fn time(&self, gpu: &Gpu, fits_cache: bool, change: Change) -> (f64, Limit) {
        let threads = gpu.processors * gpu.threads_per_processor;
        let in_flight = self.threads.min(threads * (self.occupancy * change.registers).min(1.0)).max(1.0);
        let rate = if fits_cache { gpu.cache_gb_per_s } else { gpu.bandwidth_gb_per_s };
        let bytes = self.bytes / change.bytes;
        let waiting_ns = match gpu.latency_ns > 0.0 {
            true => {
                let reached = in_flight * BYTES_IN_FLIGHT / gpu.latency_ns;
                (bytes / reached).max(DEPENDENT_LOADS * gpu.latency_ns)
            }
            false => 0.0,
        };
        let busy = if gpu.latency_ns > 0.0 { (self.threads / (BUSY_SHARE * threads)).min(1.0) } else { 1.0 };
        let launch_ns = 1e3 * gpu.launch_us / change.launches;
        let times = [
            (Limit::Bytes, bytes / rate),
            (Limit::Flops, self.flop / change.flop / (gpu.peak_gflop_per_s * busy.max(f64::MIN_POSITIVE))),
            (Limit::Latency, waiting_ns),
        ];
        let longest = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Limit::Launch, 0.0));
        let limit = if longest.1 < launch_ns { Limit::Launch } else { longest.0 };
        (self.calls * (launch_ns + longest.1) + self.empty_calls * launch_ns, limit)
    }
}

/// Predicts the time of a profile's step; `facts` are what a compiler of the GPU's family makes of its
/// kernels.
pub fn predict(profile: &Profile, gpu: &Gpu, facts: &[KernelFact]) -> Prediction {
    let steps = profile.steps.max(1) as f64;
    let fits_cache = profile.memory.bytes as f64 <= 1e6 * gpu.cache_mb;
    let counts: Vec<(&str, f64, Counts)> = profile
        .rows
        .iter()
        .map(|row| {
            let of_profile = profile.kernels.iter().filter(|fact| fact.kernel == row.kernel);
            let threads = of_profile.filter_map(|fact| Some(fact.groups? * f64::from(fact.workgroup_size)));
            let shares = facts.iter().filter(|fact| fact.kernel == row.kernel);
            let occupancy = shares.filter_map(|fact| fact.theoretical_occupancy).reduce(f64::min);
            let counts = Counts {
                calls: row.calls as f64 / steps,
                empty_calls: row.empty.calls as f64 / steps,
                bytes: row.bytes.unwrap_or(0) as f64 / row.calls.max(1) as f64,
                flop: profile.flop_of(&row.kernel).unwrap_or(0.0),
                threads: threads.reduce(f64::max).unwrap_or(profile.n_particles as f64),
                occupancy: occupancy.unwrap_or(1.0),
            };
            let measured = (row.typical_ns + row.empty.total_ns) as f64 / steps;
            (row.kernel.as_str(), measured, counts)
        })
        .collect();
    let step_ns: f64 = counts.iter().map(|(_, _, counts)| counts.time(gpu, fits_cache, NO_CHANGE).0).sum();
    let mut kernels: Vec<KernelPrediction> = counts
        .iter()
        .map(|(kernel, measured_ns, counts)| {
            let (ns, limit) = counts.time(gpu, fits_cache, NO_CHANGE);
            let saved =
                |change| (ns - counts.time(gpu, fits_cache, change).0) / step_ns.max(f64::MIN_POSITIVE);
            KernelPrediction {
                kernel: (*kernel).to_owned(),
                calls: counts.calls,
                ns,
                limit,
                occupancy: counts.occupancy,
                gain: HALVES.map(saved),
                measured_ns: *measured_ns,
            }
        })
        .collect();
    kernels.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    Prediction { gpu: gpu.name.clone(), step_ns, kernels }
}

/// Formats a prediction; `is_here` adds what was measured, on the same device.
pub fn prediction_table(prediction: &Prediction, is_here: bool, style: TableStyle) -> String {
    let mut header = vec!["kernel", "calls", "predicted [µs]", "[%]", "bound by", "occupancy [%]"];
    header.extend(match is_here {
        true => ["measured [µs]", "predicted/measured"].as_slice(),
        false => ["½ bytes [%]", "½ flop [%]", "½ registers [%]", "½ launches [%]"].as_slice(),
    });
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let line = |kernel: &KernelPrediction| {
        let mut cells = vec![
            kernel.kernel.clone(),
            format!("{:.1}", kernel.calls),
            format!("{:.1}", 1e-3 * kernel.ns),
            percent(kernel.ns / prediction.step_ns),
            kernel.limit.to_string(),
            format!("{:.0}", 100.0 * kernel.occupancy),
        ];
        match is_here {
            true => cells.extend([
                format!("{:.1}", 1e-3 * kernel.measured_ns),
                format!("{:.2}", kernel.ns / kernel.measured_ns.max(1.0)),
            ]),
            // A gain of nothing is written as nothing, so that those that count stand out.
            false => {
                cells.extend(kernel.gain.map(|gain| if gain < 5e-4 { "-".into() } else { percent(gain) }))
            }
        }
        cells
    };
    let lines: Vec<Vec<String>> = prediction.kernels.iter().map(line).collect();
    table(&header, &lines, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    fn gpu() -> Gpu {
        Gpu {
            name: "a GPU".into(),
            family: None,
            processors: 100.0,
            threads_per_processor: 1000.0,
            bandwidth_gb_per_s: 1000.0,
            cache_mb: 1.0,
            cache_gb_per_s: 4000.0,
            peak_gflop_per_s: 10_000.0,
            launch_us: 2.0,
            latency_ns: 500.0,
            source: "a test".into(),
        }
    }

    fn counts() -> Counts {
        Counts { calls: 2.0, empty_calls: 3.0, bytes: 1e7, flop: 1e6, threads: 1e6, occupancy: 1.0 }
    }

    #[test]
    fn a_call_takes_its_launch_and_the_longest_of_bytes_operations_and_waiting() {
        // 10 MB at 1000 GB/s: 10 µs, twice, and five launches of 2 µs.
        assert_eq!(counts().time(&gpu(), false, NO_CHANGE), (2.0 * 1e4 + 5.0 * 2e3, Limit::Bytes));
        // In the cache, a quarter of it; 3.2 MB in flight at 500 ns are 3200 GB/s, less than the cache.
        let (ns, limit) = counts().time(&gpu(), true, NO_CHANGE);
        assert_eq!(((ns - 1e4) / 2.0, limit), (1e7 / 3200.0, Limit::Latency));
        // At a tenth of the occupancy, 320 GB/s are reached; twice as much with half of the registers.
        let few = Counts { occupancy: 0.1, ..counts() };
        assert!((few.time(&gpu(), false, NO_CHANGE).0 - 1e4 - 2.0 * 1e7 / 320.0).abs() < 1e-6);
        assert!((few.time(&gpu(), false, HALVES[2]).0 - 1e4 - 2.0 * 1e7 / 640.0).abs() < 1e-6);
        let many = Counts { flop: 1e9, ..counts() };
        assert_eq!(many.time(&gpu(), false, NO_CHANGE), (2.0 * 1e5 + 1e4, Limit::Flops));
        // Nothing to do: three loads in turn, which are shorter than a launch.
        let idle = Counts { bytes: 0.0, flop: 0.0, threads: 1.0, ..counts() };
        assert_eq!(idle.time(&gpu(), false, NO_CHANGE), (2.0 * 1500.0 + 1e4, Limit::Launch));
    }

    #[test]
    fn a_step_is_the_sum_of_its_kernels_and_gains_are_shares_of_it() {
        let profile = profile();
        let prediction = predict(&profile, &gpu(), &[]);
        let sum: f64 = prediction.kernels.iter().map(|kernel| kernel.ns).sum();
        assert!((sum - prediction.step_ns).abs() < 1e-9 * sum && sum > 0.0);
        assert!(prediction.kernels.windows(2).all(|pair| pair[0].ns >= pair[1].ns));
        let gains = prediction.kernels.iter().flat_map(|kernel| kernel.gain);
        assert!(gains.into_iter().all(|gain| (0.0..=0.5).contains(&gain)));
        let few = KernelFact {
            kernel: prediction.kernels[0].kernel.clone(),
            theoretical_occupancy: Some(0.25),
            ..KernelFact::default()
        };
        let with_few = predict(&profile, &gpu(), &[few]);
        assert!(with_few.kernels.iter().any(|kernel| kernel.occupancy == 0.25));
        assert!(with_few.step_ns >= prediction.step_ns);
        let text = prediction_table(&prediction, false, TableStyle::Plain);
        assert!(text.contains("½ registers") && !text.contains("measured"), "{text}");
        assert!(prediction_table(&prediction, true, TableStyle::Plain).contains("predicted/measured"));
    }

    #[test]
    fn figures_must_be_positive() {
        assert_eq!(gpu().check(), Ok(()));
        let broken = Gpu { latency_ns: -1.0, ..gpu() };
        assert_eq!(broken.check(), Err("latency_ns: found -1, expected a finite number above 0".into()));
    }

    #[test]
    fn the_profiled_device_has_its_measured_rates() {
        let mut profile = profile();
        let here = Gpu::of_profile(&profile).unwrap();
        assert_eq!(Some(here.bandwidth_gb_per_s), profile.copy_gb_per_s);
        profile.launch_ns = None;
        assert_eq!(Gpu::of_profile(&profile), None);
    }
}
