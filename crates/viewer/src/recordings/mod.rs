//! Recordings as commands and the window use them: which frame to show, its particles on the device, damage,
//! and the videos and pictures that are made of it.

pub mod damage;
mod ffmpeg;
mod moment;
mod playback;
mod player;
pub mod rigid_bodies;
mod sink;

pub use moment::Moment;
pub use playback::Playback;
pub use player::{Player, check_shown};
pub use sink::Sink;

use frazil_engine::outputs::Folder;
use std::path::{Path, PathBuf};

/// Returns the recording at a path: the file itself, or that of a run in its output folder.
pub fn recording_at(path: &Path) -> PathBuf {
    if path.is_dir() { Folder::existing(path).recording() } else { path.to_owned() }
}
