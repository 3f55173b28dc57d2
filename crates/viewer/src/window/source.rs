//! Source of the pictures of a window: a simulation or a recording.

use super::args::ViewArgs;
use super::live::Live;
use crate::recordings::{Playback, Player, recording_at};
use frazil_engine::Failure;
use frazil_engine::picture::{self, Shown};
use frazil_io::{RECORDING_EXTENSION, Recording};
use frazil_scene::Scene;
use frazil_vk::Device;
use std::path::Path;

/// Default frames per second of a recording.
const PICTURES_PER_S: f64 = 60.0;

/// Validated input of a source, before a device or a window exists.
pub enum Requested {
    /// A scene, and its path or name.
    Scene(Box<Scene>, String),
    Recording(Box<Recording>, Box<Scene>, Playback),
}

/// A simulation or a recording on a device.
pub enum Source {
    Live(Box<Live>),
    Player(Box<Player>),
}

impl Requested {
    pub fn open(args: &ViewArgs) -> Result<Self, Failure> {
        let path = Path::new(&args.source);
        // A folder may have the name of a built-in scene, which is what `--out` often ends with.
        let is_run = path.is_dir() && !frazil_scene::builtin().iter().any(|scene| scene.name == args.source);
        if is_run || path.extension().is_some_and(|extension| extension == RECORDING_EXTENSION) {
            let (recording, scene) = Player::open(&recording_at(path), &args.changes)?;
            let times: Vec<(u64, f64)> = recording.times().collect();
            let playback = Playback::in_real_time(&times, PICTURES_PER_S);
            return Ok(Self::Recording(Box::new(recording), Box::new(scene), playback));
        }
        Ok(Self::Scene(Box::new(args.changes.load(&args.source)?), args.source.clone()))
    }

    pub fn scene(&self) -> &Scene {
        match self {
            Self::Scene(scene, _) | Self::Recording(_, scene, _) => scene,
        }
    }

    /// Creates the source on a device.
    pub fn start(self, device: &Device) -> Result<Source, Failure> {
        Ok(match self {
            Self::Scene(scene, source) => Source::Live(Box::new(Live::new(device, *scene, &source)?)),
            Self::Recording(recording, scene, playback) => {
                Source::Player(Box::new(Player::new(device, *recording, *scene, playback)?))
            }
        })
    }
}

impl Source {
    pub fn scene(&self) -> &Scene {
        match self {
            Self::Live(live) => &live.simulation.scene,
            Self::Player(player) => &player.scene,
        }
    }

    pub fn step(&self) -> u64 {
        match self {
            Self::Live(live) => live.simulation.step(),
            Self::Player(player) => player.step(),
        }
    }

    pub fn time_s(&self) -> f64 {
        match self {
            Self::Live(live) => live.simulation.time_s(),
            Self::Player(player) => player.time_s(),
        }
    }

    pub fn n_particles(&self) -> usize {
        match self {
            Self::Live(live) => live.n_particles(),
            Self::Player(player) => player.n_particles(),
        }
    }

    pub fn shown(&self) -> Shown<'_> {
        match self {
            Self::Live(live) => live.shown(),
            Self::Player(player) => player.shown(),
        }
    }

    /// Returns the property that the scene's pictures show, or a substitute.
    pub fn property(&self) -> Result<String, Failure> {
        let requested = picture::property(self.scene());
        match self {
            Self::Live(_) => Ok(requested.to_owned()),
            Self::Player(player) => player.property(requested),
        }
    }

    /// Restarts from the beginning.
    pub fn reset(&mut self) -> Result<(), Failure> {
        match self {
            Self::Live(live) => live.restart(),
            Self::Player(player) => player.seek(player.playback.first()),
        }
    }
}
