//! `frazil kernels`: what the driver's compiler makes of each kernel, for this device and for absent
//! hardware.

use crate::tool::{command, stderr, succeed};

const BUDGET: &str = "../../docs/kernels/navi31.csv";

/// Compiles for a family. Returns none, aloud, without a driver that can.
fn compiled_for(family: &str, arguments: &[&str]) -> Option<std::process::Output> {
    let output = command(&[&["kernels", "--for", family], arguments].concat()).output().unwrap();
    let errors = stderr(&output);
    let is_missing = output.status.code() == Some(3) && errors.contains("tools/setup --compilers");
    // The budget belongs to one version of the driver.
    let is_other = output.status.code() == Some(2) && errors.contains("another compiler allocates");
    if is_missing || is_other || errors.contains("\"navi31\", expected a family") {
        println!("skipped: {errors}");
        return None;
    }
    Some(output)
}

#[test]
fn kernels_of_this_device_are_listed() {
    let text = String::from_utf8(succeed(&mut command(&["kernels", "primitives"])).stdout).unwrap();
    assert!(text.contains("primitives.reduce_u32") && !text.contains("pbd."), "{text}");
    let one = succeed(&mut command(&[
        "kernels",
        "primitives.reduce_u32",
        "--json",
        "--constant",
        "workgroup_size=128",
    ]));
    let json: serde_json::Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(json["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(json["kernels"][0]["workgroup_size"], 128);
}

#[test]
fn spirv_is_written_once_and_without_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("spirv");
    let no_driver = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    let write = || command(&["kernels", "grid", "--spirv", out.to_str().unwrap()]).envs(no_driver).output();
    let output = write().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let grid = frazil_shaders::KERNELS.iter().filter(|kernel| kernel.name.starts_with("grid."));
    let mut n = 0;
    for kernel in grid {
        let path = out.join(format!("{}.spv", kernel.name));
        assert_eq!(std::fs::read(&path).unwrap(), kernel.spirv, "{}", path.display());
        // The magic number of SPIR-V.
        assert_eq!(kernel.spirv[..4], 0x0723_0203_u32.to_le_bytes());
        n += 1;
    }
    assert!(n > 2 && std::fs::read_dir(&out).unwrap().count() == n);
    let again = write().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    assert!(stderr(&again).contains(".spv exists"), "{}", stderr(&again));
}

#[test]
fn bad_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let truncated = folder.path().join("navi31.csv");
    let text = std::fs::read_to_string(BUDGET).unwrap();
    std::fs::write(&truncated, &text[..text.len() - 4]).unwrap();
    for (arguments, expected) in [
        (&["pbd.solve_densty"][..], "found no kernel \"pbd.solve_densty\""),
        (&["solve_density"], "did you mean pbd.solve_density?"),
        (&["pbd", "--constant", "foo=3"], "--constant foo"),
        (&["pbd", "--constant", "workgroup_size=x"], "expected NAME=N"),
        (&["--against", "nowhere.csv"], "nowhere.csv"),
        (&["--against", truncated.to_str().unwrap()], "navi31.csv: line"),
    ] {
        let output = command(&[&["kernels"], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn no_kernel_exceeds_its_budget() {
    let Some(output) = compiled_for("navi31", &["--against", BUDGET]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_kernel_beyond_its_budget_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.csv");
    let text = std::fs::read_to_string(BUDGET).unwrap();
    let line = text.lines().find(|line| line.starts_with("dem.collide,")).unwrap();
    let fields: Vec<&str> = line.split(',').collect();
    let fewer = format!("dem.collide,{},{}", fields[1].parse::<u32>().unwrap() - 1, fields[2..].join(","));
    std::fs::write(&path, text.replace(line, &fewer)).unwrap();
    let arguments = ["dem", "--against", path.to_str().unwrap()];
    let Some(output) = compiled_for("navi31", &arguments) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("dem.collide: registers"), "{}", stderr(&output));
}

#[test]
fn unknown_families_list_those_that_the_driver_knows() {
    let Some(output) = compiled_for("navi99", &["pbd.predict"]) else { return };
    // Skipped where the driver does not know navi31 either.
    if !stderr(&output).contains("navi31") {
        println!("skipped: {}", stderr(&output));
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for expected in ["\"navi99\"", "vega10", "navi21", "navi31"] {
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
}
