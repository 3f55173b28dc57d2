//! Quantities that are mapped for a flow on a terrain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quantity of a flow over the cells of a terrain, of which a run writes a raster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowQuantity {
    /// Thickness at the end in m, perpendicular to the slope.
    DepositThickness,
    /// Maximum thickness in m.
    #[default]
    PeakThickness,
    /// Maximum of the mean speed in m/s.
    PeakSpeed,
    /// Maximum dynamic pressure in kPa.
    PeakPressure,
    /// Time of the first arrival in s.
    ArrivalTime,
}

impl FlowQuantity {
    /// All quantities, in the order of their rasters.
    pub const ALL: [Self; 5] =
        [Self::DepositThickness, Self::PeakThickness, Self::PeakSpeed, Self::PeakPressure, Self::ArrivalTime];

    /// Returns the name used in scene files, on the command line and for rasters.
    pub fn name(self) -> &'static str {
        match self {
            Self::DepositThickness => "deposit_thickness",
            Self::PeakThickness => "peak_thickness",
            Self::PeakSpeed => "peak_speed",
            Self::PeakPressure => "peak_pressure",
            Self::ArrivalTime => "arrival_time",
        }
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::DepositThickness | Self::PeakThickness => "m",
            Self::PeakSpeed => "m/s",
            Self::PeakPressure => "kPa",
            Self::ArrivalTime => "s",
        }
    }
}
