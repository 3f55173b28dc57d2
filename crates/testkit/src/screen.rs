//! A virtual X server that keeps its screen in a file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A virtual screen of 800 by 600 pixels, closed when dropped.
#[derive(Debug)]
pub struct VirtualScreen {
    server: Child,
    /// Name of the display, for the environment variable `DISPLAY`.
    pub display: String,
    file: PathBuf,
}

impl VirtualScreen {
    /// Starts a server that keeps its screen in `folder`.
    ///
    /// # Panics
    /// Without Xvfb, which `tools/setup` installs.
    #[allow(clippy::expect_used)]
    pub fn start(folder: &Path) -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-fbdir"])
            .arg(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb; tools/setup installs it");
        let mut number = String::new();
        // The server writes the number of the free display that it uses.
        let output = server.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut number).expect("the number of a display");
        Self { server, display: format!(":{}", number.trim()), file: folder.join("Xvfb_screen0") }
    }

    /// Returns the RGB bytes of the screen's upper left corner, where windows open without a window manager.
    ///
    /// # Panics
    /// If the file is not a window dump of 32 bits per pixel.
    #[allow(clippy::expect_used)]
    pub fn corner(&self, width: usize, height: usize) -> Vec<u8> {
        // The X window dump format: big-endian words, then a colour table of 12 bytes per entry, then rows.
        let dump = fs::read(&self.file).expect("the screen");
        let word =
            |i: usize| u32::from_be_bytes(dump[4 * i..4 * i + 4].try_into().expect("four bytes")) as usize;
        let (header_bytes, row_bytes, n_colours) = (word(0), word(12), word(19));
        assert_eq!(word(11), 32, "bits per pixel");
        let rows = &dump[header_bytes + 12 * n_colours..];
        let row = |y: usize| rows[y * row_bytes..][..4 * width].chunks_exact(4);
        (0..height).flat_map(row).flat_map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]).collect()
    }
}

impl Drop for VirtualScreen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
