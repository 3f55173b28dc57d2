//! Emitters and drains: twins of `sources/emit`, `count_emitted`, `mark_drained`, `fill_drained` and
//! `count_drained`.

use glam::DVec3;

/// Emitters and drains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// Emitters, in order.
    pub emitters: Vec<Emitter>,
    /// Lower and upper corners of drains in m.
    pub drains: Vec<[[f32; 3]; 2]>,
    /// Particle spacing in m.
    pub spacing_m: f32,
    /// Maximum number of particles.
    pub capacity: usize,
}

/// A particle that appears before a step.
#[derive(Clone, Debug, PartialEq)]
pub struct NewParticle {
    /// Index of its emitter.
    pub emitter: usize,
    /// Position in m, as the device rounds it.
    pub position_m: [f32; 3],
    /// Part of the position below its ulp, in m.
    pub residual_m: [f32; 3],
    /// Velocity in m/s.
    pub velocity_m_s: [f32; 3],
}

/// A pipe, in the form of the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// Centre of the mouth in m.
    pub mouth_m: [f32; 3],
    /// Directions of the flow and of both sides.
    pub axes: [[f32; 3]; 3],
    /// Half of both sides in m.
    pub half_m: [f32; 2],
    /// True for a disk.
    pub is_round: bool,
    /// Length of the pipe in m.
    pub reach_m: f32,
    /// Points of a layer in m.
    pub points_m: Vec<[f32; 3]>,
    /// Speed in m/s.
    pub speed_m_s: f32,
    /// Distance between layers in m.
    pub layer_m: f32,
    /// Share of it that passes in a step, times 2³².
    pub layer_share: u32,
    /// First step from 1, and the one after the last.
    pub steps: [u32; 2],
}

fn wide(a: [f32; 3]) -> DVec3 {
    DVec3::from_array(a.map(f64::from))
}

impl Emitter {
    /// Returns how far a layer that appears before a step has come, in m; `None` if none appears.
    pub fn begins_m(&self, step: u32) -> Option<f64> {
        let [first, end] = self.steps;
        if step < first || step >= end {
            return None;
        }
        let moved = |n: u32| u64::from(n) * u64::from(self.layer_share);
        let n = step - first;
        let is_next = n == 0 || moved(n) >> 32 > moved(n - 1) >> 32;
        let rest = moved(n) & u64::from(u32::MAX);
        is_next.then(|| rest as f64 / 4_294_967_296.0 * f64::from(self.layer_m))
    }

    pub(crate) fn is_in_pipe(&self, x: [f32; 3], margin_m: f32) -> bool {
        let offset = wide(x) - wide(self.mouth_m);
        let [along, a, b] = self.axes.map(|axis| wide(axis).dot(offset));
        let half = self.half_m.map(|half| f64::from(half + margin_m));
        let is_inside = match self.is_round {
            true => a.hypot(b) < half[0],
            false => a.abs() < half[0] && b.abs() < half[1],
        };
        is_inside && along < 0.0 && along > -f64::from(self.reach_m + margin_m)
    }

    /// Returns the velocity of the flow in m/s.
    pub fn velocity(&self) -> DVec3 {
        f64::from(self.speed_m_s) * wide(self.axes[0])
    }
}

impl Sources {
    /// Returns the particles that appear before a step, counted from 1: emitters in their order, and the
    /// points of each in theirs.
    pub fn new_particles(&self, step: u32) -> Vec<NewParticle> {
        let mut particles = Vec::new();
        for (idx, emitter) in self.emitters.iter().enumerate() {
            let Some(moved_m) = emitter.begins_m(step) else { continue };
            for point in &emitter.points_m {
                let x = wide(*point) + moved_m * wide(emitter.axes[0]);
                let position_m = x.as_vec3().to_array();
                particles.push(NewParticle {
                    emitter: idx,
                    position_m,
                    residual_m: (x - wide(position_m)).as_vec3().to_array(),
                    velocity_m_s: emitter.velocity().as_vec3().to_array(),
                });
            }
        }
        particles
    }

    /// Returns true if a point lies in a drain.
    pub(crate) fn drain(&self, x: [f32; 3]) -> bool {
        let is_inside = |[low, high]: &[[f32; 3]; 2]| (0..3).all(|i| (low[i]..=high[i]).contains(&x[i]));
        self.drains.iter().any(is_inside)
    }
}

/// Removes elements, whose indices are in order: the last ones that stay take the places of those of them
/// that are not among the last.
pub fn fill_drained<T: Clone>(column: &mut Vec<T>, removed: &[usize]) {
    let n_left = column.len() - removed.len();
    let staying = (n_left..column.len()).filter(|i| !removed.contains(i)).collect::<Vec<_>>();
    for (to, from) in removed.iter().filter(|i| **i < n_left).zip(staying) {
        column[*to] = column[from].clone();
    }
    column.truncate(n_left);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_stay_fill_the_gaps() {
        let filled = |n: usize, removed: &[usize]| {
            let mut column: Vec<usize> = (0..n).collect();
            fill_drained(&mut column, removed);
            column
        };
        assert_eq!(filled(0, &[]), []);
        assert_eq!(filled(1, &[0]), []);
        assert_eq!(filled(5, &[]), [0, 1, 2, 3, 4]);
        assert_eq!(filled(5, &[3, 4]), [0, 1, 2]);
        assert_eq!(filled(6, &[0, 2, 4]), [3, 1, 5]);
        assert_eq!(filled(6, &[0, 1, 2, 3, 4]), [5]);
    }
}
