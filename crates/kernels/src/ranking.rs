//! Methods of ranking the keys of a tile by a digit, and the tiles that they take.

use crate::KernelError;
use frazil_vk::{Device, DeviceKind};
use std::fmt;
use std::str::FromStr;

/// Maximum number of keys per tile, so that these and the counters fit 32 KiB of shared memory.
const MAX_TILE: u32 = 4096;
/// Maximum number of subgroups per workgroup with ballots: each has 1 KiB of counters.
const MAX_SUBGROUPS: u32 = 16;
/// Subgroup sizes for which a ballot is two words, as in the kernels.
const BALLOT_SIZES: std::ops::RangeInclusive<u32> = 4..=64;
/// Minimum subgroup size at which ballots may be faster; see docs/performance.md.
const MIN_FAST_SUBGROUP: u32 = 16;

/// Method by which a pass of the radix sort ranks the keys of a tile. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// Two stable sorts by four bits each, in shared memory, with counters per thread: no subgroup
    /// operations, 37 barriers per tile.
    Nibbles,
    /// Eight ballots per key find the lanes of a subgroup with equal digits, with counters per subgroup: keys
    /// stay in registers, 7 to 11 barriers per tile. Only where [`Self::allows_ballots`].
    Ballots,
}

/// Workgroups of a pass, and the keys per thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileShape {
    pub workgroup_size: u32,
    pub items_per_thread: u32,
    /// The device's own size, which the kernels with ballots require.
    pub subgroup_size: u32,
}

impl Ranking {
    /// Returns true if the device can run the kernels with ballots.
    pub fn allows_ballots(device: &Device) -> bool {
        let capabilities = device.capabilities();
        capabilities.subgroup_ballots && BALLOT_SIZES.contains(&capabilities.subgroup_size)
    }

    /// Returns true if ballots are allowed, and may be the faster method: subgroups are large enough, and a
    /// ballot is not a loop over lanes, as on a software device.
    pub(crate) fn is_worth_a_trial(device: &Device) -> bool {
        Self::allows_ballots(device)
            && device.info().kind != DeviceKind::Software
            && device.capabilities().subgroup_size >= MIN_FAST_SUBGROUP
    }

    /// Checks that the device allows this method.
    pub(crate) fn check(self, device: &Device) -> Result<(), KernelError> {
        if self == Self::Ballots && !Self::allows_ballots(device) {
            let subgroup_size = device.capabilities().subgroup_size;
            return Err(KernelError::Ballots { device: device.info().name.clone(), subgroup_size });
        }
        Ok(())
    }

    /// Returns the tiles for a requested workgroup size of 64 or more.
    ///
    /// With ballots, workgroups have at most 16 subgroups. Subgroups of 64 then hold 8 keys per thread, so
    /// that registers and shared memory leave 24 of 32 subgroups to a SIMD of RDNA 3 instead of 14; software
    /// devices hold 8, too, because they compile faster.
    pub(crate) fn tile_shape(self, device: &Device, requested: u32, items: Option<u32>) -> TileShape {
        let subgroup_size = device.capabilities().subgroup_size;
        let workgroup_size = match self {
            Self::Nibbles => requested,
            Self::Ballots => requested.min(MAX_SUBGROUPS * subgroup_size),
        };
        let is_software = device.info().kind == DeviceKind::Software;
        let max_items = if self == Self::Ballots && (subgroup_size == 64 || is_software) { 8 } else { 16 };
        let items_per_thread = items.unwrap_or((MAX_TILE / workgroup_size).clamp(8, max_items));
        TileShape { workgroup_size, items_per_thread, subgroup_size }
    }
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nibbles => "nibbles",
            Self::Ballots => "ballots",
        })
    }
}

impl FromStr for Ranking {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Nibbles, Self::Ballots].into_iter().find(|method| method.to_string() == text).ok_or(())
    }
}
