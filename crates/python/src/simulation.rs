//! Simulations.

use crate::arrays::{self, FrameArrays, NamedArray};
use crate::device::Device;
use crate::exceptions::{Input, exception};
use crate::scene::Scene;
use frazil_engine::engine::{Engine, Failure, SetDescription, SharedColumn};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A simulation on a device.
#[pyclass(frozen, module = "frazil._frazil")]
pub struct Simulation {
    /// Locked only by threads that do not hold the interpreter's lock, which [`Self::step`] takes for a
    /// moment while it has this one.
    engine: Mutex<Engine>,
}

/// A column in memory that host and device share; NumPy makes an array of it that keeps it alive.
#[pyclass(frozen, module = "frazil._frazil")]
pub struct SharedMemory {
    column: SharedColumn,
}

#[pymethods]
impl SharedMemory {
    /// Returns NumPy's description of an array that cannot be written.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let SharedColumn { address, n, components, stride_bytes, is_integer, .. } = self.column;
        let (mut shape, mut strides) = (vec![n], vec![stride_bytes]);
        if components > 1 {
            shape.push(components);
            strides.push(size_of::<u32>());
        }
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", if is_integer { "<u4" } else { "<f4" })?;
        interface.set_item("data", (address, true))?;
        interface.set_item("shape", PyTuple::new(py, shape)?)?;
        interface.set_item("strides", PyTuple::new(py, strides)?)?;
        Ok(interface)
    }
}

/// Name of a set, and names and units of its columns.
type Set = (String, Vec<(String, String)>);

impl Simulation {
    fn of(py: Python<'_>, engine: Result<Engine, Failure>, input: Input) -> PyResult<Self> {
        let engine = engine.map_err(|failure| exception(py, &failure, input))?;
        Ok(Self { engine: Mutex::new(engine) })
    }

    /// Calls `f` without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        input: Input,
        f: impl FnOnce(&mut Engine) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| match self.engine.lock() {
            Ok(mut engine) => f(&mut engine),
            Err(PoisonError { .. }) => {
                Err(Failure::other("the simulation cannot go on after an internal error"))
            }
        });
        result.map_err(|failure| exception(py, &failure, input))
    }
}

#[pymethods]
impl Simulation {
    /// Creates a simulation in the initial state of a scene.
    #[new]
    fn new(py: Python<'_>, scene: &Scene, device: &Device) -> PyResult<Self> {
        Self::of(py, py.detach(|| Engine::new(&device.device, scene.scene.clone())), Input::Scene)
    }

    /// Creates a simulation in the state of a checkpoint.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, device: &Device) -> PyResult<Self> {
        Self::of(py, py.detach(|| Engine::load(&device.device, &path)), Input::Any)
    }

    /// Writes a checkpoint.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, Input::Any, |engine| engine.save(&path))
    }

    /// Takes steps; an interrupt from the keyboard ends them.
    fn step(&self, py: Python<'_>, n: u64) -> PyResult<u64> {
        let mut interrupt = None;
        let taken = self.with(py, Input::Any, |engine| {
            engine.step_until(n, &mut || {
                interrupt = Python::attach(|py| py.check_signals()).err();
                interrupt.is_some()
            })
        })?;
        interrupt.map_or(Ok(taken), Err)
    }

    /// Returns step, time in s and number of particles.
    fn status(&self, py: Python<'_>) -> PyResult<(u64, f64, usize)> {
        self.with(py, Input::Any, |engine| Ok((engine.step_count(), engine.time_s(), engine.n_particles())))
    }

    /// Returns the present scene.
    fn scene(&self, py: Python<'_>) -> PyResult<Scene> {
        self.with(py, Input::Any, |engine| Ok(Scene { scene: engine.scene().clone() }))
    }

    /// Returns the device.
    fn device(&self, py: Python<'_>) -> PyResult<Device> {
        self.with(py, Input::Any, |engine| Ok(Device { device: engine.device().clone() }))
    }

    /// Returns the warnings.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, Input::Any, |engine| Ok(engine.warnings()))
    }

    /// Changes live parameters, given as `key=value`.
    fn change(&self, py: Python<'_>, arguments: Vec<String>) -> PyResult<()> {
        self.with(py, Input::Scene, |engine| engine.change(&arguments).map(drop))
    }

    /// Returns the changes of parameters so far as JSON.
    fn changes_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, Input::Any, |engine| serde_json::to_string(engine.changes()).map_err(Failure::other))
    }

    /// Returns name and unit of each metric.
    fn metric_infos(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        self.with(py, Input::Any, |engine| {
            Ok(engine.metric_infos().iter().map(|metric| (metric.name.clone(), metric.unit)).collect())
        })
    }

    /// Returns step, time in s and the values of all metrics.
    fn measure(&self, py: Python<'_>) -> PyResult<(u64, f64, Vec<f64>)> {
        self.with(py, Input::Any, |engine| {
            Ok((engine.step_count(), engine.time_s(), engine.measure()?.to_vec()))
        })
    }

    /// Returns the recorded columns of all particles, and those of rigid bodies.
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<FrameArrays<'py>> {
        let frame = self.with(py, Input::Any, |engine| engine.frame())?;
        arrays::of_frame(py, frame)
    }

    /// Returns the hash of the state.
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, Input::Any, |engine| engine.hash())
    }

    /// Returns the sets of particles with their columns.
    fn sets(&self, py: Python<'_>) -> PyResult<Vec<Set>> {
        let sets = self.with(py, Input::Any, |engine| Ok(engine.sets()))?;
        Ok(sets.into_iter().map(|SetDescription { name, columns }| (name, columns)).collect())
    }

    /// Returns the number of particles of a set.
    fn set_len(&self, py: Python<'_>, set: &str) -> PyResult<usize> {
        self.with(py, Input::Name, |engine| engine.set_len(set))
    }

    /// Returns columns of a set.
    fn columns<'py>(&self, py: Python<'py>, set: &str, names: Vec<String>) -> PyResult<Vec<NamedArray<'py>>> {
        let columns = self.with(py, Input::Name, |engine| {
            engine.columns(set, &names.iter().map(String::as_str).collect::<Vec<_>>())
        })?;
        columns.into_iter().map(|column| arrays::of_set_column(py, column)).collect()
    }

    /// Returns a column of a set in the device's memory.
    fn shared_column(&self, py: Python<'_>, set: &str, name: &str) -> PyResult<SharedMemory> {
        let column = self.with(py, Input::Name, |engine| engine.shared_column(set, name))?;
        Ok(SharedMemory { column })
    }

    /// Replaces columns of a set, given as arrays of shape (n,) or (n, components).
    fn set_columns(
        &self,
        py: Python<'_>,
        set: &str,
        columns: Vec<(String, Bound<'_, PyAny>)>,
    ) -> PyResult<()> {
        let values = columns.iter().map(|(_, array)| arrays::values(array)).collect::<PyResult<Vec<_>>>()?;
        let columns: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).zip(values).collect();
        self.with(py, Input::Any, |engine| engine.set_columns(set, &columns))
    }

    /// Draws the state with other settings of `[render]`, given as `key=value`.
    fn render<'py>(&self, py: Python<'py>, settings: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let pixels = self.with(py, Input::Scene, |engine| engine.render(&settings))?;
        arrays::of_pixels(py, &pixels)
    }
}
