//! Reads the vertices of a PLY file as particles.

use ply_rs_bw::ply::Property;

use super::columns::Columns;
use crate::load::ply::read_ply;

/// Reads the numbers of each vertex.
pub(super) fn read(bytes: &[u8]) -> Result<Columns, String> {
    let ply = read_ply(bytes)?;
    let vertices = ply.payload.get("vertex").ok_or("a PLY without the element vertex")?;
    let Some(first) = vertices.first() else { return Err("no particles".to_owned()) };
    let names: Vec<String> =
        first.iter().filter(|(_, value)| scalar(value).is_some()).map(|(name, _)| name.to_string()).collect();
    let mut columns = Columns::default();
    for name in names {
        let values =
            vertices.iter().map(|vertex| vertex.get(name.as_str()).and_then(scalar).unwrap_or(f64::NAN));
        columns.insert(&name, values.collect());
    }
    Ok(columns)
}

fn scalar(property: &Property) -> Option<f64> {
    match property {
        Property::Float(x) => Some(f64::from(*x)),
        Property::Double(x) => Some(*x),
        Property::Int(x) => Some(f64::from(*x)),
        Property::UInt(x) => Some(f64::from(*x)),
        Property::Short(x) => Some(f64::from(*x)),
        _ => None,
    }
}
