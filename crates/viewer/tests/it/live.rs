//! Changes of parameters while a run is under way.

use crate::tool::{command, run_small, state_hash, stderr, succeed};
use frazil_io::{Recording, RunInfo};
use std::path::Path;

const GRAVITY: &str = "9:gravity_m_s2=[3.0, -5.0, 0.0]";

fn report(out: &Path) -> RunInfo {
    RunInfo::read(&out.join("run.json")).unwrap()
}

#[test]
fn a_change_at_a_step_is_reported_and_equals_a_resumption_with_the_changed_scene() {
    let folder = tempfile::tempdir().unwrap();
    let [live, other, broken] = ["live", "other", "broken"].map(|name| folder.path().join(name));
    let changes = ["--at", "21:fluid.dynamic_viscosity_pa_s=5.0", "--at", GRAVITY];
    let all = [&changes[..], &["--record", "8", "--steps", "30"]].concat();
    succeed(&mut run_small(&live, &all));
    let info = report(&live);
    let made: Vec<_> = info.changes.iter().map(|change| (change.step, change.key.as_str())).collect();
    assert_eq!(made, [(9, "gravity_m_s2"), (21, "fluid.dynamic_viscosity_pa_s")]);
    assert_eq!(info.changes[1].to, 5.0);
    assert!((info.changes[1].time_s - 21.0 * 0.002).abs() < 1e-12);
    assert_eq!(info.effective_scene["fluid"]["dynamic_viscosity_pa_s"], info.changes[1].from);
    let recording = Recording::open(&live.join("recording.frazil-rec")).unwrap();
    assert!(recording.meta().scene_json.contains("fluid.dynamic_viscosity_pa_s=5.0 at step 21"));

    succeed(&mut run_small(&other, &["--steps", "30"]));
    assert_ne!(state_hash(&live), state_hash(&other));

    // A change at the step of the checkpoint itself comes after it.
    for (stop, first) in [("9", &[][..]), ("15", &changes[2..]), ("21", &changes[2..])] {
        succeed(&mut run_small(
            &broken,
            &[first, &["--record", "8", "--steps", stop, "--checkpoint", stop, "--overwrite"]].concat(),
        ));
        let checkpoint = broken.join("checkpoint.frazil-ckpt");
        let resume = ["--resume", checkpoint.to_str().unwrap()];
        succeed(&mut run_small(&broken, &[&all[..], &resume].concat()));
        assert_eq!(state_hash(&live), state_hash(&broken), "{stop}");
        assert_eq!(report(&broken).changes, info.changes, "{stop}");
        assert_eq!(report(&broken).effective_scene, info.effective_scene, "{stop}");
    }
    // Without the changes, the checkpoint is one of another simulation.
    let checkpoint = broken.join("checkpoint.frazil-ckpt");
    let plain = ["--steps", "30", "--resume", checkpoint.to_str().unwrap()];
    let refused = run_small(&broken, &plain).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("differs from the scene's"), "{}", stderr(&refused));
}

#[test]
fn changes_that_cannot_be_made_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("refused");
    for (at, said) in [
        ("5:fluid.particle_spacing_m=0.1", "cannot change while the simulation runs"),
        ("5:fluid.wall_fricton=0.5", "did you mean fluid.wall_friction?"),
        ("5:fluid.wall_friction=-2.0", "fluid.wall_friction: found -2"),
        ("5:fluid.wall_friction", "STEP:KEY=VALUE"),
        ("30:fluid.wall_friction=0.5", "before the last step 30"),
    ] {
        let refused = run_small(&out, &["--steps", "30", "--at", at]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{at}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(said), "{at}: {}", stderr(&refused));
        assert!(!out.exists(), "{at}");
    }
    // Refused by the solver itself, when the step is reached.
    let refused =
        run_small(&out, &["--steps", "30", "--at", "5:pbd.density_tolerance=0.0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("pbd.density_tolerance"), "{}", stderr(&refused));
    let check = succeed(&mut command(&["check", "dam_break"]));
    assert!(String::from_utf8_lossy(&check.stdout).contains("fluid.dynamic_viscosity_pa_s"));
}
