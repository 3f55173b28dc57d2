//! Kernels compiled by the driver of a device, and the lines in which one process passes them to another.

use super::args::KernelsArgs;
use crate::cli::profile::kernel_fact;
use crate::say;
use frazil_engine::Failure;
use frazil_report::KernelFact;
use frazil_vk::{DeviceOptions, DeviceSelector, KernelSource, OfflineCompiler};
use serde_json::{Value, json};

/// Results of a driver's compiler.
pub struct Compiled {
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    pub kernels: Vec<KernelFact>,
}

impl Compiled {
    /// Returns true if the driver reports what it makes of kernels.
    pub fn reports_statistics(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.driver_statistics.is_empty())
    }

    pub fn json(&self) -> String {
        let document = json!({ "device": self.device, "driver": self.driver, "kernels": self.kernels });
        format!("{document:#}\n")
    }
}

/// Least number of threads of a group of a kernel that keeps counters of each subgroup.
const LEAST_GROUP: u32 = 64;

/// Compiles kernels in this process, calling `each` before and after each of them.
fn compile_each(
    args: &KernelsArgs,
    sources: &[&'static KernelSource],
    validation: bool,
    each: &mut dyn FnMut(Line) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let selector = args.device.device.as_deref().map(DeviceSelector::from);
    let compiler = OfflineCompiler::open(&DeviceOptions { selector, validation, ..Default::default() })?;
    each(Line::Device { device: compiler.info().name.clone(), driver: compiler.info().driver.clone() })?;
    for source in sources {
        each(Line::Begins(source.name.to_owned()))?;
        let mut values: Vec<u32> = source
            .specializations
            .iter()
            .map(|s| {
                let asked = args.constants.iter().find(|(name, _)| name == s.name).map(|c| c.1);
                // A kernel that uses subgroup operations requires a size of subgroups that the device has.
                let own = || match s.name {
                    "subgroup_size" => compiler.subgroup_size_near(s.default_bits),
                    _ => s.default_bits,
                };
                asked.unwrap_or_else(own)
            })
            .collect();
        // Counters of each subgroup may not fit a group of the default size where subgroups are small: then
        // the largest group that does is taken, as the sort takes it.
        let counts_by_subgroup = source.specializations.iter().any(|s| s.name == "subgroup_size");
        let is_asked = args.constants.iter().any(|(name, _)| name == "workgroup_size");
        let facts = loop {
            match compiler.compile(source, &values) {
                Err(frazil_vk::Error::BeyondLimit { .. })
                    if counts_by_subgroup && !is_asked && values[0] > LEAST_GROUP =>
                {
                    values[0] /= 2;
                }
                compiled => break compiled?,
            }
        };
        each(Line::Compiled(Box::new(kernel_fact(facts, compiler.compute_units()))))?;
    }
    Ok(())
}

/// Compiles kernels in this process.
pub fn compile(
    args: &KernelsArgs,
    sources: &[&'static KernelSource],
    validation: bool,
) -> Result<Compiled, Failure> {
    let mut progress = Progress::default();
    compile_each(args, sources, validation, &mut |line| {
        progress.add(line);
        Ok(())
    })?;
    Ok(progress.compiled())
}

/// Compiles kernels and prints a line before and after each of them, so that the process that reads them
/// knows which one the driver did not survive.
pub fn compile_in_lines(
    args: &KernelsArgs,
    sources: &[&'static KernelSource],
    validation: bool,
) -> Result<(), Failure> {
    compile_each(args, sources, validation, &mut |line| say::data(&format!("{}\n", line.to_json())))
}

/// Message about the progress of a compilation.
pub enum Line {
    Device { device: String, driver: String },
    Begins(String),
    Compiled(Box<KernelFact>),
}

impl Line {
    fn to_json(&self) -> Value {
        match self {
            Self::Device { device, driver } => json!({ "device": device, "driver": driver }),
            Self::Begins(name) => json!({ "begins": name }),
            Self::Compiled(fact) => json!({ "compiled": fact }),
        }
    }

    /// Parses a line; none if it is something else, such as a message of the driver.
    pub fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(fact) = value.get("compiled") {
            return serde_json::from_value(fact.clone()).ok().map(|fact| Self::Compiled(Box::new(fact)));
        }
        if let Some(name) = word("begins") {
            return Some(Self::Begins(name));
        }
        Some(Self::Device { device: word("device")?, driver: word("driver")? })
    }
}

/// Lines so far.
#[derive(Default)]
pub struct Progress {
    device: Option<[String; 2]>,
    /// Kernel that was begun and is not finished.
    pub unfinished: Option<String>,
    kernels: Vec<KernelFact>,
}

impl Progress {
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Device { device, driver } => self.device = Some([device, driver]),
            Line::Begins(name) => self.unfinished = Some(name),
            Line::Compiled(fact) => {
                self.unfinished = None;
                self.kernels.push(*fact);
            }
        }
    }

    /// Returns the driver, once it has opened a device.
    pub fn driver(&self) -> Option<&str> {
        self.device.as_ref().map(|[_, driver]| driver.as_str())
    }

    pub fn compiled(self) -> Compiled {
        let [device, driver] = self.device.unwrap_or_default();
        Compiled { device, driver, kernels: self.kernels }
    }
}
