//! Emitters and drains: twins of `sources/emit`, `fill_emitted`, `count_emitted`, `mark_drained` and
//! `fill_drained` on the columns of snow, and of `mpm/hold_nodes`.

use glam::DVec3;

use super::{Grid, Parameters, Particle, State};
use crate::sources::{Sources, fill_drained};

impl Grid {
    /// Gives nodes in the pipes of emitters, and within the support of a particle of these, the velocity of
    /// the flow: twin of `mpm/hold_nodes`.
    pub fn hold(&mut self, p: &Parameters, sources: &Sources) {
        for (place, node) in self.nodes.iter_mut().filter(|(_, node)| node.mass > 0.0) {
            let x = p.node_m(*place).as_vec3().to_array();
            for emitter in sources.emitters.iter().filter(|emitter| emitter.is_in_pipe(x, emitter.reach_m)) {
                node.velocity = emitter.velocity().as_vec3().as_dvec3();
            }
        }
    }
}

impl State {
    /// Adds the particles that appear before a step, counted from 1, with ids from `next_id` on, and mass in
    /// kg and volume in m³ of a particle of an emitter; returns their number.
    pub fn emit(
        &mut self,
        p: &Parameters,
        sources: &Sources,
        step: u32,
        next_id: u32,
        [mass, volume]: [f64; 2],
    ) -> usize {
        let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
        let new = sources.new_particles(step);
        let n_new = new.len();
        for (k, particle) in new.into_iter().enumerate() {
            self.particles.push(Particle {
                residual: wide(particle.residual_m),
                velocity: wide(particle.velocity_m_s),
                contact_radius: if p.has_contact_forces {
                    0.5 * volume.powf(1.0 / p.dimensions as f64)
                } else {
                    0.0
                },
                ..Particle::new(wide(particle.position_m), next_id + k as u32, mass, volume)
            });
        }
        n_new
    }

    /// Removes the particles in drains.
    pub fn drain(&mut self, sources: &Sources) {
        let is_drained = |i: &usize| sources.drain(self.particles[*i].position.as_vec3().to_array());
        let removed: Vec<usize> = (0..self.particles.len()).filter(is_drained).collect();
        fill_drained(&mut self.particles, &removed);
    }
}
