//! Arguments of `frazil export`.

use crate::common_args::{DeviceArgs, SceneChanges};
use frazil_io::{Format, MeshFormat};
use frazil_scene::FlowQuantity;
use std::path::PathBuf;

fn quantity(text: &str) -> Result<FlowQuantity, String> {
    let found = FlowQuantity::ALL.into_iter().find(|quantity| quantity.name() == text);
    let names = FlowQuantity::ALL.map(FlowQuantity::name).join(", ");
    found.ok_or_else(|| format!("found \"{text}\", expected one of {names}"))
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Recording of a run (recording.frazil-rec), which may still be in progress, or the run's output folder.
    pub recording: PathBuf,
    #[command(flatten)]
    pub what: ExportWhat,
    /// Export these frames only, by their numbers from 0, both ends included: 10..20, 10.., ..20, 7, and with
    /// a step 0..100:10 [default: all].
    #[arg(long, value_name = "A..B:STEP", conflicts_with = "map")]
    pub frames: Option<FrameRange>,
    /// Output folder [default: export beside the recording, or if that has files export-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace earlier files of these formats in the output folder, which is refused without it if it holds
    /// anything.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Formats of the exported frames.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub struct ExportWhat {
    /// Particles, sorted by id: vtk, vtu, ply, bgeo, csv or several, as vtk,csv. For slabs, vtk and vtu have
    /// the faces of pieces, the others one row or point per piece.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Surface of the particles, computed on the device, and in a separate file that of slabs: obj, ply or
    /// both. The vertices of ply have the velocity and the property of render.colour_by.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    pub mesh: Vec<MeshFormat>,
    /// Map of a flow on a terrain, from the rasters of the run: deposit_thickness, peak_thickness,
    /// peak_speed, peak_pressure or arrival_time, as map_QUANTITY.png.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity)]
    pub map: Option<FlowQuantity>,
}

/// Numbers of frames: from `first` to `last`, both included, every `step`th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    pub first: u64,
    pub last: u64,
    pub step: u64,
}

impl FrameRange {
    /// Returns true if a frame is exported.
    pub fn contains(&self, number: u64) -> bool {
        (self.first..=self.last).contains(&number) && (number - self.first).is_multiple_of(self.step)
    }
}

impl std::str::FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (range, step) = text.split_once(':').unwrap_or((text, "1"));
        let number = |text: &str, if_empty: u64| match text.trim() {
            "" => Some(if_empty),
            text => text.parse().ok(),
        };
        let bounds = match range.split_once("..") {
            Some((first, last)) => number(first, 0).zip(number(last, u64::MAX)),
            None => range.trim().parse().ok().map(|frame: u64| (frame, frame)),
        };
        let step = step.trim().parse().ok().filter(|step: &u64| *step > 0);
        match bounds.zip(step) {
            Some(((first, last), step)) if first <= last => Ok(Self { first, last, step }),
            _ => Err(format!(
                "found \"{text}\", expected frames as 10..20, 10.., ..20 or 7, and a step from 1 as 0..100:10"
            )),
        }
    }
}
