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
mod fit_ellipsoids;
mod flops;
mod gather;
mod idle;
mod lattice;
mod mpm;
mod pbd_step;
mod pull_particles;
mod radix_sort;
mod reduction;
mod render;
mod smooth_depth;
mod snow_step;
mod surface;
mod viscoelastic_step;

use crate::bench::Bench;

/// Returns all benches.
pub fn all() -> &'static [&'static dyn Bench] {
    &[
        &copy::Copy::Driver,
        &copy::Copy::Kernel,
        &flops::Flops,
        &reduction::Reduction,
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
        &pull_particles::PullParticles,
        &pbd_step::PbdStep { has_bodies: false },
        &pbd_step::PbdStep { has_bodies: true },
        &snow_step::SnowStep { has_body: false },
        &snow_step::SnowStep { has_body: true },
        &viscoelastic_step::ViscoelasticStep,
        &mpm::Rasterize,
        &mpm::UpdateNodes,
        &mpm::UpdateParticles,
        &mpm::Step,
        &dem::Collide,
        &dem::Step,
        &surface::SplatDensity,
        &surface::MarchingCubes,
        &render::Scheme,
        &smooth_depth::SmoothDepth,
        &fit_ellipsoids::FitEllipsoids,
    ]
}
