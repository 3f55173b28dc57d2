//! Tests of the window on a virtual screen.

use crate::snow::SCENE;
use crate::tool::{SMALL, command, picture, stderr, succeed, wait_until};
use frazil_io::{Recording, RecordingWriter};
use frazil_testkit::{VirtualScreen, keys};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const WIDTH: usize = 640;
const HEIGHT: usize = 360;
/// Right edge of the panel and its shadow, in pixels.
const PANEL_RIGHT: usize = 340;

/// Returns the small scene with the size of a window.
fn sized(verb: &'static str, arguments: &[&str]) -> Command {
    let size = ["--set", "render.width_px=640", "--set", "render.height_px=360"];
    command(&[&[verb], SMALL, &size[..], arguments].concat())
}

/// Returns the picture of step 12 by a run without a window, and the recording with that step.
fn without_window(folder: &Path) -> (Vec<u8>, PathBuf) {
    let out = folder.join("run");
    let cadences = ["--steps", "12", "--render", "12", "--record", "6", "--quiet"];
    succeed(&mut sized("run", &[&cadences[..], &["--out", out.to_str().unwrap()]].concat()));
    let (width, height, pixels) = picture(&out.join("frames/frame_000001.png"));
    assert_eq!((width as usize, height as usize), (WIDTH, HEIGHT));
    (pixels, out.join("recording.frazil-rec"))
}

/// Splits pixels into those left and right of `x`, row by row.
fn split(pixels: &[u8], x: usize) -> (Vec<u8>, Vec<u8>) {
    let rows = || pixels.chunks_exact(3 * WIDTH);
    (
        rows().flat_map(|row| &row[..3 * x]).copied().collect(),
        rows().flat_map(|row| &row[3 * x..]).copied().collect(),
    )
}

/// Stops a program once the awaited state is shown.
fn stop(mut child: Child) -> Output {
    child.kill().unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn the_window_shows_the_picture_of_a_run_with_the_panel_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let (expected, _) = without_window(folder.path());
    let screen = VirtualScreen::start(folder.path());
    let shot = folder.path().join("shot.png");
    let arguments = ["--steps", "12", "--screenshot", shot.to_str().unwrap()];
    let mut view = sized("view", &arguments);
    let child = view.env("DISPLAY", &screen.display).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("screenshot", || shot.exists());
    let (left, right) = split(&expected, PANEL_RIGHT);
    // The window system may show a picture with a delay.
    wait_until("picture beside the panel", || split(&screen.corner(WIDTH, HEIGHT), PANEL_RIGHT).1 == right);
    let shown = split(&screen.corner(WIDTH, HEIGHT), PANEL_RIGHT).0;
    let said = stderr(&stop(child));
    let covered = shown.chunks_exact(3).zip(left.chunks_exact(3)).filter(|(a, b)| a != b).count();
    assert!(covered > 10_000, "the panel covers {covered} pixels; {said}");
    let colours: std::collections::HashSet<&[u8]> = shown.chunks_exact(3).collect();
    assert!(colours.len() > 200, "a panel of {} colours", colours.len());
    assert!(picture(&shot).2 == expected, "the screenshot is the picture without the panel");
}

#[test]
fn without_its_panel_the_window_shows_the_pictures_of_the_run_and_closes_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (expected, recording) = without_window(folder.path());
    let screen = VirtualScreen::start(folder.path());
    let shot = folder.path().join("shot.png");
    let view = |arguments: &[&str]| {
        let alone = ["view", recording.to_str().unwrap(), "--steps", "12", "--hide-overlay"];
        let mut view = command(&[&alone[..], arguments].concat());
        view.env("DISPLAY", &screen.display);
        view
    };
    let child = view(&[]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("picture of the recording", || screen.corner(WIDTH, HEIGHT) == expected);
    stop(child);
    succeed(&mut view(&["--screenshot", shot.to_str().unwrap(), "--exit"]));
    assert!(picture(&shot).2 == expected);
}

#[test]
fn a_window_follows_a_recording_that_is_still_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let (expected, recording) = without_window(folder.path());
    let mut whole = Recording::open(&recording).unwrap();
    let growing = folder.path().join("growing.frazil-rec");
    let mut writer = RecordingWriter::create(&growing, whole.meta()).unwrap();
    writer.append(&whole.frame(0).unwrap()).unwrap();
    let screen = VirtualScreen::start(folder.path());
    let mut view = command(&["view", growing.to_str().unwrap(), "--hide-overlay"]);
    let child = view.env("DISPLAY", &screen.display).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("picture of the first frame", || screen.corner(WIDTH, HEIGHT).iter().any(|&byte| byte != 0));
    assert!(screen.corner(WIDTH, HEIGHT) != expected);
    writer.append(&whole.frame(1).unwrap()).unwrap();
    writer.append(&whole.frame(2).unwrap()).unwrap();
    wait_until("picture of the frame that was appended", || screen.corner(WIDTH, HEIGHT) == expected);
    writer.finish().unwrap();
    stop(child);
}

#[test]
fn a_recording_is_played_backwards_in_a_window() {
    let folder = tempfile::tempdir().unwrap();
    let (last, recording) = without_window(folder.path());
    let first = picture(&folder.path().join("run/frames/frame_000000.png")).2;
    let screen = VirtualScreen::start(folder.path());
    let mut play = command(&["play", recording.to_str().unwrap(), "--speed", "-0.05"]);
    let child = play.env("DISPLAY", &screen.display).stderr(Stdio::piped()).spawn().unwrap();
    let beside_panel = |expected: &[u8]| {
        let (shown, expected) =
            (split(&screen.corner(WIDTH, HEIGHT), PANEL_RIGHT).1, split(expected, PANEL_RIGHT).1);
        shown == expected
    };
    wait_until("picture of the last frame", || beside_panel(&last));
    wait_until("picture of the first frame", || beside_panel(&first));
    stop(child);
}

#[test]
fn a_window_shows_the_pictures_of_the_run_live_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let size = ["--set", "render.width_px=640", "--set", "render.height_px=360"];
    let cadences = ["--steps", "12", "--render", "12", "--record", "12", "--quiet"];
    let run = [&["run", SCENE], &size[..], &cadences, &["--out", out.to_str().unwrap()]].concat();
    succeed(&mut command(&run));
    let expected = picture(&out.join("frames/frame_000001.png")).2;
    let screen = VirtualScreen::start(folder.path());
    let recording = out.join("recording.frazil-rec");
    let live = [&[SCENE], &size[..]].concat();
    let recorded = [("recorded.png", &recording), ("folder.png", &out)];
    let recorded = recorded.map(|(name, path)| (name, vec![path.to_str().unwrap()]));
    for (name, shown) in [("live.png", live)].into_iter().chain(recorded) {
        let shot = folder.path().join(name);
        let plan = ["--steps", "12", "--screenshot", shot.to_str().unwrap(), "--exit"];
        let mut view = command(&[&["view"], &shown[..], &plan].concat());
        succeed(view.env("DISPLAY", &screen.display));
        assert!(picture(&shot).2 == expected, "{name}");
    }
}

#[test]
fn keys_go_back_and_forth_between_steps_and_write_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    // Seen from behind, the water is beside the panel.
    let camera = ["--set", "render.camera.azimuth_deg=200", "--steps", "12"];
    let cadences = ["--render", "1", "--quiet", "--out", out.to_str().unwrap()];
    succeed(&mut sized("run", &[&camera[..], &cadences].concat()));
    let of_step = |step: u32| picture(&out.join(format!("frames/frame_{step:06}.png"))).2;
    let screen = VirtualScreen::start(folder.path());
    let written = folder.path().join("written");
    std::fs::create_dir(&written).unwrap();
    let mut view = sized("view", &camera);
    view.env("DISPLAY", &screen.display).current_dir(&written);
    let child = view.stderr(Stdio::piped()).spawn().unwrap();
    let beside_panel = |pixels: &[u8]| split(pixels, PANEL_RIGHT).1;
    let shows = |step: u32| {
        let expected = beside_panel(&of_step(step));
        wait_until("picture of a step", || beside_panel(&screen.corner(WIDTH, HEIGHT)) == expected);
    };
    shows(12);
    let input = screen.input();
    for (place, (key, step)) in [(keys::LEFT, 11), (keys::HOME, 0), (keys::END, 12)].into_iter().enumerate() {
        input.press(key, &[]);
        shows(step);
        input.press(u32::from(b's'), &[]);
        let number = if place == 0 { String::new() } else { format!("-{}", place + 1) };
        let file = written.join(format!("dam_break{number}.png"));
        wait_until("screenshot", || {
            file.exists() && std::fs::read(&file).unwrap().ends_with(b"IEND\xaeB`\x82")
        });
        assert!(picture(&file).2 == of_step(step), "step {step}");
    }
    // The plot and the values of a particle cover parts of the picture, and the pointer a few pixels.
    let at_12 = beside_panel(&of_step(12));
    let n_covered = || {
        let shown = beside_panel(&screen.corner(WIDTH, HEIGHT));
        shown.chunks_exact(3).zip(at_12.chunks_exact(3)).filter(|(a, b)| a != b).count()
    };
    input.press(u32::from(b'm'), &[]);
    wait_until("plot of metrics", || n_covered() > 20_000);
    input.press(u32::from(b'm'), &[]);
    wait_until("picture without the plot", || n_covered() < 500);
    let [x, y] = particle_pixel(&of_step(12));
    input.click(x, y);
    wait_until("values of a particle", || n_covered() > 5_000);
    input.press(u32::from(b'v'), &[]);
    input.press(u32::from(b'v'), &[]);
    let is_video =
        |path: &Path| path.extension().is_some_and(|extension| extension == "y4m" || extension == "mp4");
    wait_until("video", || {
        std::fs::read_dir(&written).unwrap().any(|entry| is_video(&entry.unwrap().path()))
    });
    input.press(u32::from(b'c'), &[]);
    input.press(u32::from(b'z'), &[keys::CONTROL]);
    let said = stderr(&stop(child));
    assert!(said.contains("wrote ./dam_break.png") && !said.contains("panicked"), "{said}");
}

#[cfg(feature = "shader-reload")]
#[test]
fn edited_shaders_are_used_by_an_open_window_and_their_errors_do_not_close_it() {
    use std::fs;
    let folder = tempfile::tempdir().unwrap();
    // Seen from behind, the water is beside the panel.
    let out = folder.path().join("run");
    let camera =
        ["--set", "render.camera.azimuth_deg=200", "--set", "render.scheme=sprites", "--steps", "12"];
    succeed(&mut sized("run", &[&camera[..], &["--render", "12", "--out", out.to_str().unwrap()]].concat()));
    let expected = split(&picture(&out.join("frames/frame_000001.png")).2, PANEL_RIGHT).1;
    let engine = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../glsl"));
    let glsl = folder.path().join("glsl");
    let (fragment, predict) = (glsl.join("render/particles.frag"), glsl.join("pbd/predict.comp"));
    for file in ["render/particles.vert", "render/particles.frag", "pbd/predict.comp"] {
        fs::create_dir_all(glsl.join(file).parent().unwrap()).unwrap();
        fs::copy(engine.join(file), glsl.join(file)).unwrap();
    }
    let edit = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let screen = VirtualScreen::start(folder.path());
    let (log, arguments) = (folder.path().join("log"), ["--shaders", glsl.to_str().unwrap()]);
    let mut view = sized("view", &[&camera[..], &arguments].concat());
    view.env("DISPLAY", &screen.display).stderr(fs::File::create(&log).unwrap());
    let mut child = view.spawn().unwrap();
    let n_changed = || {
        let shown = split(&screen.corner(WIDTH, HEIGHT), PANEL_RIGHT).1;
        shown.chunks_exact(3).zip(expected.chunks_exact(3)).filter(|(a, b)| a != b).count()
    };
    // The pointer covers a few pixels.
    let is_expected = || n_changed() < 300;
    let said = |text: &str| fs::read_to_string(&log).unwrap().matches(text).count();
    wait_until("picture of the run", is_expected);
    edit(&fragment, "vec4(shown,", "vec4(shown.bgr,");
    wait_until("replaced fragment shader", || said("replaced render.particles") == 1);
    wait_until("picture in other colours", || n_changed() > 1_000);
    edit(&fragment, "shown.bgr", "shown.undeclared");
    wait_until("message of the compiler", || n_changed() > 20_000);
    edit(&fragment, "shown.undeclared", "shown");
    wait_until("picture as before", is_expected);

    // A kernel that breaks the state: the window returns to the step at which it was replaced.
    edit(&predict, "predicted[i] = confined", "predicted[i] = 1e30 * (velocity[i] + 1.0)");
    wait_until("replaced kernel", || said("step 12: replaced pbd.predict") == 1);
    let input = screen.input();
    // Results are collected while later steps are in flight.
    (0..3).for_each(|_| input.press(keys::RIGHT, &[]));
    wait_until("error of a step", || said("; back at step 12") > 0);
    wait_until("picture of the step before the error", is_expected);
    edit(&predict, "predicted[i] = 1e30 * (velocity[i] + 1.0)", "predicted[i] = confined");
    wait_until("replaced kernel", || said("step 12: replaced pbd.predict") == 2);
    input.press(keys::RIGHT, &[]);
    wait_until("picture of the next step", || !is_expected());
    assert!(child.try_wait().unwrap().is_none(), "{}", fs::read_to_string(&log).unwrap());
    stop(child);
}

/// Returns a pixel of the particles right of the panel: one that is far from the colours of its surroundings.
fn particle_pixel(pixels: &[u8]) -> [i16; 2] {
    let at = |x: usize, y: usize| &pixels[3 * (y * WIDTH + x)..][..3];
    let is_blue = |x: usize, y: usize| {
        let [r, _, b] = [0, 1, 2].map(|component| i32::from(at(x, y)[component]));
        b > r + 20
    };
    let found = (0..HEIGHT - 8).rev().find_map(|y| {
        let inside = |x: &usize| (*x - 4..*x + 4).all(|x| (y..y + 8).all(|y| is_blue(x, y)));
        (PANEL_RIGHT + 8..WIDTH - 8).find(inside).map(|x| [x as i16, y as i16 + 4])
    });
    found.expect("a particle beside the panel")
}

#[test]
fn a_missing_display_and_bad_arguments_are_refused() {
    let refuse = |arguments: &[&str], display: Option<&str>, status: i32, said: &str| {
        let mut view = command(&[&["view"], arguments].concat());
        let output = view.envs(display.map(|display| ("DISPLAY", display))).output().unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
        assert!(message.contains(said) && !message.contains("panicked"), "{arguments:?}: {message}");
    };
    refuse(&["dam_break"], None, 3, "no window system");
    refuse(&["dam_break"], Some(":987"), 3, "no window system");
    refuse(&["nosuch"], None, 2, "no built-in scene");
    refuse(&["nosuch.frazil-rec"], None, 2, "cannot open nosuch.frazil-rec");
    refuse(&["nosuch.frazil-rec", "--seed", "1"], None, 2, "a recording is what it is");
    let set = ["nosuch.frazil-rec", "--set", "time.dt_s=1"];
    refuse(&set, None, 2, "expected a key of how it is shown");
    refuse(&["dam_break", "--exit"], None, 2, "--steps");
}
