//! `frazil kernels`: what the driver's compiler makes of each kernel, for this device and for absent
//! hardware.

use crate::tool::{command, stderr, succeed};
use std::process::Output;

/// Budgets, a file for each family.
const BUDGETS: &str = "../../docs/kernels";
/// A family of each vendor.
const FAMILIES: [&str; 4] = ["ada", "navi31", "adreno740", "m1"];

/// Compiles for absent hardware. Returns none, aloud, without drivers that can.
fn compiled_for(families: &[&str], arguments: &[&str]) -> Option<Output> {
    let families = families.join(",");
    let output = command(&[&["kernels", "--for", &families], arguments].concat()).output().unwrap();
    let errors = stderr(&output);
    let is_missing = output.status.code() == Some(3) && errors.contains("tools/setup --compilers");
    // A budget belongs to one version of the driver.
    let is_other = output.status.code() == Some(2) && errors.contains("another compiler allocates");
    if is_missing || is_other {
        println!("skipped: {errors}");
        return None;
    }
    Some(output)
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
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
    let text = std::fs::read_to_string(format!("{BUDGETS}/navi31.csv")).unwrap();
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
    let Some(output) = compiled_for(&FAMILIES, &["--against", BUDGETS]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    // Every kernel has a row for each family, but for atomics of floats where the device lacks them.
    let text = text(&output);
    let refused: Vec<&str> = text.lines().filter(|line| line.contains(": not compiled: ")).collect();
    assert!(refused.iter().all(|line| line.starts_with("mpm.rasterize_float for ")), "{refused:?}");
    let is_row = |line: &&str| FAMILIES.iter().any(|family| line.contains(&format!(" {family} ")));
    let rows = text.lines().filter(is_row).count();
    assert_eq!(rows + refused.len(), FAMILIES.len() * frazil_shaders::KERNELS.len(), "{text}");
}

#[test]
fn a_kernel_beyond_its_budget_is_named_for_each_family() {
    let folder = tempfile::tempdir().unwrap();
    for family in FAMILIES {
        let text = std::fs::read_to_string(format!("{BUDGETS}/{family}.csv")).unwrap();
        let line = text.lines().find(|line| line.starts_with("dem.collide,")).unwrap();
        let fields: Vec<&str> = line.split(',').collect();
        let fewer = fields[1].parse::<u32>().unwrap() - 1;
        let changed = text.replace(line, &format!("dem.collide,{fewer},{}", fields[2..].join(",")));
        std::fs::write(folder.path().join(format!("{family}.csv")), changed).unwrap();
    }
    let arguments = ["dem.collide", "--against", folder.path().to_str().unwrap()];
    let Some(output) = compiled_for(&FAMILIES, &arguments) else { return };
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for family in FAMILIES {
        assert!(stderr(&output).contains(&format!("{family}.csv: beyond the budget")), "{}", stderr(&output));
    }
    assert_eq!(stderr(&output).matches("dem.collide: registers").count(), 4, "{}", stderr(&output));
}

#[test]
fn unknown_families_are_refused_with_a_list() {
    let output = command(&["kernels", "pbd.predict", "--for", "ada,navi99"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for expected in ["\"navi99\"", "NVIDIA (", "ada", "vega10", "navi31", "adreno740", "m1"] {
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
}

#[test]
fn kernels_of_a_scene_have_the_constants_of_its_steps() {
    let scene = ["kernels", "--scene", "dam_break", "--set", "scale=0.25", "--json"];
    let json: serde_json::Value = serde_json::from_slice(&succeed(&mut command(&scene)).stdout).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    let find = |name: &str| kernels.iter().find(|kernel| kernel["kernel"] == name);
    // Without bodies, and the kernels of other solvers are not there.
    assert_eq!(find("pbd.update_pressure").unwrap()["specialization"]["has_bodies"], 0);
    assert!(find("dem.collide").is_none() && kernels.len() < 60, "{}", kernels.len());
    let output =
        command(&["kernels", "dem", "--scene", "dam_break", "--set", "scale=0.25"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no step of dam_break"), "{}", stderr(&output));
}

#[test]
fn subgroups_of_a_scene_are_those_of_the_family() {
    let scene = ["--scene", "dam_break", "--set", "scale=0.25", "--json"];
    let Some(output) = compiled_for(&["ada", "adreno740"], &scene) else { return };
    let json: serde_json::Value = serde_json::from_str(&text(&output)).unwrap();
    let size = |i: usize| json["compilers"][i]["kernels"][0]["subgroup_size"].as_u64().unwrap();
    let sizes = [size(0), size(1)];
    assert_eq!(sizes, [32, 128], "{json:#}");
}

#[test]
fn code_is_printed_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("kernels.html");
    let arguments = ["pbd.predict", "--asm", "--page", page.to_str().unwrap()];
    let Some(output) = compiled_for(&["ada", "navi31"], &arguments) else { return };
    let code = text(&output);
    // Loads of global memory, in the words of both vendors.
    for expected in ["== pbd.predict for ada", "== pbd.predict for navi31", "ld", "s_endpgm"] {
        assert!(code.contains(expected), "{expected}: {code}");
    }
    let in_lines = text(&compiled_for(&["navi31"], &["pbd.predict", "--asm=ACO"]).unwrap());
    assert!(in_lines.contains("glsl/pbd/predict.comp:"), "{in_lines}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Number of GPRs used by this pipeline") && page.contains("VGPRs"), "{page}");
    let this = env!("CARGO_BIN_EXE_frazil");
    let same = compiled_for(&["ada", "navi31"], &["pbd.predict", "--asm", "--diff", this]).unwrap();
    assert_eq!(text(&same), "no statistic differs\n");
    let other = compiled_for(&["ada"], &["pbd.predict", "--diff", "/nonexistent"]).unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("cannot start /nonexistent"), "{}", stderr(&other));
}
