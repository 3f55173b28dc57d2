//! Display of the columns of snow as a continuum.

use crate::display;
use frazil_particles::{Display, Material, SetInfo};
use frazil_scene::Scene;

/// Describes the set of the scene's particles.
pub fn set_infos(scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
    let mean = scene.particle_mass_kg() as f32;
    let unit = if scene.n_dimensions() == 2 { "kg/m" } else { "kg" };
    let mut columns = display::motion(scene, n_particles);
    columns.extend([
        display::density(scene),
        // Below 1 compressed and hardened, above 1 torn.
        display::number("plastic_volume", Display::between(0.8, 1.2).diverging().titled("J_P")),
        display::number("mass", Display::between(0.5 * mean, 1.5 * mean).in_unit(unit)),
    ]);
    vec![SetInfo { name: "snow", material: Material::Snow, phase: 0, columns }]
}
