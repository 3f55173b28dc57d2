//! `frazil profile`: tables, files, comparisons and tunables.

use crate::tool::{SMALL, SMALL_PARTICLES, command, stderr, succeed};
use frazil_report::{History, Profile, ProfileRow};
use std::path::Path;
use std::process::Command;

/// Runs `frazil profile` of a few steps of the small scene into `out`, with additional `arguments`.
fn profile_small(out: &Path, arguments: &[&str]) -> Command {
    let out = out.to_str().unwrap();
    command(&[&["profile"], SMALL, &["--steps", "6", "--warm-up", "2", "--out", out], arguments].concat())
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).unwrap()
}

#[test]
fn a_profile_prints_its_tables_and_writes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let log = tempfile::tempdir().unwrap();
    let logged = ["--history-dir", log.path().to_str().unwrap()];
    let output =
        succeed(&mut profile_small(folder.path(), &[&["--pictures", "2", "--wide"][..], &logged].concat()));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    for part in [
        "pictures ",
        "fps, ",
        "kernel",
        "share [%]",
        "outliers",
        "mean",
        "max",
        "total [ms]",
        "kB/call",
        "of copy [%]",
        "pbd.update_pressure 2/3",
        "shared [B]",
        "position (back)",
        "B/particle",
        "copy ",
        "device idle",
        "host busy",
        "M items/s",
        "GFLOP/s of multiply-adds",
        "bound by",
        "launch ",
        "time stamps ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let profile = Profile::read(&folder.path().join("profile.json")).unwrap();
    assert_eq!((profile.steps, profile.steps_before, profile.step_samples_ns.len()), (6, 2, 6));
    assert!((profile.rows.iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-9);

    // Half as many steps again, by whole turns, with and without time stamps.
    let stamping = profile.stamping.unwrap();
    assert!(
        stamping.steps == 4 && stamping.ratio().unwrap() > 0.0 && profile.peak_gflop_per_s.unwrap() > 0.0
    );
    let pictures = profile.pictures.as_ref().unwrap();
    assert_eq!((pictures.pictures, &*pictures.scheme, pictures.surface_triangles), (2, "sprites", 0));
    assert!(pictures.wall_ns > 0 && pictures.width_px > 0, "{pictures:?}");
    let counted = |item: &str| profile.work.iter().find(|work| work.item == item).unwrap().count;
    let [listed, near] = ["listed_neighbour", "near_neighbour"].map(counted);
    assert!((SMALL_PARTICLES as u64..=listed).contains(&near), "{near} of {listed}");
    let throughputs = profile.throughputs();
    assert_eq!(throughputs.len(), 5, "{throughputs:?}");
    // The candidates of the search for neighbours include all neighbours.
    assert!(throughputs.iter().any(|t| t.kernel == "pbd.list_neighbours") && counted("candidate") > listed);
    assert!(throughputs.iter().all(|t| t.gflop_per_s.unwrap() > 0.0 && t.flop_per_byte.unwrap() > 0.0));
    // Every kernel has its limits, and none is beyond that of copies.
    let bounds = profile.bounds();
    assert!(bounds.len() > 8 && bounds.iter().all(|bound| bound.of_launch.unwrap() > 0.0), "{bounds:?}");
    assert_eq!(profile.overcounted(), [] as [&str; 0]);
    // Each thread of a software device runs a group at a time.
    let tails = || profile.kernels.iter().map(|fact| fact.tail.unwrap());
    assert!(tails().all(|tail| (0.0..1.0).contains(&tail)), "{:?}", tails().collect::<Vec<_>>());
    assert!(profile.kernels.iter().all(|fact| fact.groups.unwrap() > 0.0));

    // The log has the step and each kernel with active calls.
    let history = History::read(&log.path().join("profile.jsonl")).unwrap();
    let [record] = &history.records[..] else { panic!("{history:?}") };
    assert!(stderr(&output).contains("logged in") && record.device == profile.device, "{}", stderr(&output));
    assert_eq!((&record.commit, &record.settings["scene_hash"]), (&profile.git_commit, &profile.scene_hash));
    assert!(record.commit.is_some() == record.commit_unix_time_s.is_some() && record.copy_gb_per_s.is_some());
    let active = profile.rows.iter().filter(|row| row.calls > 0).count();
    assert_eq!((record.entries.len(), record.entries[0].name.as_str()), (1 + active, "step"));
    assert!(record.entries[1..].iter().all(|entry| entry.bytes.is_some() && entry.samples > 0));

    // One row per place in the step: together they are the calls of the kernel.
    for row in &profile.rows {
        let places: Vec<_> = profile.passes.iter().filter(|pass| pass.row.kernel == row.kernel).collect();
        assert!(
            places.iter().all(|pass| pass.row.all_calls() == 6 && pass.occurrences as usize == places.len())
        );
        let sum = |value: fn(&ProfileRow) -> u64| places.iter().map(|pass| value(&pass.row)).sum::<u64>();
        assert_eq!(sum(|row| row.calls), row.calls, "{}", row.kernel);
        assert_eq!(sum(|row| row.empty.calls), row.empty.calls, "{}", row.kernel);
        assert_eq!(sum(|row| row.bytes.unwrap()), row.bytes.unwrap(), "{}", row.kernel);
        assert_eq!(profile.samples_ns[&row.kernel].len() as u64, row.calls);
    }
    assert_eq!(profile.timeline.len(), profile.passes.len());
    assert!(profile.kernels.iter().all(|fact| fact.workgroup_size == fact.specialization["workgroup_size"]));
    // The fluid's own kernels use no shared memory; a scan requires it.
    let shared = |area: &str| -> u64 {
        let of_area = profile.kernels.iter().filter(|fact| fact.kernel.starts_with(area));
        of_area.map(|fact| fact.shared_memory_bytes.unwrap()).sum()
    };
    assert!(shared("pbd.") == 0 && shared("primitives.") > 0);

    let held = |name: &str| profile.memory.columns.iter().find(|row| row.name == name).unwrap();
    let n = profile.n_particles;
    assert_eq!((held("position").bytes, held("constraint").bytes, held("id").bytes), (12 * n, 16 * n, 4 * n));
    assert_eq!(profile.memory.columns.iter().map(|row| row.bytes).sum::<u64>(), profile.memory.bytes);
    assert!(profile.memory.bytes_peak >= profile.memory.bytes);
    let staging = held("upload staging");
    assert!(
        (staging.objects, staging.bytes) == (0, 0) && staging.bytes_peak >= 12 * n,
        "set-up is in the peaks"
    );
    assert!(!profile.memory.columns.iter().any(|row| row.name == "copy source"), "the profiler's own memory");
    assert_eq!(profile.gaps.submissions, 1);

    let page = std::fs::read_to_string(folder.path().join("profile.html")).unwrap();
    assert!(profile.rows.iter().all(|row| page.contains(&row.kernel)));
    let trace: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("trace.json")).unwrap()).unwrap();
    let schema = include_str!("../../../../docs/schemas/trace_event.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    schema.validate(&trace).unwrap_or_else(|e| panic!("{}: {e}", e.instance_path));
    let spans = |category: &str| -> usize {
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == category).count()
    };
    assert_eq!(spans("device"), 6 * profile.passes.len());
    assert!(spans("host") >= 4, "record, submit, wait, collect");
    // Two steps before, six measured, of one submission.
    assert_eq!((spans("step"), spans("submission")), (6, 3), "a span of the submission, and an arrow to it");
    let named =
        |name: &str| trace["traceEvents"].as_array().unwrap().iter().any(|event| event["name"] == name);
    assert!(named("step 3") && named("step 8") && !named("step 9"));
}

#[test]
fn a_kernel_that_was_faster_in_an_earlier_profile_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    succeed(&mut profile_small(folder.path(), &[]));
    let path = folder.path().join("profile.json");
    let mut earlier = Profile::read(&path).unwrap();
    assert!(earlier.runs.is_empty());
    // Three processes that scatter a little; the density was solved in no time.
    let one = earlier.figures();
    earlier.runs = [1.0, 1.01, 1.02]
        .map(|factor| {
            let mut run = one.clone();
            run.step_ns *= factor;
            run.kernels_ns.values_mut().for_each(|ns| *ns *= factor);
            run.kernels_ns.insert("pbd.update_pressure".to_owned(), factor);
            run
        })
        .to_vec();
    let doctored = folder.path().join("doctored.json");
    earlier.write(&doctored).unwrap();
    // The machine may be under load: even a factor of a thousand counts as noise here.
    let again = folder.path().join("again");
    let arguments = ["--against", doctored.to_str().unwrap(), "--tolerance", "1000", "--runs", "3"];
    let output = profile_small(&again, &arguments).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    let verdicts =
        |verdict: &str| text.lines().filter(|l| l.ends_with(&format!("  {verdict}"))).collect::<Vec<_>>();
    assert!(verdicts("same").len() > 8 && verdicts("slower").len() == 1, "{text}");
    assert!(verdicts("slower")[0].starts_with("pbd.update_pressure "), "{text}");
    assert!(stderr(&output).contains("slower than in") && stderr(&output).contains("pbd.update_pressure"));
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.contains("llvmpipe")), "{text}");
    let page = std::fs::read_to_string(again.join("profile.html")).unwrap();
    assert!(page.contains("time of a step by kernel, baseline and current"));
    assert!(page.contains("Against the baseline") && page.contains("class=\"slower\""));
    // The profile has the figures of its processes, for the next comparison.
    assert_eq!(Profile::read(&again.join("profile.json")).unwrap().runs.len(), 3);
}

#[test]
fn only_a_profile_of_the_same_scene_and_device_is_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    // CSV goes to stdout alone.
    let text = stdout(&mut profile_small(folder.path(), &["--csv"]));
    let columns = text.lines().next().unwrap().split(',').count();
    assert!(text.starts_with("kind,position,name,") && text.lines().all(|l| l.split(',').count() == columns));
    assert!(text.contains("\nkernel,,pbd.update_pressure,") && text.contains("\nstep,"), "{text}");
    let then = Profile::read(&folder.path().join("profile.json")).unwrap();
    let path = folder.path().join("other.json");
    let refuse = |arguments: &[&str], said: &str| {
        let against = ["--against", path.to_str().unwrap()];
        let output =
            profile_small(&folder.path().join("no"), &[&against, arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
        assert!(output.stdout.is_empty() && !folder.path().join("no").exists(), "nothing is measured");
    };
    refuse(&[], "other.json");
    Profile { device: "another".to_owned(), ..then.clone() }.write(&path).unwrap();
    refuse(&[], "measured on the device \"another\"");
    then.write(&path).unwrap();
    refuse(&["--set", "fluid.rest_density_kg_m3=900.0"], "the scene with the hash");
    Profile { steps: 40, ..then.clone() }.write(&path).unwrap();
    refuse(&[], "measured the steps of \"--steps 40 --warm-up 2\", and this is \"--steps 6 --warm-up 2\"");
    Profile { format_version: 2, ..then }.write(&path).unwrap();
    refuse(&[], "profile.json format version 2; this build reads version 3");
}

#[test]
fn tunables_change_no_bit_and_the_best_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    // 4096 threads per group need more shared memory than devices have.
    let text = stdout(&mut profile_small(folder.path(), &["--vary", "workgroup_size=64,512,4096"]));
    let profile = Profile::read(&folder.path().join("profile.json")).unwrap();
    let vary = profile.vary.as_ref().unwrap();
    let values: Vec<_> = vary.candidates.iter().map(|c| (c.value, c.refused.is_some())).collect();
    assert_eq!(values, [(64, false), (512, false), (4096, true)]);
    for candidate in &vary.candidates[..2] {
        assert_eq!(candidate.state_hash, profile.state_hash);
        assert_eq!(candidate.step_samples_ns.len(), 6);
        let mut active = profile.rows.iter().filter(|row| row.calls > 0);
        assert!(active.all(|row| candidate.kernels_ns[&row.kernel] > 0));
    }
    assert!(text.contains("workgroup_size=4096 refused: kernel "), "{text}");
    assert!(text.contains("best *"), "{text}");

    let again = ["--overwrite", "--vary", "workgroup_size=4096"];
    let output = profile_small(folder.path(), &again).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("takes none of the values"), "{}", stderr(&output));
}
