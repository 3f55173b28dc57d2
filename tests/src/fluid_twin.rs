//! The step of a fluid compared with its CPU twin: the device's state as the twin's, each stage on either,
//! and the bounds on their difference.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::Simulation;
use frazil_reference::fault::Faults;
use frazil_reference::fluid::{DensitySolve, Parameters as TwinParameters, Projection, State};
use frazil_solvers::pbd::Stage;
use frazil_testkit::twins::pbd::run_fluid_twin;

/// Downloads all columns from the device.
///
/// # Panics
/// If the device is lost.
pub fn fluid_state(simulation: &Simulation) -> State {
    let (device, fluid, n) = (&simulation.device, &simulation.fluid, simulation.len());
    State {
        position: device.download(fluid.position(), n).unwrap(),
        residual: [fluid.residual.front(), fluid.residual.back()].map(|r| device.download(r, n).unwrap()),
        velocity: device.download(fluid.velocity(), n).unwrap(),
        id: device.download(fluid.id(), n).unwrap(),
        key: device.download(fluid.key(), n).unwrap(),
        order: device.download(fluid.order(), n).unwrap(),
        cell_start: device.download(fluid.grid().cell_start(), fluid.grid().cells() as usize + 1).unwrap(),
        predicted: device.download(fluid.predicted(), n).unwrap(),
        constraint: device.download(fluid.constraint(), n).unwrap(),
        density: device.download(fluid.density(), n).unwrap(),
        updated: device.download(fluid.updated(), n).unwrap(),
        multiplier: device.download(fluid.density_solve().multiplier(), n).unwrap(),
        excess: device.download(fluid.density_solve().excess(), n).unwrap(),
        solve: {
            let status = device.download(fluid.density_solve().status(), 1).unwrap()[0];
            DensitySolve {
                is_done: status.is_done != 0,
                iterations: status.iterations,
                error: status.error,
                n_steps: status.n_steps,
                n_unmet: status.n_unmet,
                worst: (status.worst_error, status.worst_step),
            }
        },
        projection: simulation.fluid.projection().map_or_else(Projection::default, |projection| {
            let momentum = device.download(fluid.density_solve().momentum(), 1).unwrap()[0];
            Projection {
                source: device.download(projection.source(), n).unwrap(),
                acceleration: device.download(projection.acceleration(), n).unwrap(),
                momentum: [momentum.t, momentum.share, momentum.error, momentum.tolerance],
            }
        }),
        held: fluid.held().map_or_else(Vec::new, |held| {
            device.download(held, n).unwrap().into_iter().map(|held| held != 0).collect()
        }),
        next_id: fluid.emission().map_or(0, |e| device.download(e, 1).unwrap()[0].next_id),
        impulses: Vec::new(),
        loads: Vec::new(),
        faults: Faults::from_words(&device.download(fluid.faulty(), fluid.faulty().len()).unwrap()),
    }
}

/// Runs a stage on the device.
///
/// # Panics
/// If the device is lost.
pub fn run_fluid_stage(simulation: &mut Simulation, stage: Stage) {
    let mut recorder = simulation.device.recorder().unwrap();
    simulation.fluid.record_stage(&mut recorder, stage);
    simulation.device.submit(recorder).unwrap().wait().unwrap();
}

fn bits(column: &[f32]) -> Vec<u32> {
    column.iter().map(|x| x.to_bits()).collect()
}

/// Returns the maximum difference of two columns of vectors, over all components.
pub fn max_difference<const N: usize>(a: &[[f32; N]], b: &[[f32; N]]) -> f32 {
    let components = a.iter().flatten().zip(b.iter().flatten());
    components.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Describes the output of a stage that differs between device and twin, beyond rounding.
///
/// Integers must agree to the bit. The device may round a division or a root by an ulp or two where the host
/// does not, and a sum over 30 neighbours by the same amount: the bounds are 1e-6 of the domain (1 m) for
/// positions, 1e-5 of the rest density and, through λ = C/(… + ε) with ε = 0.1, 1e-4 for λ. What an
/// ulp of positions of up to 6e-8 m has lost agrees to a third of it.
pub fn fluid_disagreement(stage: Stage, device: &State, twin: &State) -> Option<String> {
    let beyond = |what: &str, found: f32, bound: f32| (found > bound).then(|| format!("{what} by {found:e}"));
    let ints = |what: &str, a: &[u32], b: &[u32]| (a != b).then(|| what.to_owned());
    match stage {
        Stage::Integrate => ints("key", &device.key, &twin.key)
            .or_else(|| beyond("velocity", max_difference(&device.velocity, &twin.velocity), 1e-5)),
        Stage::SortByCell => ints("key", &device.key, &twin.key)
            .or_else(|| ints("order", &device.order, &twin.order))
            .or_else(|| ints("cell_start", &device.cell_start, &twin.cell_start)),
        Stage::Emit => ints("id", &device.id, &twin.id)
            .or_else(|| ints("next id", &[device.next_id], &[twin.next_id]))
            .or_else(|| beyond("position", max_difference(&device.position, &twin.position), 1e-7))
            .or_else(|| beyond("velocity", max_difference(&device.velocity, &twin.velocity), 0.0))
            .or_else(|| (device.faults.lowest != twin.faults.lowest).then(|| "faults".to_owned())),
        Stage::SmoothVelocity if device.held != twin.held => Some("held".to_owned()),
        Stage::Reorder => ints("id", &device.id, &twin.id)
            .or_else(|| beyond("position", max_difference(&device.position, &twin.position), 0.0))
            .or_else(|| beyond("residual", max_difference(&device.residual[0], &twin.residual[0]), 0.0))
            .or_else(|| beyond("velocity", max_difference(&device.velocity, &twin.velocity), 0.0)),
        Stage::ListNeighbours => None,
        Stage::Predict | Stage::SolvePositions => {
            let multiplier = device.multiplier.iter().zip(&twin.multiplier);
            let multiplier = multiplier.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // Where a body moves a particle, the twin does it in f64 and may end an ulp beside it.
            let places = device.predicted.iter().flatten().zip(twin.predicted.iter().flatten());
            let rests = device.residual[1].iter().flatten().zip(twin.residual[1].iter().flatten());
            let same = places.zip(rests).filter(|((a, b), _)| a == b);
            let residual_m = same.map(|(_, (a, b))| (a - b).abs()).fold(0.0, f32::max);
            beyond("predicted", max_difference(&device.predicted, &twin.predicted), 1e-6)
                .or_else(|| beyond("residual", residual_m, 2e-8))
                .or_else(|| beyond("multiplier", multiplier, 1e-6))
        }
        Stage::BeginDensitySolve => {
            let reset = ints("multiplier", &bits(&device.multiplier), &bits(&twin.multiplier));
            reset.or_else(|| beyond("constraint", max_difference(&device.constraint, &twin.constraint), 0.0))
        }
        // The order of the sum differs; the decision must not.
        Stage::CheckDensity { .. } => {
            let (a, b) = (device.solve, twin.solve);
            let counts =
                |s: DensitySolve| [u32::from(s.is_done), s.iterations, s.n_steps, s.n_unmet, s.worst.1];
            let (m, n) = (device.projection.momentum, twin.projection.momentum);
            ints("status", &counts(a), &counts(b))
                .or_else(|| beyond("momentum", max_difference(&[m], &[n]), 1e-6))
                .or_else(|| beyond("error", (a.error - b.error).abs(), 1e-6))
                .or_else(|| beyond("worst error", (a.worst.0 - b.worst.0).abs(), 1e-6))
        }
        Stage::BeginProjection => {
            let (a, b) = (&device.projection, &twin.projection);
            // C to the bounds of density, of which a velocity of 10 m/s changes some 0.5.
            beyond("source", max_difference(&a.source, &b.source), 5e-5)
                .or_else(|| beyond("constraint", max_difference(&device.constraint, &twin.constraint), 0.0))
                .or_else(|| beyond("motion", max_difference(&[a.momentum], &[b.momentum]), 1e-9))
        }
        // Of multipliers of up to 1 and gradients of up to 0.5, over thirty neighbours.
        Stage::AccelerateByPressure => {
            let (a, b) = (&device.projection, &twin.projection);
            beyond("acceleration", max_difference(&a.acceleration, &b.acceleration), 1e-5)
        }
        Stage::UpdatePressure => {
            let all = |state: &State| -> Vec<[f32; 3]> {
                let columns = state.multiplier.iter().zip(&state.excess).zip(&state.constraint);
                columns.map(|((lambda, error), constraint)| [*lambda, *error, constraint[3]]).collect()
            };
            beyond("multiplier, error or extrapolation", max_difference(&all(device), &all(twin)), 2e-5)
        }
        // h/Δt of the bound on accelerations.
        Stage::ApplyPressure => beyond("velocity", max_difference(&device.velocity, &twin.velocity), 5e-4),
        Stage::Move => beyond("velocity", max_difference(&device.velocity, &twin.velocity), 1e-4)
            .or_else(|| beyond("position", max_difference(&device.position, &twin.position), 1e-6))
            .or_else(|| (device.faults.lowest != twin.faults.lowest).then(|| "faults".to_owned())),
        Stage::SolveDensity => {
            let density =
                device.density.iter().zip(&twin.density).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            beyond("constraint", max_difference(&device.constraint, &twin.constraint), 1e-4)
                .or_else(|| beyond("density", density, 1e-2))
        }
        // From the same positions and their residuals: a few ulps of 10 m/s.
        Stage::UpdateVelocity => beyond("updated", max_difference(&device.updated, &twin.updated), 5e-6)
            .or_else(|| (device.faults.lowest != twin.faults.lowest).then(|| "faults".to_owned())),
        Stage::EndStep => None,
        Stage::SmoothVelocity => beyond("velocity", max_difference(&device.velocity, &twin.velocity), 1e-4)
            .or_else(|| beyond("position", max_difference(&device.position, &twin.position), 0.0))
            .or_else(|| beyond("residual", max_difference(&device.residual[0], &twin.residual[0]), 0.0)),
    }
}

/// Runs one step on the device; each stage also runs on the twin, from the device's state before it. Returns
/// the first stage that differs, and the difference.
pub fn first_wrong_fluid_stage(
    simulation: &mut Simulation,
    parameters: &TwinParameters,
) -> Option<(Stage, String)> {
    let stages: Vec<Stage> = simulation.fluid.stages().collect();
    for stage in stages {
        let mut twin = fluid_state(simulation);
        run_fluid_stage(simulation, stage);
        run_fluid_twin(&mut twin, parameters, stage);
        if let Some(what) = fluid_disagreement(stage, &fluid_state(simulation), &twin) {
            return Some((stage, what));
        }
    }
    None
}
