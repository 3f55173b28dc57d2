//! Shading of a terrain under a light from the north-west.

use frazil_scene::Terrain;

/// Azimuth of the light, clockwise from the north, and its elevation, in degrees: the convention of maps.
const AZIMUTH_DEG: f64 = 315.0;
const ELEVATION_DEG: f64 = 45.0;

/// Returns the cosine of the angle between light and normal at each height, 0 in the shade and NaN where the
/// height is unknown. Gradients are those of Horn1981, from the eight neighbours; a neighbour that is
/// unknown counts as high as the point.
pub(super) fn hillshade(terrain: &Terrain) -> Vec<f32> {
    let (n_columns, n_rows) = (terrain.n_columns(), terrain.n_rows());
    let (azimuth, elevation) = (AZIMUTH_DEG.to_radians(), ELEVATION_DEG.to_radians());
    let light = [azimuth.sin() * elevation.cos(), azimuth.cos() * elevation.cos(), elevation.sin()];
    let shade = |column: usize, row: usize| {
        let Some(here) = terrain.height_at(column, row) else { return f32::NAN };
        let at = |i: isize, j: isize| {
            let (column, row) = (column.checked_add_signed(i), row.checked_add_signed(j));
            column.zip(row).and_then(|(column, row)| terrain.height_at(column, row)).unwrap_or(here)
        };
        let slope = |along: &dyn Fn(isize, isize) -> f64| {
            let side = |i: isize| along(i, -1) + 2.0 * along(i, 0) + along(i, 1);
            (side(1) - side(-1)) / (8.0 * terrain.cell_m())
        };
        let (east, north) = (slope(&|i, j| at(i, j)), slope(&|i, j| at(j, i)));
        let length = (1.0 + east * east + north * north).sqrt();
        ((light[2] - light[0] * east - light[1] * north) / length).max(0.0) as f32
    };
    (0..n_columns * n_rows).map(|idx| shade(idx % n_columns, idx / n_columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shade_of(height: impl Fn(usize, usize) -> f64) -> f32 {
        let heights = (0..25).map(|idx| height(idx % 5, idx / 5)).collect();
        hillshade(&Terrain::new(5, 5, 2.0, [0.0; 2], heights).unwrap())[12]
    }

    #[test]
    fn slopes_to_the_north_west_are_the_brightest() {
        // Level ground under a light at 45°.
        assert!((shade_of(|_, _| 3.0) - 0.5_f32.sqrt()).abs() < 1e-6);
        // A slope of 45° that faces the light is perpendicular to it; one that faces away is parallel.
        let diagonal = 2.0 / 2.0_f64.sqrt();
        let facing = shade_of(|i, j| diagonal * (i as f64 - j as f64));
        let away = shade_of(|i, j| diagonal * (j as f64 - i as f64));
        assert!((facing - 1.0).abs() < 1e-6 && away.abs() < 1e-6, "{facing} {away}");
        // A slope to the west is as bright as one to the north.
        let (west, north) = (shade_of(|i, _| i as f64), shade_of(|_, j| -(j as f64)));
        assert!((west - north).abs() < 1e-6 && west > 0.7, "{west} {north}");
    }
}
