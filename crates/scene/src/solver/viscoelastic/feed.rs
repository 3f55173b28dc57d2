//! The `[viscoelastic.feed]` section: a nozzle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scene;
use crate::check::{Check, Checker, number};

/// Largest share of a spacing that the feed may move in a step.
const MAX_TRAVEL_SPACINGS: f64 = 0.5;

/// A nozzle: particles above its mouth move at one velocity, as in a pipe, until they pass it. Nothing acts
/// on them, but they act on their neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feed {
    /// Height of the mouth in m, a coordinate along the up axis.
    pub mouth_m: f64,
    /// Velocity in m/s, which points through the mouth.
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity_m_s: [f64; 3],
}

impl Scene {
    pub(super) fn check_feed(&self, check: &Checker<'_>, feed: &Feed) -> Check {
        let up = self.up_axis.index();
        let key = |name: &str| format!("viscoelastic.feed.{name}");
        let [low, high] = [self.domain.min_m[up], self.domain.max_m[up]];
        if !(feed.mouth_m > low && feed.mouth_m < high) {
            let expected = format!("a height inside the domain, {} to {} m", number(low), number(high));
            let keys = ["viscoelastic.feed.mouth_m", "domain"];
            check.fail_between(&keys, format!("{} m", number(feed.mouth_m)), expected)?;
        }
        if feed.velocity_m_s[up] >= 0.0 {
            let found = format!("{} m/s along the up axis", number(feed.velocity_m_s[up]));
            check.fail(&key("velocity_m_s"), found, "a velocity that points down, through the mouth")?;
        }
        if self.domain.periodic[up] {
            let expected = "no period along the up axis";
            return check.fail_between(
                &["viscoelastic.feed", "domain.periodic"],
                "a feed above itself",
                expected,
            );
        }
        Ok(())
    }

    pub(super) fn check_feed_travel(&self, check: &Checker<'_>, feed: &Feed) -> Check {
        let travel_m = self.dt_s() * feed.velocity_m_s.iter().map(|v| v * v).sum::<f64>().sqrt();
        let longest_m = MAX_TRAVEL_SPACINGS * self.particle_spacing_m();
        if travel_m <= longest_m {
            return Ok(());
        }
        check.fail_between(
            &["time.dt_s", "viscoelastic.feed.velocity_m_s", "fluid.particle_spacing_m"],
            format!("a feed that moves {} m in a step", number(travel_m)),
            format!("at most half a spacing, {} m", number(longest_m)),
        )
    }
}
