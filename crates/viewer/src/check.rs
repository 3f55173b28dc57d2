//! `frazil check`: a scene, examined without a device.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::say;

/// Loads, validates and samples the scene; prints what it amounts to, and advice to stderr.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    let scene = args.scene.load()?;
    let particles = scene.sample()?.len();
    for advice in scene.advice() {
        say::note(format_args!("warning: {advice}"));
    }
    let derived = scene.derived();
    let [x, y, z] = derived.gravity_m_s2;
    say::data(&format!(
        "scene {} is sound\n  particles       {particles} of {:.4e} kg\n  support radius  {:.4e} m\n  \
         steps           {} of {} s\n  gravity         ({x}, {y}, {z}) m/s²\n",
        scene.name, derived.particle_mass_kg, derived.support_radius_m, derived.n_steps, scene.time.dt_s
    ))
}
