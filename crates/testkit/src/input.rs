//! Keyboard and pointer of a virtual screen, by the extension XTEST of its server.

use crate::screen::VirtualScreen;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

impl VirtualScreen {
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
    pub const RIGHT: u32 = 0xff53;
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
