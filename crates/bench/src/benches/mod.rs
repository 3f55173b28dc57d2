//! Benches, one file for each or for a family of them.

mod bonds_build;
mod bonds_step;
mod cell_ranges;
mod cell_sort;
mod compaction;
mod copy;
mod count_neighbours;
mod decomposition;
mod dem;
mod exclusive_scan;
mod gather;
mod lattice;
mod mpm;
mod pbd_step;
mod radix_sort;
mod reduction;
mod render;
mod segmented_reduction;
mod snow_step;
mod surface;
mod twin_bodies;

use crate::bench::Bench;

pub use dem::{dem_block, dem_ice, dem_link, dem_slabs_of, dem_twin_slabs};
pub use dem::{dem_grains_of, dem_partner_of, dem_state_of, dem_twin_parameters};
pub use mpm::{mpm_particles_of_state, mpm_twin_parameters};
pub use pbd_step::{twin_numbers, twin_parameters};
pub use snow_step::snow_twin_parameters;
pub use twin_bodies::twin_bodies;

/// Returns all benches.
pub fn all() -> &'static [&'static dyn Bench] {
    &[
        &copy::Copy,
        &reduction::Reduction,
        &segmented_reduction::SegmentedReduction,
        &exclusive_scan::ExclusiveScan,
        &compaction::Compaction,
        &radix_sort::RadixSort,
        &gather::Gather,
        &cell_sort::CellSort,
        &cell_ranges::CellRanges,
        &count_neighbours::CountNeighbours,
        &bonds_build::BondsBuild,
        &bonds_step::BondsStep,
        &decomposition::Decomposition,
        &pbd_step::PbdStep { has_bodies: false },
        &pbd_step::PbdStep { has_bodies: true },
        &snow_step::SnowStep { has_body: false },
        &snow_step::SnowStep { has_body: true },
        &mpm::Rasterize,
        &mpm::UpdateNodes,
        &mpm::UpdateParticles,
        &mpm::Step,
        &dem::Collide,
        &dem::Step,
        &surface::SplatDensity,
        &surface::MarchingCubes,
        &render::Scheme,
    ]
}
