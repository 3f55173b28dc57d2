//! `frazil export`: frames of a recording in formats of other programs.

use crate::args::{ExportArgs, ExportWhat};
use crate::damage::Skipped;
use crate::device;
use crate::failure::Failure;
use crate::flow_map::export_map;
use crate::picture::{Surfaces, check_surface};
use crate::run::create_dir;
use crate::slab_files::{self, SlabSolids};
use crate::view::{Playback, Player};
use frazil_io::{Faces, Format, MeshFormat, Recording, export_bodies, export_mesh, write_pvd};
use frazil_scene::Scene;
use std::path::Path;

/// Writes one file per frame, and a second one if slabs are recorded; or a map of the run.
pub fn export(args: &ExportArgs, validation: bool) -> Result<(), Failure> {
    let ExportWhat { format, mesh, map } = args.what;
    match (format, mesh, map) {
        (Some(format), ..) => export_particles(args, format),
        (None, Some(format), _) => export_surfaces(args, format, validation),
        (None, None, Some(quantity)) => {
            let is_folder = args.recording.is_dir();
            let run = if is_folder { args.recording.as_path() } else { parent(&args.recording) };
            let out = args.out.as_deref().unwrap_or(run);
            make(out)?;
            export_map(args, quantity, run, out)
        }
        (None, None, None) => Err(Failure::input("expected --format, --mesh or --map")),
    }
}

/// Writes the particles of each frame, and for VTU the index that ties files to their times.
fn export_particles(args: &ExportArgs, format: Format) -> Result<(), Failure> {
    let mut recording = Recording::open(&args.recording).map_err(Failure::input)?;
    if recording.is_empty() {
        return Err(Failure::input(format!("{}: the recording holds no frame", args.recording.display())));
    }
    let mut skipped = Skipped::begin(&recording);
    let folder = folder(args)?;
    let mut files = Vec::with_capacity(recording.len());
    let (mut slabs, mut slab_files) = (None, Vec::new());
    for index in 0..recording.len() {
        let Some(frame) = skipped.read(&mut recording, index)? else { continue };
        let index = recording.number(index).unwrap_or(0) as usize;
        let name = format.file_name(index);
        frazil_io::export(&frame, format, &folder.join(&name)).map_err(Failure::other)?;
        files.push((frame.time_s(), name));
        let Some(pieces) = slab_files::pieces(&frame)? else { continue };
        if format.holds_faces() && slabs.is_none() {
            slabs = Some(solids(args, &recording)?);
        }
        let faces = slabs.as_ref().map_or(Ok(Faces::default()), |slabs| slabs.faces(&pieces));
        let faces = faces.map_err(|failure| failure.within(args.recording.display()))?;
        let name = format.bodies_file_name(index);
        export_bodies(&pieces, &faces, format, &folder.join(&name)).map_err(Failure::other)?;
        slab_files.push((frame.time_s(), name));
    }
    if format == Format::Vtu {
        write_pvd(&folder.join("particles.pvd"), &files).map_err(Failure::other)?;
        if !slab_files.is_empty() {
            write_pvd(&folder.join("slabs.pvd"), &slab_files).map_err(Failure::other)?;
        }
    }
    skipped.check_finished(&recording)
}

/// Writes the surface of each frame's particles, of all phases in one file, and that of slabs.
fn export_surfaces(args: &ExportArgs, format: MeshFormat, validation: bool) -> Result<(), Failure> {
    let (recording, scene) = Player::open(&args.recording, &args.changes)?;
    check_surface(&scene, &format!("--mesh {format}"))?;
    let folder = folder(args)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let times: Vec<(u64, f64)> = recording.times().collect();
    let slabs = SlabSolids::new(&scene)?;
    let mut surfaces = Surfaces::new(&device, &scene);
    let mut player = Player::new(&device, recording, scene, Playback::new(&times, 1.0, 1.0))?;
    for index in 0..times.len() {
        player.seek(index)?;
        if player.frame() != index {
            // It is damaged.
            continue;
        }
        let index = player.number() as usize;
        surfaces.find(&player.shown())?;
        let surface = surfaces.download()?;
        let path = folder.join(format.file_name(index));
        export_mesh(&surface.mesh(), format, &path).map_err(Failure::other)?;
        if let Some(pieces) = player.pieces() {
            let faces = slabs.faces(pieces).map_err(|failure| failure.within(args.recording.display()))?;
            let surface = slab_files::triangles(&faces);
            let path = folder.join(format.slabs_file_name(index));
            export_mesh(&surface.mesh(), format, &path).map_err(Failure::other)?;
        }
        device.check_validation()?;
    }
    player.check_finished()
}

/// Returns the slabs of a recording's scene.
fn solids(args: &ExportArgs, recording: &Recording) -> Result<SlabSolids, Failure> {
    let origin = args.recording.display().to_string();
    SlabSolids::new(&Scene::from_json_with(&recording.meta().scene_json, &origin, &[])?)
}

/// Returns the output folder.
fn folder(args: &ExportArgs) -> Result<&Path, Failure> {
    let folder = args.out.as_deref().unwrap_or_else(|| parent(&args.recording));
    make(folder)?;
    Ok(folder)
}

/// Returns the folder of a file.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn make(folder: &Path) -> Result<(), Failure> {
    if folder.as_os_str().is_empty() { Ok(()) } else { create_dir(folder) }
}
