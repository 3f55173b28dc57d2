//! Bonds between pairs: invariants in every scene and after every sequence of operations, both builders
//! against their twin, overflow of rows, faults by name, and user rules.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod builders;
mod capacity;
mod faults;
mod rules;
mod sequences;
mod worlds;
