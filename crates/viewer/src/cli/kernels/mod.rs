//! `frazil kernels`: what the driver's compiler makes of each kernel.

mod absent;
mod args;
mod compiled;

use crate::say;
pub use args::KernelsArgs;
use compiled::Compiled;
use frazil_engine::Failure;
use frazil_report::{KernelBudget, TableStyle, facts_table};
use frazil_vk::KernelSource;
use std::path::Path;

/// Compiles kernels, prints a table or JSON, and compares with a budget or writes one, as requested.
pub fn kernels(args: &KernelsArgs, validation: bool) -> Result<(), Failure> {
    let sources = select(args.name.as_deref(), &args.constants)?;
    if let Some(folder) = &args.spirv {
        return write_spirv(folder, &sources);
    }
    if args.lines {
        return compiled::compile_in_lines(args, &sources, validation);
    }
    let budget = args.against.as_deref().map(read_budget).transpose()?;
    let compiled = match &args.family {
        Some(family) => absent::compile(family, args)?,
        None => compiled::compile(args, &sources, validation)?,
    };
    if !compiled.reports_statistics() && (budget.is_some() || args.write_budget.is_some()) {
        return Err(Failure::device(format!(
            "{} ({}) does not report what it makes of kernels, so that there is nothing to compare or to \
             write; --for FAMILY compiles for absent hardware",
            compiled.device, compiled.driver
        )));
    }
    if let (Some(budget), Some(path)) = (&budget, &args.against) {
        check_comparable(budget, path, &compiled)?;
    }
    say::data(&if args.json { compiled.json() } else { text(&compiled, args.wide) })?;
    if let Some(path) = &args.write_budget {
        let budget = KernelBudget::of(&compiled.device, &compiled.driver, &compiled.kernels);
        std::fs::write(path, budget.text())
            .map_err(|e| Failure::other(format!("cannot write {}: {e}", path.display())))?;
        say::note(format_args!("wrote {}", path.display()));
    }
    let (Some(budget), Some(path)) = (&budget, &args.against) else { return Ok(()) };
    match budget.exceeded(&compiled.kernels, args.name.is_none()).as_slice() {
        [] => Ok(()),
        exceeded => Err(Failure::other(format!(
            "{}: beyond the budget; --write-budget writes another one:\n  {}",
            path.display(),
            exceeded.join("\n  ")
        ))),
    }
}

/// Writes the SPIR-V of the kernels into a folder, which is created; a file that exists is not replaced.
fn write_spirv(folder: &Path, sources: &[&KernelSource]) -> Result<(), Failure> {
    let refused = |path: &Path, error: std::io::Error| {
        Failure::other(format!("cannot write {}: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    let paths: Vec<_> = sources.iter().map(|source| folder.join(format!("{}.spv", source.name))).collect();
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        let problem = "exists, expected a folder without the SPIR-V of an earlier call";
        return Err(Failure::input(format!("--spirv: {} {problem}", path.display())));
    }
    for (source, path) in sources.iter().zip(&paths) {
        std::fs::write(path, source.spirv).map_err(|error| refused(path, error))?;
    }
    say::note(format_args!("wrote {} files to {}", paths.len(), folder.display()));
    Ok(())
}

/// Returns the kernels of a name or area, all if there is none.
fn select(name: Option<&str>, constants: &[(String, u32)]) -> Result<Vec<&'static KernelSource>, Failure> {
    let all = frazil_shaders::KERNELS;
    let area = |kernel: &KernelSource| kernel.name.split('.').next().unwrap_or_default().to_owned();
    let is_selected =
        |kernel: &KernelSource| name.is_none_or(|name| kernel.name == name || area(kernel) == name);
    let selected: Vec<_> = all.iter().copied().filter(|kernel| is_selected(kernel)).collect();
    if let (Some(name), true) = (name, selected.is_empty()) {
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let alike: Vec<&str> =
            all.iter().map(|kernel| kernel.name).filter(|n| n.contains(&last(name))).collect();
        let mut areas: Vec<String> = all.iter().map(|kernel| area(kernel)).collect();
        areas.dedup();
        return Err(Failure::input(if alike.is_empty() {
            format!("found no kernel \"{name}\"; expected area.name with an area of {}", areas.join(", "))
        } else {
            format!("found no kernel \"{name}\"; did you mean {}?", alike.join(", "))
        }));
    }
    for (constant, _) in constants {
        if !selected.iter().any(|kernel| kernel.specializations.iter().any(|s| s.name == constant)) {
            let mut known: Vec<_> =
                selected.iter().flat_map(|k| k.specializations.iter().map(|s| s.name)).collect();
            known.sort_unstable();
            known.dedup();
            return Err(Failure::input(format!(
                "--constant {constant}: none of these kernels has such a specialization constant; expected \
                 one of {}",
                known.join(", ")
            )));
        }
    }
    Ok(selected)
}

fn read_budget(path: &Path) -> Result<KernelBudget, Failure> {
    let text = frazil_io::json::read_text(path).map_err(Failure::input)?;
    KernelBudget::parse(&text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

/// Refuses a budget of another device or another version of its driver.
fn check_comparable(budget: &KernelBudget, path: &Path, compiled: &Compiled) -> Result<(), Failure> {
    if (&budget.device, &budget.driver) == (&compiled.device, &compiled.driver) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{}: found a budget for {}, {}, expected one for {}, {}; another compiler allocates other registers",
        path.display(),
        budget.device,
        budget.driver,
        compiled.device,
        compiled.driver
    )))
}

fn text(compiled: &Compiled, wide: bool) -> String {
    let mut text =
        format!("{} kernels for {} ({})\n\n", compiled.kernels.len(), compiled.device, compiled.driver);
    text += &facts_table(&compiled.kernels, wide, TableStyle::Plain);
    if !compiled.reports_statistics() {
        text += "registers, spills and code size: not reported by this driver\n";
    }
    text
}
