//! Metadata that GDAL writes into a TIFF: scale, offset and unit of the first band.

use roxmltree::Document;

use super::geo_keys::{FOOT_M, US_SURVEY_FOOT_M};
use crate::format::text::number_token;

/// Scale, offset and unit of a band: its heights are `scale` times its values plus `offset`.
#[derive(Debug, PartialEq)]
pub(super) struct GdalMetadata {
    pub(super) scale: f64,
    pub(super) offset: f64,
    unit: String,
}

impl GdalMetadata {
    /// Tag of the metadata, an XML text.
    pub(super) const TAG: u16 = 42112;

    /// Reads the metadata of a file, if it has any. The error describes the problem.
    pub(super) fn read(text: Option<String>) -> Result<Self, String> {
        let mut found = Self { scale: 1.0, offset: 0.0, unit: String::new() };
        let Some(text) = text else { return Ok(found) };
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        // Metadata of other programs are none of heights.
        let Ok(document) = Document::parse(text) else { return Ok(found) };
        let of_first = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name("Item") && node.attribute("sample").is_none_or(|sample| sample == "0")
        };
        for item in document.descendants().filter(of_first) {
            let word = item.text().unwrap_or_default().trim();
            let number = |name: &str| match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => {
                    Err(format!("{} as the {name} of heights, where a number is needed", number_token(word)))
                }
            };
            match item.attribute("role") {
                Some("scale") => found.scale = number("scale")?,
                Some("offset") => found.offset = number("offset")?,
                Some("unittype") => found.unit = word.to_owned(),
                _ => {}
            }
        }
        if found.scale == 0.0 {
            return Err("a scale of 0 of heights".to_owned());
        }
        Ok(found)
    }

    /// Returns the length of the heights' unit in m; 1 if none is given.
    pub(super) fn unit_m(&self) -> Result<f64, String> {
        let name: String = self.unit.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        match name.as_str() {
            "" | "m" | "metre" | "metres" | "meter" | "meters" => Ok(1.0),
            "ft" | "foot" | "feet" | "internationalfoot" | "internationalfeet" => Ok(FOOT_M),
            "ftus" | "usft" | "ussurveyfoot" | "ussurveyfeet" | "footus" => Ok(US_SURVEY_FOOT_M),
            _ => Err(format!("heights in {:?}, where metres or feet are needed", self.unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(items: &str) -> Result<GdalMetadata, String> {
        GdalMetadata::read(Some(format!("<GDALMetadata>{items}</GDALMetadata>\n\0")))
    }

    #[test]
    fn scale_offset_and_unit_of_the_first_band_are_read() {
        let items = "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.1</Item><Item name=\"OFFSET\" \
                     sample=\"0\" role=\"offset\">-5</Item><Item name=\"SCALE\" sample=\"1\" \
                     role=\"scale\">7</Item><Item name=\"UNITTYPE\" sample=\"0\" \
                     role=\"unittype\">US survey foot</Item><Item name=\"AREA\">x</Item>";
        let found = read(items).unwrap();
        assert_eq!((found.scale, found.offset, found.unit_m()), (0.1, -5.0, Ok(1200.0 / 3937.0)));
        let feet = read("<Item role=\"unittype\" sample=\"0\">ft</Item>").unwrap();
        assert_eq!((feet.scale, feet.offset, feet.unit_m()), (1.0, 0.0, Ok(0.3048)));
        let fathoms = read("<Item role=\"unittype\">fathom</Item>").unwrap();
        assert_eq!(fathoms.unit_m().unwrap_err(), "heights in \"fathom\", where metres or feet are needed");
        assert_eq!(
            read("<Item role=\"scale\">tenth</Item>").unwrap_err(),
            "text as the scale of heights, where a number is needed"
        );
        assert_eq!(GdalMetadata::read(None).unwrap().unit_m(), Ok(1.0));
        assert_eq!(GdalMetadata::read(Some("<x".to_owned())).unwrap(), GdalMetadata::read(None).unwrap());
    }
}
