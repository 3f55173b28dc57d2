//! Text of the user in messages.

use std::borrow::Cow;

/// Shortens text of the user for a message: "aaaa… (3000 characters)".
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 1000;
    const KEPT: usize = 100;
    let n = text.chars().count();
    if n <= MOST {
        return text.into();
    }
    let kept: String = text.chars().take(KEPT).collect();
    format!("{kept}… ({n} characters)").into()
}
