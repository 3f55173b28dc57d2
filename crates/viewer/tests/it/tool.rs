//! Test helpers: starting the program, and a scene small enough to run often.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A dam break of 6 × 12 × 3 particles with small pictures.
pub const SMALL: &[&str] = &[
    "dam_break",
    "--set",
    "time.dt_s=0.002",
    "--set",
    "fluid.particle_spacing_m=0.0243333333",
    "--set",
    "render.width_px=160",
    "--set",
    "render.height_px=90",
];
pub const SMALL_PARTICLES: usize = 216;

/// Small pictures, for commands whose pictures are not looked at.
pub const SMALL_PICTURES: [&str; 4] = ["--set", "render.width_px=160", "--set", "render.height_px=90"];

/// Returns the command of the program with `arguments`, not yet started. Validation is on: no test may
/// provoke a message.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
    command
        .args(arguments)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        // No test measures for the user's log.
        .env("FRAZIL_HISTORY", "0")
        // Kernels that Mesa compiled for other tests, for those with a cache folder of their own, too.
        .envs(mesa_cache().map(|folder| ("MESA_SHADER_CACHE_DIR", folder)))
        .env("FRAZIL_VALIDATION", if frazil_testkit::is_gpu_assisted() { "gpu" } else { "1" })
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    command
}

/// Returns the folder in which Mesa keeps compiled kernels by default.
fn mesa_cache() -> Option<PathBuf> {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    folder("MESA_SHADER_CACHE_DIR")
        .or_else(|| folder("XDG_CACHE_HOME"))
        .or_else(|| Some(folder("HOME")?.join(".cache")))
}

/// Runs `frazil run` of the small scene into `out`, with additional `arguments`.
pub fn run_small(out: &Path, arguments: &[&str]) -> Command {
    let out = out.to_str().unwrap();
    command(&[&["run"], SMALL, &["--out", out, "--quiet"], arguments].concat())
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a command, which must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, stderr(&output));
    output
}

/// Returns the hash of the final state from a run's folder.
pub fn state_hash(out: &Path) -> String {
    frazil_io::RunInfo::read(&out.join("run.json")).unwrap().final_state_hash.unwrap()
}

/// Returns the width, height and RGB bytes of a PNG file.
pub fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width, info.height, pixels)
}

/// Timeout that detects hangs; the awaited events take seconds on a slow machine.
const HANG_LIMIT: Duration = Duration::from_secs(300);

/// Waits until `done`, or panics after the timeout.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANG_LIMIT;
    while !done() {
        assert!(Instant::now() < deadline, "still no {what} after {HANG_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
