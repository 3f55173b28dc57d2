//! Conversion of a scene's emitters and drains to kernel parameters.

use frazil_scene::{Scene, Stream};
use frazil_shaders::types::{Drain, Emitter};

/// Emitters and drains of a scene, as the device has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceParameters {
    /// Emitters; each has the points from `first_point` on.
    pub emitters: Vec<Emitter>,
    /// Points of the layers of all emitters, where they appear, in m.
    pub points_m: Vec<[f32; 3]>,
    /// Drains.
    pub drains: Vec<Drain>,
    /// Particle spacing in m.
    pub spacing_m: f32,
}

impl SourceParameters {
    /// Reads the emitters and drains of a scene.
    pub fn of(scene: &Scene) -> Self {
        let narrow = |v: [f64; 3]| v.map(|x| x as f32);
        let mut sources = Self { spacing_m: scene.particle_spacing_m() as f32, ..Self::default() };
        for stream in scene.streams() {
            let Stream { axes, half_m, steps, .. } = stream;
            // Steps are counted from 1 on the device.
            let [first_step, end_step] = steps.map(|n| n.saturating_add(1).min(u32::MAX.into()) as u32);
            sources.emitters.push(Emitter {
                mouth_m: narrow(stream.mouth_m),
                flow: narrow(axes[0]),
                side_a: narrow(axes[1]),
                side_b: narrow(axes[2]),
                half_m: half_m.map(|half| half as f32),
                is_round: stream.is_round.into(),
                reach_m: stream.reach_m as f32,
                speed_m_s: stream.speed_m_s as f32,
                layer_m: stream.layer_m as f32,
                layer_share: stream.layer_share,
                first_point: sources.points_m.len() as u32,
                n_points: stream.points_m.len() as u32,
                first_step,
                end_step,
            });
            sources.points_m.extend(stream.points_m.iter().map(|point| narrow(*point)));
        }
        let drains = scene.drains.iter().map(|drain| drain.bounds_m().map(narrow));
        sources.drains = drains.map(|[min_m, max_m]| Drain { min_m, max_m }).collect();
        sources
    }

    /// Returns true if particles enter.
    pub fn has_emitters(&self) -> bool {
        !self.emitters.is_empty()
    }

    /// Returns true if particles leave.
    pub fn has_drains(&self) -> bool {
        !self.drains.is_empty()
    }
}
