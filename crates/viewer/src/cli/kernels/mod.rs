//! `frazil kernels`: what compilers make of each kernel, for this device and for absent hardware.

mod absent;
mod args;
mod compiled;
mod difference;
mod families;

use crate::cli::profile::steps;
use crate::common_args::SceneChanges;
use crate::say;
pub use args::KernelsArgs;
use compiled::{Compiled, Variant};
pub use families::find as find_family;
use frazil_engine::{Failure, Simulation, device};
use frazil_report::{
    CompilerReport, KernelBudget, KernelFact, TableStyle, compilers_page, compilers_table, facts_table,
};
use frazil_vk::KernelSource;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compiles kernels, prints a table, code or JSON, and compares with a budget or another build, or writes a
/// budget or a page, as requested.
pub fn kernels(args: &KernelsArgs, validation: bool) -> Result<(), Failure> {
    let sources = select(args.name.as_deref(), &args.constants)?;
    match (args.lines, &args.scene) {
        (true, None) => return compiled::compile_in_lines(args, validation),
        (true, Some(scene)) => {
            return say::data(&Variant::list(&variants_of_scene(scene, args, &sources, validation)?));
        }
        (false, _) => {}
    }
    if let Some(folder) = &args.spirv {
        return write_spirv(folder, &sources);
    }
    let families: Vec<_> = args.families.iter().map(|name| families::find(name)).collect::<Result<_, _>>()?;
    if !args.dry_run.is_empty() {
        return families.iter().try_for_each(|family| absent::dry_run(family, &args.dry_run, validation));
    }
    let budgets = args.against.as_deref().map(|path| Budgets::read(path, args)).transpose()?;
    let by_default: Vec<_> = sources.iter().map(|source| Variant::by_default(source.name)).collect();
    let all = match (families.as_slice(), &args.scene) {
        ([], None) => vec![compiled::compile(args, &by_default, validation)?],
        ([], Some(scene)) => {
            let variants = variants_of_scene(scene, args, &sources, validation)?;
            vec![compiled::compile(args, &variants, validation)?]
        }
        (families, None) => absent::compile(families, args, |_| Ok(by_default.clone()))?,
        (families, Some(_)) => absent::compile(families, args, |driver| driver.variants_of_scene(args))?,
    };
    let reports: Vec<CompilerReport> = all.iter().map(|compiled| compiled.report.clone()).collect();
    for report in &reports {
        if report.kernels.is_empty() {
            let problem = report.failed.values().next().map_or("no kernel was compiled", String::as_str);
            return Err(Failure::device(format!("{}: {problem}", report.title())));
        }
        if !report.reports_statistics() && (budgets.is_some() || args.write_budget.is_some()) {
            return Err(Failure::device(format!(
                "{} ({}) does not report what it makes of kernels, so that there is nothing to compare or to \
                 write; --for FAMILY compiles for absent hardware",
                report.device, report.driver
            )));
        }
    }
    if let Some(budgets) = &budgets {
        budgets.check_comparable(&reports)?;
    }
    match &args.diff {
        Some(build) => say::data(&difference::difference(build, args, &all)?)?,
        None => say::data(&output(args, &all, &reports))?,
    }
    if let Some(path) = &args.page {
        write(path, &compilers_page(&reports))?;
    }
    if let Some(path) = &args.write_budget {
        for report in &reports {
            let text = KernelBudget::of(&report.device, &report.driver, &report.kernels).text();
            write(&budget_path(path, report.family.as_deref(), args), &text)?;
        }
    }
    budgets.map_or(Ok(()), |budgets| budgets.check(&reports, args.name.is_none() && args.scene.is_none()))
}

/// Returns what the compiler of a family makes of kernels with the specialization constants of `known`.
///
/// # Errors
/// Like [`kernels`].
pub fn facts_for(family: &str, known: &[KernelFact]) -> Result<Vec<KernelFact>, Failure> {
    let variant =
        |fact: &KernelFact| Variant { kernel: fact.kernel.clone(), constants: fact.specialization.clone() };
    let variants: Vec<Variant> = known.iter().map(variant).collect();
    let family = families::find(family)?;
    let compiled = absent::compile(&[family], &KernelsArgs::default(), |_| Ok(variants.clone()))?;
    Ok(compiled.into_iter().flat_map(|compiled| compiled.report.kernels).collect())
}

/// Returns what is printed: code, JSON or a table.
fn output(args: &KernelsArgs, all: &[Compiled], reports: &[CompilerReport]) -> String {
    if args.asm.is_some() {
        return all.iter().map(difference::code_text).collect();
    }
    if args.json {
        let document = match reports {
            [report] => json!(report),
            reports => json!({ "compilers": reports }),
        };
        return format!("{document:#}\n");
    }
    let mut text = String::new();
    for report in reports {
        let n = report.kernels.len();
        text += &format!("{n} kernels for {} ({})\n", report.device.trim(), report.driver);
    }
    text.push('\n');
    text += &match reports {
        [report] if report.failed.is_empty() => facts_table(&report.kernels, args.wide, TableStyle::Plain),
        reports => compilers_table(reports, args.wide, TableStyle::Plain),
    };
    if !reports.iter().any(CompilerReport::reports_statistics) {
        text += "registers, spills and code size: not reported by this driver\n";
    }
    text
}

/// Returns the kernels of a step of a scene, each with the constants that it has there.
fn variants_of_scene(
    scene: &str,
    args: &KernelsArgs,
    sources: &[&KernelSource],
    validation: bool,
) -> Result<Vec<Variant>, Failure> {
    let changes = SceneChanges { overrides: args.overrides.clone(), seed: None, scheme: None };
    let scene = changes.load(scene)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let mut simulation = Simulation::new(&device, scene)?;
    let before: BTreeMap<_, u64> = device
        .kernel_facts()
        .into_iter()
        .map(|facts| ((facts.name, facts.specialization), facts.dispatches))
        .collect();
    steps(&mut simulation, 1, None)?;
    let is_selected = |name: &str| sources.iter().any(|source| source.name == name);
    let mut variants = Vec::new();
    for facts in device.kernel_facts() {
        let constants = facts.specialization.iter().map(|(name, value)| ((*name).to_owned(), *value));
        let variant = Variant { kernel: facts.name.to_owned(), constants: constants.collect() };
        let earlier = before.get(&(facts.name, facts.specialization)).copied().unwrap_or(0);
        if facts.dispatches > earlier && is_selected(facts.name) {
            variants.push(variant);
        }
    }
    if variants.is_empty() {
        return Err(Failure::input(format!("no step of {} has such a kernel", simulation.scene.name)));
    }
    Ok(variants)
}

/// Budgets of one device or of several families.
struct Budgets(Vec<(PathBuf, KernelBudget)>);

impl Budgets {
    fn read(path: &Path, args: &KernelsArgs) -> Result<Self, Failure> {
        let families: Vec<Option<&str>> = match args.families.as_slice() {
            [] => vec![None],
            families => families.iter().map(|family| Some(family.as_str())).collect(),
        };
        let paths = families.into_iter().map(|family| budget_path(path, family, args));
        let read = |path: PathBuf| {
            let text = frazil_io::json::read_text(&path).map_err(Failure::input)?;
            let budget = KernelBudget::parse(&text);
            let budget = budget.map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
            Ok((path, budget))
        };
        paths.map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Refuses a budget of another device or another version of its driver.
    fn check_comparable(&self, reports: &[CompilerReport]) -> Result<(), Failure> {
        for ((path, budget), report) in self.0.iter().zip(reports) {
            if (&budget.device, &budget.driver) != (&report.device, &report.driver) {
                return Err(Failure::input(format!(
                    "{}: found a budget for {}, {}, expected one for {}, {}; another compiler allocates \
                     other registers",
                    path.display(),
                    budget.device,
                    budget.driver,
                    report.device,
                    report.driver
                )));
            }
        }
        Ok(())
    }

    /// Compares; kernels of the budget that are not compiled are told if all were requested.
    fn check(&self, reports: &[CompilerReport], are_all: bool) -> Result<(), Failure> {
        let mut text = String::new();
        for ((path, budget), report) in self.0.iter().zip(reports) {
            let exceeded = budget.exceeded(&report.kernels, are_all);
            if !exceeded.is_empty() {
                let lines = exceeded.join("\n  ");
                text += &format!(
                    "{}: beyond the budget; --write-budget writes another one:\n  {lines}\n",
                    path.display()
                );
            }
        }
        if text.is_empty() { Ok(()) } else { Err(Failure::other(text.trim_end().to_owned())) }
    }
}

/// Returns the path of a family's budget: in a folder, if there are several families or if it is one.
fn budget_path(path: &Path, family: Option<&str>, args: &KernelsArgs) -> PathBuf {
    match family {
        Some(family) if args.families.len() > 1 || path.is_dir() => path.join(format!("{family}.csv")),
        _ => path.to_owned(),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|e| Failure::other(format!("cannot write {}: {e}", path.display())))?;
    say::note(format_args!("wrote {}", path.display()));
    Ok(())
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
