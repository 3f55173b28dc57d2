//! The solvers that scenes may ask for: those that are built in, and those that register themselves.

use crate::{RegistryError, SolverFactory, dem, mpm, pbd};
use frazil_particles::SetInfo;
use frazil_scene::{Scene, SolverScene};
use std::sync::{PoisonError, RwLock};

/// One line a solver.
static BUILT_IN: [&dyn SolverFactory; 3] = [&pbd::Factory, &mpm::Factory, &dem::Factory];

/// Solvers that are not part of frazil, in the order in which they came.
static REGISTERED: RwLock<Vec<&'static dyn SolverFactory>> = RwLock::new(Vec::new());

/// Makes a solver known, with its share of the scene file, so that scenes may ask for it by its name.
///
/// # Errors
/// There is another solver of this name, or one of its sections has the name of another key; the two are not
/// of one name.
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

/// Lists all solvers, those that are built in first.
pub fn factories() -> Vec<&'static dyn SolverFactory> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.into_iter().chain(registered.iter().copied()).collect()
}

/// Finds the solver of a name.
///
/// # Errors
/// There is none.
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
/// As [`factory`].
pub fn factory_of(scene: &Scene) -> Result<&'static dyn SolverFactory, RegistryError> {
    factory(scene.solver.kind.name())
}

/// Lists the sets of a scene's particles, and how pictures show them, as far as the scene alone tells.
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
        assert_eq!(error, "solver.kind: found \"fem\", expected one of pbd, mpm, dem");
    }

    #[test]
    fn an_unknown_stage_is_refused_with_the_list() {
        assert_eq!(stage_named(["Weigh", "Solve 0", "Weigh"], "Solve 0").unwrap(), "Solve 0");
        let error = stage_named(["Weigh", "Solve 0", "Weigh"], "Rub").unwrap_err().to_string();
        assert_eq!(error, "stage \"Rub\": unknown to this solver, expected one of Weigh, Solve 0");
    }
}
