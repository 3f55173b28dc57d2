//! Clock of a simulation: its steps, and the first with a fault.

/// Clock between two steps, or within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Step of the first fault, if there was one.
    pub fault_step: Option<u32>,
    /// Number of the step that runs, from 1.
    pub step: u32,
}

/// Begins a step.
pub fn advance_clock(clock: &mut Clock) {
    clock.step += 1;
}

impl Clock {
    /// Returns true if the running step changes nothing, because one before it had a fault.
    pub fn is_frozen(&self) -> bool {
        self.fault_step.is_some_and(|fault_step| fault_step < self.step)
    }
}
