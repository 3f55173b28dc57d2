//! `frazil check`: a scene, examined without a device.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::say;
use frazil_solvers::factory_of;

/// Loads, validates and samples the scene; prints what it amounts to, and advice to stderr.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let sampled = scene.sample()?;
    for advice in scene.advice() {
        say::note(format_args!("warning: {advice}"));
    }
    let mut text = format!("scene {} is sound\n", scene.name);
    for (label, value) in factory_of(&scene)?.describe(&scene, &sampled)? {
        text += &format!("  {label:<16}{value}\n");
    }
    say::data(&text)
}
