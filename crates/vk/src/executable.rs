//! Driver statistics of compiled kernels (`VK_KHR_pipeline_executable_properties`).

use ash::{khr, vk};
use std::ffi::CStr;
use std::fmt;

/// Machine code that the driver compiled for a kernel; a compute pipeline usually has one executable.
#[derive(Clone, Debug, PartialEq)]
pub struct Executable {
    /// Name given by the driver.
    pub name: String,
    /// Description given by the driver.
    pub description: String,
    /// Subgroup size in invocations; 0 if the driver does not report it.
    pub subgroup_size: u32,
    /// Statistics of the driver, verbatim.
    pub statistics: Vec<Statistic>,
}

/// One statistic of a driver.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// Name given by the driver.
    pub name: String,
    /// Description given by the driver.
    pub description: String,
    /// Value of the statistic.
    pub value: StatisticValue,
}

/// Value of a statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatisticValue {
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
}

impl StatisticValue {
    /// Returns the value as a count, if it is one.
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::Unsigned(value) => Some(value),
            Self::Signed(value) => value.try_into().ok(),
            Self::Float(value) if value >= 0.0 && value.fract() == 0.0 && value < 9e15 => Some(value as u64),
            _ => None,
        }
    }
}

impl fmt::Display for StatisticValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

/// Statistics that determine occupancy, under one name for all drivers; none if the driver does not report
/// them.
///
/// | | NVIDIA | RADV | ANV |
/// |---|---|---|---|
/// | registers | `Register Count` | `VGPRs` | `GRF registers`, else `Max live registers` |
/// | spills | | `Spilled SGPRs` + `Spilled VGPRs` | `Spill Count` |
/// | scratch | `Local Memory Size` | `Scratch size` | `Scratch Memory Size` |
/// | shared memory | `Shared Memory Size` | `LDS size` | `Workgroup Memory Size` |
/// | code | `Binary Size` | `Code size` | |
/// | resident subgroups | | `Subgroups per SIMD` | |
/// | instructions | | `Instructions` | `Instruction Count` |
/// | latency, inverse throughput | | `Latency`, `Inverse Throughput` | `Cycle Count` |
///
/// | | NVK | Turnip | Honeykrisp |
/// |---|---|---|---|
/// | registers | `Number of GPRs` | 4 × `Registers used` | ½ `GPRs` |
/// | spills | `Spills to memory` | `STP Count` | `Spills` |
/// | register moves | `Spills to reg` | | |
/// | scratch | `SLM size` | | `Scratch` |
/// | code | `Code size` | 4 × `Code size` | `Code size` |
/// | resident subgroups | `Max warps/SM` | `Max Waves Per Core` | `Threads` / 32 |
/// | instructions | `Instruction count` | `Instruction Count` | `Instructions` |
/// | latency, inverse throughput | `Static cycle count` | | `ALU` |
/// Units differ by driver: ANV counts registers per hardware thread, RADV scratch per wave; resident
/// subgroups are those of a streaming multiprocessor (NVK), a SIMD (RADV) or a core. NVK's cycles are those
/// of instructions with a fixed latency, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Registers.
    pub registers: Option<u64>,
    /// Registers spilled (RADV) or instructions that spill to memory.
    pub spills: Option<u64>,
    /// Values moved to registers of another file, for lack of general ones (NVK).
    pub register_moves: Option<u64>,
    /// Scratch memory for spills and indexed private arrays, in bytes.
    pub scratch_bytes: Option<u64>,
    /// Shared memory of a workgroup, in bytes.
    pub shared_memory_bytes: Option<u64>,
    /// Size of the code in bytes.
    pub code_bytes: Option<u64>,
    /// Subgroups that a processor can hold at once, by registers and shared memory.
    pub resident_subgroups: Option<u64>,
    /// Instructions of the code, each once.
    pub instructions: Option<u64>,
    /// The driver's estimate of the cycles from start to end of a subgroup.
    pub latency_cycles: Option<u64>,
    /// The driver's estimate of the cycles of a subgroup when others hide its latency.
    pub inverse_throughput_cycles: Option<u64>,
}

impl Occupancy {
    /// Returns of each value the worse one: the smaller number of subgroups, the larger of all else.
    pub(crate) fn worst(self, other: Self) -> Self {
        let min = match (self.resident_subgroups, other.resident_subgroups) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            registers: self.registers.max(other.registers),
            spills: self.spills.max(other.spills),
            register_moves: self.register_moves.max(other.register_moves),
            scratch_bytes: self.scratch_bytes.max(other.scratch_bytes),
            shared_memory_bytes: self.shared_memory_bytes.max(other.shared_memory_bytes),
            code_bytes: self.code_bytes.max(other.code_bytes),
            resident_subgroups: min,
            instructions: self.instructions.max(other.instructions),
            latency_cycles: self.latency_cycles.max(other.latency_cycles),
            inverse_throughput_cycles: self.inverse_throughput_cycles.max(other.inverse_throughput_cycles),
        }
    }
}

impl Executable {
    /// Selects the statistics with known names.
    pub fn occupancy(&self) -> Occupancy {
        let statistic =
            |name: &str| self.statistics.iter().find(|s| s.name.trim().eq_ignore_ascii_case(name));
        let value = |name: &str| statistic(name).and_then(|s| s.value.as_u64());
        let first = |names: &[&str]| names.iter().find_map(|name| value(name));
        let sum = |names: &[&str]| {
            let found: Vec<u64> = names.iter().filter_map(|name| value(name)).collect();
            (!found.is_empty()).then(|| found.iter().sum())
        };
        // Turnip counts vectors of four registers, and code in words; Honeykrisp counts halves of registers.
        let code_unit = match statistic("Code size") {
            Some(code) if code.description.contains("dwords") => 4,
            _ => 1,
        };
        Occupancy {
            registers: first(&["Register Count", "Number of GPRs", "VGPRs", "GRF registers"])
                .or(value("Max live registers"))
                .or(value("Registers used").map(|vectors| 4 * vectors))
                .or(value("GPRs").map(|halves| halves.div_ceil(2))),
            spills: sum(&["Spilled SGPRs", "Spilled VGPRs", "Spill Count"]).or(first(&[
                "Spills to memory",
                "STP Count",
                "Spills",
            ])),
            register_moves: value("Spills to reg"),
            // NVIDIA's driver 580 fills the lower 32 bits only; the others hold a constant.
            scratch_bytes: value("Local Memory Size").map(|bytes| bytes & 0xffff_ffff).or(first(&[
                "SLM size",
                "Scratch size",
                "Scratch Memory Size",
                "Scratch",
            ])),
            shared_memory_bytes: first(&["Shared Memory Size", "LDS size", "Workgroup Memory Size"]),
            code_bytes: first(&["Binary Size", "Code size"]).map(|size| code_unit * size),
            resident_subgroups: first(&["Subgroups per SIMD", "Max warps/SM", "Max Waves Per Core"])
                .or(value("Threads").map(|threads| threads / 32)),
            instructions: first(&["Instructions", "Instruction Count"]),
            latency_cycles: first(&["Latency", "Cycle Count", "Static cycle count"]),
            inverse_throughput_cycles: first(&["Inverse Throughput", "ALU"]),
        }
    }
}

/// Queries the driver's statistics of a pipeline.
/// `loader` is present if the feature is enabled; the pipeline was then created with capture of statistics.
pub(crate) fn executables(
    loader: Option<&khr::pipeline_executable_properties::Device>,
    pipeline: vk::Pipeline,
) -> Option<Vec<Executable>> {
    let loader = loader?;
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the feature is enabled where there is a loader, and the pipeline was made to capture
    // statistics.
    let properties = unsafe { loader.get_pipeline_executable_properties(&info) }.ok()?;
    let text = |chars: Result<&CStr, _>| {
        chars.map(|text: &CStr| text.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let executable = |(index, property): (usize, &vk::PipelineExecutablePropertiesKHR<'_>)| {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index as u32);
        // SAFETY: as above; the index is below the number of executables.
        let statistics = unsafe { loader.get_pipeline_executable_statistics(&info) }.unwrap_or_default();
        Executable {
            name: text(property.name_as_c_str()),
            description: text(property.description_as_c_str()),
            subgroup_size: property.subgroup_size,
            statistics: statistics
                .iter()
                .filter_map(|s| {
                    Some(Statistic {
                        name: text(s.name_as_c_str()),
                        description: text(s.description_as_c_str()),
                        value: value(s)?,
                    })
                })
                .collect(),
        }
    };
    Some(properties.iter().enumerate().map(executable).collect())
}

/// Text of a kernel's code in one of the forms that the driver's compiler passes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalRepresentation {
    /// Name of the executable.
    pub executable: String,
    /// Name given by the driver, such as `SASS` or `Final Assembly`.
    pub name: String,
    /// Description given by the driver.
    pub description: String,
    /// The code; none if the driver keeps it in a form that is no text.
    pub text: Option<String>,
}

/// Queries the texts of a pipeline's code, in the order of the driver, with the machine code last; empty if
/// it has none. The pipeline was created with capture of internal representations.
pub(crate) fn internal_representations(
    loader: &khr::pipeline_executable_properties::Device,
    pipeline: vk::Pipeline,
) -> Vec<InternalRepresentation> {
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the feature is enabled where there is a loader.
    let properties = unsafe { loader.get_pipeline_executable_properties(&info) }.unwrap_or_default();
    let text = |chars: Result<&CStr, _>| {
        chars.map(|text: &CStr| text.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let mut all = Vec::new();
    for (index, property) in properties.iter().enumerate() {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index as u32);
        let get = loader.fp().get_pipeline_executable_internal_representations_khr;
        let mut n = 0;
        // SAFETY: the pipeline was made to capture them; a null pointer asks for their number.
        let counted = unsafe { get(loader.device(), &info, &mut n, std::ptr::null_mut()) };
        let mut found = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); n as usize];
        // SAFETY: as above, with room for as many as were counted.
        let sized = unsafe { get(loader.device(), &info, &mut n, found.as_mut_ptr()) };
        if counted != vk::Result::SUCCESS || sized != vk::Result::SUCCESS {
            continue;
        }
        let mut data: Vec<Vec<u8>> = found.iter().map(|one| vec![0; one.data_size]).collect();
        for (one, bytes) in found.iter_mut().zip(&mut data) {
            one.p_data = bytes.as_mut_ptr().cast();
        }
        // SAFETY: as above; each has room for its bytes, which live on.
        if unsafe { get(loader.device(), &info, &mut n, found.as_mut_ptr()) } != vk::Result::SUCCESS {
            continue;
        }
        all.extend(found.iter().zip(&data).map(|(one, bytes)| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            InternalRepresentation {
                executable: text(property.name_as_c_str()),
                name: text(one.name_as_c_str()),
                description: text(one.description_as_c_str()),
                text: (one.is_text == vk::TRUE).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned()),
            }
        }));
    }
    all
}

/// Reads the member of the union that the format names; none for a format unknown to the extension at the
/// time of writing.
fn value(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> Option<StatisticValue> {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    let value = statistic.value;
    Some(match statistic.format {
        Format::BOOL32 => {
            // SAFETY: the format says that the driver wrote this member.
            StatisticValue::Bool(unsafe { value.b32 } != vk::FALSE)
        }
        Format::INT64 => {
            // SAFETY: as above.
            StatisticValue::Signed(unsafe { value.i64 })
        }
        Format::UINT64 => {
            // SAFETY: as above.
            StatisticValue::Unsigned(unsafe { value.u64 })
        }
        Format::FLOAT64 => {
            // SAFETY: as above.
            StatisticValue::Float(unsafe { value.f64 })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(statistics: &[(&str, u64)]) -> Executable {
        let statistic = |(name, value): &(&str, u64)| Statistic {
            name: (*name).to_owned(),
            description: String::new(),
            value: StatisticValue::Unsigned(*value),
        };
        Executable {
            name: "compute".into(),
            description: String::new(),
            subgroup_size: 32,
            statistics: statistics.iter().map(statistic).collect(),
        }
    }

    #[test]
    fn statistics_of_each_driver_are_known_by_name() {
        let nvidia = executable(&[
            ("Register Count", 40),
            ("Binary Size", 1024),
            ("Local Memory Size", 0x10_0000_0000),
        ]);
        assert_eq!(
            nvidia.occupancy(),
            Occupancy {
                registers: Some(40),
                code_bytes: Some(1024),
                scratch_bytes: Some(0),
                ..Default::default()
            }
        );
        let radv = executable(&[
            ("SGPRs", 128),
            ("VGPRs", 48),
            ("Spilled SGPRs", 2),
            ("Spilled VGPRs", 3),
            ("Code size", 2048),
            ("LDS size", 4096),
            ("Scratch size", 256),
            ("Subgroups per SIMD", 16),
            ("Instructions", 300),
            ("Latency", 5000),
            ("Inverse Throughput", 700),
        ]);
        assert_eq!(
            radv.occupancy(),
            Occupancy {
                registers: Some(48),
                spills: Some(5),
                register_moves: None,
                scratch_bytes: Some(256),
                shared_memory_bytes: Some(4096),
                code_bytes: Some(2048),
                resident_subgroups: Some(16),
                instructions: Some(300),
                latency_cycles: Some(5000),
                inverse_throughput_cycles: Some(700),
            }
        );
        let worse = Occupancy { registers: Some(64), resident_subgroups: Some(8), ..Default::default() };
        let both = radv.occupancy().worst(worse);
        assert_eq!((both.registers, both.spills, both.resident_subgroups), (Some(64), Some(5), Some(8)));
        assert_eq!(worse.worst(radv.occupancy()), both);
        let anv = executable(&[
            ("Max live registers", 60),
            ("Spill Count", 7),
            ("Fill Count", 9),
            ("Scratch Memory Size", 64),
        ]);
        assert_eq!(
            anv.occupancy(),
            Occupancy { registers: Some(60), spills: Some(7), scratch_bytes: Some(64), ..Default::default() }
        );
        let nvk = executable(&[
            ("Instruction count", 735),
            ("Static cycle count", 41_126),
            ("Max warps/SM", 48),
            ("Spills to memory", 1),
            ("Fills from memory", 2),
            ("Spills to reg", 3),
            ("Code size", 11_760),
            ("Number of GPRs", 40),
            ("SLM size", 16),
        ]);
        assert_eq!(
            nvk.occupancy(),
            Occupancy {
                registers: Some(40),
                spills: Some(1),
                register_moves: Some(3),
                scratch_bytes: Some(16),
                shared_memory_bytes: None,
                code_bytes: Some(11_760),
                resident_subgroups: Some(48),
                instructions: Some(735),
                latency_cycles: Some(41_126),
                inverse_throughput_cycles: None,
            }
        );
        let mut turnip = executable(&[
            ("Max Waves Per Core", 12),
            ("Instruction Count", 812),
            ("Code size", 1376),
            ("Registers used", 8),
            ("Half-registers used", 5),
            ("STP Count", 2),
        ]);
        turnip.statistics[2].description = "Total number of dwords in the shader executable.".to_owned();
        assert_eq!(
            turnip.occupancy(),
            Occupancy {
                registers: Some(32),
                spills: Some(2),
                code_bytes: Some(5504),
                resident_subgroups: Some(12),
                instructions: Some(812),
                ..Default::default()
            }
        );
        let honeykrisp = executable(&[
            ("Instructions", 511),
            ("ALU", 449),
            ("Code size", 3724),
            ("GPRs", 55),
            ("Scratch", 8),
            ("Threads", 1024),
            ("Spills", 4),
        ]);
        assert_eq!(
            honeykrisp.occupancy(),
            Occupancy {
                registers: Some(28),
                spills: Some(4),
                scratch_bytes: Some(8),
                code_bytes: Some(3724),
                resident_subgroups: Some(32),
                instructions: Some(511),
                inverse_throughput_cycles: Some(449),
                ..Default::default()
            }
        );
        assert_eq!(executable(&[("Fill Count", 3)]).occupancy(), Occupancy::default());
    }

    #[test]
    fn only_whole_numbers_are_counts() {
        for (value, count) in [
            (StatisticValue::Signed(3), Some(3)),
            (StatisticValue::Signed(-3), None),
            (StatisticValue::Float(2.0), Some(2)),
            (StatisticValue::Float(2.5), None),
            (StatisticValue::Bool(true), None),
        ] {
            assert_eq!(value.as_u64(), count);
        }
    }

    #[test]
    fn the_member_that_the_format_names_is_read() {
        let of = |format, value| vk::PipelineExecutableStatisticKHR { format, value, ..Default::default() };
        use vk::{
            PipelineExecutableStatisticFormatKHR as Format, PipelineExecutableStatisticValueKHR as Value,
        };
        assert_eq!(value(&of(Format::UINT64, Value { u64: 7 })), Some(StatisticValue::Unsigned(7)));
        assert_eq!(value(&of(Format::INT64, Value { i64: -7 })), Some(StatisticValue::Signed(-7)));
        assert_eq!(value(&of(Format::FLOAT64, Value { f64: 0.5 })), Some(StatisticValue::Float(0.5)));
        assert_eq!(value(&of(Format::BOOL32, Value { b32: 1 })), Some(StatisticValue::Bool(true)));
        assert_eq!(value(&of(Format::from_raw(99), Value { u64: 7 })), None);
    }
}
