//! Coverage of kernels: each has a CPU twin, a test and a bench, or a reason in `kernels.txt` why not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum numbers of kernels without a twin, without a test and without a bench; to be lowered, never
/// raised for lack of a test of a computation: `dem.report_fault`, one thread that describes a fault, and
/// `dem.hold_overflow`, which runs in a step with an overflow only, were the last to be added.
const MAX_MISSING: [usize; 3] = [8, 0, 15];

fn defines(text: &str, function: &str) -> bool {
    text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"))
}

fn mentions(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// Describes the error in the claim that `function` exists in a file below `folder`.
fn check_function(folder: &Path, claim: &str) -> Option<String> {
    let Some((file, function)) = claim.split_once(' ') else {
        return Some(format!("expected a file and a function, found \"{claim}\""));
    };
    match std::fs::read_to_string(folder.join(file)) {
        Err(error) => Some(format!("{file}: {error}")),
        Ok(text) if !defines(&text, function) => Some(format!("{file} has no function {function}")),
        Ok(_) => None,
    }
}

#[test]
fn every_kernel_has_a_twin_a_test_and_a_bench_or_a_reason() {
    let root = repository();
    let kernels: BTreeSet<String> = files_below(&root.join("glsl"), "comp")
        .iter()
        .map(|path| {
            let area = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
            format!("{area}.{}", path.file_stem().unwrap().to_str().unwrap())
        })
        .collect();
    let text = |folder: &str| -> String {
        let files = files_below(&root.join(folder), "rs");
        files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
    };
    let (reference, benches) = (text("crates/reference/src"), text("crates/bench/src/benches"));
    // Rules of bonds are for users of the primitive; its bench and its tests have them from the testkit.
    let program: String =
        ["kernels", "particles", "solvers", "render", "studies", "viewer", "testkit", "bench"]
            .map(|c| text(&format!("crates/{c}/src")))
            .concat();

    let table = std::fs::read_to_string(root.join("tests/structure/kernels.txt")).unwrap();
    let mut problems = Vec::new();
    let mut listed = BTreeSet::new();
    let mut missing = [0; 3];
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[kernel, twin, test, bench] = fields.as_slice() else {
            panic!("kernels.txt: expected kernel | twin | test | bench, found: {line}");
        };
        listed.insert(kernel.to_owned());
        let name = kernel.split_once('.').map_or(kernel, |(_, name)| name);
        let mut problem = |what: &str, problem: String| problems.push(format!("{kernel}: {what}: {problem}"));
        for (count, claim) in missing.iter_mut().zip([twin, test, bench]) {
            *count += usize::from(claim.starts_with("- "));
        }
        if !mentions(&program, name) {
            problem("use", "no crate dispatches it".into());
        }
        if twin.starts_with("- ") {
            if defines(&reference, name) {
                problem("twin", "there is one by this name: no reason is needed any more".into());
            }
        } else if let Some(error) = check_function(&root.join("crates/reference/src"), twin) {
            problem("twin", error);
        }
        if !test.starts_with("- ")
            && let Some(error) = check_function(&root, test)
        {
            problem("test", error);
        }
        if bench.starts_with("- ") {
            if benches.contains(&format!("\"{kernel}\"")) {
                problem("bench", "there is one of this id: no reason is needed any more".into());
            }
        } else if !benches.contains(&format!("\"{bench}\"")) {
            problem("bench", format!("no bench has the id {bench}"));
        }
    }
    problems.extend(kernels.difference(&listed).map(|kernel| format!("{kernel}: no line in kernels.txt")));
    problems.extend(listed.difference(&kernels).map(|kernel| format!("{kernel}: no such kernel")));
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    println!("without a twin, a test, a bench: {missing:?} of {} kernels", kernels.len());
    for ((what, found), max) in ["twin", "test", "bench"].into_iter().zip(missing).zip(MAX_MISSING) {
        assert_eq!(found, max, "kernels without a {what}; MAX_MISSING only falls");
    }
}
