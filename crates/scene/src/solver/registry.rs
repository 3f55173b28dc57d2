//! Registry of solvers.

use std::sync::{PoisonError, RwLock};

use crate::format::error::{SceneError, nearest, one_of};
use crate::format::source::Source;
use crate::scene::Scene;
use crate::section::SectionType;
use crate::solver::dem::DEM;
use crate::solver::feature::Feature;
use crate::solver::mpm::MPM;
use crate::solver::pbd::PBD;
use crate::solver::solver_scene::SolverScene;
use crate::solver::viscoelastic::VISCOELASTIC;

/// Solvers that ship with the engine. A new one adds a line here.
static BUILT_IN: &[&dyn SolverScene] = &[
    &PBD,          // snow and water
    &MPM,          // snow as a continuum
    &DEM,          // snow as grains
    &VISCOELASTIC, // non-Newtonian fluids
];

/// Solvers that the running program has registered.
static REGISTERED: RwLock<Vec<&'static dyn SolverScene>> = RwLock::new(Vec::new());

/// Error for a solver that cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// There is a solver of that name.
    #[error("a solver of kind \"{kind}\" is registered already; give the new one another name")]
    Kind {
        /// Name of the solver.
        kind: &'static str,
    },
    /// The key that a section would use is already taken.
    #[error(
        "section [{section}] of solver \"{kind}\": {owner} has that key already; give the section another \
         name"
    )]
    Section {
        /// Name of the section.
        section: &'static str,
        /// Name of the solver.
        kind: &'static str,
        /// Owner of the key.
        owner: String,
    },
}

/// Registers a solver from outside of the engine for the lifetime of the process: scenes may name it in
/// `solver.kind` from then on.
///
/// # Errors
/// [`RegistryError`] if there is a solver of its kind, or if the name of one of its sections is taken.
pub fn register(solver: &'static dyn SolverScene) -> Result<(), RegistryError> {
    // The schema reads the list of solvers, so it is generated before the list is locked.
    let scene = schemars::schema_for!(Scene);
    let is_key = |name| scene.pointer("/properties").is_some_and(|keys| keys.get(name).is_some());
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let kind = solver.kind();
    for other in BUILT_IN.iter().chain(registered.iter()) {
        if other.kind() == kind {
            return Err(RegistryError::Kind { kind });
        }
        if let Some(section) = solver.sections().iter().find(|section| owns(*other, section.name())) {
            let owner = format!("solver \"{}\"", other.kind());
            return Err(RegistryError::Section { section: section.name(), kind, owner });
        }
    }
    for (idx, section) in solver.sections().iter().enumerate() {
        let section = section.name();
        let refuse = |owner: &str| Err(RegistryError::Section { section, kind, owner: owner.to_owned() });
        if is_key(section) {
            return refuse("every scene");
        }
        if solver.sections()[..idx].iter().any(|other| other.name() == section) {
            return refuse("the solver itself");
        }
    }
    registered.push(solver);
    Ok(())
}

/// Returns all solvers, built-in ones first.
pub fn solvers() -> Vec<&'static dyn SolverScene> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(registered.iter()).copied().collect()
}

/// Returns the solver of this kind.
pub(crate) fn find(kind: &str) -> Option<&'static dyn SolverScene> {
    let built_in = BUILT_IN.iter().find(|solver| solver.kind() == kind).copied();
    built_in.or_else(|| solvers().into_iter().find(|solver| solver.kind() == kind))
}

/// Returns the sections of all solvers.
pub(crate) fn section_types() -> impl Iterator<Item = SectionType> {
    // Solvers of one method may share sections.
    let mut sections: Vec<SectionType> = Vec::new();
    for section in solvers().into_iter().flat_map(|solver| solver.sections()) {
        if !sections.iter().any(|listed| listed.name() == section.name()) {
            sections.push(*section);
        }
    }
    sections.into_iter()
}

/// Returns the kinds of the solvers that own a section.
pub(crate) fn owners_of(section: &str) -> Vec<&'static str> {
    solvers().into_iter().filter(|solver| owns(*solver, section)).map(|solver| solver.kind()).collect()
}

fn owns(solver: &dyn SolverScene, section: &str) -> bool {
    solver.sections().iter().any(|owned| owned.name() == section)
}

/// Returns the kinds, in quotes, of the solvers that have `feature`, joined by `word`.
pub(crate) fn kinds_with(feature: Feature, word: &str) -> String {
    let with = solvers().into_iter().filter(|solver| solver.features().contains(&feature));
    quoted(with.map(|solver| solver.kind()), word)
}

/// Returns names in quotes, joined by `word`.
pub(crate) fn quoted(names: impl IntoIterator<Item = &'static str>, word: &str) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    quoted.join(&format!(" {word} "))
}

/// Returns the error for an unknown kind of solver, with the list of known ones.
pub(crate) fn unknown_kind(found: &str, source: &Source) -> SceneError {
    let kinds: Vec<&str> = solvers().iter().map(|solver| solver.kind()).collect();
    let hint = nearest(found, &kinds).map_or_else(String::new, |kind| format!("; did you mean {kind}?"));
    SceneError::Value {
        at: source.locate("solver.kind"),
        key: "solver.kind".to_owned(),
        found: format!("\"{found}\""),
        expected: one_of(&kinds) + &hint,
    }
}

/// Returns the error for a section that the scene's solver does not have.
pub(crate) fn stray_section(section: &str, solver: &dyn SolverScene, source: &Source) -> SceneError {
    let owners = quoted(owners_of(section), "or");
    SceneError::Value {
        at: source.locate_between(&[section, "solver.kind"]),
        key: section.to_owned(),
        found: format!("[{section}] in a scene of solver.kind = \"{}\"", solver.kind()),
        expected: format!("{}; [{section}] needs solver.kind = {owners}", described_sections(solver)),
    }
}

/// Returns the sections of a solver as an author may write them.
fn described_sections(solver: &dyn SolverScene) -> String {
    let named = |is_required: bool| {
        let sections = solver.sections().iter().filter(move |section| section.is_required() == is_required);
        sections.map(|section| format!("[{}]", section.name())).collect::<Vec<_>>().join(" and ")
    };
    match (named(true), named(false)) {
        (required, optional) if optional.is_empty() => format!("{required} alone"),
        (required, optional) if required.is_empty() => format!("{optional} or nothing"),
        (required, optional) => format!("{required} alone or with {optional}"),
    }
}
