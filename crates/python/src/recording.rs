//! Recordings.

use crate::arrays::{self, FrameArrays};
use crate::exceptions::{Input, exception};
use crate::scene::Scene;
use frazil_engine::engine::{self, Failure};
use frazil_io::Tail;
use numpy::PyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// An open recording.
#[pyclass(frozen, module = "frazil._frazil")]
pub struct Recording {
    /// Locked only by threads that do not hold the interpreter's lock.
    recording: Mutex<engine::Recording>,
}

impl Recording {
    /// Calls `f` without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut engine::Recording) -> Result<T, frazil_io::Error> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| f(&mut self.recording.lock().unwrap_or_else(PoisonError::into_inner)));
        result.map_err(|error| exception(py, &Failure::input(error), Input::Any))
    }
}

#[pymethods]
impl Recording {
    /// Opens a recording.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| engine::Recording::open(&path));
        let opened = opened.map_err(|error| exception(py, &Failure::input(error), Input::Any))?;
        Ok(Self { recording: Mutex::new(opened) })
    }

    /// Finds frames that were appended since, and returns the number of frames.
    fn refresh(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, engine::Recording::refresh)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |recording| Ok(recording.len()))
    }

    /// Returns the steps of all frames.
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let steps = self.with(py, |recording| Ok(recording.times().map(|(step, _)| step).collect()))?;
        Ok(PyArray1::from_vec(py, steps))
    }

    /// Returns the times of all frames in s.
    fn times_s<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let times = self.with(py, |recording| Ok(recording.times().map(|(_, time_s)| time_s).collect()))?;
        Ok(PyArray1::from_vec(py, times))
    }

    /// Returns a frame.
    fn frame<'py>(&self, py: Python<'py>, index: usize) -> PyResult<FrameArrays<'py>> {
        let frame = self.with(py, |recording| recording.frame(index))?;
        arrays::of_frame(py, frame)
    }

    /// Returns the scene of the run.
    fn scene(&self, py: Python<'_>) -> PyResult<Scene> {
        let (json, origin) = self.with(py, |recording| {
            Ok((recording.meta().scene_json.clone(), recording.path().display().to_string()))
        })?;
        let scene = engine::Scene::from_json(&json, &origin);
        scene.map(|scene| Scene { scene }).map_err(|error| exception(py, &error.into(), Input::Scene))
    }

    /// Returns the name of the device of the run.
    fn device(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |recording| Ok(recording.meta().device.clone()))
    }

    /// Returns true if the run has finished the recording.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |recording| Ok(*recording.tail() == Tail::Finished))
    }

    /// Returns the damage that was found: gaps, and an end that is incomplete.
    fn damage(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |recording| {
            let end = match recording.tail() {
                Tail::Damaged(damage) => Some(damage),
                Tail::Finished | Tail::Open => None,
            };
            Ok(recording.gaps().iter().chain(end).map(ToString::to_string).collect())
        })
    }
}
