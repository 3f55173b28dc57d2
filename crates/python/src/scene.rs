//! Scenes.

use crate::arrays;
use crate::exceptions::{Input, exception};
use frazil_engine::engine::{self, Failure, PointArrays, PointCloud};
use frazil_scene::{LiveParameter, LiveValue, builtin};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

/// A scene, validated.
#[pyclass(frozen, module = "frazil._frazil")]
pub struct Scene {
    pub scene: engine::Scene,
}

/// Key, name, unit, description, value and range of a parameter.
type Parameter<'py> = (String, String, &'static str, String, Bound<'py, PyAny>, (f64, f64));

/// Name, positions, velocities and temperatures of particles.
type Points<'py> = (
    String,
    PyReadonlyArray2<'py, f64>,
    Option<PyReadonlyArray2<'py, f64>>,
    Option<PyReadonlyArray1<'py, f64>>,
);

impl Scene {
    fn of(py: Python<'_>, scene: Result<engine::Scene, Failure>) -> PyResult<Self> {
        scene.map(|scene| Self { scene }).map_err(|failure| exception(py, &failure, Input::Scene))
    }
}

#[pymethods]
impl Scene {
    /// Loads the file at a path or the built-in scene of a name.
    #[staticmethod]
    fn find(py: Python<'_>, name_or_path: &str, overrides: Vec<String>) -> PyResult<Self> {
        Self::of(py, py.detach(|| engine::find_scene(name_or_path, &overrides)))
    }

    /// Reads a scene from its text in TOML. `points` has names, that are paths in the text, and positions,
    /// velocities and temperatures of particles.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &str,
        origin: &str,
        overrides: Vec<String>,
        points: Vec<Points<'_>>,
    ) -> PyResult<Self> {
        let cloud = |(name, positions, velocities, temperatures): Points<'_>| {
            let velocities = velocities.as_ref().map(arrays::vectors);
            let temperatures = temperatures.map(|numbers| numbers.as_array().to_vec());
            let cloud = PointCloud::new(arrays::vectors(&positions), velocities, temperatures);
            let cloud = cloud.map_err(|problem| Failure::input(format!("points \"{name}\": {problem}")));
            Ok((name, Arc::new(cloud.map_err(|failure| exception(py, &failure, Input::Any))?)))
        };
        let points: PointArrays = points.into_iter().map(cloud).collect::<PyResult<_>>()?;
        let scene = || engine::parse_scene_with_points(text, origin, &overrides, &points);
        Self::of(py, py.detach(scene))
    }

    /// Returns the effective scene as the text of a scene file.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.scene.to_toml().map_err(|error| exception(py, &Failure::input(error), Input::Scene))
    }

    /// Returns the effective scene as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let json = serde_json::to_string(&self.scene);
        json.map_err(|error| exception(py, &Failure::other(error), Input::Scene))
    }

    /// Returns the derived quantities as JSON.
    fn derived_json(&self, py: Python<'_>) -> PyResult<String> {
        let json = serde_json::to_string(&self.scene.derived());
        json.map_err(|error| exception(py, &Failure::other(error), Input::Scene))
    }

    /// Returns the warnings about unusual values.
    fn advice(&self) -> Vec<String> {
        self.scene.advice().iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn dt_s(&self) -> f64 {
        self.scene.step_s()
    }

    #[getter]
    fn n_steps(&self) -> u64 {
        self.scene.n_steps()
    }

    #[getter]
    fn n_dimensions(&self) -> usize {
        self.scene.n_dimensions()
    }

    /// Returns the parameters that may change while the scene is simulated.
    fn live_parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Parameter<'py>>> {
        let of = |parameter: LiveParameter| {
            let LiveParameter { key, name, unit, description, value, range, .. } = parameter;
            let value = match value {
                LiveValue::Number(x) => x.into_pyobject(py)?.into_any(),
                LiveValue::Whole(n) => n.into_pyobject(py)?.into_any(),
                LiveValue::Vector(vector) => vector.into_pyobject(py)?.into_any(),
            };
            Ok((key, name, unit, description, value, range.into()))
        };
        self.scene.live_parameters().into_iter().map(of).collect()
    }

    /// Returns name and value of `phase` of each set of particles in recordings.
    fn recorded_sets(&self, n_particles: usize) -> Vec<(&'static str, u32)> {
        engine::recorded_sets(&self.scene, n_particles)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.scene == other.scene
    }
}

/// Returns name and description of each built-in scene.
#[pyfunction]
pub fn builtin_scenes(py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
    let describe = |scene: &frazil_scene::Builtin| {
        let loaded = scene.load(&[]).map_err(|error| exception(py, &error.into(), Input::Scene))?;
        Ok((scene.name, loaded.description))
    };
    builtin().iter().map(describe).collect()
}
