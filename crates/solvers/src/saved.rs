//! Columns of a saved state, looked up and measured.

use crate::SolverError;
use crate::pbd::StateColumn;

/// The columns of so many particles.
pub(crate) struct Saved<'a> {
    state: &'a [StateColumn],
    /// Their ids, one each.
    pub ids: &'a [u32],
}

impl<'a> Saved<'a> {
    /// Columns with one of ids among them.
    ///
    /// # Errors
    /// There are no ids.
    pub fn new(state: &'a [StateColumn]) -> Result<Self, SolverError> {
        Ok(Self { state, ids: find(state, "id")? })
    }

    /// A column of so many words a particle.
    ///
    /// # Errors
    /// It is missing, or has another length.
    pub fn of(&self, name: &str, words: usize) -> Result<&'a [u32], SolverError> {
        let column = find(self.state, name)?;
        if column.len() != words * self.ids.len() {
            let (n, found) = (self.ids.len(), column.len());
            let problem = format!("has {found} words, expected {words} for each of {n} particles");
            return Err(SolverError::State { column: name.to_owned(), problem });
        }
        Ok(column)
    }

    /// A column of any length.
    ///
    /// # Errors
    /// It is missing.
    pub fn any(&self, name: &str) -> Result<&'a [u32], SolverError> {
        find(self.state, name)
    }

    /// A column of what is not particles, of so many words.
    ///
    /// # Errors
    /// It is missing, or has another length.
    pub fn whole(&self, name: &str, words: usize) -> Result<&'a [u32], SolverError> {
        let column = find(self.state, name)?;
        if column.len() != words {
            let problem = format!("has {} words, expected {words}", column.len());
            return Err(SolverError::State { column: name.to_owned(), problem });
        }
        Ok(column)
    }
}

fn find<'a>(state: &'a [StateColumn], name: &str) -> Result<&'a [u32], SolverError> {
    let missing = || SolverError::State { column: name.to_owned(), problem: "is missing".into() };
    state.iter().find(|column| column.name == name).map(|column| column.words.as_slice()).ok_or_else(missing)
}

/// Refuses columns that have not `n` elements each.
pub(crate) fn check_lengths<const N: usize>(
    n: usize,
    lengths: [(&str, usize); N],
) -> Result<(), SolverError> {
    match lengths.into_iter().find(|(_, found)| *found != n) {
        None => Ok(()),
        Some((column, found)) => {
            let problem = format!("has {found} elements, expected {n}");
            Err(SolverError::State { column: column.into(), problem })
        }
    }
}
