//! Facts of this build of the program and of its process.

/// Commit from which the program was built, if known.
pub const GIT_COMMIT: Option<&str> = option_env!("FRAZIL_GIT_COMMIT");

/// Date of this commit in s since 1970, if known.
pub const GIT_COMMIT_TIME: Option<&str> = option_env!("FRAZIL_GIT_COMMIT_TIME");

/// Returns the words of this process's command line, the program first.
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}
