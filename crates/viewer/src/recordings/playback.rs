//! Playback position in a recording.

use super::moment::Moment;

/// Playback of a recording with a given number of recorded frames per picture, forwards or backwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback {
    /// Recorded frames per picture; negative for backwards.
    pub speed: f64,
    /// Frames per second.
    pub fps: f64,
    first: usize,
    /// Last frame to show; if none is given, the last of the recording.
    last: Option<usize>,
    /// Current frame, with the fraction of the way to the next.
    position: f64,
}

/// Tolerance in frames for rounding errors of sums of decimal numbers.
const ROUNDING: f64 = 1e-6;

impl Playback {
    /// Creates a playback of frames with the given steps and times at `speed`.
    pub fn new(times: &[(u64, f64)], speed: f64, fps: f64) -> Self {
        let last = times.len().saturating_sub(1);
        Self { speed, fps, first: 0, last: None, position: if speed < 0.0 { last as f64 } else { 0.0 } }
    }

    /// Creates a playback of a number of simulation steps per picture, from the mean interval of the frames.
    pub fn of_steps(times: &[(u64, f64)], steps: i64, fps: f64) -> Self {
        let span = times.last().map_or(0, |last| last.0) - times.first().map_or(0, |first| first.0);
        let speed = steps as f64 * times.len().saturating_sub(1) as f64 / span as f64;
        let is_known = speed.is_finite() && speed != 0.0;
        Self::new(times, if is_known { speed } else { steps.signum() as f64 }, fps)
    }

    /// Creates a playback in real time.
    pub fn in_real_time(times: &[(u64, f64)], fps: f64) -> Self {
        let span_s = times.last().map_or(0.0, |last| last.1) - times.first().map_or(0.0, |first| first.1);
        let speed = times.len().saturating_sub(1) as f64 / (span_s * fps);
        Self::new(times, if speed.is_finite() && speed > 0.0 { speed } else { 1.0 }, fps)
    }

    /// Restricts the playback to the frames between two moments; an error if there are none.
    pub fn between(
        mut self,
        times: &[(u64, f64)],
        from: Option<Moment>,
        to: Option<Moment>,
    ) -> Result<Self, String> {
        let is_from = |&(step, time_s): &(u64, f64)| match from {
            Some(Moment::Step(from)) => step >= from,
            Some(Moment::Seconds(from_s)) => time_s >= from_s - ROUNDING * from_s,
            None => true,
        };
        let is_to = |&(step, time_s): &(u64, f64)| match to {
            Some(Moment::Step(to)) => step <= to,
            Some(Moment::Seconds(to_s)) => time_s <= to_s + ROUNDING * to_s,
            None => true,
        };
        let first = times.iter().position(is_from);
        let last = times.iter().rposition(is_to);
        match (first, last) {
            (Some(first), Some(last)) if first <= last => {
                self.first = first;
                self.last = to.map(|_| last);
                self.position = if self.speed < 0.0 { last } else { first } as f64;
                Ok(self)
            }
            _ => {
                let [(from, from_s), (to, to_s)] =
                    [times.first(), times.last()].map(|end| end.copied().unwrap_or_default());
                Err(format!(
                    "no frame from --from to --to: found frames of step {from} ({from_s} s) to {to} ({to_s} \
                     s)"
                ))
            }
        }
    }

    /// Returns the frame of each picture of a video of a recording of `len` frames.
    pub fn frames(&self, len: usize) -> impl Iterator<Item = usize> + use<> {
        let mut playback = self.clone();
        let mut next = Some(playback.frame(len));
        std::iter::from_fn(move || {
            let frame = next?;
            next = playback.advance(len).then(|| playback.frame(len));
            Some(frame)
        })
    }

    /// Advances by one picture; returns false, without moving, at the end.
    pub fn advance(&mut self, len: usize) -> bool {
        let next = self.position + self.speed;
        let (first, last) = (self.first as f64, self.last(len) as f64);
        let goes_on = (first - ROUNDING..last + ROUNDING).contains(&next);
        self.position = next.clamp(first, last.max(first));
        goes_on
    }

    /// Goes to a frame.
    pub fn seek(&mut self, frame: usize, len: usize) {
        self.position = frame.clamp(self.first, self.last(len).max(self.first)) as f64;
    }

    /// Returns the current frame.
    pub fn frame(&self, len: usize) -> usize {
        let position =
            if self.speed < 0.0 { (self.position - ROUNDING).ceil() } else { self.position + ROUNDING };
        (position.max(0.0) as usize).min(len.saturating_sub(1))
    }

    pub fn first(&self) -> usize {
        self.first
    }

    pub fn last(&self, len: usize) -> usize {
        self.last.unwrap_or(usize::MAX).min(len.saturating_sub(1))
    }

    /// Returns true if frames recorded later would be played.
    pub fn has_open_end(&self) -> bool {
        self.last.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns frames of steps 0, 10, 20, …, 60, where ten steps take a tenth of a second.
    fn times() -> Vec<(u64, f64)> {
        (0..7).map(|i| (10 * i, 0.1 * i as f64)).collect()
    }

    fn frames(speed: f64) -> Vec<usize> {
        Playback::new(&times(), speed, 30.0).frames(7).collect()
    }

    #[test]
    fn a_picture_is_shown_for_every_s_frames_forwards_and_backwards() {
        assert_eq!(frames(1.0), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(frames(2.0), [0, 2, 4, 6]);
        assert_eq!(frames(4.0), [0, 4]);
        assert_eq!(frames(1.5), [0, 1, 3, 4, 6]);
        assert_eq!(frames(-1.0), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(frames(-3.0), [6, 3, 0]);
        assert_eq!(frames(100.0), [0]);
    }

    #[test]
    fn below_one_frames_are_repeated() {
        assert_eq!(frames(0.5), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
        assert_eq!(frames(-0.5)[..4], [6, 6, 5, 5]);
        let tenths = frames(0.1);
        assert!((0..6).all(|frame| tenths.iter().filter(|&&shown| shown == frame).count() == 10));
    }

    #[test]
    fn steps_per_picture_do_not_depend_on_the_interval_of_frames() {
        let frames = |times: &[(u64, f64)], steps: i64| -> Vec<usize> {
            Playback::of_steps(times, steps, 30.0).frames(times.len()).collect()
        };
        assert_eq!(frames(&times(), 10), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(frames(&times(), 20), [0, 2, 4, 6]);
        assert_eq!(frames(&times(), -30), [6, 3, 0]);
        assert_eq!(frames(&times(), 5)[..5], [0, 0, 1, 1, 2]);
        // Frames of steps 100, 105, …, 130.
        let dense: Vec<(u64, f64)> = (0..7).map(|i| (100 + 5 * i, 0.0)).collect();
        assert_eq!(frames(&dense, 10), [0, 2, 4, 6]);
        // Intervals of 2.5 steps, as a cadence in seconds makes them: pictures stay within a frame.
        let uneven: Vec<(u64, f64)> = (0..101_u64).map(|i| ((5 * i).div_ceil(2), 0.0)).collect();
        for (k, frame) in frames(&uneven, 10).into_iter().enumerate() {
            assert!(uneven[frame].0.abs_diff(10 * k as u64) <= 2, "picture {k} shows frame {frame}");
        }
        assert_eq!(frames(&times()[..1], -7), [0]);
    }

    #[test]
    fn moments_choose_frames_by_step_or_time() {
        let between = |from, to| {
            Playback::new(&times(), 1.0, 30.0).between(&times(), from, to).map(|p| p.frames(7).collect())
        };
        let frames: Result<Vec<usize>, String> = between(Some(Moment::Step(15)), Some(Moment::Seconds(0.5)));
        assert_eq!(frames.unwrap(), [2, 3, 4, 5]);
        assert_eq!(between(Some(Moment::Seconds(0.3)), None).unwrap(), [3, 4, 5, 6], "0.3 is 3 × 0.1");
        let error = between(Some(Moment::Step(61)), None).unwrap_err();
        assert!(error.contains("step 0 (0 s) to 60"), "{error}");
        assert!(between(Some(Moment::Step(31)), Some(Moment::Step(39))).is_err());
    }

    #[test]
    fn an_open_end_advances_as_the_recording_grows() {
        let mut playback = Playback::new(&times(), 1.0, 30.0);
        playback.seek(100, 7);
        assert_eq!(playback.frame(7), 6);
        assert!(!playback.advance(7) && playback.advance(8));
        assert_eq!(playback.frame(8), 7);
    }

    #[test]
    fn real_time_follows_from_the_times_recorded() {
        assert!((Playback::in_real_time(&times(), 60.0).speed - 10.0 / 60.0).abs() < 1e-9);
        assert_eq!(Playback::in_real_time(&times()[..1], 60.0).speed, 1.0);
    }
}
