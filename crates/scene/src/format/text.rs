//! Text of the user in messages.

use std::borrow::Cow;
use std::str::Utf8Error;

/// Describes the first byte of `bytes` that is not UTF-8.
pub(crate) fn not_utf8(bytes: &[u8], error: Utf8Error) -> String {
    let at = error.valid_up_to();
    let found = bytes.get(at).copied().unwrap_or_default();
    format!("found byte 0x{found:02x} at byte {at}, expected UTF-8 text")
}

/// Shortens text of the user of more than a thousand characters for a message: "aaaa… (3000 characters)".
pub fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 1000;
    const KEPT: usize = 100;
    let n = text.chars().count();
    if n <= MOST {
        return text.into();
    }
    let kept: String = text.chars().take(KEPT).collect();
    format!("{kept}… ({n} characters)").into()
}
