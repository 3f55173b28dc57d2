//! Reads polygons from shapefiles and GeoJSON.

use std::io::{Cursor, ErrorKind};
use std::path::Path;

use geojson::{GeoJson, Geometry, GeometryValue, JsonObject};
use shapefile::{PolygonRing, Shape, ShapeType};

use super::dbf::read_rows;
use crate::format::text::{not_utf8, without_byte_order_mark};
use crate::shapes::polygon::Polygon;

/// Attributes that give the thickness of the snow, in order of precedence.
const THICKNESS: [&str; 2] = ["thickness", "d0"];

/// Contents of a polygon file.
#[derive(Debug)]
pub(crate) struct PolygonFile {
    /// Areas with the thickness that their attributes give, in the file's own coordinates.
    pub(crate) areas: Vec<(Polygon, Option<f64>)>,
    /// Projection as WKT or as `EPSG:` and a number, if the file states it.
    pub(crate) projection: Option<String>,
}

/// Companion files of a shapefile, if they exist.
#[derive(Default)]
pub(crate) struct CompanionFiles {
    pub(crate) dbf: Option<Vec<u8>>,
    pub(crate) prj: Option<String>,
}

/// Reads the polygons in `bytes`, the contents of `path`, whose extension gives the format. The error
/// describes the problem.
pub(crate) fn read_polygons(
    path: &Path,
    bytes: &[u8],
    beside: CompanionFiles,
) -> Result<PolygonFile, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let file = match ending.as_deref() {
        Some("shp") => read_shapefile(bytes, beside),
        Some("geojson" | "json") => read_geojson(bytes),
        _ => Err("a name that does not end in .shp, .geojson or .json".to_owned()),
    }?;
    if file.areas.is_empty() {
        return Err("no polygons".to_owned());
    }
    for (idx, (polygon, thickness)) in file.areas.iter().enumerate() {
        if let Some(problem) = polygon.problem() {
            return Err(format!("polygon {}: {problem}", idx + 1));
        }
        if let Some(thickness) = thickness
            && !(*thickness > 0.0 && thickness.is_finite())
        {
            return Err(format!("polygon {}: a thickness of {thickness} m", idx + 1));
        }
    }
    Ok(file)
}

fn read_shapefile(bytes: &[u8], beside: CompanionFiles) -> Result<PolygonFile, String> {
    let invalid = |cause: shapefile::Error| format!("no valid shapefile: {}", problem_of(&cause));
    let shapes =
        shapefile::ShapeReader::new(Cursor::new(bytes)).and_then(|reader| reader.read()).map_err(invalid)?;
    let rows = match beside.dbf {
        Some(bytes) => read_rows(&bytes, &THICKNESS)
            .map_err(|problem| format!("the .dbf beside it is no valid dBase file: {problem}"))?,
        None => Vec::new(),
    };
    if !rows.is_empty() && rows.len() != shapes.len() {
        return Err(format!(
            "{} shapes, and {} rows in the .dbf beside it: ogr2ogr new.shp old.shp writes both anew",
            shapes.len(),
            rows.len()
        ));
    }
    let mut areas = Vec::new();
    for (idx, shape) in shapes.into_iter().enumerate() {
        let row = rows.get(idx);
        if row.is_some_and(|row| row.is_deleted) {
            continue;
        }
        let at = |[x, y]: [f64; 2]| [x, y];
        let rings = match shape {
            Shape::NullShape => continue,
            Shape::Polygon(polygon) => rings_of(polygon.rings(), |p| at([p.x, p.y])),
            Shape::PolygonM(polygon) => rings_of(polygon.rings(), |p| at([p.x, p.y])),
            Shape::PolygonZ(polygon) => rings_of(polygon.rings(), |p| at([p.x, p.y])),
            other => {
                let name = match other.shapetype() {
                    ShapeType::Point | ShapeType::PointM | ShapeType::PointZ => "a point",
                    ShapeType::Multipoint | ShapeType::MultipointM | ShapeType::MultipointZ => "points",
                    ShapeType::Polyline | ShapeType::PolylineM | ShapeType::PolylineZ => "a line",
                    _ => "a surface of patches",
                };
                return Err(format!("shape {} is {name}, where polygons are needed", idx + 1));
            }
        };
        // Parts are areas of their own, as those of a MultiPolygon are.
        let thickness = row.and_then(|row| row.number);
        areas.extend(Polygon { rings }.parts().into_iter().map(|part| (part, thickness)));
    }
    Ok(PolygonFile { areas, projection: beside.prj })
}

fn problem_of(cause: &shapefile::Error) -> String {
    match cause {
        shapefile::Error::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            "it ends before its shapes do".to_owned()
        }
        shapefile::Error::InvalidFileCode(_) => "it does not begin as one".to_owned(),
        shapefile::Error::InvalidShapeType(code) => format!("a shape of type {code}"),
        shapefile::Error::MismatchShapeType { .. } => "shapes of several types".to_owned(),
        _ => "a damaged record".to_owned(),
    }
}

fn rings_of<P>(rings: &[PolygonRing<P>], at: impl Fn(&P) -> [f64; 2]) -> Vec<Vec<[f64; 2]>> {
    rings.iter().map(|ring| without_last(ring.points().iter().map(&at).collect())).collect()
}

/// Removes the last corner of a ring, which files repeat from the first.
fn without_last(mut ring: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    ring
}

fn read_geojson(bytes: &[u8]) -> Result<PolygonFile, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("no valid GeoJSON: {}", not_utf8(bytes, error)))?;
    let json: GeoJson = without_byte_order_mark(text).parse().map_err(|cause| match cause {
        geojson::Error::MalformedGeoJson(cause) if !cause.is_data() => {
            format!("no valid GeoJSON: line {}, column {}: expected JSON", cause.line(), cause.column())
        }
        geojson::Error::PositionTooShort(n) => {
            format!("no valid GeoJSON: a position of {n} numbers, expected two or three")
        }
        _ => "no valid GeoJSON: JSON, but expected features or geometries of RFC 7946".to_owned(),
    })?;
    let mut areas = Vec::new();
    let projection = match json {
        GeoJson::FeatureCollection(collection) => {
            for feature in collection.features {
                let thickness = feature.properties.as_ref().and_then(thickness_of_properties);
                if let Some(geometry) = feature.geometry {
                    collect(geometry, thickness, &mut areas)?;
                }
            }
            named_system(collection.foreign_members.as_ref())
        }
        GeoJson::Feature(feature) => {
            let thickness = feature.properties.as_ref().and_then(thickness_of_properties);
            if let Some(geometry) = feature.geometry {
                collect(geometry, thickness, &mut areas)?;
            }
            named_system(feature.foreign_members.as_ref())
        }
        GeoJson::Geometry(geometry) => {
            let system = named_system(geometry.foreign_members.as_ref());
            collect(geometry, None, &mut areas)?;
            system
        }
    };
    Ok(PolygonFile { areas, projection })
}

/// Appends the polygons of a geometry.
fn collect(
    geometry: Geometry,
    thickness: Option<f64>,
    areas: &mut Vec<(Polygon, Option<f64>)>,
) -> Result<(), String> {
    let polygon = |rings: Vec<Vec<geojson::Position>>| -> Result<Polygon, String> {
        let ring = |ring: Vec<geojson::Position>| {
            let corners = ring.iter().map(|p| match p.as_slice() {
                [x, y, ..] => Ok([*x, *y]),
                _ => Err("a position of fewer than two numbers".to_owned()),
            });
            corners.collect::<Result<Vec<_>, _>>().map(without_last)
        };
        Ok(Polygon { rings: rings.into_iter().map(ring).collect::<Result<_, _>>()? })
    };
    match geometry.value {
        GeometryValue::Polygon { coordinates } => areas.push((polygon(coordinates)?, thickness)),
        GeometryValue::MultiPolygon { coordinates } => {
            for coordinates in coordinates {
                areas.push((polygon(coordinates)?, thickness));
            }
        }
        GeometryValue::GeometryCollection { geometries } => {
            for geometry in geometries {
                collect(geometry, thickness, areas)?;
            }
        }
        other => return Err(format!("a {}, where polygons are needed", other.type_name())),
    }
    Ok(())
}

fn thickness_of_properties(properties: &JsonObject) -> Option<f64> {
    THICKNESS.iter().find_map(|name| {
        let (_, value) = properties.iter().find(|(property, _)| property.eq_ignore_ascii_case(name))?;
        value.as_f64().or_else(|| value.as_str()?.trim().replacen(',', ".", 1).parse().ok())
    })
}

/// Returns the coordinate reference system that a file names in the form of GeoJSON 2008:
/// `urn:ogc:def:crs:EPSG::31287` or `EPSG:31287`. The standard of 2016 has no such member and requires
/// longitudes and latitudes, but programs that write metres still write it.
fn named_system(members: Option<&JsonObject>) -> Option<String> {
    let name = members?.get("crs")?.get("properties")?.get("name")?.as_str()?;
    // A compound name has the horizontal system first: `urn:ogc:def:crs,crs:EPSG::25832,crs:EPSG::5783`.
    let name =
        name.strip_prefix("urn:ogc:def:crs,").and_then(|names| names.split(',').next()).unwrap_or(name);
    let code = name.rsplit(':').next()?;
    // CRS84 is another name for longitudes and latitudes.
    if code.eq_ignore_ascii_case("CRS84") {
        return Some("EPSG:4326".to_owned());
    }
    Some(if name.to_ascii_uppercase().contains("EPSG") { format!("EPSG:{code}") } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use shapefile::{Point, Polyline};

    use super::super::dbf::tests::table;
    use super::*;

    fn points(corners: &[[f64; 2]]) -> Vec<Point> {
        corners.iter().map(|&[x, y]| Point::new(x, y)).collect()
    }

    /// Returns a shapefile of polygons given by their rings.
    fn shapefile_of(shapes: &[&[PolygonRing<Point>]]) -> Vec<u8> {
        let mut shp = Cursor::new(Vec::new());
        {
            let mut writer = shapefile::ShapeWriter::new(&mut shp);
            for rings in shapes {
                writer.write_shape(&shapefile::Polygon::with_rings(rings.to_vec())).unwrap();
            }
        }
        shp.into_inner()
    }

    fn geojson(text: &str) -> Result<PolygonFile, String> {
        read_polygons(Path::new("a.geojson"), text.as_bytes(), CompanionFiles::default())
    }

    #[test]
    fn a_shapefile_has_rings_and_thickness() {
        let shp = shapefile_of(&[&[
            PolygonRing::Outer(points(&[[0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0]])),
            PolygonRing::Inner(points(&[[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]])),
        ]]);
        let dbf = table(0, &[("Thickness", b'N', 5)], &[(b' ', b" 1.25")]);
        let beside = || CompanionFiles { dbf: Some(dbf.clone()), prj: Some("PROJCS[]".to_owned()) };
        let file = read_polygons(Path::new("x.SHP"), &shp, beside()).unwrap();
        assert_eq!(file.projection.as_deref(), Some("PROJCS[]"));
        let [(polygon, thickness)] = &file.areas[..] else { panic!("{} areas", file.areas.len()) };
        assert_eq!(
            (polygon.rings.len(), polygon.rings[0].len(), polygon.area(), *thickness),
            (2, 4, 15.0, Some(1.25))
        );

        let alone = read_polygons(Path::new("x.shp"), &shp, CompanionFiles::default()).unwrap();
        assert_eq!(alone.areas[0].1, None);
        let cut = &shp[..shp.len() - 9];
        assert!(
            read_polygons(Path::new("x.shp"), cut, beside()).unwrap_err().starts_with("no valid shapefile: ")
        );
        let damaged = CompanionFiles { dbf: Some(vec![1, 2, 3]), prj: None };
        assert!(read_polygons(Path::new("x.shp"), &shp, damaged).unwrap_err().contains(".dbf beside it"));
    }

    /// Thickness from a table with umlauts of code page 1252; a deleted row and its shape are left out.
    #[test]
    fn attribute_tables_of_arcgis_are_read() {
        let square =
            |x: f64| [PolygonRing::Outer(points(&[[x, 0.0], [x, 1.0], [x + 1.0, 1.0], [x + 1.0, 0.0]]))];
        let shp = shapefile_of(&[&square(0.0), &square(5.0), &square(9.0)]);
        let columns = [("name", b'C', 6), ("thickness", b'N', 4)];
        let rows: [(u8, &[u8]); 3] = [(b' ', b"H\xfctte  1.5"), (b'*', b"x      2.0"), (b' ', b"y      2.5")];
        let beside = CompanionFiles { dbf: Some(table(0x57, &columns, &rows)), prj: None };
        let file = read_polygons(Path::new("x.shp"), &shp, beside).unwrap();
        let found: Vec<_> =
            file.areas.iter().map(|(area, thickness)| (area.bounds().0[0], *thickness)).collect();
        assert_eq!(found, [(0.0, Some(1.5)), (9.0, Some(2.5))]);
        let short = CompanionFiles { dbf: Some(table(0, &columns, &rows[..1])), prj: None };
        let problem = read_polygons(Path::new("x.shp"), &shp, short).unwrap_err();
        assert!(problem.contains("3 shapes, and 1 rows") && problem.contains("ogr2ogr"), "{problem}");
    }

    /// Parts of a shape are the same areas as those of a MultiPolygon.
    #[test]
    fn parts_are_areas_of_their_own() {
        let shp = shapefile_of(&[&[
            PolygonRing::Outer(points(&[[0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0]])),
            PolygonRing::Outer(points(&[[9.0, 0.0], [9.0, 1.0], [10.0, 1.0], [10.0, 0.0]])),
            PolygonRing::Inner(points(&[[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]])),
        ]]);
        let shape = read_polygons(Path::new("x.shp"), &shp, CompanionFiles::default()).unwrap();
        let json = geojson(
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[0,4],[4,4],[4,0],[0,0]],
            [[1,1],[2,1],[2,2],[1,2],[1,1]]],[[[9,0],[9,1],[10,1],[10,0],[9,0]]]]}"#,
        );
        assert_eq!(shape.areas, json.unwrap().areas);
        assert_eq!(shape.areas.len(), 2);
    }

    #[test]
    fn files_that_are_no_polygons_are_not_repeated() {
        for (name, text) in [
            ("a.geojson", "root:x:0:0:root"),
            ("a.json", "{\"type\":\"secret\"}"),
            ("a.json", "{\"type\":\"Polygon\",\"coordinates\":\"secret\"}"),
            ("a.json", "[\"secret\"]"),
            (
                "a.shp",
                "root:x:0:0:root:/root:/bin/bash and more than a hundred bytes of text, which a header needs, \
                       and some more",
            ),
        ] {
            let problem =
                read_polygons(Path::new(name), text.as_bytes(), CompanionFiles::default()).unwrap_err();
            assert!(problem.starts_with("no valid "), "{problem}");
            assert!(!problem.contains("root") && !problem.contains("secret"), "{problem}");
        }
    }

    #[test]
    fn lines_are_not_areas() {
        let mut shp = Cursor::new(Vec::new());
        {
            let mut writer = shapefile::ShapeWriter::new(&mut shp);
            writer.write_shape(&Polyline::new(points(&[[0.0, 0.0], [1.0, 1.0]]))).unwrap();
        }
        let error = read_polygons(Path::new("x.shp"), shp.get_ref(), CompanionFiles::default()).unwrap_err();
        assert!(error.contains("where polygons are needed"), "{error}");
    }

    #[test]
    fn geojson_of_all_kinds() {
        let ring = "[[[0,0,7],[2,0],[2,3],[0,0,7]]]";
        let file = geojson(&format!(
            r#"{{"type":"FeatureCollection","crs":{{"type":"name","properties":{{"name":"urn:ogc:def:crs:EPSG::31287"}}}},"features":[
            {{"type":"Feature","properties":{{"d0":"1.5"}},"geometry":{{"type":"Polygon","coordinates":{ring}}}}},
            {{"type":"Feature","properties":{{"Thickness":2,"d0":9}},"geometry":{{"type":"MultiPolygon","coordinates":[{ring},{ring}]}}}},
            {{"type":"Feature","properties":null,"geometry":null}}]}}"#
        ))
        .unwrap();
        assert_eq!(file.projection.as_deref(), Some("EPSG:31287"));
        let thickness: Vec<_> = file.areas.iter().map(|(_, thickness)| *thickness).collect();
        assert_eq!(thickness, [Some(1.5), Some(2.0), Some(2.0)]);
        assert!(file.areas.iter().all(|(polygon, _)| polygon.area() == 3.0 && polygon.rings[0].len() == 3));
        let bare = geojson(&format!(r#"{{"type":"Polygon","coordinates":{ring}}}"#)).unwrap();
        let degrees = geojson(&format!(
            r#"{{"type":"Feature","crs":{{"properties":{{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}}},"properties":null,"geometry":{{"type":"Polygon","coordinates":{ring}}}}}"#
        ));
        assert_eq!(degrees.unwrap().projection.as_deref(), Some("EPSG:4326"));
        assert_eq!((bare.areas.len(), bare.areas[0].1, bare.projection), (1, None, None));
    }

    #[test]
    fn rings_without_area_are_named() {
        assert_eq!(geojson(r#"{"type":"FeatureCollection","features":[]}"#).unwrap_err(), "no polygons");
        assert_eq!(
            geojson(r#"{"type":"Point","coordinates":[0,0]}"#).unwrap_err(),
            "a Point, where polygons are needed"
        );
        assert_eq!(
            geojson(r#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}"#).unwrap_err(),
            "polygon 1: a polygon of 2 different corners"
        );
        assert_eq!(
            geojson(r#"{"type":"Polygon","coordinates":[]}"#).unwrap_err(),
            "polygon 1: a polygon without corners"
        );
        let thin = r#"{"type":"Feature","properties":{"thickness":-1},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1]]]}}"#;
        assert_eq!(geojson(thin).unwrap_err(), "polygon 1: a thickness of -1 m");
        assert!(geojson("{").unwrap_err().starts_with("no valid GeoJSON: "));
        let wrong = read_polygons(Path::new("a.kml"), b"", CompanionFiles::default()).unwrap_err();
        assert_eq!(wrong, "a name that does not end in .shp, .geojson or .json");
    }
}
