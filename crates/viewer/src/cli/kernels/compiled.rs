//! Kernels compiled by the driver of a device, and the lines in which one process passes them to another.

use super::args::KernelsArgs;
use crate::cli::profile::kernel_fact;
use crate::say;
use frazil_engine::Failure;
use frazil_report::{CompilerReport, KernelFact};
use frazil_vk::{
    DeviceOptions, DeviceSelector, Error, InternalRepresentation, KernelSource, OfflineCompiler,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A kernel to compile, with values of its specialization constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    pub kernel: String,
    /// Values by name; others are at their defaults.
    pub constants: BTreeMap<String, u32>,
}

impl Variant {
    /// Returns a kernel with all constants at their defaults.
    pub fn by_default(kernel: &str) -> Self {
        Self { kernel: kernel.to_owned(), constants: BTreeMap::new() }
    }

    /// Writes variants as lines of JSON.
    pub fn list(variants: &[Self]) -> String {
        let line = |v: &Self| format!("{}\n", json!({ "kernel": v.kernel, "constants": v.constants }));
        variants.iter().map(line).collect()
    }

    /// Reads what [`Self::list`] wrote; none if it is something else.
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        let parse = |line: &str| {
            let value: Value = serde_json::from_str(line).ok()?;
            let constants = serde_json::from_value(value.get("constants")?.clone()).ok()?;
            Some(Self { kernel: value.get("kernel")?.as_str()?.to_owned(), constants })
        };
        text.lines().map(parse).collect()
    }
}

/// Least number of threads of a group of a kernel that keeps counters of each subgroup.
const LEAST_GROUP: u32 = 64;

/// Compiles kernels in this process, calling `each` before and after each of them.
fn compile_each(
    args: &KernelsArgs,
    variants: &[Variant],
    validation: bool,
    each: &mut dyn FnMut(Line) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let selector = args.device.device.as_deref().map(DeviceSelector::from);
    let compiler = OfflineCompiler::open(&DeviceOptions { selector, validation, ..Default::default() })?;
    each(Line::Device { device: compiler.info().name.clone(), driver: compiler.info().driver.clone() })?;
    for variant in variants {
        let source = frazil_shaders::KERNELS.iter().copied().find(|source| source.name == variant.kernel);
        let Some(source) = source else { continue };
        each(Line::Begins(source.name.to_owned()))?;
        let line = match compile_one(args, &compiler, source, variant) {
            Ok((values, fact)) => {
                if let Some(form) = &args.asm {
                    let code = compiler.code(source, &values)?;
                    each(Line::Code(source.name.to_owned(), select_form(&code, form)))?;
                }
                Line::Compiled(Box::new(fact))
            }
            // The device cannot have this kernel, or not with these constants.
            Err(problem @ (Error::BeyondLimit { .. } | Error::Misuse { .. })) => {
                Line::Refused(source.name.to_owned(), problem.to_string())
            }
            Err(problem) => return Err(problem.into()),
        };
        each(line)?;
    }
    Ok(())
}

/// Compiles a kernel; returns the values of its specialization constants, too.
fn compile_one(
    args: &KernelsArgs,
    compiler: &OfflineCompiler,
    source: &'static KernelSource,
    variant: &Variant,
) -> frazil_vk::Result<(Vec<u32>, KernelFact)> {
    let mut values: Vec<u32> = source
        .specializations
        .iter()
        .map(|s| {
            let asked = args.constants.iter().find(|(name, _)| name == s.name).map(|c| c.1);
            let value = variant.constants.get(s.name).copied().unwrap_or(s.default_bits);
            // A kernel that uses subgroup operations requires a size of subgroups that the device has.
            let own = || match s.name {
                "subgroup_size" => compiler.subgroup_size_near(value),
                _ => value,
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
            Err(Error::BeyondLimit { .. }) if counts_by_subgroup && !is_asked && values[0] > LEAST_GROUP => {
                values[0] /= 2;
            }
            compiled => break compiled?,
        }
    };
    Ok((values, kernel_fact(facts, compiler.compute_units())))
}

/// Returns the text of the form of the code whose name contains `form`; of the last one, the machine code, if
/// `form` is empty. None if there is no such text.
fn select_form(code: &[InternalRepresentation], form: &str) -> Option<String> {
    let form = form.to_lowercase();
    let text =
        |one: &InternalRepresentation| one.text.clone().filter(|_| one.name.to_lowercase().contains(&form));
    code.iter().rev().find_map(text)
}

/// Compiles kernels in this process.
pub fn compile(args: &KernelsArgs, variants: &[Variant], validation: bool) -> Result<Compiled, Failure> {
    let mut progress = Progress::default();
    compile_each(args, variants, validation, &mut |line| {
        progress.add(line);
        Ok(())
    })?;
    Ok(progress.compiled())
}

/// Compiles the kernels that standard input lists, and prints a line before and after each of them, so that
/// the process that reads them knows which one the driver did not survive.
pub fn compile_in_lines(args: &KernelsArgs, validation: bool) -> Result<(), Failure> {
    let input = std::io::read_to_string(std::io::stdin())
        .map_err(|e| Failure::input(format!("cannot read standard input: {e}")))?;
    let variants = Variant::parse_list(&input)
        .ok_or_else(|| Failure::input("standard input: expected kernels as lines of JSON".to_owned()))?;
    compile_each(args, &variants, validation, &mut |line| say::data(&format!("{}\n", line.to_json())))
}

/// Results of a compiler, and the code of kernels where it was requested.
pub struct Compiled {
    pub report: CompilerReport,
    /// Text of each kernel's code, none where the driver shows none.
    pub code: BTreeMap<String, Option<String>>,
}

/// Message about the progress of a compilation.
pub enum Line {
    Device {
        device: String,
        driver: String,
    },
    Begins(String),
    Compiled(Box<KernelFact>),
    /// A kernel's code.
    Code(String, Option<String>),
    /// A kernel that was not compiled, and why.
    Refused(String, String),
}

impl Line {
    fn to_json(&self) -> Value {
        match self {
            Self::Device { device, driver } => json!({ "device": device, "driver": driver }),
            Self::Begins(name) => json!({ "begins": name }),
            Self::Compiled(fact) => json!({ "compiled": fact }),
            Self::Code(name, text) => json!({ "code": text, "kernel": name }),
            Self::Refused(name, problem) => json!({ "refused": name, "problem": problem }),
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
        if let Some(name) = word("refused") {
            return Some(Self::Refused(name, word("problem")?));
        }
        if value.get("code").is_some() {
            return Some(Self::Code(word("kernel")?, word("code")));
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
    failed: BTreeMap<String, String>,
    code: BTreeMap<String, Option<String>>,
    n_ended: usize,
}

impl Progress {
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Device { device, driver } => self.device = Some([device, driver]),
            Line::Begins(name) => self.unfinished = Some(name),
            Line::Code(name, text) => {
                self.code.insert(name, text);
            }
            Line::Compiled(fact) => {
                self.unfinished = None;
                self.n_ended += 1;
                self.kernels.push(*fact);
            }
            Line::Refused(name, problem) => {
                self.unfinished = None;
                self.n_ended += 1;
                self.failed.insert(name, problem);
            }
        }
    }

    /// Returns how many kernels were compiled or refused.
    pub fn n_ended(&self) -> usize {
        self.n_ended
    }

    pub fn compiled(self) -> Compiled {
        let [device, driver] = self.device.unwrap_or_default();
        let report = CompilerReport {
            family: None,
            device,
            driver,
            processor: None,
            kernels: self.kernels,
            failed: self.failed,
        };
        Compiled { report, code: self.code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_their_text() {
        let fact = KernelFact { kernel: "a.b".into(), registers: Some(3), ..KernelFact::default() };
        let lines = [
            Line::Device { device: "d".into(), driver: "e".into() },
            Line::Begins("a.b".into()),
            Line::Code("a.b".into(), Some("add r0".into())),
            Line::Compiled(Box::new(fact.clone())),
            Line::Begins("a.c".into()),
            Line::Refused("a.c".into(), "too large".into()),
            Line::Begins("a.d".into()),
        ];
        let mut progress = Progress::default();
        for line in lines {
            progress.add(Line::parse(&line.to_json().to_string()).unwrap());
        }
        assert!(Line::parse("MESA: warning").is_none());
        assert_eq!((progress.unfinished.as_deref(), progress.n_ended()), (Some("a.d"), 2));
        let compiled = progress.compiled();
        assert_eq!((compiled.report.device.as_str(), compiled.report.driver.as_str()), ("d", "e"));
        assert_eq!(compiled.report.kernels, [fact]);
        assert_eq!(compiled.report.failed["a.c"], "too large");
        assert_eq!(compiled.code["a.b"].as_deref(), Some("add r0"));
    }

    #[test]
    fn variants_survive_their_text() {
        let variant = |kernel: &str, constants: &[(&str, u32)]| Variant {
            kernel: kernel.to_owned(),
            constants: constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        let variants = vec![variant("a.b", &[]), variant("a.c", &[("workgroup_size", 64), ("x", u32::MAX)])];
        assert_eq!(Variant::parse_list(&Variant::list(&variants)), Some(variants));
        assert_eq!(Variant::parse_list(""), Some(vec![]));
        assert_eq!(Variant::parse_list("{}"), None);
    }

    #[test]
    fn the_machine_code_is_the_last_text() {
        let form = |name: &str, text: Option<&str>| InternalRepresentation {
            executable: "compute".into(),
            name: name.to_owned(),
            description: String::new(),
            text: text.map(str::to_owned),
        };
        let code = [form("NIR", Some("nir")), form("Assembly", Some("asm")), form("Binary", None)];
        assert_eq!(select_form(&code, "").as_deref(), Some("asm"));
        assert_eq!(select_form(&code, "nir").as_deref(), Some("nir"));
        assert_eq!(select_form(&code, "ptx"), None);
    }
}
