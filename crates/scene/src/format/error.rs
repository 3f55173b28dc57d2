//! Errors of scenes.

use std::io;
use std::path::PathBuf;

use crate::format::source::Location;
use crate::format::text::shortened;

/// Maximum number of errors that are reported at once, of a table or of the values of a scene.
pub(crate) const MAX_ERRORS: usize = 20;

/// Maximum number of characters of a message of several errors.
const MAX_CHARACTERS: usize = 3900;

/// Error in a scene: what is wrong, where, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file could not be read.
    #[error("{}: cannot read the scene file: {cause}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system, or another problem with the file.
        cause: io::Error,
    },
    /// There is neither a file nor a built-in scene of that name.
    #[error("{name}: found no such file and no built-in scene of that name; {hint}")]
    NoSuchScene {
        /// The requested name.
        name: String,
        /// The nearest built-in scene, or all of them.
        hint: String,
    },
    /// The text is not valid TOML or JSON.
    #[error("{at}: not valid {language}: {}", shortened(problem))]
    Syntax {
        /// TOML, or JSON for a recorded scene.
        language: &'static str,
        /// Location of the first syntax error.
        at: Location,
        /// Description of the syntax error.
        problem: String,
    },
    /// A `--set` that is not `table.key=value`, or names a key that cannot exist.
    #[error("--set {}: {}", shortened(argument), shortened(problem))]
    Override {
        /// The argument as given.
        argument: String,
        /// Description of the error.
        problem: String,
    },
    /// A key that no section has.
    #[error("{at}: {}: unknown key; {hint}", shortened(key))]
    UnknownKey {
        /// Location of the key.
        at: Location,
        /// Path of the key.
        key: String,
        /// The nearest known key, or all of them.
        hint: String,
    },
    /// A key or table of a notation that was removed.
    #[error("{at}: {}: removed; {remedy}", shortened(key))]
    RemovedKey {
        /// Location of the key.
        at: Location,
        /// Path of the key.
        key: String,
        /// The key in its place, and the same lines in its notation.
        remedy: String,
    },
    /// A key without a default is absent.
    #[error("{at}: {}: missing, and it has no default", shortened(key))]
    MissingKey {
        /// Location of the table it belongs to.
        at: Location,
        /// Path of the key.
        key: String,
    },
    /// A value of the wrong type, out of its range, or inconsistent with another.
    #[error("{at}: {}: found {}, expected {expected}", shortened(key), shortened(found))]
    Value {
        /// Location of the value.
        at: Location,
        /// Path of the key.
        key: String,
        /// The value found.
        found: String,
        /// The values allowed.
        expected: String,
    },
    /// The particles do not fit into the host's memory.
    #[error("{at}: {found}, expected {expected}")]
    OutOfMemory {
        /// Location of the key that determines the number of particles.
        at: Location,
        /// That key, the number of particles, and the memory that they take.
        found: String,
        /// Number or spacing that fits.
        expected: String,
    },
    /// An observer ended the sampling of particles.
    #[error("sampling was cancelled at {percent} %: {}", shortened(stage))]
    Cancelled {
        /// Work in progress.
        stage: String,
        /// Share of the work that was done, in percent.
        percent: u32,
    },
    /// Several keys or values are wrong, each by itself: a line each, up to 3900 characters, and the number
    /// of those left out.
    #[error("{}", lines(.0))]
    Several(Vec<SceneError>),
}

impl SceneError {
    /// Returns the location of the key that the error is about, if it is about one.
    pub(crate) fn location(&self) -> Option<&Location> {
        match self {
            Self::UnknownKey { at, .. }
            | Self::RemovedKey { at, .. }
            | Self::MissingKey { at, .. }
            | Self::Value { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Returns the one error of a list, all of them in one, or nothing for an empty list.
    pub(crate) fn of(errors: Vec<Self>) -> Option<Self> {
        let mut flat = Vec::new();
        for error in errors {
            match error {
                Self::Several(more) => flat.extend(more),
                one => flat.push(one),
            }
        }
        match flat.len() {
            0 | 1 => flat.pop(),
            _ => Some(Self::Several(flat)),
        }
    }
}

/// Returns a line for each error, as many as a message may have.
fn lines(errors: &[SceneError]) -> String {
    let mut message = String::new();
    for (n_listed, error) in errors.iter().enumerate() {
        let line = error.to_string();
        if n_listed > 0 && message.chars().count() + line.chars().count() > MAX_CHARACTERS {
            message += &format!("\n  and {} more", errors.len() - n_listed);
            break;
        }
        message += if n_listed > 0 { "\n  " } else { "" };
        message += &line;
    }
    message
}

/// Returns "did you mean …?" if one of `known` resembles `found`, else the list of them.
pub(crate) fn hint(found: &str, known: &[&str]) -> String {
    match nearest(found, known) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("expected {}", one_of(known)),
    }
}

/// Returns the one of `known` that resembles `found` most, if any does.
pub fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    // Jaro–Winkler favours common prefixes, such as those of a quantity whose unit was forgotten.
    const MIN_SIMILARITY: f64 = 0.8;
    known
        .iter()
        .map(|&candidate| (strsim::jaro_winkler(found, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Formats a list of names: "a", "a or b", "one of a, b, c".
pub fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing here".to_owned(),
        [only] => (*only).to_owned(),
        [first, second] => format!("{first} or {second}"),
        _ => format!("one of {}", names.join(", ")),
    }
}
