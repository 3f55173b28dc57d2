//! The kernels of the two-phase step that move and count words, each on its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

fn main() {}
