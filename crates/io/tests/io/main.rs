//! Tests of frazil-io through its public interface.

#![allow(clippy::unwrap_used)]

mod checkpoint;
mod common;
mod export;
mod mesh;
mod metrics;
mod recording;
