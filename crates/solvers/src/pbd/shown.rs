//! Display of the columns of water and snow.

use crate::display;
use frazil_particles::{Display, Material, SetInfo};
use frazil_scene::Scene;

/// Describes the scene's particle sets: water, or snow and water.
pub fn set_infos(scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
    let mut columns = display::motion(scene, n_particles);
    columns.push(display::density(scene));
    if let Some(snow) = scene.snow() {
        let freezing = snow.heat.freezing_temperature_c as f32;
        columns.push(display::number("temperature", temperature(scene, freezing)));
        columns.push(display::number("blend", Display::up_to(1.0)));
    }
    columns.push(display::lambda());
    let water = SetInfo { name: "water", material: Material::Water, phase: 0, columns };
    match scene.snow() {
        Some(_) => {
            vec![SetInfo { name: "snow", material: Material::Snow, phase: 1, ..water.clone() }, water]
        }
        None => vec![water],
    }
}

/// Returns a temperature scale centred on freezing that includes the coldest and hottest initial particles,
/// because conduction leaves none outside. It spans at least half a degree to both sides, so that a scene
/// entirely at freezing has a scale, too.
fn temperature(scene: &Scene, freezing: f32) -> Display {
    let starts = scene.particles.iter().map(|block| block.temperature_c as f32);
    let (coldest, hottest) =
        starts.fold((freezing - 0.5, freezing + 0.5), |(lo, hi), t| (lo.min(t), hi.max(t)));
    Display::about(freezing, coldest, hottest)
}
