//! Emits the Rust text of the generated modules.

use super::compile::Stage;
use super::constants::Constant;
use super::expression::Expression;
use super::interface;
use super::reflect::{Binding, Element, Specialization, Struct};
use super::unit::Unit;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of buffers that a shader may bind. Devices may allow no more than 32 push descriptors; the
/// rest is a reserve.
const MAX_BINDINGS: usize = 16;

/// Returns the source of all modules, plus `types` with the structs that shaders share. The constants of an
/// include become a module of its name, or belong to the shader of that name. Paths of
/// SPIR-V files have no folder, so that a build in another folder is the same.
pub fn rust_source<'a>(
    units: impl Iterator<Item = &'a Unit>,
    includes: &BTreeMap<(String, String), Vec<Constant>>,
) -> Result<String, String> {
    let mut includes = includes.clone();
    let mut areas: BTreeMap<String, String> = BTreeMap::new();
    let mut shared: BTreeMap<String, Struct> = BTreeMap::new();
    let (mut kernels, mut rasters, mut interfaces) = (String::new(), String::new(), String::new());
    for unit in units {
        let (area, name) = (&unit.area, &unit.name);
        let _ = match unit.is_compute() {
            true => writeln!(kernels, "&{area}::{name}::KERNEL,"),
            false => writeln!(rasters, "&{area}::{name}::RASTER,"),
        };
        let included = includes.remove(&(unit.area.clone(), unit.name.clone())).unwrap_or_default();
        let module =
            module(unit, &included, &mut shared).map_err(|e| format!("glsl/{area}/{name}:1: {e}"))?;
        let lines = interface::lines(unit).map_err(|e| format!("glsl/{area}/{name}:1: {e}"))?;
        let _ = writeln!(interfaces, "(\"{area}.{name}\", &{lines:?}),");
        areas.entry(unit.area.clone()).or_default().push_str(&module);
    }
    for ((area, name), constants) in includes {
        let module = areas.entry(area.clone()).or_default();
        let _ = writeln!(module, "/// Constants of `glsl/{area}/{name}.glsl`.\npub mod {name} {{");
        constant_definitions(module, constants.iter())?;
        module.push_str("}\n");
    }
    let mut source = format!(
        "/// All kernels, by name.\npub static KERNELS: &[&frazil_vk::KernelSource] = &[\n{kernels}];\n\
         /// All raster pipelines, by name.\n\
         pub static RASTERS: &[&frazil_vk::RasterSource] = &[\n{rasters}];\n\
         /// Interface of each shader to host code, an item a line: buffers, push constants, specialization\n\
         /// constants and constants. A shader with the same lines can replace it.\n\
         pub static INTERFACES: &[(&str, &[&str])] = &[\n{interfaces}];\n"
    );
    for (area, modules) in areas {
        let _ = writeln!(source, "/// Shaders of `glsl/{area}`.\npub mod {area} {{\n{modules}}}");
    }
    source.push_str(
        "/// Structs that several shaders share, laid out as GLSL's `layout(scalar)` does.\npub \
                     mod types {\n",
    );
    for definition in shared.values() {
        struct_definition(&mut source, definition);
    }
    source.push_str("}\n");
    Ok(source)
}

/// Returns the number of elements of each binding that a dispatch reaches, as Rust closures by the binding's
/// name, where the header states it: `Elements: column = threads * WORDS, nodes = active_count *
/// BLOCK_NODES.`
///
/// Names are `threads`, specialization constants, constants made of them, `uint` push constants, bindings,
/// which stand for the count that the host expects in their first element, and `all`, more elements than any
/// buffer has.
fn elements(
    unit: &Unit,
    bindings: &[&Binding],
    params: Option<&Struct>,
) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let clauses = unit.doc.iter().filter_map(|line| line.trim().strip_prefix("Elements:"));
    for clause in clauses.flat_map(|line| line.trim().trim_end_matches('.').split(',')) {
        let bad = |problem: String| format!("Elements: \"{}\": {problem}", clause.trim());
        let (name, value) =
            clause.split_once('=').ok_or_else(|| bad("expected buffer = expression".into()))?;
        let name = name.trim();
        if !bindings.iter().any(|binding| binding.name == name) {
            return Err(bad(format!("no buffer is named {name}")));
        }
        let value =
            Expression::parse(value).ok_or_else(|| bad("expected + - * / << of names and numbers".into()))?;
        let rust = value.rust(&|name| rust_operand(unit, bindings, params, name));
        let rust = rust.map_err(|name| bad(format!("{name} is no constant, parameter or buffer")))?;
        let reach = if rust.contains("reach") { "reach" } else { "_" };
        if found.insert(name.to_owned(), format!("Some(|{reach}| {rust})")).is_some() {
            return Err(bad(format!("{name} has its elements given already")));
        }
    }
    Ok(found)
}

/// Returns the floating-point operations that a header declares, as Rust: `Work: 9 flop per particle, 4 *
/// DIMENSIONS flop per listed_neighbour.` Items are the names of a solver's work counters, and `particle`;
/// names in the number of operations are specialization constants, and constants made of them.
fn work(unit: &Unit) -> Result<String, String> {
    let clauses = unit.doc.iter().filter_map(|line| line.trim().strip_prefix("Work:"));
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for clause in clauses.flat_map(|line| line.trim().trim_end_matches('.').split(',')) {
        let bad = |problem: &str| format!("Work: \"{}\": {problem}", clause.trim());
        let (flop, item) = clause.split_once("flop per ").ok_or_else(|| bad("expected N flop per item"))?;
        let item = item.trim();
        if item.is_empty() || item.contains(char::is_whitespace) {
            return Err(bad("expected one word after \"per\""));
        }
        let flop =
            Expression::parse(flop).ok_or_else(|| bad("expected + - * / << of constants and numbers"))?;
        let operand = |name: &str| (name != "threads").then(|| rust_operand(unit, &[], None, name))?;
        let flop = flop.rust(&operand).map_err(|name| bad(&format!("{name} is no constant")))?;
        if found.insert(item.to_owned(), flop).is_some() {
            return Err(bad("the item has its flop given already"));
        }
    }
    let declared = found.iter().map(|(item, flop)| {
        let reach = if flop.contains("reach") { "reach" } else { "_" };
        format!("frazil_vk::WorkSource {{ flop: |{reach}| {flop}, item: {item:?} }}")
    });
    Ok(declared.collect::<Vec<_>>().join(", "))
}

/// Returns the byte offset of a `uint` push constant; `name` may be the path of a struct field.
fn offset_of(params: &Struct, name: &str) -> Option<usize> {
    let (name, rest) = name.split_once('.').map_or((name, None), |(name, rest)| (name, Some(rest)));
    let field = params.fields.iter().find(|f| f.name == name)?;
    match (&field.element, rest) {
        (Element::Scalar("u32"), None) => Some(field.offset),
        (Element::Struct(inner), Some(rest)) => Some(field.offset + offset_of(inner, rest)?),
        _ => None,
    }
}

/// Returns the Rust text of one name in an `Elements:` line.
fn rust_operand(unit: &Unit, bindings: &[&Binding], params: Option<&Struct>, name: &str) -> Option<String> {
    if name == "threads" {
        return Some("reach.threads".into());
    }
    let specializations = &unit.stages.first()?.2.specializations;
    if let Some(place) = specializations.iter().position(|s| s.name == name.to_lowercase()) {
        return Some(format!("u64::from(reach.specialization[{place}])"));
    }
    if name == "all" {
        return Some("u64::MAX".into());
    }
    if let Some(offset) = params.and_then(|params| offset_of(params, name)) {
        return Some(format!("reach.parameter({offset})"));
    }
    if let Some(binding) = bindings.iter().find(|b| b.name == name) {
        return Some(format!("reach.counts[{}]", binding.slot));
    }
    let definition = unit.definitions.get(name)?;
    definition.rust(&|name| rust_operand(unit, bindings, params, name)).ok()
}

/// Returns constants as Rust definitions; a name defined twice is refused unless both values agree.
fn constant_definitions<'a>(
    out: &mut String,
    constants: impl Iterator<Item = &'a Constant>,
) -> Result<(), String> {
    let mut defined: BTreeMap<&str, u32> = BTreeMap::new();
    for Constant { name, value, doc } in constants {
        match defined.insert(name, *value) {
            None => {
                let doc = if doc.is_empty() { format!("`{name}` in GLSL.") } else { prose(doc) };
                let _ = writeln!(out, "/// {doc}\npub const {name}: u32 = {value};");
            }
            Some(other) if other == *value => {}
            Some(other) => return Err(format!("{name} is {value} in one stage and {other} in another")),
        }
    }
    Ok(())
}

/// Escapes a comment line, which is prose with lists, not Markdown with links and code blocks. A line that is
/// indented goes on with the item above it; a sum in a formula is no list.
fn prose(line: &str) -> String {
    let text = line.trim_start();
    let indent = if line.len() - text.len() > 1 { "  " } else { "" };
    let text = text.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<");
    let sign = if text.starts_with("+ ") { "\\" } else { "" };
    format!("{indent}{sign}{text}")
}

fn module(
    unit: &Unit,
    included: &[Constant],
    shared: &mut BTreeMap<String, Struct>,
) -> Result<String, String> {
    let (bindings, params) = unit.merged()?;
    for (i, binding) in bindings.iter().enumerate() {
        if binding.slot as usize != i {
            return Err(format!(
                "binding slots must be 0, 1, 2 …: \"{}\" has slot {}",
                binding.name, binding.slot
            ));
        }
        collect_structs(&binding.element, shared)?;
    }
    if bindings.len() > MAX_BINDINGS {
        return Err(format!("binds {} buffers, at most {MAX_BINDINGS} are allowed", bindings.len()));
    }
    for field in params.iter().flat_map(|p| &p.fields) {
        collect_structs(&field.element, shared)?;
    }

    let mut out = String::new();
    for line in &unit.doc {
        let _ = writeln!(out, "/// {}", prose(line));
    }
    if unit.doc.is_empty() {
        return Err("expected a header comment that says what the shader computes".into());
    }
    let _ = writeln!(out, "pub mod {} {{", unit.name);
    let label = format!("{}.{}", unit.area, unit.name);
    let is_compute = unit.is_compute();
    constant_definitions(&mut out, included.iter().chain(&unit.constants))?;
    let elements = elements(unit, &bindings, params)?;
    if !is_compute && !elements.is_empty() {
        return Err("Elements: only compute shaders have such lines".into());
    }
    let (kind, source, constant) = if is_compute {
        ("KernelInterface", "KernelSource", "KERNEL")
    } else {
        ("RasterInterface", "RasterSource", "RASTER")
    };
    let _ = writeln!(out, "/// Interface of `{label}` for the device.");
    let _ =
        writeln!(out, "pub static {constant}: frazil_vk::{source} = frazil_vk::{source} {{ name: {label:?},");
    for (stage, ..) in &unit.stages {
        let field = match stage {
            Stage::Compute => "spirv",
            Stage::Vertex => "vertex_spirv",
            Stage::Fragment => "fragment_spirv",
        };
        let _ = writeln!(out, "{field}: include_bytes!({:?}),", unit.spirv_file(*stage));
    }
    out.push_str("bindings: &[");
    for binding in &bindings {
        let _ = write!(
            out,
            "frazil_vk::BindingSource {{ name: {:?}, element_bytes: {}, reads: {}, writes: {}, elements: {} \
             }},",
            binding.name,
            binding.element.size(),
            binding.reads,
            binding.writes,
            elements.get(binding.name.as_str()).map_or("None", String::as_str)
        );
    }
    let _ = writeln!(out, "], params_bytes: {},", params.map_or(0, Struct::size));
    if is_compute {
        out.push_str("specializations: &[");
        for spec in &unit.stages[0].2.specializations {
            let _ = write!(
                out,
                "frazil_vk::SpecializationSource {{ name: {:?}, id: {}, default_bits: {} }},",
                spec.name, spec.id, spec.default_bits
            );
        }
        let _ = write!(out, "], work: &[{}],", work(unit)?);
        if !unit.stages[0].2.specializations.iter().any(|s| s.id == super::reflect::WORKGROUP_SIZE_ID) {
            return Err("no group size: include \"common/kernel.glsl\"".into());
        }
    }
    out.push_str("};\n");

    let lifetime = if bindings.is_empty() { "" } else { "<'a>" };
    let _ =
        writeln!(out, "/// The buffers of `{label}`, by the names they have there.\n#[derive(Clone, Copy)]");
    let _ = writeln!(out, "pub struct Bindings{lifetime} {{");
    for binding in &bindings {
        let _ = writeln!(out, "/// Binding {} ({}).", binding.slot, binding.access());
        let buffer = match is_count(binding) {
            true => "DeviceCount".to_owned(),
            false => format!("Buffer<{}>", binding.element.rust_type("super::super")),
        };
        let _ = writeln!(out, "pub {}: &'a frazil_vk::{buffer},", binding.name);
    }
    out.push_str("}\n");
    match params {
        Some(params) => struct_definition_in(&mut out, params, "super::super"),
        None => out.push_str("/// This shader takes no parameters.\npub type Params = ();\n"),
    }
    if is_compute {
        specialization_struct(&mut out, &label, &unit.stages[0].2.specializations);
    }
    let _ = writeln!(
        out,
        "/// Ties the types of `{label}` together.\n#[derive(Clone, Copy, Debug)]\npub enum Interface {{}}"
    );
    let anonymous = if bindings.is_empty() { "" } else { "<'a>" };
    let _ = writeln!(out, "impl frazil_vk::{kind} for Interface {{");
    let _ = writeln!(out, "type Bindings<'a> = Bindings{anonymous}; type Params = Params;");
    if is_compute {
        out.push_str("type Specialization = Specialization;\n");
        out.push_str("fn specialization_bits(s: &Specialization) -> Vec<u32> { s.bits() }\n");
    }
    let _ = writeln!(out, "fn source() -> &'static frazil_vk::{source} {{ &{constant} }}");
    let field = |b: &&Binding| if is_count(b) { "count.count".to_owned() } else { b.name.clone() };
    let names: Vec<String> = bindings.iter().map(|b| format!("b.{}.raw()", field(b))).collect();
    let argument = if bindings.is_empty() { "_" } else { "b" };
    let _ = writeln!(
        out,
        "fn buffers<'a>({argument}: &Self::Bindings<'a>) -> impl AsRef<[&'a frazil_vk::RawBuffer]> {{ [{}] \
         as [&frazil_vk::RawBuffer; {}] }}\n}}",
        names.join(", "),
        names.len()
    );
    if is_compute && bindings.iter().any(|b| is_count(b)) {
        out.push_str("impl frazil_vk::CountedInterface for Interface {\n");
        out.push_str("fn count<'a>(b: &Self::Bindings<'a>) -> &'a frazil_vk::DeviceCount { b.count }\n}\n");
    }
    out.push_str("}\n");
    Ok(out)
}

/// Returns true for the count of the elements of a dispatch, by its name and type.
fn is_count(binding: &Binding) -> bool {
    binding.name == "count" && binding.element == Element::Scalar("u32")
}

fn collect_structs(element: &Element, shared: &mut BTreeMap<String, Struct>) -> Result<(), String> {
    match element {
        Element::Struct(definition) => {
            for field in &definition.fields {
                collect_structs(&field.element, shared)?;
            }
            match shared.get(&definition.name) {
                Some(other) if other != definition => Err(format!(
                    "struct {} is laid out differently here than in another shader",
                    definition.name
                )),
                _ => {
                    shared.insert(definition.name.clone(), definition.clone());
                    Ok(())
                }
            }
        }
        Element::Array(inner, _) => collect_structs(inner, shared),
        _ => Ok(()),
    }
}

fn struct_definition(out: &mut String, definition: &Struct) {
    struct_definition_in(out, definition, "");
}

fn struct_definition_in(out: &mut String, definition: &Struct, root: &str) {
    let name = &definition.name;
    let _ = writeln!(out, "/// `{name}` as the shader declares it, {} bytes.", definition.size());
    let _ = writeln!(
        out,
        "#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]"
    );
    let _ = writeln!(out, "pub struct {name} {{");
    for field in &definition.fields {
        let _ = writeln!(
            out,
            "/// At byte {}.\npub {}: {},",
            field.offset,
            field.name,
            field.element.rust_type(root)
        );
    }
    out.push_str("}\nconst _: () = {\n");
    let _ = writeln!(out, "assert!(size_of::<{name}>() == {});", definition.size());
    for field in &definition.fields {
        let _ = writeln!(out, "assert!(core::mem::offset_of!({name}, {}) == {});", field.name, field.offset);
    }
    out.push_str("};\n");
}

fn specialization_struct(out: &mut String, label: &str, specializations: &[Specialization]) {
    let _ = writeln!(out, "/// The tunables of `{label}`; `default()` is what the shader declares.");
    out.push_str("#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Specialization {\n");
    let ty = |s: &Specialization| if s.is_float { "f32" } else { "u32" };
    for spec in specializations {
        let _ = writeln!(out, "/// Constant {}.\npub {}: {},", spec.id, spec.name, ty(spec));
    }
    out.push_str("}\nimpl Default for Specialization { fn default() -> Self { Self {\n");
    for spec in specializations {
        if spec.is_float {
            let _ = writeln!(out, "{}: f32::from_bits({}),", spec.name, spec.default_bits);
        } else {
            let _ = writeln!(out, "{}: {},", spec.name, spec.default_bits);
        }
    }
    out.push_str(
        "} } }\nimpl Specialization {\n/// The values in the order of their ids.\npub fn \
                  bits(&self) -> Vec<u32> { vec![\n",
    );
    for spec in specializations {
        let bits = if spec.is_float { ".to_bits()" } else { "" };
        let _ = writeln!(out, "self.{}{bits},", spec.name);
    }
    out.push_str("] }\n}\n");
}
