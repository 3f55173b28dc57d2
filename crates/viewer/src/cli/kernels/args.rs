//! Arguments of `frazil kernels`.

use crate::common_args::DeviceArgs;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct KernelsArgs {
    /// Kernel, such as pbd.solve_density, or an area, such as pbd [default: all].
    pub name: Option<String>,
    /// Family of AMD hardware to compile for, such as navi31 [default: compile for --device].
    #[arg(long = "for", value_name = "FAMILY", conflicts_with = "device")]
    pub family: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Set a specialization constant of the kernels that have it; may be given several times.
    #[arg(long = "constant", value_name = "NAME=N", value_parser = constant)]
    pub constants: Vec<(String, u32)>,
    /// Compare with a budget: exit status 1 if a kernel needs more registers, scratch or shared memory,
    /// spills more, or leaves fewer subgroups per SIMD.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Write the results as a budget.
    #[arg(long, value_name = "FILE")]
    pub write_budget: Option<PathBuf>,
    /// Write the SPIR-V of each kernel into this folder, as area.name.spv, instead of compiling it.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["family", "against", "write_budget", "json"])]
    pub spirv: Option<PathBuf>,
    /// Print JSON with all statistics of the driver.
    #[arg(long)]
    pub json: bool,
    /// Print all columns of the table, beyond a width of 100.
    #[arg(long)]
    pub wide: bool,
    /// Print a line of JSON before and after each kernel, for the process that waits for this one.
    #[arg(long, hide = true)]
    pub lines: bool,
}

fn constant(text: &str) -> Result<(String, u32), String> {
    let found = text.split_once('=').and_then(|(name, n)| Some((name.to_lowercase(), n.parse().ok()?)));
    found.ok_or_else(|| format!("found \"{text}\", expected NAME=N, such as workgroup_size=128"))
}
