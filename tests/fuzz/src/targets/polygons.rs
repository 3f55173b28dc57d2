//! Release areas: shapefiles with their attributes, and GeoJSON.

use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

use frazil_scene::Scene;
use shapefile::dbase::{FieldName, FieldValue, Record, TableWriterBuilder};
use shapefile::{Point, PolygonRing};

use super::scene::exercise;
use crate::mutate::Kind;
use crate::target::{Input, Target, Verdict, check_message, refused};

pub(super) const TARGETS: &[Target] = &[
    Target {
        prepare: |folder| prepare(folder, "areas.geojson"),
        words,
        ..Target::new("geojson", "areas.geojson", Kind::Text, geojsons, check)
    },
    Target {
        prepare: prepare_attributes,
        ..Target::new("shapefile", "areas.shp", Kind::Binary, || vec![shapes().0], check)
    },
    Target {
        prepare: prepare_shapes,
        ..Target::new("dbase", "areas.dbf", Kind::Binary, || vec![shapes().1], check)
    },
];

const SCENE: &str = include_str!("../../scenes/releases.toml");
/// Corners of the release areas on the map, which begins at (0, 0).
const OUTER: [[f64; 2]; 4] = [[4.0, 4.0], [4.0, 12.0], [12.0, 12.0], [12.0, 4.0]];
/// Corners of another area.
const OTHER: [[f64; 2]; 4] = [[14.0, 14.0], [14.0, 18.0], [18.0, 18.0], [18.0, 14.0]];
const INNER: [[f64; 2]; 4] = [[6.0, 6.0], [8.0, 6.0], [8.0, 8.0], [6.0, 8.0]];

fn prepare(folder: &Path, file: &str) -> io::Result<()> {
    fs::write(folder.join("scene.toml"), SCENE.replace("areas.geojson", file))
}

fn prepare_attributes(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("areas.dbf"), shapes().1)?;
    prepare(folder, "areas.shp")
}

fn prepare_shapes(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("areas.shp"), shapes().0)?;
    prepare(folder, "areas.shp")
}

/// Returns a shapefile and its dBase table.
fn shapes() -> (Vec<u8>, Vec<u8>) {
    let (mut shp, mut shx, mut dbf) =
        (Cursor::new(Vec::new()), Cursor::new(Vec::new()), Cursor::new(Vec::new()));
    let points = |corners: &[[f64; 2]]| corners.iter().map(|&[x, y]| Point::new(x, y)).collect();
    let mut write = || -> Option<()> {
        let table = TableWriterBuilder::new()
            .add_numeric_field(FieldName::try_from("thickness").ok()?, 11, 3)
            .add_character_field(FieldName::try_from("name").ok()?, 16)
            .build_with_dest(&mut dbf);
        let shapes = shapefile::ShapeWriter::with_shx(&mut shp, &mut shx);
        let mut writer = shapefile::Writer::new(shapes, table);
        for (idx, rings) in [
            vec![PolygonRing::Outer(points(&OUTER)), PolygonRing::Inner(points(&INNER))],
            vec![PolygonRing::Outer(points(&OTHER))],
        ]
        .into_iter()
        .enumerate()
        {
            let mut record = Record::default();
            record.insert("thickness".to_owned(), FieldValue::Numeric(Some(0.5 + idx as f64)));
            record.insert("name".to_owned(), FieldValue::Character(Some("Hang".to_owned())));
            writer.write_shape_and_record(&shapefile::Polygon::with_rings(rings), &record).ok()?;
        }
        Some(())
    };
    let _ = write();
    (shp.into_inner(), dbf.into_inner())
}

fn geojsons() -> Vec<Vec<u8>> {
    let ring = |corners: [[f64; 2]; 4]| {
        let closed: Vec<[f64; 2]> = corners.into_iter().chain([corners[0]]).collect();
        format!("{closed:?}")
    };
    let (outer, inner, other) = (ring(OUTER), ring(INNER), ring(OTHER));
    [
        format!(
            "{{\"type\":\"FeatureCollection\",\
             \"crs\":{{\"type\":\"name\",\"properties\":{{\"name\":\"urn:ogc:def:crs:EPSG::31287\"}}}},\
             \"features\":[{{\"type\":\"Feature\",\"properties\":{{\"thickness\":0.8}},\
             \"geometry\":{{\"type\":\"Polygon\",\"coordinates\":[{outer},{inner}]}}}}]}}"
        ),
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"d0\":\"1.5\"}},\
             \"geometry\":{{\"type\":\"MultiPolygon\",\"coordinates\":[[{outer}],[{other}]]}}}}"
        ),
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"d0\":1}},\
             \"geometry\":{{\"type\":\"GeometryCollection\",\
             \"geometries\":[{{\"type\":\"Polygon\",\"coordinates\":[{outer}]}}]}}}}"
        ),
    ]
    .map(String::into_bytes)
    .to_vec()
}

fn words() -> Vec<String> {
    let types =
        ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "Feature"];
    types.map(str::to_owned).to_vec()
}

/// Loads the scene that names the file.
fn check(input: &Input) -> Verdict {
    match Scene::load(input.folder.join("scene.toml"), &[]) {
        Ok(scene) => exercise(&scene),
        Err(error) => {
            // An error of the attributes, or of an area that is not on the map, names the file of shapes or
            // the key.
            let message = error.to_string();
            let subjects = ["areas.", "dem.releases.0"];
            refused(input, &message).or_else(|problem| {
                subjects.iter().find_map(|subject| check_message(&message, subject).ok()).ok_or(problem)
            })
        }
    }
}
