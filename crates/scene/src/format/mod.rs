//! The scene file as text: a tree of values with their source locations, and errors that report them.

pub(crate) mod error;
pub(crate) mod reader;
pub(crate) mod removed;
pub(crate) mod source;
pub(crate) mod text;
pub(crate) mod tree;
