//! Output folder of a run: names of its files, and what a new run replaces.

use crate::failure::Failure;
use frazil_io::{RECORDING_EXTENSION, flow_raster_files};
use frazil_solvers::{PlotSpec, factories};
use std::fs;
use std::path::{Path, PathBuf};

/// Output folder.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created.
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
    ///
    /// # Errors
    /// A file cannot be removed; a link, a folder or a device has the name of one, and nothing is removed.
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
        let found = all.filter_map(|path| Some((fs::symlink_metadata(&path).ok()?, path)));
        let (files, others): (Vec<_>, Vec<_>) = found.partition(|(metadata, _)| metadata.is_file());
        // Anything but a regular file was not written by a run. Nothing has been removed yet.
        if let Some((metadata, path)) = others.first() {
            let kind = if metadata.is_symlink() { "a symbolic link" } else { "a folder, a device or a pipe" };
            return Err(Failure::input(format!(
                "{}: found {kind}, expected a regular file, which --overwrite may replace",
                path.display()
            )));
        }
        for (_, path) in files {
            fs::remove_file(&path).map_err(|error| {
                Failure::output(&error, format!("cannot replace {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }

    /// Renames the checkpoint of an earlier run, so that nobody resumes from it by mistake; returns its new
    /// path.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn set_checkpoint_aside(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.checkpoint();
        if !path.exists() {
            return Ok(None);
        }
        let numbered = |n: u32| path.with_file_name(format!("checkpoint.earlier-{n}.frazil-ckpt"));
        let aside = (1..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(0));
        fs::rename(&path, &aside)
            .map_err(|error| Failure::output(&error, format!("cannot rename {}: {error}", path.display())))?;
        Ok(Some(aside))
    }

    /// Returns true if there is a recording or a table of metrics.
    pub fn has_outputs(&self) -> bool {
        self.recording().exists() || self.metrics().exists()
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// Returns the path of `run.json`.
    pub fn report(&self) -> PathBuf {
        self.root.join("run.json")
    }
    /// Returns the path of the table of metrics.
    pub fn metrics(&self) -> PathBuf {
        self.root.join("metrics.csv")
    }
    /// Returns the path of the table of step times.
    pub fn timing(&self) -> PathBuf {
        self.root.join("timing.csv")
    }
    /// Returns the path of the recording.
    pub fn recording(&self) -> PathBuf {
        self.root.join("recording").with_extension(RECORDING_EXTENSION)
    }
    /// Returns the path of the last checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint.frazil-ckpt")
    }
    /// Returns the path of the profile.
    pub fn profile(&self) -> PathBuf {
        self.root.join("profile.json")
    }
    /// Returns the path of the trace for viewers of traces.
    pub fn trace(&self) -> PathBuf {
        self.root.join("trace.json")
    }
    /// Returns the path of the page of the profile.
    pub fn profile_page(&self) -> PathBuf {
        self.root.join("profile.html")
    }
    /// Returns the path of the plot of energies.
    pub fn energy_plot(&self) -> PathBuf {
        self.root.join("energy.png")
    }
    /// Returns the path of the plot of a flow's front.
    pub fn front_plot(&self) -> PathBuf {
        self.root.join("front.png")
    }
    /// Returns the path of the plot of step times.
    pub fn frame_time_plot(&self) -> PathBuf {
        self.root.join("frame_time.png")
    }
    /// Returns the path of a plot that a solver requests.
    pub fn plot(&self, plot: &PlotSpec) -> PathBuf {
        self.root.join(plot.file)
    }
    /// Returns the path of the picture of the final state of a case of a sweep.
    pub fn final_picture(&self) -> PathBuf {
        self.root.join("final.png")
    }
    /// Returns the path of the shape of the final state of a case of a sweep.
    pub fn shape(&self) -> PathBuf {
        self.root.join("shape.json")
    }
    /// Returns the path of the table of a flow's cells.
    pub fn flow(&self) -> PathBuf {
        self.root.join("flow.csv")
    }
    /// Returns the path of the table of a flow's path.
    pub fn flow_path(&self) -> PathBuf {
        self.root.join("flow_path.csv")
    }
    /// Returns the path of the run-out of a flow.
    pub fn run_out(&self) -> PathBuf {
        self.root.join("runout.json")
    }
    /// Returns the path of the map of a flow.
    pub fn map(&self) -> PathBuf {
        self.root.join("map.png")
    }
    /// Returns the path of the table of forces on bodies.
    pub fn impacts(&self) -> PathBuf {
        self.root.join("impacts.csv")
    }
    /// Returns the path of the plot of forces on bodies.
    pub fn impacts_plot(&self) -> PathBuf {
        self.root.join("impacts.png")
    }
    /// Returns the folder of the pictures.
    pub fn pictures(&self) -> PathBuf {
        self.root.join("frames")
    }
    /// Returns the path of a picture.
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
///
/// # Errors
/// A folder cannot be created.
pub fn create_dir(path: &Path) -> Result<(), Failure> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(path).map_err(|error| {
        Failure::output(&error, format!("cannot make the folder {}: {error}", path.display()))
    })?;
    for folder in missing.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
        frazil_io::atomic::sync_directory_of(folder).map_err(Failure::file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_regular_files_of_an_earlier_run_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::existing(root.path());
        let elsewhere = root.path().join("elsewhere");
        fs::write(&elsewhere, "kept").unwrap();
        fs::write(folder.metrics(), "of an earlier run").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.report()).unwrap();
        let error = folder.clear().unwrap_err();
        assert_eq!(error.kind, crate::FailureKind::Input);
        assert!(error.to_string().contains("run.json: found a symbolic link"), "{error}");
        assert!(folder.metrics().exists(), "removed before the link was found");

        fs::remove_file(folder.report()).unwrap();
        folder.clear().unwrap();
        assert!(!folder.metrics().exists() && elsewhere.exists());
    }
}
