//! Damage of a recording: its frames are used as far as they are whole, and the command reports the rest.

use crate::say;
use frazil_engine::Failure;
use frazil_io::{Error, Frame, Problem, Recording, Tail};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Frames of a recording that were skipped because they are damaged.
#[derive(Debug)]
pub struct Skipped {
    path: PathBuf,
    frames: BTreeSet<usize>,
}

impl Skipped {
    /// Reports the damage that is known before any frame is read.
    pub fn begin(recording: &Recording) -> Self {
        let path = recording.path().to_owned();
        for gap in recording.gaps() {
            say::note(format_args!("warning: {}: frames are missing: {gap}", path.display()));
        }
        if let Tail::Damaged(damage) = recording.tail() {
            say::note(format_args!("warning: {}: it ends early: {damage}", path.display()));
        }
        Self { path, frames: BTreeSet::new() }
    }

    /// Reads a frame; returns none, and reports it once, if it is damaged.
    pub fn read(&mut self, recording: &mut Recording, index: usize) -> Result<Option<Frame>, Failure> {
        match recording.frame(index) {
            Ok(frame) => Ok(Some(frame)),
            Err(error @ Error::Damaged { .. }) => {
                if self.frames.insert(index) {
                    say::note(format_args!("warning: skipped: {error}"));
                }
                Ok(None)
            }
            Err(error) => Err(Failure::input(error)),
        }
    }

    /// Returns the error for a recording with damage, if there is any.
    pub fn check(&self, recording: &Recording) -> Result<(), Failure> {
        let (n_skipped, n_gaps) = (self.frames.len(), recording.gaps().len());
        let ends_early = matches!(recording.tail(), Tail::Damaged(_)) && !is_unfinished(recording);
        if n_skipped == 0 && n_gaps == 0 && !ends_early {
            return Ok(());
        }
        let whole = recording.len() - n_skipped;
        let mut problems = vec![];
        if n_skipped > 0 {
            problems.push(format!("{n_skipped} damaged frame(s) skipped"));
        }
        if n_gaps > 0 {
            problems.push(format!("{n_gaps} gap(s) with missing frames"));
        }
        if ends_early {
            problems.push("its end is missing".to_owned());
        }
        let problems = problems.join(", ");
        Err(Failure::input(format!(
            "{}: damaged: {problems}; {whole} frame(s) are whole",
            self.path.display()
        )))
    }

    /// Returns the error for a recording with damage; warns about one that is not finished, whose frames so
    /// far are whole.
    pub fn check_so_far(&self, recording: &Recording) -> Result<(), Failure> {
        self.check(recording)?;
        if let Some(problem) = unfinished(recording) {
            say::note(format_args!("warning: {problem}"));
        }
        Ok(())
    }
}

/// Describes the state of a recording that is not finished.
pub fn unfinished(recording: &Recording) -> Option<String> {
    let (n, last) = (recording.len(), recording.times().next_back().map_or(0, |(step, _)| step));
    is_unfinished(recording).then(|| {
        format!(
            "{}: not finished: its run goes on or was killed, or the file was cut; it has {n} frame(s), up \
             to step {last}",
            recording.path().display()
        )
    })
}

/// Returns true if the recording ends after a frame or inside of one, as it does while its run goes on.
fn is_unfinished(recording: &Recording) -> bool {
    match recording.tail() {
        Tail::Open => true,
        Tail::Damaged(damage) => matches!(damage.problem, Problem::Truncated { .. }),
        Tail::Finished => false,
    }
}
