//! `frazil check`: a scene, examined without a device.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::say;
use frazil_scene::{Dem, Derived, DerivedDem, Phase, Sampled, Scene, SceneError};

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
    if let (Some(dem), Some(facts)) = (&scene.dem, &derived.dem) {
        return say::data(&describe_grains(&scene, &sampled, dem, &derived, facts)?);
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

/// What a scene of grains amounts to.
fn describe_grains(
    scene: &Scene,
    sampled: &Sampled,
    dem: &Dem,
    derived: &Derived,
    facts: &DerivedDem,
) -> Result<String, SceneError> {
    let mass_kg: f64 = sampled.masses_kg.iter().map(|mass| f64::from(*mass)).sum();
    let slabs = scene.sample_slabs()?;
    let mut text = format!(
        "scene {} is sound\n  grains          {} of {:.4e} kg, {:.4e} m in radius, {mass_kg:.4e} kg in all\n",
        scene.name,
        sampled.len(),
        derived.particle_mass_kg,
        dem.radius_m,
    );
    if let Some(terrain) = scene.ground() {
        let (low, high) = terrain.bounds_m();
        text += &format!(
            "  terrain         {} × {} heights, {} m apart, from {:.1} m to {:.1} m\n",
            terrain.n_columns(),
            terrain.n_rows(),
            terrain.cell_m(),
            low[2] + terrain.base_m(),
            high[2] + terrain.base_m(),
        );
    }
    if !slabs.pieces.is_empty() {
        let mass_kg: f64 = slabs.pieces.iter().map(|piece| piece.mass_kg).sum();
        let swing_s = scene.slab_contact_time_s().unwrap_or(f64::INFINITY);
        text += &format!(
            "  slabs           {} pieces of {mass_kg:.4e} kg in all, {} links, swings of {swing_s:.4e} s at least, {:.1} steps\n",
            slabs.pieces.len(),
            slabs.links.len(),
            swing_s / derived.dt_s
        );
    }
    let [x, y, z] = derived.gravity_m_s2;
    let [nx, ny, nz] = facts.n_cells;
    text += &format!(
        "  cells           {nx} × {ny} × {nz} of {:.4e} m\n  \
         contacts        {:.4e} s, damping ratio {:.3}, on walls {:.3}\n  \
         grain speed     up to {:.1} m/s, at which a wall presses {:.3} radii deep\n  \
         steps           {} of {} s, {:.1} a contact\n  gravity         ({x}, {y}, {z}) m/s²\n",
        derived.support_radius_m,
        facts.contact_time_s,
        facts.damping_ratio,
        facts.wall_damping_ratio,
        facts.fastest_m_s,
        facts.deepest_overlap_radii,
        derived.n_steps,
        derived.dt_s,
        facts.steps_per_contact,
    );
    Ok(text)
}
