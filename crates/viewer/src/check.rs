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
    if let (Some(mpm), Some(facts)) = (&scene.mpm, &derived.mpm) {
        let (mass, volume) = if mpm.dimensions == 2 { ("kg/m", "m²") } else { ("kg", "m³") };
        let total = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>();
        let cells = facts.n_cells[..scene.n_dimensions()].iter().map(ToString::to_string);
        return say::data(&format!(
            "scene {} is sound\n  particles       {particles} of {:.4e} {mass}\n  snow            {:.4e} {mass}, {:.4e} {volume}\n  \
             cells           {} of {} m\n  wave speed      {:.1} m/s, {:.1} m/s in hardened snow\n  \
             particle speed  up to {:.1} m/s\n  steps           {} of {} s, in which a wave in hardened snow passes {:.2} cells\n  \
             gravity         ({x}, {y}, {z}) m/s²\n",
            scene.name,
            derived.particle_mass_kg,
            total(&sampled.masses_kg),
            total(&sampled.volumes_m3),
            cells.collect::<Vec<_>>().join(" × "),
            mpm.cell_size_m,
            facts.wave_speed_m_s,
            facts.hardened_wave_speed_m_s,
            facts.fastest_m_s,
            derived.n_steps,
            derived.dt_s,
            facts.wave_courant_number,
        ));
    }
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
