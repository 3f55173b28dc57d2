//! Hot reload: shaders of a checkout replace those of the program while it runs (feature `shader-reload`).

use frazil_engine::Failure;
use frazil_shader_build::{Checkout, Code, Shader};
use frazil_vk::Device;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval at which files are compared with what was compiled.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Shaders of a folder, which replace those of a device when their files change.
pub struct Shaders {
    device: Device,
    compiled: Receiver<(String, Result<Shader, String>)>,
    /// Errors by shader.
    errors: BTreeMap<String, String>,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shaders {
    /// Compiles the shaders of a folder that `device` uses, now and whenever their text changes.
    ///
    /// # Errors
    /// It holds no shaders.
    pub fn watch(device: &Device, glsl: &Path) -> Result<Self, Failure> {
        let checkout = Checkout::open(glsl).map_err(Failure::input)?;
        let ((sender, compiled), (stop, stopped)) = (channel(), channel());
        let watched = device.clone();
        let thread = std::thread::spawn(move || watch(checkout, &watched, &sender, &stopped));
        let (errors, stop, thread) = (BTreeMap::new(), Some(stop), Some(thread));
        Ok(Self { device: device.clone(), compiled, errors, stop, thread })
    }

    /// Replaces the shaders that were compiled since the last call, and returns the names of those. A shader
    /// with an error stays as it was.
    pub fn collect_completed(&mut self) -> Vec<String> {
        let mut replaced = Vec::new();
        for (name, shader) in self.compiled.try_iter() {
            let result = shader.and_then(|shader| {
                match &shader.code {
                    Code::Compute(spirv) => self.device.replace_kernel(&name, spirv),
                    Code::Raster(vertex, fragment) => self.device.replace_raster(&name, vertex, fragment),
                }
                .map_err(|error| error.to_string())
            });
            match result {
                Ok(_) => {
                    self.errors.remove(&name);
                    replaced.push(name);
                }
                Err(error) => {
                    self.errors.insert(name, error);
                }
            }
        }
        replaced
    }

    /// Returns the errors of all shaders as they are in the folder.
    pub fn errors(&self) -> Vec<&str> {
        self.errors.values().map(String::as_str).collect()
    }
}

impl Drop for Shaders {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It holds the device, which must not outlive the window.
            let _ = thread.join();
        }
    }
}

/// Compiles changed shaders until `stopped` is closed.
fn watch(
    mut checkout: Checkout,
    device: &Device,
    compiled: &Sender<(String, Result<Shader, String>)>,
    stopped: &Receiver<()>,
) {
    let interfaces: HashMap<&str, &[&str]> = frazil_shaders::INTERFACES.iter().copied().collect();
    let mut present: HashMap<String, Code> = HashMap::new();
    let mut has_error: HashMap<String, bool> = HashMap::new();
    loop {
        for name in device.shaders_in_use() {
            // Shaders of a solver outside of frazil are not in the folder.
            let Some(interface) = interfaces.get(name) else { continue };
            if stopped.recv_timeout(Duration::ZERO) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let Some(shader) = checkout.changed(name) else { continue };
            let shader = shader.and_then(|shader| match difference(interface, &shader.interface) {
                Some(difference) => Err(format!("glsl/{}: {difference}", name.replace('.', "/"))),
                None => Ok(shader),
            });
            let is_present = |shader: &Shader| match present.get(name) {
                Some(code) => *code == shader.code,
                None => is_built_in(name, &shader.code),
            };
            // A shader that is as before is sent after an error, to remove the message.
            let had_error = has_error.insert(name.to_owned(), shader.is_err()).unwrap_or(false);
            match &shader {
                Ok(shader) if is_present(shader) && !had_error => continue,
                Ok(shader) => drop(present.insert(name.to_owned(), shader.code.clone())),
                Err(_) => {}
            }
            if compiled.send((name.to_owned(), shader)).is_err() {
                return;
            }
        }
        if stopped.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// Returns true if the program was built with this code.
fn is_built_in(name: &str, code: &Code) -> bool {
    match code {
        Code::Compute(spirv) => {
            frazil_shaders::KERNELS.iter().any(|kernel| kernel.name == name && kernel.spirv == spirv)
        }
        Code::Raster(vertex, fragment) => frazil_shaders::RASTERS.iter().any(|raster| {
            raster.name == name && raster.vertex_spirv == vertex && raster.fragment_spirv == fragment
        }),
    }
}

/// Returns the first difference between the interface that host code was built with and another.
fn difference(built: &[&str], found: &[String]) -> Option<String> {
    let lost = built.iter().find(|line| !found.iter().any(|other| other == *line));
    let new = found.iter().find(|line| !built.contains(&line.as_str()));
    let what = match (lost, new) {
        (None, None) => return None,
        (Some(lost), Some(new)) => format!("found {new}, expected {lost}"),
        (Some(lost), None) => format!("expected {lost}"),
        (None, Some(new)) => format!("found {new}, which is not in the program"),
    };
    Some(format!("{what}; host code depends on it: build the program again"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_kernels::Counts;
    use frazil_testkit::own_device;
    use frazil_vk::{DeviceCount, Replay};
    use std::time::Instant;

    const NAME: &str = "primitives.prepare_dispatch";

    /// A kernel in use, whose source is in a folder that is watched.
    struct Edited {
        device: Device,
        folder: tempfile::TempDir,
        counts: Counts,
        count: DeviceCount,
        replay: Replay,
        shaders: Shaders,
    }

    impl Edited {
        fn new() -> Self {
            let device = own_device();
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("primitives")).unwrap();
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../glsl/primitives/prepare_dispatch.comp");
            std::fs::copy(source, folder.path().join("primitives/prepare_dispatch.comp")).unwrap();
            let counts = Counts::new(&device).unwrap();
            let count = counts.upload(&device, "count", 5, 64).unwrap();
            let shaders = Shaders::watch(&device, folder.path()).unwrap();
            Self { device, folder, counts, count, replay: Replay::default(), shaders }
        }

        fn edit(&self, from: &str, to: &str) {
            let path = self.folder.path().join("primitives/prepare_dispatch.comp");
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{from} in {text}");
            std::fs::write(path, text.replace(from, to)).unwrap();
        }

        /// Returns the number of workgroups for five elements in tiles of one.
        fn groups(&self) -> u32 {
            let mut recorder = self.device.recorder().unwrap();
            recorder.replayed(&self.replay, |recorder| self.counts.prepare(recorder, &self.count));
            self.device.submit(recorder).unwrap().wait().unwrap();
            self.device.download(&self.count.args, 1).unwrap()[0][0]
        }

        /// Takes in shaders until `is_done`, and returns the names of those that were replaced.
        fn until(&mut self, what: &str, is_done: impl Fn(&[String], &Shaders) -> bool) -> Vec<String> {
            let (start, mut replaced) = (Instant::now(), Vec::new());
            while !is_done(&replaced, &self.shaders) {
                assert!(start.elapsed() < Duration::from_secs(120), "{what}: {:?}", self.shaders.errors());
                std::thread::sleep(Duration::from_millis(20));
                replaced.extend(self.shaders.collect_completed());
            }
            replaced
        }
    }

    #[test]
    fn an_edited_shader_replaces_the_one_in_use_and_one_with_an_error_does_not() {
        let mut edited = Edited::new();
        // Command buffers are submitted again from the third time on.
        assert_eq!([0; 4].map(|_| edited.groups()), [5; 4]);
        assert!(edited.replay.counts().replayed > 0);
        edited.edit("dispatch_of(count[0],", "dispatch_of(count[0] + 2u,");
        let replaced = edited.until("edit", |replaced, _| !replaced.is_empty());
        assert_eq!(replaced, [NAME], "only the edited shader");
        assert_eq!([0; 4].map(|_| edited.groups()), [7; 4]);
        // Kernels that are compiled later have the new code, too.
        assert_eq!(
            edited
                .device
                .download(
                    &Counts::new(&edited.device)
                        .unwrap()
                        .upload(&edited.device, "other", 9, 64)
                        .unwrap()
                        .args,
                    1
                )
                .unwrap()[0][0],
            11
        );

        edited.edit("count[0] + 2u", "count[0] + undeclared");
        edited.until("syntax error", |_, shaders| !shaders.errors().is_empty());
        let error = edited.shaders.errors()[0].to_owned();
        assert!(error.starts_with("glsl/primitives/prepare_dispatch.comp:19: error:"), "{error}");
        assert!(error.contains("undeclared"), "{error}");
        assert_eq!(edited.groups(), 7);

        edited.edit("count[0] + undeclared", "count[0] + 2u");
        edited.until("mended", |_, shaders| shaders.errors().is_empty());
        edited.edit("count[0] + 2u", "count[0]");
        edited.until("as before", |replaced, _| !replaced.is_empty());
        assert_eq!([0; 4].map(|_| edited.groups()), [5; 4]);
        edited.device.check_validation().unwrap();
    }

    #[test]
    fn a_shader_with_another_interface_is_refused_with_the_difference() {
        for (from, to, expected) in [
            ("uint max_groups_x;", "uint unused; uint max_groups_x;", "push constant unused at byte 0: u32"),
            (
                "readonly buffer Count { uint count[]; }",
                "buffer Count { int count[]; }",
                "count of i32, read",
            ),
            ("void main() {", "const uint LIMIT = 7u;\nvoid main() {", "constant LIMIT = 7"),
        ] {
            let mut edited = Edited::new();
            edited.edit(from, to);
            if from.contains("Count") {
                edited.edit("count[0]", "uint(count[0])");
            }
            edited.until(from, |_, shaders| !shaders.errors().is_empty());
            let error = edited.shaders.errors()[0];
            let is_named = error.starts_with("glsl/primitives/prepare_dispatch: found ");
            assert!(is_named && error.contains(expected) && error.contains("build"), "{error}");
            assert_eq!(edited.groups(), 5);
        }
    }

    #[test]
    fn a_folder_without_shaders_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Shaders::watch(&own_device(), folder.path()).err().unwrap().to_string();
        assert!(error.contains("no shaders, expected the folder glsl"), "{error}");
        let missing = folder.path().join("missing");
        let error = Shaders::watch(&own_device(), &missing).err().unwrap().to_string();
        assert!(error.contains("missing: cannot list"), "{error}");
    }

    /// The program and the checkout compile the same text to the same code, so that nothing is replaced.
    #[test]
    fn shaders_that_were_not_edited_are_those_of_the_program() {
        let glsl = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../glsl"));
        let mut checkout = Checkout::open(glsl).unwrap();
        for (name, interface) in frazil_shaders::INTERFACES.iter().step_by(16) {
            assert!(checkout.changed(name).is_none(), "a text may still be written at the first look");
            let shader = checkout.changed(name).unwrap().unwrap();
            assert_eq!(difference(interface, &shader.interface), None, "{name}");
            assert!(is_built_in(name, &shader.code), "{name}");
            assert!(checkout.changed(name).is_none());
        }
    }
}
