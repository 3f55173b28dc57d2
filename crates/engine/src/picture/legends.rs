//! Legends of the displayed properties: the mapping of colours to values.

use super::coloring::Property;
use crate::failure::Failure;
use frazil_particles::ColorScale;
use frazil_render::{ColorMap, Legend};
use frazil_vk::{Device, DeviceCount};

/// Legends determined so far, by the property's name; they are kept, so that a colour means the same in all
/// pictures.
pub struct Legends {
    device: Device,
    found: Vec<(String, Legend)>,
}

/// Legend options of a scene.
pub struct LegendOverride {
    pub map: Option<ColorMap>,
    pub range: Option<[f32; 2]>,
}

impl Legends {
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), found: Vec::new() }
    }

    /// Returns the legend of a name, if it has been found.
    pub fn get(&self, name: &str) -> Option<&Legend> {
        self.found.iter().find(|(of, _)| of == name).map(|(_, legend)| legend)
    }

    /// Sets the colours and the range of a legend that has been found.
    pub fn set(&mut self, name: &str, map: ColorMap, range: [f32; 2]) {
        if let Some((_, legend)) = self.found.iter_mut().find(|(of, _)| of == name) {
            (legend.map, legend.range) = (map, range);
        }
    }

    /// Forgets a legend, which is then determined anew.
    pub fn forget(&mut self, name: &str) {
        self.found.retain(|(of, _)| of != name);
    }

    /// Determines the legend of a property of sets of particles, each with its count. If neither the scene
    /// nor the owner of the column gives a range, it is that of the values after all submissions so far,
    /// for which this waits for the device; without particles there is none yet.
    pub fn find(
        &mut self,
        name: &str,
        properties: &[(&DeviceCount, &Property)],
        overrides: LegendOverride,
    ) -> Result<(), Failure> {
        let Some((_, first)) = properties.first() else { return Ok(()) };
        let range = match overrides.range.or(first.display.range) {
            Some(range) => Some(range),
            // A diverging scale has its middle at 0.
            None if first.display.scale == ColorScale::Diverging => {
                self.range_of(properties)?.map(|[lo, hi]| {
                    let reach = hi.max(-lo);
                    [-reach, reach]
                })
            }
            None => self.range_of(properties)?,
        };
        let by_scale = match first.display.scale {
            ColorScale::Sequential => ColorMap::Viridis,
            ColorScale::Diverging => ColorMap::Vik,
        };
        if let Some(range) = range {
            let (title, unit) = (first.title.clone(), first.unit.clone());
            let map = overrides.map.unwrap_or(by_scale);
            self.found.push((name.to_owned(), Legend { title, unit, map, range }));
        }
        Ok(())
    }

    /// Finds the range of the finite values without the outermost ones.
    fn range_of(&self, properties: &[(&DeviceCount, &Property)]) -> Result<Option<[f32; 2]>, Failure> {
        let mut values = Vec::new();
        for (count, property) in properties {
            let n = self.device.download(&count.count, 1)?.first().map_or(0, |n| *n as usize);
            values.extend(property.values.download(&self.device, n)?.into_iter().filter(|x| x.is_finite()));
        }
        Ok(robust_range(values))
    }
}

/// Share of the values that is beyond each end of a range.
const OUTERMOST: f64 = 0.005;

/// Returns the range of finite values but for a share at each end, which a few outliers would stretch: that
/// of all below 200 values. Without values there is none.
pub fn robust_range(mut values: Vec<f32>) -> Option<[f32; 2]> {
    let last = values.len().checked_sub(1)?;
    let beyond = (OUTERMOST * values.len() as f64) as usize;
    values.sort_unstable_by(f32::total_cmp);
    let [lo, hi] = [values[beyond], values[last - beyond]];
    // Where nearly all values are equal, the others are of interest.
    Some(if lo < hi { [lo, hi] } else { [values[0], values[last]] })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::super::coloring::{self, Heights};
    use super::*;
    use frazil_kernels::Counts;
    use frazil_particles::{ColumnKind, ColumnView, Display, Material, ParticleSet};
    use frazil_scene::Scene;
    use frazil_testkit::own_device;

    #[test]
    fn unknown_columns_have_a_name_a_unit_and_a_range() {
        let device = own_device();
        // The capacity is one more than the count.
        let count = Counts::new(&device).unwrap().upload(&device, "dust", 3, 4).unwrap();
        let charges = device.buffer_from("charge", &[3.0, f32::NAN, -2.0, 9.0]).unwrap();
        let winds: [[f32; 3]; 4] = [[0.0, 3.0, 4.0], [1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [9.0; 3]];
        let winds = device.buffer_from("wind", &winds).unwrap();
        let charge = ColumnView::new("charge", "C", ColumnKind::F32, charges.cast());
        let stated = Display::up_to(8.0).titled("m*").in_unit("u");
        let columns = vec![
            charge.clone(),
            ColumnView { name: "mark".into(), unit: "1".into(), ..charge }.shown_as(stated),
            ColumnView::new("wind", "m/s", ColumnKind::Vec3, winds.cast()),
        ];
        let set = ParticleSet { name: "dust", material: Material::Generic, count: &count, columns };
        let mut legends = Legends::new(&device);
        let heights = Heights::of(&Scene::find("dam_break", &[]).unwrap());
        for (name, title, unit, map, range) in [
            ("charge", "charge", "C", ColorMap::Viridis, [-2.0, 3.0]),
            ("mark", "m*", "u", ColorMap::Viridis, [0.0, 8.0]),
            ("wind", "wind", "m/s", ColorMap::Viridis, [1.0, 5.0]),
            ("wind.y", "wind.y", "m/s", ColorMap::Vik, [-3.0, 3.0]),
        ] {
            let property = coloring::find(&set, None, name, heights).unwrap();
            legends.find(name, &[(&count, &property)], LegendOverride { map: None, range: None }).unwrap();
            let expected = Legend { title: title.into(), unit: unit.into(), map, range };
            assert_eq!(legends.get(name), Some(&expected));
        }
        for name in ["speed", "height", "charge.x", "wind.w", "colour"] {
            assert!(coloring::find(&set, None, name, heights).is_none(), "{name}");
        }
        device.check_validation().unwrap();
    }

    #[test]
    fn outliers_do_not_stretch_the_range() {
        assert_eq!(robust_range(Vec::new()), None);
        assert_eq!(robust_range(vec![2.0, -1.0, 5.0]), Some([-1.0, 5.0]));
        let mut values: Vec<f32> = (0..1000).rev().map(|i| i as f32).collect();
        values[..5].copy_from_slice(&[1e9, -1e9, 5e8, -3e7, 1e9]);
        let [lo, hi] = robust_range(values).unwrap();
        assert!((0.0..10.0).contains(&lo) && (985.0..1000.0).contains(&hi), "{lo} to {hi}");
        let mut still = vec![1.0; 1000];
        still[17] = 4.0;
        assert_eq!(robust_range(still), Some([1.0, 4.0]));
    }
}
