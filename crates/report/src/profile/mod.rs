//! `profile.json`: the cost of each kernel, compared with the device's copy bandwidth.

mod against;
mod bound;
mod counters;
mod csv;
mod gaps;
mod intensity;
mod report;
mod rows;
mod run_figures;
mod table;
mod tables;
mod vary;
mod work_item;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use frazil_io::json;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::statistics::median_of_times;

pub use against::{
    KernelComparison, Mismatch, ProfileComparison, ProfileRound, RunFacts, compare_profile_rounds,
    compare_profiles,
};
pub use bound::{KernelBound, Limit};
pub use counters::{CounterFact, HardwareCounters, counter_table};
pub use csv::profile_csv;
pub use gaps::{Gap, HostGaps, host_gaps};
pub use intensity::Throughput;
pub use report::profile_report;
pub(crate) use report::{page, plot};
pub use rows::{EmptyCalls, KernelSamples, PassRow, ProfileRow, SizedCopy, pass_rows, profile_rows};
pub use run_figures::RunFigures;
pub use table::{TableStyle, fitted_table, table, time};
pub(crate) use tables::{FACT_COLUMNS, fact_cells, labelled_facts};
pub use tables::{
    bound_table, comparison_table, facts_table, gap_table, memory_table, pass_table, profile_table,
    throughput_table, vary_table,
};
pub use vary::{Candidate, Vary};
pub use work_item::WorkItem;

/// Share of the fastest copy that no kernel exceeds: above it, more bytes were counted than were moved.
const MAX_SHARE_OF_COPY: f64 = 1.05;

/// Profile of a run, with one row per kernel, the most expensive first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`Profile::FORMAT_VERSION`].
    pub format_version: u32,
    /// The scene's name.
    pub scene: String,
    /// Hash of the scene values that affect the computation.
    pub scene_hash: String,
    /// The device's name.
    pub device: String,
    /// True for a software device, whose timings are not those of a GPU.
    pub is_software: bool,
    /// The driver's name and version.
    pub driver: String,
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// Tunables that differ from their defaults, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<String, u32>,
    /// Number of particles at the end.
    pub n_particles: u64,
    /// Number of steps before the first measured one.
    pub steps_before: u64,
    /// Number of measured steps.
    pub steps: u64,
    /// Hash of the final state, if it was computed. It differs from that of a run of as many steps, because a
    /// run measures its densities anew.
    pub state_hash: Option<String>,
    /// Copy bandwidth of the device, bytes read plus written, in GB/s; `None` if not measured.
    pub copy_gb_per_s: Option<f64>,
    /// Rates of copies of several sizes, ascending; the last one is `copy_gb_per_s`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<SizedCopy>,
    /// Time of a dispatch of almost no work, in nanoseconds; `None` if not measured.
    #[serde(default)]
    pub launch_ns: Option<f64>,
    /// Peak of multiply-adds of the device in f32, in GFLOP/s; `None` if not measured.
    #[serde(default)]
    pub peak_gflop_per_s: Option<f64>,
    /// Items that kernels worked on in the last step.
    #[serde(default)]
    pub work: Vec<WorkItem>,
    /// Hardware counters, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<HardwareCounters>,
    /// Time of steps with and without time stamps; `None` if not measured.
    #[serde(default)]
    pub stamping: Option<Stamping>,
    /// Rate of steps and pictures together, if requested.
    #[serde(default)]
    pub pictures: Option<Pictures>,
    /// Share of the time from the first to the last pass in which the device had ended one submission and not
    /// begun the next, 0 to 1; `None` if not measured.
    pub idle_between_submissions: Option<f64>,
    /// Share of that time that the host spent on recording and submitting; `None` if not measured.
    pub host_busy: Option<f64>,
    /// Device time of each step, from the start of its first pass to the end of its last, in nanoseconds.
    pub step_samples_ns: Vec<u64>,
    /// One row per kernel; see [`profile_rows`].
    pub rows: Vec<ProfileRow>,
    /// One row per pass of a step, in the order of the step.
    pub passes: Vec<PassRow>,
    /// Compilation results of each kernel.
    pub kernels: Vec<KernelFact>,
    /// Memory of buffers and images.
    pub memory: Memory,
    /// Gaps in which the device waited for the host.
    pub gaps: HostGaps,
    /// The passes of one step of median duration.
    pub timeline: Vec<TimelinePass>,
    /// Measurements of the same steps with other tunables, if requested.
    pub vary: Option<Vary>,
    /// The duration of every active call, by kernel, in nanoseconds.
    pub samples_ns: BTreeMap<String, Vec<u64>>,
    /// Figures of each process, if the measurement was repeated in several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunFigures>,
}

/// Compilation results of a kernel; `None` where the driver does not report a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelFact {
    /// The kernel's name.
    pub kernel: String,
    /// Its specialisation constants, by name, as bits.
    pub specialization: BTreeMap<String, u32>,
    /// Threads in a workgroup.
    pub workgroup_size: u32,
    /// Shared memory per workgroup that the shader declares, in bytes.
    pub shared_memory_bytes: Option<u64>,
    /// Invocations per subgroup, as chosen by the driver.
    pub subgroup_size: Option<u32>,
    /// Registers, in the driver's unit.
    pub registers: Option<u64>,
    /// Spilled registers or spill instructions, in the driver's unit.
    pub spills: Option<u64>,
    /// Memory for spills and private arrays, in bytes.
    pub scratch_bytes: Option<u64>,
    /// Size of the code in bytes.
    pub code_bytes: Option<u64>,
    /// Values kept in registers of another file for lack of general ones.
    #[serde(default)]
    pub register_moves: Option<u64>,
    /// Subgroups that a processor can hold at once: a SIMD of AMD, a streaming multiprocessor, or a core.
    #[serde(default, alias = "subgroups_per_simd")]
    pub resident_subgroups: Option<u64>,
    /// Instructions of the code, each once.
    #[serde(default)]
    pub instructions: Option<u64>,
    /// The driver's estimate of the cycles from start to end of a subgroup.
    #[serde(default)]
    pub latency_cycles: Option<u64>,
    /// The driver's estimate of the cycles of a subgroup when others hide its latency.
    #[serde(default)]
    pub inverse_throughput_cycles: Option<u64>,
    /// Workgroups of a mean dispatch, as far as the host knows counts.
    #[serde(default)]
    pub groups: Option<f64>,
    /// Subgroups that are resident when enough groups are dispatched, over the device's maximum.
    #[serde(default)]
    pub theoretical_occupancy: Option<f64>,
    /// Fraction of the places for workgroups that stay empty over all waves of a mean dispatch.
    #[serde(default)]
    pub tail: Option<f64>,
    /// Floating-point operations per item that the shader declares.
    #[serde(default)]
    pub work: BTreeMap<String, u64>,
    /// All statistics of the driver, verbatim.
    pub driver_statistics: Vec<DriverStatistic>,
}

/// Time that the host waits for the same number of steps with and without time stamps, taken in turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamping {
    /// Number of steps of each kind.
    pub steps: u64,
    /// Time of those with time stamps, in nanoseconds.
    pub stamped_ns: u64,
    /// Time of those without, in nanoseconds.
    pub unstamped_ns: u64,
}

impl Stamping {
    /// Returns the time with time stamps over the time without.
    pub fn ratio(&self) -> Option<f64> {
        (self.unstamped_ns > 0).then(|| self.stamped_ns as f64 / self.unstamped_ns as f64)
    }
}

/// Rate of steps and pictures together: a picture after each step, read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pictures {
    /// Representation of particles.
    pub scheme: String,
    /// Width of a picture in pixels.
    pub width_px: u32,
    /// Height of a picture in pixels.
    pub height_px: u32,
    /// Number of pictures, and of steps.
    pub pictures: u64,
    /// Time of all of them that the host waits, in nanoseconds.
    pub wall_ns: u64,
    /// Triangles of the ground in a picture.
    pub ground_triangles: u64,
    /// Triangles of the surface of particles in the last picture.
    pub surface_triangles: u64,
}

impl fmt::Display for Pictures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = 1e-9 * self.wall_ns as f64 / self.pictures.max(1) as f64;
        write!(
            f,
            "{:.2} fps, {:.1} ms each with a step: {}, {} × {} px, {} triangles of ground, {} of surface",
            1.0 / s,
            1e3 * s,
            self.scheme,
            self.width_px,
            self.height_px,
            self.ground_triangles,
            self.surface_triangles
        )
    }
}

/// A driver statistic of a kernel, in the driver's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriverStatistic {
    /// The driver's name of the executable.
    pub executable: String,
    /// The statistic's name.
    pub name: String,
    /// The statistic's description.
    pub description: String,
    /// The value, as text.
    pub value: String,
}

/// Memory of buffers and images.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Bytes allocated when the measurement ended.
    pub bytes: u64,
    /// Maximum of bytes allocated at once, including set-up.
    pub bytes_peak: u64,
    /// Rows by name, the largest first.
    pub columns: Vec<MemoryRow>,
}

/// Memory of the buffers and images of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRow {
    /// Name of the objects.
    pub name: String,
    /// Number of objects when the measurement ended.
    pub objects: u64,
    /// Their bytes at that time.
    pub bytes: u64,
    /// Maximum of their bytes at any time.
    pub bytes_peak: u64,
}

/// A pass of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelinePass {
    /// The kernel's name.
    pub kernel: String,
    /// Start in nanoseconds from the start of the step.
    pub start_ns: u64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
}

impl Profile {
    /// The version of `profile.json` that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 3;

    /// Writes the profile. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io), naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(json::write(path, self)?)
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io); [`Json`](frazil_io::Error::Json) with line and column;
    /// [`Version`](frazil_io::Error::Version).
    pub fn read(path: &Path) -> Result<Self> {
        Ok(json::read_version(path, "profile.json", Self::FORMAT_VERSION)?)
    }

    /// Returns the median device time of a step in nanoseconds, if any step was timed.
    pub fn step_median_ns(&self) -> Option<u64> {
        median_of_times(&self.step_samples_ns)
    }

    /// Returns what moved more bytes than a copy can, by more than 5 %: the bytes that are counted for it are
    /// wrong, which is an error of the profiler.
    pub fn overcounted(&self) -> Vec<String> {
        let passes = self.passes.iter().map(|pass| (pass.label(), &pass.row));
        let all = self.rows.iter().map(|row| (row.kernel.clone(), row)).chain(passes);
        let mut found = Vec::new();
        for (label, row) in all {
            if let Some(share) = row.share_of_copy.filter(|share| *share > MAX_SHARE_OF_COPY) {
                found.push(format!("{label} at {share:.2} of a copy"));
            }
        }
        found.dedup();
        found
    }

    /// Returns true if the driver reported statistics of any kernel.
    pub fn driver_reports(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.driver_statistics.is_empty())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs;

    /// Makes a profile with data in every part, and a name that requires escaping.
    pub fn profile() -> Profile {
        let kernel = |name: &str, durations_ns: Vec<u64>| KernelSamples {
            kernel: name.to_owned(),
            durations_ns,
            empty_ns: Vec::new(),
            bytes: Some(7_900_000),
        };
        let copies = vec![SizedCopy { bytes: 512 << 20, gb_per_s: 20.0 }];
        let durations = |base: u64| (0..20).map(|i| base + 10 * (i * 7 % 20)).collect::<Vec<_>>();
        let samples = [kernel("pbd.lambda", durations(100_000)), kernel("sort <&\"'>", durations(20_000))];
        let rows = profile_rows(&samples, &[], &copies);
        let pass = |(position, row): (usize, &ProfileRow)| PassRow {
            position: position as u32,
            occurrence: 1,
            occurrences: 1,
            row: row.clone(),
        };
        Profile {
            format_version: Profile::FORMAT_VERSION,
            scene: "dam & break".to_owned(),
            scene_hash: "77".to_owned(),
            device: "llvmpipe".to_owned(),
            is_software: true,
            driver: "lavapipe".to_owned(),
            tuning: BTreeMap::new(),
            git_commit: Some("abc".to_owned()),
            n_particles: 4096,
            steps_before: 5,
            steps: 20,
            state_hash: None,
            copy_gb_per_s: Some(20.0),
            copies,
            launch_ns: Some(5000.0),
            peak_gflop_per_s: Some(60.0),
            work: vec![WorkItem {
                item: "pair".to_owned(),
                kernels: vec!["pbd.lambda".to_owned()],
                count: 8192,
            }],
            counters: None,
            stamping: Some(Stamping { steps: 8, stamped_ns: 1_050_000, unstamped_ns: 1_000_000 }),
            pictures: None,
            idle_between_submissions: Some(0.001),
            host_busy: None,
            step_samples_ns: durations(120_000),
            passes: rows.iter().enumerate().map(pass).collect(),
            kernels: vec![KernelFact {
                kernel: "pbd.lambda".to_owned(),
                specialization: BTreeMap::from([("workgroup_size".to_owned(), 256)]),
                workgroup_size: 256,
                shared_memory_bytes: Some(2048),
                subgroup_size: Some(32),
                registers: Some(40),
                spills: None,
                scratch_bytes: Some(0),
                code_bytes: Some(3000),
                groups: Some(512.0),
                theoretical_occupancy: Some(0.75),
                tail: Some(0.125),
                work: BTreeMap::from([("pair".to_owned(), 50), ("particle".to_owned(), 10)]),
                driver_statistics: vec![DriverStatistic {
                    executable: "main".to_owned(),
                    name: "Register Count".to_owned(),
                    description: "registers a <thread>".to_owned(),
                    value: "40".to_owned(),
                }],
                ..KernelFact::default()
            }],
            memory: Memory {
                bytes: 3_000_000,
                bytes_peak: 4_000_000,
                columns: vec![MemoryRow {
                    name: "position".to_owned(),
                    objects: 2,
                    bytes: 3_000_000,
                    bytes_peak: 3_500_000,
                }],
            },
            gaps: HostGaps {
                submissions: 5,
                total_ns: 4000,
                median_ns: 500,
                largest: vec![Gap {
                    start_ns: 10_000,
                    duration_ns: 2000,
                    host_ns: BTreeMap::from([("record".to_owned(), 1500)]),
                }],
            },
            timeline: vec![
                TimelinePass { kernel: "pbd.lambda".to_owned(), start_ns: 0, duration_ns: 100_000 },
                TimelinePass { kernel: "sort <&\"'>".to_owned(), start_ns: 100_500, duration_ns: 20_000 },
            ],
            vary: Some(vary::tests::vary()),
            samples_ns: samples.into_iter().map(|s| (s.kernel, s.durations_ns)).collect(),
            runs: Vec::new(),
            rows,
        }
    }

    #[test]
    fn a_rate_above_that_of_copies_is_an_error_of_the_profiler() {
        let mut profile = profile();
        assert_eq!(profile.overcounted(), [] as [&str; 0]);
        profile.rows[0].share_of_copy = Some(1.05);
        assert_eq!(profile.overcounted(), [] as [&str; 0], "a copy itself scatters");
        profile.passes[1].row.share_of_copy = Some(5.71);
        assert_eq!(profile.overcounted(), ["sort <&\"'> at 5.71 of a copy"]);
    }

    #[test]
    fn a_profile_round_trips_and_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("profile.json");
        let profile = profile();
        profile.write(&path).unwrap();
        assert_eq!(Profile::read(&path).unwrap(), profile);

        // A file of another version with other fields still gives a version error.
        fs::write(&path, "{\"format_version\": 2, \"scene\": \"dam_break\"}").unwrap();
        let error = Profile::read(&path).unwrap_err().to_string();
        assert!(error.contains("profile.json format version 2; this build reads version 3"), "{error}");
    }
}
