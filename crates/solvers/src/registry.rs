//! Registry of solvers: those built in, and those that external code registers.

use crate::{RegistryError, SolverFactory, dem, mpm, pbd, viscoelastic};
use frazil_particles::SetInfo;
use frazil_scene::{Scene, SolverScene};
use std::sync::{PoisonError, RwLock};

/// Built-in solvers, one per line.
static BUILT_IN: [&dyn SolverFactory; 4] =
    [&pbd::Factory, &mpm::Factory, &dem::Factory, &viscoelastic::Factory];

/// External solvers, in the order of registration.
static REGISTERED: RwLock<Vec<&'static dyn SolverFactory>> = RwLock::new(Vec::new());

/// Registers a solver and its sections of the scene file, so that scenes may ask for it by name.
///
/// # Errors
/// Another solver has this name; one of its sections has the name of another key; or the factory and the
/// scene section have different names.
pub fn register(
    factory: &'static dyn SolverFactory,
    scene: &'static dyn SolverScene,
) -> Result<(), RegistryError> {
    let kind = factory.kind();
    if scene.kind() != kind {
        return Err(RegistryError::Names { factory: kind, scene: scene.kind() });
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = frazil_scene::solvers().into_iter().find(|known| known.kind() == kind) {
        return Err(RegistryError::Twice { kind, known: known.title(), found: scene.title() });
    }
    frazil_scene::register(scene)?;
    registered.push(factory);
    Ok(())
}

/// Lists all solvers, built-in ones first.
pub fn factories() -> Vec<&'static dyn SolverFactory> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.into_iter().chain(registered.iter().copied()).collect()
}

/// Finds a solver by name.
///
/// # Errors
/// No solver has this name.
pub fn factory(kind: &str) -> Result<&'static dyn SolverFactory, RegistryError> {
    let all = factories();
    all.iter().find(|factory| factory.kind() == kind).copied().ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|factory| factory.kind()).collect();
        RegistryError::Unknown { found: kind.to_owned(), expected: names.join(", ") }
    })
}

/// Finds the solver that a scene asks for.
///
/// # Errors
/// Like [`factory`].
pub fn factory_of(scene: &Scene) -> Result<&'static dyn SolverFactory, RegistryError> {
    factory(scene.solver.kind.name())
}

/// Lists the scene's particle sets and their display, as far as the scene alone determines them.
pub fn set_infos(scene: &Scene, n_particles: usize) -> Vec<SetInfo> {
    factory_of(scene).map_or_else(|_| Vec::new(), |factory| factory.set_infos(scene, n_particles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::stage_named;
    #[test]
    fn two_solvers_of_one_name_are_refused_with_both() {
        let [pbd, mpm] = ["pbd", "mpm"]
            .map(|kind| frazil_scene::solvers().into_iter().find(|solver| solver.kind() == kind).unwrap());
        let error = register(&mpm::Factory, mpm).unwrap_err().to_string();
        assert!(error.contains("\"mpm\"") && error.matches(mpm.title()).count() == 2, "{error}");
        let error = register(&mpm::Factory, pbd).unwrap_err().to_string();
        assert!(error.contains("\"mpm\"") && error.contains("\"pbd\""), "{error}");
        assert_eq!(factories().len(), BUILT_IN.len());
    }

    #[test]
    fn an_unknown_kind_is_refused_with_the_list() {
        assert_eq!(factory("dem").map(|factory| factory.kind()), Ok("dem"));
        let error = factory("fem").map(|factory| factory.kind()).unwrap_err().to_string();
        assert_eq!(error, "solver.kind: found \"fem\", expected one of pbd, mpm, dem, viscoelastic");
    }

    #[test]
    fn an_unknown_stage_is_refused_with_the_list() {
        assert_eq!(stage_named(["ComputeLambda", "Solve 0", "ComputeLambda"], "Solve 0").unwrap(), "Solve 0");
        let error = stage_named(["ComputeLambda", "Solve 0", "ComputeLambda"], "ApplyFriction")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "stage \"ApplyFriction\": unknown to this solver, expected one of ComputeLambda, Solve 0"
        );
    }
}
