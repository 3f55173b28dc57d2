//! Actions of the user in a window.

use super::parameters::Edit;
use frazil_render::{Clip, ColorMap};
use frazil_scene::RenderScheme;

/// User action, by the panel or by a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    TogglePlay,
    /// Advances by one step, or by one frame of a recording.
    Forward,
    /// Goes back by one step, or by one frame of a recording.
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
    ToggleMetrics,
    /// Chooses the metric whose plot is shown, by its index.
    PlotMetric(usize),
    /// Sets colour map and range of the property that is shown.
    Legend {
        map: ColorMap,
        range: [f32; 2],
    },
    /// Determines colour map and range of the property anew.
    ResetLegend,
    ToggleHistogram,
    /// Shows only particles in a layer of space, or all.
    Clip(Option<Clip>),
    /// Shows the values of the particle with this id no longer, or those of another.
    Pick(Option<u32>),
    /// Writes the next picture to a file.
    Screenshot,
    /// Begins or ends a video.
    ToggleVideo,
    /// Goes to an earlier step of a simulation, or back to a later one that was taken before.
    SeekStep(u64),
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
