//! frazil-solvers.
