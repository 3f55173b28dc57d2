//! Moves loads of push constants to the start of their function.
//!
//! A push constant has one value in all threads, but Mesa before 23.1 loads it in llvmpipe lane by lane wherever the
//! load stands, such as in the innermost loop over neighbours, at the price of a load of a buffer. No optimizer
//! on the way moves it: SPIR-V's leaves loops alone, and LLVM must assume that a store to a buffer changes it.
//! On GPUs nothing changes: their compilers read push constants where they need them.

use std::collections::{BTreeMap, BTreeSet};

const HEADER_WORDS: usize = 5;
const BOUND: usize = 3;
const OP_CONSTANT: u32 = 43;
const OP_FUNCTION: u32 = 54;
const OP_VARIABLE: u32 = 59;
const OP_LOAD: u32 = 61;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_COPY_OBJECT: u32 = 83;
const OP_LABEL: u32 = 248;
const OP_LINE: u32 = 8;
const OP_NO_LINE: u32 = 317;
const PUSH_CONSTANT: u32 = 9;

/// Loads of one function, by the indices of the access chain: the type of the pointer, that of the value, and the id
/// of the value at the start of the function.
type Loads = BTreeMap<Vec<u32>, [u32; 3]>;

/// Returns a module in which each function loads a push constant at most once, at its start; accesses with computed
/// indices stay where they are.
pub fn hoist_push_constants(words: &[u32]) -> Vec<u32> {
    let variables: BTreeSet<u32> = instructions(words)
        .filter(|i| opcode(i) == OP_VARIABLE && i[3] == PUSH_CONSTANT)
        .map(|i| i[2])
        .collect();
    let constants: BTreeSet<u32> =
        instructions(words).filter(|i| opcode(i) == OP_CONSTANT).map(|i| i[2]).collect();
    // The pointers to push constants: type, and the variable with the indices.
    let chains: BTreeMap<u32, (u32, Vec<u32>)> = instructions(words)
        .filter(|i| opcode(i) == OP_ACCESS_CHAIN && variables.contains(&i[3]))
        .filter(|i| i[4..].iter().all(|index| constants.contains(index)))
        .map(|i| (i[2], (i[1], i[3..].to_vec())))
        .collect();

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
            match (opcode(instruction), chains.get(instruction.get(3).unwrap_or(&0))) {
                (OP_LOAD, Some((pointer_type, place))) => {
                    let [value_type, value] = [instruction[1], instruction[2]];
                    let loaded =
                        loads.entry(place.clone()).or_insert_with(|| [*pointer_type, value_type, new_id()]);
                    body.push(vec![4 << 16 | OP_COPY_OBJECT, value_type, value, loaded[2]]);
                }
                _ => body.push(instruction.to_vec()),
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

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// Returns the instructions of a module, or of a part of one with `words` from its first on.
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
