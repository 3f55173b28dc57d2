//! Passes the commit that the program is built from, and its date, to the compiler, if there is a repository.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| -> Option<String> {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // The log of HEAD changes with every commit and checkout. Naming a file that does not exist would cause a
    // rebuild each time.
    match git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|path| std::path::Path::new(path).exists()) {
        Some(path) => println!("cargo::rerun-if-changed={path}"),
        None => println!("cargo::rerun-if-changed=build.rs"),
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=FRAZIL_GIT_COMMIT={commit}");
    }
    if let Some(time) = git(&["show", "--no-patch", "--format=%ct", "HEAD"]) {
        println!("cargo::rustc-env=FRAZIL_GIT_COMMIT_TIME={time}");
    }
}
