//! Moves loads of constants to the start of their function: of push constants, and of elements with a
//! constant index of structures in buffers that a shader only reads, such as `terms[0]`.
//!
//! Such a value is the same in all threads, but Mesa before 23.1 loads it in llvmpipe lane by lane wherever
//! the load stands in divergent control flow, such as in the innermost loop over neighbours or after an early
//! return, at the price of a load of a neighbour. No optimizer on the way moves it: SPIR-V's leaves loops
//! alone, and LLVM must assume that a store to a buffer changes it. On GPUs the values would occupy registers
//! from the start of a kernel to their use, so that only software devices take such a module.
//!
//! Buffers of one dispatch do not overlap unless all are read only, so that a load at the start has the same
//! value. Scalars in buffers stay where they are: such a buffer may have no element where the load is not
//! reached.

use std::collections::{BTreeMap, BTreeSet};

const HEADER_WORDS: usize = 5;
const BOUND: usize = 3;
const OP_LINE: u32 = 8;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_CONSTANT: u32 = 43;
const OP_FUNCTION: u32 = 54;
const OP_VARIABLE: u32 = 59;
const OP_LOAD: u32 = 61;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_DECORATE: u32 = 71;
const OP_MEMBER_DECORATE: u32 = 72;
const OP_COPY_OBJECT: u32 = 83;
const OP_LABEL: u32 = 248;
const OP_NO_LINE: u32 = 317;
const PUSH_CONSTANT: u32 = 9;
const STORAGE_BUFFER: u32 = 12;
const NON_WRITABLE: u32 = 24;

/// Loads of one function, by the variable and the indices of the access chain: the type of the pointer, that
/// of the value, and the id of the value at the start of the function.
type Loads = BTreeMap<Vec<u32>, [u32; 3]>;

/// Returns a module in which each function loads a constant at most once, at its start; accesses with
/// computed indices stay where they are.
pub fn hoist_constants(words: &[u32]) -> Vec<u32> {
    let constants = Constants::of(words);
    let mut bound = words[BOUND];
    let mut new_id = || {
        bound += 1;
        bound - 1
    };
    let mut result = words[..HEADER_WORDS].to_vec();
    let (before, functions) = functions(words);
    result.extend(before);
    for function in functions {
        let mut loads = Loads::new();
        let mut body = Vec::new();
        for instruction in &function {
            match constants.loaded_by(instruction) {
                Some((pointer_type, place)) => {
                    let [value_type, value] = [instruction[1], instruction[2]];
                    let loaded =
                        loads.entry(place.clone()).or_insert_with(|| [*pointer_type, value_type, new_id()]);
                    body.push(vec![4 << 16 | OP_COPY_OBJECT, value_type, value, loaded[2]]);
                }
                None => body.push(instruction.to_vec()),
            }
        }
        // Variables of the function come first in its first block.
        let label = body.iter().position(|i| opcode(i) == OP_LABEL).map_or(body.len(), |at| at + 1);
        let is_variable = |i: &Vec<u32>| matches!(opcode(i), OP_VARIABLE | OP_LINE | OP_NO_LINE);
        let start = label + body[label..].iter().take_while(|i| is_variable(i)).count();
        result.extend(body[..start].iter().flatten());
        for (place, [pointer_type, value_type, value]) in loads {
            let pointer = new_id();
            result.extend([(3 + place.len() as u32) << 16 | OP_ACCESS_CHAIN, pointer_type, pointer]);
            result.extend(place);
            result.extend([4 << 16 | OP_LOAD, value_type, value, pointer]);
        }
        result.extend(body[start..].iter().flatten());
    }
    result[BOUND] = bound;
    result
}

/// Pointers of a module to constants.
struct Constants {
    /// Of each pointer: its type, and the variable with the indices.
    chains: BTreeMap<u32, (u32, Vec<u32>)>,
    push_constants: BTreeSet<u32>,
    structs: BTreeSet<u32>,
}

impl Constants {
    fn of(words: &[u32]) -> Self {
        let all = |op: u32| instructions(words).filter(move |i| opcode(i) == op);
        let structs: BTreeSet<u32> = all(OP_TYPE_STRUCT).map(|i| i[1]).collect();
        let pointees: BTreeMap<u32, u32> = all(OP_TYPE_POINTER).map(|i| (i[1], i[3])).collect();
        let read_only: BTreeSet<u32> = all(OP_MEMBER_DECORATE)
            .filter(|i| i[2] == 0 && i[3] == NON_WRITABLE)
            .chain(all(OP_DECORATE).filter(|i| i[2] == NON_WRITABLE))
            .map(|i| i[1])
            .collect();
        let variables = |class: u32| all(OP_VARIABLE).filter(move |i| i[3] == class);
        let push_constants: BTreeSet<u32> = variables(PUSH_CONSTANT).map(|i| i[2]).collect();
        let buffers: BTreeSet<u32> = variables(STORAGE_BUFFER)
            .filter(|i| {
                read_only.contains(&i[2]) || pointees.get(&i[1]).is_some_and(|t| read_only.contains(t))
            })
            .map(|i| i[2])
            .collect();
        let constants: BTreeSet<u32> = all(OP_CONSTANT).map(|i| i[2]).collect();
        let chains = all(OP_ACCESS_CHAIN)
            .filter(|i| push_constants.contains(&i[3]) || buffers.contains(&i[3]))
            .filter(|i| i[4..].iter().all(|index| constants.contains(index)))
            .map(|i| (i[2], (i[1], i[3..].to_vec())))
            .collect();
        Self { chains, push_constants, structs }
    }

    /// Returns the type of the pointer and the place of a load of a constant.
    fn loaded_by(&self, instruction: &[u32]) -> Option<&(u32, Vec<u32>)> {
        // A load with operands, such as a volatile one, stays.
        if opcode(instruction) != OP_LOAD || instruction.len() != 4 {
            return None;
        }
        let chain = self.chains.get(&instruction[3])?;
        // The array of a buffer, the element, and a member of it.
        let is_of_struct = self.structs.contains(&instruction[1]) || chain.1.len() > 3;
        (self.push_constants.contains(&chain.1[0]) || is_of_struct).then_some(chain)
    }
}

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// Returns the instructions of a module.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = &words[HEADER_WORDS..];
    std::iter::from_fn(move || {
        let n = (*rest.first()? >> 16).max(1) as usize;
        let (first, after) = rest.split_at(n.min(rest.len()));
        rest = after;
        Some(first)
    })
}

/// Returns the words of a module before its functions, and the instructions of each function.
fn functions(words: &[u32]) -> (Vec<u32>, Vec<Vec<&[u32]>>) {
    let (mut before, mut functions) = (Vec::new(), Vec::<Vec<&[u32]>>::new());
    for instruction in instructions(words) {
        if opcode(instruction) == OP_FUNCTION {
            functions.push(Vec::new());
        }
        match functions.last_mut() {
            Some(function) => function.push(instruction),
            None => before.extend(instruction),
        }
    }
    (before, functions)
}
