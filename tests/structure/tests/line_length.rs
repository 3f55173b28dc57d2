//! Comments and prose have at most 110 columns. `rustfmt` wraps code, but neither comments nor Markdown.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::path::Path;

const COLUMNS: usize = 110;

/// Returns whether a line of a file is prose: a comment or, in Markdown, text outside of tables, code and
/// links that cannot be wrapped. Lines with columns of their own, such as lists of stages, are not.
fn is_prose(path: &Path, line: &str) -> bool {
    let text = line.trim_start();
    let is_markdown = path.extension().is_some_and(|e| e == "md");
    let Some(text) = (if is_markdown { Some(text) } else { text.strip_prefix("//") }) else {
        return false;
    };
    let text = text.trim_start_matches(['/', '!']).trim();
    let is_laid_out =
        text.contains("  ") || text.starts_with(['|', '#', '!']) || text.starts_with("Elements:");
    let is_one_piece = text.starts_with('`') || text.starts_with('[') || text.starts_with("http");
    !is_laid_out && !is_one_piece
}

/// Returns the lines of prose with too many columns.
fn long_lines(path: &Path, text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with("```") {
            is_code = !is_code;
        } else if !is_code && line.chars().count() > COLUMNS && is_prose(path, line) {
            found.push(format!("{}:{number}: {} columns: {line}", path.display(), line.chars().count()));
        }
    }
    found
}

#[test]
fn prose_has_at_most_110_columns() {
    let root = repository();
    let mut found = Vec::new();
    let mut n_files = 0;
    for (folder, extension) in [
        ("crates", "rs"),
        ("tests", "rs"),
        ("benches", "rs"),
        ("glsl", "glsl"),
        ("glsl", "comp"),
        ("docs", "md"),
    ] {
        for path in files_below(&root.join(folder), extension) {
            found.extend(long_lines(&path, &std::fs::read_to_string(&path).unwrap()));
            n_files += 1;
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let path = root.join(name);
        found.extend(long_lines(&path, &std::fs::read_to_string(&path).unwrap()));
    }
    assert!(n_files > 300, "only {n_files} files were read");
    assert!(found.is_empty(), "more than {COLUMNS} columns:\n{}", found.join("\n"));
}

#[test]
fn long_comments_and_paragraphs_are_found() {
    let words = "word ".repeat(25);
    let (rust, markdown) = (Path::new("a.rs"), Path::new("a.md"));
    assert_eq!(long_lines(rust, &format!("    /// {words}\n//! {words}\n// {words}")).len(), 3);
    assert_eq!(long_lines(markdown, &format!("{words}\n- {words}")).len(), 2);
    let exempt = [format!("| {words} |"), format!("```sh\n{words}\n```"), format!("a  {words}")];
    for text in exempt {
        assert_eq!(long_lines(markdown, &text), [] as [String; 0], "{text}");
    }
    assert_eq!(long_lines(rust, &format!("let text = \"{words}\";")), [] as [String; 0]);
}
