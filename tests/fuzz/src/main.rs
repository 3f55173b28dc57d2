//! `fuzz TARGET SEED FROM TO FOLDER`: runs the cases FROM to TO − 1 of a target, in one process, and prints a
//! line for each: its number, `accepted`, `refused` or `FAILED`, and the problem. A case that takes too long
//! ends the process with status 3; one that exhausts the memory or the stack ends it by a signal. The last
//! line is then the number of the case alone. `tools/campaign mutations` starts it with a bound of memory.
//!
//! `fuzz --show TARGET SEED CASE` writes the file of a case to stdout; `fuzz --list` prints the targets.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use frazil_fuzz::{Outcome, Session, targets};

const USAGE: &str =
    "usage: fuzz TARGET SEED FROM TO FOLDER\n       fuzz --show TARGET SEED CASE\n       fuzz --list";
/// A case that takes longer hangs: it needs milliseconds.
const LONGEST: Duration = Duration::from_secs(30);
const HANGS: i32 = 3;

/// Message and place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["--list"] => {
            targets::all().iter().for_each(|target| println!("{}", target.name));
            Ok(0)
        }
        ["--show", name, seed, case] => show(name, seed, case),
        [name, seed, from, to, folder] => run(name, seed, from, to, folder),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("fuzz: {problem}");
            ExitCode::from(2)
        }
    }
}

fn session(name: &str, folder: &Path) -> Result<Session, String> {
    let target = targets::find(name).ok_or_else(|| format!("no target \"{name}\""))?;
    Session::new(&target, folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("found \"{text}\", expected a whole number"))
}

fn show(name: &str, seed: &str, case: &str) -> Result<usize, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bytes = session(name, folder.path())?.file(number(seed)?, number(case)?);
    std::io::stdout().write_all(&bytes).map_err(|error| error.to_string())?;
    Ok(0)
}

/// Runs the cases; returns the number of failures.
fn run(name: &str, seed: &str, from: &str, to: &str, folder: &str) -> Result<usize, String> {
    let (seed, from, to) = (number(seed)?, number(from)?, number(to)?);
    let session = session(name, Path::new(folder))?;
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = info.to_string().replace('\n', " ");
        }
    }));
    // Milliseconds since the start at which the case began.
    static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
    let start = Instant::now();
    let now_ms = move || start.elapsed().as_millis() as u64;
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            if now_ms().saturating_sub(BEGAN_MS.load(Ordering::Relaxed)) > LONGEST.as_millis() as u64 {
                std::process::exit(HANGS);
            }
        }
    });
    let mut n_failed = 0;
    let out = std::io::stdout();
    let print = |text: String| {
        let mut out = out.lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| error.to_string())
    };
    for case in from..to {
        BEGAN_MS.store(now_ms(), Ordering::Relaxed);
        print(case.to_string())?;
        let bytes = session.file(seed, case);
        let verdict = catch_unwind(AssertUnwindSafe(|| session.check(&bytes))).unwrap_or_else(|_| {
            let message = PANIC.lock().map(|last| last.clone()).unwrap_or_default();
            Err(format!("panic: {message}"))
        });
        match verdict {
            Ok(Outcome::Accepted) => print(" accepted\n".to_owned())?,
            Ok(Outcome::Refused) => print(" refused\n".to_owned())?,
            Err(problem) => {
                n_failed += 1;
                print(format!(" FAILED {}\n", problem.replace('\n', " ")))?;
            }
        }
    }
    Ok(n_failed)
}
