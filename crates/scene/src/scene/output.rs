//! The `[output]` section: how often what is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scene::every::Every;

/// How often what is written; what is absent is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_every: Option<Every>,
    /// Frames of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_every: Option<Every>,
    /// Columns that frames of the recording have beside `position` and `id`; by default all there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_columns: Option<Vec<String>>,
    /// Rows of metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_every: Option<Every>,
}
