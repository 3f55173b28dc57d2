//! `frazil view`: shows a live simulation or a recording in a window (feature `window`).

#[cfg(feature = "window")]
mod action;
#[cfg(feature = "window")]
mod app;
mod args;
#[cfg(feature = "window")]
mod capture;
#[cfg(feature = "window")]
mod colours_panel;
#[cfg(feature = "window")]
mod drag_tool;
#[cfg(feature = "window")]
mod histogram;
#[cfg(feature = "window")]
mod keys;
#[cfg(feature = "window")]
mod live;
#[cfg(feature = "window")]
mod panel;
#[cfg(feature = "window")]
mod parameters;
#[cfg(feature = "window")]
mod parameters_panel;
#[cfg(feature = "window")]
mod picked;
#[cfg(feature = "window")]
mod plan;
#[cfg(feature = "window")]
mod pointer;
#[cfg(feature = "window")]
mod series;
#[cfg(feature = "window")]
#[cfg_attr(not(feature = "shader-reload"), path = "no_shaders.rs")]
mod shaders;
#[cfg(feature = "window")]
mod source;
#[cfg(feature = "window")]
mod timeline;

use crate::recordings::Playback;
#[cfg(feature = "window")]
use app::App;
pub use args::ViewArgs;
use frazil_engine::Failure;
use frazil_io::Recording;
use frazil_scene::Scene;
#[cfg(feature = "window")]
use plan::Plan;
#[cfg(feature = "window")]
use source::Requested;
#[cfg(feature = "window")]
use winit::error::EventLoopError;
#[cfg(feature = "window")]
use winit::event_loop::EventLoop;

/// Opens the window and returns when it is closed.
#[cfg(feature = "window")]
pub fn view(args: &ViewArgs, validation: bool) -> Result<(), Failure> {
    let requested = Requested::open(args)?;
    let plan = Plan {
        pause_at: args.steps,
        screenshot: args.screenshot.clone(),
        exit: args.exit,
        hide_overlay: args.hide_overlay,
        show_parameters: args.parameters,
        show_help: args.keys,
        shaders: args.shaders.clone(),
    };
    open_window(requested, plan, args.device.device.clone(), validation)
}

/// Plays a recording in a window and returns when it is closed.
#[cfg(feature = "window")]
pub fn play(
    recording: Recording,
    scene: Scene,
    playback: Playback,
    device: Option<String>,
    validation: bool,
) -> Result<(), Failure> {
    let requested = Requested::Recording(Box::new(recording), Box::new(scene), playback);
    open_window(requested, Plan::default(), device, validation)
}

/// Refuses to open a window.
#[cfg(not(feature = "window"))]
pub fn view(_: &ViewArgs, _: bool) -> Result<(), Failure> {
    Err(no_window())
}

/// Refuses to open a window.
#[cfg(not(feature = "window"))]
pub fn play(_: Recording, _: Scene, _: Playback, _: Option<String>, _: bool) -> Result<(), Failure> {
    Err(no_window())
}

#[cfg(not(feature = "window"))]
fn no_window() -> Failure {
    Failure::input(
        "this build has no window: it was made with --no-default-features, expected the feature \"window\"; \
         `frazil run` and `frazil play --out` draw pictures without one",
    )
}

/// Opens a window on a source and returns when it is closed.
#[cfg(feature = "window")]
fn open_window(
    requested: Requested,
    plan: Plan,
    device: Option<String>,
    validation: bool,
) -> Result<(), Failure> {
    let event_loop = EventLoop::new().map_err(no_display)?;
    let mut app = App::new(requested, plan, device, validation);
    event_loop.run_app(&mut app).map_err(no_display)?;
    app.end()
}

#[cfg(feature = "window")]
fn no_display(error: EventLoopError) -> Failure {
    let text = error.to_string();
    // The message of the window library begins with a location in its own source, which is removed.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "))
        .map_or(text.as_str(), |(_, cause)| cause);
    let cause = cause.trim_end_matches(['.', ')']);
    Failure::device(format!(
        "no window system to open a window on: {cause}; `frazil run` and `frazil play --out` draw pictures \
         without one"
    ))
}
