//! Checks of single values, and the format of numbers in their messages.

use std::cell::RefCell;

use crate::Vec3;
use crate::format::error::{MAX_ERRORS, SceneError};
use crate::format::source::{Place, Source};
use crate::format::tree::join;

/// Maximum number of particles of a scene: a column of four f32 for each particle must fit into one storage
/// buffer, whose size in bytes Vulkan counts in 32 bits.
pub const MAX_PARTICLES: u64 = u32::MAX as u64 / 16;

/// Maximum number of cells of edge h in a domain: cells are numbered in 32 bits.
pub(crate) const MAX_CELLS: f64 = u32::MAX as f64;

/// Minimum number of representable f32 positions within a spacing; with fewer, forces are noise.
pub(crate) const MIN_STEPS_PER_SPACING: f64 = 256.0;

/// Bounds of the magnitudes of quantities, so that products of two still fit into an f32.
pub(crate) const MIN_POSITIVE: f64 = 1e-18;
pub(crate) const MAX_MAGNITUDE: f64 = 1e18;

/// Bounds of temperatures in °C: absolute zero, and more than any material made of water reaches.
pub(crate) const MIN_TEMPERATURE_C: f64 = -273.15;
pub(crate) const MAX_TEMPERATURE_C: f64 = 1e4;

/// Maximum length of the name of a slab or body, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Maximum seed: TOML has no larger whole numbers.
pub(crate) const MAX_SEED: u64 = i64::MAX as u64;

pub(crate) type Check = Result<(), SceneError>;

pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// Checks of single values, whose errors give the location in the scene file.
///
/// Errors may be collected, so that one message has all of them: a check of a wrong value then returns `Ok`.
/// Later checks may derive nothing from values that are not [valid](Self::are_valid).
#[derive(Debug)]
pub struct Checker<'a> {
    pub(crate) source: &'a Source,
    /// Keys refused so far with their errors, if these are collected.
    refused: Option<RefCell<Vec<(String, SceneError)>>>,
}

impl<'a> Checker<'a> {
    /// Makes checks that return their errors.
    pub(crate) fn new(source: &'a Source) -> Self {
        Self { source, refused: None }
    }

    /// Makes checks whose errors are collected for [`Checker::refused`].
    pub(crate) fn collecting(source: &'a Source) -> Self {
        Self { source, refused: Some(RefCell::default()) }
    }

    /// Returns the errors collected so far, in the order of the file and then of overrides.
    pub(crate) fn refused(&self) -> Check {
        let mut errors = self.refused.as_ref().map(RefCell::take).unwrap_or_default();
        errors.sort_by_key(|(_, error)| match error.location().map(|at| &at.place) {
            None | Some(Place::Whole) => (0, 0, 0),
            Some(Place::Text { line, column }) => (1, *line as usize, *column),
            Some(Place::Override { turn, .. }) => (2, *turn, 0),
        });
        SceneError::of(errors.into_iter().map(|(_, error)| error).collect()).map_or(Ok(()), Err)
    }

    /// Returns false if a value at one of the `keys`, inside it or around it has been refused: nothing may be
    /// derived from it.
    pub fn are_valid(&self, keys: &[&str]) -> bool {
        let Some(refused) = &self.refused else { return true };
        let refused = refused.borrow();
        let is_inside = |inner: &str, outer: &str| join(inner, "").starts_with(&join(outer, ""));
        let is_refused =
            |key: &str| refused.iter().any(|(other, _)| is_inside(other, key) || is_inside(key, other));
        // Beyond the maximum, errors are no longer recorded.
        refused.len() < MAX_ERRORS && !keys.iter().any(|key| is_refused(key))
    }

    /// Returns the error, or collects it. A constraint between values says nothing if one of them is wrong by
    /// itself.
    fn refuse(&self, keys: &[&str], error: SceneError) -> Check {
        let Some(refused) = &self.refused else { return Err(error) };
        if self.are_valid(keys) {
            refused.borrow_mut().push((keys[0].to_owned(), error));
        }
        Ok(())
    }

    /// Refuses the table at `key`, which lacks `missing`.
    pub(crate) fn missing(&self, key: &str, missing: &str) -> Check {
        let error = SceneError::MissingKey { at: self.source.locate(key), key: missing.to_owned() };
        self.refuse(&[missing], error)
    }

    /// Refuses the value at `key`.
    pub fn fail(&self, key: &str, found: impl ToString, expected: impl ToString) -> Check {
        self.fail_between(&[key], found, expected)
    }

    /// Reports a violated constraint between `keys`; the first is the one named.
    pub fn fail_between(&self, keys: &[&str], found: impl ToString, expected: impl ToString) -> Check {
        let error = SceneError::Value {
            at: self.source.locate_between(keys),
            key: keys[0].to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        };
        self.refuse(keys, error)
    }

    /// Checks that a value is above 0, and within bounds at which products of two still fit into an f32;
    /// `unit` may be "no unit".
    pub fn positive(&self, key: &str, value: f64, unit: &str) -> Check {
        if (MIN_POSITIVE..=MAX_MAGNITUDE).contains(&value) {
            return Ok(());
        }
        let of_unit = if unit == "no unit" { String::new() } else { format!(" of {unit}") };
        let bounds = if value > 0.0 && value.is_finite() {
            format!(" between {MIN_POSITIVE:e} and {:e}", MAX_MAGNITUDE)
        } else {
            String::new()
        };
        self.fail(key, number(value), format!("a positive number{of_unit}{bounds}"))
    }

    /// Checks that a value is from `low` to `high`.
    pub fn range(&self, key: &str, value: f64, low: f64, high: f64) -> Check {
        self.range_between(&[key], value, low, high)
    }

    /// Checks that the value at the first of `keys` is from `low` to `high`, which the values at the others
    /// determine.
    pub fn range_between(&self, keys: &[&str], value: f64, low: f64, high: f64) -> Check {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let expected = format!("a number from {} to {}", number(low), number(high));
        self.fail_between(keys, number(value), expected)
    }

    /// Checks a seed, which a scene made by code may have too large for its file.
    pub(crate) fn seed(&self, key: &str, value: u64) -> Check {
        if value <= MAX_SEED {
            return Ok(());
        }
        self.fail(key, value, format!("a whole number up to {MAX_SEED}"))
    }

    /// Checks three finite numbers of a `unit`, which may be "no unit".
    pub fn vector(&self, key: &str, value: Vec3, unit: &str) -> Check {
        if value.iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Ok(());
        }
        let of_unit = if unit == "no unit" { String::new() } else { format!(" of {unit}") };
        self.fail(key, vector(value), format!("three finite numbers{of_unit}, at most {:e}", MAX_MAGNITUDE))
    }

    /// Checks the name of a slab or body at `key`, which heads columns of tables and differs from `others`.
    pub(crate) fn name(&self, key: &str, name: &str, others: &[&str]) -> Check {
        let key = format!("{key}.name");
        if name.trim().is_empty()
            || name.len() > MAX_NAME_BYTES
            || name != name.trim()
            || name.contains(|c: char| c.is_control() || ",\"'[]".contains(c))
        {
            let expected = format!(
                "a name of up to {MAX_NAME_BYTES} letters without commas, quotes, brackets and outer blanks, \
                 which heads columns of tables"
            );
            return self.fail(&key, format!("{name:?}"), expected);
        }
        if others.contains(&name) {
            return self.fail(&key, format!("{name:?} again"), "each name once");
        }
        Ok(())
    }

    /// Checks the corners of a box or rectangle, the lower first.
    pub fn extent(&self, min_key: &str, min: &[f64], max_key: &str, max: &[f64]) -> Check {
        for (key, corner) in [(min_key, min), (max_key, max)] {
            self.vector(key, std::array::from_fn(|i| corner.get(i).copied().unwrap_or(0.0)), "metres")?;
        }
        for axis in 0..min.len() {
            if min[axis] >= max[axis] {
                let name = AXES[axis];
                let found = format!("{name} = {} m", number(max[axis]));
                let expected = format!("more than the lower corner's {name} = {} m", number(min[axis]));
                return self.fail_between(&[max_key, min_key], found, expected);
            }
        }
        Ok(())
    }
}

/// Formats a number as in TOML, without insignificant digits.
pub(crate) fn number(x: f64) -> String {
    let magnitude = x.abs();
    if !x.is_finite() {
        x.to_string().to_lowercase()
    } else if magnitude == 0.0 || (1e-4..1e9).contains(&magnitude) {
        // Twelve decimals hide the rounding of sums such as 0.1 + 0.2.
        let rounded = (x * 1e12).round() / 1e12;
        format!("{rounded}")
    } else {
        format!("{x:e}")
    }
}

pub(crate) fn vector(v: Vec3) -> String {
    format!("[{}]", v.map(number).join(", "))
}

/// Truncates a positive number to four digits.
pub(crate) fn rounded_down(x: f64) -> f64 {
    // A quantity derived from a refused value may be 0, whose logarithm is not finite.
    let power = 3_i32.saturating_sub(x.log10().floor() as i32);
    // Dividing by a whole power of ten gives the number nearest to the decimal.
    let unit = 10.0_f64.powi(power.abs());
    if power < 0 { (x / unit).floor() * unit } else { (x * unit).floor() / unit }
}

/// Formats a whole number in full up to 10¹⁵, beyond that in powers of ten.
pub(crate) fn whole(x: f64) -> String {
    if x < 1e15 { format!("{x:.0}") } else { format!("{x:.1e}") }
}
