//! `frazil completions` and `frazil man`: the command line for shells and for `man`.

use crate::say;
use frazil_engine::Failure;
use frazil_engine::outputs::create_dir;
use std::fs;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell that reads the script.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder, such as ~/.local/share/man/man1; pages that are there are replaced.
    pub folder: PathBuf,
}

const NAME: &str = "frazil";

/// Prints the completion script of a shell.
pub fn completions(args: &CompletionsArgs, mut program: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, NAME, &mut script);
    say::data(&String::from_utf8_lossy(&script))
}

/// Writes a page for the program and one for each command.
pub fn man(args: &ManArgs, program: clap::Command) -> Result<(), Failure> {
    let folder = &args.folder;
    create_dir(folder)?;
    clap_mangen::generate_to(program, folder).map_err(|error| {
        Failure::output(&error, format!("cannot write man pages to {}: {error}", folder.display()))
    })?;
    let is_page = |name: &str| name.starts_with(NAME) && name.ends_with(".1");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let n = entries.filter(|entry| is_page(&entry.file_name().to_string_lossy())).count();
    say::note(format_args!("{n} pages are in {}", folder.display()));
    Ok(())
}
