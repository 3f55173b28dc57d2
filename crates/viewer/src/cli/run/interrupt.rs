//! Ctrl-C and SIGTERM: the first signal ends the run cleanly, the second one terminates it at once.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Exit status of a process ended by SIGINT, as shells report it.
const ENDED_BY_SIGINT: i32 = 130;

/// Returns the flag that an interrupt sets.
pub fn flag() -> &'static AtomicBool {
    // Without a handler an interrupt ends the run at once, which loses no more than a kill.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED_BY_SIGINT);
        }
    });
    &INTERRUPTED
}
