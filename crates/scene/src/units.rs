//! Names and units of keys, which their suffixes give.

/// Units of keys by suffix; longer suffixes come before those that end them.
const UNITS: &[(&str, &str)] = &[
    ("_pa_s_n", "Pa sⁿ"),
    ("_w_m2_k", "W/(m² K)"),
    ("_w_m_k", "W/(m K)"),
    ("_j_kg_k", "J/(kg K)"),
    ("_j_kg", "J/kg"),
    ("_kg_m3", "kg/m³"),
    ("_kg_m2", "kg/m²"),
    ("_m2_s", "m²/s"),
    ("_m_s2", "m/s²"),
    ("_rad_s", "rad/s"),
    ("_pa_s", "Pa s"),
    ("_n_m", "N/m"),
    ("_m_n", "m/N"),
    ("_n_s", "N s"),
    ("_m_s", "m/s"),
    ("_per_s", "1/s"),
    ("_per_m", "1/m"),
    ("_1_s", "1/s"),
    ("_1_m", "1/m"),
    ("_kg_s", "kg/s"),
    ("_spacings", "spacings"),
    ("_deg", "°"),
    ("_hz", "Hz"),
    ("_px", "px"),
    ("_pa", "Pa"),
    ("_kg", "kg"),
    ("_c", "°C"),
    ("_k", "K"),
    ("_n", "N"),
    ("_m", "m"),
    ("_s", "s"),
];

/// Returns the name of a key in words, and the unit that its suffix names or nothing for a dimensionless
/// quantity.
pub(crate) fn name_and_unit(key: &str) -> (String, &'static str) {
    let end = key.rsplit_once('.').map_or(key, |(_, end)| end);
    let of_suffix = UNITS.iter().find_map(|(suffix, unit)| Some((end.strip_suffix(suffix)?, *unit)));
    let (name, unit) = of_suffix.unwrap_or((end, ""));
    (name.replace('_', " "), unit)
}

/// Returns the unit of a key: by its suffix, or for an element of an array or table by that of its parent.
pub(crate) fn unit_of(key: &str) -> &'static str {
    let (parent, _) = key.rsplit_once('.').unwrap_or_default();
    match name_and_unit(key).1 {
        "" => name_and_unit(parent).1,
        unit => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_follow_from_keys() {
        for (key, name, unit) in [
            ("gravity_m_s2", "gravity", "m/s²"),
            ("fluid.dynamic_viscosity_pa_s", "dynamic viscosity", "Pa s"),
            ("mpm.material.youngs_modulus_pa", "youngs modulus", "Pa"),
            ("dem.normal_stiffness_n_m", "normal stiffness", "N/m"),
            ("mpm.material.relaxation_time_s", "relaxation time", "s"),
            ("fluid.wall_friction", "wall friction", ""),
            ("mpm.material.poissons_ratio", "poissons ratio", ""),
        ] {
            assert_eq!(name_and_unit(key), (name.to_owned(), unit), "{key}");
        }
    }
}
