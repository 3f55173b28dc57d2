//! Limits of the host: what happens when its memory is exhausted or a file exceeds its size limit.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// Exit status of a process without host memory: the one of errors that are no bad input and not the
/// device's.
#[cfg(unix)]
const ENDED_WITHOUT_MEMORY: i32 = 1;

/// The system's allocator, which ends the process with a message and exit status 1 when memory is exhausted,
/// in place of a signal and a backtrace. To be declared by a program as its `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct HostAllocator {
    may_fail: fn() -> bool,
}

impl HostAllocator {
    /// Makes an allocator. `may_fail` must not allocate; it returns true where the calling thread handles a
    /// failed allocation itself.
    pub const fn new(may_fail: fn() -> bool) -> Self {
        Self { may_fail }
    }

    fn check(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() && !(self.may_fail)() {
            end_without_memory(bytes);
        }
        memory
    }
}

// SAFETY: all calls are the system allocator's, with the caller's guarantees.
unsafe impl GlobalAlloc for HostAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a size above 0.
        let memory = unsafe { System.alloc(layout) };
        self.check(memory, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that the memory is of this allocator with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees a size above 0.
        let memory = unsafe { System.alloc_zeroed(layout) };
        self.check(memory, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller guarantees memory of this allocator with this layout, and a size above 0.
        let memory = unsafe { System.realloc(memory, layout, bytes) };
        self.check(memory, bytes)
    }
}

/// Ends the process with a message. Nothing is allocated, and no destructors run: other threads may hold
/// locks, and drivers' destructors need memory.
#[cold]
fn end_without_memory(bytes: usize) {
    let _ = writeln!(
        std::io::stderr(),
        "frazil: error: out of host memory: an allocation of {bytes} bytes failed; use fewer particles, or \
         raise the limit (ulimit -v, or that of a container)"
    );
    #[cfg(unix)]
    // SAFETY: it ends the process.
    unsafe {
        libc::_exit(ENDED_WITHOUT_MEMORY)
    };
}

/// Minimum of a limit of the address space with which a software device is opened: its compiler, which runs
/// in this process, crashes when it gets no memory.
const MIN_ADDRESS_SPACE: u64 = 1 << 30;

/// Returns an error if this process may not have the address space that a software device needs.
pub(crate) fn check_address_space(device: &str) -> crate::Result<()> {
    match address_space_limit() {
        Some(limit) if limit < MIN_ADDRESS_SPACE => Err(crate::Error::BeyondLimit {
            object: format!("the software device \"{device}\""),
            found: MIN_ADDRESS_SPACE,
            unit: "bytes of address space",
            limit,
            limit_name: "ulimit -v",
        }),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn address_space_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for a write.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(not(unix))]
fn address_space_limit() -> Option<u64> {
    None
}

/// Lets writes beyond the limit of a file's size (`ulimit -f`) fail with an error, in place of ending the
/// process by a signal.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: no handler is installed, and the signal has no other use.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}
