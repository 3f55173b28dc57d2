//! A recording, shown frame by frame.

use crate::failure::Failure;
use crate::painter::Shown;
use frazil_io::{ColumnData, Recording, Tail};
use frazil_kernels::Counts;
use frazil_scene::Scene;
use frazil_vk::{Buffer, Device, DeviceCount};
use std::path::Path;

/// A recording with one of its frames on the device.
pub struct Player {
    pub scene: Scene,
    device: Device,
    recording: Recording,
    counts: Counts,
    frame: usize,
    step: u64,
    time_s: f64,
    columns: Columns,
}

/// A frame's columns on the device.
struct Columns {
    count: DeviceCount,
    n_particles: usize,
    position: Buffer<[f32; 3]>,
    velocity: Option<Buffer<[f32; 3]>>,
    density: Option<Buffer<f32>>,
    id: Option<Buffer<u32>>,
}

impl Player {
    /// Opens a recording; its scene, and the number of particles of its first frame, decide how it is shown.
    pub fn open(path: &Path) -> Result<(Recording, Scene), Failure> {
        let recording = Recording::open(path).map_err(Failure::input)?;
        if recording.is_empty() {
            let why = match recording.tail() {
                Tail::Damaged(damage) => format!(": {damage}"),
                _ => String::new(),
            };
            return Err(Failure::input(format!("{}: the recording holds no frame{why}", path.display())));
        }
        let scene = Scene::from_json(&recording.meta().scene_json, &path.display().to_string())?;
        Ok((recording, scene))
    }

    /// Puts the first frame on the device.
    pub fn new(device: &Device, mut recording: Recording, scene: Scene) -> Result<Self, Failure> {
        let counts = Counts::new(device)?;
        let (step, time_s, columns) = upload(device, &counts, &mut recording, 0)?;
        Ok(Self { scene, device: device.clone(), recording, counts, frame: 0, step, time_s, columns })
    }

    /// Puts another frame on the device. It waits for the copies: scrubbing is paced by the disk anyway.
    pub fn seek(&mut self, frame: usize) -> Result<(), Failure> {
        let frame = frame.min(self.recording.len() - 1);
        if frame != self.frame {
            (self.step, self.time_s, self.columns) =
                upload(&self.device, &self.counts, &mut self.recording, frame)?;
            self.frame = frame;
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

    /// Simulated time in s between the frame shown and the next; none at the last.
    pub fn next_in_s(&self) -> Option<f64> {
        let (_, next_s) = self.recording.times().nth(self.frame + 1)?;
        Some(next_s - self.time_s)
    }

    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn time_s(&self) -> f64 {
        self.time_s
    }

    pub fn n_particles(&self) -> usize {
        self.columns.n_particles
    }

    pub fn shown(&self) -> Shown<'_> {
        let Columns { count, position, velocity, density, id, .. } = &self.columns;
        Shown {
            count,
            position: position.clone(),
            velocity: velocity.clone(),
            density: density.clone(),
            id: id.clone(),
            constraint: None,
        }
    }
}

fn upload(
    device: &Device,
    counts: &Counts,
    recording: &mut Recording,
    index: usize,
) -> Result<(u64, f64, Columns), Failure> {
    let frame = recording.frame(index).map_err(Failure::input)?;
    let data = |name: &str| frame.column(name).map(|column| &column.data);
    let n = frame.len() as u32;
    let columns = Columns {
        count: counts.upload(device, "particle count", n, n)?,
        n_particles: frame.len(),
        position: device.buffer_from("position", frame.positions())?,
        velocity: match data("velocity") {
            Some(ColumnData::Vec3(values)) => Some(device.buffer_from("velocity", values)?),
            _ => None,
        },
        density: match data("density") {
            Some(ColumnData::F32(values)) => Some(device.buffer_from("density", values)?),
            _ => None,
        },
        id: match data("id") {
            Some(ColumnData::U32(values)) => Some(device.buffer_from("id", values)?),
            _ => None,
        },
    };
    Ok((frame.step(), frame.time_s(), columns))
}
