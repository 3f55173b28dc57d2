//! The compiled part of the Python package `frazil`: classes that hold a scene, a device, a simulation and a
//! recording, and convert their data to NumPy arrays.
//!
//! Everything that a user sees, names, units and checks of arguments, is Python (`python/frazil`). What takes
//! time runs without the interpreter's lock.

mod arrays;
mod device;
mod exceptions;
mod recording;
mod scene;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
fn _frazil(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(scene::builtin_scenes, module)?)?;
    module.add_function(wrap_pyfunction!(device::list_devices, module)?)?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<device::Device>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<recording::Recording>()
}
