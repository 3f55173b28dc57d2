//! Maps: ESRI ASCII grids, GeoTIFFs, PNGs, and the projections beside them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use frazil_io::{read_geotiff, write_ascii_grid, write_geotiff};
use frazil_scene::{Scene, Terrain};

use super::scene::exercise;
use crate::mutate::Kind;
use crate::target::{Input, Target, Verdict, must_equal, refused};

pub(super) const TARGETS: &[Target] = &[
    Target {
        prepare: |folder| prepare(folder, "map.asc"),
        ..Target::new("ascii_grid", "map.asc", Kind::Text, grids, check)
    },
    Target {
        prepare: |folder| prepare(folder, "map.tif"),
        ..Target::new("geotiff", "map.tif", Kind::Binary, tiffs, check)
    },
    Target {
        prepare: |folder| prepare(folder, "map.png"),
        ..Target::new("png_heights", "map.png", Kind::Binary, pngs, check)
    },
    Target { prepare: prepare_grid, ..Target::new("projection", "map.prj", Kind::Text, projections, check) },
    Target {
        prepare: prepare_raster,
        ..Target::new("flow_raster", "flow.tif", Kind::Binary, tiffs, check_raster)
    },
];

const SCENE: &str = include_str!("../../scenes/map.toml");
/// Heights from west to east and from south to north of all maps here, 2 m apart.
const N: usize = 11;

fn heights() -> Vec<f64> {
    (0..N * N).map(|idx| (idx % N) as f64 * 0.25 + ((idx / N) as f64 * 0.7).sin()).collect()
}

fn terrain() -> Option<Terrain> {
    Terrain::new(N, N, 2.0, [1e5, 2e5], heights()).ok()
}

fn prepare(folder: &Path, file: &str) -> io::Result<()> {
    let more = if file.ends_with("png") { "\ncell_m = 2.0\nheight_range_m = [0.0, 5.0]" } else { "" };
    let file = format!("file = \"{file}\"{more}");
    fs::write(folder.join("scene.toml"), SCENE.replace("file = \"map.asc\"", &file))
}

fn prepare_grid(folder: &Path) -> io::Result<()> {
    prepare(folder, "map.asc")?;
    fs::write(folder.join("map.asc"), &grids()[0])
}

fn prepare_raster(_: &Path) -> io::Result<()> {
    Ok(())
}

fn grids() -> Vec<Vec<u8>> {
    let mut values = String::new();
    for row in heights().chunks(N).rev() {
        for value in row {
            let _ = write!(values, "{value:.3} ");
        }
        values.push('\n');
    }
    let head = format!("ncols {N}\nnrows {N}\nxllcorner 100000\nyllcorner 200000\ncellsize 2\n");
    let centred =
        format!("NCOLS {N}\nNROWS {N}\nXLLCENTER 1e5\nYLLCENTER 2e5\nCELLSIZE 2.0\nNODATA_value -1\n");
    let unknown = values.replacen("0.000", "-1", 2);
    [format!("{head}NODATA_value -9999\n{values}"), format!("{head}{values}"), format!("{centred}{unknown}")]
        .map(String::into_bytes)
        .to_vec()
}

fn tiffs() -> Vec<Vec<u8>> {
    let file = |terrain: &Terrain, values: &[f32]| -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().ok()?;
        let path = folder.path().join("seed.tif");
        write_geotiff(&path, terrain, values).ok()?;
        fs::read(&path).ok()
    };
    let Some(terrain) = terrain() else { return Vec::new() };
    let values = terrain.heights_m();
    let mut unknown = values.clone();
    unknown[0] = f32::NAN;
    let projection = frazil_scene::MapProjection::new(projection().to_owned());
    let projected = terrain.clone().projected(Some(projection));
    [file(&terrain, &values), file(&projected, &unknown)].into_iter().flatten().collect()
}

fn pngs() -> Vec<Vec<u8>> {
    let pixels: Vec<u8> = heights().iter().flat_map(|h| ((h.abs() * 9000.0) as u16).to_be_bytes()).collect();
    let file = || -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, N as u32, N as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Sixteen);
        encoder.write_header().ok()?.write_image_data(&pixels).ok()?;
        Some(bytes)
    };
    file().into_iter().collect()
}

/// WKT of a projection in metres.
fn projection() -> &'static str {
    "PROJCS[\"MGI / Austria \
     Lambert\",GEOGCS[\"MGI\",DATUM[\"D_MGI\",SPHEROID[\"Bessel_1841\",6377397.155,299.15]],\
     PRIMEM[\"Greenwich\",0],UNIT[\"Degree\",0.0174532925199433]],PROJECTION[\"Lambert_Conformal_Conic\"],\
     PARAMETER[\"false_easting\",400000],UNIT[\"Meter\",1],AUTHORITY[\"EPSG\",\"31287\"]]"
}

fn projections() -> Vec<Vec<u8>> {
    [projection(), "EPSG:31287"].map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Loads the scene that names the file; what was loaded is written and read back.
fn check(input: &Input) -> Verdict {
    let scene = match Scene::load(input.folder.join("scene.toml"), &[]) {
        Ok(scene) => scene,
        Err(error) => {
            // An error of the scene against the map, such as a domain beyond it, names the scene's key.
            let message = error.to_string();
            let is_of_scene = message.contains("scene.toml:") && message.contains(": found ");
            return refused(input, &message).or_else(|problem| {
                if is_of_scene { crate::target::check_message(&message, "terrain") } else { Err(problem) }
            });
        }
    };
    let Some(terrain) = scene.terrain.as_ref().and_then(|source| source.terrain()) else {
        return Err("a scene without its terrain".to_owned());
    };
    let values = terrain.heights_m();
    if values.len() <= 1 << 12 {
        write_and_read(input.folder, terrain, &values)?;
    }
    exercise(&scene)
}

fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { (x + 0.0).to_bits() }).collect()
}

fn write_and_read(folder: &Path, terrain: &Terrain, values: &[f32]) -> Result<(), String> {
    let (grid, tiff) = (folder.join("again.asc"), folder.join("again.tif"));
    let text = |error: frazil_io::Error| error.to_string();
    write_ascii_grid(&grid, terrain, values).map_err(text)?;
    let again = fs::read_to_string(&grid).map_err(|error| error.to_string())?;
    let again = Terrain::from_ascii_grid(&again)?.above(0.0).heights_m();
    must_equal("an ASCII grid", &bits(values.iter().copied()), &bits(again))?;
    write_geotiff(&tiff, terrain, values).map_err(text)?;
    let again = read_geotiff(&tiff, terrain).map_err(text)?;
    must_equal("a GeoTIFF", &bits(values.iter().copied()), &bits(again))
}

/// Reads a raster of a flow over a terrain that is known.
fn check_raster(input: &Input) -> Verdict {
    let Some(terrain) = terrain() else { return Err("no terrain".to_owned()) };
    match read_geotiff(&input.path, &terrain) {
        Ok(values) if values.len() == N * N => Ok(crate::target::Outcome::Accepted),
        Ok(values) => Err(format!("{} values for {} cells", values.len(), N * N)),
        Err(error) => refused(input, &error.to_string()),
    }
}
