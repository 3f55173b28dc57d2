//! Display of the columns of a viscoelastic fluid.

use crate::display;
use frazil_particles::{Display, Material, SetInfo};
use frazil_scene::Scene;

/// Describes the scene's particle set.
pub(super) fn set_infos(scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
    let mut columns = display::motion(scene, n_particles);
    columns.push(display::density(scene));
    columns.push(display::lambda());
    if let Some([low, high]) = scene.viscoelastic().heat.and(scene.viscoelastic_temperatures_c()) {
        // A scene of one temperature has a scale, too.
        let (low, high) = (low as f32, high.max(low + 1.0) as f32);
        columns.push(display::number("temperature", Display::between(low, high).diverging()));
    }
    let modulus = scene.viscoelastic().modulus_pa() as f32;
    if modulus > 0.0 {
        for name in STRESS_NAMES {
            columns.push(display::number(name, Display::between(-modulus, modulus).diverging()));
        }
    }
    vec![SetInfo { name: "fluid", material: Material::Water, phase: 0, columns }]
}

/// Names of the columns of the stress tensor.
pub(super) const STRESS_NAMES: [&str; 6] =
    ["stress_xx", "stress_yy", "stress_zz", "stress_xy", "stress_xz", "stress_yz"];
