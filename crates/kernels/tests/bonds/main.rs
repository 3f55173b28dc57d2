//! Bonds between pairs: what must hold of them in every scene and after every sequence of operations, both builders against
//! their twin, rows that are too short, faults by name, and rules of users.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../common/mod.rs"]
mod common;

mod builders;
mod capacity;
mod faults;
mod rules;
mod sequences;
mod worlds;
