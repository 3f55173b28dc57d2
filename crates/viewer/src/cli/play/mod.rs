//! `frazil play`: plays a recording in a window, or writes it as a video.

mod args;

use crate::cli::interrupt;
use crate::recordings::damage;
use crate::recordings::{Playback, Player, Sink, recording_at};
use crate::say;
use crate::window;
pub use args::PlayArgs;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::picture::{self, Painter};
use frazil_io::Recording;
use frazil_scene::Scene;
use frazil_vk::ReadbackRing;
use std::path::Path;

/// Plays a recording.
pub fn play(args: &PlayArgs, validation: bool) -> Result<(), Failure> {
    let path = recording_at(&args.recording);
    let (recording, scene) = Player::open(&path, &args.changes)?;
    let times: Vec<(u64, f64)> = recording.times().collect();
    let fps = args.fps.into();
    let playback = args
        .steps_per_frame
        .map_or_else(
            || Playback::new(&times, args.speed, fps),
            |steps| Playback::of_steps(&times, steps, fps),
        )
        .between(&times, args.from, args.to)
        .map_err(|problem| Failure::input(format!("{}: {problem}", path.display())))?;
    if let Some(out) = &args.out {
        return write(args, recording, scene, playback, out, validation);
    }
    window::play(recording, scene, playback, args.device.device.clone(), validation)
}

/// Draws every picture and writes it to a file; no window is needed.
fn write(
    args: &PlayArgs,
    recording: Recording,
    scene: Scene,
    playback: Playback,
    out: &Path,
    validation: bool,
) -> Result<(), Failure> {
    let (width, height) = (scene.render.width_px, scene.render.height_px);
    // A path that cannot be written is reported before the device is opened.
    let mut sink = Sink::create(out, width, height, args.fps, args.overwrite)?;
    if let Some(problem) = damage::unfinished(&recording) {
        say::note(format_args!("warning: {problem}"));
    }
    interrupt::flag();
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let frames: Vec<usize> = playback.frames(recording.len()).collect();
    let mut player = Player::new(&device, recording, scene, playback)?;
    let mut painter = Painter::new(&device, &player.scene, player.n_particles())?;
    let (camera, ring) = (picture::camera(&player.scene), ReadbackRing::new(&device));
    let mut pixels = Vec::new();
    let mut drawn = None;
    let mut n_written = 0;
    for &frame in frames.iter().take_while(|_| !interrupt::is_set()) {
        if drawn != Some(frame) {
            player.seek(frame)?;
            let property = player.property(picture::property(&player.scene))?;
            let mut recorder = device.recorder()?;
            let image = painter.record(&mut recorder, &player.shown(), camera, &property, player.time_s())?;
            let pending = ring.read_image(&mut recorder, image)?;
            device.submit(recorder)?;
            pixels = pending.wait()?;
            device.check_validation()?;
            drawn = Some(frame);
        }
        sink.append(&pixels)?;
        n_written += 1;
    }
    let (n, out) = (frames.len(), out.display());
    if n_written == 0 {
        return Err(interrupt::failure("no picture was drawn"));
    }
    sink.finish()?;
    if n_written < n {
        return Err(interrupt::failure(format_args!("{n_written} of {n} pictures are in {out}")));
    }
    say::note(format_args!("{n} pictures of {width} × {height} at {} fps are in {out}", args.fps));
    player.check_whole()
}
