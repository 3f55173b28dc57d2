//! Ctrl-C and SIGTERM: the first signal ends a command cleanly, the second one terminates it at once.

use frazil_engine::Failure;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Exit status of a process ended by SIGINT, as shells report it.
const ENDED_BY_SIGINT: i32 = 130;

/// Returns the flag that an interrupt sets.
pub fn flag() -> &'static AtomicBool {
    // Without a handler an interrupt ends the command at once, which loses no more than a kill.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED_BY_SIGINT);
        }
    });
    &INTERRUPTED
}

/// Returns true after an interrupt.
pub fn is_set() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Returns the error of an interrupted command; `kept` says what there is of its results.
pub fn failure(kept: impl Display) -> Failure {
    Failure::other(format!("interrupted; {kept}"))
}

/// Returns an error after an interrupt.
pub fn check(kept: impl Display) -> Result<(), Failure> {
    if is_set() { Err(failure(kept)) } else { Ok(()) }
}
