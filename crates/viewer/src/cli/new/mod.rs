//! `frazil new`: commented scenes to begin with.

mod args;
mod kind;

use crate::say;
pub use args::NewArgs;
use frazil_engine::Failure;
use frazil_engine::outputs::refuse_file;
use frazil_io::atomic::{self, Durability};
use std::io::Write;
use std::path::PathBuf;

/// Writes the scene of a kind, in whose comments FILE is the file's name.
pub fn new_scene(args: &NewArgs) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(args.kind.name() + ".toml"));
    if !args.overwrite {
        refuse_file("--out", &out)?;
    }
    let shown = out.display().to_string();
    let text: String = args.kind.text().lines().map(|line| commented(line, &shown) + "\n").collect();
    atomic::write(&out, Durability::Process, |file| file.write_all(text.as_bytes()))
        .map_err(Failure::file)?;
    say::note(format_args!("wrote {shown}; `frazil run {shown}` runs it"));
    Ok(())
}

/// Returns a line with the file's name in a command.
fn commented(line: &str, file: &str) -> String {
    match line.starts_with("#   frazil ") {
        true => line.replace("FILE", file),
        false => line.to_owned(),
    }
}
