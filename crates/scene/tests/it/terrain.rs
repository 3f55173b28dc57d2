//! Tests of terrains and release areas from files.

use std::fs;
use std::path::{Path, PathBuf};

use frazil_scene::{Scene, SceneError};

use crate::dem::grains;

/// A slope of 20 m by 10 m of known heights, at easting 1000 m and northing 2000 m.
const GRID: &str = "ncols 5\nnrows 3\nxllcorner 997.5\nyllcorner 1997.5\ncellsize 5\nNODATA_value -9999\n";

fn heights(replacing: &[(usize, &str)]) -> String {
    let mut words: Vec<String> =
        (0..15).map(|idx| format!("{}", 1500.5 + 3.0 * (4 - idx % 5) as f64)).collect();
    for (idx, word) in replacing {
        words[*idx] = word.to_string();
    }
    let rows: Vec<String> = words.chunks(5).map(|row| row.join(" ")).collect();
    format!("{GRID}{}\n", rows.join("\n"))
}

const LAMBERT: &str = "PROJCS[\"MGI / Austria Lambert\",GEOGCS[\"MGI\",DATUM[\"MGI\",SPHEROID[\"Bessel \
     1841\",6377397.155,299.1528128]]],PROJECTION[\"Lambert_Conformal_Conic_2SP\"],PARAMETER[\"false_easting\",400000],UNIT[\"metre\",1],AUTHORITY[\"EPSG\",\"31287\"]]";

struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new(terrain: &str) -> Self {
        let files = Self { directory: tempfile::tempdir().unwrap() };
        files.write("slope.asc", terrain);
        files
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Loads the scene on the slope, with a release area of its own or from a file.
    fn scene(&self, terrain: &str, release: &str) -> Result<Scene, SceneError> {
        let terrain =
            format!("terrain={{{}}}", terrain.replace("@", &format!("{}/", self.directory.path().display())));
        let release = format!(
            "dem.releases=[{{{}}}]",
            release.replace("@", &format!("{}/", self.directory.path().display()))
        );
        grains(&[
            "particles=[]",
            "domain={min_m=[0,0,-1],max_m=[20,10,20]}",
            "dem.radius_m=0.1",
            "dem.normal_stiffness_n_m=1e6",
            &terrain,
            &release,
        ])
    }
}

const OWN: &str = "polygon_m=[[2,2],[6,2],[6,6]],thickness_m=0.6";
const FILE: &str = "file='@slope.asc'";

fn geojson(crs: &str, corners: &str, properties: &str) -> String {
    format!(
        r#"{{"type":"FeatureCollection",{crs}"features":[{{"type":"Feature","properties":{properties},"geometry":{{"type":"Polygon","coordinates":[[{corners}]]}}}}]}}"#
    )
}

const ON_MAP: &str = "[1002,2002],[1006,2002],[1006,2006],[1002,2002]";

#[test]
fn the_scene_is_placed_on_the_map() {
    let files = Files::new(&heights(&[]));
    files.write("release.geojson", geojson("", ON_MAP, r#"{"thickness":0.6}"#));
    let from_file = files.scene(FILE, "polygons='@release.geojson'").unwrap_or_else(|e| panic!("{e}"));
    let terrain = from_file.ground().unwrap();
    assert_eq!((terrain.west_m(), terrain.south_m(), terrain.base_m()), (1000.0, 2000.0, 1500.0));
    assert_eq!(terrain.height_m([20.0, 10.0]), Some(0.5));
    // The area given in the scene's coordinates yields the same snow.
    let own = files.scene(FILE, OWN).unwrap();
    assert_eq!(own.sample().unwrap(), from_file.sample().unwrap());
    assert!(own.sample().unwrap().len() > 500);
}

#[test]
fn a_map_that_has_changed_is_refused() {
    let files = Files::new(&heights(&[]));
    let scene = files.scene(FILE, OWN).unwrap();
    let json = serde_json::to_string(&scene).unwrap();
    assert_eq!(Scene::from_json(&json, "run.json").unwrap(), scene);
    files.write("slope.asc", heights(&[(3, "1504")]));
    let error = Scene::from_json(&json, "run.json").unwrap_err().to_string();
    assert!(
        error.contains("slope.asc: heights of checksum") && error.contains("which the scene was made with"),
        "{error}"
    );
    // A recording is played without its map.
    fs::remove_file(files.path("slope.asc")).unwrap();
    let alone = Scene::from_json(&json, "run.json").unwrap();
    assert!(alone.ground().is_none());
    let error = alone.sample().unwrap_err().to_string();
    assert!(
        error.contains("dem.releases.0: found a file that was not there when the scene was read"),
        "{error}"
    );
}

#[test]
fn holes_are_refused_or_filled() {
    let files = Files::new(&heights(&[(7, "-9999")]));
    let error = files.scene(FILE, OWN).unwrap_err().to_string();
    assert!(
        error.contains(
            "slope.asc: 1 unknown heights that known ones enclose, in 1 holes; the largest, of 1 \
                        heights, begins at row 2 from the south, column 3 from the west, easting 1010.0 m \
                        and northing 2005.0 m"
        ) && error.ends_with("expected a map without holes, or terrain.fill_holes = true"),
        "{error}"
    );
    let filled = files.scene("file='@slope.asc',fill_holes=true", OWN).unwrap();
    assert!((filled.ground().unwrap().height_m([10.0, 5.0]).unwrap() - 6.5).abs() < 1e-9);
    // An unknown height at the edge is outside the map: an area there is off it.
    let files = Files::new(&heights(&[(10, "-9999")]));
    let error = files.scene(FILE, OWN).unwrap_err().to_string();
    assert!(error.contains("off the map, the first at easting 1002 m and northing 2002 m"), "{error}");
}

#[test]
fn files_that_are_no_maps_are_named_with_the_line() {
    let files = Files::new(&heights(&[(7, "x")]));
    let message = |files: &Files, terrain: &str| files.scene(terrain, OWN).unwrap_err().to_string();
    assert!(
        message(&files, FILE)
            .contains("slope.asc: line 8: text among the heights, expected an ESRI ASCII grid")
    );
    files.write("slope.asc", heights(&[]).replace("cellsize", "cell"));
    assert!(
        message(&files, FILE).contains("slope.asc: line 5: found another word in the head, expected ncols")
    );
    assert!(message(&files, "file='@none.asc'").contains("none.asc: No such file"));
    files.write("slope.asc", heights(&[(7, "-3.4e38")]));
    let deep = message(&files, FILE);
    assert!(deep.contains("slope.asc: a height of -3.4e38 m") && deep.contains("NODATA_value"), "{deep}");
    files.write("slope.tif", "no tiff");
    assert!(message(&files, "file='@slope.tif'").contains("slope.tif: no valid TIFF"));
    files.write("slope.xyz", "1 2 3");
    assert!(message(&files, "file='@slope.xyz'").contains("a name that does not end in .asc, .tif or .png"));
    files.write("slope.png", "no png");
    let png = message(&files, "file='@slope.png'");
    assert!(png.contains("terrain.cell_m: found nothing, expected it with a PNG"), "{png}");
    let png = message(&files, "file='@slope.png',cell_m=5,height_range_m=[0,100]");
    assert!(png.contains("slope.png: no valid PNG"), "{png}");
    let asc = message(&files, "file='@slope.asc',cell_m=5");
    assert!(asc.contains("expected it with a PNG only, which does not contain it"), "{asc}");
    let both = message(&files, "file='@slope.xyz',generated={bowl={size_m=10,cell_m=1,depth_m=1}}");
    assert!(
        both.contains("terrain.generated: found it together with file, expected one of the two"),
        "{both}"
    );
    files.write("slope.asc", heights(&[]));
    let scaled = grains(&[
        &format!("terrain={{file={:?}}}", files.path("slope.asc").display().to_string()),
        "scale=2",
    ]);
    let error = scaled.unwrap_err().to_string();
    assert!(error.contains("scale: found 2, expected 1 on a map, which has its own size"), "{error}");
}

#[test]
fn a_16_bit_picture_is_a_map() {
    let files = Files::new("");
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 5, 3);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let pixels: Vec<u8> = (0..15_u16).flat_map(|idx| (65535 / 4 * (4 - idx % 5)).to_be_bytes()).collect();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    files.write("slope.png", bytes);
    let scene = files
        .scene("file='@slope.png',cell_m=5,height_range_m=[0,12]", OWN)
        .unwrap_or_else(|e| panic!("{e}"));
    let terrain = scene.ground().unwrap();
    assert!((terrain.height_m([5.0, 5.0]).unwrap() - 9.0).abs() < 1e-3);
    assert!(scene.sample().unwrap().len() > 100);
}

#[test]
fn two_projections_are_refused() {
    let files = Files::new(&heights(&[]));
    files.write("slope.prj", LAMBERT);
    let with = |code: &str| {
        format!(r#""crs":{{"type":"name","properties":{{"name":"urn:ogc:def:crs:EPSG::{code}"}}}},"#)
    };
    let release = "polygons='@release.geojson',thickness_m=0.6";
    files.write("release.geojson", geojson(&with("31287"), ON_MAP, "{}"));
    assert_eq!(files.scene(FILE, release).unwrap().advice(), []);
    files.write("release.geojson", geojson(&with("32632"), ON_MAP, "{}"));
    let error = files.scene(FILE, release).unwrap_err().to_string();
    assert!(
        error.contains("dem.releases.0.polygons: found")
            && error.ends_with(
                "release.geojson: the projection EPSG:32632, expected that of the terrain, EPSG:31287"
            ),
        "{error}"
    );
    // A code and a WKT without one cannot be compared: this is a warning, not an error.
    files.write("slope.prj", LAMBERT.replace(",AUTHORITY[\"EPSG\",\"31287\"]", ""));
    let advice = files.scene(FILE, release).unwrap().advice();
    assert!(advice.len() == 1 && advice[0].message.contains("taken for the same"), "{advice:?}");
    // Different kinds of projection in the two files.
    let shapefile = "polygons='@release.shp',thickness_m=0.6";
    let mut shp = std::io::Cursor::new(Vec::new());
    let corners =
        [[1002.0, 2002.0], [1002.0, 2006.0], [1006.0, 2002.0]].map(|[x, y]| shapefile::Point::new(x, y));
    shapefile::ShapeWriter::new(&mut shp)
        .write_shape(&shapefile::Polygon::new(shapefile::PolygonRing::Outer(corners.to_vec())))
        .unwrap();
    files.write("release.shp", shp.get_ref());
    files.write(
        "release.prj",
        LAMBERT.replace("400000", "500000").replace(",AUTHORITY[\"EPSG\",\"31287\"]", ""),
    );
    let error = files.scene(FILE, shapefile).unwrap_err().to_string();
    assert!(error.contains("the projection MGI / Austria Lambert, expected that of the terrain"), "{error}");
    fs::remove_file(files.path("release.prj")).unwrap();
    assert!(files.scene(FILE, shapefile).is_ok());
}

#[test]
fn missing_projections_are_named() {
    let files = Files::new(&heights(&[]));
    let release = "polygons='@release.geojson',thickness_m=0.6";
    let advice = |files: &Files| {
        let advice = files.scene(FILE, release).unwrap().advice();
        advice.into_iter().map(|advice| format!("{}: {}", advice.key, advice.message)).collect::<Vec<_>>()
    };
    let crs = r#""crs":{"type":"name","properties":{"name":"EPSG:31287"}},"#;
    let (with, without) = (geojson(crs, ON_MAP, "{}"), geojson("", ON_MAP, "{}"));
    let (map, area) = (files.path("slope.asc"), files.path("release.geojson"));
    let no_map = format!(
        "terrain.file: {}: found no projection, expected that of a GeoTIFF or the file {}: rasters of the \
         flow carry none",
        map.display(),
        files.path("slope.prj").display()
    );
    files.write("release.geojson", &without);
    assert_eq!(advice(&files), std::slice::from_ref(&no_map));
    files.write("release.geojson", &with);
    let taken = format!(
        "dem.releases.0.polygons: {}: found the projection EPSG:31287, expected the terrain's, which is \
         unknown; it is taken for the same",
        area.display()
    );
    assert_eq!(advice(&files), [no_map, taken]);
    files.write("slope.prj", LAMBERT);
    assert!(advice(&files).is_empty());
    files.write("release.geojson", &without);
    let taken = format!(
        "dem.releases.0.polygons: {}: found no projection, expected one; it is taken for the terrain's, \
         EPSG:31287",
        area.display()
    );
    assert_eq!(advice(&files), [taken]);
}

#[test]
fn projections_that_are_not_in_metres_or_contradict_one_another_are_refused() {
    let files = Files::new(&heights(&[]));
    let message = |terrain: &str| files.scene(terrain, OWN).unwrap_err().to_string();
    files.write(
        "slope.prj",
        "GEOGCS[\"GCS_MGI\",PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]",
    );
    let degrees = message(FILE);
    let expected = format!(
        "terrain.file: found {}: longitudes and latitudes (GCS_MGI), expected a projection of metres",
        files.path("slope.prj").display()
    );
    assert!(degrees.contains(&expected), "{degrees}");
    files.write("slope.prj", LAMBERT.replace("UNIT[\"metre\",1]", "UNIT[\"foot\",0.3048]"));
    assert!(
        message(FILE).contains("a projection of units of 0.3048 m (EPSG:31287), expected"),
        "{}",
        message(FILE)
    );
    // A GeoTIFF whose keys say otherwise.
    let mut tiff = std::io::Cursor::new(Vec::new());
    let mut encoder = tiff::encoder::TiffEncoder::new(&mut tiff).unwrap();
    let mut image = encoder.new_image::<tiff::encoder::colortype::Gray32Float>(5, 3).unwrap();
    let tags = image.encoder();
    tags.write_tag(tiff::tags::Tag::ModelPixelScaleTag, &[5.0, 5.0, 0.0][..]).unwrap();
    tags.write_tag(tiff::tags::Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, 997.5, 2012.5, 0.0][..]).unwrap();
    let keys = [1_u16, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32632];
    tags.write_tag(tiff::tags::Tag::GeoKeyDirectoryTag, &keys[..]).unwrap();
    image.write_data(&[1500.0; 15]).unwrap();
    files.write("slope.tif", tiff.into_inner());
    files.write("slope.prj", LAMBERT);
    let expected = format!(
        "terrain.file: found {}: the projection EPSG:31287, expected that of the GeoTIFF beside it, \
         EPSG:32632",
        files.path("slope.prj").display()
    );
    let error = message("file='@slope.tif'");
    assert!(error.ends_with(&expected), "{error}");
    files.write("slope.prj", LAMBERT.replace("31287", "32632"));
    let scene = files.scene("file='@slope.tif'", OWN).unwrap();
    let projection = scene.ground().unwrap().projection().unwrap();
    assert_eq!(projection.name(), "EPSG:32632");
    assert!(projection.wkt().is_some(), "{projection:?}");
}

#[test]
fn areas_that_do_not_fit_the_map_are_named() {
    let files = Files::new(&heights(&[]));
    let error = |corners: &str, properties: &str| {
        files.write("release.geojson", geojson("", corners, properties));
        files.scene(FILE, "polygons='@release.geojson'").unwrap_err().to_string()
    };
    let thick = r#"{"d0":1}"#;
    let degrees = error("[11.2,47.1],[11.3,47.1],[11.3,47.2],[11.2,47.1]", thick);
    assert!(
        degrees.contains("release.geojson: polygon 1: 3 of 3 corners off the map")
            && degrees.contains("these look like longitudes and latitudes"),
        "{degrees}"
    );
    let thin = error(ON_MAP, "{}");
    assert!(
        thin.contains(
            "dem.releases.0.thickness_m: found nothing, and no attribute \"thickness\" or \"d0\" of polygon 1"
        ),
        "{thin}"
    );
    let empty = error("", thick);
    assert!(empty.contains("release.geojson: polygon 1: a polygon of 0 different corners"), "{empty}");
    let line = error("[1002,2002],[1004,2002],[1006,2002],[1002,2002]", thick);
    assert!(line.contains("polygon 1: a polygon without area"), "{line}");
    let both = files.scene(FILE, &format!("polygons='@release.geojson',{OWN}"));
    assert!(both.is_err());
}

/// Samples a real mountain, if its file is present: none comes with the project.
#[test]
fn snow_is_released_on_a_real_mountain() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/terrain/avaKot");
    if !folder.is_dir() {
        eprintln!("SKIPPED: no terrain at {}", folder.display());
        return;
    }
    let sets = |radius_m: f64| {
        [
            "particles=[]".to_owned(),
            format!("terrain={{file={:?}}}", folder.join("avaKot.asc").display().to_string()),
            "domain={min_m=[0,0,-10],max_m=[2180,2570,1400]}".to_owned(),
            format!("dem={{radius_m={radius_m},density_kg_m3=400,normal_stiffness_n_m=1e7}}"),
            format!("dem.releases=[{{polygons={:?}}}]", folder.join("relKot.shp").display().to_string()),
        ]
    };
    let load = |radius_m: f64| {
        let sets = sets(radius_m);
        grains(&sets.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_or_else(|e| panic!("{e}"))
    };
    let scene = load(1.0);
    let terrain = scene.ground().unwrap();
    assert_eq!((terrain.n_columns(), terrain.n_rows()), (439, 517));
    let unknown = terrain.map_heights_m().iter().filter(|height| height.is_nan()).count();
    assert!(unknown > 10_000, "{unknown}");
    let area = scene.releases()[0].areas().unwrap();
    assert_eq!((area.len(), area[0].thickness_m), (1, 1.0));
    let sampled = scene.sample().unwrap_or_else(|e| panic!("{e}"));
    let mass_kg: f64 = sampled.masses_kg.iter().map(|m| f64::from(*m)).sum();
    let (mut slope, mut n) = (0.0, 0.0);
    for position in &sampled.positions_m {
        let [x, y, z] = position.map(f64::from);
        assert!(terrain.distance_m([x, y, z]).unwrap() > 0.999);
        slope += terrain.slope_deg([x, y]).unwrap();
        n += 1.0;
    }
    let expected_kg = 0.55 * 400.0 * area[0].polygon.area() / (slope / n).to_radians().cos();
    assert!((mass_kg / expected_kg - 1.0).abs() < 0.05, "{mass_kg} of {expected_kg}");
    // Avalanches are released between 28° and 55°.
    assert!((28.0..55.0).contains(&(slope / n)), "{}", slope / n);
    eprintln!(
        "{} grains, {mass_kg:.4e} kg, mean slope {:.1}°, of {:.0} m²",
        sampled.len(),
        slope / n,
        area[0].polygon.area()
    );
}

const UTM: &str = "PROJCS[\"ETRS89 / UTM zone 32N\",GEOGCS[\"ETRS89\",DATUM[\"ETRS89\",SPHEROID[\"GRS \
     1980\",6378137,298.257222101]]],PROJECTION[\"Transverse_Mercator\"],PARAMETER[\"false_easting\",500000],UNIT[\"metre\",1],AUTHORITY[\"EPSG\",\"25832\"]]";
const DEGREES: &str = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
     PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";

/// Heights are in the unit that the compound system of the `.prj` states; coordinates are in its other part.
#[test]
fn a_compound_system_is_judged_by_its_horizontal_part() {
    let files = Files::new(&heights(&[]));
    let vertical = |unit: &str| format!("VERT_CS[\"H\",VERT_DATUM[\"D\",2005],UNIT[{unit}]]");
    files.write("slope.prj", format!("COMPD_CS[\"both\",{UTM},{}]", vertical("\"metre\",1")));
    let terrain = files.scene(FILE, OWN).unwrap();
    let terrain = terrain.ground().unwrap();
    assert_eq!((terrain.base_m(), terrain.projection().unwrap().name()), (1500.0, "EPSG:25832".to_owned()));
    files.write("slope.prj", format!("COMPD_CS[\"both\",{UTM},{}]", vertical("\"foot\",0.3048")));
    let terrain = files.scene(FILE, OWN).unwrap();
    assert!((terrain.ground().unwrap().map_heights_m()[4] - 0.3048 * 1500.5).abs() < 1e-9);
    files.write("slope.prj", format!("COMPD_CS[\"both\",{DEGREES},{}]", vertical("\"metre\",1")));
    let error = files.scene(FILE, OWN).unwrap_err().to_string();
    assert!(error.contains("slope.prj: longitudes and latitudes (GCS_WGS_1984)"), "{error}");
    assert!(error.contains("such as UTM: gdalwarp -r bilinear -t_srs EPSG:326NN"), "{error}");
}

/// A grid in degrees without a projection would be a wall.
#[test]
fn maps_in_degrees_are_refused() {
    let grid = heights(&[])
        .replace("xllcorner 997.5", "xllcorner 11.4")
        .replace("yllcorner 1997.5", "yllcorner 47.3")
        .replace("cellsize 5", "cellsize 0.0003");
    let error = Files::new(&grid).scene(FILE, OWN).unwrap_err().to_string();
    assert!(error.contains("these look like longitudes and latitudes"), "{error}");
    assert!(error.contains("gdalwarp -r bilinear -t_srs EPSG:32632 old.tif new.tif"), "{error}");
}

#[test]
fn polygons_in_degrees_are_refused() {
    let files = Files::new(&heights(&[]));
    files.write("slope.prj", UTM);
    let crs = r#""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"#;
    files.write("release.geojson", geojson(crs, ON_MAP, r#"{"thickness":0.6}"#));
    let error = files.scene(FILE, "polygons='@release.geojson'").unwrap_err().to_string();
    assert!(error.contains("release.geojson: longitudes and latitudes (EPSG:4326)"), "{error}");
    assert!(error.contains("ogr2ogr -t_srs EPSG:25832 new.shp old.shp"), "{error}");
}

/// Returns a GeoJSON of polygons given by their corners, with their thickness.
fn zones(zones: &[(&str, f64)]) -> String {
    let features: Vec<String> = zones
        .iter()
        .map(|(corners, thickness)| {
            format!(
                r#"{{"type":"Feature","properties":{{"d0":{thickness}}},"geometry":{{"type":"Polygon","coordinates":[[{corners}]]}}}}"#
            )
        })
        .collect();
    format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
}

const WEST: &str = "[1002,2001],[1009,2001],[1008,2009],[1002,2009],[1002,2001]";
const EAST: &str = "[1009,2001],[1018,2001],[1018,2009],[1008,2009],[1009,2001]";

/// Zones of a hazard map share an edge, and have a thickness each.
#[test]
fn neighbouring_areas_share_a_lattice() {
    let files = Files::new(&heights(&[]));
    for (first, second) in [(0.6, 0.6), (0.6, 0.85), (1.3, 0.45)] {
        files.write("release.geojson", zones(&[(WEST, first), (EAST, second)]));
        let scene = files.scene(FILE, "polygons='@release.geojson'").unwrap_or_else(|e| panic!("{e}"));
        // Sampling refuses grains that overlap.
        let sampled = scene.sample().unwrap_or_else(|e| panic!("{first} {second}: {e}"));
        let expected = scene.particle_count_estimate() as f64;
        let n = sampled.len() as f64;
        assert!((n / expected - 1.0).abs() < 0.03, "{first} {second}: {n} of {expected}");
    }
}

/// Two zones have the grains of the one area that they make up: none is lost at their edge.
#[test]
fn an_edge_between_areas_costs_no_grains() {
    let files = Files::new(&heights(&[]));
    let count = |areas: &[(&str, f64)]| {
        files.write("release.geojson", zones(areas));
        let scene = files.scene(FILE, "polygons='@release.geojson'").unwrap_or_else(|e| panic!("{e}"));
        scene.sample().unwrap_or_else(|e| panic!("{e}")).len()
    };
    let both = count(&[(WEST, 0.6), (EAST, 0.6)]);
    let one = count(&[("[1002,2001],[1018,2001],[1018,2009],[1002,2009],[1002,2001]", 0.6)]);
    assert!(both.abs_diff(one) <= 2, "{both} grains of two zones, {one} of one");
}

/// Outlines that overlap by the width of a line are neighbours; others are not.
#[test]
fn areas_that_overlap_are_refused() {
    let files = Files::new(&heights(&[]));
    files.write("release.geojson", zones(&[(WEST, 0.6), (&EAST.replace("1009,", "1009.03,"), 0.6)]));
    let scene = files.scene(FILE, "polygons='@release.geojson'").unwrap();
    assert!(scene.sample().is_ok());
    files.write("release.geojson", zones(&[(WEST, 0.6), (&EAST.replace("1009,", "1006,"), 0.6)]));
    let scene = files.scene(FILE, "polygons='@release.geojson'").unwrap();
    let error = scene.sample().unwrap_err().to_string();
    assert!(
        error.contains("grains of polygon 2 in an earlier polygon") && error.contains("that do not overlap"),
        "{error}"
    );
}

#[test]
fn a_polygon_that_crosses_itself_is_refused_with_its_place() {
    let files = Files::new(&heights(&[]));
    let bow = "[1002,2002],[1006,2006],[1006,2002],[1002,2006],[1002,2002]";
    files.write("release.geojson", zones(&[(bow, 0.6)]));
    let error = files.scene(FILE, "polygons='@release.geojson'").unwrap_err().to_string();
    assert!(error.contains("polygon 1: a polygon that crosses itself at (1004, 2004)"), "{error}");
    let own = "polygon_m=[[2,2],[6,6],[6,2],[2,6]],thickness_m=0.6";
    let error = files.scene(FILE, own).unwrap_err().to_string();
    assert!(error.contains("a polygon that crosses itself at (4, 4)"), "{error}");
}
