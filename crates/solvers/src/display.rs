//! Ranges and colours of columns that several solvers have. They depend on the scene and not on a picture's
//! values, so that a colour means the same in all pictures.

use frazil_particles::{ColumnInfo, ColumnKind, Display};
use frazil_scene::Scene;

/// Range of the density colour map on both sides of the rest density, as a share of it.
const DENSITY_REACH: f32 = 0.1;
/// Approximate multiplier of a particle that is compressed by a tenth.
const LAMBDA_MIN: f32 = -0.03;

/// Describes `position`, `velocity` and `id`.
pub fn motion(scene: &Scene, n_particles: usize) -> Vec<ColumnInfo> {
    vec![
        ColumnInfo::new("position", ColumnKind::Vec3, Display::default()),
        ColumnInfo::new("velocity", ColumnKind::Vec3, Display::up_to(fastest_m_s(scene))),
        ColumnInfo::new("id", ColumnKind::U32, Display::up_to(n_particles.saturating_sub(1) as f32)),
    ]
}

/// Describes `density` by its difference from the rest density.
pub fn density(scene: &Scene) -> ColumnInfo {
    let rest = scene.rest_density_kg_m3() as f32;
    let range = [(1.0 - DENSITY_REACH) * rest, (1.0 + DENSITY_REACH) * rest];
    number("density", Display::between(range[0], range[1]).diverging())
}

/// Describes `lambda`, the multiplier of the density constraint, which acts like a pressure.
pub fn lambda() -> ColumnInfo {
    number("lambda", Display::between(LAMBDA_MIN, 0.0).titled("λ"))
}

/// Describes a column of one number per particle.
pub fn number(name: &'static str, display: Display) -> ColumnInfo {
    ColumnInfo::new(name, ColumnKind::F32, display)
}

/// Returns the speed in m/s after free fall through the whole domain, or of the fastest block if that is
/// faster.
fn fastest_m_s(scene: &Scene) -> f32 {
    let up = scene.up_axis.index();
    let height_m = scene.domain.max_m[up] - scene.domain.min_m[up];
    let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let fall = (2.0 * length(&scene.gravity_m_s2()) * height_m).sqrt();
    scene.particles.iter().map(|block| length(&block.velocity_m_s)).fold(fall, f64::max) as f32
}
