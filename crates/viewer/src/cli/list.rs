//! `frazil devices` and `frazil scenes`.

use crate::say;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_kernels::{CellSortMethod, Litmus};
use frazil_vk::Device;

#[derive(Debug, clap::Args)]
pub struct ScenesArgs {
    /// Print the text of a built-in scene instead.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["schema", "reference"])]
    pub show: Option<String>,
    /// Print the JSON Schema of scene files instead.
    #[arg(long, conflicts_with = "reference")]
    pub schema: bool,
    /// Print the reference of all keys, as in docs/scene.md, instead.
    #[arg(long)]
    pub reference: bool,
}

/// Prints each device with its limits and the results of its start-up tests.
pub fn devices() -> Result<(), Failure> {
    let mut text = String::new();
    for (info, capabilities, missing) in Device::list()? {
        text += &format!(
            "{}: {}\n   subgroups of {} ({} to {}), {} KiB shared memory, buffers up to {} MiB, {} MiB \
             device memory\n",
            info.index,
            device::describe(&info),
            capabilities.subgroup_size,
            capabilities.subgroup_size_range.0,
            capabilities.subgroup_size_range.1,
            capabilities.max_shared_memory >> 10,
            capabilities.max_storage_range >> 20,
            capabilities.device_memory >> 20,
        );
        text += &match missing.as_slice() {
            [] => findings(info.index).unwrap_or_else(|e| format!("   cannot be tried: {e}\n")),
            missing => format!("   cannot run frazil: lacks {}\n", missing.join(", ")),
        };
        if missing.is_empty() && !capabilities.graphics {
            text += "   draws no pictures: it has no queue for graphics\n";
        }
    }
    say::data(&text)
}

/// Returns the results of the start-up tests that select kernels; they run once and are kept with the
/// pipeline cache.
fn findings(index: usize) -> Result<String, Failure> {
    let device = device::open(Some(&index.to_string()), false, Vec::new())?;
    let litmus = Litmus::of(&device).map_err(Failure::device)?;
    let sort = CellSortMethod::fastest(&device).map_err(Failure::device)?;
    Ok(format!(
        "   litmus test of look-back {litmus}: scans {}\n   sort by cell: {sort}, the faster of radix and \
         counting here\n",
        if litmus.passes() { "in a single pass" } else { "by reduce-then-scan" },
    ))
}

/// Prints the built-in scenes, the text of one, or the schema or the reference of scene files.
pub fn scenes(args: &ScenesArgs) -> Result<(), Failure> {
    if let Some(name) = &args.show {
        let scenes = frazil_scene::builtin();
        let Some(scene) = scenes.iter().find(|scene| scene.name == name) else {
            let names: Vec<&str> = scenes.iter().map(|scene| scene.name).collect();
            let hint = frazil_scene::nearest(name, &names).map(|near| format!("; did you mean {near}?"));
            return Err(Failure::input(format!(
                "found the scene \"{name}\", expected a built-in one, see `frazil scenes`{}",
                hint.unwrap_or_default()
            )));
        };
        return say::data(scene.text);
    }
    if args.reference {
        return say::data(&frazil_scene::reference());
    }
    if args.schema {
        return say::data(&format!("{:#}\n", frazil_scene::json_schema()));
    }
    let scenes = frazil_scene::builtin();
    let width = scenes.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for builtin in scenes {
        text += &format!("{:<width$}  {}\n", builtin.name, builtin.load(&[])?.description);
    }
    say::data(&text)
}
