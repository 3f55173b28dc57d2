//! Mutations find mistakes that are planted in readers of a binary and a text format of numbers, and find
//! none in the same readers without them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_fuzz::{Input, Kind, Outcome, Session, Target, Verdict, must_equal, refused};
use std::panic::catch_unwind;

/// Mutations within which a mistake must be found; the readers without mistakes must stand as many.
const CASES: u64 = 4000;

const NONE: u8 = 0;
/// The numbers are sliced without a look at the length of the file.
const UNCHECKED_LENGTH: u8 = 1;
/// The number of bytes is computed in 32 bits.
const OVERFLOW: u8 = 2;
/// The checksum is read and not compared.
const UNCHECKED_SUM: u8 = 3;
/// Bytes behind the numbers are ignored.
const TRAILING: u8 = 4;
/// Numbers that are not finite are accepted.
const NOT_FINITE: u8 = 5;
/// Errors do not name the file.
const UNNAMED: u8 = 6;
/// Errors contain the whole file.
const LONG_MESSAGE: u8 = 7;
/// The writer rounds.
const ROUNDED: u8 = 8;
/// An index into the numbers is not checked.
const UNCHECKED_INDEX: u8 = 9;

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(2_166_136_261, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619))
}

/// Writes magic, count, index of the summit, numbers, checksum of all of it.
fn write_binary(numbers: &[f32], summit: u32, mistake: u8) -> Vec<u8> {
    let mut bytes = b"HILL".to_vec();
    bytes.extend((numbers.len() as u32).to_le_bytes());
    bytes.extend(summit.to_le_bytes());
    for number in numbers {
        let number = if mistake == ROUNDED { (number * 8.0).round() / 8.0 } else { *number };
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(sum(&bytes).to_le_bytes());
    bytes
}

fn read_binary(bytes: &[u8], mistake: u8) -> Result<(Vec<f32>, u32), String> {
    let word = |at: usize| -> Result<u32, String> {
        let word = bytes.get(at..at + 4).ok_or("ends within the header")?;
        Ok(u32::from_le_bytes(word.try_into().unwrap()))
    };
    if !bytes.starts_with(b"HILL") {
        return Err("found another magic, expected HILL".into());
    }
    let (n, summit) = (word(4)?, word(8)?);
    let n_bytes = if mistake == OVERFLOW { u64::from(n * 4) } else { 4 * u64::from(n) };
    let end = 12 + n_bytes;
    if mistake != UNCHECKED_LENGTH && bytes.len() as u64 != end + 4 {
        let is_long = bytes.len() as u64 > end + 4;
        if !(mistake == TRAILING && is_long) {
            return Err(format!("found {} bytes, expected {}", bytes.len(), end + 4));
        }
    }
    let end = end as usize;
    if mistake != UNCHECKED_SUM && mistake != UNCHECKED_LENGTH && sum(&bytes[..end]) != word(end)? {
        return Err("found another checksum".into());
    }
    let numbers: Vec<f32> =
        bytes[12..end].chunks_exact(4).map(|number| f32::from_le_bytes(number.try_into().unwrap())).collect();
    if mistake == UNCHECKED_INDEX {
        assert!(numbers[summit as usize].is_finite());
    } else if summit as usize >= numbers.len() {
        return Err(format!("found summit {summit}, expected less than {}", numbers.len()));
    }
    if mistake != NOT_FINITE && numbers.iter().any(|number| !number.is_finite()) {
        return Err("found a number that is not finite".into());
    }
    Ok((numbers, summit))
}

fn write_text(numbers: &[f32], mistake: u8) -> Vec<u8> {
    let line = |number: &f32| match mistake {
        ROUNDED => format!("{number:.2}\n"),
        _ => format!("{number}\n"),
    };
    let lines: String = numbers.iter().map(line).collect();
    format!("hill {}\n{lines}", numbers.len()).into_bytes()
}

fn read_text(bytes: &[u8], mistake: u8) -> Result<Vec<f32>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "found bytes that are not UTF-8")?;
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let n: usize = match first.split_once(' ') {
        Some(("hill", n)) => n.parse().map_err(|_| "found another number of heights")?,
        _ => return Err("found another first line, expected hill N".into()),
    };
    let mut numbers = Vec::new();
    for line in lines.by_ref().take(n) {
        let number: f32 = line.parse().map_err(|_| "found a line that is no number")?;
        if mistake != NOT_FINITE && !number.is_finite() {
            return Err("found a number that is not finite".into());
        }
        numbers.push(number);
    }
    if mistake == UNCHECKED_LENGTH {
        assert!(n == 0 || numbers[n - 1].is_finite() || mistake == NOT_FINITE);
    } else if numbers.len() != n {
        return Err(format!("found {} numbers, expected {n}", numbers.len()));
    }
    if mistake != TRAILING && lines.next().is_some() {
        return Err("found more lines".into());
    }
    Ok(numbers)
}

/// Returns the verdict on a file that was refused with this problem.
fn refusal(input: &Input<'_>, problem: &str, mistake: u8) -> Verdict {
    let message = match mistake {
        UNNAMED => problem.to_owned(),
        LONG_MESSAGE => {
            format!("{}: {problem}: {}", input.path.display(), "found ".repeat(100 * input.bytes.len()))
        }
        _ => format!("{}: {problem}", input.path.display()),
    };
    refused(input, &message)
}

fn are_finite(numbers: &[f32]) -> Result<(), String> {
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(()),
        false => Err("a height that is not finite is accepted".into()),
    }
}

fn check_binary<const MISTAKE: u8>(input: &Input<'_>) -> Verdict {
    match read_binary(input.bytes, MISTAKE) {
        Ok((numbers, summit)) => {
            are_finite(&numbers)?;
            must_equal("the file", &input.bytes.to_vec(), &write_binary(&numbers, summit, MISTAKE))?;
            Ok(Outcome::Accepted)
        }
        Err(problem) => refusal(input, &problem, MISTAKE),
    }
}

fn check_text<const MISTAKE: u8>(input: &Input<'_>) -> Verdict {
    match read_text(input.bytes, MISTAKE) {
        Ok(numbers) => {
            are_finite(&numbers)?;
            let n_lines = String::from_utf8_lossy(input.bytes).lines().count();
            must_equal("the number of lines", &n_lines, &(numbers.len() + 1))?;
            let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let again = read_text(&write_text(&numbers, MISTAKE), MISTAKE)?;
            must_equal("the heights", &bits(numbers), &bits(again))?;
            Ok(Outcome::Accepted)
        }
        Err(problem) => refusal(input, &problem, MISTAKE),
    }
}

/// Heights of the valid files: eighths, which the rounding writers keep.
const HEIGHTS: [f32; 5] = [0.25, 1.5, -3.125, 1024.0, 7.5];

fn binary(check: fn(&Input<'_>) -> Verdict, is_repaired: bool) -> Target {
    let seeds = || vec![write_binary(&HEIGHTS, 3, NONE), write_binary(&HEIGHTS[..1], 0, NONE)];
    let mut target = Target::new("planted", "hill.bin", Kind::Binary, seeds, check);
    if is_repaired {
        // Mutations that pass the checksum reach what is behind it.
        target.repair = |bytes| {
            if let Some(end) = bytes.len().checked_sub(4) {
                let sum = sum(&bytes[..end]);
                bytes[end..].copy_from_slice(&sum.to_le_bytes());
            }
        };
    }
    target
}

fn text(check: fn(&Input<'_>) -> Verdict) -> Target {
    let seeds = || vec![write_text(&HEIGHTS, NONE), write_text(&HEIGHTS[..2], NONE)];
    Target::new("planted", "hill.txt", Kind::Text, seeds, check)
}

/// Returns the first case that violates a requirement, or panics.
fn first_found(target: &Target) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(target, folder.path()).unwrap();
    (0..CASES).find(|case| {
        let bytes = session.file(7, *case);
        catch_unwind(std::panic::AssertUnwindSafe(|| session.check(&bytes)))
            .map_or(true, |verdict| verdict.is_err())
    })
}

macro_rules! planted {
    ($target:expr, $check:ident: $($mistake:ident),+ $(,)?) => {
        $(
            let found = first_found(&$target($check::<$mistake>));
            assert!(found.is_some(), "{} {} is not found", stringify!($check), stringify!($mistake));
        )+
    };
}

#[test]
fn readers_without_mistakes_stand_all_mutations() {
    assert_eq!(first_found(&binary(check_binary::<NONE>, false)), None);
    assert_eq!(first_found(&binary(check_binary::<NONE>, true)), None);
    assert_eq!(first_found(&text(check_text::<NONE>)), None);
}

#[test]
fn each_planted_mistake_is_found() {
    let plain = |check| binary(check, false);
    let repaired = |check| binary(check, true);
    planted!(plain, check_binary: UNCHECKED_LENGTH, OVERFLOW, UNCHECKED_SUM, UNNAMED, LONG_MESSAGE);
    planted!(repaired, check_binary: TRAILING, NOT_FINITE, ROUNDED, UNCHECKED_INDEX);
    planted!(text, check_text: UNCHECKED_LENGTH, TRAILING, NOT_FINITE, UNNAMED, LONG_MESSAGE, ROUNDED);
}
