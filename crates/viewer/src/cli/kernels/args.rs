//! Arguments of `frazil kernels`.

use crate::common_args::DeviceArgs;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Default, clap::Args)]
pub struct KernelsArgs {
    /// Kernel, such as pbd.update_pressure, or an area, such as pbd [default: all].
    pub name: Option<String>,
    /// Families of hardware to compile for, such as ada,navi31,adreno740,m1 [default: compile for --device].
    #[arg(long = "for", value_name = "FAMILY,…", value_delimiter = ',', conflicts_with = "device")]
    pub families: Vec<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Compile the kernels of this scene's steps, with the group sizes and specialization constants that they
    /// have there: on --device, or on the driver of each family, which submits a step and computes nothing.
    #[arg(long, value_name = "SCENE")]
    pub scene: Option<String>,
    /// Override a value of the scene; may be given several times.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE", requires = "scene")]
    pub overrides: Vec<String>,
    /// Set a specialization constant of the kernels that have it; may be given several times.
    #[arg(long = "constant", value_name = "NAME=N", value_parser = constant)]
    pub constants: Vec<(String, u32)>,
    /// Compare with a budget: exit status 1 if a kernel needs more registers, scratch or shared memory,
    /// spills more, or leaves fewer subgroups resident. With several families a folder, of FAMILY.csv.
    #[arg(long, value_name = "FILE|DIR")]
    pub against: Option<PathBuf>,
    /// Write the results as a budget; with several families into a folder, as FAMILY.csv.
    #[arg(long, value_name = "FILE|DIR")]
    pub write_budget: Option<PathBuf>,
    /// Print each kernel's machine code, or the form of it whose name in the driver contains FORM, such as
    /// NIR, instead of the table. For AMD, --asm=ACO has the line of GLSL above each instruction; drivers of
    /// others keep no lines.
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub asm: Option<String>,
    /// Compare with another build of frazil: list statistics that differ; with --asm also the code.
    #[arg(long, value_name = "BINARY")]
    pub diff: Option<PathBuf>,
    /// Write the SPIR-V of each kernel into this folder, as area.name.spv, instead of compiling it.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["families", "scene", "against", "write_budget", "json"]
    )]
    pub spirv: Option<PathBuf>,
    /// Write the table, and all statistics in the words of each driver, as an HTML page.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Run another command of frazil, such as `run dam_break --steps 2`, on the driver of each family, which
    /// records and submits everything and computes nothing; its results are without meaning.
    #[arg(
        long,
        value_name = "COMMAND",
        num_args = 1..,
        allow_hyphen_values = true,
        requires = "families",
        conflicts_with_all = ["name", "scene", "against", "write_budget", "asm", "diff", "page", "json"]
    )]
    pub dry_run: Vec<OsString>,
    /// Print JSON with all statistics of the driver.
    #[arg(long)]
    pub json: bool,
    /// Print all columns of the table, beyond a width of 100.
    #[arg(long)]
    pub wide: bool,
    /// Compile what standard input lists, and print a line of JSON before and after each kernel, for the
    /// process that waits for this one.
    #[arg(long, hide = true)]
    pub lines: bool,
}

fn constant(text: &str) -> Result<(String, u32), String> {
    let found = text.split_once('=').and_then(|(name, n)| Some((name.to_lowercase(), n.parse().ok()?)));
    found.ok_or_else(|| format!("found \"{text}\", expected NAME=N, such as workgroup_size=128"))
}
