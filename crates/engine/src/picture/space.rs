//! Conversion of the scene's vectors and axes for pictures.

use frazil_render::UpAxis;
use frazil_render::glam::Vec3;
use frazil_scene::Axis;

pub fn vec3(v: [f64; 3]) -> Vec3 {
    Vec3::from_array(v.map(|x| x as f32))
}

pub fn up_axis(axis: Axis) -> UpAxis {
    match axis {
        Axis::X => UpAxis::X,
        Axis::Y => UpAxis::Y,
        Axis::Z => UpAxis::Z,
    }
}
