//! Lists the interface of a shader to host code: buffers, push constants, tunables and constants. A shader
//! with the same lines can replace another while the program runs.

use super::constants::constants;
use super::reflect::{Element, Struct};
use super::unit::Unit;
use std::collections::HashSet;

/// Returns the lines of a unit.
pub fn lines(unit: &Unit) -> Result<Vec<String>, String> {
    let (bindings, params) = unit.merged()?;
    let mut found = Vec::new();
    for binding in bindings {
        let access = binding.access();
        let element = binding.element.rust_type("");
        found.push(format!("buffer {}: {} of {element}, {access}", binding.slot, binding.name));
        structs(&binding.element, &mut found);
    }
    for field in params.iter().flat_map(|params| &params.fields) {
        let element = field.element.rust_type("");
        found.push(format!("push constant {} at byte {}: {element}", field.name, field.offset));
        structs(&field.element, &mut found);
    }
    for constant in unit.stages.iter().flat_map(|(.., interface)| &interface.specializations) {
        found.push(format!(
            "specialization constant {}: {}, {}, bits of its default {:#x}",
            constant.id,
            constant.name,
            if constant.is_float { "float" } else { "integer" },
            constant.default_bits
        ));
    }
    let included = unit.includes.values().flat_map(|text| constants(text));
    let all = unit.constants.iter().cloned().chain(included);
    found.extend(all.map(|constant| format!("constant {} = {}", constant.name, constant.value)));
    // A struct or a constant of two stages is one.
    let mut known = HashSet::new();
    found.retain(|line| known.insert(line.clone()));
    Ok(found)
}

/// Adds the fields of the structs in an element.
fn structs(element: &Element, found: &mut Vec<String>) {
    match element {
        Element::Struct(Struct { name, fields }) => {
            for field in fields {
                let element = field.element.rust_type("");
                found.push(format!("field {name}.{} at byte {}: {element}", field.name, field.offset));
                structs(&field.element, found);
            }
        }
        Element::Array(inner, _) => structs(inner, found),
        _ => {}
    }
}
