//! Reflects the interface of a compiled shader: buffers with element types and access, push constants,
//! specialisation.

use spirq::prelude::*;
use spirq::ty::{self, AccessType, DescriptorType};
use std::collections::{HashMap, HashSet};

/// Complete interface of a shader.
#[derive(Debug)]
pub struct Interface {
    pub bindings: Vec<Binding>,
    pub params: Option<Struct>,
    pub specializations: Vec<Specialization>,
}

/// A storage buffer: one unsized array.
#[derive(Debug, PartialEq, Eq)]
pub struct Binding {
    pub slot: u32,
    pub name: String,
    pub element: Element,
    pub reads: bool,
    /// True if an instruction writes it.
    pub writes: bool,
}

/// A type shared by Rust and GLSL; it has the same bytes on both sides under `layout(scalar)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    Scalar(&'static str),
    Vector(&'static str, u32),
    Matrix(u32, u32),
    Array(Box<Element>, u32),
    Struct(Struct),
}

/// A struct shared by Rust and GLSL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Struct {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A field of a shared struct, at `offset` bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub offset: usize,
    pub element: Element,
}

/// A 32-bit specialisation constant with its default, as bits.
#[derive(Debug, PartialEq, Eq)]
pub struct Specialization {
    pub id: u32,
    pub name: String,
    pub is_float: bool,
    pub default_bits: u32,
}

/// Id of the specialisation constant from which every compute shader takes its workgroup size.
pub const WORKGROUP_SIZE_ID: u32 = 0;

impl Element {
    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Scalar(name) => scalar_size(name),
            Self::Vector(name, n) => scalar_size(name) * *n as usize,
            Self::Matrix(columns, rows) => 4 * (*columns * *rows) as usize,
            Self::Array(element, n) => element.size() * *n as usize,
            Self::Struct(s) => s.size(),
        }
    }

    /// Returns the type in Rust; structs are in the module `types` of `root`, without a path if that is
    /// empty.
    pub fn rust_type(&self, root: &str) -> String {
        match self {
            Self::Scalar(name) => (*name).to_owned(),
            Self::Vector(name, n) => format!("[{name}; {n}]"),
            Self::Matrix(columns, rows) => format!("[[f32; {rows}]; {columns}]"),
            Self::Array(inner, n) => format!("[{}; {n}]", inner.rust_type(root)),
            Self::Struct(s) if root.is_empty() => s.name.clone(),
            Self::Struct(s) => format!("{root}::types::{}", s.name),
        }
    }
}

impl Binding {
    /// Returns the word for the access to the buffer.
    pub fn access(&self) -> &'static str {
        match (self.reads, self.writes) {
            (true, false) => "read",
            (false, true) => "written",
            _ => "read and written",
        }
    }
}

impl Struct {
    /// Returns the size in bytes under `layout(scalar)`: no padding but what 8-byte scalars need, which are
    /// not used.
    pub fn size(&self) -> usize {
        self.fields.iter().map(|field| field.offset + field.element.size()).max().unwrap_or(0)
    }
}

fn scalar_size(name: &str) -> usize {
    if name.ends_with("64") { 8 } else { 4 }
}

/// Reflects one entry point. Errors name the binding or field that cannot be shared with Rust, and the
/// reason.
pub fn reflect(words: &[u32]) -> Result<Interface, String> {
    let entry_points = ReflectConfig::new()
        .spv(words)
        .ref_all_rscs(true)
        .reflect()
        .map_err(|e| format!("reflection failed: {e}"))?;
    let entry = entry_points.first().ok_or("no entry point")?;
    let written = written_slots(words);
    let mut bindings = Vec::new();
    let mut params = None;
    for variable in &entry.vars {
        match variable {
            Variable::Descriptor { name, desc_bind, desc_ty, ty, .. } => {
                if !matches!(desc_ty, DescriptorType::StorageBuffer(_)) || desc_bind.set() != 0 {
                    return Err(format!(
                        "{desc_bind}: only storage buffers of set 0 can be bound, found {desc_ty:?}"
                    ));
                }
                let mut binding = reflect_binding(name.as_deref(), desc_bind.bind(), ty)?;
                // Without `readonly`, too: an include may have functions that write, which are not called.
                binding.writes &= !binding.reads || written.contains(&binding.slot);
                bindings.push(binding);
            }
            Variable::PushConstant { ty, .. } => match element(ty, "push constants")? {
                Element::Struct(block) if block.size() <= 128 => {
                    params = Some(Struct { name: "Params".into(), ..block })
                }
                other => {
                    return Err(format!(
                        "push constants take {} bytes, at most 128 are portable",
                        other.size()
                    ));
                }
            },
            _ => {}
        }
    }
    bindings.sort_by_key(|binding| binding.slot);
    for (i, binding) in bindings.iter().enumerate() {
        if binding.slot as usize != i && entry.exec_model == spirq::entry_point::ExecutionModel::GLCompute {
            return Err(format!(
                "binding {} is \"{}\", expected binding {i}: slots must be 0, 1, 2 … and every buffer \
                 declared must be used",
                binding.slot, binding.name
            ));
        }
    }
    Ok(Interface { bindings, params, specializations: specializations(words) })
}

fn reflect_binding(name: Option<&str>, slot: u32, ty: &Type) -> Result<Binding, String> {
    let block = ty.as_struct().ok_or_else(|| format!("binding {slot} is not a block"))?;
    let [member] = block.members.as_slice() else {
        return Err(format!(
            "binding {slot}: a block holds one unsized array, found {} members",
            block.members.len()
        ));
    };
    let name = member
        .name
        .clone()
        .or_else(|| name.map(str::to_owned))
        .ok_or_else(|| format!("binding {slot} has no name"))?;
    let Type::Array(array) = &member.ty else {
        return Err(format!("binding {slot} \"{name}\": expected an unsized array"));
    };
    let element = element(&array.element_ty, &name)?;
    let stride = array.stride.unwrap_or(0);
    if array.nelement.is_some() || stride != element.size() {
        return Err(format!(
            "binding {slot} \"{name}\": elements lie {stride} bytes apart but take {}: declare the block \
             layout(scalar)",
            element.size()
        ));
    }
    let (reads, writes) = match member.access_ty {
        AccessType::ReadOnly => (true, false),
        AccessType::WriteOnly => (false, true),
        AccessType::ReadWrite => (true, true),
    };
    Ok(Binding { slot, name, element, reads, writes })
}

fn scalar(ty: &ty::ScalarType) -> Result<&'static str, String> {
    Ok(match ty {
        ty::ScalarType::Float { bits: 32 } => "f32",
        ty::ScalarType::Float { bits: 64 } => "f64",
        ty::ScalarType::Integer { bits: 32, is_signed: false } => "u32",
        ty::ScalarType::Integer { bits: 32, is_signed: true } => "i32",
        ty::ScalarType::Integer { bits: 64, is_signed: false } => "u64",
        ty::ScalarType::Integer { bits: 64, is_signed: true } => "i64",
        other => return Err(format!("scalar type {other:?} cannot cross to Rust")),
    })
}

fn element(ty: &Type, place: &str) -> Result<Element, String> {
    let in_place = |e: String| format!("\"{place}\": {e}");
    Ok(match ty {
        Type::Scalar(s) => Element::Scalar(scalar(s).map_err(in_place)?),
        Type::Vector(v) => Element::Vector(scalar(&v.scalar_ty).map_err(in_place)?, v.nscalar),
        Type::Matrix(m) => Element::Matrix(m.nvector, m.vector_ty.nscalar),
        Type::Array(a) => {
            let n = a.nelement.ok_or_else(|| format!("\"{place}\": an unsized array inside a struct"))?;
            let inner = element(&a.element_ty, place)?;
            if a.stride != Some(inner.size()) {
                return Err(format!(
                    "\"{place}\": array elements are padded: declare the block layout(scalar)"
                ));
            }
            Element::Array(Box::new(inner), n)
        }
        Type::Struct(s) => {
            let mut fields = Vec::new();
            let mut end = 0;
            for member in &s.members {
                let name = member.name.clone().ok_or_else(|| format!("\"{place}\": a field has no name"))?;
                let field =
                    Field { offset: member.offset.unwrap_or(0), element: element(&member.ty, &name)?, name };
                if field.offset != end {
                    return Err(format!(
                        "\"{place}.{}\" lies at byte {} but the fields before it end at {end}: declare the \
                         block layout(scalar)",
                        field.name, field.offset
                    ));
                }
                end += field.element.size();
                fields.push(field);
            }
            Element::Struct(Struct { name: s.name.clone().unwrap_or_default(), fields })
        }
        other => return Err(format!("\"{place}\": type {other:?} cannot cross to Rust")),
    })
}

/// Iterates over the instructions of SPIR-V: opcodes and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut at = 5;
    std::iter::from_fn(move || {
        let &first = words.get(at)?;
        let length = (first >> 16).max(1) as usize;
        let operands = words.get(at + 1..at + length)?;
        at += length;
        Some((first & 0xffff, operands))
    })
}

/// Finds the slots of the buffers that an instruction of optimized SPIR-V writes.
fn written_slots(words: &[u32]) -> HashSet<u32> {
    const OP_FUNCTION_CALL: u32 = 57;
    const OP_STORE: u32 = 62;
    const OP_COPY_MEMORY: u32 = 63;
    const OP_COPY_MEMORY_SIZED: u32 = 64;
    const OP_ACCESS_CHAIN: u32 = 65;
    const OP_IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
    const OP_PTR_ACCESS_CHAIN: u32 = 67;
    const OP_DECORATE: u32 = 71;
    const OP_COPY_OBJECT: u32 = 83;
    const OP_SELECT: u32 = 169;
    const OP_ATOMIC_STORE: u32 = 228;
    const OP_ATOMIC_EXCHANGE: u32 = 229;
    const OP_ATOMIC_XOR: u32 = 242;
    const OP_PHI: u32 = 245;
    const OP_ATOMIC_FLAG_TEST_AND_SET: u32 = 318;
    const OP_ATOMIC_FLAG_CLEAR: u32 = 319;
    const OP_ATOMIC_F_MIN: u32 = 5614;
    const OP_ATOMIC_F_MAX: u32 = 5615;
    const OP_ATOMIC_F_ADD: u32 = 6035;
    const DECORATION_BINDING: u32 = 33;
    // Slots by the ids of variables, and of pointers into them.
    let mut slots: HashMap<u32, u32> = HashMap::new();
    let mut written = HashSet::new();
    for (opcode, operands) in instructions(words) {
        let pointers = match opcode {
            OP_DECORATE if operands[1] == DECORATION_BINDING => {
                slots.insert(operands[0], operands[2]);
                continue;
            }
            OP_ACCESS_CHAIN | OP_IN_BOUNDS_ACCESS_CHAIN | OP_PTR_ACCESS_CHAIN | OP_COPY_OBJECT => {
                if let Some(&slot) = slots.get(&operands[2]) {
                    slots.insert(operands[1], slot);
                }
                continue;
            }
            OP_STORE | OP_COPY_MEMORY | OP_COPY_MEMORY_SIZED | OP_ATOMIC_STORE | OP_ATOMIC_FLAG_CLEAR => {
                &operands[..1]
            }
            OP_ATOMIC_EXCHANGE..=OP_ATOMIC_XOR
            | OP_ATOMIC_FLAG_TEST_AND_SET
            | OP_ATOMIC_F_MIN
            | OP_ATOMIC_F_MAX
            | OP_ATOMIC_F_ADD => &operands[2..3],
            // What becomes of these pointers is not followed.
            OP_FUNCTION_CALL | OP_SELECT | OP_PHI => &operands[2..],
            _ => continue,
        };
        written.extend(pointers.iter().filter_map(|pointer| slots.get(pointer)));
    }
    written
}

/// Reads names, ids and defaults of specialisation constants from the SPIR-V words themselves: the reflection
/// library drops the defaults, and the workgroup size's constant has no name in GLSL.
fn specializations(words: &[u32]) -> Vec<Specialization> {
    const OP_NAME: u32 = 5;
    const OP_TYPE_FLOAT: u32 = 22;
    const OP_SPEC_CONSTANT: u32 = 50;
    const OP_DECORATE: u32 = 71;
    const DECORATION_SPEC_ID: u32 = 1;
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut ids: HashMap<u32, u32> = HashMap::new();
    let mut float_types = Vec::new();
    let mut found = Vec::new();
    for (opcode, operands) in instructions(words) {
        match opcode {
            OP_NAME => {
                let bytes: Vec<u8> =
                    operands[1..].iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
                names.insert(operands[0], String::from_utf8_lossy(&bytes).into_owned());
            }
            OP_DECORATE if operands[1] == DECORATION_SPEC_ID => {
                ids.insert(operands[0], operands[2]);
            }
            OP_TYPE_FLOAT => float_types.push(operands[0]),
            OP_SPEC_CONSTANT => {
                if let Some(&id) = ids.get(&operands[1]) {
                    let name = if id == WORKGROUP_SIZE_ID {
                        "workgroup_size".to_owned()
                    } else {
                        names
                            .get(&operands[1])
                            .map(|n| n.to_lowercase())
                            .unwrap_or_else(|| format!("constant_{id}"))
                    };
                    let is_float = float_types.contains(&operands[0]);
                    found.push(Specialization { id, name, is_float, default_bits: operands[2] });
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|s| s.id);
    found.dedup_by_key(|s| s.id);
    found
}
