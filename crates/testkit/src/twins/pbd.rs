//! Position-based fluid: conversion of the device's parameters to the twin's, and its stages on the twin.

use super::bodies::twin_bodies;
use frazil_reference::fluid::{Parameters, SmoothingKernel, State};
use frazil_reference::primitives::Grid;
use frazil_reference::sources::{Emitter, Sources};
use frazil_shaders::sph::kernels::KERNEL_POLY6_SPIKY;
use frazil_solvers::pbd::{self, Fluid, Stage};

/// Returns the twin's parameters from the numbers that the device uses.
pub fn twin_parameters(fluid: &Fluid) -> Parameters {
    let mut parameters = twin_numbers(fluid.parameters(), fluid.grid().grid());
    parameters.sources.capacity = fluid.count().capacity as usize;
    parameters
}

/// Converts a solver's numbers and its grid to the twin's.
pub fn twin_numbers(p: &pbd::Parameters, grid: frazil_shaders::types::Grid) -> Parameters {
    Parameters {
        dt_s: p.dt_s,
        gravity_m_s2: p.gravity_m_s2,
        kernel: match p.kernel {
            KERNEL_POLY6_SPIKY => SmoothingKernel::Poly6Spiky,
            _ => SmoothingKernel::CubicSpline,
        },
        support_m: p.support_m,
        volume_h3: p.volume_h3,
        rest_density_kg_m3: p.rest_density_kg_m3,
        density_tolerance: p.density_tolerance,
        iterations: p.iterations,
        max_iterations: p.max_iterations,
        max_error: p.max_density_error(),
        over_relaxation: p.over_relaxation,
        relaxation: p.relaxation,
        pressure_strength: p.pressure_strength,
        pressure_inverse_shape: p.pressure_inverse_shape,
        pressure_exponent: p.pressure_exponent,
        xsph_viscosity: p.xsph_viscosity,
        wall_friction: p.wall_friction,
        wall_xsph: p.wall_xsph,
        viscosity_share: p.viscosity_share,
        particles_h3: p.particles_h3,
        max_density_kg_m3: p.max_density_kg_m3,
        max_speed_m_s: p.max_speed_m_s,
        face_friction: p.face_friction,
        domain_min_m: p.walls.domain_min_m,
        domain_max_m: p.walls.domain_max_m,
        excess_share: p.excess_share,
        deficit_share: p.deficit_share,
        is_projection: p.is_projection,
        has_images: p.has_images,
        periodic: std::array::from_fn(|axis| p.periodic >> axis & 1 == 1),
        clearance_m: p.walls.clearance_m,
        gradient_at_start: p.gradient_at_start,
        body_clearance_m: p.body_clearance_m,
        fraction_scale: p.walls.fraction_scale,
        bodies: twin_bodies(&p.surroundings),
        sources: twin_sources(&p.sources),
        particle_mass_kg: p.particle_mass_kg as f32,
        time_s: 0.0,
        grid: Grid { origin_m: grid.origin_m, cell_size_m: grid.cell_size_m, dims: grid.dims },
    }
}

/// Converts emitters and drains to the twin's, with room for any number of particles.
pub fn twin_sources(sources: &pbd::SourceParameters) -> Sources {
    let emitter = |e: &frazil_shaders::types::Emitter| Emitter {
        mouth_m: e.mouth_m,
        axes: [e.flow, e.side_a, e.side_b],
        half_m: e.half_m,
        is_round: e.is_round != 0,
        reach_m: e.reach_m,
        points_m: sources.points_m[e.first_point as usize..][..e.n_points as usize].to_vec(),
        speed_m_s: e.speed_m_s,
        layer_m: e.layer_m,
        layer_share: e.layer_share,
        steps: [e.first_step, e.end_step],
    };
    Sources {
        emitters: sources.emitters.iter().map(emitter).collect(),
        drains: sources.drains.iter().map(|drain| [drain.min_m, drain.max_m]).collect(),
        spacing_m: sources.spacing_m,
        capacity: usize::MAX,
    }
}

/// Runs a stage on the twin.
pub fn run_fluid_twin(state: &mut State, parameters: &Parameters, stage: Stage) {
    match stage {
        Stage::Emit => state.emit(parameters),
        Stage::Integrate => state.integrate(parameters),
        Stage::SortByCell => {
            state.sort_by_cell();
            state.find_cells(parameters);
        }
        Stage::Reorder => {
            state.reorder();
            state.remove_drained(parameters);
        }
        Stage::Predict => state.predict(parameters),
        // Rows change no bit.
        Stage::ListNeighbours => {}
        Stage::BeginDensitySolve => state.begin_density_solve(0.5),
        Stage::SolveDensity => state.solve_density(parameters),
        Stage::CheckDensity { iteration } if parameters.is_projection => {
            state.check_projection(parameters, iteration);
        }
        Stage::CheckDensity { iteration } => state.check_density(parameters, iteration),
        Stage::BeginProjection => state.begin_projection(parameters),
        Stage::AccelerateByPressure => state.accelerate_by_pressure(parameters),
        Stage::UpdatePressure => state.update_pressure(parameters),
        Stage::ApplyPressure => state.apply_pressure(parameters),
        Stage::Move => state.move_particles(parameters),
        Stage::SmoothVelocity if parameters.is_projection => {
            state.smooth_at_start(parameters);
            state.hold_emitted(parameters);
        }
        Stage::SolvePositions => state.solve_positions(parameters),
        Stage::UpdateVelocity => state.update_velocity(parameters),
        Stage::SmoothVelocity => state.smooth_velocity(parameters),
        Stage::EndStep => {
            state.end_step();
        }
    }
}
