//! Selection of cases by name and cost.

use super::case::{Case, Cost};
use super::cases;
use frazil_engine::Failure;

/// Returns true if a name is that of a case, or of its part.
pub fn matches(case: &str, name: &str) -> bool {
    case == name || case.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the cases of at most a cost that are named, by their name or that of their part; without names,
/// all of at most that cost.
///
/// # Errors
/// No case has one of the names.
pub fn select(names: &[String], max_cost: Cost) -> Result<Vec<Case>, Failure> {
    let all = cases::all();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|case| matches(&case.name, name))) {
        let known: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
        return Err(Failure::input(format!(
            "found the case \"{name}\", expected one of {}; or the part of a name before a dot",
            known.join(", ")
        )));
    }
    let is_selected = |case: &Case| {
        case.cost <= max_cost && (names.is_empty() || names.iter().any(|name| matches(&case.name, name)))
    };
    Ok(all.into_iter().filter(is_selected).collect())
}
