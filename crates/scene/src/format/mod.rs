//! The scene file as text: a tree of values that know where they were written, and errors that say so.

pub(crate) mod error;
pub(crate) mod reader;
pub(crate) mod source;
pub(crate) mod tree;
