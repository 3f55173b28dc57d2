//! Code outside of the solvers' folders does not ask which of the built-in solvers a scene has.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::lexer::{Kind, Token, tokens};
use frazil_structure::{files_below, repository};

/// Sections of the built-in solvers: `scene.NAME()` is one solver's own.
const SECTIONS: [&str; 6] = ["fluid", "snow", "pbd", "mpm", "dem", "viscoelastic"];

/// Folders of solvers, where their sections are read.
const FOLDERS: [&str; 8] = [
    "scene/src/solver/dem/",
    "scene/src/solver/mpm/",
    "scene/src/solver/pbd/",
    "scene/src/solver/viscoelastic/",
    "solvers/src/dem/",
    "solvers/src/mpm/",
    "solvers/src/pbd/",
    "solvers/src/viscoelastic/",
];

/// Other files with accesses: the cases of `validate`, each of which studies one solver.
const EXCEPTIONS: [&str; 1] = ["/validate/cases/"];

/// Returns the lines of `receiver.NAME()` with the name of a section, but for the tests at the end of a file.
fn accesses(found: &[Token]) -> Vec<(usize, &str)> {
    let begins_tests = |w: &[Token]| {
        w[0].ident() == Some("cfg") && w[1].is('(') && w[2].ident() == Some("test") && w[3].is(')')
    };
    let end = found.windows(4).position(begins_tests).unwrap_or(found.len());
    found[..end]
        .windows(5)
        .filter_map(|w| {
            let name = w[2].ident().filter(|name| SECTIONS.contains(name))?;
            // `solver.fluid()` and `snow.solid()` are other things than a scene's sections.
            let of_scene =
                matches!(&w[0].kind, Kind::Ident(receiver) if receiver == "scene" || receiver == "self");
            (of_scene && w[1].is('.') && w[3].is('(') && w[4].is(')')).then_some((w[2].line, name))
        })
        .collect()
}

#[test]
fn only_the_folders_of_solvers_read_their_sections() {
    let crates = repository().join("crates");
    let (mut outside, mut n_inside, mut excused) = (Vec::new(), 0, [0; EXCEPTIONS.len()]);
    for path in files_below(&crates, "rs") {
        let name = path.strip_prefix(&crates).unwrap().to_str().unwrap().replace('\\', "/");
        let is_released = name.contains("/src/")
            && !["bench/", "reference/", "testkit/"].iter().any(|other| name.starts_with(other));
        if !is_released {
            continue;
        }
        let text = tokens(&std::fs::read_to_string(&path).unwrap());
        let found = accesses(&text);
        if FOLDERS.iter().any(|folder| name.starts_with(folder)) {
            n_inside += found.len();
        } else if let Some(idx) = EXCEPTIONS.iter().position(|exception| name.contains(exception)) {
            excused[idx] += found.len();
        } else {
            outside.extend(found.iter().map(|(line, section)| format!("{name}:{line}: .{section}()")));
        }
    }
    assert!(n_inside > 50, "accesses are found: {n_inside}");
    for (exception, n) in EXCEPTIONS.iter().zip(excused) {
        assert!(n > 0, "{exception} no longer needs an exception");
    }
    assert!(
        outside.is_empty(),
        "ask the scene's solver (SolverScene) instead of its sections:\n{}",
        outside.join("\n")
    );
}

#[test]
fn an_access_is_found_and_others_are_not() {
    let source = "fn f(scene: &Scene) { scene.dem(); solver.fluid(); // scene.mpm()\n scene\n.mpm() }\n\
                  #[cfg(test)] mod tests { fn g() { scene.snow(); } }";
    assert_eq!(accesses(&tokens(source)), [(1, "dem"), (3, "mpm")]);
}
