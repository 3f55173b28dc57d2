//! Lines of code, comments and prose have at most 110 columns. `rustfmt` wraps neither comments nor strings
//! and macros that it cannot parse, and GLSL and Markdown have no such tool.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::path::Path;

const COLUMNS: usize = 110;

/// Where only comments are bounded, and some lines of code are longer.
const LONG_CODE: [&str; 6] = [
    "crates/scene",
    "crates/solvers/src/pbd",
    "glsl/pbd",
    "glsl/snow",
    "glsl/viscoelastic",
    // Documents in raw strings, on whose bytes the cases of the fuzzer depend.
    "tests/fuzz/src/targets/tables.rs",
];

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

/// Returns whether a line can be wrapped: in Rust and GLSL, each but the clause of a header that the build
/// reads as one.
fn can_be_wrapped(line: &str) -> bool {
    !line.starts_with("// Elements:")
}

/// Returns the lines with too many columns: those of prose, or all.
fn long_lines(path: &Path, text: &str, with_code: bool) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let is_bounded = if with_code { can_be_wrapped(line) } else { !is_code && is_prose(path, line) };
        if is_bounded && line.chars().count() > COLUMNS {
            found.push(format!("{}:{number}: {} columns: {line}", path.display(), line.chars().count()));
        }
    }
    found
}

#[test]
fn lines_have_at_most_110_columns() {
    let root = repository();
    let has_long_code = |path: &Path| LONG_CODE.iter().any(|long| path.starts_with(root.join(long)));
    let mut found = Vec::new();
    let mut n_files = 0;
    for (folder, extension) in [
        ("crates", "rs"),
        ("tests", "rs"),
        ("benches", "rs"),
        ("glsl", "glsl"),
        ("glsl", "comp"),
        ("glsl", "vert"),
        ("glsl", "frag"),
        ("tests", "comp"),
        ("docs", "md"),
    ] {
        for path in files_below(&root.join(folder), extension) {
            let with_code = extension != "md" && !has_long_code(&path);
            found.extend(long_lines(&path, &std::fs::read_to_string(&path).unwrap(), with_code));
            n_files += 1;
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let path = root.join(name);
        found.extend(long_lines(&path, &std::fs::read_to_string(&path).unwrap(), false));
    }
    assert!(n_files > 300, "only {n_files} files were read");
    assert!(found.is_empty(), "more than {COLUMNS} columns:\n{}", found.join("\n"));
}

#[test]
fn long_comments_and_paragraphs_are_found() {
    let words = "word ".repeat(25);
    let (rust, markdown) = (Path::new("a.rs"), Path::new("a.md"));
    let comments = format!("    /// {words}\n//! {words}\n// {words}");
    assert_eq!(long_lines(rust, &comments, false).len(), 3);
    assert_eq!(long_lines(markdown, &format!("{words}\n- {words}"), false).len(), 2);
    let exempt = [format!("| {words} |"), format!("```sh\n{words}\n```"), format!("a  {words}")];
    for text in exempt {
        assert_eq!(long_lines(markdown, &text, false), [] as [String; 0], "{text}");
    }
}

#[test]
fn long_code_is_found() {
    let words = "word ".repeat(25);
    let (rust, code) = (Path::new("a.rs"), format!("let text = \"{words}\";"));
    assert_eq!(long_lines(rust, &code, true).len(), 1);
    assert_eq!(long_lines(rust, &code, false), [] as [String; 0]);
    assert_eq!(long_lines(rust, &format!("//! a  {words}"), true).len(), 1);
    assert_eq!(long_lines(rust, &format!("// Elements: {words}"), true), [] as [String; 0]);
}
