//! The answer of a device to the litmus test of look-back.

use std::fmt;
use std::str::FromStr;

/// Groups of a trial: more than any device runs at once, so that some wait for others to be scheduled.
pub(crate) const GROUPS: u32 = 2048;

/// What a device did when asked for two things that Vulkan does not promise.
///
/// Correctness of this crate's look-back rests on neither: sums travel inside atomics, and a tile that keeps others waiting is
/// summed again by them. On a device that fails the test it could be slow without bound, and other code that assumes either would
/// be wrong; such a device gets reduce-then-scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Litmus {
    /// Messages that a group did not see though it had seen the flag raised after them.
    pub messages_missed: u32,
    /// Waits for an earlier group that were given up; 0 if two of at most eight trials had none.
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

    /// Reads what [`Self`] displays.
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
    fn what_is_displayed_can_be_read() {
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
