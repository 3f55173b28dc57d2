//! Perceptual colour maps: equal steps of value look like equal steps of colour.

/// A colour map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColorMap {
    /// From dark violet through green to yellow: for magnitudes.
    #[default]
    Viridis,
    /// From black through red to pale yellow: for magnitudes that glow, such as heat.
    Inferno,
    /// From blue through near-white to brown: for values on both sides of a centre, such as temperatures
    /// around freezing.
    Vik,
    /// From black to white, in even steps of the display-encoded value: for intensities.
    Grey,
}

impl ColorMap {
    /// All colour maps.
    pub const ALL: [Self; 4] = [Self::Viridis, Self::Inferno, Self::Vik, Self::Grey];

    /// Returns the name of the map.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Inferno => "inferno",
            Self::Vik => "vik",
            Self::Grey => "grey",
        }
    }

    /// Returns the display-encoded (sRGB) colour at `t`, clamped to 0 … 1.
    pub fn at(self, t: f32) -> [f32; 3] {
        let entries = self.entries();
        let at = t.clamp(0.0, 1.0) * (entries.len() - 1) as f32;
        let i = (at as usize).min(entries.len() - 2);
        let part = at - i as f32;
        std::array::from_fn(|c| entries[i][c] + (entries[i + 1][c] - entries[i][c]) * part)
    }

    /// Returns colours at equal steps, to be interpolated.
    pub(crate) fn entries(self) -> [[f32; 3]; ENTRIES] {
        let table = match self {
            Self::Viridis => &VIRIDIS,
            Self::Inferno => &INFERNO,
            Self::Vik => &VIK,
            Self::Grey => return std::array::from_fn(|i| [i as f32 / (ENTRIES - 1) as f32; 3]),
        };
        table.map(|rgb| rgb.map(|component| f32::from(component) / 255.0))
    }
}

/// Number of entries: every eighth of the 256 published colours. Linear interpolation between them misses the
/// others by at most two steps of 255.
const ENTRIES: usize = 33;

/// Viridis by Stéfan van der Walt and Nathaniel Smith (2015), released under CC0.
#[rustfmt::skip]
const VIRIDIS: [[u8; 3]; ENTRIES] = [
    [68, 1, 84], [71, 13, 96], [72, 24, 106], [72, 35, 116], [71, 45, 123], [69, 54, 129], [66, 64, 134],
    [63, 73, 137], [59, 82, 139], [55, 90, 141], [51, 99, 141], [47, 106, 142], [44, 114, 142],
    [41, 122, 142], [38, 129, 142], [35, 137, 142], [33, 144, 140], [31, 152, 139], [31, 159, 136],
    [33, 166, 133], [40, 174, 128], [49, 181, 123], [62, 188, 116], [76, 194, 108], [93, 201, 99],
    [110, 206, 88], [130, 211, 76], [150, 216, 63], [171, 220, 50], [192, 223, 36], [213, 226, 26],
    [234, 229, 26], [253, 231, 37],
];

/// Inferno by Stéfan van der Walt and Nathaniel Smith (2015), released under CC0.
#[rustfmt::skip]
const INFERNO: [[u8; 3]; ENTRIES] = [
    [0, 0, 4], [4, 3, 18], [11, 7, 36], [21, 11, 55], [33, 12, 74], [46, 10, 90], [60, 9, 101], [74, 12, 107],
    [87, 16, 109], [99, 20, 110], [112, 25, 110], [125, 30, 109], [137, 34, 106], [150, 39, 102],
    [163, 43, 97], [175, 49, 92], [187, 55, 85], [198, 62, 77], [209, 70, 68], [219, 79, 59], [227, 89, 50],
    [235, 101, 40], [241, 113, 30], [246, 127, 20], [249, 141, 10], [251, 156, 6], [252, 171, 15],
    [251, 186, 31], [249, 202, 50], [245, 217, 73], [242, 232, 101], [243, 245, 134], [252, 255, 164],
];

/// Vik by Fabio Crameri, Scientific Colour Maps 8, doi:10.5281/zenodo.1243862, under the MIT licence.
#[rustfmt::skip]
const VIK: [[u8; 3]; ENTRIES] = [
    [0, 18, 97], [2, 31, 105], [2, 43, 113], [2, 55, 121], [3, 68, 129], [4, 80, 137], [12, 94, 146],
    [27, 109, 155], [47, 124, 166], [71, 141, 177], [96, 157, 188], [121, 173, 199], [146, 189, 210],
    [172, 204, 220], [197, 219, 229], [220, 229, 233], [236, 229, 225], [238, 218, 207], [233, 203, 185],
    [226, 187, 164], [220, 171, 143], [213, 156, 123], [207, 142, 104], [201, 127, 85], [195, 114, 67],
    [188, 99, 49], [179, 83, 31], [165, 64, 14], [147, 46, 6], [131, 33, 6], [116, 21, 6], [102, 10, 7],
    [89, 0, 8],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the CIE lightness L* of a display-encoded colour (IEC 61966-2-1 and CIE 15).
    fn lightness(rgb: [f32; 3]) -> f32 {
        let linear = rgb.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        let y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        116.0 * if y > 0.008856 { y.cbrt() } else { 7.787 * y + 16.0 / 116.0 } - 16.0
    }

    #[test]
    fn sequential_maps_grow_steadily_in_lightness() {
        for map in [ColorMap::Viridis, ColorMap::Inferno, ColorMap::Grey] {
            let total = lightness(map.at(1.0)) - lightness(map.at(0.0));
            for i in 0..16 {
                let step = lightness(map.at((i + 1) as f32 / 16.0)) - lightness(map.at(i as f32 / 16.0));
                let share = step / total * 16.0;
                // The authors equalized steps in CAM02-UCS, from which CIE lightness departs most near black.
                assert!((0.45..1.55).contains(&share), "{map:?} at {i}: {share} of an even step");
            }
        }
    }

    #[test]
    fn the_diverging_map_is_lightest_in_the_middle_and_even_on_both_sides() {
        let middle = lightness(ColorMap::Vik.at(0.5));
        for i in 0..10 {
            let away = i as f32 / 20.0;
            let (below, above) = (lightness(ColorMap::Vik.at(away)), lightness(ColorMap::Vik.at(1.0 - away)));
            assert!(below < middle && above < middle);
            assert!((below - above).abs() < 10.0, "{away}: {below} and {above}");
        }
    }

    #[test]
    fn values_past_the_ends_have_the_colours_of_the_ends() {
        assert_eq!(ColorMap::Viridis.at(-3.0), ColorMap::Viridis.at(0.0));
        assert_eq!(ColorMap::Viridis.at(7.0), [253.0 / 255.0, 231.0 / 255.0, 37.0 / 255.0]);
    }
}
