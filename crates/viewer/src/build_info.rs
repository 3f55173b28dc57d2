//! Facts of this build of the program.

/// Commit from which the program was built, if known.
pub const GIT_COMMIT: Option<&str> = option_env!("FRAZIL_GIT_COMMIT");
