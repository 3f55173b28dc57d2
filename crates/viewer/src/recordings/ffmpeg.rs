//! Videos encoded by ffmpeg from pictures sent through a pipe.

use frazil_engine::Failure;
use frazil_io::atomic::Replacement;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::JoinHandle;

/// Maximum number of bytes kept of ffmpeg's messages.
const MAX_SAID_BYTES: u64 = 64 << 10;

/// A running ffmpeg process. The video gets its final name only when it is complete.
pub struct Ffmpeg {
    child: Child,
    said: Option<JoinHandle<String>>,
    out: PathBuf,
    /// `None` once the video has its final name.
    file: Option<Replacement>,
}

impl Ffmpeg {
    /// Starts a video in the format `mp4` or `gif`.
    pub fn start(out: &Path, format: &str, width: u32, height: u32, fps: u32) -> Result<Self, Failure> {
        let file = Replacement::of(out).map_err(Failure::file)?;
        let (size, rate) = (format!("{width}x{height}"), fps.to_string());
        let mut command = Command::new("ffmpeg");
        command.args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y"]);
        command.args(["-f", "rawvideo", "-pix_fmt", "rgba", "-s", &size, "-r", &rate, "-i", "pipe:0"]);
        match format {
            "gif" => {
                // One palette per picture: a common palette would require all pictures in memory first.
                let palettes =
                    "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=sierra2_4a";
                command.args(["-filter_complex", palettes, "-f", "gif"]);
            }
            _ => {
                // Players require 4:2:0 chroma, hence even sides, and BT.709.
                let filter =
                    "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p";
                command.args(["-vf", filter, "-colorspace", "bt709", "-color_primaries", "bt709"]);
                command.args(["-color_trc", "iec61966-2-1", "-color_range", "tv"]);
                command.args(["-movflags", "+faststart", "-f", "mp4"]);
            }
        }
        // An absolute path is no option, even if its name begins with a dash.
        command.arg(file.temporary());
        own_group(&mut command);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = piped.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::input(format!(
                "--out {}: .{format} needs ffmpeg, which is not on PATH; .y4m is written without it",
                out.display()
            )),
            _ => Failure::other(format!("cannot start ffmpeg: {error}")),
        })?;
        let said = child.stderr.take().map(|stderr| std::thread::spawn(move || listen(stderr)));
        Ok(Self { child, said, out: out.to_owned(), file: Some(file) })
    }

    /// Sends a picture of packed RGBA8 pixels.
    pub fn append(&mut self, pixels: &[u32]) -> Result<(), Failure> {
        let Some(stdin) = &mut self.child.stdin else { return Err(self.failure("its input is closed")) };
        stdin.write_all(bytemuck::cast_slice(pixels)).map_err(|error| self.failure(&error.to_string()))
    }

    /// Waits until the video is complete, and gives it its final name.
    pub fn finish(mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => match self.file.take() {
                Some(file) => file.complete().map_err(Failure::other),
                None => Ok(()),
            },
            Ok(status) => Err(self.failure(&status.to_string())),
            Err(error) => Err(self.failure(&error.to_string())),
        }
    }

    /// Returns ffmpeg's own error message, or else `what`.
    fn failure(&mut self, what: &str) -> Failure {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let said = self.said.take().and_then(|listener| listener.join().ok()).unwrap_or_default();
        let said = if said.trim().is_empty() { what } else { said.trim() };
        let out = self.out.display();
        Failure::other(format!("cannot write {out}: ffmpeg ended with {status}: {said}"))
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        // It has already ended unless something else failed. Its file is removed after it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets an interrupt on the terminal reach this program alone, which then ends the video.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Reads all messages of ffmpeg, so that it never blocks on a full pipe, and keeps the beginning.
fn listen(mut stderr: ChildStderr) -> String {
    let mut said = Vec::new();
    let _ = stderr.by_ref().take(MAX_SAID_BYTES).read_to_end(&mut said);
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    String::from_utf8_lossy(&said).into_owned()
}
