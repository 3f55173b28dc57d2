//! Whether a device may use single-pass algorithms, in which a workgroup looks back at what earlier ones have published.

use crate::KernelError;
use crate::litmus::{GROUPS, Litmus};
use frazil_shaders::primitives::litmus;
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

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
}
