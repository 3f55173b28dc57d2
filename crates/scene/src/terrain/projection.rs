//! Projections of maps, and the comparison of their descriptions.

use super::geo_keys::GeoKeys;
use super::utm::{of_web_mercator, utm_of};
use super::wkt::{horizontal_of, method_of, vertical_unit_m};
use crate::check::number;

/// EPSG codes of common systems of longitudes and latitudes.
const GEOGRAPHIC_CODES: [u32; 38] = [
    4326, 4979, 4258, 4937, 4269, 4267, 4230, 4314, 4312, 4171, 4275, 4283, 7844, 4167, 4272, 4277, 4149,
    4150, 4265, 4670, 6706, 4674, 4612, 6668, 4490, 4214, 4610, 4284, 4617, 4152, 6318, 4619, 4148, 4273,
    4124, 4313, 4289, 9777,
];
/// EPSG and ESRI codes of web Mercator.
const WEB_MERCATOR_CODES: [u32; 5] = [3857, 900_913, 3785, 102_100, 102_113];
/// EPSG codes of projections of the world and of continents whose metres are not metres of the ground.
const WORLD_CODES: [u32; 16] =
    [3395, 4087, 4088, 32662, 32663, 6933, 3410, 3408, 3409, 3975, 8857, 8858, 8859, 3034, 54004, 54032];
/// Methods of such projections, as their names begin without blanks.
const WORLD_METHODS: [&str; 22] = [
    "MERCATOR",
    "POPULARVISUALISATION",
    "EQUIRECTANGULAR",
    "EQUIDISTANTCYLINDRICAL",
    "PLATECARREE",
    "MILLER",
    "CYLINDRICALEQUALAREA",
    "LAMBERTCYLINDRICAL",
    "MOLLWEIDE",
    "ROBINSON",
    "SINUSOIDAL",
    "ECKERT",
    "WINKEL",
    "GALL",
    "VANDERGRINTEN",
    "EQUALEARTH",
    "GOODE",
    "WAGNER",
    "AITOFF",
    "HAMMER",
    "NATURALEARTH",
    "BEHRMANN",
];

/// Projection of a map's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct MapProjection {
    /// WKT, `EPSG:` and a number, or a name.
    text: String,
    /// WKT of a `.prj` file beside a GeoTIFF.
    prj: Option<String>,
    /// Keys of the GeoTIFF that it was read from.
    geo_keys: Option<GeoKeys>,
    /// Length in m of the unit of heights that a compound system states.
    vertical_unit_m: Option<f64>,
}

impl MapProjection {
    /// Makes a projection of its WKT, or of `EPSG:` and a number: of the horizontal part of a compound system
    /// (`COMPD_CS`, `EPSG:25832+5783`).
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let horizontal = horizontal_of(&text).to_owned();
        Self { text: horizontal, prj: None, geo_keys: None, vertical_unit_m: vertical_unit_m(&text) }
    }

    /// Returns the length in m of the unit of heights that a compound system states.
    pub(crate) fn vertical_unit_m(&self) -> Option<f64> {
        self.vertical_unit_m
    }

    /// Returns the projection that the keys of a GeoTIFF describe, if any.
    pub(crate) fn of_geo_keys(keys: GeoKeys) -> Option<Self> {
        let code = keys.code().map(|code| format!("EPSG:{code}"));
        let text = code.or_else(|| keys.projection().map(str::to_owned))?;
        Some(Self { geo_keys: Some(keys.of_areas()), ..Self::new(text) })
    }

    /// Adds the WKT of a `.prj` file beside a GeoTIFF.
    #[must_use]
    pub(crate) fn with_prj(self, prj: Option<String>) -> Self {
        Self { prj, ..self }
    }

    /// Returns the code, as `EPSG:` and a number, or else the name.
    pub fn name(&self) -> String {
        match self.code() {
            Some(code) => format!("EPSG:{code}"),
            None => self.text.split('"').nth(1).unwrap_or(&self.text).to_owned(),
        }
    }

    /// Returns the WKT, if it is known.
    pub fn wkt(&self) -> Option<&str> {
        let is_wkt = self.text.contains('[');
        if is_wkt { Some(&self.text) } else { self.prj.as_deref() }
    }

    /// Returns the keys that describe the projection in a GeoTIFF.
    pub(crate) fn geo_keys(&self) -> GeoKeys {
        let code = || self.code().and_then(|code| u16::try_from(code).ok());
        match (&self.geo_keys, code(), self.wkt()) {
            (Some(keys), ..) => keys.clone(),
            (None, Some(code), _) => GeoKeys::of_code(code),
            (None, None, Some(wkt)) => GeoKeys::of_wkt(&self.name(), wkt),
            (None, None, None) => GeoKeys::without_projection(),
        }
    }

    /// Returns true if both are the same; `None` if they cannot be compared, such as an EPSG code and a WKT
    /// without one.
    pub(crate) fn is_same(&self, other: &Self) -> Option<bool> {
        let texts = |projection: &Self| [Some(projection.text.clone()), projection.prj.clone()];
        let pairs = texts(self).into_iter().flatten().flat_map(|first| {
            texts(other).into_iter().flatten().map(move |second| same_projection(&first, &second))
        });
        pairs.flatten().reduce(|first, second| first && second)
    }

    /// Returns the problem of coordinates that are not metres on the ground.
    pub(crate) fn problem(&self) -> Option<String> {
        let of = |what: &str| Some(format!("{what} ({})", self.name()));
        let is_one_of = |codes: &[u32]| self.code().is_some_and(|code| codes.contains(&code));
        let of_world = "a projection of the world, whose metre is not a metre on the ground";
        if is_one_of(&GEOGRAPHIC_CODES) {
            return of("longitudes and latitudes");
        }
        if is_one_of(&WEB_MERCATOR_CODES) {
            return of("web Mercator, whose metre is not a metre on the ground");
        }
        if is_one_of(&WORLD_CODES) || self.geo_keys.as_ref().is_some_and(GeoKeys::is_of_world) {
            return of(of_world);
        }
        let wkt = self.wkt()?;
        let is_geographic = ["GEOGCS[", "GEOGCRS[", "GEODCRS[", "GEOGRAPHICCRS["]
            .iter()
            .any(|kind| wkt.trim_start().to_ascii_uppercase().starts_with(kind));
        if is_geographic {
            return of("longitudes and latitudes");
        }
        let method = method_of(wkt).map(|method| plain(&method.to_ascii_uppercase())).unwrap_or_default();
        if WORLD_METHODS.iter().any(|name| method.starts_with(name)) {
            return of(of_world);
        }
        let unit = parameters(wkt).into_iter().find_map(|(name, value)| match value {
            Value::Number(unit) if name == "UNIT" => Some(unit),
            _ => None,
        })?;
        let is_metre = Value::Number(unit).agrees(&Value::Number(1.0));
        (!is_metre).then(|| format!("a projection of units of {} m ({})", number(unit), self.name()))
    }

    /// Returns the command that reprojects a map in this projection, one with a [`Self::problem`], to UTM;
    /// the zone is that of a point of the map, if it can be computed.
    pub(crate) fn remedy(&self, point: [f64; 2]) -> String {
        let is_web = self.code().is_some_and(|code| WEB_MERCATOR_CODES.contains(&code))
            || self
                .wkt()
                .is_some_and(|wkt| wkt.contains("Mercator_Auxiliary_Sphere") || wkt.contains("Pseudo"));
        let place_deg = if is_web { of_web_mercator(point) } else { point };
        format!("gdalwarp -r bilinear -t_srs {} old.tif new.tif", utm_of(Some(place_deg)))
    }

    fn code(&self) -> Option<u32> {
        epsg_of(&self.text)
    }
}

/// Returns true if both describe the same projection; `None` if they cannot be compared, such as an EPSG code
/// and a WKT without one.
fn same_projection(first: &str, second: &str) -> Option<bool> {
    if let (Some(first), Some(second)) = (epsg_of(first), epsg_of(second)) {
        return Some(first == second);
    }
    let (first, second) = (parameters(first), parameters(second));
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let is_same = |(name, value): &(String, Value)| {
        second.iter().find(|(other, _)| other == name).is_none_or(|(_, other)| value.agrees(other))
    };
    // Parameters that only one of them gives, a default of the other's writer, are ignored; but they must
    // share at least one.
    let share = first.iter().any(|(name, _)| second.iter().any(|(other, _)| name == other));
    share.then(|| first.iter().all(is_same))
}

/// Returns the code of `EPSG:31287`, or of the last authority in a WKT, which is that of the whole.
fn epsg_of(text: &str) -> Option<u32> {
    let upper = text.trim().to_ascii_uppercase();
    if let Some(code) = upper.strip_prefix("EPSG:") {
        return code.trim().parse().ok();
    }
    let begin = ["AUTHORITY[\"EPSG\",", "ID[\"EPSG\","]
        .iter()
        .filter_map(|name| upper.rfind(name).map(|at| at + name.len()))
        .max()?;
    let rest = &upper[begin..];
    let end = rest.find(']')?;
    // An authority within an inner bracket belongs to an ellipsoid or unit.
    let is_last = rest[end + 1..].trim() == "]";
    is_last.then(|| rest[..end].trim().trim_matches('"').parse().ok()).flatten()
}

/// Value of a projection parameter.
enum Value {
    Number(f64),
    Word(String),
}

impl Value {
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            // Programs write angles with eight digits or with sixteen.
            (Self::Number(a), Self::Number(b)) => (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs())),
            (Self::Word(a), Self::Word(b)) => a == b,
            _ => false,
        }
    }
}

/// Returns the parameters of the projection in a WKT: its method, its parameters and its unit. Names of
/// systems and datums, which differ between programs, are left out.
fn parameters(wkt: &str) -> Vec<(String, Value)> {
    let upper = wkt.to_ascii_uppercase();
    let mut found = Vec::new();
    for (keyword, has_number) in [("PROJECTION[", false), ("PARAMETER[", true), ("SPHEROID[", true)] {
        for (at, _) in upper.match_indices(keyword) {
            let Some(end) = upper[at..].find(']') else { continue };
            let mut parts =
                upper[at + keyword.len()..at + end].split(',').map(|part| part.trim().trim_matches('"'));
            let Some(name) = parts.next() else { continue };
            if !has_number {
                // Lambert's cone with one or with two parallels is distinguished by its parallels.
                let method = plain(name).replace("2SP", "").replace("1SP", "");
                found.push(("METHOD".to_owned(), Value::Word(method)));
            } else if let Some(Ok(number)) = parts.next().map(str::parse) {
                let name = if keyword == "SPHEROID[" { "AXIS".to_owned() } else { plain(name) };
                found.push((name, Value::Number(number)));
            }
        }
    }
    // The unit of the whole is the last one.
    if let Some(at) = upper.rfind("UNIT[")
        && let Some(number) =
            upper[at..].split([',', ']']).nth(1).and_then(|number| number.trim().parse().ok())
    {
        found.push(("UNIT".to_owned(), Value::Number(number)));
    }
    found
}

/// Normalizes a name: removes differences between programs, such as their names for the meridian and the
/// latitude of the origin.
fn plain(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match name.as_str() {
        "LONGITUDEOFCENTER" | "LONGITUDEOFORIGIN" => "CENTRALMERIDIAN".to_owned(),
        "LATITUDEOFCENTER" => "LATITUDEOFORIGIN".to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAMBERT: &str = "PROJCS[\"MGI_Austria_Lambert\",GEOGCS[\"GCS_MGI\",DATUM[\"D_MGI\",SPHEROID[\"Bessel_1841\",6377397.155,299.1528128]],PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]],PROJECTION[\"Lambert_Conformal_Conic\"],PARAMETER[\"False_Easting\",400000.0],PARAMETER[\"False_Northing\",400000.0],PARAMETER[\"Central_Meridian\",13.3333333333333],PARAMETER[\"Standard_Parallel_1\",49.0],PARAMETER[\"Standard_Parallel_2\",46.0],PARAMETER[\"Latitude_Of_Origin\",47.5],UNIT[\"Meter\",1.0]]";

    #[test]
    fn codes_are_compared() {
        assert_eq!(same_projection("EPSG:31287", "epsg: 31287"), Some(true));
        assert_eq!(same_projection("EPSG:31287", "EPSG:25832"), Some(false));
        let with_code = LAMBERT.strip_suffix(']').unwrap().to_owned() + ",AUTHORITY[\"EPSG\",\"31287\"]]";
        assert_eq!(epsg_of(&with_code), Some(31287));
        assert_eq!(same_projection("EPSG:31287", &with_code), Some(true));
        assert_eq!(same_projection("EPSG:31287", LAMBERT), None);
    }

    #[test]
    fn the_code_of_a_part_is_not_that_of_the_whole() {
        let part = LAMBERT.replace("299.1528128]", "299.1528128,AUTHORITY[\"EPSG\",\"7004\"]]");
        assert_eq!(epsg_of(&part), None);
    }

    #[test]
    fn equivalent_projections_of_different_programs_are_equal() {
        let other = LAMBERT
            .replace("MGI_Austria_Lambert", "MGI / Austria Lambert")
            .replace("Lambert_Conformal_Conic", "Lambert_Conformal_Conic_2SP")
            .replace("False_Easting", "false_easting")
            .replace("Meter", "metre")
            .replace("13.3333333333333", "13.33333333");
        assert_eq!(same_projection(LAMBERT, &other), Some(true));
    }

    #[test]
    fn other_parameters_are_another_projection() {
        for (from, to) in [
            ("400000.0", "500000.0"),
            ("13.3333333333333", "10.3333333333333"),
            ("Lambert_Conformal_Conic", "Transverse_Mercator"),
            ("6377397.155", "6378137.0"),
            ("\"Meter\",1.0", "\"Foot\",0.3048"),
        ] {
            assert_eq!(same_projection(LAMBERT, &LAMBERT.replace(from, to)), Some(false), "{to}");
        }
        assert_eq!(same_projection(LAMBERT, "LOCAL_CS[\"mine\"]"), None);
        assert_eq!(same_projection("", ""), None);
    }

    #[test]
    fn a_projection_is_described_in_a_geotiff_by_its_code_or_its_wkt() {
        let keys = |text: &str| MapProjection::new(text).geo_keys();
        let with_code = LAMBERT.strip_suffix(']').unwrap().to_owned() + ",AUTHORITY[\"EPSG\",\"31287\"]]";
        for text in ["EPSG:31287", with_code.as_str()] {
            assert_eq!(keys(text), GeoKeys::of_code(31287), "{text}");
        }
        assert_eq!(MapProjection::of_geo_keys(keys(LAMBERT)).unwrap().wkt(), Some(LAMBERT));
        assert_eq!(MapProjection::of_geo_keys(keys("EPSG:31287")).unwrap().wkt(), None);
        assert_eq!(keys("my mountain"), GeoKeys::without_projection());
        // A GeoTIFF's own keys are kept.
        let named = GeoKeys::of_wkt("mine", "my mountain");
        assert_eq!(MapProjection::of_geo_keys(named.clone()).unwrap().geo_keys(), named);
    }

    #[test]
    fn the_wkt_beside_a_geotiff_is_kept() {
        let both = MapProjection::new("EPSG:31287").with_prj(Some(LAMBERT.to_owned()));
        assert_eq!((both.name(), both.wkt()), ("EPSG:31287".to_owned(), Some(LAMBERT)));
        assert_eq!(both.is_same(&MapProjection::new(LAMBERT)), Some(true));
        let other = LAMBERT.replace("400000.0", "500000.0");
        assert_eq!(both.is_same(&MapProjection::new(other)), Some(false));
        assert_eq!(MapProjection::new("EPSG:31287").is_same(&MapProjection::new(LAMBERT)), None);
    }

    #[test]
    fn coordinates_that_are_not_metres_are_a_problem() {
        let problem = |wkt: &str| MapProjection::new(wkt).problem();
        assert_eq!((problem(LAMBERT), problem("EPSG:31287"), problem("my mountain")), (None, None, None));
        let degrees = "GEOGCS[\"GCS_MGI\",DATUM[\"D_MGI\",SPHEROID[\"Bessel_1841\",6377397.155,299.1528128]],\
             PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";
        assert_eq!(problem(degrees).unwrap(), "longitudes and latitudes (GCS_MGI)");
        let feet = LAMBERT.replace("\"Meter\",1.0", "\"Foot\",0.3048");
        assert_eq!(problem(&feet).unwrap(), "a projection of units of 0.3048 m (MGI_Austria_Lambert)");
    }

    #[test]
    fn projections_of_the_world_and_degrees_are_a_problem_with_a_remedy() {
        let degrees = "GEOGCS[\"GCS_MGI\",DATUM[\"D_MGI\",SPHEROID[\"Bessel_1841\",6377397.155,299.1528128]],\
             PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";
        let heights = "VERT_CS[\"H\",VERT_DATUM[\"D\",2005],UNIT[\"metre\",1]]";
        let web = LAMBERT.replace("Lambert_Conformal_Conic", "Mercator_Auxiliary_Sphere");
        let second = "PROJCRS[\"P\",BASEGEOGCRS[\"WGS 84\"],CONVERSION[\"c\",METHOD[\"Popular Visualisation \
                      Pseudo Mercator\"]],CS[Cartesian,2],LENGTHUNIT[\"metre\",1]]";
        for (text, what) in [
            ("EPSG:4326", "longitudes and latitudes (EPSG:4326)"),
            ("EPSG:3857", "web Mercator, whose metre is not a metre on the ground (EPSG:3857)"),
            ("EPSG:3395", "a projection of the world, whose metre"),
            (&web, "a projection of the world, whose metre"),
            (second, "a projection of the world, whose metre"),
            (&format!("COMPD_CS[\"both\",{degrees},{heights}]"), "longitudes and latitudes (GCS_MGI)"),
            (&degrees.to_lowercase(), "longitudes and latitudes"),
        ] {
            let problem = MapProjection::new(text).problem().unwrap_or_else(|| panic!("{text}"));
            assert!(problem.starts_with(what), "{problem}");
        }
        for text in [
            LAMBERT.to_owned(),
            format!("COMPD_CS[\"both\",{LAMBERT},{heights}]"),
            LAMBERT.replace("Lambert_Conformal_Conic", "Transverse_Mercator"),
            LAMBERT.replace("Lambert_Conformal_Conic", "Hotine_Oblique_Mercator_Azimuth_Center"),
            "EPSG:25832+5783".to_owned(),
        ] {
            assert_eq!(MapProjection::new(text.clone()).problem(), None, "{text}");
        }
        let both = MapProjection::new(format!("COMPD_CS[\"both\",{LAMBERT},{heights}]"));
        assert_eq!(both.is_same(&MapProjection::new(LAMBERT)), Some(true));
        assert_eq!(MapProjection::new("EPSG:25832+5783").name(), "EPSG:25832");
        let remedy = MapProjection::new("EPSG:3857").remedy([1_269_042.0, 5_989_000.0]);
        assert_eq!(remedy, "gdalwarp -r bilinear -t_srs EPSG:32632 old.tif new.tif");
        assert!(MapProjection::new(degrees).remedy([170.5, -44.0]).contains("EPSG:32759"));
        let mut keys = GeoKeys::of_wkt("world", "x").directory();
        keys[3] += 1;
        keys.extend([3075, 0, 1, 7]);
        let keys = GeoKeys::new(&keys, Vec::new(), "world|x|".to_owned()).unwrap();
        assert!(keys.is_of_world());
    }
}
