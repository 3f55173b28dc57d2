//! Rows of bonds of the twin from the device's table.

use frazil_kernels::PairBonds;
use frazil_reference::bonds::{Bonds, Columns, Violation};
use frazil_vk::{Device, Result};

/// Downloads the rows of `n` particles; or returns what is wrong with them.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn download(device: &Device, bonds: &PairBonds, n: usize) -> Result<Result<Bonds, Vec<Violation>>> {
    let initial: Vec<u32> = bonds.columns().iter().map(|column| column.initial).collect();
    let table = Columns {
        stride: bonds.capacity() as usize,
        partner: &device.download(bonds.partner(), bonds.partner().len())?,
        rest_length_m: &device.download(bonds.rest_length_m(), bonds.rest_length_m().len())?,
        state: &device.download(bonds.state(), bonds.state().len())?,
        degree: &device.download(bonds.degree(), n)?,
    };
    Ok(Bonds::from_table(table, &initial))
}
