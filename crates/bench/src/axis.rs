//! Axes of a bench, their values, and the points they span.

use crate::error::{Error, Result};
use frazil_kernels::ScanOptions;
use frazil_testkit::Distribution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Maximum count of a bench: four columns of that many words fit any device's address space.
pub const MAX_COUNT: u64 = 1 << 28;

/// A value on an axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A name.
    Name(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Allowed values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Whole numbers from the first to the last.
    Integers(u64, u64),
    /// Powers of two from the first to the last.
    PowersOfTwo(u64, u64),
    /// One of the given names.
    Names(&'static [&'static str]),
}

impl Domain {
    /// Returns the value that `text` stands for, if the axis allows it.
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Self::Names(names) => names.contains(&text).then(|| Value::Name(text.to_owned())),
            Self::Integers(first, last) | Self::PowersOfTwo(first, last) => {
                let value = text.parse().ok().filter(|value| (first..=last).contains(&value))?;
                let taken = matches!(self, Self::Integers(..)) || value.is_power_of_two();
                taken.then_some(Value::Integer(value))
            }
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integers(first, last) => write!(f, "a whole number from {first} to {last}"),
            Self::PowersOfTwo(first, last) => write!(f, "a power of two from {first} to {last}"),
            Self::Names([name]) => f.write_str(name),
            Self::Names(names) => write!(f, "one of {}", names.join(", ")),
        }
    }
}

/// One axis of a bench.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Name, as on the command line and in rows.
    pub name: &'static str,
    /// Allowed values.
    pub domain: Domain,
    /// Default values.
    pub full: Vec<Value>,
    /// Values of the smoke profile.
    pub smoke: Vec<Value>,
}

impl Axis {
    /// Makes an axis of whole numbers.
    pub fn integers(name: &'static str, domain: Domain, full: &[u64], smoke: &[u64]) -> Self {
        let values = |values: &[u64]| values.iter().map(|value| Value::Integer(*value)).collect();
        Self { name, domain, full: values(full), smoke: values(smoke) }
    }

    /// Makes an axis of names.
    pub fn names(
        name: &'static str,
        names: &'static [&'static str],
        full: &[&'static str],
        smoke: &[&'static str],
    ) -> Self {
        let values = |names: &[&str]| names.iter().map(|name| Value::Name((*name).to_owned())).collect();
        Self { name, domain: Domain::Names(names), full: values(full), smoke: values(smoke) }
    }

    /// Makes the axis of the number of elements. The defaults are not powers of two, which would hide the
    /// cost of a partial last tile.
    pub fn count() -> Self {
        Self::integers(
            "count",
            Domain::Integers(0, MAX_COUNT),
            &[1_000, 100_003, 1_048_583],
            &[1_000, 65_537],
        )
    }

    /// Makes the axis of the distribution of keys.
    pub fn distribution(full: &[Distribution]) -> Self {
        let names: Vec<_> = full.iter().map(|distribution| distribution.name()).collect();
        Self::names("distribution", Distribution::NAMES, &names, &names[..names.len().min(1)])
    }

    /// Makes the axis of the threads per workgroup: from the smallest size that all kernels accept to the
    /// largest whose shared memory fits the 32 KiB of the smallest devices.
    pub fn workgroup_size() -> Self {
        Self::integers("workgroup_size", Domain::PowersOfTwo(64, 512), &[256], &[256])
    }

    /// Makes the axis of the elements of each thread of a scan.
    pub fn items_per_thread() -> Self {
        let default = u64::from(ScanOptions::default().items_per_thread);
        Self::integers("items_per_thread", Domain::Integers(1, 16), &[default], &[default])
    }

    /// Makes the axis of the polls of a tile by look-back before the waiting workgroup sums it again.
    pub fn spins() -> Self {
        let default = u64::from(ScanOptions::default().spins);
        Self::integers("spins", Domain::Integers(1, 1 << 20), &[default], &[default])
    }

    /// Makes the axis of algorithms for the same result, all of them measured.
    pub fn variant(names: &'static [&'static str]) -> Self {
        Self::names("variant", names, names, names)
    }
}

/// A value on each axis of a bench. Displayed as `axis=value axis=value`, in the order of the axes' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Point(BTreeMap<String, Value>);

impl Point {
    /// Returns this point with a value on one more axis.
    #[must_use]
    pub fn with(mut self, axis: &str, value: Value) -> Self {
        self.0.insert(axis.to_owned(), value);
        self
    }

    /// Returns this point without an axis.
    #[must_use]
    pub fn without(mut self, axis: &str) -> Self {
        self.0.remove(axis);
        self
    }

    /// Returns the value on an axis.
    pub fn get(&self, axis: &str) -> Option<&Value> {
        self.0.get(axis)
    }

    /// Returns the number on an axis.
    ///
    /// # Errors
    /// [`Error::Point`] if there is none.
    pub fn integer(&self, axis: &str) -> Result<u64> {
        match self.get(axis) {
            Some(Value::Integer(value)) => Ok(*value),
            other => Err(mismatch(axis, other, "a whole number")),
        }
    }

    /// Returns the number on the axis `count`.
    ///
    /// # Errors
    /// [`Error::Point`] if there is none, or it is above [`MAX_COUNT`].
    pub fn count(&self) -> Result<usize> {
        let count = self.integer("count")?;
        if count > MAX_COUNT {
            let expected = format!("at most {MAX_COUNT}");
            return Err(mismatch("count", self.get("count"), &expected));
        }
        Ok(count as usize)
    }

    /// Returns the number on the axis `workgroup_size`.
    ///
    /// # Errors
    /// [`Error::Point`] if there is none.
    pub fn workgroup_size(&self) -> Result<u32> {
        let size = self.integer("workgroup_size")?;
        u32::try_from(size)
            .map_err(|_| mismatch("workgroup_size", self.get("workgroup_size"), "a 32-bit number"))
    }

    /// Returns the polls of a tile by look-back: the number on the axis `spins`, or the default without that
    /// axis.
    ///
    /// # Errors
    /// [`Error::Point`] if it is no 32-bit number.
    pub fn spins(&self) -> Result<u32> {
        let Some(value) = self.get("spins") else { return Ok(ScanOptions::default().spins) };
        u32::try_from(self.integer("spins")?).map_err(|_| mismatch("spins", Some(value), "a 32-bit number"))
    }

    /// Returns the name on an axis.
    ///
    /// # Errors
    /// [`Error::Point`] if there is none.
    pub fn name(&self, axis: &str) -> Result<&str> {
        match self.get(axis) {
            Some(Value::Name(name)) => Ok(name),
            other => Err(mismatch(axis, other, "a name")),
        }
    }

    /// Returns the distribution on the axis `distribution`.
    ///
    /// # Errors
    /// [`Error::Point`] if there is none.
    pub fn distribution(&self) -> Result<Distribution> {
        let name = self.name("distribution")?;
        let expected = || format!("one of {}", Distribution::NAMES.join(", "));
        Distribution::from_name(name)
            .ok_or_else(|| mismatch("distribution", self.get("distribution"), &expected()))
    }

    /// Returns the error for a name that this bench does not know.
    pub fn unknown(&self, axis: &str, expected: &[&str]) -> Error {
        mismatch(axis, self.get(axis), &format!("one of {}", expected.join(", ")))
    }
}

fn mismatch(axis: &str, found: Option<&Value>, expected: &str) -> Error {
    Error::Point {
        bench: "a bench".to_owned(),
        axis: axis.to_owned(),
        found: found.map_or("missing".to_owned(), Value::to_string),
        expected: expected.to_owned(),
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: Vec<_> = self.0.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        f.pad(&text.join(" "))
    }
}

/// Requested values on an axis: `name=value,value`. [`crate::plan`] finds which of them a bench allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisOverride {
    /// The axis.
    pub axis: String,
    /// The values, as written.
    pub values: Vec<String>,
}

impl FromStr for AxisOverride {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let syntax = || Error::AxisSyntax { found: text.to_owned() };
        let (axis, values) = text.split_once('=').ok_or_else(syntax)?;
        let values: Vec<_> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if axis.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(syntax());
        }
        Ok(Self { axis: axis.trim().to_owned(), values })
    }
}
