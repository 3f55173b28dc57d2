//! A single hash of a whole state, so that two runs can be compared without storing either.

use xxhash_rust::xxh3::Xxh3;

use crate::frame::{ColumnData, Frame};

/// Hashes named columns with xxh3-128.
///
/// Each column is hashed with its name, type, length and bytes, so that no two different lists of columns
/// give the same input. The order of columns and of particles matters: a reproducible run repeats both.
#[derive(Clone, Default)]
pub struct StateHasher {
    hasher: Xxh3,
}

impl StateHasher {
    /// Makes a hasher without input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column.
    pub fn column(&mut self, name: &str, data: &ColumnData) -> &mut Self {
        self.bytes(name, &data.kind().to_string(), data.len(), data.bytes())
    }

    /// Adds a column of any type: `kind` names it, `len` counts its values, `bytes` holds them.
    pub fn bytes(&mut self, name: &str, kind: &str, len: usize, bytes: &[u8]) -> &mut Self {
        self.hasher.update(&(len as u64).to_le_bytes());
        for part in [name.as_bytes(), kind.as_bytes(), bytes] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
        self
    }

    /// Returns the hash of the columns added so far, as 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        format!("{:032x}", self.hasher.digest128())
    }
}

impl Frame {
    /// Returns the hash of all columns, those of bodies last; step, time and units are not included.
    pub fn state_hash(&self) -> String {
        let mut hasher = StateHasher::new();
        for column in self.columns() {
            hasher.column(&column.name, &column.data);
        }
        for column in self.bodies() {
            hasher.column(&column.name, &column.data);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(columns: &[(&str, ColumnData)]) -> String {
        let mut hasher = StateHasher::new();
        for (name, data) in columns {
            hasher.column(name, data);
        }
        hasher.finish()
    }

    #[test]
    fn the_hash_of_a_state_never_changes_between_versions() {
        let state = [("position", ColumnData::Vec3(vec![[0.0, 1.0, 2.0]])), ("id", ColumnData::U32(vec![5]))];
        assert_eq!(
            hash(&state),
            "624f4388b0943a396a1a889efdaef794",
            "also what the Python package xxhash gives"
        );
        assert_eq!(
            hash(&[]),
            "99aa06d3014798d86001c324468d497f",
            "xxh3-128 of nothing, from its specification"
        );
    }

    #[test]
    fn name_type_length_bytes_and_order_all_count() {
        use ColumnData::{F32, U32, Vec3};
        let states: Vec<Vec<(&str, ColumnData)>> = vec![
            vec![],
            vec![("a", U32(vec![]))],
            vec![("b", U32(vec![]))],
            vec![("a", F32(vec![]))],
            vec![("a", U32(vec![0]))],
            vec![("a", F32(vec![0.0]))],
            vec![("a", F32(vec![-0.0]))],
            vec![("a", F32(vec![0.0; 3]))],
            vec![("a", Vec3(vec![[0.0; 3]]))],
            vec![("a", U32(vec![0])), ("b", U32(vec![0]))],
            vec![("b", U32(vec![0])), ("a", U32(vec![0]))],
            vec![("ab", U32(vec![0, 0]))],
        ];
        let hashes: std::collections::HashSet<_> = states.iter().map(|state| hash(state)).collect();
        assert_eq!(hashes.len(), states.len());
    }
}
