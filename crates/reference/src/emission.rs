//! Emitters and drains of the position-based fluid: twins of `sources/emit`, `fill_emitted`, `count_emitted`,
//! `pbd/hold_emitted` and `remove_drained`.

use crate::fault::FaultKind;
use crate::fluid::{Parameters, State, narrow};

impl State {
    /// Twin of `sources/emit`, `fill_emitted` and `count_emitted` before the step that begins at `time_s`.
    pub fn emit(&mut self, p: &Parameters) {
        let step = (p.time_s / f64::from(p.dt_s)).round() as u32 + 1;
        let new = p.sources.new_particles(step);
        if self.position.len() + new.len() > p.sources.capacity {
            self.faults.note(FaultKind::Full, 0, 0);
            return;
        }
        for particle in new {
            self.position.push(particle.position_m);
            self.residual[0].push(particle.residual_m);
            self.velocity.push(particle.velocity_m_s);
            self.id.push(self.next_id);
            self.multiplier.push(0.0);
            self.next_id += 1;
        }
        self.resize(self.position.len());
    }

    /// Twin of `pbd/remove_drained`, after the permutation.
    pub fn remove_drained(&mut self, p: &Parameters) {
        let n = self.cell_start.last().map_or(0, |n| *n as usize);
        if p.sources.drains.is_empty() || n == self.position.len() {
            return;
        }
        self.position.truncate(n);
        self.residual[0].truncate(n);
        self.velocity.truncate(n);
        self.id.truncate(n);
        self.multiplier.truncate(n);
        self.resize(n);
    }

    /// Gives the columns without a state of their own the length of the others.
    fn resize(&mut self, n: usize) {
        self.residual[1].resize(n, [0.0; 3]);
        self.predicted.resize(n, [0.0; 3]);
        self.updated.resize(n, [0.0; 3]);
        self.constraint.resize(n, [0.0; 4]);
        self.density.resize(n, 0.0);
        self.excess.resize(n, 0.0);
        self.key.resize(n, 0);
        self.order.resize(n, 0);
    }

    /// Twin of `pbd/hold_emitted`.
    pub fn hold_emitted(&mut self, p: &Parameters) {
        if p.sources.emitters.is_empty() {
            return;
        }
        self.held = vec![false; self.position.len()];
        for (i, x) in self.position.iter().enumerate() {
            for emitter in p.sources.emitters.iter().filter(|e| e.is_in_pipe(*x, 0.5 * p.sources.spacing_m)) {
                self.held[i] = true;
                self.velocity[i] = narrow(emitter.velocity());
                self.multiplier[i] = 0.0;
            }
        }
    }

    /// Returns true if nothing accelerates a particle.
    pub(crate) fn is_held(&self, i: usize) -> bool {
        self.held.get(i).is_some_and(|held| *held)
    }
}
