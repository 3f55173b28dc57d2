//! Changes of parameters at given steps of a run.

use super::change_at::ChangeAt;
use crate::failure::Failure;
use crate::simulation::differences;
use frazil_io::ParameterChange;
use frazil_scene::Scene;

/// Changes of a run in the order of their steps.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    list: Vec<ChangeAt>,
}

impl Changes {
    /// Sorts the changes, and checks each with the scene as those before it leave it.
    ///
    /// # Errors
    /// A step after the last one, a key that cannot change while the simulation runs, or an invalid value.
    pub fn new(list: &[ChangeAt], scene: &Scene, last_step: u64) -> Result<Self, Failure> {
        let mut list = list.to_vec();
        list.sort_by_key(|change| change.step);
        if let Some(late) = list.iter().find(|change| change.step >= last_step) {
            let ChangeAt { step, change } = late;
            return Err(Failure::input(format!(
                "--at {step}:{change}: found step {step}, expected one before the last step {last_step}"
            )));
        }
        let changes = Self { list };
        changes.scene_at(scene, u64::MAX)?;
        Ok(changes)
    }

    /// Returns the scene as the changes before `step` leave it.
    ///
    /// # Errors
    /// A change that is invalid after those before it.
    pub fn scene_at(&self, scene: &Scene, step: u64) -> Result<Scene, Failure> {
        self.list.iter().take_while(|change| change.step < step).try_fold(scene.clone(), |scene, change| {
            let changed = scene.with_live(std::slice::from_ref(&change.change));
            changed.map_err(|error| Failure::from(error).within(format!("--at {}", change.step)))
        })
    }

    /// Returns the changes of values made before `step`.
    ///
    /// # Errors
    /// Like [`Self::scene_at`].
    pub fn made_before(&self, scene: &Scene, step: u64) -> Result<Vec<ParameterChange>, Failure> {
        let mut made = Vec::new();
        for at in self.list.iter().map(|change| change.step).filter(|at| *at < step) {
            if made.iter().all(|change: &ParameterChange| change.step != at) {
                let [from, to] = [self.scene_at(scene, at)?, self.scene_at(scene, at + 1)?];
                made.extend(differences(&from, &to, at));
            }
        }
        Ok(made)
    }

    /// Returns the changes due after exactly `step` steps.
    pub fn due(&self, step: u64) -> Vec<String> {
        self.list.iter().filter(|change| change.step == step).map(|change| change.change.clone()).collect()
    }

    /// Returns the step of the first change after `step`.
    pub fn next_after(&self, step: u64) -> Option<u64> {
        self.list.iter().map(|change| change.step).find(|next| *next > step)
    }

    /// Returns a sentence that names the changes, for the description of the recorded scene; empty without.
    pub fn sentence(&self) -> String {
        if self.list.is_empty() {
            return String::new();
        }
        let each = self.list.iter().map(|change| format!("{} at step {}", change.change, change.step));
        format!(" Changed while it ran: {}.", each.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn changes_are_checked_in_the_order_of_their_steps() {
        let scene = Scene::find("dam_break", &[]).unwrap();
        let at =
            |texts: &[&str]| -> Vec<ChangeAt> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        let list = at(&["30:fluid.wall_friction=0.25", "10:gravity_m_s2=[0.0, -1.0, 0.0]"]);
        let changes = Changes::new(&list, &scene, 100).unwrap();
        assert_eq!(changes.scene_at(&scene, 10).unwrap(), scene);
        assert_eq!(changes.scene_at(&scene, 11).unwrap().gravity_m_s2(), [0.0, -1.0, 0.0]);
        assert_eq!(
            (changes.next_after(0), changes.next_after(10), changes.next_after(30)),
            (Some(10), Some(30), None)
        );
        assert_eq!(changes.due(30), ["fluid.wall_friction=0.25"]);
        let error = |texts: &[&str]| Changes::new(&at(texts), &scene, 100).unwrap_err().to_string();
        assert!(error(&["100:fluid.wall_friction=0.25"]).contains("before the last step 100"));
        assert!(
            error(&["5:fluid.particle_spacing_m=0.5"]).contains("cannot change while the simulation runs")
        );
        assert!(error(&["5:fluid.wall_friction=-1.0"]).contains("fluid.wall_friction"));
        for wrong in ["fluid.wall_friction=0.5", "5", "x:a=1", "5:a"] {
            assert!(wrong.parse::<ChangeAt>().unwrap_err().contains("STEP:KEY=VALUE"), "{wrong}");
        }
    }
}
