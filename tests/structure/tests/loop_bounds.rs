//! Each loop of a kernel has a bound: it counts, or a comment `Bound:` above it says what ends it. A loop
//! without one can hang a device, which no other test would find in time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::fs;

/// Lines above a loop in which its bound may stand: it may be within a macro.
const LINES_ABOVE: usize = 10;

/// A loop: its line, from 0, and the text between its parentheses.
fn loops(source: &str) -> Vec<(usize, String)> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim_end_matches('\\').to_owned() + "\n")
        .collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices('(') {
        let before = code[..at].trim_end();
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if word != "for" && word != "while" {
            continue;
        }
        let mut depth = 0;
        let end = code[at..].find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let head = code[at + 1..at + end.unwrap_or(1)].split_whitespace().collect::<Vec<_>>().join(" ");
        found.push((code[..at].matches('\n').count(), head));
    }
    found
}

/// Returns true for the head of a loop whose condition compares a variable that the loop counts:
/// `k < n; ++k`, `k-- > 0u`.
fn counts(head: &str) -> bool {
    let parts: Vec<&str> = head.split(';').map(str::trim).collect();
    let [_, condition, step] = parts[..] else { return false };
    let compared: Vec<&str> = condition
        .split("&&")
        .filter_map(|part| part.split_once(['<', '>']).or_else(|| part.split_once("!=")))
        .map(|(left, _)| left.split('*').next().unwrap_or_default().trim())
        .collect();
    compared.iter().any(|left| {
        let name = left.trim_end_matches("--");
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let steps = [format!("++{name}"), format!("--{name}"), format!("{name}++"), format!("{name}--")];
        let changes = ["+=", "-=", "*=", "/=", ">>=", "<<="].map(|by| format!("{name} {by} "));
        is_name
            && (left.ends_with("--")
                || step.split(',').map(str::trim).any(|step| {
                    steps.iter().any(|counted| step == counted)
                        || changes.iter().any(|change| step.starts_with(change))
                }))
    })
}

/// Returns the lines, from 1, of loops that neither count nor say what bounds them.
fn unbounded(source: &str) -> Vec<usize> {
    let lines: Vec<&str> = source.lines().collect();
    let says =
        |line: usize| lines[line.saturating_sub(LINES_ABOVE)..line].iter().any(|l| l.contains("// Bound: "));
    loops(source)
        .into_iter()
        .filter(|(line, head)| !counts(head) && !says(*line))
        .map(|(l, _)| l + 1)
        .collect()
}

#[test]
fn every_loop_of_a_kernel_has_a_bound() {
    let mut found = Vec::new();
    let (mut n_files, mut n_loops) = (0, 0);
    for extension in ["comp", "glsl", "vert", "frag"] {
        for path in files_below(&repository().join("glsl"), extension) {
            let source = fs::read_to_string(&path).unwrap();
            n_files += 1;
            n_loops += loops(&source).len();
            found.extend(unbounded(&source).into_iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(n_files > 100 && n_loops > 200, "{n_files} files with {n_loops} loops");
    assert!(
        found.is_empty(),
        "found loops whose end does not follow from their head, expected a comment `Bound:` above them:\n{}",
        found.join("\n")
    );
}

#[test]
fn loops_without_a_bound_are_found() {
    let bounded = "for (uint k = 0u; k < n; ++k) a();\nfor (; row > begin && b(row); --row) c();\n\
                   for (uint z = 3u; z-- > 0u;) d();\nfor (uint t = 0u; t * WIDTH < n; ++t) e();\n\
                   for (uint k = first(a, b(c)); k < n; k += step(d)) f();\n\
                   // Bound: the bits of a word.\nwhile (bits != 0u) bits &= bits - 1u;\n\
                   // while (true) in a comment\n";
    assert_eq!(unbounded(bounded), [0usize; 0]);
    assert_eq!(loops(bounded).len(), 6);
    for endless in [
        "while (x > y) y = next(y);",
        "for (;;) a();",
        "for (uint k = 0u; k < n; k = next(k)) a();",
        "for (uint k = 0u; k < n; ++j) a();",
        "do a(); while (x);",
    ] {
        assert_eq!(unbounded(&format!("\n{endless}\n")), [2], "{endless}");
    }
}
