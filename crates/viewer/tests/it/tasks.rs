//! The commands of docs/tasks.md, in its order, with small pictures and coarse water.

use crate::tool::{SMALL, SMALL_PICTURES, command, stderr, succeed};

const TASKS: &str = include_str!("../../../../docs/tasks.md");

#[test]
fn the_commands_of_the_tasks_work_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let (mut n_commands, mut n_refused) = (0, 0);
    for line in TASKS.split("```sh\n").skip(1).flat_map(|block| block.split("```").next().unwrap().lines()) {
        let line = line.trim();
        if let Some(refused) = line.strip_prefix("! frazil ") {
            let (words, expected) = refused.split_once(" # ").unwrap();
            let words: Vec<&str> = words.split_whitespace().collect();
            let output = command(&words).current_dir(folder.path()).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
            assert!(stderr(&output).contains(expected), "{line}: {}", stderr(&output));
            n_refused += 1;
        } else if !line.is_empty() {
            let words = line.strip_prefix("frazil ").unwrap_or_else(|| panic!("not a command: {line}"));
            // Water that is coarser still, and the dam break that most tests run.
            let words = words.replace("fluid.particle_spacing_m=0.04", "fluid.particle_spacing_m=0.06");
            let mut words: Vec<&str> = words.split_whitespace().collect();
            if words.starts_with(&["run", "dam_break"]) {
                words.extend(&SMALL[1..]);
            } else if ["run", "sweep"].contains(&words[0]) {
                words.extend(SMALL_PICTURES);
            }
            succeed(command(&words).current_dir(folder.path()));
            n_commands += 1;
        }
    }
    let n_tasks =
        TASKS.lines().filter(|line| line.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok()));
    assert_eq!((n_tasks.count(), n_refused), (20, 3));
    assert!(n_commands > 20, "{n_commands}");
    for file in [
        "first/frames/frame_000001.png",
        "particles/particles_000008.vtu",
        "avalanche/export/map_peak_speed.png",
    ] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}
