//! The user's folder for data, by the XDG convention.

use std::path::PathBuf;

/// Returns `$XDG_DATA_HOME`, or else `~/.local/share`; none if neither variable is set.
pub fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))
}
