//! Files of JSON lines that grow at their end, also by several processes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// A file to which values are appended, each on a line of its own.
#[derive(Debug)]
pub struct JsonLinesWriter {
    file: File,
    path: PathBuf,
}

impl JsonLinesWriter {
    /// Opens the file for appending; creates it and its parent folders if they do not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let refused = Error::io("append to", path);
        let open = || -> io::Result<File> {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            OpenOptions::new().create(true).append(true).read(true).open(path)
        };
        Ok(Self { file: open().map_err(refused)?, path: path.to_owned() })
    }

    /// Appends a value in one write, while no other process appends through this type.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, value: &impl Serialize) -> Result<()> {
        let refused = Error::io("append to", &self.path);
        let mut line = match serde_json::to_string(value) {
            Ok(line) => line,
            Err(error) => return Err(refused(error.into())),
        };
        line.push('\n');
        let mut append = |file: &mut File| -> io::Result<()> {
            // File systems without locks append single writes in order all the same.
            let is_locked = file.lock().is_ok();
            // The rest of a line that was interrupted by a kill must not swallow the next one.
            if !ends_with_newline(file)? {
                line.insert(0, '\n');
            }
            let written = file.write_all(line.as_bytes());
            if is_locked {
                file.unlock()?;
            }
            written
        };
        append(&mut self.file).map_err(refused)
    }
}

/// Returns true if the file ends with a newline or is empty.
fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Parses each line that is not empty: its number, counted from 1, and the value or the problem with the
/// column.
pub fn parse<T: DeserializeOwned>(
    text: &str,
) -> impl Iterator<Item = (usize, std::result::Result<T, String>)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(i, line)| {
        let value = serde_json::from_str(line).map_err(|cause| {
            // The parser saw one line only, so its line number would mislead.
            let text = cause.to_string();
            let problem = text.split(" at line ").next().unwrap_or(&text);
            format!("{problem} at column {}", cause.column())
        });
        (i + 1, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_take_turns_and_a_truncated_line_swallows_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/lines.jsonl");
        let long = "x".repeat(100_000);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (path, long) = (&path, &long);
                scope.spawn(move || {
                    let mut file = JsonLinesWriter::open(path).unwrap();
                    (0..5).for_each(|i| file.append(&(writer, i, long)).unwrap());
                });
            }
        });
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"[7, 7, \"").unwrap();
        JsonLinesWriter::open(&path).unwrap().append(&(9, 9, "")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = parse::<(u32, u32, String)>(&text).collect();
        assert_eq!(lines.len(), 22);
        let of = |writer: u32| {
            let values = lines.iter().filter_map(|(_, line)| line.as_ref().ok());
            values.filter(|value| value.0 == writer).map(|value| value.1).collect::<Vec<_>>()
        };
        assert!((0..4).all(|writer| of(writer) == [0, 1, 2, 3, 4]));
        let (number, problem) = (lines[20].0, lines[20].1.clone().unwrap_err());
        assert!(number == 21 && problem.contains("EOF") && problem.contains("column 8"), "{problem}");
        assert_eq!(lines[21], (22, Ok((9, 9, String::new()))));
    }

    #[test]
    fn a_file_that_cannot_be_appended_to_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = JsonLinesWriter::open(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot append to {}: ", folder.path().display())), "{error}");
    }
}
