//! Recordings as commands and the window use them: which frame to show, its particles on the device, damage,
//! and the videos and pictures that are made of it.

pub mod damage;
mod ffmpeg;
mod moment;
mod playback;
mod player;
mod sink;
pub mod slab_files;

pub use moment::Moment;
pub use playback::Playback;
pub use player::{Player, check_shown};
pub use sink::Sink;
