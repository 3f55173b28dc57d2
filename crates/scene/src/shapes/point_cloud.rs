//! Particles read from a file or given in memory.

use crate::Vec3;

/// Positions of particles in the units of their file, and further columns that the file may have. All columns
/// have the same length, at least 1, and finite numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// Positions.
    pub positions: Vec<Vec3>,
    /// Velocities in m/s.
    pub velocities_m_s: Option<Vec<Vec3>>,
    /// Temperatures in °C.
    pub temperatures_c: Option<Vec<f64>>,
}

impl PointCloud {
    /// Makes a cloud of particles in memory. The error describes what is wrong with them.
    ///
    /// # Errors
    /// No particles, columns of different lengths, numbers that are not finite, or two particles at the same
    /// position.
    pub fn new(
        positions: Vec<Vec3>,
        velocities_m_s: Option<Vec<Vec3>>,
        temperatures_c: Option<Vec<f64>>,
    ) -> Result<Self, String> {
        let n = positions.len();
        let lengths = [
            ("velocity", velocities_m_s.as_ref().map(Vec::len)),
            ("temperature", temperatures_c.as_ref().map(Vec::len)),
        ];
        if n == 0 {
            return Err("no particles".to_owned());
        }
        if let Some((name, Some(found))) =
            lengths.into_iter().find(|(_, len)| len.is_some_and(|len| len != n))
        {
            return Err(format!("column {name}: found {found} rows, expected {n} as of position"));
        }
        let first = |vectors: &[Vec3]| vectors.iter().position(|v| !v.iter().all(|x| x.is_finite()));
        let unsound = [
            ("position", first(&positions)),
            ("velocity", velocities_m_s.as_deref().and_then(first)),
            ("temperature", temperatures_c.as_ref().and_then(|all| all.iter().position(|x| !x.is_finite()))),
        ];
        if let Some((name, Some(row))) = unsound.into_iter().find(|(_, row)| row.is_some()) {
            return Err(format!("row {row}, column {name}: found a number that is not finite"));
        }
        let cloud = Self { positions, velocities_m_s, temperatures_c };
        match cloud.coincident() {
            Some([a, b]) => Err(format!("rows {a} and {b} are at the same position")),
            None => Ok(cloud),
        }
    }

    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns true if there are no particles, which no file gives.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns true if all particles are in the plane z = 0.
    pub(crate) fn is_flat(&self) -> bool {
        self.positions.iter().all(|[_, _, z]| *z == 0.0)
    }

    /// Returns the lower and upper corner of the bounding box.
    pub(crate) fn bounds(&self) -> [Vec3; 2] {
        let first = self.positions.first().copied().unwrap_or_default();
        self.positions.iter().fold([first; 2], |[low, high], point| {
            [
                std::array::from_fn(|axis| low[axis].min(point[axis])),
                std::array::from_fn(|axis| high[axis].max(point[axis])),
            ]
        })
    }

    /// Returns two particles at the same position, counted from 0, if there are any.
    pub(crate) fn coincident(&self) -> Option<[usize; 2]> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let key = |i: &usize| self.positions[*i];
        let compare = |a: &Vec3, b: &Vec3| {
            (0..3)
                .map(|axis| a[axis].total_cmp(&b[axis]))
                .find(|o| o.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        order.sort_by(|a, b| compare(&key(a), &key(b)));
        let pair = order.windows(2).find(|pair| key(&pair[0]) == key(&pair[1]))?;
        Some([pair[0].min(pair[1]), pair[0].max(pair[1])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_memory_are_checked() {
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0]];
        let made = |positions: &[Vec3], velocities: Option<Vec<Vec3>>, temperatures: Option<Vec<f64>>| {
            PointCloud::new(positions.to_vec(), velocities, temperatures).map(|cloud| cloud.len())
        };
        assert_eq!(made(&positions, Some(vec![[1.0; 3]; 2]), Some(vec![-1.0; 2])), Ok(2));
        let problem = |made: Result<usize, String>| made.err().unwrap_or_default();
        assert_eq!(problem(made(&[], None, None)), "no particles");
        let short = made(&positions, Some(vec![[1.0; 3]]), None);
        assert_eq!(problem(short), "column velocity: found 1 rows, expected 2 as of position");
        let unsound = made(&positions, None, Some(vec![0.0, f64::NAN]));
        assert_eq!(problem(unsound), "row 1, column temperature: found a number that is not finite");
        assert_eq!(problem(made(&[[2.0; 3]; 2], None, None)), "rows 0 and 1 are at the same position");
    }
}
