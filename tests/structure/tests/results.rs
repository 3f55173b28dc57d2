//! `docs/results.csv` has every comparison with a reference; `docs/results.md` is generated from it.
//! `FRAZIL_WRITE_RESULTS=1 cargo test -p frazil-structure --test results` rewrites the page after a change.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::fmt::Write;

/// A comparison: a row of the file.
struct Row {
    part: String,
    case: String,
    reference: String,
    kind: String,
    bound: String,
    found: String,
    result: String,
    test: String,
    plot: String,
}

/// Returns the fields of a line, of which those with commas or quotes are quoted.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                found.last_mut().unwrap().push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(String::new()),
            c => found.last_mut().unwrap().push(c),
        }
    }
    assert!(!is_quoted, "a quote that does not end: {line}");
    found
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(repository().join("docs/results.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("part,case,reference,kind,bound,reason,found,result,test,plot"));
    let row = |line| {
        let fields: [String; 10] = fields(line).try_into().unwrap_or_else(|_| panic!("ten fields: {line}"));
        let [part, case, reference, kind, bound, _reason, found, result, test, plot] = fields;
        assert!(["A", "E", "I", "T", "I, A"].contains(&&*kind), "kind {kind:?}: {line}");
        assert!(["PASS", "FAIL"].contains(&&*result), "result {result:?}: {line}");
        assert!(![&part, &case, &bound, &test].iter().any(|field| field.is_empty()), "empty field: {line}");
        Row { part, case, reference, kind, bound, found, result, test, plot }
    };
    lines.map(row).collect()
}

/// Writes a table; that of failures has the part and the test.
fn write_table(page: &mut String, rows: &[&Row], is_of_failures: bool) {
    page.push_str(if is_of_failures {
        "\n| part | case | reference | kind | bound | found | test |\n|---|---|---|---|---|---|---|\n"
    } else {
        "\n| case | reference | kind | bound | found |\n|---|---|---|---|---|\n"
    });
    for row in rows {
        let plot = if row.plot.is_empty() { String::new() } else { format!(" [plot](plots/{})", row.plot) };
        let found = format!("{}{plot}", row.found);
        let mut cells = vec![&row.case, &row.reference, &row.kind, &row.bound, &found];
        if is_of_failures {
            cells.insert(0, &row.part);
            cells.push(&row.test);
        }
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
}

/// Returns the page: failures first, then a table for each part.
fn page(rows: &[Row]) -> String {
    let failed: Vec<&Row> = rows.iter().filter(|row| row.result == "FAIL").collect();
    let mut page = format!(
        "# Results\n\n\
         Comparisons with references, found on a software device (llvmpipe of Mesa 22.3.6, LLVM 15, 256 \
         bits),\n\
         2026-11-24 to 26, unless a row says otherwise: {} pass, {} fail.\n\n\
         Kinds: A analytic, E experiment, T CPU twin, I invariant.\n\n\
         Generated from [results.csv](results.csv), which also has the test of each row, the reason of each\n\
         bound, and the comparisons without a figure. Any device can repeat rows of [`frazil \
         validate`](validate.md).\n\
         The pages of the methods have causes and other limits.\n\n\
         ## Known failures\n",
        rows.len() - failed.len(),
        failed.len()
    );
    write_table(&mut page, &failed, true);
    let mut parts: Vec<&str> = Vec::new();
    for row in rows {
        if !parts.contains(&&*row.part) {
            parts.push(&row.part);
        }
    }
    for part in parts {
        let passed = rows.iter().filter(|row| row.part == part && row.result == "PASS");
        let (measured, others): (Vec<&Row>, Vec<&Row>) = passed.partition(|row| !row.found.is_empty());
        let _ = write!(page, "\n## {part}\n");
        write_table(&mut page, &measured, false);
        if !others.is_empty() {
            let _ = writeln!(page, "\n{} more pass that print no figure.", others.len());
        }
    }
    page
}

#[test]
fn the_page_of_results_is_current() {
    let path = repository().join("docs/results.md");
    let page = page(&rows());
    if std::env::var_os("FRAZIL_WRITE_RESULTS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == page, "docs/results.md is not that of results.csv");
}

#[test]
fn tests_and_plots_of_results_exist() {
    let root = repository();
    let mut sources = String::new();
    for folder in ["tests", "crates"] {
        for path in files_below(&root.join(folder), "rs") {
            sources.push_str(&path.display().to_string());
            sources.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
    let mut missing = Vec::new();
    for Row { case, test, plot, .. } in rows() {
        // Every second part is between backquotes.
        for name in test.split('`').skip(1).step_by(2).filter(|name| !name.contains([' ', '/', '.', '-'])) {
            let part = name.split("::").flat_map(|name| name.split('…')).max_by_key(|part| part.len());
            if !part.is_some_and(|part| sources.contains(part)) {
                missing.push(format!("{case}: test {name}"));
            }
        }
        if !plot.is_empty() && !root.join("docs/plots").join(&plot).exists() {
            missing.push(format!("{case}: plot {plot}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn quoted_fields_are_read() {
    assert_eq!(fields("a,\"b, \"\"c\"\"\",,d"), ["a", "b, \"c\"", "", "d"]);
}
