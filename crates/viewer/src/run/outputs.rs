//! Output files of a run.

use super::parcel::{OutputBatch, Picture, StepTime};
use super::schedule::Schedule;
use crate::failure::Failure;
use crate::say;
use frazil_io::{
    Checkpoint, Metric, MetricsWriter, RECORDING_EXTENSION, RecordingMeta, RecordingWriter, WrittenOutputs,
    flow_raster_files,
};
use frazil_solvers::{MetricInfo, PlotSpec, factories};
use std::fmt::Display;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Output folder.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates the folder if it does not exist.
    pub fn create(root: &Path) -> Result<Self, Failure> {
        create_dir(root)?;
        Ok(Self::existing(root))
    }

    /// Returns the folder of a finished run.
    pub fn existing(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Removes the files of an earlier run, so that all files here belong to this run. Checkpoints are kept:
    /// they may be the only remains of a long run.
    pub fn clear(&self) -> Result<(), Failure> {
        let left = [
            self.report(),
            self.metrics(),
            self.timing(),
            self.recording(),
            self.profile(),
            self.trace(),
            self.profile_page(),
            self.energy_plot(),
            self.front_plot(),
            self.frame_time_plot(),
            self.final_picture(),
            self.shape(),
            self.flow(),
            self.flow_path(),
            self.run_out(),
            self.map(),
            self.impacts(),
            self.impacts_plot(),
        ];
        let rasters = flow_raster_files().map(|name| self.root.join(name));
        let pictures =
            fs::read_dir(self.pictures()).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_picture = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // A killed run may have left a partial file with a longer name.
            name.starts_with("frame_") && name.contains(".png")
        };
        let plots = factories().into_iter().flat_map(|factory| factory.plots());
        let plots = plots.map(|plot| self.plot(&plot));
        let all = left.into_iter().chain(rasters).chain(plots).chain(pictures.filter(is_picture));
        for path in all.filter(|path| fs::symlink_metadata(path).is_ok()) {
            fs::remove_file(&path)
                .map_err(|error| Failure::input(format!("cannot replace {}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// Renames the checkpoint of an earlier run, so that nobody resumes from it by mistake; returns its new
    /// path.
    pub fn set_checkpoint_aside(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.checkpoint();
        if !path.exists() {
            return Ok(None);
        }
        let numbered = |n: u32| path.with_file_name(format!("checkpoint.earlier-{n}.frazil-ckpt"));
        let aside = (1..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(0));
        fs::rename(&path, &aside)
            .map_err(|error| Failure::input(format!("cannot rename {}: {error}", path.display())))?;
        Ok(Some(aside))
    }

    /// Returns true if there is a recording or a table of metrics.
    pub fn has_outputs(&self) -> bool {
        self.recording().exists() || self.metrics().exists()
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
    pub fn report(&self) -> PathBuf {
        self.root.join("run.json")
    }
    pub fn metrics(&self) -> PathBuf {
        self.root.join("metrics.csv")
    }
    pub fn timing(&self) -> PathBuf {
        self.root.join("timing.csv")
    }
    pub fn recording(&self) -> PathBuf {
        self.root.join("recording").with_extension(RECORDING_EXTENSION)
    }
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint.frazil-ckpt")
    }
    pub fn profile(&self) -> PathBuf {
        self.root.join("profile.json")
    }
    pub fn trace(&self) -> PathBuf {
        self.root.join("trace.json")
    }
    pub fn profile_page(&self) -> PathBuf {
        self.root.join("profile.html")
    }
    pub fn energy_plot(&self) -> PathBuf {
        self.root.join("energy.png")
    }
    pub fn front_plot(&self) -> PathBuf {
        self.root.join("front.png")
    }
    pub fn frame_time_plot(&self) -> PathBuf {
        self.root.join("frame_time.png")
    }
    /// Writes a plot that a solver requests.
    pub fn plot(&self, plot: &PlotSpec) -> PathBuf {
        self.root.join(plot.file)
    }
    pub fn final_picture(&self) -> PathBuf {
        self.root.join("final.png")
    }
    pub fn shape(&self) -> PathBuf {
        self.root.join("shape.json")
    }
    pub fn flow(&self) -> PathBuf {
        self.root.join("flow.csv")
    }
    pub fn flow_path(&self) -> PathBuf {
        self.root.join("flow_path.csv")
    }
    pub fn run_out(&self) -> PathBuf {
        self.root.join("runout.json")
    }
    pub fn map(&self) -> PathBuf {
        self.root.join("map.png")
    }
    pub fn impacts(&self) -> PathBuf {
        self.root.join("impacts.csv")
    }
    pub fn impacts_plot(&self) -> PathBuf {
        self.root.join("impacts.png")
    }
    fn pictures(&self) -> PathBuf {
        self.root.join("frames")
    }
    pub fn picture(&self, index: u64) -> PathBuf {
        self.pictures().join(format!("frame_{index:06}.png"))
    }
}

/// Returns the default output folder of a scene's name, with a suffix.
pub fn default_folder(name: &str, suffix: &str) -> PathBuf {
    // The name is free text: characters that could leave the folder, or are special in a shell, become
    // underscores.
    let plain = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' };
    Path::new("out").join(name.chars().map(plain).chain(suffix.chars()).collect::<String>())
}

/// Creates a folder and its parents if they do not exist. New ones survive a crash of the machine.
pub fn create_dir(path: &Path) -> Result<(), Failure> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(path)
        .map_err(|error| Failure::input(format!("cannot make the folder {}: {error}", path.display())))?;
    for folder in missing.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
        frazil_io::atomic::sync_directory_of(folder).map_err(Failure::input)?;
    }
    Ok(())
}

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
}

/// Checks that the files written before a checkpoint are still there, byte by byte.
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
        "{problem}; outputs from before the checkpoint are not whole: restore them, resume from an earlier checkpoint, or \
         begin new outputs at this step with --discard-outputs"
    ))
}

impl Outputs {
    /// Creates the files of a new run with the metrics `measured`, by name and unit.
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
        let resume_timing = |path: &Path| match MetricsWriter::resume(path, &timing(), "step", step as f64) {
            Err(error) => {
                if path.exists() {
                    say::note(format_args!("warning: {error}; step times begin anew"));
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
        Ok(Self { pictures: before.filter(|_| schedule.picture.is_some()), ..outputs })
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
            metrics: metrics.map_err(Failure::input)?,
            timing: timing.map_err(Failure::input)?,
            recording: recording.map_err(Failure::input)?,
        })
    }

    pub fn write(&mut self, parcel: OutputBatch) -> Result<(), Failure> {
        if let (Some(writer), Some(StepTime { step, ms_per_step })) = (&mut self.timing, parcel.timing) {
            writer.row(&[step as f64, ms_per_step]).map_err(Failure::other)?;
        }
        let before = self.metrics.as_ref().map(MetricsWriter::extent);
        if let (Some(writer), Some(row)) = (&mut self.metrics, &parcel.metrics) {
            writer.row(row).map_err(Failure::other)?;
        }
        if let Some(Picture { index, width, height, pixels }) = parcel.picture {
            frazil_render::write_png(&self.folder.picture(index), width, height, &pixels)
                .map_err(Failure::other)?;
            self.pictures.get_or_insert(index..index).end = index + 1;
            self.unsynced.push(self.folder.picture(index));
        }
        if let (Some(writer), Some(frame)) = (&mut self.recording, &parcel.frame) {
            writer.append(frame).map_err(Failure::other)?;
        }
        if let Some(mut checkpoint) = parcel.checkpoint {
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
                metrics: if parcel.is_last_row {
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
    pub fn finish(self) -> Result<(), Failure> {
        self.recording.map_or(Ok(()), |recording| recording.finish().map_err(Failure::other))
    }
}
