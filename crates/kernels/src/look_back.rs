//! Whether a device may use single-pass algorithms, in which a workgroup looks back at what earlier ones have published.

use crate::KernelError;
use frazil_shaders::primitives::litmus;
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};
use std::fmt;
use std::str::FromStr;

/// Groups of a trial: more than any device runs at once, so that some wait for others to be scheduled.
const GROUPS: u32 = 2048;
/// Trials without a wait given up that make a pass.
const CLEAN_TRIALS: u32 = 2;
/// Trials at most: the threads of a software device wait for the operating system, which on a busy machine takes its time.
const TRIALS: u32 = 8;
const FINDING: &str = "look-back-litmus";

/// How primitives learn what all tiles before one sum to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A pass that sums tiles, then one that scans them. Needs nothing from the device beyond Vulkan.
    ReduceThenScan,
    /// Decoupled look-back within a single pass: fewer bytes. Only where [`Litmus::passes`].
    LookBack,
}

impl Method {
    /// Look-back where the device passes the litmus test, reduce-then-scan elsewhere.
    ///
    /// # Errors
    /// The device fails.
    pub fn best(device: &Device) -> Result<Self, KernelError> {
        Ok(if Litmus::of(device)?.passes() { Self::LookBack } else { Self::ReduceThenScan })
    }

    /// `asked` if the device allows it, or the best.
    pub(crate) fn choose(device: &Device, asked: Option<Self>) -> Result<Self, KernelError> {
        let best = Self::best(device)?;
        match asked {
            Some(Self::LookBack) if best != Self::LookBack => {
                Err(KernelError::LookBack { device: device.info().name.clone(), litmus: Litmus::of(device)? })
            }
            asked => Ok(asked.unwrap_or(best)),
        }
    }
}

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
    /// The device's answer; it is asked once, and the answer kept with its pipeline cache.
    ///
    /// # Errors
    /// The device fails.
    pub fn of(device: &Device) -> Result<Self, KernelError> {
        if let Some(found) = device.recall(FINDING).and_then(|text| text.parse().ok()) {
            return Ok(found);
        }
        let found = Self::run(device)?;
        found.assume(device);
        Ok(found)
    }

    /// Takes this for the device's answer, without asking it: for tests and experiments.
    pub fn assume(self, device: &Device) {
        device.keep_finding(FINDING, &self.to_string());
    }

    /// Asks the device now. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The device fails.
    pub fn run(device: &Device) -> Result<Self, KernelError> {
        let kernel: Kernel<litmus::Interface> = Kernel::new(device)?;
        let threads = GROUPS as usize * kernel.tile() as usize;
        let message: Buffer<u32> = device.buffer("litmus messages", threads)?;
        let flag: Buffer<u32> = device.buffer("litmus flags", GROUPS as usize)?;
        let verdict: Buffer<u32> = device.buffer("litmus verdict", 3)?;
        let (mut found, mut clean) = (Self::default(), 0);
        for _ in 0..TRIALS {
            let mut recorder: Recorder = device.recorder()?;
            recorder.fill(&message, 0);
            recorder.fill(&flag, 0);
            recorder.fill(&verdict, 0);
            let bindings = litmus::Bindings { message: &message, flag: &flag, verdict: &verdict };
            recorder.dispatch(&kernel, Threads::Fixed(threads), bindings, litmus::Params { groups: GROUPS });
            device.submit(recorder)?.wait()?;
            let verdict = device.download(&verdict, 3)?;
            found.messages_missed = found.messages_missed.saturating_add(verdict[1]);
            found.waits_given_up = found.waits_given_up.saturating_add(verdict[2]);
            clean += u32::from(verdict[2] == 0);
            if clean == CLEAN_TRIALS {
                return Ok(Self { waits_given_up: 0, ..found });
            }
        }
        Ok(found)
    }

    /// Whether look-back is allowed.
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
