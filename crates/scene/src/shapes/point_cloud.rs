//! Particles read from a file.

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
