//! frazil-particles.
