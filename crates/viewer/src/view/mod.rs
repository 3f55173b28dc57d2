//! `frazil view`: shows a live simulation or a recording in a window.

mod action;
mod capture;
mod colours_panel;
mod hand;
mod histogram;
mod keys;
mod live;
mod panel;
mod parameters;
mod parameters_panel;
mod picked;
mod plan;
mod playback;
mod player;
mod pointer;
mod series;
mod source;
mod timeline;
mod window;

pub use plan::Plan;
pub use playback::Playback;
pub use player::{Player, check_shown};
pub use source::Requested;

use crate::args::ViewArgs;
use crate::failure::Failure;
use window::App;
use winit::error::EventLoopError;
use winit::event_loop::EventLoop;

/// Opens the window and returns when it is closed.
pub fn view(args: &ViewArgs, validation: bool) -> Result<(), Failure> {
    let requested = Requested::open(args)?;
    let plan = Plan {
        pause_at: args.steps,
        screenshot: args.screenshot.clone(),
        exit: args.exit,
        hide_overlay: args.hide_overlay,
        show_parameters: args.parameters,
        show_help: args.keys,
    };
    open_window(requested, plan, args.device.device.clone(), validation)
}

/// Opens a window on a source and returns when it is closed.
pub fn open_window(
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

fn no_display(error: EventLoopError) -> Failure {
    let text = error.to_string();
    // The message of the window library begins with a location in its own source, which is removed.
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "))
        .map_or(text.as_str(), |(_, cause)| cause);
    let cause = cause.trim_end_matches(['.', ')']);
    Failure::device(format!(
        "no window system to open a window on: {cause}; `frazil run` and `frazil play --out` draw pictures without one"
    ))
}
