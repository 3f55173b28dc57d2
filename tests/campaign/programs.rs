//! Gives mutated files to the program: it ends with a documented status and a message, never by a signal, a
//! panic or not at all.
//!
//! Files with correct checksums but hostile contents are made, too: checkpoints whose state has other lengths
//! and values, recordings whose frames have other columns. What no kernel may assume of a file is then found
//! here.

use crate::part::{Part, Setting};
use crate::process::{run as run_process, said};
use crate::table::{Count, Table};
use frazil_fuzz::{Kind, Random, Session, mutate, repair_hashes, targets};
use frazil_io::{Checkpoint, Column, ColumnData, Frame, Recording, RecordingMeta, RecordingWriter};
use frazil_scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub const PART: Part =
    Part { name: "programs", about: "the program reads mutated files and ends with a status", run };

const SEED: u64 = 19;
/// A process that takes longer hangs: it needs a second, most of it for compiling kernels.
const LONGEST: Duration = Duration::from_secs(120);
/// Larger scenes are checked, not run.
const MAX_PARTICLES: u64 = 20_000;
const MAX_MEMORY_KIB: u64 = 12 << 20;

/// Classes and numbers of cases.
const CLASSES: &[(&str, u64)] = &[
    ("resume_bytes", 100),
    ("resume_state", 200),
    ("resume_outputs", 60),
    ("export_bytes", 60),
    ("export_frames", 120),
    ("play_frames", 60),
    ("run_scene", 120),
    ("run_file", 160),
];

/// Formats of `frazil export`.
const FORMATS: [[&str; 2]; 6] = [
    ["--format", "vtk"],
    ["--format", "vtu"],
    ["--format", "ply"],
    ["--format", "bgeo"],
    ["--format", "csv"],
    ["--mesh", "ply"],
];

/// A small run of each solver, whose files are mutated.
struct Reference {
    /// Arguments that select the scene.
    scene: Vec<String>,
    folder: PathBuf,
}

struct Campaign<'a> {
    program: &'a Path,
    folder: PathBuf,
    references: Vec<Reference>,
}

fn run(setting: &Setting) -> Result<Count, String> {
    let mut table = Table::open(&setting.folder, PART.name)?;
    let folder = setting.folder.join(PART.name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut campaign = Campaign { program: &setting.program, folder, references: Vec::new() };
    campaign.make_references()?;
    for (class, n) in CLASSES {
        for case in 0..*n {
            if setting.is_over() {
                break;
            }
            if !table.has(class, &case.to_string()) {
                let verdict = campaign.case(class, case);
                if verdict.is_err() {
                    campaign.keep(class, case)?;
                }
                table.add(class, &case.to_string(), verdict)?;
            }
        }
    }
    Ok(table.report(CLASSES.iter().flat_map(|(class, n)| (0..*n).map(move |_| *class))))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Campaign<'_> {
    /// Runs the scenes of the references, unless an earlier campaign has.
    fn make_references(&mut self) -> Result<(), String> {
        let mpm = include_str!("../fuzz/scenes/text.toml").lines().map(|line| {
            match line.starts_with("shape.text") {
                true => "shape.rectangle = { min_m = [0.4, 0.4], max_m = [0.8, 0.8] }",
                false => line,
            }
        });
        let mpm: String = mpm.map(|line| format!("{line}\n")).collect();
        let scenes = [
            ("pbd", include_str!("../fuzz/scenes/bodies.toml")),
            ("snow", include_str!("../../crates/viewer/tests/it/snow.toml")),
            ("dem", include_str!("../fuzz/scenes/slope.toml")),
            ("mpm", mpm.as_str()),
        ];
        for (name, text_of_scene) in scenes {
            let path = self.folder.join(format!("{name}.toml"));
            fs::write(&path, text_of_scene).map_err(text)?;
            self.add_reference(name, vec![path.display().to_string()])?;
        }
        let viscoelastic = ["viscoelastic_cube", "--set", "fluid.particle_spacing_m=0.032"];
        self.add_reference("viscoelastic", viscoelastic.map(str::to_owned).to_vec())
    }

    fn add_reference(&mut self, name: &str, scene: Vec<String>) -> Result<(), String> {
        let folder = self.folder.join(name);
        if !folder.join("run.json").exists() {
            let mut command = self.command("run");
            command.args(&scene).args([
                "--steps",
                "8",
                "--record",
                "4",
                "--metrics",
                "4",
                "--checkpoint",
                "4",
            ]);
            command.args(["--render", "never", "--quiet", "--out"]).arg(&folder);
            let output = run_process(&mut command, LONGEST)?;
            if !output.status.success() {
                return Err(format!("{name} ended with {}: {}", output.status, said(&output)));
            }
        }
        self.references.push(Reference { scene, folder });
        Ok(())
    }

    /// Returns a command of the program with bounded memory.
    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh", &MAX_MEMORY_KIB.to_string()]);
        command.arg(self.program).arg(verb).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Runs a case; returns the status.
    fn case(&self, class: &str, case: u64) -> Result<String, String> {
        let mut random = Random::of_case(SEED, class, case);
        let reference = &self.references[random.below(self.references.len())];
        let out = self.folder.join("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).map_err(text)?;
        let (file, verb) = match class {
            "resume_bytes" | "resume_state" | "resume_outputs" => ("checkpoint.frazil-ckpt", "run"),
            "export_bytes" | "export_frames" => ("recording.frazil-rec", "export"),
            "play_frames" => ("recording.frazil-rec", "play"),
            _ => return self.scene_case(class, case, &mut random, &out),
        };
        let (valid, mutated) = (reference.folder.join(file), out.join(file));
        let mut command = self.command(verb);
        match class {
            "resume_bytes" | "export_bytes" => {
                let mut bytes = mutate(Kind::Binary, &[fs::read(&valid).map_err(text)?], &[], &mut random);
                if random.once_in(2) {
                    repair_hashes(&mut bytes);
                }
                fs::write(&mutated, bytes).map_err(text)?;
            }
            "resume_state" => mutated_checkpoint(&valid, &mut random)?.write(&mutated).map_err(text)?,
            "resume_outputs" => {
                for entry in fs::read_dir(&reference.folder).map_err(text)? {
                    let path = entry.map_err(text)?.path();
                    if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                        fs::copy(&path, out.join(name)).map_err(text)?;
                    }
                }
                let (name, kind) =
                    *random.pick(&[("recording.frazil-rec", Kind::Binary), ("metrics.csv", Kind::Text)]);
                let path = out.join(name);
                let bytes = fs::read(&path).map_err(text)?;
                fs::write(&path, mutate(kind, &[bytes], &[], &mut random)).map_err(text)?;
            }
            _ => write_mutated_recording(&valid, &mutated, &mut random)?,
        }
        match verb {
            "run" => {
                command
                    .args(&reference.scene)
                    .args(["--steps", "12", "--render", "never", "--quiet", "--resume"]);
                command.arg(&mutated).arg("--out").arg(&out);
                if class != "resume_outputs" {
                    command.arg("--discard-outputs");
                }
            }
            "export" => {
                command.arg(&mutated).args(random.pick(&FORMATS)).arg("--out").arg(&out);
            }
            _ => {
                command.arg(&mutated).args([
                    "--quiet",
                    "--set",
                    "render.width_px=64",
                    "--set",
                    "render.height_px=36",
                ]);
                command.arg("--out").arg(out.join("pictures"));
            }
        }
        judge(&mut command)
    }

    /// Runs a mutated scene, or a scene with a mutated file.
    fn scene_case(&self, class: &str, case: u64, random: &mut Random, out: &Path) -> Result<String, String> {
        let files = [
            "ascii_grid",
            "geotiff",
            "png_heights",
            "projection",
            "geojson",
            "shapefile",
            "dbase",
            "obj",
            "stl",
            "ply",
            "font",
        ];
        let name = if class == "run_scene" { "scene" } else { random.pick(&files) };
        let target = targets::find(name).ok_or("no such target")?;
        let session = Session::new(&target, out).map_err(text)?;
        fs::write(out.join(target.file), session.file(SEED + 1, case)).map_err(text)?;
        let scene = out.join("scene.toml");
        let is_small =
            Scene::load(&scene, &[]).is_ok_and(|scene| scene.particle_count_estimate() <= MAX_PARTICLES);
        let mut command = self.command(if is_small { "run" } else { "check" });
        command.arg(&scene);
        if is_small {
            command.args(["--steps", "2", "--render", "never", "--quiet", "--out"]).arg(out.join("run"));
        }
        judge(&mut command)
    }

    /// Copies the files of a failed case.
    fn keep(&self, class: &str, case: u64) -> Result<(), String> {
        let kept = self.folder.join(format!("failed-{class}-{case}"));
        let _ = fs::remove_dir_all(&kept);
        fs::rename(self.folder.join("out"), kept).map_err(text)
    }
}

/// Runs the command; returns its status if it is documented.
fn judge(command: &mut Command) -> Result<String, String> {
    let output = run_process(command, LONGEST)?;
    let message = said(&output);
    let is_told = message.contains("error: ") && !message.contains("panicked");
    match output.status.code() {
        Some(0) => Ok("status 0".to_owned()),
        Some(code @ 1..=4) if is_told => Ok(format!("status {code}")),
        _ => Err(format!("{} of {command:?}: {message}", output.status)),
    }
}

/// Words that are hostile as integers, floats and indices.
const WORDS: [u32; 12] = [
    0,
    1,
    u32::MAX,
    i32::MAX as u32,
    1 << 16,
    1 << 20,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f7f_ffff,
    0x8000_0000,
    0x4b80_0000,
];

/// Makes words of a column hostile, one or all of them, or takes some away or adds some.
fn mutate_words(bytes: &mut Vec<u8>, random: &mut Random) {
    let n = bytes.len() / 4;
    let word = random.pick(&WORDS).to_le_bytes();
    match random.below(8) {
        0 => bytes.truncate(4 * random.below(n + 1)),
        1 => bytes.truncate(random.below(bytes.len() + 1)),
        2 => bytes.extend(word.repeat(1 + random.below(4))),
        3 => bytes.chunks_exact_mut(4).for_each(|slot| slot.copy_from_slice(&word)),
        _ => {
            for _ in 0..random.few() {
                let at = random.below(n);
                if let Some(slot) = bytes.get_mut(4 * at..4 * at + 4) {
                    slot.copy_from_slice(&word);
                }
            }
        }
    }
}

/// Returns a checkpoint with correct checksums and another state, scene, step or time.
fn mutated_checkpoint(path: &Path, random: &mut Random) -> Result<Checkpoint, String> {
    let mut checkpoint = Checkpoint::read(path).map_err(text)?;
    for _ in 0..random.few() {
        let names: Vec<String> = checkpoint.sections.keys().cloned().collect();
        if names.is_empty() {
            break;
        }
        let name = random.pick(&names).clone();
        match random.below(12) {
            0 => {
                let json = checkpoint.scene_json.clone().into_bytes();
                let mutated = mutate(Kind::Text, &[json], &[], random);
                checkpoint.scene_json = String::from_utf8_lossy(&mutated).into_owned();
            }
            1 => checkpoint.step = *random.pick(&[0, 1, 11, 12, 13, u64::from(u32::MAX), u64::MAX]),
            2 => checkpoint.time_s = *random.pick(&[f64::NAN, -1.0, 1e300, 0.0]),
            3 => drop(checkpoint.sections.remove(&name)),
            4 => {
                let bytes = checkpoint.sections.remove(&name).unwrap_or_default();
                checkpoint.sections.insert(random.pick(&names).clone(), bytes);
            }
            _ => mutate_words(checkpoint.sections.entry(name).or_default(), random),
        }
    }
    Ok(checkpoint)
}

/// Writes a recording with correct checksums and other frames or metadata.
fn write_mutated_recording(valid: &Path, mutated: &Path, random: &mut Random) -> Result<(), String> {
    let mut recording = Recording::open(valid).map_err(text)?;
    let mut meta: RecordingMeta = recording.meta().clone();
    if random.once_in(4) {
        let json = mutate(Kind::Text, &[meta.scene_json.into_bytes()], &[], random);
        meta.scene_json = String::from_utf8_lossy(&json).into_owned();
    }
    let mut writer = RecordingWriter::create(mutated, &meta).map_err(text)?;
    for index in 0..recording.len() {
        let frame = recording.frame(index).map_err(text)?;
        let frame = if random.once_in(3) { frame } else { mutated_frame(&frame, random).unwrap_or(frame) };
        writer.append(&frame).map_err(text)?;
    }
    if random.once_in(4) { Ok(()) } else { writer.finish().map_err(text) }
}

/// Returns a frame with other columns, lengths and values; `None` if they make no frame.
fn mutated_frame(frame: &Frame, random: &mut Random) -> Option<Frame> {
    let mut parts = [frame.columns().to_vec(), frame.bodies().to_vec()];
    for columns in parts.iter_mut().filter(|columns| !columns.is_empty()) {
        let at = random.below(columns.len());
        match random.below(6) {
            0 => drop(columns.remove(at)),
            1 => {
                let n = random.below(columns[at].data.len() + 1);
                columns.iter_mut().for_each(|column| resize(&mut column.data, n));
            }
            2 => {
                let n = columns[at].data.len();
                columns[at].data = match random.below(3) {
                    0 => ColumnData::U32(vec![u32::MAX; n]),
                    1 => ColumnData::F32(vec![f32::NAN; n]),
                    _ => ColumnData::Vec3(vec![[1e38; 3]; n]),
                };
            }
            _ => {
                let n = columns[at].data.len();
                let values = &mut columns[at];
                (0..random.few()).for_each(|_| poison(values, random.below(n), *random.pick(&WORDS)));
            }
        }
    }
    let [columns, bodies] = parts;
    let step = if random.once_in(4) { *random.pick(&[0, 1, u64::MAX]) } else { frame.step() };
    let time_s = if random.once_in(4) { *random.pick(&[f64::NAN, -1.0, 1e300]) } else { frame.time_s() };
    Frame::new(step, time_s, columns).and_then(|frame| frame.with_bodies(bodies)).ok()
}

fn resize(data: &mut ColumnData, n: usize) {
    match data {
        ColumnData::U32(values) => values.truncate(n),
        ColumnData::F32(values) => values.truncate(n),
        ColumnData::Vec3(values) => values.truncate(n),
    }
}

fn poison(column: &mut Column, at: usize, word: u32) {
    match &mut column.data {
        ColumnData::U32(values) => values.iter_mut().skip(at).take(1).for_each(|value| *value = word),
        ColumnData::F32(values) => {
            values.iter_mut().skip(at).take(1).for_each(|value| *value = f32::from_bits(word))
        }
        ColumnData::Vec3(values) => {
            values.iter_mut().skip(at).take(1).for_each(|value| value[at % 3] = f32::from_bits(word));
        }
    }
}
