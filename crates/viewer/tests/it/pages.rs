//! The commands of all pages of docs and of README.md: a shell expands them, and then options, values, and
//! the scenes' keys must be those of the program. The commands of the tutorial and of the tasks are run
//! (`tutorial.rs`, `tasks.rs`).

use crate::tool::{command, stderr};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns README.md and all pages of docs.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let files = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    pages.sort();
    pages
}

/// Returns the arguments of each call of `frazil` in a shell script.
fn calls(script: &str) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let (bin, log) = (folder.path().join("target/release"), folder.path().join("calls"));
    fs::create_dir_all(&bin).unwrap();
    fs::write(&log, "").unwrap();
    let write = |name: &str, text: &str| {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("frazil", &format!("printf '%s\\0' \"$@\" >>'{0}'; printf '\\001' >>'{0}'", log.display()));
    for other in ["cargo", "cp", "pip", "blender", "paraview", "python", "python3", "usdview"] {
        write(other, "exit 0");
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let shell = Command::new("sh").arg("-c").arg(script).env("PATH", path).current_dir(&folder).output();
    let said = String::from_utf8_lossy(&shell.unwrap().stderr).into_owned();
    // Scripts of the repository are not in the folder.
    assert!(said.lines().all(|line| line.contains("tools/")), "{script}\n{said}");
    let text = fs::read_to_string(log).unwrap();
    let of = |call: &str| call.split_terminator('\0').map(str::to_owned).collect();
    text.split_terminator('\u{1}').map(of).collect()
}

/// Returns the values of an option, in the forms `--set VALUE` and `--set=VALUE`.
fn values<'a>(call: &'a [String], option: &str) -> Vec<&'a str> {
    let with_value = format!("{option}=");
    call.iter()
        .enumerate()
        .filter_map(|(i, word)| match word.strip_prefix(&with_value) {
            Some(value) => Some(value),
            None if word == option => call.get(i + 1).map(String::as_str),
            None => None,
        })
        .collect()
}

/// Returns the overrides that a call makes: those of `--set`, the changes of `--at`, and the first value of
/// each key that `--vary` varies, unless it is no key of a scene.
fn overrides(call: &[String]) -> Vec<String> {
    let mut found: Vec<String> = values(call, "--set").into_iter().map(str::to_owned).collect();
    found.extend(values(call, "--at").iter().map(|at| at.split_once(':').unwrap().1.to_owned()));
    for axis in values(call, "--vary").iter().filter(|axis| axis.contains('.')) {
        let (keys, values) = axis.split_once('=').unwrap();
        let first = values.split(',').next().unwrap();
        found.extend(keys.split(',').zip(first.split(':')).map(|(key, value)| format!("{key}={value}")));
    }
    found
}

#[test]
fn the_commands_of_all_pages_have_options_and_keys_of_the_program() {
    let scenes: BTreeSet<&str> = frazil_scene::builtin().iter().map(|scene| scene.name).collect();
    let (mut n_calls, mut checked) = (0, BTreeSet::new());
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let name = page.file_name().unwrap().to_str().unwrap();
        let blocks = text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
        // The tutorial writes files by the shell, and the tasks have commands that must fail.
        for block in blocks.filter(|_| !["tutorial.md", "tasks.md"].contains(&name)) {
            for call in calls(block) {
                let shown = format!("{}: frazil {}", page.display(), call.join(" "));
                n_calls += 1;
                // Arguments are parsed up to the last, which prints the help.
                let words: Vec<&str> = call.iter().map(String::as_str).chain(["--help"]).collect();
                let parsed = command(&words).output().unwrap();
                assert!(parsed.status.success(), "{shown}: {}", stderr(&parsed));
                let takes_scene = ["run", "view", "check", "profile", "tune", "sweep"].contains(&&*call[0]);
                let Some(scene) = call.get(1).filter(|scene| takes_scene && scenes.contains(scene.as_str()))
                else {
                    continue;
                };
                let overrides = overrides(&call);
                if !overrides.is_empty() && checked.insert((scene.clone(), overrides.clone())) {
                    let known = frazil_scene::builtin().iter().find(|known| known.name == scene).unwrap();
                    let loaded = known.load(&overrides);
                    assert!(loaded.is_ok(), "{shown}: {}", loaded.err().unwrap());
                }
            }
        }
    }
    assert!(n_calls > 60 && checked.len() > 12, "{n_calls} calls, {} scenes with overrides", checked.len());
}
