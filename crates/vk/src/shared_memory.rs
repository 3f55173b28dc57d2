//! Shared-memory size of a compute shader, from its SPIR-V and the values of its specialisation constants.

use std::collections::HashMap;

const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_CONSTANT_TRUE: u32 = 41;
const OP_CONSTANT_FALSE: u32 = 42;
const OP_CONSTANT: u32 = 43;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_SPEC_CONSTANT_OP: u32 = 52;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const OP_FUNCTION: u32 = 54;

const DECORATION_SPEC_ID: u32 = 1;
const STORAGE_CLASS_WORKGROUP: u32 = 4;

/// Returns the size in bytes of all variables in workgroup memory, with members packed without padding;
/// `values` are the specialisation constants by id. Returns none if a size depends on an operation that is
/// not evaluated here (other than unsigned arithmetic, shifts and selections of 32-bit values), rather than a
/// wrong size.
pub(crate) fn shared_memory_bytes(spirv: &[u8], values: &HashMap<u32, u32>) -> Option<u64> {
    let words: Vec<u32> = spirv
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let mut ids: HashMap<u32, u32> = HashMap::new();
    let mut constants: HashMap<u32, u64> = HashMap::new();
    let mut sizes: HashMap<u32, u64> = HashMap::new();
    let mut pointees: HashMap<u32, u32> = HashMap::new();
    let mut total = 0;
    let mut at = 5;
    while at < words.len() {
        let (opcode, length) = (words[at] & 0xffff, (words[at] >> 16) as usize);
        let operands = words.get(at + 1..at + length.max(1))?;
        let operand = |i: usize| operands.get(i).copied();
        let specialized = |id: u32, default: u32| -> u64 {
            ids.get(&id).and_then(|spec| values.get(spec)).copied().unwrap_or(default).into()
        };
        match opcode {
            OP_DECORATE if operand(1) == Some(DECORATION_SPEC_ID) => {
                ids.insert(operand(0)?, operand(2)?);
            }
            OP_TYPE_BOOL => drop(sizes.insert(operand(0)?, 4)),
            OP_TYPE_INT | OP_TYPE_FLOAT => drop(sizes.insert(operand(0)?, u64::from(operand(1)?) / 8)),
            OP_TYPE_VECTOR | OP_TYPE_MATRIX => {
                let element = sizes.get(&operand(1)?).copied();
                if let Some(size) = element {
                    sizes.insert(operand(0)?, size * u64::from(operand(2)?));
                }
            }
            OP_TYPE_ARRAY => {
                let (element, length) = (sizes.get(&operand(1)?), constants.get(&operand(2)?));
                if let (Some(element), Some(length)) = (element, length) {
                    sizes.insert(operand(0)?, element.checked_mul(*length)?);
                }
            }
            OP_TYPE_STRUCT => {
                let members: Option<Vec<u64>> =
                    operands[1..].iter().map(|member| sizes.get(member).copied()).collect();
                if let Some(members) = members {
                    sizes.insert(operand(0)?, members.iter().sum());
                }
            }
            OP_TYPE_POINTER => drop(pointees.insert(operand(0)?, operand(2)?)),
            OP_CONSTANT_TRUE | OP_CONSTANT_FALSE => {
                constants.insert(operand(1)?, u64::from(opcode == OP_CONSTANT_TRUE));
            }
            OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE => {
                let value = specialized(operand(1)?, u32::from(opcode == OP_SPEC_CONSTANT_TRUE));
                constants.insert(operand(1)?, value);
            }
            OP_CONSTANT => drop(constants.insert(operand(1)?, operand(2)?.into())),
            OP_SPEC_CONSTANT => {
                let value = specialized(operand(1)?, operand(2)?);
                constants.insert(operand(1)?, value);
            }
            OP_SPEC_CONSTANT_OP => {
                let arguments: Option<Vec<u64>> =
                    operands.get(3..)?.iter().map(|id| constants.get(id).copied()).collect();
                if let Some(value) = arguments.and_then(|arguments| evaluate(operand(2)?, &arguments)) {
                    constants.insert(operand(1)?, value);
                }
            }
            OP_VARIABLE if operand(2) == Some(STORAGE_CLASS_WORKGROUP) => {
                total += sizes.get(pointees.get(&operand(0)?)?)?;
            }
            // Shared variables are global: all of them are declared before the first function.
            OP_FUNCTION => break,
            _ => {}
        }
        at += length.max(1);
    }
    Some(total)
}

/// Evaluates an operation on 32-bit unsigned constants.
fn evaluate(opcode: u32, arguments: &[u64]) -> Option<u64> {
    let wrapped = |value: u64| Some(value & 0xffff_ffff);
    let truth = |value: bool| Some(u64::from(value));
    match (opcode, arguments) {
        (128, [a, b]) => wrapped(a.wrapping_add(*b)),
        (130, [a, b]) => wrapped(a.wrapping_sub(*b)),
        (132, [a, b]) => wrapped(a.wrapping_mul(*b)),
        (134, [a, b]) => a.checked_div(*b),
        (137, [a, b]) => a.checked_rem(*b),
        (169, [condition, a, b]) => Some(if *condition != 0 { *a } else { *b }),
        (170, [a, b]) => truth(a == b),
        (171, [a, b]) => truth(a != b),
        (172, [a, b]) => truth(a > b),
        (174, [a, b]) => truth(a >= b),
        (176, [a, b]) => truth(a < b),
        (178, [a, b]) => truth(a <= b),
        (194, [a, b]) if *b < 32 => Some(a >> b),
        (196, [a, b]) if *b < 32 => wrapped(a << b),
        (197, [a, b]) => Some(a | b),
        (199, [a, b]) => Some(a & b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(instructions: &[&[u32]]) -> Vec<u8> {
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, 100, 0];
        for instruction in instructions {
            words.push(instruction[0] | (instruction.len() as u32) << 16);
            words.extend(&instruction[1..]);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// `shared uint a[WORKGROUP_SIZE * 2]; shared struct { vec3 x; uint n; } b[3];` with the group size as
    /// constant 0.
    fn example(operation: u32) -> Vec<u8> {
        module(&[
            &[OP_DECORATE, 10, DECORATION_SPEC_ID, 0],
            &[OP_TYPE_INT, 1, 32, 0],
            &[OP_TYPE_FLOAT, 2, 32],
            &[OP_TYPE_VECTOR, 3, 2, 3],
            &[OP_SPEC_CONSTANT, 1, 10, 256],
            &[OP_CONSTANT, 1, 11, 2],
            &[OP_CONSTANT, 1, 12, 3],
            &[OP_SPEC_CONSTANT_OP, 1, 13, operation, 10, 11],
            &[OP_TYPE_ARRAY, 4, 1, 13],
            &[OP_TYPE_STRUCT, 5, 3, 1],
            &[OP_TYPE_ARRAY, 6, 5, 12],
            &[OP_TYPE_POINTER, 7, STORAGE_CLASS_WORKGROUP, 4],
            &[OP_TYPE_POINTER, 8, STORAGE_CLASS_WORKGROUP, 6],
            &[OP_VARIABLE, 7, 20, STORAGE_CLASS_WORKGROUP],
            &[OP_VARIABLE, 8, 21, STORAGE_CLASS_WORKGROUP],
        ])
    }

    #[test]
    fn sizes_follow_the_constants() {
        assert_eq!(shared_memory_bytes(&example(132), &HashMap::new()), Some(4 * 512 + 3 * 16));
        assert_eq!(shared_memory_bytes(&example(132), &HashMap::from([(0, 64)])), Some(4 * 128 + 3 * 16));
        assert_eq!(shared_memory_bytes(&module(&[]), &HashMap::new()), Some(0));
    }

    #[test]
    fn expressions_that_cannot_be_evaluated_have_no_value() {
        assert_eq!(shared_memory_bytes(&example(9999), &HashMap::new()), None);
        let mut cut = example(132);
        cut.truncate(cut.len() - 4);
        assert_eq!(shared_memory_bytes(&cut, &HashMap::new()), None);
    }

    #[test]
    fn operations_are_those_of_the_specification() {
        for (opcode, arguments, expected) in [
            (128, &[0xffff_ffff, 2][..], Some(1)),
            (130, &[1, 2], Some(0xffff_ffff)),
            (134, &[7, 2], Some(3)),
            (134, &[7, 0], None),
            (137, &[7, 4], Some(3)),
            (169, &[1, 5, 6], Some(5)),
            (169, &[0, 5, 6], Some(6)),
            (172, &[3, 2], Some(1)),
            (176, &[3, 2], Some(0)),
            (194, &[256, 4], Some(16)),
            (196, &[1, 31], Some(1 << 31)),
            (196, &[1, 32], None),
        ] {
            assert_eq!(evaluate(opcode, arguments), expected, "{opcode} of {arguments:?}");
        }
    }
}
