//! Bad input ends with status 2, device errors with 3, each with one message that names the cause, and never
//! with a panic.

use crate::tool::{SMALL, command, run_small, stderr, succeed};
use frazil_io::Checkpoint;
use std::fs;
use std::path::Path;

/// Runs the program and expects the status, one message, and each of `said` in it.
#[track_caller]
fn refuse(arguments: &[&str], environment: &[(&str, &str)], status: i32, said: &[&str]) {
    let output = command(arguments).envs(environment.iter().copied()).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
    assert_eq!(message.matches("frazil: error: ").count(), 1, "{arguments:?}: {message}");
    assert!(!message.contains("panicked") && !message.contains("stack backtrace"), "{message}");
    for part in said {
        assert!(message.contains(part), "{arguments:?}: \"{part}\" is not in: {message}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?}: data on stdout: {:?}", output.stdout);
}

/// Returns a valid scene with one piece of its text replaced, and the line number of that piece.
fn edited_scene(folder: &Path, text: &str, from: &str, to: &str) -> (String, usize) {
    let line = text.lines().position(|line| line.contains(from)).unwrap() + 1;
    let path = folder.join("edited.toml");
    fs::write(&path, text.replace(from, to)).unwrap();
    (path.to_str().unwrap().to_owned(), line)
}

#[test]
fn a_limit_of_the_watchdog_is_a_number_of_seconds() {
    for text in ["soon", "-1", "1e9", "NaN"] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["run", "dam_break", "--out", folder.path().to_str().unwrap()];
        let said = [&*format!("FRAZIL_WATCHDOG: found \"{text}\""), "expected a number of seconds"];
        refuse(&arguments, &[("FRAZIL_WATCHDOG", text)], 2, &said);
    }
}

/// A limit of the device is told before minutes of sampling, and is no bad input.
#[test]
fn more_particles_than_the_device_binds_are_refused_before_sampling() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let many = ["--set", "fluid.particle_spacing_m=0.0006", "--out", out.to_str().unwrap(), "--quiet"];
    refuse(&[&["run", "dam_break"], &many[..]].concat(), &[], 3, &["particles", "this device can bind "]);
}

#[cfg(unix)]
#[test]
fn a_scene_may_come_from_a_pipe() {
    let scene = include_str!("../../../../scenes/dam_break.toml");
    let mut child = command(&["check", "/dev/stdin"]);
    let mut child =
        child.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), scene.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"scene dam_break is sound"), "{output:?}");
}

#[test]
fn inconsistent_scenes_are_refused_with_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, said) in [
        ("[time]", "[tiem]", &["tiem: unknown key", "did you mean time"][..]),
        ("rest_density_kg_m3 = 1000.0", "particle_mass_kg = -0.5", &["fluid.particle_mass_kg", "found -0.5"]),
        ("max_m = [0.146, 0.292, 0.073]", "max_m = [0.001, 0.292, 0.073]", &["particles"]),
        ("dt_s = 0.001", "dt_s = nan", &["time.dt_s", "found nan"]),
        ("dt_s = 0.001", "dt_s = \"fast\"", &["time.dt_s", "fast"]),
        ("version = 1", "version = 1 1", &["not valid TOML"]),
    ] {
        let text = include_str!("../../../../scenes/dam_break.toml");
        let (scene, line) = edited_scene(folder.path(), text, from, to);
        let place = format!("edited.toml:{line}:");
        for verb in ["run", "check", "profile"] {
            refuse(&[verb, &scene], &[], 2, &[&[place.as_str()], said].concat());
        }
    }
}

#[test]
fn columns_that_the_solver_does_not_have_are_refused_with_those_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let text = include_str!("../../../../scenes/dam_break.toml");
    let (scene, line) = edited_scene(folder.path(), text, "colour_by = \"speed\"", "colour_by = \"densty\"");
    let place = format!("edited.toml:{line}:");
    let of_water = "render.colour_by: found \"densty\", expected one of speed, height, position, velocity, \
                    id, density, lambda, or a component such as position.x; did you mean density?";
    for verb in ["run", "check", "profile", "view"] {
        refuse(&[verb, &scene], &[], 2, &[&place, of_water]);
    }
    for (scene, name) in
        [("dam_break", "mass"), ("ramps", "lambda"), ("hopper", "density"), ("ramps", "mass.x")]
    {
        let set = format!("render.colour_by={name}");
        let said = format!("render.colour_by: found \"{name}\", expected one of speed, height, ");
        refuse(&["check", scene, "--set", &set], &[], 2, &[&said]);
    }
}

#[test]
fn inconsistent_mpm_scenes_are_refused_with_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    // A tetrahedron with one face missing.
    let open = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
    fs::write(folder.path().join("open.obj"), open).unwrap();
    fs::write(folder.path().join("letters.ttf"), "no letters").unwrap();
    let ramps = include_str!("../../../../scenes/ramps.toml");
    let letters = include_str!("../../../../scenes/letters_muddy.toml");
    let balls = include_str!("../../../../scenes/snowballs_3d.toml");
    let ball = balls.lines().find(|line| line.starts_with("shape.sphere")).unwrap();
    let mesh =
        |path: &str| format!("shape.mesh = {{ path = \"{path}\", scale = 0.1, offset_m = [0.1, 0.1, 0.1] }}");
    let font = |path: &str| format!("height_m = 0.5, font = \"{path}\",");
    for (text, from, to, said) in [
        (
            ramps,
            "centre_m = [0.35, 1.75]",
            "centre_m = [0.05, 1.75]",
            &[
                "particles.0.shape.circle: found x from -0.09 m to 0.19 m",
                "inside the domain, x from 0 m to 3 m",
            ][..],
        ),
        (
            ramps,
            "centre_m = [0.35, 1.75]",
            "centre_m = [0.85, 1.3]",
            &["particles.0.shape: found 987 of 2189 particles inside bodies.0", "expected"],
        ),
        (
            ramps,
            "radius_m = 0.14",
            "radius_m = 0.0",
            &["radius_m: found 0, expected a positive number of metres"],
        ),
        (ramps, "radius_m = 0.14", "radius_m = 0.001", &["found no particles", "expected at least the area"]),
        (
            ramps,
            "fill = \"uniform\"",
            "count = 0",
            &["particles.0.count: found 0, expected a whole number from 1"],
        ),
        (
            ramps,
            "cell_size_m = 0.015",
            "cell_size_m = 0.0",
            &["mpm.cell_size_m: found 0, expected a positive"],
        ),
        (
            ramps,
            "dt_s = \"auto\"",
            "dt_s = 0.01",
            &["time.dt_s: found 0.01 s", "surely unstable, expected at most 0.0007606 s", "dt_s = 0.0001252"],
        ),
        (
            letters,
            "hardening = 7.5",
            "poissons_ratio = 0.5",
            &["mpm.material.poissons_ratio: found 0.5, expected a number from 0 to below 0.5"],
        ),
        (
            letters,
            "critical_compression = 1e-2",
            "critical_compression = 1.0",
            &["mpm.material.critical_compression: found 1, expected a number from 0 to below 1"],
        ),
        (letters, "\"SNOW\"", "\"\"", &["shape.text.text: found nothing to see in \"\", expected letters"]),
        (
            letters,
            "height_m = 0.5,",
            &font("nosuch.ttf"),
            &["shape.text.font: found", "nosuch.ttf: No such file", "expected a TTF or OTF file"],
        ),
        (
            letters,
            "height_m = 0.5,",
            &font("letters.ttf"),
            &["shape.text.font: found", "letters.ttf: no valid font", "expected a TTF or OTF file"],
        ),
        (
            balls,
            ball,
            &mesh("open.obj"),
            &[
                "shape.mesh.path: found",
                "open.obj: an open edge from [0, ",
                "expected a mesh of a closed surface",
            ],
        ),
        (
            balls,
            ball,
            &mesh("nosuch.obj"),
            &["shape.mesh.path: found", "nosuch.obj: No such file", "expected an OBJ"],
        ),
    ] {
        let (scene, line) = edited_scene(folder.path(), text, from, to);
        for verb in ["run", "check"] {
            refuse(&[verb, &scene], &[], 2, &[&[format!("edited.toml:{line}:").as_str()], said].concat());
        }
    }
}

#[test]
fn a_trillion_particles_are_refused_before_they_are_made() {
    let too_many = "fluid.particle_spacing_m=1.46e-5";
    // Viscosity would refuse the step first.
    let inviscid = "fluid.dynamic_viscosity_pa_s=0";
    let arguments = ["run", "dam_break", "--set", too_many, "--set", inviscid];
    refuse(&arguments, &[], 2, &["particles", "268435455"]);
}

#[test]
fn files_that_are_not_there_or_not_readable_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    refuse(&["run", "nosuch.toml"], &[], 2, &["nosuch.toml", "cannot read the scene file"]);
    refuse(&["run", "dam_brake"], &[], 2, &["dam_brake", "did you mean dam_break?"]);
    refuse(&["run", directory], &[], 2, &[directory, "directory"]);
    refuse(&["export", "nosuch.frazil-rec", "--format", "csv"], &[], 2, &["nosuch.frazil-rec"]);
    refuse(&["run", "dam_break", "--resume", "nosuch.ckpt"], &[], 2, &["nosuch.ckpt"]);
    refuse(&["bench", "copy", "--against", "nosuch.jsonl"], &[], 2, &["cannot read nosuch.jsonl"]);
}

#[test]
fn arguments_are_checked() {
    for (arguments, said) in [
        (&["analyse", "dam_break"][..], &["unrecognized subcommand 'analyse'"][..]),
        (&["sweep", "dam_break"], &["required", "--vary"]),
        (&["sweep", "dam_break", "--vary", "time.dt_s"], &["--vary", "found no '=' in \"time.dt_s\""]),
        (&["sweep", "dam_break", "--vary", "a=1", "--vary", "b,a=1"], &["--vary a: the key is varied twice"]),
        (
            &["run", "dam_break", "--render", "often"],
            &["--render", "found \"often\", expected a number of steps"],
        ),
        (&["run", "dam_break", "--metrics", "0"], &["--metrics", "a number of steps from 1"]),
        (&["run", "dam_break", "--record", "-1s"], &["--record"]),
        (&["run", "dam_break", "--time", "never"], &["--time", "a time in seconds above 0"]),
        (&["run", "dam_break", "--steps", "2", "--time", "2"], &["cannot be used with"]),
        (&["run", "dam_break", "--set", "fluid.particle_spacing_m"], &["--set fluid.particle_spacing_m"]),
        (&["run", "dam_break", "--set", "fluid.spacing=1.0"], &["fluid.spacing", "unknown key"]),
        (&["run", "dam_break", "--set", "time.dt_s=-1.0"], &["--set time.dt_s=-1.0", "found -1"]),
        (&["run", "dam_break", "--seed", "18446744073709551615"], &["seed"]),
        (&["export", "some.frazil-rec", "--format", "obj"], &["unknown format \"obj\""]),
        (&["profile", "dam_break", "--steps", "0"], &["--steps"]),
        (&["profile", "dam_break", "--vary", "colour=3"], &["--vary", "expected workgroup_size="]),
        (
            &["profile", "dam_break", "--vary", "workgroup_size=48"],
            &["found 48, expected a power of two from 64"],
        ),
        (&["profile", "dam_break", "--vary", "workgroup_size=64,many"], &["found \"many\""]),
        (&["profile", "dam_break", "--vary", "workgroup_size=64,64"], &["64 is given twice"]),
        (&["profile", "dam_break", "--tolerance", "-1"], &["--tolerance", "expected a number above 0"]),
        (
            &["bench", "radix_sert"],
            &["no bench matches \"radix_sert\"", "did you mean primitives.radix_sort?"],
        ),
        (&["bench", "--axis", "cuont=1"], &["--axis cuont", "did you mean count?"]),
        (&["bench", "--axis", "count"], &["--axis", "found \"count\", expected name=value"]),
        (&["bench", "--axis", "count=many"], &["found \"many\", expected a whole number from 0"]),
        (&["bench", "--axis", "variant=gpu"], &["--axis variant", "found \"gpu\"", "cpu_rayon"]),
        (&["bench", "--tolerance", "-0.1"], &["--tolerance", "a number above 0"]),
    ] {
        refuse(arguments, &[], 2, said);
    }
}

#[test]
fn a_device_that_is_not_there_is_device_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let run = [&["run"], SMALL, &["--out", out]].concat();
    refuse(&[&run[..], &["--device", "nosuch"]].concat(), &[], 3, &["no device matches \"nosuch\"", "0: "]);
    refuse(&[&run[..], &["--device", "99"]].concat(), &[], 3, &["no device matches \"99\""]);
    let no_driver = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    refuse(&run, &no_driver, 3, &["no Vulkan device"]);
    refuse(&["devices"], &no_driver, 3, &["no Vulkan device"]);
    refuse(&["profile", "dam_break"], &no_driver, 3, &["no Vulkan device"]);
    refuse(&["bench", "--device", "nosuch"], &[], 3, &["no device matches \"nosuch\""]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("file");
    fs::write(&in_the_way, "in the way").unwrap();
    let out = in_the_way.to_str().unwrap();
    refuse(&[&["run"], SMALL, &["--out", out]].concat(), &[], 2, &["cannot make the folder", out]);
    let below = format!("{out}/below");
    refuse(&["bench", "copy", "--smoke", "--out", &below], &[], 2, &["cannot append to", &below]);
    refuse(&["profile", "dam_break", "--out", &below], &[], 2, &["cannot make the folder", out]);
}

#[test]
fn damaged_files_are_refused_with_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    let damaged = path.to_str().unwrap();
    fs::write(&path, "neither a recording nor a checkpoint").unwrap();
    refuse(&["export", damaged, "--format", "ply"], &[], 2, &["is not a frazil recording"]);
    refuse(&[&["run"], SMALL, &["--resume", damaged]].concat(), &[], 2, &["is not a frazil checkpoint"]);
    fs::write(&path, b"FRZLREC\0\x01\0\0\0cut").unwrap();
    refuse(&["export", damaged, "--format", "ply"], &[], 2, &["damaged", "truncated"]);
    fs::write(&path, "\n{\"bench\": \"device.copy\"}\n").unwrap();
    refuse(
        &["bench", "copy", "--against", damaged],
        &[],
        2,
        &["damaged:2: no row of a bench: missing field"],
    );
}

#[test]
fn text_that_is_not_utf8_is_refused_with_the_offset_of_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    fs::write(&path, b"version = 1\nname = \"\xff\"\n").unwrap();
    let said = "found byte 0xff at byte 20, expected UTF-8 text";
    refuse(&["check", path.to_str().unwrap()], &[], 2, &["scene.toml", said]);

    fs::write(folder.path().join("hut.obj"), b"v 0 0 0\n# \xc3(\n").unwrap();
    let balls = include_str!("../../../../scenes/snowballs_3d.toml");
    let ball = balls.lines().find(|line| line.starts_with("shape.sphere")).unwrap();
    let mesh = "shape.mesh = { path = \"hut.obj\" }";
    let (scene, _) = edited_scene(folder.path(), balls, ball, mesh);
    let said = "hut.obj: no valid OBJ: found byte 0xc3 at byte 10, expected UTF-8 text";
    refuse(&["check", &scene], &[], 2, &[said]);
}

#[test]
fn long_values_are_shortened_in_messages() {
    let value = format!("fluid.rest_density_kg_m3=\"{}\"", "x".repeat(3000));
    let output = command(&["check", "dam_break", "--set", &value]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.len() < 600 && said.contains("xxx… (3"), "{} bytes: {said}", said.len());

    let long = "x".repeat(3000);
    let key = format!("{long}=1");
    for arguments in [
        &["check", &long][..],
        &["check", "dam_break", "--set", &key],
        &["run", "dam_break", "--record", &long],
        &["play", &long],
        &[&long],
    ] {
        let output = command(arguments).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.len() < 1500 && said.contains("xxx… (3"), "{} bytes: {said}", said.len());
    }
}

/// A checkpoint that is whole, but whose state is not that of the scene.
#[test]
fn a_state_with_columns_of_another_length_is_refused_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    succeed(&mut run_small(&out, &["--steps", "4", "--checkpoint", "4"]));
    let path = out.join("checkpoint.frazil-ckpt");
    let mut checkpoint = Checkpoint::read(&path).unwrap();
    checkpoint.sections.get_mut("velocity").unwrap().truncate(12);
    checkpoint.write(&path).unwrap();
    let arguments = [&["run"], SMALL, &["--out", out.to_str().unwrap(), "--steps", "8", "--resume"]].concat();
    let path = path.to_str().unwrap();
    refuse(&[&arguments[..], &[path]].concat(), &[], 2, &[path, "column \"velocity\""]);
}

#[test]
fn inconsistent_schemes_and_surfaces_are_refused() {
    refuse(
        &["run", "dam_break", "--scheme", "polygons"],
        &[],
        2,
        &["polygons", "sprites, surface, surface_and_slabs or fluid"],
    );
    refuse(
        &["run", "dam_break", "--scheme", "surface_and_slabs"],
        &[],
        2,
        &["render.scheme", "without [[dem.slabs]]"],
    );
    refuse(&["run", "ramps", "--scheme", "surface"], &[], 2, &["render.scheme", "in a plane"]);
    refuse(&["run", "ramps", "--scheme", "fluid"], &[], 2, &["render.scheme", "in a plane"]);
    for (key, said) in [
        ("surface_level=0", "render.surface_level: found 0"),
        ("surface_cell_spacings=9", "render.surface_cell_spacings: found 9"),
        ("fluid_anisotropy=0.5", "render.fluid_anisotropy: found 0.5"),
        ("fluid_radius_spacings=0", "render.fluid_radius_spacings: found 0"),
        ("fluid_smoothing_spacings=-1", "render.fluid_smoothing_spacings: found -1"),
        ("fluid_filter=\"median\"", "render.fluid_filter"),
        ("absorption_1_m=[0,-1,0]", "render.absorption_1_m.1: found -1"),
        ("fluid_color_srgb=[0,0,2]", "render.fluid_color_srgb.2: found 2"),
        ("spray_level=1", "render.spray_level: found 1"),
        ("environment=\"no_such.png\"", "render.environment"),
        ("fog_per_m=-1", "render.fog_per_m: found -1"),
        ("sun_elevation_deg=91", "render.sun_elevation_deg: found 91"),
        ("sun_azimuth_deg=400", "render.sun_azimuth_deg: found 400"),
        ("lights=[{azimuth_deg=0,elevation_deg=100}]", "render.lights.0.elevation_deg: found 100"),
        ("lights=[{azimuth_deg=0,elevation_deg=1,intensity=-1}]", "render.lights.0.intensity: found -1"),
        (
            "lights=[{azimuth_deg=0,elevation_deg=1,color_srgb=[0,2,0]}]",
            "render.lights.0.color_srgb.1: found 2",
        ),
        ("lights=[{azimuth_deg=0}]", "render.lights.0.elevation_deg: missing"),
        ("snow.bump_slope=3", "render.snow.bump_slope: found 3"),
        ("snow.bump_wavelength_m=0", "render.snow.bump_wavelength_m: found 0"),
        ("snow.glitter=-1", "render.snow.glitter: found -1"),
        ("snow.glitter_cell_m=0", "render.snow.glitter_cell_m: found 0"),
        ("powder.suspended_share=2", "render.powder.suspended_share: found 2"),
        ("powder.onset_speed_m_s=0", "render.powder.onset_speed_m_s: found 0"),
        ("powder.ice_radius_m=-1", "render.powder.ice_radius_m: found -1"),
        ("powder.puff_radius_m=0", "render.powder.puff_radius_m: found 0"),
        ("powder.spray_optical_depth=-1", "render.powder.spray_optical_depth: found -1"),
    ] {
        refuse(&["check", "dam_break", "--set", &format!("render.{key}")], &[], 2, &[said]);
    }
    refuse(
        &["run", "dam_break", "--scheme", "surface", "--set", "render.shading=density"],
        &[],
        2,
        &["render.scheme"],
    );
    refuse(&["export", "nothing.frazil-rec", "--mesh", "obj"], &[], 2, &["nothing.frazil-rec"]);
    refuse(&["export", "nothing.frazil-rec", "--mesh", "stl"], &[], 2, &["stl", "obj or ply"]);
    refuse(&["export", "nothing.frazil-rec"], &[], 2, &["--format", "--mesh", "--map"]);
    refuse(&["export", "nowhere", "--map", "peak_speed"], &[], 2, &["run.json"]);
    refuse(
        &["export", "nowhere", "--map", "speed"],
        &[],
        2,
        &["\"speed\"", "expected one of deposit_thickness"],
    );
    refuse(
        &["export", "nothing.frazil-rec", "--mesh", "obj", "--format", "csv"],
        &[],
        2,
        &["nothing.frazil-rec"],
    );
}
