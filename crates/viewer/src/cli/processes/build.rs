//! A build of the program, and its arguments.

use crate::cli::interrupt;
use frazil_engine::{Failure, FailureKind};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Interval at which the end of a process is looked for: hardly any load beside its measurement.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A program that knows the commands of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    path: PathBuf,
}

impl Build {
    /// Returns the running program.
    pub fn this() -> Result<Self, Failure> {
        let path = std::env::current_exe()
            .map_err(|error| Failure::other(format!("cannot find the running program: {error}")))?;
        Ok(Self { path })
    }

    /// Returns the build in this file; an error if it does not answer `--version` like one.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let refuse = |problem: String| Failure::input(format!("--against {}: {problem}", path.display()));
        // A name without a folder would be searched in PATH.
        let path = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| refuse(format!("cannot be started: {error}")))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || !version.starts_with("frazil ") {
            let found: String = version.lines().next().unwrap_or_default().chars().take(60).collect();
            return Err(refuse(format!(
                "found a program whose --version is \"{found}\", expected a build of frazil, or a file of \
                 an earlier measurement"
            )));
        }
        Ok(Self { path })
    }

    #[cfg(test)]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Runs a command to its end without output, or until this program is interrupted; a failure has the kind
    /// and the last message of the process.
    pub fn run(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let cannot = |what: &str, error| Failure::other(format!("cannot {what} {self}: {error}"));
        let mut command = Command::new(&self.path);
        // The process that compares or repeats logs the measurement, once.
        command
            .env("FRAZIL_HISTORY", "0")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot("start", error))?;
        let listener = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                // A file that cannot be read has no message.
                let _ = stderr.read_to_end(&mut said);
                said
            })
        });
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| cannot("wait for", error))? {
                break status;
            }
            if interrupt::is_set() {
                // It may have had the signal, too, and ended.
                let _ = child.kill();
                let _ = child.wait();
                return Err(interrupt::failure("of the processes, those that had ended are kept"));
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        interrupt::check("of the processes, those that had ended before are kept")?;
        if status.success() {
            return Ok(());
        }
        let said = listener.and_then(|listener| listener.join().ok()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().last().unwrap_or("it said nothing").trim_start_matches("frazil: error: ");
        let kind = match status.code() {
            Some(2) => FailureKind::Input,
            Some(3) => FailureKind::Device,
            Some(4) => FailureKind::Invariant,
            _ => FailureKind::Other,
        };
        Err(Failure::other(format!("{self} ended with {status}: {last}")).of_kind(kind))
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

/// Returns true if a file is a program, and not an earlier measurement: it may be executed, and does not
/// begin like JSON.
pub fn is_build(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    let mut first = [0];
    let begins_like_json = std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut first))
        .is_ok_and(|()| first[0] == b'{' || first[0].is_ascii_whitespace());
    metadata.is_file() && may_be_executed(path, &metadata) && !begins_like_json
}

#[cfg(unix)]
fn may_be_executed(_: &Path, metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_be_executed(path: &Path, _: &std::fs::Metadata) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exe"))
}

/// Returns the arguments of a process that measures the same as one with `arguments`, of which the first is
/// the program: those from `command` on, without the options in `left_out`, whose flags are marked by the
/// value false, and with `added` right behind the command.
pub fn arguments_without(
    arguments: &[OsString],
    command: &str,
    left_out: &[(&str, bool)],
    added: &[&OsStr],
) -> Vec<OsString> {
    let at = arguments.iter().position(|argument| argument == command).unwrap_or(0);
    let mut kept: Vec<OsString> = vec![command.into()];
    kept.extend(added.iter().map(|argument| argument.to_os_string()));
    let mut rest = arguments.iter().skip(at + 1);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        match left_out.iter().find(|(option, _)| name.strip_prefix("--") == Some(option)) {
            Some((_, true)) if !has_value => drop(rest.next()),
            Some(_) => {}
            None => kept.push(argument.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn arguments_of_the_comparison_are_left_out() {
        let given =
            "frazil bench scan --against a/b --axis count=1 --out=rows --wide --tolerance 0.1 --smoke";
        let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
        let left_out = [("against", true), ("out", true), ("wide", false), ("tolerance", true)];
        let found = arguments_without(&given, "bench", &left_out, &["--out".as_ref(), "x y".as_ref()]);
        let found: Vec<_> = found.iter().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(found, ["bench", "--out", "x y", "scan", "--axis", "count=1", "--smoke"]);
    }

    #[test]
    fn a_program_is_told_from_a_measurement() {
        let folder = tempfile::tempdir().unwrap();
        let rows = folder.path().join("rows.jsonl");
        std::fs::write(&rows, "{}\n").unwrap();
        assert!(is_build(&std::env::current_exe().unwrap()));
        assert!(!is_build(&rows) && !is_build(folder.path()) && !is_build(&folder.path().join("nosuch")));
        // Files of some file systems may all be executed.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&rows, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert!(!is_build(&rows));
        }
    }
}
