//! Check of whether a device may use single-pass algorithms, in which a workgroup looks back at what earlier
//! ones have published.

use crate::KernelError;
use crate::litmus::{GROUPS, Litmus};
use frazil_shaders::primitives::litmus;
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

/// Trials without an abandoned wait that are required to pass.
const CLEAN_TRIALS: u32 = 2;
/// Maximum number of trials: the threads of a software device wait for the operating system, which can be
/// slow on a busy machine.
const TRIALS: u32 = 8;
const FINDING: &str = "look-back-litmus";

/// Method by which primitives find the sum of all earlier tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A pass that sums tiles, then one that scans them. Requires nothing from the device beyond Vulkan.
    ReduceThenScan,
    /// Decoupled look-back within a single pass, which moves fewer bytes. Only where [`Litmus::passes`].
    LookBack,
}

impl Method {
    /// Returns look-back if the device passes the litmus test, else reduce-then-scan.
    ///
    /// # Errors
    /// The device fails.
    pub fn best(device: &Device) -> Result<Self, KernelError> {
        Ok(if Litmus::of(device)?.passes() { Self::LookBack } else { Self::ReduceThenScan })
    }

    /// Returns `requested` if the device allows it, or the best method if there is none.
    pub(crate) fn choose(device: &Device, requested: Option<Self>) -> Result<Self, KernelError> {
        let best = Self::best(device)?;
        match requested {
            Some(Self::LookBack) if best != Self::LookBack => {
                Err(KernelError::LookBack { device: device.info().name.clone(), litmus: Litmus::of(device)? })
            }
            requested => Ok(requested.unwrap_or(best)),
        }
    }
}

impl Litmus {
    /// Returns the device's result; the test runs once, and the result is stored with the pipeline cache.
    ///
    /// # Errors
    /// The device fails.
    pub fn of(device: &Device) -> Result<Self, KernelError> {
        if let Some(found) = device.stored_finding(FINDING).and_then(|text| text.parse().ok()) {
            return Ok(found);
        }
        let found = Self::run(device)?;
        found.assume(device);
        Ok(found)
    }

    /// Sets the result for a device without running the test: for tests and experiments.
    pub fn assume(self, device: &Device) {
        device.store_finding(FINDING, &self.to_string());
    }

    /// Runs the test now. For set-up: it waits for the device.
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
