//! The commands of docs/tutorial.md, in its order, with fewer steps where the result does not matter.

use crate::tool::{SMALL_PICTURES, command, stderr, succeed};
use frazil_report::erf;
use std::fs;
use std::path::Path;

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");

/// A step of the tutorial.
enum Step {
    Command(Vec<String>),
    File { name: String, text: String },
}

/// Returns the commands and files in the blocks of shell commands.
fn steps() -> Vec<Step> {
    let mut found = Vec::new();
    for block in TUTORIAL.split("```sh\n").skip(1) {
        let mut lines = block.split("```").next().unwrap().lines();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("cat > ").and_then(|rest| rest.strip_suffix(" <<'EOF'")) {
                let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "EOF").collect();
                found.push(Step::File { name: name.to_owned(), text: text.join("\n") });
            } else {
                let words = line.strip_prefix("frazil ").unwrap_or_else(|| panic!("not a command: {line}"));
                found.push(Step::Command(words.split_whitespace().map(str::to_owned).collect()));
            }
        }
    }
    found
}

/// Returns a command with small pictures and a few steps, except for the slab's steps, whose result is
/// compared. Water is coarse as in one of the commands; `authoring` runs the scene as it is.
fn shortened(mut words: Vec<String>) -> Vec<String> {
    let is_run = ["run", "sweep"].contains(&&*words[0]);
    if is_run {
        words.extend(SMALL_PICTURES.map(str::to_owned));
    }
    if is_run && words[1] != "slab.toml" {
        if let Some(at) = words.iter().position(|word| word == "--time") {
            words.drain(at..at + 2);
        }
        words.extend(["--steps", "4"].map(str::to_owned));
    }
    let is_measured = words.iter().any(|word| word == "--measure");
    let is_coarse = words.iter().any(|word| word.contains("particle_spacing_m"));
    if (is_run || is_measured) && words[1] == "water.toml" && !is_coarse {
        let coarse = ["--set", "fluid.particle_spacing_m=0.04", "--set", "time.dt_s=0.004"];
        words.extend(coarse.map(str::to_owned));
    }
    words
}

#[test]
fn the_commands_of_the_tutorial_work_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let (mut n_commands, mut warned) = (0, Vec::new());
    for step in steps() {
        match step {
            Step::File { name, text } => fs::write(folder.path().join(name), text).unwrap(),
            // It needs a screen; view.rs opens windows.
            Step::Command(words) if words[0] == "view" => {}
            Step::Command(words) => {
                let shown = words.join(" ");
                let words = shortened(words);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let output = succeed(command(&words).current_dir(folder.path()));
                n_commands += 1;
                let said = stderr(&output);
                warned.extend(said.contains("normal_stiffness_n_m: is too soft").then_some(shown));
            }
        }
    }
    assert!(n_commands >= 15, "{n_commands}");
    assert_eq!(warned, ["check pile.toml --set dem.normal_stiffness_n_m=200"]);
    for file in ["water.y4m", "out/water/export/particles_000000.vtk", "out/viscosities/sweep.csv"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    assert_slab(&folder.path().join("out/slab_csv/particles_000003.csv"));
}

/// Compares the temperatures of the slab with the error function.
fn assert_slab(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let column = |label: &str| header.iter().position(|name| *name == label).unwrap();
    let (x, t) = (column("position_x [m]"), column("temperature [°C]"));
    let width_m = (4.0_f64 * 1e-6 * 600.0).sqrt();
    let (mut worst, mut n) = (0.0_f64, 0);
    for row in rows {
        let [x, found] = [x, t].map(|column| row[column].parse::<f64>().unwrap());
        let expected = -25.0 + 15.0 * erf(x / width_m);
        worst = worst.max((found - expected).abs() / 30.0);
        n += 1;
    }
    assert!(n == 450 && worst < 0.03, "{n} particles, {worst} of the jump");
}
