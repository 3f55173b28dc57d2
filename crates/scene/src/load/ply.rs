//! Reads PLY files.

use std::io::{Cursor, ErrorKind};

use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Ply};

/// Reads the PLY file in `bytes`. The error has the line, if it is known, but no text of the file, which may
/// be any file.
pub(crate) fn read_ply(bytes: &[u8]) -> Result<Ply<DefaultElement>, String> {
    if !bytes.starts_with(b"ply") {
        return Err("no valid PLY: it does not begin with ply".to_owned());
    }
    Parser::<DefaultElement>::new().read_ply(&mut Cursor::new(bytes)).map_err(|cause| {
        let problem = match cause.kind() {
            ErrorKind::UnexpectedEof => "the file ends before what its header announces",
            _ => "expected a header of PLY 1.0, and then the numbers that it announces",
        };
        match cause.line() {
            Some(line) => format!("no valid PLY: line {line}: {problem}"),
            None => format!("no valid PLY: {problem}"),
        }
    })
}
