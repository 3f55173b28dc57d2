//! Text of the user in messages.

use std::borrow::Cow;
use std::str::Utf8Error;

/// Describes the first byte of `bytes` that is not UTF-8.
pub(crate) fn not_utf8(bytes: &[u8], error: Utf8Error) -> String {
    let at = error.valid_up_to();
    let found = bytes.get(at).copied().unwrap_or_default();
    format!("found byte 0x{found:02x} at byte {at}, expected UTF-8 text")
}

/// Returns the text without the byte-order mark that some editors put before it.
pub(crate) fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Describes a word of a file in whose place a number is expected: the word itself if it consists of the
/// characters of numbers, and nothing of it otherwise, because a scene may name any file.
pub(crate) fn number_token(word: &str) -> String {
    const MAX_CHARACTERS: usize = 32;
    let is_of_number = |c: char| c.is_ascii_digit() || "+-.,eE".contains(c);
    let is_shown = word.len() <= MAX_CHARACTERS && word.chars().all(is_of_number);
    let is_special =
        ["nan", "inf", "infinity"].contains(&&*word.trim_start_matches(['+', '-']).to_ascii_lowercase());
    match (word.is_empty(), is_shown || is_special) {
        (true, _) => "nothing".to_owned(),
        (_, true) => format!("\"{word}\""),
        _ => "text".to_owned(),
    }
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
