//! Actions of the user in a window.

use super::parameters::Edit;
use frazil_scene::RenderScheme;

/// User action, by the panel or by a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    TogglePlay,
    /// Advances by one step, or by one frame of a recording.
    Forward,
    /// Goes back by one frame of a recording.
    Back,
    Reset,
    ColourBy(String),
    Scheme(RenderScheme),
    StepsPerPicture(u64),
    Seek(usize),
    /// Goes to the first frame of a recording, or to the last.
    ToEnd(End),
    /// Plays a recording towards one of its ends, faster if repeated.
    Play(End),
    Pause,
    ToggleHelp,
    ToggleParameters,
    /// Changes parameters of a simulation.
    Edit(Edit),
    /// Recorded frames per picture, negative for backwards.
    Speed(f64),
}

/// An end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    First,
    Last,
}
