//! Saved states: named columns of 32-bit words, looked up by name with their lengths checked.

/// Named column of a saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateColumn {
    /// Name of the column.
    pub name: String,
    /// Elements as 32-bit words.
    pub words: Vec<u32>,
}

/// Error of restoring a saved state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Vulkan error of the device.
    #[error(transparent)]
    Device(#[from] frazil_vk::Error),
    /// Column that is missing, or that is no valid part of the state.
    #[error("saved state: column \"{column}\" {problem}")]
    Column {
        /// Name of the column.
        column: String,
        /// Problem found, and what is expected.
        problem: String,
    },
}

/// Columns of a saved state, by name.
#[derive(Clone, Copy, Debug)]
pub struct Saved<'a> {
    state: &'a [StateColumn],
    /// Ids of the particles, which every state has.
    pub ids: &'a [u32],
}

impl<'a> Saved<'a> {
    /// Finds the ids, whose number is that of the particles.
    ///
    /// # Errors
    /// There is no column of ids.
    pub fn new(state: &'a [StateColumn]) -> Result<Self, StateError> {
        Ok(Self { state, ids: find(state, "id")? })
    }

    /// Finds a column of `words` words per particle.
    ///
    /// # Errors
    /// The column is missing, or has another length.
    pub fn of(&self, name: &str, words: usize) -> Result<&'a [u32], StateError> {
        let column = find(self.state, name)?;
        if column.len() != words * self.ids.len() {
            let (n, found) = (self.ids.len(), column.len());
            let problem = format!("has {found} words, expected {words} for each of {n} particles");
            return Err(StateError::Column { column: name.to_owned(), problem });
        }
        Ok(column)
    }

    /// Reads a column of one number per particle.
    ///
    /// # Errors
    /// Like [`Self::of`].
    pub fn numbers(&self, name: &str) -> Result<Vec<f32>, StateError> {
        Ok(bytemuck::pod_collect_to_vec(self.of(name, 1)?))
    }

    /// Reads a column of one vector per particle.
    ///
    /// # Errors
    /// Like [`Self::of`].
    pub fn vectors(&self, name: &str) -> Result<Vec<[f32; 3]>, StateError> {
        Ok(bytemuck::pod_collect_to_vec(self.of(name, 3)?))
    }

    /// Finds a column of any length.
    ///
    /// # Errors
    /// The column is missing.
    pub fn any(&self, name: &str) -> Result<&'a [u32], StateError> {
        find(self.state, name)
    }

    /// Finds a column of `words` words in all, independent of the number of particles.
    ///
    /// # Errors
    /// The column is missing, or has another length.
    pub fn whole(&self, name: &str, words: usize) -> Result<&'a [u32], StateError> {
        let column = find(self.state, name)?;
        if column.len() != words {
            let problem = format!("has {} words, expected {words}", column.len());
            return Err(StateError::Column { column: name.to_owned(), problem });
        }
        Ok(column)
    }
}

fn find<'a>(state: &'a [StateColumn], name: &str) -> Result<&'a [u32], StateError> {
    let missing = || StateError::Column { column: name.to_owned(), problem: "is missing".into() };
    state.iter().find(|column| column.name == name).map(|column| column.words.as_slice()).ok_or_else(missing)
}
