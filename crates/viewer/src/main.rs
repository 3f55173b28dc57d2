//! frazil.
fn main() {}
