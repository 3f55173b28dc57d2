//! Processes with a time limit, so that a hang is a result.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs a command and returns its status and its text on stderr.
///
/// # Errors
/// It cannot be started, or still runs after `limit` and was killed.
pub fn run(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let program = command.get_program().display().to_string();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    // A full pipe would stop the process.
    let pipe = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = std::io::Read::read_to_end(&mut pipe, &mut bytes);
        }
        bytes
    });
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("{program}: {error}"))? {
            break status;
        }
        if begin.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("hangs: killed after {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stderr = reader.join().map_err(|_| format!("{program}: cannot read stderr"))?;
    Ok(Output { status, stdout: Vec::new(), stderr })
}

/// Returns the text that a process wrote to stderr.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}
