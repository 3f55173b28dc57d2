//! Output files of a run.

use super::parcel::{OutputBatch, Picture, StepTime};
use super::schedule::Schedule;
use crate::failure::Failure;
use frazil_io::{
    Metric, MetricsWriter, RECORDING_EXTENSION, RecordingMeta, RecordingWriter, flow_raster_files,
};
use frazil_scene::Scene;
use frazil_solvers::{MetricInfo, PlotSpec, factories};
use std::fs;
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
        for path in left.into_iter().chain(rasters).chain(plots).chain(pictures.filter(is_picture)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::input(format!("cannot replace {}: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(())
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

/// Returns the default output folder of a scene.
pub fn default_folder(scene: &Scene) -> PathBuf {
    // The name is free text: characters that could leave the folder, or are special in a shell, become
    // underscores.
    let plain = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' };
    Path::new("out").join(scene.name.chars().map(plain).collect::<String>())
}

/// Creates a folder and its parents if they do not exist.
pub fn create_dir(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path)
        .map_err(|error| Failure::input(format!("cannot make the folder {}: {error}", path.display())))
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

    /// Opens the files of a run that is resumed at `step`; missing files are created.
    pub fn resume(
        folder: &Folder,
        schedule: &Schedule,
        meta: &RecordingMeta,
        measured: &[MetricInfo],
        step: u64,
    ) -> Result<Self, Failure> {
        // A row or frame at the checkpoint's step is kept if an uninterrupted run would have written it too.
        let due = schedule.due(step);
        let last = |due: bool| if due { step } else { step.saturating_sub(1) };
        let metrics = metrics(measured);
        let resume_metrics = |path: &Path| match path.exists() {
            true => MetricsWriter::resume(path, &metrics, "step", last(due.metrics) as f64),
            false => MetricsWriter::create(path, &metrics),
        };
        let resume_timing = |path: &Path| match path.exists() {
            true => MetricsWriter::resume(path, &timing(), "step", step as f64),
            false => MetricsWriter::create(path, &timing()),
        };
        let resume_recording = |path: &Path| match path.exists() {
            true => RecordingWriter::resume(path, last(due.record)),
            false => RecordingWriter::create(path, meta),
        };
        let metrics = schedule.metrics.map(|_| resume_metrics(&folder.metrics())).transpose();
        let timing = schedule.metrics.map(|_| resume_timing(&folder.timing())).transpose();
        let recording = schedule.record.map(|_| resume_recording(&folder.recording())).transpose();
        Self::open(folder, schedule, [metrics, timing], recording)
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
            metrics: metrics.map_err(Failure::input)?,
            timing: timing.map_err(Failure::input)?,
            recording: recording.map_err(Failure::input)?,
        })
    }

    pub fn write(&mut self, parcel: OutputBatch) -> Result<(), Failure> {
        if let (Some(writer), Some(StepTime { step, ms_per_step })) = (&mut self.timing, parcel.timing) {
            writer.row(&[step as f64, ms_per_step]).map_err(Failure::other)?;
        }
        if let (Some(writer), Some(row)) = (&mut self.metrics, &parcel.metrics) {
            writer.row(row).map_err(Failure::other)?;
        }
        if let Some(Picture { index, width, height, pixels }) = parcel.picture {
            frazil_render::write_png(&self.folder.picture(index), width, height, &pixels)
                .map_err(Failure::other)?;
        }
        if let (Some(writer), Some(frame)) = (&mut self.recording, &parcel.frame) {
            writer.append(frame).map_err(Failure::other)?;
        }
        if let Some(checkpoint) = parcel.checkpoint {
            checkpoint.write(&self.folder.checkpoint()).map_err(Failure::other)?;
        }
        Ok(())
    }

    /// Marks the recording as complete.
    pub fn finish(self) -> Result<(), Failure> {
        self.recording.map_or(Ok(()), |recording| recording.finish().map_err(Failure::other))
    }
}
