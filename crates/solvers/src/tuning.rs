//! Tunables: parameters that change the time of a step and no bit of the result.

use frazil_kernels::CellSortMethod;

/// Maximum number of tunables of one [`Tuning`] that differ from their defaults.
const MAX_TUNED: usize = 8;

/// Tunable of a solver: a power of two within bounds, listed by [`crate::SolverFactory::tunables`].
#[derive(Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Name, as on the command line.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Minimum value.
    pub min: u32,
    /// Maximum value.
    pub max: u32,
}

/// Threads per workgroup of the solvers' kernels and of the primitives that a step uses. Measurement kernels
/// keep their own size: the shape of their sums, and so the last bits of metrics, depend on it.
///
/// The sort takes at least 64; its tile must stay below 2¹⁶ elements. Creating the solver fails if the device
/// does not support the size.
pub static WORKGROUP_SIZE: Tunable = Tunable { name: "workgroup_size", default: 256, min: 64, max: 4096 };

/// Values of tunables, by name; others have their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Values sorted by name and without defaults, so that equal tunings compare equal.
    values: [Option<(&'static str, u32)>; MAX_TUNED],
    /// Algorithm of the sort by cell; if none, the fastest on the device.
    pub cell_sort: Option<CellSortMethod>,
}

/// Invalid value of a tunable, on any device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: found {found}, expected a power of two from {min} to {max}")]
pub struct TuningError {
    /// Name of the tunable.
    pub key: &'static str,
    /// Value found.
    pub found: u32,
    /// Minimum value.
    pub min: u32,
    /// Maximum value.
    pub max: u32,
}

impl Tuning {
    /// Makes a tuning with this [`WORKGROUP_SIZE`] and the defaults of all others.
    ///
    /// # Errors
    /// The value is not a power of two, or out of bounds.
    pub fn new(workgroup_size: u32) -> Result<Self, TuningError> {
        Self::default().with(&WORKGROUP_SIZE, workgroup_size)
    }

    /// Sets a tunable.
    ///
    /// # Errors
    /// The value is not a power of two, or out of bounds.
    ///
    /// # Panics
    /// More than eight tunables differ from their defaults.
    pub fn with(self, tunable: &'static Tunable, value: u32) -> Result<Self, TuningError> {
        let Tunable { name, default, min, max } = *tunable;
        if !value.is_power_of_two() || !(min..=max).contains(&value) {
            return Err(TuningError { key: name, found: value, min, max });
        }
        let others = self.values.into_iter().flatten().filter(|(other, _)| *other != name);
        let own = (value != default).then_some((name, value));
        let mut set: Vec<(&'static str, u32)> = others.chain(own).collect();
        set.sort_unstable();
        assert!(
            set.len() <= MAX_TUNED,
            "a tuning holds {MAX_TUNED} tunables that differ from their defaults"
        );
        Ok(Self { values: std::array::from_fn(|i| set.get(i).copied()), ..self })
    }

    /// Returns the value of a tunable.
    pub fn get(self, tunable: &Tunable) -> u32 {
        let set = self.values.into_iter().flatten().find(|(name, _)| *name == tunable.name);
        set.map_or(tunable.default, |(_, value)| value)
    }

    /// Lists the tunables that differ from their defaults, by name, with their values.
    pub fn changed(self) -> impl Iterator<Item = (&'static str, u32)> {
        self.values.into_iter().flatten()
    }

    /// Returns the number of threads per workgroup.
    pub fn workgroup_size(self) -> u32 {
        self.get(&WORKGROUP_SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static OTHER: Tunable = Tunable { name: "other", default: 4, min: 1, max: 4 };

    #[test]
    fn sizes_unsupported_by_any_kernel_are_refused() {
        for found in [0, 8, 48, 8192, u32::MAX] {
            let error = Tuning::new(found).unwrap_err();
            assert_eq!(error, TuningError { key: "workgroup_size", found, min: 64, max: 4096 });
            assert!(error.to_string().contains("a power of two from 64 to 4096"), "{error}");
        }
        for size in [64, 256, 4096] {
            assert_eq!(Tuning::new(size).map(Tuning::workgroup_size), Ok(size));
        }
    }

    #[test]
    fn the_default_group_size_is_the_one_that_shaders_declare() {
        let declared = frazil_shaders::pbd::solve_density::Specialization::default().workgroup_size;
        assert_eq!(Tuning::default().workgroup_size(), declared);
        assert_eq!(Tuning::new(declared), Ok(Tuning::default()));
    }

    #[test]
    fn tunables_are_identified_by_name_in_any_order() {
        let tuning = Tuning::new(64).and_then(|tuning| tuning.with(&OTHER, 2)).unwrap();
        assert_eq!((tuning.workgroup_size(), tuning.get(&OTHER)), (64, 2));
        assert_eq!(Tuning::default().with(&OTHER, 2).and_then(|t| t.with(&WORKGROUP_SIZE, 64)), Ok(tuning));
        assert_eq!(tuning.with(&OTHER, 4), Tuning::new(64));
        assert_eq!(tuning.changed().collect::<Vec<_>>(), [("other", 2), ("workgroup_size", 64)]);
        assert!(tuning.with(&OTHER, 8).is_err());
    }
}
