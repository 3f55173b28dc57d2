//! Parts of coordinate reference systems in WKT of both versions.

/// Keywords of horizontal systems.
const HORIZONTAL: [&str; 10] = [
    "PROJCS[",
    "PROJCRS[",
    "PROJECTEDCRS[",
    "GEOGCS[",
    "GEOGCRS[",
    "GEODCRS[",
    "GEOGRAPHICCRS[",
    "LOCAL_CS[",
    "ENGCRS[",
    "GEOCCS[",
];
/// Keywords of compound systems and of others around a system.
const COMPOUND: [&str; 4] = ["COMPD_CS[", "COMPOUNDCRS[", "BOUNDCRS[", "COORDINATEMETADATA["];
/// Keywords of systems of heights.
const VERTICAL: [&str; 4] = ["VERT_CS[", "VERTCRS[", "VERTICALCRS[", "VERTCS["];

/// Returns the horizontal part of a compound system; any other text as it is.
pub(super) fn horizontal_of(text: &str) -> &str {
    let trimmed = text.trim();
    let upper = trimmed.to_ascii_uppercase();
    if COMPOUND.iter().any(|keyword| upper.starts_with(keyword)) {
        return part(trimmed, &HORIZONTAL).unwrap_or(text);
    }
    // A code of a horizontal system and one of heights.
    match trimmed.split_once('+') {
        Some((code, _)) if upper.starts_with("EPSG:") => code,
        _ => text,
    }
}

/// Returns the length in m of the unit of heights of a compound system, or of a system of heights.
pub(super) fn vertical_unit_m(text: &str) -> Option<f64> {
    let vertical = part(text, &VERTICAL)?;
    let upper = vertical.to_ascii_uppercase();
    let unit = &vertical[upper.rfind("UNIT[")?..];
    unit.split([',', ']']).nth(1)?.trim().parse().ok().filter(|unit_m: &f64| *unit_m > 0.0)
}

/// Returns the name of the projection's method.
pub(super) fn method_of(wkt: &str) -> Option<String> {
    let found = part(wkt, &["PROJECTION[", "METHOD["])?;
    found.split('"').nth(1).map(str::to_owned)
}

/// Returns the first part of a WKT, with its brackets, that begins with one of the keywords.
fn part<'a>(wkt: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let upper = wkt.to_ascii_uppercase();
    let is_word = |at: usize| at == 0 || !upper.as_bytes()[at - 1].is_ascii_alphanumeric();
    let begins = |keyword: &&str| upper.match_indices(*keyword).map(|(at, _)| at).find(|at| is_word(*at));
    let begin = keywords.iter().filter_map(begins).min()?;
    let (mut depth, mut is_quoted) = (0_usize, false);
    for (at, byte) in wkt.bytes().enumerate().skip(begin) {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'[' if !is_quoted => depth += 1,
            b']' if !is_quoted && depth == 1 => return wkt.get(begin..=at),
            b']' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTM: &str = "PROJCS[\"UTM [32]\",GEOGCS[\"G\",UNIT[\"degree\",0.017]],\
                       PROJECTION[\"Transverse_Mercator\"],UNIT[\"metre\",1],AUTHORITY[\"EPSG\",\"25832\"]]";

    #[test]
    fn a_compound_system_has_a_horizontal_part_and_a_unit_of_heights() {
        let heights =
            "VERT_CS[\"H\",VERT_DATUM[\"D\",2005],UNIT[\"US survey foot\",0.304800609601219],AXIS[\"U\",UP]]";
        let compound = format!("COMPD_CS[\"both\",{UTM},{heights}]");
        assert_eq!(horizontal_of(&compound), UTM);
        assert_eq!(vertical_unit_m(&compound), Some(0.304800609601219));
        assert_eq!((horizontal_of(UTM), vertical_unit_m(UTM)), (UTM, None));
        assert_eq!(
            (horizontal_of("EPSG:25832+5783"), horizontal_of("EPSG:25832")),
            ("EPSG:25832", "EPSG:25832")
        );
        assert_eq!(horizontal_of("COMPD_CS[\"cut"), "COMPD_CS[\"cut");
        let bound = "BOUNDCRS[SOURCECRS[GEOGCRS[\"WGS 84\",ID[\"EPSG\",4326]]],TARGETCRS[GEOGCRS[\"x\"]]]";
        assert_eq!(horizontal_of(bound), "GEOGCRS[\"WGS 84\",ID[\"EPSG\",4326]]");
    }

    #[test]
    fn the_method_is_named_in_both_versions() {
        assert_eq!(method_of(UTM).as_deref(), Some("Transverse_Mercator"));
        let second = "PROJCRS[\"P\",BASEGEOGCRS[\"G\"],CONVERSION[\"c\",METHOD[\"Mercator (variant A)\"]]]";
        assert_eq!(method_of(second).as_deref(), Some("Mercator (variant A)"));
        assert_eq!(method_of("EPSG:25832"), None);
    }
}
