//! frazil-render.
