//! Mutations of files.
//!
//! Bytes are flipped, cut, repeated and spliced, and integers and floats at any offset become extremes. Text
//! is cut into tokens, and tokens are replaced by others of the corpus and by hostile numbers, so that most
//! mutations still pass the parser and reach the checks behind it.

use crate::random::Random;

/// Kind of a format, by which its files are mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines of words and numbers.
    Text,
    /// Anything else.
    Binary,
}

/// Longest file that mutations make, in bytes: longer ones only take longer.
const MAX_BYTES: usize = 1 << 18;

/// Numbers at the limits of their types, beyond them, and values that other formats write.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "0.5",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "+inf",
    "1e400",
    "-1e400",
    "1e-400",
    "1e308",
    "-1e308",
    "1e39",
    "3.5e38",
    "1e18",
    "1e19",
    "1e-18",
    "1e-30",
    "5e-324",
    "1e9",
    "1e6",
    "1e3",
    "1e-3",
    "1e-9",
    "255",
    "256",
    "-128",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "1000000000",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0x7fffffffffffffff",
    "1_000",
    "0o17",
    "00",
    "1.",
    ".5",
    "1e",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"auto\"",
    "\"é\"",
    "[0, 0, 0]",
    "[nan, 0, 0]",
    "1979-05-27",
];

/// Integers at the limits of their types; truncated to the width that is written.
const EXTREMES: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX - 7,
    u64::MAX,
];

const FLOATS: &[f64] = &[
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    -1.0,
    1e-300,
    1e300,
    -1e300,
    3.5e38,
    1e38,
    1e18,
    1e-45,
];

/// Mutates one of `seeds`, a few times; `words` are tokens that the format knows.
///
/// # Panics
/// If there is no seed.
pub fn mutate(kind: Kind, seeds: &[Vec<u8>], words: &[String], random: &mut Random) -> Vec<u8> {
    let seed = random.pick(seeds).clone();
    mutate_file(kind, seed, seeds, words, random)
}

/// Mutates a file a few times, with pieces of `seeds`.
///
/// # Panics
/// If there is no seed.
pub fn mutate_file(
    kind: Kind,
    mut bytes: Vec<u8>,
    seeds: &[Vec<u8>],
    words: &[String],
    random: &mut Random,
) -> Vec<u8> {
    for _ in 0..random.few() {
        let is_text = kind == Kind::Text && !random.once_in(8);
        if is_text {
            bytes = mutate_text(bytes, seeds, words, random);
        } else {
            mutate_bytes(&mut bytes, seeds, random);
        }
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

fn mutate_bytes(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let n = bytes.len();
    if n == 0 {
        bytes.extend(random.bits().to_le_bytes());
        return;
    }
    match random.below(13) {
        0 | 1 => bytes[random.below(n)] ^= 1 << random.below(8),
        2 => bytes[random.below(n)] = random.bits() as u8,
        3 | 4 => {
            let width = *random.pick(&[1, 2, 4, 8]);
            write_integer(bytes, width, random);
        }
        5 => {
            let value = *random.pick(FLOATS);
            let is_single = random.once_in(2);
            let (single, double) = ((value as f32).to_le_bytes(), value.to_le_bytes());
            overwrite(bytes, random.below(n), if is_single { &single } else { &double });
        }
        6 => bytes.truncate(random.below(n)),
        7 => {
            let range = random.range(n, 64);
            bytes.drain(range);
        }
        8 => {
            let range = random.range(n, 64);
            let piece = bytes[range].to_vec();
            let at = random.below(n);
            bytes.splice(at..at, piece);
        }
        9 => {
            let range = random.range(n, 64);
            let value = *random.pick(&[0, 0xff, b' ']);
            bytes[range].fill(value);
        }
        10 => {
            let piece: Vec<u8> = (0..1 + random.below(32)).map(|_| random.bits() as u8).collect();
            let at = random.below(n + 1);
            bytes.splice(at..at, piece);
        }
        11 => {
            let other = random.pick(seeds);
            let range = random.range(other.len(), other.len());
            overwrite(bytes, random.below(n), &other[range]);
        }
        _ => {
            let other = random.pick(seeds);
            bytes.truncate(random.below(n));
            bytes.extend(&other[random.below(other.len())..]);
        }
    }
}

/// Writes an integer at the limits of its type, or adds a small number to the one that is there, at a place
/// that is aligned more often than not.
fn write_integer(bytes: &mut [u8], width: usize, random: &mut Random) {
    let mut at = random.below(bytes.len());
    if !random.once_in(3) {
        at -= at % width;
    }
    let is_big_endian = random.once_in(3);
    let found: Vec<u8> = bytes[at..].iter().copied().take(width).collect();
    let value = if random.once_in(3) {
        let byte = |byte: &u8| u64::from(*byte);
        let fold = |value: u64, byte: u64| value << 8 | byte;
        let old = match is_big_endian {
            true => found.iter().map(byte).fold(0, fold),
            false => found.iter().rev().map(byte).fold(0, fold),
        };
        old.wrapping_add(random.below(9) as u64).wrapping_sub(4)
    } else {
        *random.pick(EXTREMES)
    };
    let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
    overwrite(bytes, at, if is_big_endian { &big[8 - width..] } else { &little[..width] });
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    bytes.iter_mut().skip(at).zip(with).for_each(|(byte, with)| *byte = *with);
}

fn mutate_text(bytes: Vec<u8>, seeds: &[Vec<u8>], words: &[String], random: &mut Random) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes) else { return random.pick(seeds).clone() };
    let mut tokens = tokens(&text);
    let numbers: Vec<usize> = (0..tokens.len()).filter(|&i| is_number(tokens[i])).collect();
    let names: Vec<usize> = (0..tokens.len()).filter(|&i| is_name(tokens[i])).collect();
    let other = String::from_utf8_lossy(random.pick::<Vec<u8>>(seeds)).into_owned();
    let scaled;
    match random.below(12) {
        0..=2 if !numbers.is_empty() => tokens[*random.pick(&numbers)] = *random.pick::<&str>(NUMBERS),
        3 if !numbers.is_empty() => {
            let at = *random.pick(&numbers);
            scaled = format!("{}e{}", tokens[at], random.below(80) as i32 - 40);
            tokens[at] = &scaled;
        }
        4 | 5 if !names.is_empty() && !words.is_empty() => {
            tokens[*random.pick(&names)] = random.pick::<String>(words);
        }
        6 => {
            let range = random.range(tokens.len(), 12);
            tokens.drain(range);
        }
        7 => {
            let others = self::tokens(&other);
            let range = random.range(others.len(), 24);
            let at = random.below(tokens.len() + 1);
            tokens.splice(at..at, others[range].iter().copied());
            return tokens.concat().into_bytes();
        }
        8 => {
            let range = random.range(tokens.len(), 24);
            let piece = tokens[range].to_vec();
            let times = *random.pick(&[1, 1, 2, 3, 100, 2000]);
            let at = random.below(tokens.len() + 1);
            tokens.splice(at..at, piece.repeat(times));
        }
        9 => return mutate_lines(&text, &other, random),
        10 if !words.is_empty() => {
            tokens.insert(random.below(tokens.len() + 1), random.pick::<String>(words))
        }
        _ => {
            let marks = ["[", "]", "{", "}", "\"", "=", ".", ",", "\n", "#", "-", " ", "\\", "\u{0}", ":"];
            let mark = random.pick(&marks);
            let times = *random.pick(&[1, 1, 1, 2, 500]);
            let at = random.below(tokens.len() + 1);
            tokens.splice(at..at, std::iter::repeat_n(*mark, times));
        }
    }
    tokens.concat().into_bytes()
}

/// Removes, repeats, exchanges or inserts lines.
fn mutate_lines(text: &str, other: &str, random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let others: Vec<&str> = other.split_inclusive('\n').collect();
    if lines.is_empty() || others.is_empty() {
        return other.as_bytes().to_vec();
    }
    let at = random.below(lines.len());
    match random.below(4) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(random.below(lines.len() + 1), lines[at]),
        2 => lines.swap(at, random.below(text.split_inclusive('\n').count())),
        _ => {
            let range = random.range(others.len(), 12);
            lines.splice(at..at, others[range].iter().copied());
        }
    }
    lines.concat().into_bytes()
}

/// Cuts a text into words, numbers, and single other characters; together they are the text.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let length = match is_part(first) {
            true => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && token.contains(|c: char| c.is_ascii_digit())
}

/// Returns true for names of keys and of values.
pub fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic()) && token.len() > 1
}
