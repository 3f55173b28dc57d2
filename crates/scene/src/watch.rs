//! Progress of sampling, and its cancellation.

use std::time::{Duration, Instant};

use crate::SceneError;

/// Time between two calls of an observer, and that between looks at the clock, about.
const CALL_EVERY: Duration = Duration::from_millis(20);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Maximum number of items of work between two looks at the clock.
const MAX_STRIDE: u64 = 1 << 14;

/// Observer of sampling: called with what is done at present and the share of all work that is done, from 0
/// to 1. Returns whether to go on.
pub type SamplingObserver<'a> = dyn FnMut(&str, f64) -> bool + 'a;

/// Calls an observer while particles are sampled, every 20 ms of work or so, and ends the work if it says so.
///
/// Sampled particles do not depend on it.
pub struct Watch<'a> {
    observer: Option<&'a mut SamplingObserver<'a>>,
    stage: String,
    /// Shares of all work at the begin and at the end of the stage.
    from: f64,
    to: f64,
    /// Items of work of the stage, and how many of them are done.
    n_items: f64,
    n_done: f64,
    /// Items until the next look at the clock, and as many as were between the last two.
    left: u64,
    stride: u64,
    looked: Instant,
    called: Instant,
}

impl<'a> Watch<'a> {
    /// Makes a watch that calls `observer`.
    pub fn new(observer: &'a mut SamplingObserver<'a>) -> Self {
        Self { observer: Some(observer), ..Self::unobserved() }
    }

    /// Makes a watch that calls nobody.
    pub fn unobserved() -> Self {
        let now = Instant::now();
        Self {
            observer: None,
            stage: String::new(),
            from: 0.0,
            to: 1.0,
            n_items: 1.0,
            n_done: 0.0,
            left: 1,
            stride: 1,
            looked: now,
            called: now,
        }
    }

    /// Begins a stage of `n_items` items of work, at most or about, that ends at the share `to` of all work.
    ///
    /// # Errors
    /// [`SceneError::Cancelled`], if the observer says so.
    pub fn begin(&mut self, stage: &str, to: f64, n_items: f64) -> Result<(), SceneError> {
        if self.observer.is_none() {
            return Ok(());
        }
        self.from = self.share();
        (self.to, self.n_items, self.n_done) = (to.clamp(self.from, 1.0), n_items.max(1.0), 0.0);
        if self.stage != stage {
            stage.clone_into(&mut self.stage);
        }
        self.look()
    }

    /// Like [`Self::begin`], but the stage ends at a `part` of the way to the share `to` of all work: for
    /// work of unknown length.
    ///
    /// # Errors
    /// [`SceneError::Cancelled`], if the observer says so.
    pub(crate) fn begin_part(
        &mut self,
        stage: &str,
        to: f64,
        part: f64,
        n_items: f64,
    ) -> Result<(), SceneError> {
        let share = self.share();
        self.begin(stage, share + part * (to - share).max(0.0), n_items)
    }

    /// Counts items of work as done.
    ///
    /// # Errors
    /// [`SceneError::Cancelled`], if the observer says so.
    #[inline]
    pub fn tick(&mut self, n_items: u64) -> Result<(), SceneError> {
        if self.observer.is_none() {
            return Ok(());
        }
        self.n_done += n_items as f64;
        if n_items < self.left {
            self.left -= n_items;
            return Ok(());
        }
        self.look()
    }

    /// Returns the share of all work that is done.
    fn share(&self) -> f64 {
        self.from + (self.to - self.from) * (self.n_done / self.n_items).min(1.0)
    }

    #[cold]
    fn look(&mut self) -> Result<(), SceneError> {
        let now = Instant::now();
        let since = now - self.looked;
        // Items take from nanoseconds to milliseconds each.
        self.stride = match since {
            short if short < LOOK_EVERY / 2 => (2 * self.stride).min(MAX_STRIDE),
            long if long > 4 * LOOK_EVERY => (self.stride / 8).max(1),
            long if long > LOOK_EVERY => (self.stride / 2).max(1),
            _ => self.stride,
        };
        (self.left, self.looked) = (self.stride, now);
        if now - self.called < CALL_EVERY {
            return Ok(());
        }
        self.called = now;
        let share = self.share();
        let goes_on = self.observer.as_mut().is_none_or(|observer| observer(&self.stage, share));
        if goes_on {
            return Ok(());
        }
        Err(SceneError::Cancelled { stage: self.stage.clone(), percent: (100.0 * share) as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observer_is_called_in_time_whatever_the_work() {
        for work_ns in [20_u64, 3_000, 400_000, 3_000_000] {
            let mut calls: Vec<(Instant, f64)> = Vec::new();
            let mut observer = |_: &str, share: f64| {
                calls.push((Instant::now(), share));
                true
            };
            let n = 120_000_000 / work_ns;
            let mut watch = Watch::new(&mut observer);
            watch.begin("it", 0.5, n as f64).unwrap();
            for _ in 0..n {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_nanos(work_ns) {}
                watch.tick(1).unwrap();
            }
            assert!(calls.len() >= 2, "{work_ns} ns: {} calls", calls.len());
            assert!(calls.windows(2).all(|pair| pair[0].1 <= pair[1].1) && calls[calls.len() - 1].1 <= 0.5);
        }
    }

    #[test]
    fn an_observer_ends_the_work() {
        let mut observer = |_: &str, _: f64| false;
        let mut watch = Watch::new(&mut observer);
        let mut work = || {
            watch.begin("particles.3: 10 particles", 1.0, 1e12)?;
            loop {
                watch.tick(1)?;
            }
        };
        let error: Result<(), SceneError> = work();
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("sampling was cancelled at 0 %: particles.3: 10 particles"), "{message}");
        let mut idle = Watch::unobserved();
        assert!((0..1_000_000).all(|_| idle.tick(1).is_ok()));
    }
}
