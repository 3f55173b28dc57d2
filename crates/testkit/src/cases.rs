//! Numbers of cases of property tests.

use crate::device::is_full_run;
use proptest::prelude::ProptestConfig;

/// Returns a configuration with `cases`, or the number in `FRAZIL_CASES`, or a hundred times `cases` with
/// `FRAZIL_FULL=1`.
pub fn config(cases: u32) -> ProptestConfig {
    config_up_to(cases, cases)
}

/// Returns a configuration like [`config`], of which a default run takes at most `default_cases`.
pub(crate) fn config_up_to(default_cases: u32, cases: u32) -> ProptestConfig {
    let full = is_full_run().then_some(100 * cases);
    let asked = std::env::var("FRAZIL_CASES").ok().and_then(|c| c.parse().ok());
    let cases = asked.or(full).unwrap_or(cases.min(default_cases));
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}
