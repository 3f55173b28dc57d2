//! `frazil predict`: the time of a step on cards that are not there.

use crate::tool::{command, stderr, succeed};

const SCENE: [&str; 5] = ["predict", "dam_break", "--set", "scale=0.25", "--steps=2"];

/// Figures of a card without a family, whose registers nobody tells.
const CARD: &str = "name = \"a card\"\nprocessors = 10\nthreads_per_processor = 1000\n\
                    bandwidth_gb_per_s = 100\ncache_mb = 1\ncache_gb_per_s = 200\n\
                    peak_gflop_per_s = 1000\nlaunch_us = 3\nlatency_ns = 500\nsource = \"a test\"\n";

fn text(arguments: &[&str]) -> String {
    let output = succeed(&mut command(&[&SCENE[..], arguments].concat()));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_step_is_predicted_for_a_card_of_ones_own_and_gets_slower_with_its_launches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.toml");
    let predicted = |card: &str| {
        std::fs::write(&path, card).unwrap();
        let json: serde_json::Value =
            serde_json::from_str(&text(&["--gpu", path.to_str().unwrap(), "--json"])).unwrap();
        let prediction = &json["predicted"][0];
        let kernels = prediction["kernels"].as_array().unwrap();
        let sum: f64 = kernels.iter().map(|kernel| kernel["ns"].as_f64().unwrap()).sum();
        let step_ns = prediction["step_ns"].as_f64().unwrap();
        assert!((sum / step_ns - 1.0).abs() < 1e-9, "{sum} {step_ns}");
        assert!(kernels.iter().any(|kernel| kernel["kernel"] == "pbd.update_pressure"));
        step_ns
    };
    let fast = predicted(CARD);
    let slow = predicted(&CARD.replace("launch_us = 3", "launch_us = 30"));
    // So few particles take little beside launches.
    assert!(slow > 5.0 * fast && slow < 10.0 * fast, "{fast} {slow}");
}

#[test]
fn all_cards_are_predicted_and_the_lack_of_a_compiler_is_named() {
    let output = command(&[&SCENE[..], &["--gpu", "a770"]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("PREDICTED") && text.contains("step on Intel Arc A770"), "{text}");
    let nothing = tempfile::tempdir().unwrap();
    for has_compilers in [true, false] {
        let mut predict = command(&SCENE);
        if !has_compilers {
            predict.env("XDG_DATA_HOME", nothing.path());
        }
        let output = predict.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(has_compilers || stderr(&output).contains("tools/setup --compilers"), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        for card in ["RTX 4090", "H100", "7900 XTX", "A770", "M1", "Adreno 740"] {
            assert!(text.contains(card), "{card}: {text}");
        }
    }
}

#[test]
fn the_device_itself_is_predicted_beside_its_measurement_also_from_a_profile() {
    let here = text(&["--here"]);
    assert!(here.contains("predicted/measured") && here.contains("measured: "), "{here}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("profile");
    let out = out.to_str().unwrap();
    let profile =
        ["profile", "dam_break", "--set", "scale=0.25", "--steps", "2", "--warm-up", "1", "--out", out];
    succeed(&mut command(&profile));
    let output = succeed(&mut command(&["predict", out, "--here"]));
    assert!(String::from_utf8(output.stdout).unwrap().contains("pbd.update_pressure"));
}

#[test]
fn bad_cards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.toml");
    for (card, expected) in [
        (CARD.replace("latency_ns = 500", "latency_ns = -500"), "latency_ns: found -500"),
        (CARD.replace("launch_us = 3\n", ""), "launch_us"),
        (format!("{CARD}sms = 4\n"), "sms"),
        (format!("{CARD}family = \"navi99\"\n"), "\"navi99\""),
        ("{".to_owned(), "card.toml"),
    ] {
        std::fs::write(&path, card).unwrap();
        let output = command(&["predict", "dam_break", "--gpu", path.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{expected}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
    for (arguments, expected) in [
        (["predict", "dam_break", "--gpu", "rtx9999"], "expected a file.toml or one of"),
        (["predict", "dam_break", "--for", "navi99"], "expected a family of a card"),
        (["predict", "nowhere/profile.json", "--gpu", "a770"], "nowhere/profile.json"),
        (["predict", "nosuch", "--gpu", "a770"], "nosuch"),
    ] {
        let output = command(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{expected}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{expected}: {}", stderr(&output));
    }
}
