//! The cases, one file for each part of the engine.

mod analysis;
mod bits;
mod falls;
mod grains;
mod grid;
mod grid_paper;
mod snow;
mod snow_paper;
#[cfg(feature = "twins")]
mod twins;
mod viscoelastic;
mod water;

use super::case::Case;

/// Returns all cases, those that are quick and basic first.
pub fn all() -> Vec<Case> {
    let parts = [
        bits::cases,
        falls::cases,
        water::cases,
        snow::cases,
        viscoelastic::cases,
        grains::cases,
        grid::cases,
        analysis::cases,
        #[cfg(feature = "twins")]
        twins::cases,
    ];
    let ordered = parts.into_iter().flat_map(|cases| cases());
    ordered.chain(snow_paper::cases()).chain(grid_paper::cases()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_have_an_area() {
        let mut names: Vec<String> = all().into_iter().map(|case| case.name).collect();
        assert!(names.iter().all(|name| name.contains('.')), "{names:?}");
        let n = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), n);
    }
}
