//! Columns and pictures as NumPy arrays. The arrays own the host's copy of the values, which is not copied
//! again.

use frazil_engine::engine::{Pixels, SetColumn, Values};
use frazil_io::{Column, ColumnData, Frame};
use numpy::{
    PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

/// Name, unit and values of a column.
pub type NamedArray<'py> = (String, String, Bound<'py, PyAny>);
/// Step, time in s, columns of particles and columns of rigid bodies.
pub type FrameArrays<'py> = (u64, f64, Vec<NamedArray<'py>>, Vec<NamedArray<'py>>);

/// Returns numbers as an array of shape (n,), or (n, components) for more than one component.
fn numbers(py: Python<'_>, values: Vec<f32>, components: usize) -> PyResult<Bound<'_, PyAny>> {
    let n = values.len() / components.max(1);
    let flat = PyArray1::from_vec(py, values);
    Ok(if components == 1 { flat.into_any() } else { flat.reshape([n, components])?.into_any() })
}

/// Returns a column of a set.
pub fn of_set_column(py: Python<'_>, column: SetColumn) -> PyResult<NamedArray<'_>> {
    let values = match column.values {
        Values::Integers(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Numbers { components, values } => numbers(py, values, components)?,
    };
    Ok((column.name, column.unit, values))
}

/// Reads a column from an array of float32 or uint32 of shape (n,), or (n, components).
pub fn values(array: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Ok(integers) = array.extract::<PyReadonlyArray1<'_, u32>>() {
        return Ok(Values::Integers(integers.as_array().to_vec()));
    }
    let numbers = array.extract::<PyReadonlyArrayDyn<'_, f32>>()?;
    let components = numbers.shape().get(1).copied().unwrap_or(1);
    Ok(Values::Numbers { components, values: numbers.as_array().iter().copied().collect() })
}

/// Reads vectors from an array of float64 of shape (n, 3).
pub fn vectors(array: &PyReadonlyArray2<'_, f64>) -> Vec<[f64; 3]> {
    array.as_array().rows().into_iter().map(|row| std::array::from_fn(|axis| row[axis])).collect()
}

/// Returns a frame.
pub fn of_frame(py: Python<'_>, frame: Frame) -> PyResult<FrameArrays<'_>> {
    let (step, time_s) = (frame.step(), frame.time_s());
    let bodies =
        frame.bodies().iter().cloned().map(|column| of_column(py, column)).collect::<PyResult<_>>()?;
    let columns = frame.into_columns().into_iter().map(|column| of_column(py, column));
    Ok((step, time_s, columns.collect::<PyResult<_>>()?, bodies))
}

fn of_column(py: Python<'_>, column: Column) -> PyResult<NamedArray<'_>> {
    let values = match column.data {
        ColumnData::U32(values) => PyArray1::from_vec(py, values).into_any(),
        ColumnData::F32(values) => numbers(py, values, 1)?,
        ColumnData::Vec3(values) => numbers(py, bytemuck::cast_vec(values), 3)?,
    };
    Ok((column.name, column.unit, values))
}

/// Returns a picture as bytes of shape (height, width, 3): red, green and blue, encoded for display.
pub fn of_pixels<'py>(py: Python<'py>, pixels: &Pixels) -> PyResult<Bound<'py, PyAny>> {
    let rgb = pixels.pixels.iter().flat_map(|pixel| pixel.to_le_bytes().into_iter().take(3)).collect();
    let shape = [pixels.height as usize, pixels.width as usize, 3];
    Ok(PyArray1::<u8>::from_vec(py, rgb).reshape(shape)?.into_any())
}
