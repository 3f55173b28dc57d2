//! A recording, shown frame by frame.

use super::playback::Playback;
use crate::args::SceneChanges;
use crate::failure::Failure;
use crate::landscape::SlabPoses;
use crate::painter::{Shown, ShownSet};
use crate::slab_files;
use frazil_io::{ColumnData, Frame, Recording, Tail};
use frazil_kernels::Counts;
use frazil_scene::{ColourBy, Phase, Scene};
use frazil_vk::{Buffer, Device, DeviceCount};
use std::path::Path;

/// A recording with one of its frames on the device.
pub struct Player {
    pub scene: Scene,
    pub playback: Playback,
    device: Device,
    recording: Recording,
    counts: Counts,
    frame: usize,
    step: u64,
    time_s: f64,
    n_particles: usize,
    sets: Vec<Columns>,
    /// Pieces of slabs, on the host and on the device.
    pieces: Option<Frame>,
    slabs: Option<SlabPoses>,
}

/// A frame's columns on the device: those of all particles, or of the particles of one phase.
struct Columns {
    phase: Option<Phase>,
    count: DeviceCount,
    position: Buffer<[f32; 3]>,
    velocity: Option<Buffer<[f32; 3]>>,
    density: Option<Buffer<f32>>,
    id: Option<Buffer<u32>>,
    temperature: Option<Buffer<f32>>,
    plastic_volume: Option<Buffer<f32>>,
    mass: Option<Buffer<f32>>,
}

impl Player {
    /// Opens a recording; its scene with `changes` to what pictures show, and the number of particles of its first frame, decide
    /// how it is shown.
    pub fn open(path: &Path, changes: &SceneChanges) -> Result<(Recording, Scene), Failure> {
        if changes.seed.is_some() {
            return Err(Failure::input("--seed changes a scene; a recording is what it is"));
        }
        if let Some(other) = changes.overrides.iter().find(|change| !change.trim().starts_with("render.")) {
            return Err(Failure::input(format!(
                "--set {other}: a recording is what it is, expected a key of how it is shown, such as render.colour_by"
            )));
        }
        let recording = Recording::open(path).map_err(Failure::input)?;
        if recording.is_empty() {
            let why = match recording.tail() {
                Tail::Damaged(damage) => format!(": {damage}"),
                _ => String::new(),
            };
            return Err(Failure::input(format!("{}: the recording holds no frame{why}", path.display())));
        }
        let origin = path.display().to_string();
        let scene = Scene::from_json_with(&recording.meta().scene_json, &origin, &changes.shown())?;
        Ok((recording, scene))
    }

    /// Puts the frame that `playback` begins with on the device.
    pub fn new(
        device: &Device,
        mut recording: Recording,
        scene: Scene,
        playback: Playback,
    ) -> Result<Self, Failure> {
        let counts = Counts::new(device)?;
        let frame = playback.frame(recording.len());
        let first = recording.frame(frame).map_err(Failure::input)?;
        Ok(Self {
            scene,
            playback,
            device: device.clone(),
            recording,
            frame,
            step: first.step(),
            time_s: first.time_s(),
            n_particles: first.len(),
            sets: upload(device, &counts, &first)?,
            pieces: slab_files::pieces(&first)?,
            slabs: slab_poses(device, &first)?,
            counts,
        })
    }

    /// Puts another frame on the device. It waits for the copies: scrubbing is paced by the disk anyway.
    pub fn seek(&mut self, frame: usize) -> Result<(), Failure> {
        self.playback.seek(frame, self.recording.len());
        self.show()
    }

    /// Goes on by one picture; false where the way ends.
    pub fn advance(&mut self) -> Result<bool, Failure> {
        let goes_on = self.playback.advance(self.recording.len());
        self.show()?;
        // The frames that follow may only just be on their way.
        Ok(goes_on || self.is_growing() && self.playback.speed > 0.0 && self.playback.has_open_end())
    }

    /// Looks for frames that have been recorded since.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        self.recording.refresh().map(drop).map_err(Failure::input)
    }

    /// Whether frames may still come: whoever records has not finished, or never will.
    pub fn is_growing(&self) -> bool {
        *self.recording.tail() != Tail::Finished
    }

    /// `wanted`, or where the recording lacks its column what can be shown of any.
    pub fn property(&self, wanted: ColourBy) -> ColourBy {
        if self.shown().has(wanted) { wanted } else { ColourBy::Height }
    }

    fn show(&mut self) -> Result<(), Failure> {
        let frame = self.playback.frame(self.recording.len());
        if frame != self.frame {
            let next = self.recording.frame(frame).map_err(Failure::input)?;
            self.sets = upload(&self.device, &self.counts, &next)?;
            self.pieces = slab_files::pieces(&next)?;
            self.slabs = slab_poses(&self.device, &next)?;
            (self.frame, self.step, self.time_s) = (frame, next.step(), next.time_s());
            self.n_particles = next.len();
        }
        Ok(())
    }

    /// The frame shown, counted from 0.
    pub fn frame(&self) -> usize {
        self.frame
    }

    /// The number of frames.
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

    /// Pieces of slabs in the frame shown, if it has them; see [`slab_files::pieces`].
    pub fn pieces(&self) -> Option<&Frame> {
        self.pieces.as_ref()
    }

    pub fn shown(&self) -> Shown<'_> {
        let sets = self.sets.iter().map(|columns| ShownSet {
            phase: columns.phase,
            count: &columns.count,
            position: columns.position.clone(),
            velocity: columns.velocity.clone(),
            density: columns.density.clone(),
            id: columns.id.clone(),
            temperature: columns.temperature.clone(),
            plastic_volume: columns.plastic_volume.clone(),
            mass: columns.mass.clone(),
            constraint: None,
        });
        Shown { sets: sets.collect(), slabs: self.slabs.clone() }
    }
}

/// Where the pieces of slabs are in a frame that has them.
fn slab_poses(device: &Device, frame: &Frame) -> Result<Option<SlabPoses>, Failure> {
    let (Some(centres_m), Some(turns)) = (frame.body_vec3("centre"), frame.body_vec3("turn")) else {
        return Ok(None);
    };
    SlabPoses::recorded(device, centres_m, turns).map(Some)
}

/// What a phase is in the column `phase` of recordings.
const SNOW: u32 = 1;

fn upload(device: &Device, counts: &Counts, frame: &Frame) -> Result<Vec<Columns>, Failure> {
    let all: Vec<usize> = (0..frame.len()).collect();
    match frame.column("phase").map(|column| &column.data) {
        Some(ColumnData::U32(phases)) => {
            let (solid, fluid) = all.iter().partition::<Vec<usize>, _>(|&&i| phases[i] == SNOW);
            Ok(vec![
                upload_set(device, counts, frame, &solid, Some(Phase::Snow))?,
                upload_set(device, counts, frame, &fluid, Some(Phase::Water))?,
            ])
        }
        _ => Ok(vec![upload_set(device, counts, frame, &all, None)?]),
    }
}

/// Puts the particles at the `chosen` places of a frame on the device.
fn upload_set(
    device: &Device,
    counts: &Counts,
    frame: &Frame,
    chosen: &[usize],
    phase: Option<Phase>,
) -> Result<Columns, Failure> {
    fn pick<T: Copy>(values: &[T], chosen: &[usize]) -> Vec<T> {
        chosen.iter().map(|&i| values[i]).collect()
    }
    let data = |name: &str| frame.column(name).map(|column| &column.data);
    let scalar = |name: &str| match data(name) {
        Some(ColumnData::F32(values)) => device.buffer_from(name, &pick(values, chosen)).map(Some),
        _ => Ok(None),
    };
    let n = chosen.len() as u32;
    Ok(Columns {
        phase,
        count: counts.upload(device, "particle count", n, n)?,
        position: device.buffer_from("position", &pick(frame.positions(), chosen))?,
        velocity: match data("velocity") {
            Some(ColumnData::Vec3(values)) => Some(device.buffer_from("velocity", &pick(values, chosen))?),
            _ => None,
        },
        density: scalar("density")?,
        id: match data("id") {
            Some(ColumnData::U32(values)) => Some(device.buffer_from("id", &pick(values, chosen))?),
            _ => None,
        },
        temperature: scalar("temperature")?,
        plastic_volume: scalar("plastic_volume")?,
        mass: scalar("mass")?,
    })
}
