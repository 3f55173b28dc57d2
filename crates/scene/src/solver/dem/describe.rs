//! Summary of a scene of grains.

use super::section::Dem;
use super::time_step::DerivedDem;
use crate::scene::sample::Sampled;
use crate::{Scene, SceneError};

pub(super) fn describe(
    scene: &Scene,
    sampled: &Sampled,
    dem: &Dem,
    derived: &DerivedDem,
) -> Result<Vec<(&'static str, String)>, SceneError> {
    let mass_kg: f64 = sampled.masses_kg.iter().map(|mass| f64::from(*mass)).sum();
    let slabs = scene.sample_slabs()?;
    let mut lines = vec![(
        "grains",
        format!(
            "{} of {:.4e} kg, {:.4e} m in radius, {mass_kg:.4e} kg in all",
            sampled.len(),
            scene.particle_mass_kg(),
            dem.radius_m
        ),
    )];
    if let Some(terrain) = scene.ground() {
        let (low, high) = terrain.bounds_m();
        lines.push((
            "terrain",
            format!(
                "{} × {} heights, {} m apart, from {:.1} m to {:.1} m",
                terrain.n_columns(),
                terrain.n_rows(),
                terrain.cell_m(),
                low[2] + terrain.base_m(),
                high[2] + terrain.base_m(),
            ),
        ));
    }
    if !slabs.pieces.is_empty() {
        let mass_kg: f64 = slabs.pieces.iter().map(|piece| piece.mass_kg).sum();
        let swing_s = scene.slab_contact_time_s(dem.normal_stiffness_n_m).unwrap_or(f64::INFINITY);
        lines.push((
            "slabs",
            format!(
                "{} pieces of {mass_kg:.4e} kg in all, {} links, swings of {swing_s:.4e} s at least, {:.1} \
                 steps",
                slabs.pieces.len(),
                slabs.links.len(),
                swing_s / scene.dt_s()
            ),
        ));
    }
    let [nx, ny, nz] = derived.n_cells;
    lines.push(("cells", format!("{nx} × {ny} × {nz} of {:.4e} m", scene.support_radius_m())));
    lines.push((
        "contacts",
        format!(
            "{:.4e} s, damping ratio {:.3}, on walls {:.3}",
            derived.contact_time_s, derived.damping_ratio, derived.wall_damping_ratio
        ),
    ));
    lines.push((
        "grain speed",
        format!(
            "up to {:.1} m/s, at which a wall presses {:.3} radii deep",
            derived.fastest_m_s, derived.deepest_overlap_radii
        ),
    ));
    lines.push(("steps", format!("{}, {:.1} a contact", scene.described_steps(), derived.steps_per_contact)));
    Ok(lines)
}
