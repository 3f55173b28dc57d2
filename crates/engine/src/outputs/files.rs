//! Output files of a run.

use super::batch::{OutputBatch, StepTime};
use super::folder::{Folder, create_dir};
use super::schedule::Schedule;
use crate::failure::Failure;
use crate::picture::Picture;
use frazil_io::{Checkpoint, Metric, MetricsWriter, RecordingMeta, RecordingWriter, WrittenOutputs};
use frazil_solvers::MetricInfo;
use std::fmt::Display;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Returns the columns of `metrics.csv`: step, time and metrics.
fn metrics(measured: &[MetricInfo]) -> Vec<Metric> {
    let measured = measured
        .iter()
        .map(|MetricInfo { name, unit }| Metric::new(name, if *unit == "1" { "" } else { unit }));
    [Metric::new("step", ""), Metric::new("time", "s")].into_iter().chain(measured).collect()
}

/// Columns of `timing.csv`.
fn timing() -> [Metric; 2] {
    [Metric::new("step", ""), Metric::new("step_time", "ms")]
}

/// Open files of a run.
pub struct Outputs {
    folder: Folder,
    metrics: Option<MetricsWriter>,
    timing: Option<MetricsWriter>,
    recording: Option<RecordingWriter>,
    /// Numbers of the pictures written so far.
    pictures: Option<Range<u64>>,
    /// Pictures written since the last checkpoint.
    unsynced: Vec<PathBuf>,
    warning: Option<String>,
}

/// Checks that the files written before a checkpoint are still there, byte by byte.
///
/// # Errors
/// The first file that is missing or not that of the checkpoint.
pub fn check_outputs(folder: &Folder, schedule: &Schedule, checkpoint: &Checkpoint) -> Result<(), Failure> {
    let Some(written) = &checkpoint.outputs else {
        return Err(lost(
            &"the checkpoint, by an earlier version of frazil, does not name the outputs before it",
        ));
    };
    let files = [
        (schedule.record.is_some(), folder.recording(), written.recording),
        (schedule.metrics.is_some(), folder.metrics(), written.metrics),
    ];
    for (is_due, path, extent) in files {
        match extent {
            Some(extent) if is_due => extent.check(&path).map_err(|error| lost(&error))?,
            None if is_due && path.exists() => {
                return Err(lost(&format_args!("{}: not of the checkpoint's run", path.display())));
            }
            _ => {}
        }
    }
    let pictures = written.pictures.clone().filter(|_| schedule.picture.is_some()).unwrap_or_default();
    let is_lost = |path: &PathBuf| fs::metadata(path).map_or(true, |file| file.len() == 0);
    match pictures.map(|index| folder.picture(index)).find(is_lost) {
        Some(path) => Err(lost(&format_args!("{}: missing or empty", path.display()))),
        None => Ok(()),
    }
}

/// Returns the error for outputs that a resumed run cannot continue.
fn lost(problem: &dyn Display) -> Failure {
    Failure::input(format!(
        "{problem}; outputs from before the checkpoint are not whole: restore them, resume from an earlier \
         checkpoint, or begin new outputs at this step with --discard-outputs"
    ))
}

impl Outputs {
    /// Creates the files of a new run with the metrics `measured`, by name and unit.
    ///
    /// # Errors
    /// A file of an earlier run cannot be removed, or a new one not created.
    pub fn create(
        folder: &Folder,
        schedule: &Schedule,
        meta: &RecordingMeta,
        measured: &[MetricInfo],
    ) -> Result<Self, Failure> {
        folder.clear()?;
        let metrics = metrics(measured);
        let metrics =
            schedule.metrics.map(|_| MetricsWriter::create(&folder.metrics(), &metrics)).transpose();
        let timing = schedule.metrics.map(|_| MetricsWriter::create(&folder.timing(), &timing())).transpose();
        let recording =
            schedule.record.map(|_| RecordingWriter::create(&folder.recording(), meta)).transpose();
        Self::open(folder, schedule, [metrics, timing], recording)
    }

    /// Opens the files of a run that is resumed from a checkpoint; what was written before it must be there.
    ///
    /// # Errors
    /// Like [`check_outputs`]; a file cannot be opened.
    pub fn resume(
        folder: &Folder,
        schedule: &Schedule,
        meta: &RecordingMeta,
        measured: &[MetricInfo],
        checkpoint: &Checkpoint,
    ) -> Result<Self, Failure> {
        check_outputs(folder, schedule, checkpoint)?;
        let step = checkpoint.step;
        // A row or frame at the checkpoint's step is kept if an uninterrupted run would have written it too.
        let due = schedule.due(step);
        let last = |due: bool| if due { step } else { step.saturating_sub(1) };
        let metrics = metrics(measured);
        let resume_metrics = |path: &Path| match path.exists() {
            true => MetricsWriter::resume(path, &metrics, "step", last(due.metrics) as f64),
            false => MetricsWriter::create(path, &metrics),
        };
        // Times of the machine are no reason to lose a recording.
        let mut warning = None;
        let mut resume_timing =
            |path: &Path| match MetricsWriter::resume(path, &timing(), "step", step as f64) {
                Err(error) => {
                    if path.exists() {
                        warning = Some(format!("{error}; step times begin anew"));
                    }
                    MetricsWriter::create(path, &timing())
                }
                resumed => resumed,
            };
        let resume_recording = |path: &Path| match path.exists() {
            true => RecordingWriter::resume(path, last(due.record)),
            false => RecordingWriter::create(path, meta),
        };
        let metrics = schedule.metrics.map(|_| resume_metrics(&folder.metrics())).transpose();
        let timing = schedule.metrics.map(|_| resume_timing(&folder.timing())).transpose();
        let recording = schedule.record.map(|_| resume_recording(&folder.recording())).transpose();
        let outputs =
            Self::open(folder, schedule, [metrics, timing], recording).map_err(|error| lost(&error))?;
        let before = checkpoint.outputs.as_ref().and_then(|written| written.pictures.clone());
        Ok(Self { pictures: before.filter(|_| schedule.picture.is_some()), warning, ..outputs })
    }

    /// Returns a warning about files that could not be continued and begin anew.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    fn open(
        folder: &Folder,
        schedule: &Schedule,
        [metrics, timing]: [frazil_io::Result<Option<MetricsWriter>>; 2],
        recording: frazil_io::Result<Option<RecordingWriter>>,
    ) -> Result<Self, Failure> {
        if schedule.picture.is_some() {
            create_dir(&folder.pictures())?;
        }
        Ok(Self {
            folder: folder.clone(),
            pictures: None,
            unsynced: Vec::new(),
            warning: None,
            metrics: metrics.map_err(Failure::input)?,
            timing: timing.map_err(Failure::input)?,
            recording: recording.map_err(Failure::input)?,
        })
    }

    /// Writes the results of a step.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, batch: OutputBatch) -> Result<(), Failure> {
        if let (Some(writer), Some(StepTime { step, ms_per_step })) = (&mut self.timing, batch.timing) {
            writer.row(&[step as f64, ms_per_step]).map_err(Failure::other)?;
        }
        let before = self.metrics.as_ref().map(MetricsWriter::extent);
        if let (Some(writer), Some(row)) = (&mut self.metrics, &batch.metrics) {
            writer.row(row).map_err(Failure::other)?;
        }
        if let Some(Picture { index, width, height, pixels }) = batch.picture {
            frazil_render::write_png(&self.folder.picture(index), width, height, &pixels)
                .map_err(Failure::other)?;
            self.pictures.get_or_insert(index..index).end = index + 1;
            self.unsynced.push(self.folder.picture(index));
        }
        if let (Some(writer), Some(frame)) = (&mut self.recording, &batch.frame) {
            writer.append(frame).map_err(Failure::other)?;
        }
        if let Some(mut checkpoint) = batch.checkpoint {
            // On disk before the checkpoint that names them: after a power cut either both are there, or the
            // previous checkpoint is.
            for table in self.metrics.iter().chain(&self.timing) {
                table.sync().map_err(Failure::other)?;
            }
            if let Some(recording) = &self.recording {
                recording.sync().map_err(Failure::other)?;
            }
            for path in self.unsynced.drain(..) {
                frazil_io::atomic::sync(&path).map_err(Failure::other)?;
            }
            checkpoint.outputs = Some(WrittenOutputs {
                recording: self.recording.as_ref().map(RecordingWriter::extent),
                // A resumed run replaces a row that is only here because the run ends.
                metrics: if batch.is_last_row {
                    before
                } else {
                    self.metrics.as_ref().map(MetricsWriter::extent)
                },
                pictures: self.pictures.clone(),
            });
            checkpoint.write(&self.folder.checkpoint()).map_err(Failure::other)?;
        }
        Ok(())
    }

    /// Marks the recording as complete.
    ///
    /// # Errors
    /// The recording cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        self.recording.map_or(Ok(()), |recording| recording.finish().map_err(Failure::other))
    }
}
