//! Devices.

use crate::exceptions::{Input, exception};
use frazil_engine::engine;
use pyo3::prelude::*;

/// A Vulkan device.
#[pyclass(frozen, module = "frazil._frazil")]
pub struct Device {
    pub device: engine::Device,
}

#[pymethods]
impl Device {
    /// Opens the device of an index or of a part of a name, or the default one.
    #[new]
    #[pyo3(signature = (selector=None))]
    fn new(py: Python<'_>, selector: Option<&str>) -> PyResult<Self> {
        let opened = py.detach(|| engine::open_device(selector));
        opened.map(|device| Self { device }).map_err(|failure| exception(py, &failure, Input::Any))
    }

    #[getter]
    fn index(&self) -> usize {
        self.device.info().index
    }

    #[getter]
    fn name(&self) -> &str {
        &self.device.info().name
    }

    #[getter]
    fn kind(&self) -> String {
        self.device.info().kind.to_string()
    }

    #[getter]
    fn driver(&self) -> &str {
        &self.device.info().driver
    }

    #[getter]
    fn api_version(&self) -> &str {
        &self.device.info().api_version
    }

    #[getter]
    fn is_software(&self) -> bool {
        self.device.is_software()
    }

    /// Describes the device in one line.
    fn describe(&self) -> String {
        engine::describe_device(&self.device)
    }
}

/// Index, name, kind, driver, Vulkan version and missing features of each device of this machine.
type Listed = (usize, String, String, String, String, Vec<String>);

/// Lists the devices of this machine.
#[pyfunction]
pub fn list_devices(py: Python<'_>) -> PyResult<Vec<Listed>> {
    let listed = py.detach(engine::Device::list);
    let listed = listed.map_err(|error| exception(py, &error.into(), Input::Any))?;
    let describe = |(info, _, missing): (engine::DeviceInfo, _, Vec<String>)| {
        (info.index, info.name, info.kind.to_string(), info.driver, info.api_version, missing)
    };
    Ok(listed.into_iter().map(describe).collect())
}
