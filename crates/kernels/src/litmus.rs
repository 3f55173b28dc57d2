//! Result of the litmus test of look-back on a device.

use std::fmt;
use std::str::FromStr;

/// Workgroups of a trial: more than any device runs at once, so that some wait for others to be scheduled.
pub(crate) const GROUPS: u32 = 2048;

/// Behaviour of a device in two respects that Vulkan does not guarantee.
///
/// The correctness of this crate's look-back depends on neither: sums are stored inside atomics, and a tile
/// that keeps others waiting is summed again by them. On a device that fails the test, look-back could be
/// arbitrarily slow, and other code that assumes either property would be wrong; such a device gets
/// reduce-then-scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Litmus {
    /// Messages that a workgroup did not see although it had seen the flag raised after them.
    pub messages_missed: u32,
    /// Waits for an earlier workgroup that were abandoned; 0 if two of at most eight trials had none.
    pub waits_given_up: u32,
}

impl Litmus {
    /// Returns true if look-back is allowed.
    pub fn passes(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Litmus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.passes() {
            true => write!(f, "passed: {GROUPS} groups saw one another's messages and made progress"),
            false => write!(
                f,
                "failed: {} messages missed, {} waits given up",
                self.messages_missed, self.waits_given_up
            ),
        }
    }
}

impl FromStr for Litmus {
    type Err = ();

    /// Parses the text that [`Self`] displays.
    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers: Vec<u32> =
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
        match (text.split(':').next(), &numbers[..]) {
            (Some("passed"), _) => Ok(Self::default()),
            (Some("failed"), &[messages_missed, waits_given_up]) => {
                Ok(Self { messages_missed, waits_given_up })
            }
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_names_parse_back() {
        for litmus in [
            Litmus::default(),
            Litmus { messages_missed: 3, waits_given_up: 0 },
            Litmus { messages_missed: 0, waits_given_up: 8191 },
        ] {
            assert_eq!(litmus.to_string().parse(), Ok(litmus));
        }
        assert_eq!("".parse::<Litmus>(), Err(()));
    }
}
