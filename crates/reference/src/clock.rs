//! Clock of a simulation: its steps and their substeps, and the first step with a fault; the fastest
//! particle.

/// Clock between two substeps, or within one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Step of the first fault, if there was one.
    pub fault_step: Option<u32>,
    /// Number of the step that runs, from 1.
    pub step: u32,
    /// Number of substeps begun.
    pub n_begun: u32,
    /// Number of the substep that is held, counted so, if there is one.
    pub held_at: Option<u32>,
    /// Substep that runs, from 0.
    pub substep: u32,
    /// Number of substeps of the step.
    pub n_substeps: u32,
    /// Length of a step in s.
    pub step_s: f64,
}

/// Begins a substep; a step that begins has `n_substeps`.
pub fn advance_clock(clock: &mut Clock, n_substeps: u32) {
    clock.n_begun += 1;
    if clock.held_at.is_some() {
        return;
    }
    if clock.substep + 1 < clock.n_substeps {
        clock.substep += 1;
    } else {
        (clock.step, clock.substep, clock.n_substeps) = (clock.step + 1, 0, n_substeps);
    }
}

impl Clock {
    /// Returns true if the running substep changes nothing, because a step before it had a fault, or one is
    /// held.
    pub fn is_frozen(&self) -> bool {
        self.held_at.is_some() || self.fault_step.is_some_and(|fault_step| fault_step < self.step)
    }

    /// Returns the times in s at which the running substep begins and ends.
    pub fn times_s(&self) -> [f64; 2] {
        let substep_s = self.step_s / f64::from(self.n_substeps);
        [0, 1].map(|end| f64::from(self.step - 1) * self.step_s + f64::from(self.substep + end) * substep_s)
    }
}

/// Returns the bits of the largest squared speed in m²/s² of particles.
pub fn find_fastest(velocities_m_s: &[[f32; 3]]) -> u32 {
    let squares = velocities_m_s.iter().map(|v| v.iter().map(|v| v * v).sum::<f32>().abs());
    squares.fold(0, |fastest, square| fastest.max(square.to_bits()))
}
