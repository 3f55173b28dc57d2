//! `frazil check`: validation of a scene without a device.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::say;

/// Loads, validates and samples the scene; prints a summary, and advice to stderr.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let sampled = scene.sample()?;
    for advice in scene.advice() {
        say::note(format_args!("warning: {advice}"));
    }
    let mut text = format!("scene {} is sound\n", scene.name);
    let described =
        scene.solver_scene().map_or(Ok(Vec::new()), |solver| solver.describe(&scene, &sampled))?;
    for (label, line) in described {
        text += &format!("  {label:<16}{line}\n");
    }
    let [x, y, z] = scene.gravity_m_s2();
    text += &format!("  gravity         ({x}, {y}, {z}) m/s²\n");
    if !scene.live_keys().is_empty() {
        text += &format!("  live keys       {}\n", scene.live_keys().join(", "));
    }
    say::data(&text)
}
