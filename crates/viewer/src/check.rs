//! `frazil check`: a scene, examined without a device.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::say;
use frazil_scene::Phase;

/// Loads, validates and samples the scene; prints what it amounts to, and advice to stderr.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let sampled = scene.sample()?;
    let particles = sampled.len();
    for advice in scene.advice() {
        say::note(format_args!("warning: {advice}"));
    }
    let derived = scene.derived();
    let [x, y, z] = derived.gravity_m_s2;
    let n_snow = sampled.phases.iter().filter(|phase| **phase == Phase::Snow).count();
    let phases = match scene.snow {
        Some(_) => format!("  snow, water     {n_snow}, {}\n", particles - n_snow),
        None => String::new(),
    };
    say::data(&format!(
        "scene {} is sound\n  particles       {particles} of {:.4e} kg\n{phases}  support radius  {:.4e} m\n  \
         steps           {} of {} s\n  gravity         ({x}, {y}, {z}) m/s²\n",
        scene.name,
        derived.particle_mass_kg,
        derived.support_radius_m,
        derived.n_steps,
        scene.dt_s()
    ))
}
