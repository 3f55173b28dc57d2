//! The `[output]` section: output intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scene::every::Every;

/// Output intervals; output without an interval is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Interval of pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_every: Option<Every>,
    /// Interval of frames of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_every: Option<Every>,
    /// Columns in frames of the recording beside `position` and `id`; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_columns: Option<Vec<String>>,
    /// Interval of rows of metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_every: Option<Every>,
}
