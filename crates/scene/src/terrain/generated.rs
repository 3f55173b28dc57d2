//! Terrains that a formula makes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MAX_HEIGHTS, Terrain};
use crate::validate::{Check, Checker, number, whole};

/// A terrain that a formula makes. Its south-western height is at easting and northing 0, and what descends does so to the east.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum Generated {
    /// A plane that descends to the east, down to height 0.
    InclinedPlane {
        /// Extent to the east and to the north in m.
        size_m: [f64; 2],
        /// Distance of heights in m.
        cell_m: f64,
        /// Angle against the horizontal in degrees.
        slope_deg: f64,
    },
    /// A slope, an arc of a circle that touches both ends, and a level run-out at height 0.
    HockeyStick {
        /// Extent to the east and to the north in m.
        size_m: [f64; 2],
        /// Distance of heights in m.
        cell_m: f64,
        /// Angle of the slope in degrees.
        slope_deg: f64,
        /// Length of the level part in m.
        run_out_m: f64,
        /// Radius of the arc in m.
        transition_radius_m: f64,
    },
    /// A round bowl z = depth · (r/R)², R being half of the extent.
    Bowl {
        /// Extent both to the east and to the north in m.
        size_m: f64,
        /// Distance of heights in m.
        cell_m: f64,
        /// Height of the rim at the middle of an edge above the bottom in m.
        depth_m: f64,
    },
    /// A mountain side: a plane that descends to the east, and upon it octaves of smoothly interpolated random heights, each with
    /// half the wavelength of the one before and `roughness` times its height (Musgrave, Kolb & Mace 1989).
    Fractal {
        /// Extent to the east and to the north in m.
        size_m: [f64; 2],
        /// Distance of heights in m.
        cell_m: f64,
        /// Angle of the plane in degrees.
        slope_deg: f64,
        /// How far the first octave goes up or down in m.
        relief_m: f64,
        /// Wavelength of the first octave in m.
        wavelength_m: f64,
        /// Number of octaves.
        #[serde(default = "default_octaves")]
        octaves: u32,
        /// Height of an octave over that of the one before, 0 to 1.
        #[serde(default = "default_roughness")]
        roughness: f64,
        /// Which of all such mountains; by default the scene's seed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(max = 9223372036854775807_u64))]
        seed: Option<u64>,
    },
}

fn default_octaves() -> u32 {
    6
}

fn default_roughness() -> f64 {
    0.45
}

/// Steepest slope in degrees.
const MAX_SLOPE_DEG: f64 = 80.0;

impl Generated {
    /// The name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InclinedPlane { .. } => "inclined_plane",
            Self::HockeyStick { .. } => "hockey_stick",
            Self::Bowl { .. } => "bowl",
            Self::Fractal { .. } => "fractal",
        }
    }

    fn size_m(&self) -> [f64; 2] {
        match self {
            Self::InclinedPlane { size_m, .. }
            | Self::HockeyStick { size_m, .. }
            | Self::Fractal { size_m, .. } => *size_m,
            Self::Bowl { size_m, .. } => [*size_m; 2],
        }
    }

    fn cell_m(&self) -> f64 {
        match self {
            Self::InclinedPlane { cell_m, .. }
            | Self::HockeyStick { cell_m, .. }
            | Self::Bowl { cell_m, .. }
            | Self::Fractal { cell_m, .. } => *cell_m,
        }
    }

    /// Multiplies all lengths but the distance of heights.
    pub(crate) fn apply_scale(&mut self, scale: f64) {
        match self {
            Self::InclinedPlane { size_m, .. } => *size_m = size_m.map(|x| scale * x),
            Self::HockeyStick { size_m, run_out_m, transition_radius_m, .. } => {
                *size_m = size_m.map(|x| scale * x);
                *run_out_m *= scale;
                *transition_radius_m *= scale;
            }
            Self::Bowl { size_m, depth_m, .. } => {
                *size_m *= scale;
                *depth_m *= scale;
            }
            Self::Fractal { size_m, relief_m, wavelength_m, .. } => {
                *size_m = size_m.map(|x| scale * x);
                *relief_m *= scale;
                *wavelength_m *= scale;
            }
        }
    }

    pub(crate) fn check(&self, check: &Checker<'_>, key: &str) -> Check {
        let key = format!("{key}.{}", self.name());
        let within = |name: &str| format!("{key}.{name}");
        let cell_m = self.cell_m();
        check.positive(&within("cell_m"), cell_m, "metres")?;
        let is_square = matches!(self, Self::Bowl { .. });
        for (axis, size_m) in self.size_m().into_iter().enumerate() {
            let size_key = if is_square { within("size_m") } else { within(&format!("size_m.{axis}")) };
            check.positive(&size_key, size_m, "metres")?;
            if size_m < cell_m {
                let expected = format!("at least one cell of {} m", number(cell_m));
                return check.fail_between(
                    &[&size_key, &within("cell_m")],
                    format!("{} m", number(size_m)),
                    expected,
                );
            }
        }
        let n_heights: f64 = self.size_m().iter().map(|size_m| (size_m / cell_m).ceil() + 1.0).product();
        if n_heights > MAX_HEIGHTS as f64 {
            let found = format!("{} m, which makes {} heights", number(cell_m), whole(n_heights));
            return check.fail(&within("cell_m"), found, format!("at most {MAX_HEIGHTS} heights"));
        }
        match self {
            Self::InclinedPlane { slope_deg, .. } => {
                check.range(&within("slope_deg"), *slope_deg, 0.0, MAX_SLOPE_DEG)
            }
            Self::HockeyStick { size_m, slope_deg, run_out_m, transition_radius_m, .. } => {
                check.range(&within("slope_deg"), *slope_deg, 0.0, MAX_SLOPE_DEG)?;
                check.range(&within("run_out_m"), *run_out_m, 0.0, size_m[0])?;
                check.range(&within("transition_radius_m"), *transition_radius_m, 0.0, 1e9)?;
                let arc_m = transition_radius_m * slope_deg.to_radians().sin();
                if run_out_m + arc_m > size_m[0] {
                    return check.fail(
                        &within("transition_radius_m"),
                        format!("{} m, whose arc is {} m long", number(*transition_radius_m), number(arc_m)),
                        format!(
                            "an arc of at most {} m, what the run-out leaves",
                            number(size_m[0] - run_out_m)
                        ),
                    );
                }
                Ok(())
            }
            Self::Bowl { depth_m, .. } => check.range(&within("depth_m"), *depth_m, 0.0, 1e6),
            Self::Fractal { slope_deg, relief_m, wavelength_m, octaves, roughness, seed, .. } => {
                check.range(&within("slope_deg"), *slope_deg, 0.0, MAX_SLOPE_DEG)?;
                check.range(&within("relief_m"), *relief_m, 0.0, 1e6)?;
                check.positive(&within("wavelength_m"), *wavelength_m, "metres")?;
                check.count(&within("octaves"), *octaves, 24)?;
                check.range(&within("roughness"), *roughness, 0.0, 1.0)?;
                match seed {
                    Some(seed) if *seed > i64::MAX as u64 => {
                        check.fail(&within("seed"), seed, format!("a whole number up to {}", i64::MAX))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The terrain; the grid covers the extent, and may end a part of a cell past it. Or what is wrong.
    pub(crate) fn terrain(&self, scene_seed: u64) -> Result<Terrain, String> {
        let (cell_m, size_m) = (self.cell_m(), self.size_m());
        // The rounding of decimal numbers adds no cell.
        let n = size_m.map(|size_m| (size_m / cell_m * (1.0 - 1e-12)).ceil() + 1.0);
        if !(cell_m > 0.0 && n.iter().product::<f64>() <= MAX_HEIGHTS as f64) {
            return Err(format!("{} rows of {} heights", whole(n[1]), whole(n[0])));
        }
        let [n_columns, n_rows] = n.map(|n| n as usize);
        let height = self.height(scene_seed);
        let heights = (0..n_rows)
            .flat_map(|row| (0..n_columns).map(move |column| [column, row]))
            .map(|at| {
                let [x, y] = at.map(|i| i as f64 * cell_m);
                height(x, y)
            })
            .collect();
        Ok(Terrain::new(n_columns, n_rows, cell_m, [-0.5 * cell_m; 2], heights)?.above(0.0))
    }

    /// Height in m at a point.
    fn height(&self, scene_seed: u64) -> Box<dyn Fn(f64, f64) -> f64 + '_> {
        match self {
            Self::InclinedPlane { size_m, slope_deg, .. } => {
                let rise = slope_deg.to_radians().tan();
                Box::new(move |x, _| (size_m[0] - x) * rise)
            }
            Self::HockeyStick { size_m, slope_deg, run_out_m, transition_radius_m, .. } => {
                let (angle, radius) = (slope_deg.to_radians(), *transition_radius_m);
                let (arc_end, arc_m) = (size_m[0] - run_out_m, radius * angle.sin());
                Box::new(move |x, _| {
                    let before_end = arc_end - x;
                    if before_end <= 0.0 {
                        0.0
                    } else if before_end <= arc_m {
                        radius - (radius * radius - before_end * before_end).sqrt()
                    } else {
                        radius * (1.0 - angle.cos()) + (before_end - arc_m) * angle.tan()
                    }
                })
            }
            Self::Bowl { size_m, depth_m, .. } => Box::new(move |x, y| {
                let [u, v] = [x, y].map(|x| 2.0 * x / size_m - 1.0);
                depth_m * (u * u + v * v)
            }),
            Self::Fractal { size_m, slope_deg, relief_m, wavelength_m, octaves, roughness, seed, .. } => {
                let rise = slope_deg.to_radians().tan();
                let seed = seed.unwrap_or(scene_seed);
                Box::new(move |x, y| {
                    let (mut height, mut octave_m, mut wavelength_m) =
                        ((size_m[0] - x) * rise, *relief_m, *wavelength_m);
                    for octave in 0..*octaves {
                        height += octave_m * smooth_noise(x / wavelength_m, y / wavelength_m, seed, octave);
                        octave_m *= roughness;
                        wavelength_m *= 0.5;
                    }
                    height
                })
            }
        }
    }
}

/// Random heights from −1 to 1 at whole coordinates, and between them a surface whose slope and curvature are continuous (weights
/// 6t⁵ − 15t⁴ + 10t³, Perlin 2002).
fn smooth_noise(x: f64, y: f64, seed: u64, octave: u32) -> f64 {
    let (i, j) = (x.floor(), y.floor());
    let weight = |t: f64| t * t * t * (t * (6.0 * t - 15.0) + 10.0);
    let (u, v) = (weight(x - i), weight(y - j));
    let at = |di: i64, dj: i64| lattice_noise(i as i64 + di, j as i64 + dj, seed, octave);
    let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
    mix(mix(at(0, 0), at(1, 0), u), mix(at(0, 1), at(1, 1), u), v)
}

/// From −1 to below 1, by the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
fn lattice_noise(i: i64, j: i64, seed: u64, octave: u32) -> f64 {
    let mix = |mut z: u64| {
        z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let hash = mix(mix(mix(seed ^ (u64::from(octave) << 32)) ^ i as u64) ^ j as u64);
    (hash >> 11) as f64 * (2.0 / (1_u64 << 53) as f64) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inclined_plane_descends_to_the_east() {
        let plane = Generated::InclinedPlane { size_m: [10.0, 4.0], cell_m: 0.5, slope_deg: 30.0 };
        let terrain = plane.terrain(0).unwrap();
        assert_eq!((terrain.n_columns(), terrain.n_rows()), (21, 9));
        assert_eq!((terrain.west_m(), terrain.south_m(), terrain.base_m()), (0.0, 0.0, 0.0));
        assert!((terrain.slope_deg([3.3, 1.2]).unwrap() - 30.0).abs() < 1e-9);
        assert!(terrain.normal([3.3, 1.2]).unwrap()[0] > 0.0);
        assert!(terrain.height_m([10.0, 2.0]).unwrap().abs() < 1e-12);
    }

    #[test]
    fn a_hockey_stick_has_no_edge() {
        let stick = Generated::HockeyStick {
            size_m: [100.0, 10.0],
            cell_m: 0.1,
            slope_deg: 35.0,
            run_out_m: 30.0,
            transition_radius_m: 40.0,
        };
        let terrain = stick.terrain(0).unwrap();
        let slope = |x: f64| terrain.slope_deg([x, 5.0]).unwrap();
        assert!((slope(10.0) - 35.0).abs() < 1e-9 && slope(85.0) == 0.0);
        assert_eq!(terrain.height_m([70.0, 5.0]).unwrap(), 0.0);
        // One cell turns by no more than its share of the arc.
        for i in 0..990 {
            let (a, b) = (slope(0.1 * f64::from(i) + 0.05), slope(0.1 * f64::from(i) + 0.15));
            assert!((0.0..0.2).contains(&(a - b + 1e-9)), "{a} {b} at {i}");
        }
        // At the middle of the arc the slope is that of the circle.
        let x = 70.0 - 40.0 * 17.5_f64.to_radians().sin();
        assert!((slope(x) - 17.5).abs() < 0.1);
    }

    #[test]
    fn a_bowl_is_lowest_in_its_middle() {
        let terrain = Generated::Bowl { size_m: 8.0, cell_m: 1.0, depth_m: 3.0 }.terrain(0).unwrap();
        assert_eq!(terrain.height_m([4.0, 4.0]), Some(0.0));
        for rim in [[0.0, 4.0], [8.0, 4.0], [4.0, 0.0], [4.0, 8.0]] {
            assert_eq!(terrain.height_m(rim), Some(3.0));
        }
    }

    #[test]
    fn a_mountain_is_its_seeds() {
        let mountain = |seed: Option<u64>| Generated::Fractal {
            size_m: [64.0, 32.0],
            cell_m: 1.0,
            slope_deg: 30.0,
            relief_m: 4.0,
            wavelength_m: 16.0,
            octaves: 4,
            roughness: 0.5,
            seed,
        };
        let heights = |seed, scene_seed| mountain(seed).terrain(scene_seed).unwrap().map_heights_m().to_vec();
        assert_eq!(heights(Some(7), 1), heights(None, 7));
        assert_ne!(heights(Some(7), 1), heights(Some(8), 1));
        let rise = 30.0_f64.to_radians().tan();
        let noise: Vec<f64> = heights(None, 3)
            .iter()
            .enumerate()
            .map(|(idx, h)| h - (64.0 - (idx % 65) as f64) * rise)
            .collect();
        let bound = 4.0 * (1.0 + 0.5 + 0.25 + 0.125);
        let (low, high) =
            (noise.iter().copied().fold(0.0, f64::min), noise.iter().copied().fold(0.0, f64::max));
        assert!(low > -bound && high < bound && low < -1.0 && high > 1.0, "{low} {high}");
    }

    #[test]
    fn noise_is_smooth() {
        let h = 1e-5;
        for k in 0..200 {
            let (x, y) = (0.171 * f64::from(k), 0.113 * f64::from(k));
            let at = |dx: f64| smooth_noise(x + dx, y, 5, 0);
            let (left, right) = ((at(0.0) - at(-h)) / h, (at(h) - at(0.0)) / h);
            assert!((left - right).abs() < 1e-3 && at(0.0).abs() <= 1.0);
        }
        // Whole coordinates have their own random heights, on both sides of zero.
        assert!((smooth_noise(-1e-9, 0.5, 5, 0) - smooth_noise(1e-9, 0.5, 5, 0)).abs() < 1e-8);
    }
}
