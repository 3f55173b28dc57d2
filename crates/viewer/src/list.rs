//! `frazil devices` and `frazil scenes`.

use crate::args::ScenesArgs;
use crate::device;
use crate::failure::Failure;
use crate::say;
use frazil_vk::Device;

/// Prints each device with the limits that decide what it can run.
pub fn devices() -> Result<(), Failure> {
    let lines = Device::list()?.into_iter().map(|(info, capabilities, missing)| {
        let lacks = match missing.as_slice() {
            [] => String::new(),
            missing => format!("   cannot run frazil: lacks {}\n", missing.join(", ")),
        };
        format!(
            "{}: {}\n   subgroups of {} ({} to {}), {} KiB shared memory, buffers up to {} MiB, {} MiB device memory\n{lacks}",
            info.index,
            device::describe(&info),
            capabilities.subgroup_size,
            capabilities.subgroup_size_range.0,
            capabilities.subgroup_size_range.1,
            capabilities.max_shared_memory >> 10,
            capabilities.max_storage_range >> 20,
            capabilities.device_memory >> 20,
        )
    });
    say::data(&lines.collect::<String>())
}

/// Prints the built-in scenes, or the schema of scene files.
pub fn scenes(args: &ScenesArgs) -> Result<(), Failure> {
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
