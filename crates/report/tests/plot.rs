//! Plots are drawn, fill their frame, and reject invalid input.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use frazil_io::{Metric, MetricsTable, MetricsWriter};
use frazil_report::reference_data::{KOSHIZUKA_OKA_1996_FRONT, ritter_front};
use frazil_report::{Mark, Panel, Scale, Series, plot_metrics, plot_panels, plot_panels_scaled, plot_series};

fn metrics(dir: &Path) -> MetricsTable {
    let path = dir.join("metrics.csv");
    let names = [
        ("time", "s"),
        ("kinetic_energy", "J"),
        ("potential_energy", "J"),
        ("total_energy", "J"),
        ("n_particles", ""),
    ];
    let mut writer =
        MetricsWriter::create(&path, &names.map(|(name, unit)| Metric::new(name, unit))).unwrap();
    for i in 0..200 {
        let t = f64::from(i) * 0.01;
        let kinetic = 3.0 * (t * 4.0).sin().powi(2) * (-t).exp();
        let potential = 7.5 - 2.0 * kinetic;
        writer.row(&[t, kinetic, potential, kinetic + potential, 13_824.0]).unwrap();
    }
    MetricsTable::read(&path).unwrap()
}

fn dam_break() -> Vec<Series> {
    let line = |mark, label: &str, f: &dyn Fn(f64) -> f64| {
        Series::new(label, mark, (0..60).map(|i| f64::from(i) * 0.055).map(|t| (t, f(t))).collect())
    };
    vec![
        line(Mark::Line, "frazil, dam_break", &|t| 1.0 + 0.35 * t.powi(2) / (1.0 + 0.13 * t * t)),
        Series::new("measured, Koshizuka & Oka 1996", Mark::Points, KOSHIZUKA_OKA_1996_FRONT.to_vec()),
        line(Mark::Dashes, "inviscid limit, Ritter", &|t| ritter_front(t.min(1.6), 2.0)),
    ]
}

fn decode(path: &Path) -> (u32, u32, Vec<u8>) {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// Returns true if a pixel close to the colour is somewhere in the image.
fn has_color(pixels: &[u8], color: [u8; 3]) -> bool {
    pixels.chunks(3).any(|pixel| pixel.iter().zip(color).all(|(a, b)| a.abs_diff(b) < 6))
}

/// Returns true if a border of three pixels all around is blank, so that no text was cut.
fn border_is_blank(width: u32, height: u32, pixels: &[u8]) -> bool {
    (0..width * height)
        .filter(|i| i % width < 3 || i % width >= width - 3 || i / width < 3 || i / width >= height - 3)
        .all(|i| pixels[i as usize * 3..][..3] == [255; 3])
}

#[test]
fn metrics_become_a_picture_with_every_curve_and_nothing_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.png");
    plot_metrics(&metrics(dir.path()), &path).unwrap();
    let (width, height, pixels) = decode(&path);
    // The number of particles does not change.
    assert_eq!((width, height), (960, 484));
    assert!(border_is_blank(width, height, &pixels));
    for color in [[0, 114, 178], [213, 94, 0], [0, 158, 115]] {
        assert!(has_color(&pixels, color), "no curve of colour {color:?}");
    }
}

#[test]
fn series_become_a_picture_and_a_drawing_that_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let (png, svg) = (dir.path().join("front.png"), dir.path().join("front.svg"));
    for path in [&png, &svg] {
        plot_series("Surge front of a dam break", "t √(2g/L)", "z/L", &dam_break(), path).unwrap();
    }
    let (width, height, pixels) = decode(&png);
    assert_eq!((width, height), (960, 484));
    assert!(border_is_blank(width, height, &pixels));
    assert!(has_color(&pixels, [213, 94, 0]), "no measured points");

    let text = fs::read_to_string(&svg).unwrap();
    for part in ["Surge front of a dam break", "t √(2g/L)", "z/L", "Koshizuka &amp; Oka 1996", "</svg>"] {
        assert!(text.contains(part), "{part} is not in the drawing");
    }
    let circles = text.matches("<circle").count();
    assert_eq!(circles, KOSHIZUKA_OKA_1996_FRONT.len() + 1, "one for each point and one in the legend");
}

#[test]
fn panels_stand_one_below_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("panels.png");
    let curves = dam_break();
    let panel = |series| Panel { x_label: "step [1]", y_label: "particles [1]", series };
    plot_panels("two", &[panel(&curves[..1]), panel(&curves[1..])], &path).unwrap();
    let (width, height, pixels) = decode(&path);
    assert_eq!((width, height), (960, 924));
    assert!(border_is_blank(width, height, &pixels));
    let none = plot_panels("none", &[], &path).unwrap_err().to_string();
    assert!(none.contains("at least one panel"), "{none}");
}

#[test]
fn a_logarithmic_axis_has_powers_of_ten_and_no_place_for_zero() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.svg");
    let points = vec![(1.0, 1e-6), (10.0, 0.0), (100.0, 1e-2), (1e4, 1e2)];
    let series = [Series::new("growth", Mark::Points, points)];
    let panel = Panel { x_label: "step [1]", y_label: "strain [1]", series: &series };
    plot_panels_scaled("log", &[panel], [Scale::Logarithmic; 2], &path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("<circle").count(), 3 + 1, "one for each point above 0 and one in the legend");
    assert!(text.contains("1e-4") && text.contains("31.6") && text.contains("100"), "{text}");
    let zero = [Series::new("nothing", Mark::Line, vec![(1.0, 0.0), (2.0, -1.0)])];
    let panel = Panel { series: &zero, ..panel };
    let none = plot_panels_scaled("log", &[panel], [Scale::Logarithmic; 2], &path).unwrap_err().to_string();
    assert!(none.contains("no finite point"), "{none}");
}

/// Heat in J is not a mechanical energy, which it would dwarf.
#[test]
fn heat_is_left_out_of_the_plot_of_energies() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.csv");
    fs::write(&path, "time [s],kinetic_energy [J],sensible_heat [J]\n0,1,1e9\n1,2,2e9\n").unwrap();
    let svg = dir.path().join("energy.svg");
    plot_metrics(&MetricsTable::read(&path).unwrap(), &svg).unwrap();
    let text = fs::read_to_string(&svg).unwrap();
    assert!(text.contains("kinetic energy") && !text.contains("sensible heat"));
}

/// Returns the drawing of the metrics of a table, by its text.
fn drawing_of(table: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let (path, svg) = (dir.path().join("metrics.csv"), dir.path().join("energy.svg"));
    fs::write(&path, table).unwrap();
    plot_metrics(&MetricsTable::read(&path).unwrap(), &svg).unwrap();
    fs::read_to_string(&svg).unwrap()
}

#[test]
fn what_is_absent_or_constant_is_left_out() {
    let head = "time [s],kinetic_energy [J],bond_energy [J],n_snow,n_outside\n";
    let text = drawing_of(&format!("{head}0,1,0,9,0\n1,2,0,8,0\n"));
    for (part, is_there) in [("kinetic", true), ("bond", false), ("snow", true), ("outside", false)] {
        assert_eq!(text.contains(part), is_there, "{part}");
    }
    let constant = drawing_of(&format!("{head}0,1,0,9,0\n1,2,0,9,0\n"));
    assert!(!constant.contains("snow") && !constant.contains("count"));
    // A particle that gets lost is a change.
    assert!(drawing_of(&format!("{head}0,1,0,9,0\n1,2,0,9,1\n")).contains("outside"));
    // If all energies are 0, they are what there is.
    assert!(drawing_of(&format!("{head}0,0,0,9,0\n1,0,0,9,0\n")).contains("bond"));
}

#[test]
fn the_unit_of_energy_has_a_prefix_by_the_largest() {
    for (largest, label, tick) in [
        ("2.5e6", "energy [MJ]", ">2.5<"),
        ("-4.2e3", "energy [kJ]", ">-4<"),
        ("12", "energy [J]", ">10<"),
        ("2.5e-4", "energy [µJ]", ">200<"),
        ("3e15", "energy [GJ]", "3000000<"),
    ] {
        let text = drawing_of(&format!("time [s],kinetic_energy [J]\n0,0\n1,{largest}\n"));
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\n", "");
        assert!(text.contains(label), "{largest}: no {label}");
        assert!(text.replace("> ", ">").replace(" <", "<").contains(tick), "{largest}: no tick {tick}");
    }
}

/// An energy that is constant but for rounding is drawn as a straight line.
#[test]
fn rounding_does_not_fill_the_axis() {
    let spread = |values: [&str; 3]| {
        let text = drawing_of(&format!(
            "time [s],total_energy [J]\n0,{}\n1,{}\n2,{}\n",
            values[0], values[1], values[2]
        ));
        // The first one is the sample in the legend.
        let points = text.split("<polyline").filter(|line| line.contains("#0072B2")).last().unwrap();
        let points = points.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let y =
            points.split_whitespace().map(|point| point.split(',').nth(1).unwrap().parse::<f64>().unwrap());
        let (lo, hi) = y.fold((f64::INFINITY, 0.0_f64), |(lo, hi), y| (lo.min(y), hi.max(y)));
        hi - lo
    };
    assert!(spread(["7.5", "7.500003", "7.5"]) <= 1.0);
    assert!(spread(["7.5", "7.51", "7.5"]) > 200.0);
}

#[test]
fn holes_constants_and_single_points_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("odd.png");
    for points in [
        vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, f64::INFINITY)],
        vec![(1.0, 0.0)],
        vec![(0.0, 1e30), (1e-30, 1e30)],
        vec![(0.0, -5.0), (1e9, -5.0)],
    ] {
        for mark in [Mark::Line, Mark::Dashes, Mark::Points] {
            plot_series("odd", "x", "y", &[Series::new("s", mark, points.clone())], &path).unwrap();
        }
    }
}

#[test]
fn unsuitable_plots_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = |name: &str, series: &[Series]| {
        plot_series("title", "x", "y", series, &dir.path().join(name)).unwrap_err().to_string()
    };
    assert!(error("front.bmp", &dam_break()).contains("expected the extension png or svg, found \"bmp\""));
    let empty = error("front.png", &[Series::new("nothing", Mark::Line, vec![(f64::NAN, 1.0)])]);
    assert!(empty.contains("front.png") && empty.contains("no finite point"), "{empty}");

    let path = dir.path().join("metrics.csv");
    fs::write(&path, "time [s],temperature [°C]\n0,1\n").unwrap();
    let table = MetricsTable::read(&path).unwrap();
    let neither = plot_metrics(&table, &dir.path().join("metrics.png")).unwrap_err().to_string();
    assert!(neither.contains("found neither"), "{neither}");
}
