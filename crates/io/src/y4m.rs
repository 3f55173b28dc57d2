//! Uncompressed video without external programs: YUV4MPEG2, which players and encoders read.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::atomic::{regular_target, temporary_name};
use crate::error::{Error, Result};

/// Weights of red and blue in luma; the rest is green.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Matrix {
    name: &'static str,
    red: f32,
    blue: f32,
}

/// ITU-R BT.601, the matrix that players assume for small videos.
const BT_601: Matrix = Matrix { name: "BT601", red: 0.299, blue: 0.114 };
/// ITU-R BT.709, the matrix that players assume for large videos.
const BT_709: Matrix = Matrix { name: "BT709", red: 0.2126, blue: 0.0722 };

/// Writer of a video as a YUV4MPEG2 file: full chroma (4:4:4), limited range.
///
/// The file appears under its name, complete, when it is [finished](Self::finish); dropped before that, it
/// leaves nothing.
#[derive(Debug)]
pub struct Y4mWriter {
    path: PathBuf,
    temporary: PathBuf,
    file: BufWriter<File>,
    n_pixels: usize,
    matrix: Matrix,
    planes: Vec<u8>,
}

impl Y4mWriter {
    /// Starts a video of `fps` frames per second.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn create(path: &Path, width: u32, height: u32, fps: u32) -> Result<Self> {
        let path = &*regular_target(path)?;
        let temporary = temporary_name(path)?;
        let matrix = matrix(width, height);
        let file = File::create(&temporary).map_err(Error::io("write", path))?;
        let n_pixels = width as usize * height as usize;
        let (path, planes) = (path.to_owned(), vec![0; 3 * n_pixels]);
        let mut video = Self { path, temporary, file: BufWriter::new(file), n_pixels, matrix, planes };
        // The format has no parameter for the matrix; parameters that begin with X are extensions.
        let head = format!(
            "YUV4MPEG2 W{width} H{height} F{fps}:1 Ip A1:1 C444 XCOLORRANGE=LIMITED XCOLORMATRIX={}\n",
            matrix.name
        );
        video.file.write_all(head.as_bytes()).map_err(Error::io("write", &video.path))?;
        Ok(video)
    }

    /// Appends a frame of packed RGBA8 pixels, red in the lowest byte, row by row from the top.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path; also for a frame of another size.
    pub fn append(&mut self, pixels: &[u32]) -> Result<()> {
        if pixels.len() != self.n_pixels {
            let problem = format!("expected {} pixels, found {}", self.n_pixels, pixels.len());
            let cause = std::io::Error::new(std::io::ErrorKind::InvalidInput, problem);
            return Err(Error::io("append a picture to", &self.path)(cause));
        }
        let (luma, chroma) = self.planes.split_at_mut(self.n_pixels);
        let (blue, red) = chroma.split_at_mut(self.n_pixels);
        for (i, pixel) in pixels.iter().enumerate() {
            let [r, g, b, _] = pixel.to_le_bytes();
            [luma[i], blue[i], red[i]] = self.matrix.encode([r, g, b]);
        }
        let written = self.file.write_all(b"FRAME\n").and_then(|()| self.file.write_all(&self.planes));
        written.map_err(Error::io("write", &self.path))
    }

    /// Renames the completed video to its name.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(Error::io("write", &self.path))?;
        fs::rename(&self.temporary, &self.path).map_err(Error::io("rename into", &self.path))
    }
}

impl Drop for Y4mWriter {
    fn drop(&mut self) {
        // After the rename there is none. A leftover does no harm.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Returns the matrix that a player assumes for a video that does not name one, by its size.
fn matrix(width: u32, height: u32) -> Matrix {
    if width >= 1280 || height > 576 { BT_709 } else { BT_601 }
}

impl Matrix {
    /// Converts display-encoded red, green and blue to luma and the two colour differences, in limited range
    /// (BT.601-7 sec 2.5).
    fn encode(self, rgb: [u8; 3]) -> [u8; 3] {
        let [r, g, b] = rgb.map(|component| f32::from(component) / 255.0);
        let y = self.red * r + (1.0 - self.red - self.blue) * g + self.blue * b;
        let difference = |component: f32, weight: f32| 128.0 + 112.0 * (component - y) / (1.0 - weight);
        [16.0 + 219.0 * y, difference(b, self.blue), difference(r, self.red)].map(|value| value.round() as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour bars of the standards: white, black, red, green and blue at full saturation.
    #[test]
    fn known_colours_have_the_values_of_the_standards() {
        let colours = [[255; 3], [0; 3], [255, 0, 0], [0, 255, 0], [0, 0, 255]];
        let bt_601 = [[235, 128, 128], [16, 128, 128], [81, 90, 240], [145, 54, 34], [41, 240, 110]];
        let bt_709 = [[235, 128, 128], [16, 128, 128], [63, 102, 240], [173, 42, 26], [32, 240, 118]];
        for (matrix, expected) in [(BT_601, bt_601), (BT_709, bt_709)] {
            assert_eq!(colours.map(|colour| matrix.encode(colour)), expected, "{matrix:?}");
        }
    }

    #[test]
    fn a_video_is_a_header_and_planes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("video.y4m");
        let mut video = Y4mWriter::create(&path, 2, 1, 25).unwrap();
        video.append(&[0xff00_00ff, 0xffff_ffff]).unwrap();
        video.append(&[0, 0]).unwrap();
        assert!(!path.exists(), "what is not whole has no name yet");
        video.finish().unwrap();
        let head = b"YUV4MPEG2 W2 H1 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED XCOLORMATRIX=BT601\n";
        let frames =
            [&b"FRAME\n"[..], &[81, 235, 90, 128, 240, 128], b"FRAME\n", &[16, 16, 128, 128, 128, 128]];
        assert_eq!(fs::read(&path).unwrap(), [&head[..], &frames.concat()].concat());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_interrupted_video_leaves_the_old_file_and_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("video.y4m");
        fs::write(&path, "old").unwrap();
        let mut video = Y4mWriter::create(&path, 2, 2, 25).unwrap();
        let error = video.append(&[0]).unwrap_err().to_string();
        assert!(error.contains("video.y4m: expected 4 pixels, found 1"), "{error}");
        drop(video);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let error = Y4mWriter::create(&dir.path().join("nosuch/v.y4m"), 1, 1, 1).unwrap_err().to_string();
        assert!(error.contains("nosuch"), "{error}");
    }
}
