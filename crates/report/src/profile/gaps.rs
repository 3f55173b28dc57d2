//! Gaps in which the device waited for the host.

use std::collections::BTreeMap;

use frazil_io::Span;
use serde::{Deserialize, Serialize};

/// Number of the largest gaps that are kept.
const LARGEST: usize = 10;

/// Gaps in which the device had ended one submission and not begun the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostGaps {
    /// Number of submissions examined.
    pub submissions: u64,
    /// Sum of all gaps, in nanoseconds.
    pub total_ns: u64,
    /// Median of the gaps between consecutive submissions, including those of zero, in nanoseconds.
    pub median_ns: u64,
    /// The largest gaps, the longest first.
    pub largest: Vec<Gap>,
}

/// A gap, and the host's activity in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Start of the gap, in nanoseconds since the first submission began.
    pub start_ns: u64,
    /// Duration of the gap, in nanoseconds.
    pub duration_ns: u64,
    /// Time per activity of the host in the gap, in nanoseconds; the rest is unaccounted for.
    pub host_ns: BTreeMap<String, u64>,
}

impl Gap {
    /// Returns the host's activities in microseconds, the longest first, followed by the unaccounted time.
    pub fn host_activity(&self) -> String {
        let mut did: Vec<(&str, u64)> =
            self.host_ns.iter().map(|(name, ns)| (name.as_str(), *ns)).filter(|(_, ns)| *ns > 0).collect();
        did.sort_by_key(|(name, ns)| (std::cmp::Reverse(*ns), *name));
        let known: u64 = did.iter().map(|(_, ns)| ns).sum();
        if self.duration_ns > known {
            did.push(("other", self.duration_ns - known));
        }
        let words: Vec<_> = did.iter().map(|(name, ns)| format!("{name} {:.1}", *ns as f64 / 1e3)).collect();
        words.join(", ")
    }
}

/// Finds the gaps between submissions, given as (start, end) in the order in which they ran, and the host's
/// spans in them; the spans are ordered and not nested. Both are in nanoseconds on one clock.
pub fn host_gaps(submissions: &[(u64, u64)], host: &[Span]) -> HostGaps {
    let origin_ns = submissions.first().map_or(0, |(start, _)| *start);
    let mut all: Vec<Gap> = submissions
        .windows(2)
        .map(|pair| {
            let (from, to) = (pair[0].1, pair[1].0.max(pair[0].1));
            let first = host.partition_point(|span| span.start_ns + span.duration_ns <= from);
            let mut host_ns = BTreeMap::new();
            for span in host[first..].iter().take_while(|span| span.start_ns < to) {
                let overlap = (span.start_ns + span.duration_ns).min(to) - span.start_ns.max(from);
                *host_ns.entry(span.name.clone()).or_default() += overlap;
            }
            Gap { start_ns: from - origin_ns, duration_ns: to - from, host_ns }
        })
        .collect();
    all.sort_by_key(|gap| (std::cmp::Reverse(gap.duration_ns), gap.start_ns));
    HostGaps {
        submissions: submissions.len() as u64,
        total_ns: all.iter().map(|gap| gap.duration_ns).sum(),
        median_ns: all.get(all.len() / 2).map_or(0, |gap| gap.duration_ns),
        largest: all.into_iter().filter(|gap| gap.duration_ns > 0).take(LARGEST).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_io::Track;

    fn span(name: &str, start_ns: u64, duration_ns: u64) -> Span {
        let (name, args) = (name.to_owned(), BTreeMap::new());
        Span { name, track: Track::Host, start_ns, duration_ns, args, arrow: None }
    }

    #[test]
    fn a_gap_is_attributed_to_the_host_activity_within_it() {
        let submissions = [(100, 200), (200, 300), (350, 400), (390, 500), (540, 600)];
        let host =
            [span("record", 0, 90), span("wait", 150, 155), span("record", 310, 30), span("submit", 340, 5)];
        let gaps = host_gaps(&submissions, &host);
        assert_eq!((gaps.submissions, gaps.total_ns, gaps.median_ns), (5, 90, 0));
        let of = |gap: &Gap| (gap.start_ns, gap.duration_ns, gap.host_activity());
        assert_eq!(
            gaps.largest.iter().map(of).collect::<Vec<_>>(),
            [
                (200, 50, "record 0.0, submit 0.0, wait 0.0, other 0.0".to_owned()),
                (400, 40, "other 0.0".to_owned())
            ]
        );
        let first: Vec<_> = gaps.largest[0].host_ns.iter().map(|(name, ns)| (name.as_str(), *ns)).collect();
        assert_eq!(first, [("record", 30), ("submit", 5), ("wait", 5)]);
    }

    #[test]
    fn nothing_and_one_submission_have_no_gaps() {
        assert_eq!(host_gaps(&[], &[]), HostGaps::default());
        assert_eq!(host_gaps(&[(5, 9)], &[]), HostGaps { submissions: 1, ..Default::default() });
    }
}
