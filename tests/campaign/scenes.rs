//! Small scenes of all solvers, and their runs.

use crate::outcome::Outcome;
use crate::part::Setting;
use crate::process::{self, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// A scene, and the intervals of its outputs.
pub struct Scene {
    /// Name in tables: the solver's material.
    pub name: &'static str,
    /// Scene and changes of it.
    pub scene: &'static [&'static str],
    /// Intervals of outputs.
    pub outputs: &'static [&'static str],
    /// Last step.
    pub steps: u64,
}

/// Outputs at intervals that no checkpoint, at every step, coincides with alone.
const OUTPUTS: &[&str] = &["--record", "3", "--metrics", "4", "--render", "never", "--checkpoint", "1"];
const STEPS: u64 = 12;

/// A scene of each solver, of some hundred particles, which runs for a fifth to half of a processor-second.
pub const ALL: [Scene; 5] = [
    Scene {
        name: "water",
        scene: &["dam_break", "--set", "fluid.particle_spacing_m=0.0365"],
        outputs: OUTPUTS,
        steps: STEPS,
    },
    Scene { name: "snow", scene: &["melting", "--set", "scale=0.15"], outputs: OUTPUTS, steps: STEPS },
    Scene {
        name: "viscoelastic",
        scene: &["viscoelastic_springs", "--set", "scale=0.3"],
        outputs: OUTPUTS,
        steps: STEPS,
    },
    Scene {
        name: "mpm",
        scene: &["snowball_collision", "--set", "scale=0.2"],
        outputs: OUTPUTS,
        steps: STEPS,
    },
    Scene { name: "dem", scene: &["column_collapse", "--set", "scale=0.2"], outputs: OUTPUTS, steps: STEPS },
];

/// A run that takes longer hangs: it needs a second, and the machine may be busy.
const LONGEST: Duration = Duration::from_secs(300);

/// Library of `file_faults.c` with its settings.
pub struct Fault<'a> {
    library: &'a Path,
    settings: Vec<(&'static str, String)>,
}

impl<'a> Fault<'a> {
    /// Lets operation number `at` on files below `dir` fail. 0 lets none fail.
    pub fn new(library: &'a Path, dir: &Path, kind: &str, at: u64) -> Self {
        let settings = vec![
            ("FRAZIL_FAULT_DIR", dir.display().to_string()),
            ("FRAZIL_FAULT_KIND", kind.to_owned()),
            ("FRAZIL_FAULT_AT", at.to_string()),
        ];
        Self { library, settings }
    }

    /// Adds a setting, as `file_faults.c` lists them.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.settings.push((name, value.into()));
        self
    }
}

/// Runs of the program, with a cache of pipelines of their own.
pub struct Runs {
    program: PathBuf,
    cache: PathBuf,
}

impl Runs {
    pub fn new(setting: &Setting) -> Self {
        Self { program: setting.program.clone(), cache: setting.folder.join("cache") }
    }

    /// Returns the command that runs a scene into a folder; without a checkpoint, a run that ended early is
    /// begun anew, which replaces its outputs.
    pub fn command(
        &self,
        scene: &Scene,
        out: &Path,
        resume: Option<&Path>,
        fault: Option<&Fault<'_>>,
    ) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("run").args(scene.scene).args(scene.outputs).arg("--quiet");
        command.args(["--steps", &scene.steps.to_string()]).arg("--out").arg(out);
        if let Some(checkpoint) = resume {
            command.arg("--resume").arg(checkpoint);
        } else if out.exists() {
            command.arg("--overwrite");
        }
        // Small kernels: waking threads for them takes longer than running them.
        command.env("LP_NUM_THREADS", "0").env("XDG_CACHE_HOME", &self.cache);
        if let Some(fault) = fault {
            command.env("LD_PRELOAD", fault.library);
            command.envs(fault.settings.iter().map(|(name, value)| (name, value)));
        }
        command
    }

    /// Runs a scene into a folder, from its checkpoint if there is one.
    ///
    /// # Errors
    /// The program cannot be started, or hangs.
    pub fn run(&self, scene: &Scene, out: &Path, fault: Option<&Fault<'_>>) -> Result<Output, String> {
        let checkpoint = Some(checkpoint_of(out)).filter(|path| path.exists());
        process::run(&mut self.command(scene, out, checkpoint.as_deref(), fault), LONGEST)
    }

    /// Runs a scene into a new folder without faults, and returns its results.
    ///
    /// # Errors
    /// The run fails.
    pub fn reference(&self, scene: &Scene, out: &Path) -> Result<Outcome, String> {
        // The first one fills the cache of pipelines, as in a user's second run.
        for _ in 0..2 {
            remove(out)?;
            let ended = self.run(scene, out, None)?;
            if !ended.status.success() {
                return Err(format!("{}: {}: {}", scene.name, ended.status, said(&ended)));
            }
        }
        Outcome::read(out)
    }

    /// Continues a run, from its checkpoint or from the beginning, and compares its results with those of a
    /// run without faults. Returns the step of the checkpoint, if there was one.
    ///
    /// # Errors
    /// The checkpoint is damaged, the run fails, or its results differ.
    pub fn must_reproduce(
        &self,
        scene: &Scene,
        out: &Path,
        expected: &Outcome,
    ) -> Result<Option<u64>, String> {
        let step = checkpoint_step(out)?;
        let ended = self.run(scene, out, None)?;
        if !ended.status.success() {
            return Err(format!("continued from {step:?}: {}: {}", ended.status, said(&ended)));
        }
        let same = Outcome::read(out)?.must_equal(expected);
        same.map(|()| step).map_err(|problem| format!("continued from {step:?}: {problem}"))
    }
}

/// Returns the path of a run's checkpoint.
pub fn checkpoint_of(out: &Path) -> PathBuf {
    out.join("checkpoint.frazil-ckpt")
}

/// Returns the step of a run's checkpoint, if it has any.
///
/// # Errors
/// The checkpoint is damaged.
pub fn checkpoint_step(out: &Path) -> Result<Option<u64>, String> {
    let path = checkpoint_of(out);
    if !path.exists() {
        return Ok(None);
    }
    frazil_io::Checkpoint::read(&path)
        .map(|checkpoint| Some(checkpoint.step))
        .map_err(|error| error.to_string())
}

/// Removes a folder, if there is one.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}
