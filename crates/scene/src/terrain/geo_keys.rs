//! Keys that describe the projection of a GeoTIFF (GeoTIFF 1.1, OGC 19-008r4).

/// Keys of the directory, and their values.
pub(crate) const MODEL_TYPE: u16 = 1024;
pub(crate) const RASTER_TYPE: u16 = 1025;
pub(crate) const CITATION: u16 = 1026;
pub(crate) const GEOGRAPHIC_SYSTEM: u16 = 2048;
pub(crate) const PROJECTED_SYSTEM: u16 = 3072;
pub(crate) const PROJECTED_CITATION: u16 = 3073;
const PROJECTION_METHOD: u16 = 3075;
pub(crate) const LINEAR_UNIT: u16 = 3076;
const VERTICAL_SYSTEM: u16 = 4096;
const VERTICAL_UNIT: u16 = 4099;
pub(crate) const PROJECTED: u16 = 1;
pub(crate) const GEOGRAPHIC: u16 = 2;
pub(crate) const PIXEL_IS_AREA: u16 = 1;
pub(crate) const PIXEL_IS_POINT: u16 = 2;
pub(crate) const METRE: u16 = 9001;
const USER_DEFINED: u16 = 32767;
/// EPSG units of heights, and their lengths in m.
const FOOT: u16 = 9002;
const US_SURVEY_FOOT: u16 = 9003;
pub(crate) const FOOT_M: f64 = 0.3048;
pub(crate) const US_SURVEY_FOOT_M: f64 = 1200.0 / 3937.0;
/// EPSG codes of systems of heights in feet: NAVD88 in feet and in US survey feet, NGVD29.
const SYSTEMS_IN_FEET: [u16; 1] = [8228];
const SYSTEMS_IN_US_SURVEY_FEET: [u16; 2] = [6360, 5702];
/// Methods of projection whose scale is true along a line or at a point of the world only: Mercator,
/// equirectangular, gnomonic, Miller, orthographic, Robinson, sinusoidal, van der Grinten, cylindrical equal
/// area.
const WORLD_METHODS: [u16; 9] = [7, 17, 19, 20, 21, 23, 24, 25, 28];
/// First key of the vertical system, which describes heights.
const FIRST_VERTICAL: u16 = 4096;

/// Tag of the texts of keys.
const TEXTS_TAG: u16 = 34737;

/// Prefix of a citation that holds the WKT of a projection without a code, as ArcGIS and GDAL write and read
/// it.
const WKT_CITATION: &str = "ESRI PE String = ";

/// The GeoKey directory of a GeoTIFF, and the numbers and texts of its keys, which have tags of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeoKeys {
    /// Key, tag of its value (0 for the directory itself), number of values, and value or offset.
    entries: Vec<[u16; 4]>,
    numbers: Vec<f64>,
    texts: String,
}

impl GeoKeys {
    /// Returns the keys in the three tags of a file. The error describes the problem.
    pub(crate) fn new(directory: &[u16], numbers: Vec<f64>, texts: String) -> Result<Self, String> {
        let entries: Vec<[u16; 4]> =
            directory.chunks_exact(4).skip(1).map(|e| [e[0], e[1], e[2], e[3]]).collect();
        match directory.get(3) {
            Some(&n) if usize::from(n) == entries.len() => Ok(Self { entries, numbers, texts }),
            _ => Err("a GeoKeyDirectory that ends before its keys do".to_owned()),
        }
    }

    /// Returns the keys of a raster without a projection.
    pub fn without_projection() -> Self {
        Self { entries: vec![[RASTER_TYPE, 0, 1, PIXEL_IS_AREA]], ..Self::default() }
    }

    /// Returns the keys of a projection in metres with an EPSG code.
    pub(crate) fn of_code(code: u16) -> Self {
        Self {
            entries: vec![
                [MODEL_TYPE, 0, 1, PROJECTED],
                [RASTER_TYPE, 0, 1, PIXEL_IS_AREA],
                [PROJECTED_SYSTEM, 0, 1, code],
                [LINEAR_UNIT, 0, 1, METRE],
            ],
            ..Self::default()
        }
    }

    /// Returns the keys of a projection in metres without a code. GDAL reads the WKT only if the model is
    /// user-defined.
    pub(crate) fn of_wkt(name: &str, wkt: &str) -> Self {
        let mut texts = String::new();
        let mut text = |key, text: &str| {
            let begin = texts.len() as u16;
            // Texts are ASCII and end with a bar.
            texts.extend(text.chars().map(|c| if c.is_ascii() && !"|\0".contains(c) { c } else { '?' }));
            texts.push('|');
            [key, TEXTS_TAG, texts.len() as u16 - begin, begin]
        };
        Self {
            entries: vec![
                [MODEL_TYPE, 0, 1, USER_DEFINED],
                [RASTER_TYPE, 0, 1, PIXEL_IS_AREA],
                text(CITATION, name),
                [PROJECTED_SYSTEM, 0, 1, USER_DEFINED],
                text(PROJECTED_CITATION, &format!("{WKT_CITATION}{wkt}")),
                [LINEAR_UNIT, 0, 1, METRE],
            ],
            numbers: Vec::new(),
            texts,
        }
    }

    /// Returns these keys for a raster of areas that are not heights.
    pub(crate) fn of_areas(&self) -> Self {
        let kept = self.entries.iter().filter(|entry| entry[0] != RASTER_TYPE && entry[0] < FIRST_VERTICAL);
        let mut entries: Vec<_> = kept.copied().chain([[RASTER_TYPE, 0, 1, PIXEL_IS_AREA]]).collect();
        entries.sort_by_key(|entry| entry[0]);
        Self { entries, ..self.clone() }
    }

    /// Returns the words of the GeoKeyDirectory tag.
    pub fn directory(&self) -> Vec<u16> {
        [1, 1, 0, self.entries.len() as u16]
            .into_iter()
            .chain(self.entries.iter().flatten().copied())
            .collect()
    }

    /// Returns the numbers of the GeoDoubleParams tag; none if the file has no such tag.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Returns the text of the GeoAsciiParams tag; empty if the file has no such tag.
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Returns the value of a key that is stored in the directory itself.
    pub(crate) fn short(&self, key: u16) -> Option<u16> {
        self.entries.iter().find(|entry| entry[0] == key && entry[1] == 0).map(|entry| entry[3])
    }

    fn text(&self, key: u16) -> Option<&str> {
        let entry = self.entries.iter().find(|entry| entry[0] == key && entry[1] == TEXTS_TAG)?;
        let begin = usize::from(entry[3]);
        let text = self.texts.get(begin..begin + usize::from(entry[2]))?;
        Some(text.trim_end_matches(['|', '\0']))
    }

    /// Returns the projection: `EPSG:` and its code, its WKT, or its name.
    pub(crate) fn projection(&self) -> Option<&str> {
        let citation = self.text(PROJECTED_CITATION).or(self.text(CITATION))?;
        Some(citation.strip_prefix(WKT_CITATION).unwrap_or(citation))
    }

    /// Returns true if the method of projection is one for maps of the world, whose metres are not metres of
    /// the ground.
    pub(crate) fn is_of_world(&self) -> bool {
        self.short(PROJECTION_METHOD).is_some_and(|method| WORLD_METHODS.contains(&method))
    }

    /// Returns the length of the unit of heights in m, if the keys give it.
    pub(crate) fn vertical_unit_m(&self) -> Result<Option<f64>, String> {
        match (self.short(VERTICAL_UNIT), self.short(VERTICAL_SYSTEM)) {
            (Some(METRE), _) => Ok(Some(1.0)),
            (Some(FOOT), _) => Ok(Some(FOOT_M)),
            (Some(US_SURVEY_FOOT), _) => Ok(Some(US_SURVEY_FOOT_M)),
            (Some(unit), _) if unit != USER_DEFINED && unit != 0 => Err(format!(
                "heights in EPSG unit {unit}, where metres ({METRE}) or feet ({FOOT}, {US_SURVEY_FOOT}) are needed"
            )),
            (_, Some(system)) if SYSTEMS_IN_FEET.contains(&system) => Ok(Some(FOOT_M)),
            (_, Some(system)) if SYSTEMS_IN_US_SURVEY_FEET.contains(&system) => Ok(Some(US_SURVEY_FOOT_M)),
            _ => Ok(None),
        }
    }

    /// Returns the EPSG code of the projection.
    pub(crate) fn code(&self) -> Option<u16> {
        self.short(PROJECTED_SYSTEM).filter(|code| *code != USER_DEFINED && *code != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_from_their_tags() {
        let wkt = "PROJCS[\"Höhe\",UNIT[\"Meter\",1.0]]";
        for keys in [GeoKeys::of_code(31287), GeoKeys::of_wkt("Höhe", wkt), GeoKeys::without_projection()] {
            let again = GeoKeys::new(&keys.directory(), keys.numbers().to_vec(), keys.texts().to_owned());
            assert_eq!(again.as_ref(), Ok(&keys));
            assert!(keys.directory()[4..].chunks(4).is_sorted_by_key(|entry| entry[0]), "{keys:?}");
        }
        assert_eq!(GeoKeys::of_code(31287).code(), Some(31287));
        assert_eq!(GeoKeys::without_projection().projection(), None);
        let keys = GeoKeys::of_wkt("Höhe", wkt);
        assert_eq!(keys.short(MODEL_TYPE), Some(USER_DEFINED));
        assert_eq!((keys.code(), keys.projection()), (None, Some(wkt.replace('ö', "?").as_str())));
        assert_eq!(keys.text(CITATION), Some("H?he"));
    }

    #[test]
    fn a_directory_that_is_cut_is_refused() {
        let words = GeoKeys::of_code(31287).directory();
        assert!(GeoKeys::new(&words[..12], Vec::new(), String::new()).is_err());
        assert!(GeoKeys::new(&[], Vec::new(), String::new()).is_err());
    }

    #[test]
    fn keys_of_points_and_heights_do_not_apply_to_a_raster_of_areas() {
        let mut keys = GeoKeys::of_code(31287);
        keys.entries[1][3] = PIXEL_IS_POINT;
        keys.entries.push([FIRST_VERTICAL, 0, 1, 5778]);
        assert_eq!(keys.of_areas(), GeoKeys::of_code(31287));
    }
}
