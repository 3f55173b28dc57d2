//! Viscoelastic fluid: conversion of the device's parameters and columns to the twin's.

use super::bonds::download;
use super::pbd::twin_parameters as fluid_parameters;
use frazil_reference::viscoelastic::{
    Elasticity, Feed, Heat, Law, Parameters, Solve, Springs, State, symmetric,
};
use frazil_reference::{fluid, viscoelastic};
use frazil_shaders::viscoelastic::terms;
use frazil_solvers::SolverError;
use frazil_solvers::viscoelastic::{Stage, Viscoelastic};
use frazil_vk::{Device, Error, Result};
use glam::{DMat3, DVec3};

/// Returns the twin's parameters from the numbers that the device uses, with the speed of sheared walls at a
/// time in s, and bodies at the start of the first step.
pub fn twin_parameters(solver: &Viscoelastic, time_s: f64) -> Parameters {
    let p = solver.parameters();
    let t = &p.terms;
    let sticks = |face: usize| t.sticky_faces >> face & 1 == 1;
    Parameters {
        fluid: fluid_parameters(solver.fluid()),
        elasticity: match p.elasticity {
            terms::NO_ELASTICITY | terms::SPRINGS => Elasticity::None,
            terms::CONFORMATION => Elasticity::Conformation,
            _ => Elasticity::StrainTensor,
        },
        springs: p.springs.map(|s| Springs {
            stiffness_n_m: s.stiffness_n_m.into(),
            support_m: s.support_m.into(),
            flow_share: s.flow_share,
            yield_strain: s.yield_strain,
            max_springs: s.slots,
            max_bound_n_m: s.max_bound_n_m.into(),
            dt_per_mass: s.dt_per_mass.into(),
            half_per_volume: s.half_per_volume.into(),
            inverse_mass: s.inverse_mass.into(),
        }),
        law: match t.law {
            terms::NEWTONIAN => Law::Newtonian(t.viscosity_pa_s.into()),
            terms::CARREAU => Law::Carreau {
                rest: t.viscosity_pa_s.into(),
                infinite: t.infinite_shear_pa_s.into(),
                time_s: t.time_s.into(),
                exponent: t.exponent.into(),
            },
            law => Law::HerschelBulkley {
                yield_pa: if law == terms::HERSCHEL_BULKLEY { t.law_yield_pa.into() } else { 0.0 },
                consistency: t.consistency.into(),
                exponent: t.exponent.into(),
            },
        },
        max_pa_s: t.max_pa_s.into(),
        sticky: [0, 3].map(|first| std::array::from_fn(|axis| sticks(first + axis))),
        wall_speed_m_s: p.wall_speed_m_s(time_s).into(),
        lattice_moment: t.lattice_moment.into(),
        modulus_pa: t.modulus_pa.into(),
        relaxation_per_s: t.relaxation_per_s.into(),
        yield_stress_pa: (t.yield_stress_pa >= 0.0).then(|| t.yield_stress_pa.into()),
        yield_strain: t.yield_strain.into(),
        decay_per_s: t.decay_per_s.into(),
        is_implicit: solver.viscosity().is_some(),
        has_body_walls: solver.stress().has_body_walls(),
        unresolved_pa_s: t.unresolved_pa_s.into(),
        bulk_ratio: t.bulk_ratio.into(),
        shifting: t.shifting.into(),
        feed: p.feed.map(|feed| Feed {
            axis: t.feed_axis as usize,
            mouth_m: t.feed_mouth_m,
            velocity_m_s: feed.velocity_m_s,
        }),
        heat: p.heat.map(|heat| Heat {
            rate: f64::from(heat.heating) * f64::from(heat.conductivity_w_m_k),
            laplacian_scale: 2.0 * heat.moment_scale,
            max_correction: heat.max_correction,
            faces_c: [0, 3].map(|first| {
                std::array::from_fn(|axis| {
                    let is_fixed = heat.fixed_faces >> (first + axis) & 1 == 1;
                    is_fixed.then(|| heat.face_c[first / 3][axis].into())
                })
            }),
            activation_k: heat.activation_k.into(),
            reference_c: heat.reference_c.into(),
            shifts: heat.shifts.map(f64::from),
            shifts_relaxation: heat.shifts_relaxation,
        }),
        as_printed: p.as_printed,
        restitution: p.wall_restitution.into(),
        friction: p.wall_friction.into(),
        spacing_m: p.spacing_m.into(),
        resting_speed_m_s: p.resting_speed_m_s.into(),
        tolerance: p.tolerance.into(),
        max_iterations: p.max_iterations,
    }
}

/// Downloads the columns that the stages after the position-based fluid's read and write.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn twin_state(device: &Device, solver: &Viscoelastic, n: usize) -> Result<State> {
    let fluid = solver.fluid();
    let column = fluid::State {
        position: device.download(fluid.position(), n)?,
        residual: [device.download(fluid.residual.front(), n)?, device.download(fluid.residual.back(), n)?],
        velocity: device.download(fluid.velocity(), n)?,
        id: device.download(fluid.id(), n)?,
        key: device.download(fluid.key(), n)?,
        order: device.download(fluid.order(), n)?,
        cell_start: device.download(fluid.grid().cell_start(), fluid.grid().cells() as usize + 1)?,
        predicted: device.download(fluid.predicted(), n)?,
        updated: device.download(fluid.updated(), n)?,
        density: device.download(fluid.density(), n)?,
        multiplier: device.download(fluid.density_solve().multiplier(), n)?,
        ..Default::default()
    };
    let stress = solver.stress();
    let tensors = |d: &[[f32; 3]], o: &[[f32; 3]]| d.iter().zip(o).map(|(d, o)| symmetric(*d, *o)).collect();
    let first_three = |columns: Vec<[f32; 4]>| columns.into_iter().map(|[x, y, z, _]| [x, y, z]).collect();
    let matrices = |columns: Vec<[f32; 3]>| -> Vec<DMat3> {
        let column = |c: [f32; 3]| DVec3::from_array(c.map(f64::from));
        columns.chunks(3).map(|c| DMat3::from_cols(column(c[0]), column(c[1]), column(c[2]))).collect()
    };
    let sigma = device.download(stress.stress_pa(), 2 * n)?;
    let [normal, shear] = [0, 1].map(|k| sigma.iter().skip(k).step_by(2).copied().collect::<Vec<_>>());
    let shape = device.download(stress.neighbourhood(), 2 * n)?;
    let mut state = State {
        fluid: column,
        strain: tensors(
            &device.download(stress.diagonal.front(), n)?,
            &device.download(stress.off_diagonal.front(), n)?,
        ),
        inverse_moment: shape
            .chunks(2)
            .map(|s| symmetric([s[0][0], s[0][1], s[0][2]], [s[0][3], s[1][0], s[1][1]]))
            .collect(),
        share: shape.chunks(2).map(|s| s[1][2].into()).collect(),
        viscosity_pa_s: shape.chunks(2).map(|s| s[1][3].into()).collect(),
        coupling: matrices(first_three(device.download(stress.coupling(), 3 * n)?)),
        stress: tensors(&normal, &shear),
        shift_m: device
            .download(stress.shift_m(), n)?
            .into_iter()
            .map(|x| DVec3::from_array(x.map(f64::from)))
            .collect(),
        ..Default::default()
    };
    if let Some(springs) = solver.springs() {
        state.springs = download(device, springs.bonds(), n)?.map_err(|violations| Error::Misuse {
            object: "springs".to_owned(),
            problem: format!("{violations:?}"),
        })?;
        state.bound_n_m = device.download(springs.bound_n_m(), n)?.into_iter().map(f64::from).collect();
    }
    if let Some(heat) = solver.heat() {
        let temperature = device.download(heat.temperature.front(), n)?;
        state.temperature_c = temperature.into_iter().map(f64::from).collect();
    }
    if let Some(viscosity) = solver.viscosity() {
        let vectors = |column: Vec<[f32; 3]>| -> Vec<DVec3> {
            column.into_iter().map(|x| DVec3::from_array(x.map(f64::from))).collect()
        };
        state.impulse = vectors(device.download(viscosity.impulse(), n)?);
        state.residual = vectors(device.download(viscosity.residual(), n)?);
        state.direction = vectors(device.download(viscosity.direction(), n)?);
        state.applied = vectors(device.download(viscosity.applied(), n)?);
        let s = device.download(viscosity.status(), 1)?[0];
        state.solve = Solve {
            square: s.square.into(),
            along: s.along.into(),
            keep: s.keep.into(),
            target: s.target.into(),
            iterations: s.iterations,
            is_done: s.is_done != 0,
            n_unmet: s.n_unmet,
            n_steps: s.n_steps,
        };
    }
    Ok(state)
}

/// Runs the twin of a stage, on a state from before it.
///
/// # Errors
/// A stage of the position-based fluid, whose twin runs it.
pub fn run_stage(state: &mut State, p: &Parameters, stage: Stage) -> std::result::Result<(), SolverError> {
    use Stage::{BeginViscosity, IterateViscosity, UpdateViscosity};
    state.is_at_start = matches!(stage, UpdateViscosity | BeginViscosity | IterateViscosity { .. });
    match (stage, &p.springs) {
        (Stage::UpdateSprings, Some(springs)) => {
            state.update_springs(springs);
            return Ok(());
        }
        (Stage::BreakSprings, Some(springs)) => {
            state.break_springs(springs);
            return Ok(());
        }
        (Stage::ApplySprings, Some(springs)) => {
            state.bound_springs(springs);
            state.apply_springs(springs, p.is_implicit);
            return Ok(());
        }
        _ => {}
    }
    match stage {
        Stage::HoldFeed | Stage::HoldFedVelocity => state.hold_feed(p, stage == Stage::HoldFedVelocity),
        Stage::ConductHeat => state.conduct_heat(p),
        Stage::ShiftViscosity => state.shift_viscosity(p),
        UpdateViscosity => state.update_viscosity(p),
        Stage::UpdateStress => state.update_stress(p),
        Stage::CollideWalls => state.collide_walls(p),
        Stage::ApplyStress => state.apply_stress(p),
        BeginViscosity => state.begin_solve(p),
        IterateViscosity { .. } => state.iterate_solve(p),
        Stage::EndViscosity => state.end_viscosity(p),
        Stage::ShiftParticles => state.shift_particles(p),
        Stage::EndStep => state.end_step(),
        other => {
            let expected = "a stage after those of the position-based fluid".to_owned();
            return Err(SolverError::Stage { found: other.to_string(), expected });
        }
    }
    Ok(())
}

/// Returns the largest entry of a difference of two columns of matrices.
pub fn difference(a: &[DMat3], b: &[DMat3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| viscoelastic::norm(*a - *b)).fold(0.0, f64::max)
}
