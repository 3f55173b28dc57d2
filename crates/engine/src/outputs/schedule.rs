//! Schedule of the steps at which results are read back.

use frazil_scene::{Every, Scene};

/// Default interval of metrics, if neither the command line nor the scene gives one.
const METRICS_EVERY: Every = Every::Steps(10);

/// An interval that may also be switched off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cadence {
    /// Not at all.
    Never,
    /// At this interval.
    Every(Every),
}

impl Cadence {
    /// Returns the requested interval, or else that of the scene.
    fn or_scene(requested: Option<Self>, scene: Option<Every>) -> Option<Every> {
        match requested {
            None => scene,
            Some(Self::Never) => None,
            Some(Self::Every(every)) => Some(every),
        }
    }
}

/// Requested duration and output intervals of a run; those of the scene where nothing is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScheduleRequest {
    /// Last step.
    pub steps: Option<u64>,
    /// Simulated time in s, if no last step is requested.
    pub time_s: Option<f64>,
    /// Interval of pictures.
    pub picture: Option<Cadence>,
    /// Interval of frames of the recording.
    pub record: Option<Cadence>,
    /// Interval of rows of metrics.
    pub metrics: Option<Cadence>,
    /// Interval of checks that every particle exists exactly once; never by default.
    pub check: Option<Cadence>,
    /// Interval of checkpoints; never by default.
    pub checkpoint: Option<Cadence>,
}

/// Output intervals of a run, and its last step.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Interval of pictures.
    pub picture: Option<Every>,
    /// Interval of frames of the recording.
    pub record: Option<Every>,
    /// Interval of rows of metrics.
    pub metrics: Option<Every>,
    /// Interval of checks of particles.
    pub check: Option<Every>,
    /// Interval of checkpoints.
    pub checkpoint: Option<Every>,
    /// Last step.
    pub last_step: u64,
    dt_s: f64,
}

/// Outputs due at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// A picture.
    pub picture: bool,
    /// A frame of the recording.
    pub record: bool,
    /// A row of metrics.
    pub metrics: bool,
    /// True if they are due only because the run ends here: a longer run has no such row.
    pub metrics_at_end: bool,
    /// A check of the particles.
    pub check: bool,
    /// A checkpoint.
    pub checkpoint: bool,
    /// True at the last step, which is always measured, because its state is hashed and must be valid.
    pub last: bool,
}

impl Due {
    /// Returns true if anything is due.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

impl Schedule {
    /// Fills a request with the intervals and the duration of a scene.
    pub fn new(request: &ScheduleRequest, scene: &Scene) -> Self {
        let dt_s = scene.step_s();
        let steps_in = |time_s: f64| Every::Seconds(time_s).next_after(0, dt_s);
        Self {
            picture: Cadence::or_scene(request.picture, scene.output.render_every),
            record: Cadence::or_scene(request.record, scene.output.record_every),
            metrics: Cadence::or_scene(request.metrics, scene.output.metrics_every.or(Some(METRICS_EVERY))),
            check: Cadence::or_scene(request.check, None),
            checkpoint: Cadence::or_scene(request.checkpoint, None),
            last_step: request.steps.or(request.time_s.map(steps_in)).unwrap_or_else(|| scene.n_steps()),
            dt_s,
        }
    }

    /// Returns the outputs that are due at a step.
    pub fn due(&self, step: u64) -> Due {
        let is_due = |every: Option<Every>| every.is_some_and(|every| every.is_due(step, self.dt_s));
        let last = step == self.last_step;
        Due {
            picture: is_due(self.picture),
            record: is_due(self.record),
            metrics: is_due(self.metrics) || last && self.metrics.is_some(),
            metrics_at_end: last && self.metrics.is_some() && !is_due(self.metrics),
            check: is_due(self.check) || last && self.check.is_some(),
            // The initial state is given by the scene.
            checkpoint: step > 0 && (is_due(self.checkpoint) || last && self.checkpoint.is_some()),
            last,
        }
    }

    /// Returns the first step after `step` at which an output is due.
    pub fn next_after(&self, step: u64) -> u64 {
        let all = [self.picture, self.record, self.metrics, self.check, self.checkpoint];
        let next = all.iter().flatten().map(|every| every.next_after(step, self.dt_s)).min();
        next.unwrap_or(self.last_step).min(self.last_step)
    }

    /// Returns the number of pictures due before `step`, which is the index of the next one.
    pub fn pictures_before(&self, step: u64) -> u64 {
        let Some(every) = self.picture else { return 0 };
        let due = |from: &u64| Some(every.next_after(*from, self.dt_s));
        std::iter::successors(Some(0), due).take_while(|due| *due < step).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        Schedule {
            picture: Some(Every::Steps(4)),
            record: Some(Every::Seconds(0.25)),
            metrics: Some(Every::Steps(3)),
            check: None,
            checkpoint: Some(Every::Steps(100)),
            last_step: 10,
            dt_s: 0.1,
        }
    }

    #[test]
    fn every_step_at_which_something_is_due_is_visited() {
        let visited: Vec<u64> = std::iter::successors(Some(0), |step| Some(schedule().next_after(*step)))
            .take_while(|s| *s < 10)
            .collect();
        assert_eq!(visited, [0, 3, 4, 5, 6, 8, 9]);
        assert!(visited.iter().all(|step| schedule().due(*step).any()));
        assert!(!schedule().due(1).any());
    }

    #[test]
    fn the_last_step_is_measured_and_saved_but_not_pictured_out_of_turn() {
        let due = schedule().due(10);
        assert!(due.last && due.metrics && due.checkpoint && due.record);
        assert!(!due.picture && !due.check);
        assert!(!schedule().due(0).checkpoint);
    }

    #[test]
    fn picture_numbers_continue_after_a_resume() {
        let counts = [0, 1, 4, 5, 8, 9].map(|step| schedule().pictures_before(step));
        assert_eq!(counts, [0, 1, 1, 2, 2, 3]);
    }
}
