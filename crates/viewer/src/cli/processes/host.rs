//! Load of the host during a measurement: processor time of other programs and other guests, clock rates.

use std::fmt;
use std::fs;

/// Shares above which a host is called noisy: of the processors' time by other programs, of their time by
/// other guests of the same machine (steal), and of changes of the clock rate.
const MAX_OTHER: f64 = 0.10;
const MAX_STEAL: f64 = 0.01;
const MAX_CLOCK_CHANGE: f64 = 0.05;

/// Processor times in ticks, since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    /// Of all programs.
    busy: u64,
    /// Of other guests.
    steal: u64,
    /// Of all processors.
    total: u64,
    /// Of this process and those that it has waited for.
    own: u64,
}

/// Observation of the host from its start on.
pub struct HostWatch {
    start: Option<Ticks>,
    clock_mhz: Option<[f64; 2]>,
}

/// Load of the host over a time. Values are `None` where the system does not report them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostLoad {
    /// Share of the processors' time that other programs took.
    pub other: Option<f64>,
    /// Share of the processors' time that other guests took.
    pub steal: Option<f64>,
    /// Lowest and highest clock rate of a processor in MHz.
    pub clock_mhz: Option<[f64; 2]>,
}

impl HostWatch {
    pub fn start() -> Self {
        let mut watch = Self { start: Ticks::now(), clock_mhz: None };
        watch.sample_clock();
        watch
    }

    /// Adds the clock rates of now.
    pub fn sample_clock(&mut self) {
        // The file of the scaling driver is missing in most virtual machines.
        let Ok(text) = fs::read_to_string("/proc/cpuinfo") else { return };
        self.clock_mhz = clock_range(&text).map(|[low, high]| {
            let [least, greatest] = self.clock_mhz.unwrap_or([low, high]);
            [low.min(least), high.max(greatest)]
        });
    }

    pub fn finish(self) -> HostLoad {
        let spent = self.start.zip(Ticks::now()).filter(|(start, end)| end.total > start.total);
        let shares = spent.map(|(start, end)| start.shares(end));
        HostLoad {
            other: shares.map(|(other, _)| other),
            steal: shares.map(|(_, steal)| steal),
            clock_mhz: self.clock_mhz,
        }
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        let (all, own) =
            (fs::read_to_string("/proc/stat").ok()?, fs::read_to_string("/proc/self/stat").ok()?);
        Self::parse(&all, &own)
    }

    /// Parses `/proc/stat` and `/proc/self/stat`.
    fn parse(all: &str, own: &str) -> Option<Self> {
        let first = all.lines().find(|line| line.starts_with("cpu "))?;
        let all: Vec<u64> = first.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
        // Then come guests' times, which are part of the first two.
        let [user, nice, system, idle, wait, irq, soft_irq, steal]: [u64; 8] =
            all.get(..8)?.try_into().ok()?;
        // The name in parentheses may have blanks; the state follows, then ten fields, then four times.
        let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>());
        let busy = user + nice + system + irq + soft_irq;
        Some(Self {
            busy,
            steal,
            total: busy + idle + wait + steal,
            own: times.sum::<Result<u64, _>>().ok()?,
        })
    }

    /// Returns the shares of other programs and of other guests from this time to `end`.
    fn shares(self, end: Self) -> (f64, f64) {
        let total = (end.total - self.total) as f64;
        let others = (end.busy - self.busy).saturating_sub(end.own - self.own);
        (others as f64 / total, end.steal.saturating_sub(self.steal) as f64 / total)
    }
}

/// Returns the lowest and highest clock rate in the text of `/proc/cpuinfo`, in MHz.
fn clock_range(text: &str) -> Option<[f64; 2]> {
    let rates = text
        .lines()
        .filter(|line| line.starts_with("cpu MHz"))
        .filter_map(|line| line.split_once(':')?.1.trim().parse::<f64>().ok());
    rates.fold(None, |range: Option<[f64; 2]>, rate| {
        let [low, high] = range.unwrap_or([rate, rate]);
        Some([low.min(rate), high.max(rate)])
    })
}

impl HostLoad {
    /// Returns true if anything but the measurement took more of the host than a good measurement allows.
    pub fn is_noisy(&self) -> bool {
        let clock_change = self.clock_mhz.map(|[low, high]| high / low - 1.0);
        let above = |value: Option<f64>, max: f64| value.is_some_and(|value| value > max);
        above(self.other, MAX_OTHER) || above(self.steal, MAX_STEAL) || above(clock_change, MAX_CLOCK_CHANGE)
    }
}

impl fmt::Display for HostLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |value: Option<f64>| {
            value.map_or_else(|| "unknown".to_owned(), |value| format!("{:.1} %", 100.0 * value))
        };
        write!(f, "{}: ", if self.is_noisy() { "noisy host" } else { "host" })?;
        write!(f, "other programs {} of the processors, steal {}", share(self.other), share(self.steal))?;
        match self.clock_mhz {
            Some([low, high]) => write!(f, ", clock {low:.0} to {high:.0} MHz"),
            None => write!(f, ", clock unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    #[test]
    fn times_are_those_of_proc() {
        let all = "cpu  100 10 50 800 20 5 5 10 7 0\ncpu0 1 2 3\nintr 5\n";
        let own = "77 (a (b) c) S 1 77 77 0 -1 0 1 2 3 4 20 6 3 1 20 0 5 0";
        let start = Ticks::parse(all, own).unwrap();
        assert_eq!(start, Ticks { busy: 170, steal: 10, total: 1000, own: 30 });
        let end = Ticks { busy: 350, steal: 20, total: 1400, own: 110 };
        assert_eq!(start.shares(end), (0.25, 0.025));
        assert_eq!((Ticks::parse("cpu 1 2", own), Ticks::parse(all, "77 (a)")), (None, None));
        #[cfg(target_os = "linux")]
        assert!(Ticks::now().is_some_and(|ticks| ticks.total >= ticks.busy && ticks.busy > 0));
    }

    #[test]
    fn load_steal_and_clock_changes_make_a_host_noisy() {
        let load = |other, steal, low| HostLoad {
            other: Some(other),
            steal: Some(steal),
            clock_mhz: Some([low, 3000.0]),
        };
        assert!(!load(0.02, 0.001, 2950.0).is_noisy());
        for noisy in [load(0.2, 0.0, 3000.0), load(0.0, 0.02, 3000.0), load(0.0, 0.0, 2000.0)] {
            assert!(noisy.is_noisy() && noisy.to_string().starts_with("noisy host"), "{noisy}");
        }
        let unknown = HostLoad { other: None, steal: None, clock_mhz: None };
        assert_eq!(
            unknown.to_string(),
            "host: other programs unknown of the processors, steal unknown, clock unknown"
        );
        let text = "cpu MHz\t\t: 2596.1\nflags : x\ncpu MHz\t\t: 2000.5\n";
        assert_eq!((clock_range(text), clock_range("")), (Some([2000.5, 2596.1]), None));
    }
}
