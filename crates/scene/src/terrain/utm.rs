//! The remedy for maps that are not in metres: reprojection to UTM.

/// Radius in m of the sphere of web Mercator.
const WEB_MERCATOR_RADIUS_M: f64 = 6_378_137.0;

/// Returns the command that reprojects a map to UTM, with the zone of a longitude and latitude in degrees, if
/// they are known.
pub(crate) fn utm_remedy(place_deg: Option<[f64; 2]>) -> String {
    format!("gdalwarp -r bilinear -t_srs {} old.tif new.tif", utm_of(place_deg))
}

/// Returns the EPSG code of the zone of UTM at a longitude and latitude in degrees.
pub(crate) fn utm_of(place_deg: Option<[f64; 2]>) -> String {
    let is_on_earth = |[longitude, latitude]: &[f64; 2]| longitude.abs() <= 180.0 && latitude.abs() <= 90.0;
    match place_deg.filter(is_on_earth) {
        Some([longitude, latitude]) => {
            let zone = ((longitude + 180.0) / 6.0).floor().clamp(0.0, 59.0) as u32 + 1;
            format!("EPSG:{}", if latitude < 0.0 { 32700 } else { 32600 } + zone)
        }
        // The last two digits are the zone.
        None => "EPSG:326NN".to_owned(),
    }
}

/// Returns the longitude and latitude in degrees of an easting and a northing in m of web Mercator.
pub(crate) fn of_web_mercator([x, y]: [f64; 2]) -> [f64; 2] {
    let latitude = (y / WEB_MERCATOR_RADIUS_M).sinh().atan();
    [(x / WEB_MERCATOR_RADIUS_M).to_degrees(), latitude.to_degrees()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_those_of_the_longitude() {
        for (place, code) in [
            ([11.4, 47.3], "EPSG:32632"),
            ([-122.0, 46.0], "EPSG:32610"),
            ([170.5, -44.0], "EPSG:32759"),
            ([180.0, 1.0], "EPSG:32660"),
        ] {
            assert_eq!(utm_of(Some(place)), code);
        }
        assert_eq!(utm_of(Some([400_000.0, 5e6])), "EPSG:326NN");
        let [longitude, latitude] = of_web_mercator([1_269_042.195, 5_989_000.0]);
        assert!((longitude - 11.4).abs() < 1e-3 && (latitude - 47.3).abs() < 0.1, "{longitude} {latitude}");
    }
}
