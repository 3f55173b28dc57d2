//! `frazil export`: frames of a recording in formats of other programs.

mod args;
mod flow_map;
use crate::cli::interrupt;
use crate::recordings::damage::Skipped;
use crate::recordings::rigid_bodies::{self, RigidBodies, Solids};
use crate::recordings::{Playback, Player, recording_at};
use crate::say;
pub use args::ExportArgs;
use args::{ExportWhat, FrameRange};
use flow_map::export_map;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::outputs::{Existing, Folder, Output};
use frazil_engine::picture::{self, Surfaces, check_surface, vertex_columns};
use frazil_io::{
    BodyKind, Faces, Format, MeshFormat, Recording, RunInfo, export_bodies, export_mesh, write_pvd,
};
use frazil_scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};

/// Beginnings of the names of exported files before the number of the frame.
const STEMS: [&str; 5] = ["particles_", "slabs_", "pieces_", "bodies_", "surface_"];

/// Writes one file per frame and format, and others for slabs and dynamic bodies; or a map of the run.
pub fn export(args: &ExportArgs, validation: bool) -> Result<(), Failure> {
    let ExportWhat { format, mesh, map } = &args.what;
    interrupt::flag();
    let path = &*recording_at(&args.recording);
    let run = parent(path);
    // Errors of the recording are reported before a folder is created.
    let particles = (!format.is_empty()).then(|| Particles::open(path)).transpose()?;
    let surfaces = (!mesh.is_empty()).then(|| open_surfaces(args, path, mesh)).transpose()?;
    match map {
        None => check_frames(args, path)?,
        Some(_) => drop(RunInfo::read(&Folder::existing(run).report()).map_err(Failure::input)?),
    }
    let output = Output {
        requested: args.out.as_deref(),
        default: &run.join("export"),
        existing: Existing::of(args.overwrite, false),
    };
    let mut export = Export { args, recording: path, folder: output.claim()?, n_files: 0, n_bytes: 0 };
    if args.overwrite {
        export.clear()?;
    }
    // A damaged recording is exported as far as it is whole, and reported at the end.
    let mut ended = Ok(());
    if let Some(particles) = particles {
        ended = particles.export(&mut export, format);
    }
    if let Some((recording, scene)) = surfaces {
        ended = ended.and(export_surfaces(&mut export, mesh, recording, scene, validation));
    }
    if let Some(quantity) = map {
        export.wrote(export_map(args, *quantity, run, &export.folder)?);
    }
    export.conclude();
    ended
}

/// Files of an export.
struct Export<'a> {
    args: &'a ExportArgs,
    recording: &'a Path,
    folder: PathBuf,
    n_files: u64,
    n_bytes: u64,
}

impl Export<'_> {
    /// Removes the files of an earlier export in the same formats, which could be mistaken for files of this
    /// one.
    fn clear(&self) -> Result<(), Failure> {
        let ExportWhat { format, mesh, .. } = &self.args.what;
        let mut extensions: Vec<&str> = format.iter().map(|format| format.extension()).collect();
        extensions.extend(mesh.iter().map(|format| format.extension()));
        let is_own = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let numbered = STEMS.iter().find_map(|stem| name.strip_prefix(stem));
            numbered.and_then(|name| name.split_once('.')).is_some_and(|(number, extension)| {
                number.bytes().all(|byte| byte.is_ascii_digit()) && extensions.contains(&extension)
            })
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| is_own(path)) {
            fs::remove_file(&path).map_err(|error| {
                Failure::output(&error, format!("cannot replace {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }

    /// Returns true if the frame of a number is exported.
    fn is_selected(&self, number: u64) -> bool {
        self.args.frames.is_none_or(|frames| frames.contains(number))
    }

    /// Returns the path of a file.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Counts a file that has been written.
    fn wrote(&mut self, path: PathBuf) {
        self.n_files += 1;
        self.n_bytes += fs::metadata(path).map_or(0, |file| file.len());
    }

    /// Returns an error after an interrupt.
    fn check_interrupt(&self) -> Result<(), Failure> {
        interrupt::check(format_args!("{} file(s) are in {}", self.n_files, self.folder.display()))
    }

    /// Prints what was written.
    fn conclude(&self) {
        let ExportWhat { format, mesh, map } = &self.args.what;
        let mut what: Vec<String> = format.iter().map(|format| format!("particles as {format}")).collect();
        what.extend(mesh.iter().map(|format| format!("surface as {format}")));
        what.extend(map.map(|map| format!("map of {}", map.name())));
        let megabytes = self.n_bytes as f64 / 1e6;
        say::note(format_args!(
            "wrote {} file(s) ({}), {megabytes:.1} MB, in {}",
            self.n_files,
            what.join(", "),
            self.folder.display()
        ));
    }
}

/// Returns the error that --frames selects none of the frames.
fn check_frames(args: &ExportArgs, path: &Path) -> Result<(), Failure> {
    let Some(FrameRange { first, last, step }) = args.frames else { return Ok(()) };
    let recording = Recording::open(path).map_err(Failure::input)?;
    let numbers = || (0..recording.len()).filter_map(|index| recording.number(index));
    if numbers().any(|number| args.frames.is_none_or(|frames| frames.contains(number))) {
        return Ok(());
    }
    let last = if last == u64::MAX { String::new() } else { last.to_string() };
    Err(Failure::input(format!(
        "--frames {first}..{last}:{step}: {} has no such frame, expected numbers from {} to {}",
        path.display(),
        numbers().next().unwrap_or(0),
        numbers().next_back().unwrap_or(0)
    )))
}

/// Particles of a recording.
struct Particles {
    recording: Recording,
}

impl Particles {
    fn open(path: &Path) -> Result<Self, Failure> {
        let recording = Recording::open(path).map_err(Failure::input)?;
        if recording.is_empty() {
            return Err(Failure::input(format!("{}: the recording holds no frame", path.display())));
        }
        Ok(Self { recording })
    }

    /// Writes the particles of each frame, and for VTU the index that ties files to their times.
    fn export(mut self, export: &mut Export<'_>, formats: &[Format]) -> Result<(), Failure> {
        let recording = &mut self.recording;
        let mut skipped = Skipped::begin(recording);
        let mut scene = None;
        let has_faces = formats.iter().any(|format| format.holds_faces());
        let mut solids = [None, None];
        let (mut files, mut body_files) = (Vec::new(), [Vec::new(), Vec::new()]);
        for index in 0..recording.len() {
            let number = recording.number(index).unwrap_or(0);
            if !export.is_selected(number) {
                continue;
            }
            if interrupt::is_set() {
                break;
            }
            let Some(frame) = skipped.read(recording, index)? else { continue };
            let within = |failure: Failure| failure.within(export.recording.display());
            // Recordings without rigid bodies are exported without the files that their scene refers to.
            if scene.is_none() && !frame.bodies().is_empty() {
                scene = Some(scene_of(recording)?);
            }
            let rigid =
                scene.as_ref().map_or(Ok(RigidBodies::default()), |scene| RigidBodies::of(scene, &frame));
            let rigid = rigid.map_err(within)?;
            let mut faces = [None, None];
            for (k, kind) in BodyKind::ALL.into_iter().enumerate() {
                let (Some(bodies), Some(scene), true) = (rigid.get(kind), &scene, has_faces) else {
                    continue;
                };
                if solids[k].is_none() {
                    solids[k] = Some(Solids::new(scene, kind)?);
                }
                let of = |solids: &Solids| solids.faces(bodies).map_err(within);
                faces[k] = solids[k].as_ref().map(of).transpose()?;
            }
            let frame = frame.sorted_by_id();
            for &format in formats {
                let name = format.file_name(number as usize);
                let path = export.path(&name);
                frazil_io::export(&frame, format, &path).map_err(Failure::other)?;
                export.wrote(path);
                files.extend((format == Format::Vtu).then_some((frame.time_s(), name)));
                for (k, kind) in BodyKind::ALL.into_iter().enumerate() {
                    let Some(bodies) = rigid.get(kind) else { continue };
                    let none = Faces::default();
                    let faces = faces[k].as_ref().filter(|_| format.holds_faces()).unwrap_or(&none);
                    let name = format.bodies_file_name(kind, number as usize);
                    let path = export.path(&name);
                    export_bodies(kind, bodies, faces, format, &path).map_err(Failure::other)?;
                    export.wrote(path);
                    body_files[k].extend((format == Format::Vtu).then_some((frame.time_s(), name)));
                }
            }
        }
        let [slabs, bodies] = body_files;
        for (stem, files) in [("particles", files), ("slabs", slabs), ("bodies", bodies)] {
            if !files.is_empty() {
                let path = export.path(&format!("{stem}.pvd"));
                write_pvd(&path, &files).map_err(Failure::other)?;
                export.wrote(path);
            }
        }
        export.check_interrupt()?;
        skipped.check_so_far(recording)
    }
}

/// Opens a recording whose particles have a surface.
fn open_surfaces(
    args: &ExportArgs,
    path: &Path,
    formats: &[MeshFormat],
) -> Result<(Recording, Scene), Failure> {
    let (recording, scene) = Player::open(path, &args.changes)?;
    let formats: Vec<String> = formats.iter().map(ToString::to_string).collect();
    check_surface(&scene, &format!("--mesh {}", formats.join(",")))?;
    Ok((recording, scene))
}

/// Writes the surface of each frame's particles, of all phases in one file, and those of rigid bodies.
fn export_surfaces(
    export: &mut Export<'_>,
    formats: &[MeshFormat],
    recording: Recording,
    scene: Scene,
    validation: bool,
) -> Result<(), Failure> {
    let args = export.args;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    let times: Vec<(u64, f64)> = recording.times().collect();
    let selected: Vec<usize> = (0..times.len())
        .filter(|&index| recording.number(index).is_some_and(|number| export.is_selected(number)))
        .collect();
    let [pieces, dynamic] = BodyKind::ALL.map(|kind| Solids::new(&scene, kind));
    let solids = [pieces?, dynamic?];
    let mut surfaces = Surfaces::new(&device, &scene);
    let mut player = Player::new(&device, recording, scene, Playback::new(&times, 1.0, 1.0))?;
    for index in selected {
        export.check_interrupt()?;
        player.seek(index)?;
        if player.frame() != index {
            // It is damaged.
            continue;
        }
        let index = player.number() as usize;
        surfaces.find(&player.shown())?;
        let mut surface = surfaces.download()?;
        if formats.contains(&MeshFormat::Ply) {
            let property = picture::property(&player.scene);
            surface.attributes =
                vertex_columns(&device, &player.scene, &player.shown(), &surface.position, property)?;
        }
        let mut triangles = Vec::new();
        for (kind, solids) in BodyKind::ALL.into_iter().zip(&solids) {
            let Some(bodies) = player.rigid_bodies().get(kind) else { continue };
            let faces = solids.faces(bodies).map_err(|failure| failure.within(export.recording.display()))?;
            triangles.push((kind, rigid_bodies::triangles(&faces)));
        }
        for &format in formats {
            let path = export.path(&format.file_name(index));
            export_mesh(&surface.mesh(), format, &path).map_err(Failure::other)?;
            export.wrote(path);
            for (kind, surface) in &triangles {
                let path = export.path(&format.bodies_file_name(*kind, index));
                export_mesh(&surface.mesh(), format, &path).map_err(Failure::other)?;
                export.wrote(path);
            }
        }
        device.check_validation()?;
    }
    player.check_so_far()
}

/// Returns a recording's scene.
fn scene_of(recording: &Recording) -> Result<Scene, Failure> {
    let origin = recording.path().display().to_string();
    Ok(Scene::from_json_with(&recording.meta().scene_json, &origin, &[])?)
}

/// Returns the folder of a file.
fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
