//! Perceived differences between images: FLIP (Andersson2020).

/// An image of display-encoded (sRGB) colours: packed RGBA8, red in the lowest byte, row by row.
#[derive(Clone, Copy, Debug)]
pub struct FlipImage<'a> {
    /// Width in pixels.
    pub width: usize,
    /// Pixels.
    pub pixels: &'a [u32],
}

/// Pixels per degree of the viewing angle: those of a 0.7 m wide display of 3840 pixels, 0.7 m away.
const PIXELS_PER_DEGREE: f64 = 67.020_64;
/// Contrast sensitivity of the channels Y, Cx and Cz: amplitude and width of two Gaussians each.
const SENSITIVITY: [[(f64, f64); 2]; 3] =
    [[(1.0, 0.0047), (0.0, 1e-5)], [(1.0, 0.0053), (0.0, 1e-5)], [(34.1, 0.04), (13.5, 0.025)]];
/// Exponent of colour differences, and the knee of their map to 0 … 1.
const COLOUR_EXPONENT: f64 = 0.7;
const KNEE: (f64, f64) = (0.4, 0.95);
/// Width of the detectors of features in degrees, and the exponent of differences of features.
const FEATURE_WIDTH_DEG: f64 = 0.082;
const FEATURE_EXPONENT: f64 = 0.5;
/// CIE XYZ of white, D65.
const WHITE: [f64; 3] = [0.950_428_545, 1.0, 1.088_900_371];

type Channel = Vec<f64>;

/// Returns the mean FLIP difference of two images of one size: 0 for equal ones, at most 1.
///
/// # Panics
/// The sizes differ.
pub fn mean_flip(reference: FlipImage<'_>, test: FlipImage<'_>) -> f64 {
    assert_eq!(
        (reference.width, reference.pixels.len()),
        (test.width, test.pixels.len()),
        "images differ in size"
    );
    let width = reference.width;
    let [a, b] = [reference, test].map(|image| opponent_channels(image.pixels));
    let [seen_a, seen_b] = [&a, &b].map(|channels| seen(channels, width));
    let largest = difference(hunt_lab([0.0, 1.0, 0.0]), hunt_lab([0.0, 0.0, 1.0])).powf(COLOUR_EXPONENT);
    let [(edges_a, points_a), (edges_b, points_b)] = [&a, &b].map(|channels| features(&channels[0], width));
    let flip = |i: usize| {
        let colour = difference(seen_a[i], seen_b[i]).powf(COLOUR_EXPONENT);
        let (share, top) = KNEE;
        let knee = share * largest;
        let colour = if colour < knee {
            top / knee * colour
        } else {
            top + (colour - knee) / (largest - knee) * (1.0 - top)
        };
        let feature = (edges_a[i] - edges_b[i]).abs().max((points_a[i] - points_b[i]).abs());
        let feature = (feature / 2f64.sqrt()).powf(FEATURE_EXPONENT);
        colour.powf(1.0 - feature)
    };
    let n = reference.pixels.len().max(1);
    (0..reference.pixels.len()).map(flip).sum::<f64>() / n as f64
}

fn xyz([r, g, b]: [f64; 3]) -> [f64; 3] {
    [
        0.412_391 * r + 0.357_584 * g + 0.180_481 * b,
        0.212_639 * r + 0.715_169 * g + 0.072_192 * b,
        0.019_331 * r + 0.119_195 * g + 0.950_532 * b,
    ]
}

fn rgb([x, y, z]: [f64; 3]) -> [f64; 3] {
    [
        3.240_970 * x - 1.537_383 * y - 0.498_611 * z,
        -0.969_244 * x + 1.875_968 * y + 0.041_555 * z,
        0.055_630 * x - 0.203_977 * y + 1.056_972 * z,
    ]
}

/// Returns the channels Y, Cx and Cz of an image.
fn opponent_channels(pixels: &[u32]) -> [Channel; 3] {
    let linear = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let mut channels: [Channel; 3] = Default::default();
    for pixel in pixels {
        let [r, g, b, _] = pixel.to_le_bytes();
        let [x, y, z] = xyz([r, g, b].map(linear));
        let [x, y, z] = [x / WHITE[0], y / WHITE[1], z / WHITE[2]];
        channels[0].push(116.0 * y - 16.0);
        channels[1].push(500.0 * (x - y));
        channels[2].push(200.0 * (y - z));
    }
    channels
}

/// Convolves rows with one kernel and columns with another; both have an odd number of weights. The border is
/// repeated.
fn convolve(channel: &[f64], width: usize, along_rows: &[f64], along_columns: &[f64]) -> Channel {
    let height = channel.len() / width.max(1);
    let clamped = |at: i64, n: usize| at.clamp(0, n as i64 - 1) as usize;
    let pass = |from: &[f64], weights: &[f64], is_row: bool| -> Channel {
        let half = (weights.len() / 2) as i64;
        let at = |i: usize| {
            let (x, y) = ((i % width) as i64, (i / width) as i64);
            let tap = |(k, weight): (usize, &f64)| {
                let by = k as i64 - half;
                let there = match is_row {
                    true => y as usize * width + clamped(x + by, width),
                    false => clamped(y + by, height) * width + x as usize,
                };
                weight * from[there]
            };
            weights.iter().enumerate().map(tap).sum()
        };
        (0..from.len()).map(at).collect()
    };
    pass(&pass(channel, along_rows, true), along_columns, false)
}

/// Returns colours as seen from afar, in CIELAB with Hunt's adjustment.
fn seen(channels: &[Channel; 3], width: usize) -> Vec<[f64; 3]> {
    let pi = std::f64::consts::PI;
    let widest = SENSITIVITY.iter().flatten().map(|(_, b)| *b).fold(0.0, f64::max);
    let half = (3.0 * (widest / (2.0 * pi * pi)).sqrt() * PIXELS_PER_DEGREE).ceil() as i64;
    let filtered = [0, 1, 2].map(|k| {
        let mut sum = vec![0.0; channels[k].len()];
        let mut total = 0.0;
        for (a, b) in SENSITIVITY[k].into_iter().filter(|(a, _)| *a > 0.0) {
            let weight = |at: i64| {
                let x = at as f64 / PIXELS_PER_DEGREE;
                (-pi * pi * x * x / b).exp()
            };
            let weights: Vec<f64> = (-half..=half).map(weight).collect();
            let amplitude = a * (pi / b).sqrt();
            total += amplitude * weights.iter().sum::<f64>().powi(2);
            let part = convolve(&channels[k], width, &weights, &weights);
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += amplitude * part);
        }
        sum.iter_mut().for_each(|sum| *sum /= total);
        sum
    });
    let lab = |i: usize| {
        let [y, cx, cz] = [0, 1, 2].map(|k| filtered[k][i]);
        let y = (y + 16.0) / 116.0;
        let colour = rgb([(y + cx / 500.0) * WHITE[0], y * WHITE[1], (y - cz / 200.0) * WHITE[2]]);
        hunt_lab(colour.map(|c| c.clamp(0.0, 1.0)))
    };
    (0..channels[0].len()).map(lab).collect()
}

/// Returns a linear colour in CIELAB, with chroma in proportion to lightness.
fn hunt_lab(linear: [f64; 3]) -> [f64; 3] {
    let delta: f64 = 6.0 / 29.0;
    let f = |t: f64| if t > delta.powi(3) { t.cbrt() } else { t / (3.0 * delta * delta) + 4.0 / 29.0 };
    let [x, y, z] = xyz(linear);
    let [x, y, z] = [f(x / WHITE[0]), f(y / WHITE[1]), f(z / WHITE[2])];
    let lightness = 116.0 * y - 16.0;
    let hunt = 0.01 * lightness;
    [lightness, hunt * 500.0 * (x - y), hunt * 200.0 * (y - z)]
}

/// Returns the HyAB distance of two colours.
fn difference(a: [f64; 3], b: [f64; 3]) -> f64 {
    (a[0] - b[0]).abs() + (a[1] - b[1]).hypot(a[2] - b[2])
}

/// Returns the strengths of edges and of points in the achromatic channel.
fn features(y: &[f64], width: usize) -> (Channel, Channel) {
    let y: Channel = y.iter().map(|y| (y + 16.0) / 116.0).collect();
    let deviation = 0.5 * FEATURE_WIDTH_DEG * PIXELS_PER_DEGREE;
    let half = (3.0 * deviation).ceil() as i64;
    let gauss = |at: i64| (-0.5 * (at as f64 / deviation).powi(2)).exp();
    let smooth: Vec<f64> = (-half..=half).map(gauss).collect();
    let edge: Vec<f64> = (-half..=half).map(|at| -(at as f64) * gauss(at)).collect();
    let curve = |at: i64| ((at as f64 / deviation).powi(2) - 1.0) * gauss(at);
    let point: Vec<f64> = (-half..=half).map(curve).collect();
    let strength = |kernel: &[f64]| -> Channel {
        // Positive weights of the two-dimensional kernel add up to 1, negative ones to −1.
        let of_smooth: f64 = smooth.iter().sum();
        let positive = kernel.iter().filter(|w| **w > 0.0).sum::<f64>() * of_smooth;
        let negative = -kernel.iter().filter(|w| **w < 0.0).sum::<f64>() * of_smooth;
        let kernel: Vec<f64> =
            kernel.iter().map(|w| if *w > 0.0 { w / positive } else { w / negative }).collect();
        let across = convolve(&y, width, &kernel, &smooth);
        let down = convolve(&y, width, &smooth, &kernel);
        across.iter().zip(&down).map(|(x, y)| x.hypot(*y)).collect()
    };
    (strength(&edge), strength(&point))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(color: [u8; 3]) -> Vec<u32> {
        let [r, g, b] = color;
        vec![u32::from_le_bytes([r, g, b, 255]); 40 * 30]
    }

    fn flip(a: &[u32], b: &[u32]) -> f64 {
        let [a, b] = [a, b].map(|pixels| FlipImage { width: 40, pixels });
        mean_flip(a, b)
    }

    #[test]
    fn equal_images_do_not_differ_and_opposite_ones_differ_most() {
        let [green, blue] = [constant([0, 255, 0]), constant([0, 0, 255])];
        assert_eq!(flip(&green, &green), 0.0);
        // The largest difference is defined as that between green and blue.
        assert!((flip(&green, &blue) - 1.0).abs() < 1e-6, "{}", flip(&green, &blue));
        assert_eq!(flip(&green, &blue), flip(&blue, &green));
    }

    #[test]
    fn differences_grow_with_contrast_and_with_extent() {
        let grey = constant([128; 3]);
        let near = flip(&grey, &constant([136; 3]));
        let far = flip(&grey, &constant([180; 3]));
        assert!(0.01 < near && near < 0.5 * far, "{near} {far}");
        let spots = |n: usize| {
            let mut image = grey.clone();
            (0..n).for_each(|k| image[(5 + 4 * (k / 5)) * 40 + 6 + 5 * (k % 5)] = u32::MAX);
            flip(&grey, &image)
        };
        assert!(0.0 < spots(1) && spots(1) < 0.5 * spots(20), "{} {}", spots(1), spots(20));
    }

    #[test]
    fn a_moved_edge_differs_where_it_moved() {
        let step = |at: usize| -> Vec<u32> {
            (0..40 * 30).map(|i| if i % 40 < at { 0xff00_0000 } else { u32::MAX }).collect()
        };
        let (one, four) = (flip(&step(20), &step(21)), flip(&step(20), &step(24)));
        assert!(0.02 < one && one < four && four < 0.4, "{one} {four}");
    }
}
