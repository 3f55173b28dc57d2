//! Writing scenes: templates, built-in texts, particles from files, and what `check` says.

use crate::tool::{command, run_small, stderr, succeed};
use frazil_io::Recording;
use std::fs;
use std::path::Path;
use std::process::Output;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn new_scenes_are_sound_and_run() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["pbd", "snow", "viscoelastic", "mpm", "dem", "avalanche"] {
        let frazil = |arguments: &[&str]| {
            let mut command = command(arguments);
            command.current_dir(folder.path());
            command
        };
        let file = format!("{kind}.toml");
        assert!(stderr(&succeed(&mut frazil(&["new", kind]))).contains(&format!("wrote {file}")));
        let text = fs::read_to_string(folder.path().join(&file)).unwrap();
        assert!(text.contains(&format!("#   frazil run {file} ")) && text.matches('#').count() > 5, "{text}");
        let checked = succeed(&mut frazil(&["check", &file]));
        assert!(
            stdout(&checked).contains(" is sound\n") && checked.stderr.is_empty(),
            "{}",
            stderr(&checked)
        );
        let run =
            ["run", &file, "--steps", "1", "--render", "never", "--check", "1", "--quiet", "--out", kind];
        succeed(&mut frazil(&run));
        let refused = frazil(&["new", kind]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(&format!("{file}: the file exists")), "{}", stderr(&refused));
    }
}

#[test]
fn built_in_scenes_and_the_reference_are_printed() {
    let shown = stdout(&succeed(&mut command(&["scenes", "--show", "drop"])));
    assert_eq!(shown, include_str!("../../../../scenes/drop.toml"));
    let refused = command(&["scenes", "--show", "dorp"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("did you mean drop?"), "{}", stderr(&refused));
    let reference = stdout(&succeed(&mut command(&["scenes", "--reference"])));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.md");
    assert_eq!(reference, fs::read_to_string(page).unwrap());
}

/// Particles that leave as a file of any format come back with the same positions and velocities.
#[test]
fn exported_particles_are_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    succeed(&mut run_small(&out, &["--steps", "30", "--render", "never", "--record", "30"]));
    let recording = out.join("recording.frazil-rec");
    let formats = ["ply", "vtu", "bgeo", "csv"];
    succeed(&mut command(&["export", recording.to_str().unwrap(), "--format", &formats.join(",")]));
    let expected = Recording::open(&recording).unwrap().frame(1).unwrap().sorted_by_id();
    for format in formats {
        let path = out.join(format!("export/particles_000001.{format}"));
        let shape = format!("particles.0.shape={{points={{path=\"{}\"}}}}", path.display());
        let again = folder.path().join(format);
        let plan = ["--steps", "1", "--render", "never", "--record", "1", "--set", &shape];
        succeed(&mut run_small(&again, &plan));
        let found = Recording::open(&again.join("recording.frazil-rec")).unwrap().frame(0).unwrap();
        let found = found.sorted_by_id();
        assert!(found.positions() == expected.positions(), "{format}");
        assert!(found.vec3("velocity").unwrap() == expected.vec3("velocity").unwrap(), "{format}");
    }
}

/// Runs `check` of the dam break with particles from a file, which must be refused.
#[track_caller]
fn refuse_particles(folder: &Path, name: &str, text: &str, said: &[&str]) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let shape = format!("particles.0.shape={{points={{path=\"{}\"}}}}", path.display());
    let output = command(&["check", "dam_break", "--set", &shape]).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{name}: {message}");
    for part in [&["particles.0.shape.points", name][..], said].concat() {
        assert!(message.contains(part), "{name}: \"{part}\" is not in: {message}");
    }
}

#[test]
fn files_of_particles_are_refused_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |name: &str, text: &str, said: &[&str]| refuse_particles(folder.path(), name, text, said);
    let header = "position_x [m],position_y [m],position_z [m],velocity_x,velocity_y,velocity_z\n";
    let row = "0.1,0.1,0.05,0,0,0\n";
    refuse(
        "a.csv",
        &format!("{header}{row}0.2,0.1,wet,0,0,0\n"),
        &["line 3, column position_z: found text, expected a number"],
    );
    refuse(
        "b.csv",
        &format!("{header}{row}0.2,0.1,0.05,0,NaN,0\n"),
        &["line 3, column velocity_y: found NaN"],
    );
    refuse("c.csv", &format!("{header}0.1,0.1\n"), &["line 2: found 2 cells, expected 6"]);
    refuse("d.csv", "x,y\n0.1,0.1\n", &["no column z"]);
    refuse("e.csv", "height,width\n1,2\n", &["no columns position_x, position_y and position_z"]);
    refuse("f.csv", header, &["no particles"]);
    refuse("g.csv", &format!("{header}{row}{row}"), &["line 2 and line 3 are at the same position"]);
    let ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float \
               z\n\
               end_header\n0.1 0.1 0.05\n0.1 nan 0.05\n";
    refuse("h.ply", ply, &["no valid PLY: line 9"]);
    refuse("p.ply", &ply.replace("nan", "1e999"), &["particle 1, column y: found inf"]);
    refuse("i.ply", "ply\nformat ascii 1.0\nelement face 0\nend_header\n", &["without the element vertex"]);
    refuse("j.bgeo", "BgeoV\0\0\0\x05\0\0\0\x09", &["truncated at byte 13"]);
    refuse("k.bgeo", "a JSON bgeo", &["does not begin with BgeoV"]);
    refuse("l.vtu", "<VTKFile compressor=\"vtkZLibDataCompressor\"/>", &["a VTU without Points"]);
    refuse("m.vtu", "<VTKFile><Piece/>", &["no valid VTU"]);
    refuse("n.xyz", "0 0 0", &["does not end in .ply, .vtu, .pvtu, .bgeo or .csv"]);
    // Outside of the domain, which is 0.584 m high; the file is in the key of the shape, not in the message.
    let path = folder.path().join("o.csv");
    fs::write(&path, "x,y,z\n0.1,9,0.05\n0.2,9,0.05\n").unwrap();
    let shape = format!("particles.0.shape={{points={{path=\"{}\"}}}}", path.display());
    let output = command(&["check", "dam_break", "--set", &shape]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("found y from 9 m to 9 m"), "{}", stderr(&output));
}

/// `check` lists all warnings at once.
#[test]
fn check_warns_of_everything_at_once() {
    let outside = "bodies=[{name=\"far\",shape={sphere={centre_m=[9,9,9],radius_m=0.5}}}]";
    let sets = [
        "particles.0.temperature_c=5.0",
        "pbd.density_tolerance=0.0",
        "pbd.max_iterations=9",
        "gravity_m_s2=[0,9.81,0]",
        outside,
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let output = succeed(&mut command(&[&["check", "drop"], &sets[..]].concat()));
    let said = stderr(&output);
    for part in [
        "particles.0.temperature_c: has no effect: the scene has no [snow]",
        "pbd.max_iterations: has no effect: with pbd.density_tolerance = 0",
        "gravity_m_s2: points up",
        "bodies.0: lies outside the domain",
    ] {
        assert!(said.contains(part), "\"{part}\" is not in: {said}");
    }
    assert!(stdout(&output).contains("is valid, with 4 warnings"), "{}", stdout(&output));

    let soft = ["--set", "dem.normal_stiffness_n_m=200", "--set", "particles.0.temperature_c=5.0"];
    let said = stderr(&succeed(&mut command(&[&["check", "column_collapse"], &soft[..]].concat())));
    for part in [
        "normal_stiffness_n_m: is too soft",
        "at most 0.05 needs",
        "temperature_c: has no effect: grains have",
    ] {
        assert!(said.contains(part), "\"{part}\" is not in: {said}");
    }
    let sound = succeed(&mut command(&["check", "column_collapse"]));
    assert!(stdout(&sound).contains(" is sound\n"), "{}", stderr(&sound));
}

#[test]
fn check_measures_memory_and_time_on_request() {
    let small = ["--set", "fluid.particle_spacing_m=0.0243333333", "--set", "time.dt_s=0.002"];
    let text = stdout(&succeed(&mut command(&[&["check", "dam_break", "--measure"], &small[..]].concat())));
    let line = |label: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(label));
        found.unwrap_or_else(|| panic!("no {label} in {text}")).to_owned()
    };
    assert!(line("memory").contains(" MB on the device, ") && line("memory").ends_with(" B per particle"));
    assert!(line("step ").contains(" ms on "), "{text}");
    assert!(line("estimated time").contains(" for 1500 steps"), "{text}");
    let refused = command(&["check", "dam_break", "--device", "0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "--device without --measure");
}

#[test]
fn completions_and_man_pages_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&succeed(&mut command(&["completions", shell])));
        assert!(script.contains("completions") && script.contains("overwrite"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    succeed(&mut command(&["man", out.to_str().unwrap()]));
    let page = fs::read_to_string(out.join("frazil-run.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("checkpoint"), "{page}");
    assert!(out.join("frazil.1").exists() && out.join("frazil-export.1").exists());
}

#[test]
fn messages_are_coloured_on_request_only() {
    let said = |environment: &[(&str, &str)]| {
        let mut command = command(&["check", "nosuch.toml"]);
        stderr(&command.env_remove("NO_COLOR").envs(environment.iter().copied()).output().unwrap())
    };
    let plain = said(&[]);
    assert!(plain.starts_with("frazil: error: ") && !plain.contains('\u{1b}'), "{plain:?}");
    let coloured = said(&[("CLICOLOR_FORCE", "1")]);
    assert!(coloured.starts_with("frazil: \u{1b}[") && coloured.contains("nosuch.toml"), "{coloured:?}");
    assert_eq!(said(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
}
