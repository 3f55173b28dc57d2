//! Player of a recording, frame by frame.

use super::damage::Skipped;
use super::playback::Playback;
use super::rigid_bodies::RigidBodies;
use crate::common_args::SceneChanges;
use frazil_engine::Failure;
use frazil_engine::picture::{self, Shown};
use frazil_engine::recording;
use frazil_io::{BodyKind, Column, ColumnData, Frame, Recording, Tail};
use frazil_kernels::Counts;
use frazil_particles::{ColumnKind, ColumnView, Material, ParticleSet, SetInfo};
use frazil_scene::Scene;
use frazil_solvers::BodyPoses;
use frazil_vk::{Device, DeviceCount};
use std::path::Path;

/// A recording with one of its frames on the device.
pub struct Player {
    pub scene: Scene,
    pub playback: Playback,
    device: Device,
    recording: Recording,
    skipped: Skipped,
    counts: Counts,
    frame: usize,
    step: u64,
    time_s: f64,
    n_particles: usize,
    /// Particle sets of the scene's solver.
    infos: Vec<SetInfo>,
    sets: Vec<Set>,
    /// Rigid bodies, and their poses on the device by kind.
    rigid: RigidBodies,
    poses: [Option<BodyPoses>; 2],
}

/// A set of a frame's particles on the device.
struct Set {
    name: &'static str,
    material: Material,
    count: DeviceCount,
    columns: Vec<ColumnView>,
}

/// Refuses changes of what was recorded.
pub fn check_shown(changes: &SceneChanges) -> Result<(), Failure> {
    if changes.seed.is_some() {
        return Err(Failure::input("--seed changes a scene; a recording is what it is"));
    }
    match changes.overrides.iter().find(|change| !change.trim().starts_with("render.")) {
        Some(other) => Err(Failure::input(format!(
            "--set {other}: a recording is what it is, expected a key of how it is shown, such as \
             render.colour_by"
        ))),
        None => Ok(()),
    }
}

impl Player {
    /// Opens a recording. Its display depends on its scene, with `changes` to the picture settings, and on
    /// the number of particles of its first frame.
    pub fn open(path: &Path, changes: &SceneChanges) -> Result<(Recording, Scene), Failure> {
        check_shown(changes)?;
        recording::open(path, &changes.shown())
    }

    /// Creates a player, and uploads the first frame of `playback`.
    pub fn new(
        device: &Device,
        mut recording: Recording,
        scene: Scene,
        playback: Playback,
    ) -> Result<Self, Failure> {
        let counts = Counts::new(device)?;
        let mut skipped = Skipped::begin(&recording);
        let mut frame = playback.frame(recording.len());
        // If the frame is damaged, the next whole one is shown, or else the last whole one before it.
        let mut first = None;
        for index in (frame..recording.len()).chain((0..frame).rev()) {
            first = skipped.read(&mut recording, index)?;
            if first.is_some() {
                frame = index;
                break;
            }
        }
        let Some(first) = first else {
            skipped.check(&recording)?;
            return Err(Failure::input(format!(
                "{}: the recording holds no frame",
                recording.path().display()
            )));
        };
        let infos = frazil_solvers::set_infos(&scene, first.len());
        let rigid = RigidBodies::of(&scene, &first)?;
        Ok(Self {
            scene,
            playback,
            device: device.clone(),
            recording,
            skipped,
            frame,
            step: first.step(),
            time_s: first.time_s(),
            n_particles: first.len(),
            sets: upload(device, &counts, &first, &infos)?,
            infos,
            poses: poses(&rigid, device)?,
            rigid,
            counts,
        })
    }

    /// Uploads another frame to the device. It waits for the copies, since seeking is limited by the disk
    /// anyway.
    pub fn seek(&mut self, frame: usize) -> Result<(), Failure> {
        self.playback.seek(frame, self.recording.len());
        self.show()
    }

    /// Advances by one picture; returns false at the end.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        let goes_on = self.playback.advance(self.recording.len());
        self.show()?;
        // The next frames may still be being written.
        Ok(goes_on || self.is_growing() && self.playback.speed > 0.0 && self.playback.has_open_end())
    }

    /// Looks for frames that were recorded in the meantime.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        self.recording.refresh().map(drop).map_err(Failure::input)
    }

    /// Returns true if more frames may follow: the recording has not finished, or was interrupted.
    pub fn is_growing(&self) -> bool {
        *self.recording.tail() != Tail::Finished
    }

    /// Returns `requested`, or a property that every recording has if this one lacks the column.
    pub fn property(&self, requested: &str) -> Result<String, Failure> {
        if self.shown().names().iter().any(|name| name == requested) {
            return Ok(requested.to_owned());
        }
        picture::check(&self.scene)?;
        Ok("height".to_owned())
    }

    fn show(&mut self) -> Result<(), Failure> {
        let frame = self.playback.frame(self.recording.len());
        if frame != self.frame {
            // In place of a damaged frame the one before it stays.
            let Some(next) = self.skipped.read(&mut self.recording, frame)? else { return Ok(()) };
            self.sets = upload(&self.device, &self.counts, &next, &self.infos)?;
            self.rigid = RigidBodies::of(&self.scene, &next)?;
            self.poses = poses(&self.rigid, &self.device)?;
            (self.frame, self.step, self.time_s) = (frame, next.step(), next.time_s());
            self.n_particles = next.len();
        }
        Ok(())
    }

    /// Returns the error for a recording with damage, if any was met.
    pub fn check_whole(&self) -> Result<(), Failure> {
        self.skipped.check(&self.recording)
    }

    /// Returns the error for a recording with damage; warns about one that is not finished.
    pub fn check_so_far(&self) -> Result<(), Failure> {
        self.skipped.check_so_far(&self.recording)
    }

    /// Returns the number of the current frame in the recording, which is higher than its index after a gap.
    pub fn number(&self) -> u64 {
        self.recording.number(self.frame).unwrap_or(0)
    }

    /// Returns the current frame, counted from 0.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.recording.len()
    }

    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn time_s(&self) -> f64 {
        self.time_s
    }

    pub fn n_particles(&self) -> usize {
        self.n_particles
    }

    /// Returns the rigid bodies in the current frame.
    pub fn rigid_bodies(&self) -> &RigidBodies {
        &self.rigid
    }

    pub fn shown(&self) -> Shown<'_> {
        let sets = self.sets.iter().map(|set| ParticleSet {
            name: set.name,
            material: set.material,
            count: &set.count,
            columns: set.columns.clone(),
        });
        let [slabs, bodies] = self.poses.clone();
        Shown { sets: sets.collect(), slabs, bodies, blocks: None }
    }
}

/// Uploads the poses of rigid bodies, by kind.
fn poses(rigid: &RigidBodies, device: &Device) -> Result<[Option<BodyPoses>; 2], Failure> {
    let [pieces, dynamic] = BodyKind::ALL.map(|kind| rigid.poses(kind, device));
    Ok([pieces?, dynamic?])
}

/// Column that distinguishes the sets of a recording.
const PHASE: &str = "phase";

/// Uploads a frame, as the particle sets of the scene's solver.
fn upload(device: &Device, counts: &Counts, frame: &Frame, infos: &[SetInfo]) -> Result<Vec<Set>, Failure> {
    let set = |name, material, chosen: &[usize]| -> Result<Set, Failure> {
        let columns = frame.columns().iter().filter(|column| infos.len() < 2 || column.name != PHASE);
        let columns =
            columns.map(|column| upload_column(device, column, chosen)).collect::<Result<_, Failure>>()?;
        let n = chosen.len() as u32;
        Ok(Set { name, material, count: counts.upload(device, "particle count", n, n)?, columns })
    };
    let all: Vec<usize> = (0..frame.len()).collect();
    match (infos, frame.column(PHASE).map(|column| &column.data)) {
        ([info], _) => Ok(vec![set(info.name, info.material, &all)?]),
        ([_, _, ..], Some(ColumnData::U32(phases))) => {
            let of = |info: &SetInfo| {
                let chosen: Vec<usize> = all.iter().copied().filter(|&i| phases[i] == info.phase).collect();
                set(info.name, info.material, &chosen)
            };
            infos.iter().map(of).collect()
        }
        _ => Ok(vec![set("particles", Material::Generic, &all)?]),
    }
}

/// Uploads the values at the `chosen` places of a column.
fn upload_column(device: &Device, column: &Column, chosen: &[usize]) -> Result<ColumnView, Failure> {
    fn pick<T: Copy>(values: &[T], chosen: &[usize]) -> Vec<T> {
        chosen.iter().map(|&i| values[i]).collect()
    }
    let name = &column.name;
    let (kind, words) = match &column.data {
        ColumnData::U32(values) => (ColumnKind::U32, device.buffer_from(name, &pick(values, chosen))?),
        ColumnData::F32(values) => (ColumnKind::F32, device.buffer_from(name, &pick(values, chosen))?.cast()),
        ColumnData::Vec3(values) => {
            (ColumnKind::Vec3, device.buffer_from(name, &pick(values, chosen))?.cast())
        }
    };
    Ok(ColumnView::new(name.clone(), column.unit.clone(), kind, words))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_engine::picture::{Painter, camera};
    use frazil_engine::state;
    use frazil_io::{RecordingMeta, RecordingWriter};
    use frazil_testkit::own_device;
    use frazil_vk::ReadbackRing;

    #[test]
    fn unknown_columns_are_recorded_offered_and_displayed_unchanged() {
        let device = own_device();
        let overrides =
            ["render.width_px=160", "render.height_px=90", "fluid.particle_spacing_m=0.0243333333"];
        let scene = Scene::find("dam_break", &overrides.map(str::to_owned)).unwrap();
        let positions = scene.sample().unwrap().positions_m;
        let n = positions.len() as u32;
        let charges: Vec<f32> = (0..n).map(|i| 0.25 * i as f32 - 7.0).collect();
        let ids: Vec<u32> = (0..n).collect();
        let column =
            |name: &'static str, unit: &'static str, kind, words| ColumnView::new(name, unit, kind, words);
        let columns = vec![
            column(
                "position",
                "m",
                ColumnKind::Vec3,
                device.buffer_from("position", &positions).unwrap().cast(),
            ),
            column("id", "1", ColumnKind::U32, device.buffer_from("id", &ids).unwrap()),
            column("charge", "C", ColumnKind::F32, device.buffer_from("charge", &charges).unwrap().cast()),
            column("wind", "m/s", ColumnKind::Vec3, device.buffer_from("wind", &positions).unwrap().cast()),
        ];

        let ring = ReadbackRing::new(&device);
        let mut recorder = device.recorder().unwrap();
        let pending = state::read_columns(&ring, &mut recorder, &columns, None).unwrap();
        device.submit(recorder).unwrap();
        let on_host: Vec<_> = pending.into_iter().map(|column| column.wait().unwrap()).collect();
        let frame = state::frame(0, 0.0, &on_host, &[]).unwrap();
        assert_eq!(frame.column("charge").unwrap().label(), "charge [C]");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.frazil-rec");
        let scene_json = serde_json::to_string(&scene).unwrap();
        let meta = RecordingMeta { scene_json, seed: 0, device: String::new() };
        let mut writer = RecordingWriter::create(&path, &meta).unwrap();
        writer.append(&frame).unwrap();
        writer.finish().unwrap();
        let recording = Recording::open(&path).unwrap();
        let playback = Playback::new(&[(0, 0.0)], 1.0, 1.0);
        let player = Player::new(&device, recording, scene.clone(), playback).unwrap();

        let count = Counts::new(&device).unwrap().upload(&device, "count", n, n).unwrap();
        let set = ParticleSet { name: "dust", material: Material::Water, count: &count, columns };
        let live = Shown { sets: vec![set], slabs: None, bodies: None, blocks: None };
        let recorded = player.shown();
        let names = live.names();
        assert_eq!(recorded.names(), names);
        let drawn = |shown: &Shown<'_>, name: &str| {
            let mut painter = Painter::new(&device, &scene, n as usize).unwrap();
            assert!(painter.needs_range(shown, name));
            let mut recorder = device.recorder().unwrap();
            let image = painter.record(&mut recorder, shown, camera(&scene), name, 0.0).unwrap();
            let pending = ring.read_image(&mut recorder, image).unwrap();
            device.submit(recorder).unwrap();
            assert!(!painter.needs_range(shown, name), "ranges stay");
            pending.wait().unwrap()
        };
        let mut pictures = Vec::new();
        for name in ["charge", "wind", "wind.x", "position.y"] {
            assert!(names.iter().any(|offered| offered == name), "{name}: {names:?}");
            assert_eq!(player.property(name).unwrap(), name);
            let picture = drawn(&live, name);
            assert!(picture == drawn(&recorded, name), "{name}");
            assert!(!pictures.contains(&picture), "{name}");
            pictures.push(picture);
        }
        // The solver has this column, but the recording does not.
        assert_eq!(player.property("density").unwrap(), "height");
        device.check_validation().unwrap();
    }
}
