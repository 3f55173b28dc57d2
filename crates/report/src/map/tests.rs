use super::*;
use crate::run_out::FlowSnow;
use crate::run_out::RunOut;
use frazil_io::FlowRasters;
use frazil_scene::{FlowQuantity, Polygon, Terrain};

/// Makes a slope to the east on a map, with a flow down its middle rows.
fn flow() -> (Terrain, FlowRasters, Vec<Polygon>) {
    let (n, cell_m) = ([81, 41], 5.0);
    let height = |idx: usize| {
        let (x, y) = ((idx % n[0]) as f64, (idx / n[0]) as f64);
        1800.0 - 2.5 * x + 0.05 * (y - 20.0).powi(2)
    };
    let heights = (0..n[0] * n[1]).map(height).collect();
    let terrain = Terrain::new(n[0], n[1], cell_m, [177_000.0, 376_000.0], heights).unwrap();
    let of = |value: &dyn Fn(f32) -> f32, outside: f32| -> Vec<f32> {
        (0..n[0] * n[1])
            .map(|idx| {
                let (column, row) = (idx % n[0], idx / n[0]);
                let is_flow = (17..=23).contains(&row) && (5..=60).contains(&column);
                if is_flow { value(column as f32) } else { outside }
            })
            .collect()
    };
    let rasters = FlowRasters {
        deposit_thickness_m: of(&|column| if column > 50.0 { 2.0 } else { 0.05 }, 0.0),
        peak_thickness_m: of(&|column| 2.0 - 0.01 * column, 0.0),
        peak_speed_m_s: of(&|column| 0.5 * column, 0.0),
        peak_pressure_kpa: of(&|column| 0.05 * column * column, 0.0),
        arrival_s: of(&|column| (column - 15.0).max(0.0), f32::NAN),
    };
    let ring = vec![[25.0, 85.0], [75.0, 85.0], [75.0, 115.0], [25.0, 115.0]];
    (terrain, rasters, vec![Polygon { rings: vec![ring] }])
}

/// Returns width, height and RGB pixels of a PNG.
fn pixels(path: &Path) -> (u32, u32, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info.width, info.height, bytes.as_chunks().0.to_vec())
}

#[test]
fn a_map_shows_relief_raster_release_and_outline() {
    let (terrain, rasters, releases) = flow();
    let snow = FlowSnow { mass_kg: 1e6, bulk_density_kg_m3: 270.0 };
    let run_out = RunOut::measure(&terrain, &rasters, snow, 60.0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for quantity in FlowQuantity::ALL {
        let map = FlowMap {
            name: "slope",
            terrain: &terrain,
            rasters: &rasters,
            quantity,
            releases: &releases,
            run_out: Some(&run_out),
        };
        let path = folder.path().join("map.png");
        plot_flow_map(&map, &path).unwrap();
        let (width, height, pixels) = pixels(&path);
        let window = map.window();
        let [map_width, map_height] = window.size_px();
        assert_eq!((width, height), (map_width + LEFT_PX + RIGHT_PX, map_height + TOP_PX + BOTTOM_PX));
        let near = |[x, y]: [f64; 2], reach: i64| {
            let [column, row] = on_map(&window, [x, y]).map(|px| px as i64);
            let pixels = &pixels;
            (-reach..=reach).flat_map(move |j| {
                (-reach..=reach).map(move |i| pixels[((row + j) * i64::from(width) + column + i) as usize])
            })
        };
        let is = |[r, g, b]: [u8; 3], pen: Pen| {
            let RGBColor(red, green, blue) = pen.colour;
            [r.abs_diff(red), g.abs_diff(green), b.abs_diff(blue)].iter().all(|d| *d < 60)
        };
        // The middle of the release's northern edge, and the outline half a cell north of the flow.
        assert!(near([50.0, 115.0], 3).any(|rgb| is(rgb, RELEASE)), "{quantity:?}");
        assert!(near([250.0, 119.5], 4).any(|rgb| is(rgb, AFFECTED)), "{quantity:?}");
        assert!(!near([250.0, 140.0], 4).any(|rgb| is(rgb, AFFECTED)), "{quantity:?}");
        // Relief is grey, the raster has the colour of its value.
        let grey = near([330.0, 100.0], 1).filter(|[r, g, b]| r.abs_diff(*b) < 40 && *g > 120).count();
        assert!(grey > 4, "{quantity:?}: {grey}");
        let value = f64::from(map.values()[18 * 81 + 57]);
        let expected = map.scale().colour(value);
        let alike = near([285.0, 91.0], 2)
            .filter(|rgb| (0..3).all(|i| f64::from(rgb[i].abs_diff(expected[i])) < 0.18 * 255.0 + 2.0))
            .count();
        assert!(alike > 5, "{quantity:?}: {alike} of {expected:?}");
    }
}

#[test]
fn a_terrain_without_a_flow_is_shown_whole() {
    let (terrain, mut rasters, _) = flow();
    for values in [&mut rasters.deposit_thickness_m, &mut rasters.peak_thickness_m] {
        values.fill(0.0);
    }
    rasters.arrival_s.fill(f32::NAN);
    let map = FlowMap {
        name: "slope",
        terrain: &terrain,
        rasters: &rasters,
        quantity: FlowQuantity::PeakThickness,
        releases: &[],
        run_out: None,
    };
    let window = map.window();
    assert_eq!((window.min_m, window.max_m), ([0.0; 2], [400.0, 200.0]));
    let folder = tempfile::tempdir().unwrap();
    plot_flow_map(&map, &folder.path().join("map.png")).unwrap();
}

#[test]
fn segments_are_cut_at_the_edges_of_the_section() {
    let window = Window { min_m: [0.0; 2], max_m: [10.0, 5.0], px_per_m: 1.0 };
    assert_eq!(clipped(&window, [[-5.0, 1.0], [15.0, 1.0]]), Some([[0.0, 1.0], [10.0, 1.0]]));
    assert_eq!(clipped(&window, [[2.0, 2.0], [2.0, 9.0]]), Some([[2.0, 2.0], [2.0, 5.0]]));
    assert_eq!(clipped(&window, [[2.0, 6.0], [8.0, 6.0]]), None);
    assert_eq!(clipped(&window, [[-3.0, 4.0], [3.0, 10.0]]), None);
    assert_eq!(clipped(&window, [[1.0, 1.0], [2.0, 2.0]]), Some([[1.0, 1.0], [2.0, 2.0]]));
}
