//! Output of the pictures of a recording.

use super::ffmpeg::Ffmpeg;
use frazil_engine::Failure;
use frazil_engine::outputs::{create_dir, refuse_file, refuse_populated};
use frazil_io::Y4mWriter;
use std::fs;
use std::path::{Path, PathBuf};

/// A video or a folder of pictures, depending on the file extension.
pub enum Sink {
    Ffmpeg(Ffmpeg),
    Y4m(Box<Y4mWriter>),
    Pictures { folder: PathBuf, size: (u32, u32), n_written: u64 },
}

impl Sink {
    /// Returns true if videos can be encoded as mp4 and gif.
    #[cfg(feature = "window")]
    pub fn has_ffmpeg() -> bool {
        use std::process::{Command, Stdio};
        let version =
            Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    }

    /// Creates the output. A file, or a folder with files, is refused unless it may be replaced.
    pub fn create(out: &Path, width: u32, height: u32, fps: u32, may_replace: bool) -> Result<Self, Failure> {
        let extension = out.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let is_video = matches!(extension.as_deref(), Some("mp4" | "gif" | "y4m"));
        match is_video {
            _ if may_replace => {}
            true => refuse_file("--out", out)?,
            false => refuse_populated(out)?,
        }
        match extension.as_deref() {
            Some(format @ ("mp4" | "gif")) => {
                Ok(Self::Ffmpeg(Ffmpeg::start(out, format, width, height, fps)?))
            }
            Some("y4m") => {
                let video = Y4mWriter::create(out, width, height, fps).map_err(Failure::file)?;
                Ok(Self::Y4m(Box::new(video)))
            }
            Some(other) if !out.is_dir() => Err(Failure::input(format!(
                "--out {}: found .{other}, expected a video's name that ends in .mp4, .gif or .y4m, or a \
                 folder",
                out.display()
            ))),
            _ => {
                create_dir(out)?;
                let sink = Self::Pictures { folder: out.to_owned(), size: (width, height), n_written: 0 };
                sink.clear()?;
                Ok(sink)
            }
        }
    }

    /// Removes the pictures of an earlier video, which could be mistaken for pictures of this one.
    fn clear(&self) -> Result<(), Failure> {
        let Self::Pictures { folder, .. } = self else { return Ok(()) };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_picture = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix("frame_").and_then(|name| name.strip_suffix(".png"));
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        for path in entries.map(|entry| entry.path()).filter(is_picture) {
            fs::remove_file(&path).map_err(|error| {
                Failure::output(&error, format!("cannot replace {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }

    /// Writes a picture of packed RGBA8 pixels.
    pub fn append(&mut self, pixels: &[u32]) -> Result<(), Failure> {
        match self {
            Self::Ffmpeg(ffmpeg) => ffmpeg.append(pixels),
            Self::Y4m(video) => video.append(pixels).map_err(Failure::other),
            Self::Pictures { folder, size: (width, height), n_written } => {
                let path = folder.join(format!("frame_{n_written:06}.png"));
                *n_written += 1;
                frazil_render::write_png(&path, *width, *height, pixels).map_err(Failure::other)
            }
        }
    }

    /// Completes a video and gives it its final name.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Ffmpeg(ffmpeg) => ffmpeg.finish(),
            Self::Y4m(video) => video.finish().map_err(Failure::other),
            Self::Pictures { .. } => Ok(()),
        }
    }
}
