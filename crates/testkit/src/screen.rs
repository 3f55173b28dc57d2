//! A virtual X server that keeps its screen in a file.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

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

    /// Returns the keyboard and the pointer of the screen, with the focus on the window that is open.
    ///
    /// # Panics
    /// Without a window, or if the server does not respond.
    #[allow(clippy::expect_used)]
    pub fn input(&self) -> Input {
        let (connection, screen) = x11rb::connect(Some(&self.display)).expect("the server");
        let root = connection.setup().roots[screen].root;
        let children = connection.query_tree(root).expect("a request").reply().expect("windows").children;
        let is_shown = |window: &Window| {
            let reply = connection.get_window_attributes(*window).expect("a request").reply();
            reply.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE)
        };
        let window = children.into_iter().rev().find(is_shown).expect("a window");
        let focus = connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME);
        focus.expect("a request").check().expect("the focus");
        Input { connection, root }
    }
}

/// Keyboard and pointer of a virtual screen.
pub struct Input {
    connection: RustConnection,
    root: Window,
}

/// Keys of the keyboard, as X11 numbers their symbols.
#[allow(missing_docs)]
pub mod keys {
    pub const LEFT: u32 = 0xff51;
    pub const HOME: u32 = 0xff50;
    pub const END: u32 = 0xff57;
    pub const CONTROL: u32 = 0xffe3;
}

impl Input {
    /// Presses and releases a key, while those of `held` are held: letters have their codes as symbols.
    ///
    /// # Panics
    /// If the keyboard has no such key, or the server does not respond.
    pub fn press(&self, key: u32, held: &[u32]) {
        let codes: Vec<u8> = held.iter().chain([&key]).map(|symbol| self.code(*symbol)).collect();
        codes.iter().for_each(|code| self.send(KEY_PRESS_EVENT, *code, 0, 0));
        codes.iter().rev().for_each(|code| self.send(KEY_RELEASE_EVENT, *code, 0, 0));
    }

    /// Clicks with the left button at pixels from the screen's upper left corner.
    ///
    /// # Panics
    /// If the server does not respond.
    pub fn click(&self, x: i16, y: i16) {
        self.send(MOTION_NOTIFY_EVENT, 0, x, y);
        self.send(BUTTON_PRESS_EVENT, 1, 0, 0);
        self.send(BUTTON_RELEASE_EVENT, 1, 0, 0);
    }

    #[allow(clippy::expect_used)]
    fn code(&self, symbol: u32) -> u8 {
        let setup = self.connection.setup();
        let (least, n) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let request = self.connection.get_keyboard_mapping(least, n).expect("a request");
        let mapping = request.reply().expect("the keyboard");
        let per_code = usize::from(mapping.keysyms_per_keycode);
        let place = mapping.keysyms.chunks(per_code).position(|symbols| symbols[0] == symbol);
        least + place.expect("a key") as u8
    }

    #[allow(clippy::expect_used)]
    fn send(&self, kind: u8, detail: u8, x: i16, y: i16) {
        let sent = self.connection.xtest_fake_input(kind, detail, 0, self.root, x, y, 0);
        sent.expect("a request").check().expect("the input");
    }
}

impl Drop for VirtualScreen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
