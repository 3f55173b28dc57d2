//! Screenshots and videos of a window.

use crate::recordings::Sink;
use frazil_engine::Failure;
use frazil_vk::Pending;
use std::path::{Path, PathBuf};

/// Frames per second of a video, as the window draws them at most.
const FPS: u32 = 30;
/// Number of copies of pictures in flight to the host.
const MAX_PENDING: usize = 3;

/// Pictures of a window on their way to files.
pub struct Capture {
    /// Folder and beginning of the names of files.
    folder: PathBuf,
    name: String,
    /// True if the next picture becomes a screenshot.
    pub is_requested: bool,
    video: Option<Video>,
}

struct Video {
    path: PathBuf,
    size: (u32, u32),
    sink: Sink,
    pending: Vec<Pending<u32>>,
    n_pictures: u64,
}

impl Capture {
    /// Writes files into a folder, with names that begin with that of the scene.
    pub fn new(folder: PathBuf, scene: &str) -> Self {
        Self { folder, name: scene.to_owned(), is_requested: false, video: None }
    }

    /// Returns true while pictures are added to a video.
    pub fn is_filming(&self) -> bool {
        self.video.is_some()
    }

    /// Returns true if the next picture is wanted on the host.
    pub fn wants_picture(&self) -> bool {
        self.is_requested || self.is_filming()
    }

    /// Begins a video of pictures of a size, or ends it. Returns a message for the user.
    pub fn toggle_video(&mut self, size: (u32, u32)) -> Result<String, Failure> {
        if let Some(video) = self.video.take() {
            return video.finish();
        }
        let extension = if Sink::has_ffmpeg() { "mp4" } else { "y4m" };
        let path = free_path(&self.folder, &self.name, extension)?;
        let sink = Sink::create(&path, size.0, size.1, FPS, false)?;
        let message = format!("recording {}", path.display());
        self.video = Some(Video { path, size, sink, pending: Vec::new(), n_pictures: 0 });
        Ok(message)
    }

    /// Takes a picture of a size for what is wanted; returns a message once a file is complete.
    pub fn take(&mut self, picture: Pending<u32>, size: (u32, u32)) -> Result<Option<String>, Failure> {
        if std::mem::take(&mut self.is_requested) {
            let path = free_path(&self.folder, &self.name, "png")?;
            let pixels = picture.wait()?;
            frazil_render::write_png(&path, size.0, size.1, &pixels).map_err(Failure::other)?;
            if let Some(video) = self.video.as_mut().filter(|video| video.size == size) {
                video.append(&pixels)?;
            }
            return Ok(Some(format!("wrote {}", path.display())));
        }
        match &mut self.video {
            Some(video) if video.size == size => {
                video.pending.push(picture);
                video.collect(MAX_PENDING)?;
                Ok(None)
            }
            // All pictures of a video have one size.
            Some(_) => self.video.take().map(Video::finish).transpose(),
            None => Ok(None),
        }
    }

    /// Completes a video that has begun.
    pub fn finish(&mut self) -> Result<Option<String>, Failure> {
        self.video.take().map(Video::finish).transpose()
    }
}

impl Video {
    /// Writes pictures that have arrived, until at most `leave` are pending.
    fn collect(&mut self, leave: usize) -> Result<(), Failure> {
        while self.pending.len() > leave {
            let pixels = self.pending.remove(0).wait()?;
            self.append(&pixels)?;
        }
        Ok(())
    }

    fn append(&mut self, pixels: &[u32]) -> Result<(), Failure> {
        // Earlier pictures come first.
        for picture in std::mem::take(&mut self.pending) {
            self.sink.append(&picture.wait()?)?;
            self.n_pictures += 1;
        }
        self.n_pictures += 1;
        self.sink.append(pixels)
    }

    fn finish(mut self) -> Result<String, Failure> {
        self.collect(0)?;
        let (path, n) = (self.path.clone(), self.n_pictures);
        self.sink.finish()?;
        Ok(format!("wrote {} ({n} pictures, {FPS} fps)", path.display()))
    }
}

/// Returns a path in a folder that no file has: `NAME.png`, `NAME-2.png`, …
fn free_path(folder: &Path, name: &str, extension: &str) -> Result<PathBuf, Failure> {
    for n in 1_u32.. {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let path = folder.join(format!("{name}{number}.{extension}"));
        match path.try_exists() {
            Ok(false) => return Ok(path),
            Ok(true) => {}
            Err(cause) => return Err(Failure::input(format!("cannot look at {}: {cause}", path.display()))),
        }
    }
    Err(Failure::other("no free name for the file"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn files_are_numbered_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for expected in ["dam.png", "dam-2.png", "dam-3.png"] {
            let path = free_path(folder.path(), "dam", "png").unwrap();
            assert_eq!(path, folder.path().join(expected));
            std::fs::write(path, []).unwrap();
        }
        assert_eq!(free_path(folder.path(), "dam", "mp4").unwrap(), folder.path().join("dam.mp4"));
    }
}
