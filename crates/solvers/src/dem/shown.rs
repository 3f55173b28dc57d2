//! Display of the columns of grains.

use crate::display;
use frazil_particles::{ColumnInfo, ColumnKind, Display, Material, SetInfo};
use frazil_scene::Scene;

/// Maximum number of equal spheres that touch another.
const MAX_TOUCHING: f32 = 12.0;

/// Describes the set of the scene's grains.
pub fn set_infos(scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
    let mut columns = display::motion(scene, n_particles);
    columns.extend([
        display::number("radius", Display::default()),
        ColumnInfo::new("spin", ColumnKind::Vec3, Display::default()),
        ColumnInfo::new("contact_count", ColumnKind::U32, Display::up_to(MAX_TOUCHING)),
    ]);
    if scene.dem().is_some_and(|dem| dem.bonds.is_some()) {
        columns.push(ColumnInfo::new("bond_count", ColumnKind::U32, Display::up_to(MAX_TOUCHING)));
    }
    vec![SetInfo { name: "grains", material: Material::Grains, phase: 0, columns }]
}
