//! A case of the validation: a comparison with a reference that is independent of the engine.

#[cfg(feature = "twins")]
use super::bench_failure::bench_failure;
#[cfg(feature = "twins")]
use frazil_bench::Session;
use frazil_engine::Failure;
use frazil_report::{Panel, Series, plot_panels};
use frazil_vk::Device;
use serde::{Deserialize, Serialize};
#[cfg(feature = "twins")]
use std::cell::OnceCell;
use std::fmt;
use std::fs;
use std::path::Path;

/// Class of run time, on two cores of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Seconds: part of `--quick`.
    Quick,
    /// A minute or a few: part of a run without options.
    Minutes,
    /// More, or minutes at a reduced size and more at the paper's: part of `--full`.
    Long,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => "seconds",
            Self::Minutes => "minutes",
            Self::Long => "long",
        })
    }
}

/// Device of a validation, and its extent.
pub struct Lab {
    pub device: Device,
    /// True for the papers' own sizes.
    pub is_full: bool,
    #[cfg(feature = "twins")]
    session: OnceCell<Session>,
}

impl Lab {
    pub fn new(device: Device, is_full: bool) -> Self {
        Self {
            device,
            is_full,
            #[cfg(feature = "twins")]
            session: OnceCell::new(),
        }
    }

    /// Returns the device as benches use it.
    #[cfg(feature = "twins")]
    pub fn session(&self) -> Result<&Session, Failure> {
        if self.session.get().is_none() {
            let _ = self.session.set(Session::new(&self.device, None).map_err(bench_failure)?);
        }
        self.session.get().ok_or_else(|| Failure::other("the device has no session"))
    }
}

/// Type of a case's function.
pub type Run = Box<dyn Fn(&Lab) -> Result<Outcome, Failure>>;

/// A comparison with a reference.
pub struct Case {
    /// Name, `area.name`.
    pub name: String,
    /// Compared quantity, in one line.
    pub about: &'static str,
    /// Reference, with a citation key of docs/bibliography.md where there is one.
    pub reference: &'static str,
    /// Class of its run time.
    pub cost: Cost,
    /// Reason of a FAIL that is known on every device.
    pub known: Option<&'static str>,
    pub(super) run: Run,
}

/// Values that a quantity may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// Within a tolerance of an expected value.
    Within(f64, f64),
}

impl Bound {
    /// Returns true if the value is allowed; NaN never is.
    pub fn allows(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::Within(expected, tolerance) => (value - expected).abs() <= tolerance,
        }
    }
}

/// Returns the larger of two errors; NaN if either is, which `f64::max` would ignore.
pub fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// A quantity, compared with its bound.
#[derive(Clone, Debug)]
pub struct Check {
    pub quantity: String,
    /// Unit, "1" for none.
    pub unit: &'static str,
    pub found: f64,
    pub bound: Bound,
    /// Reason of the bound.
    pub reason: &'static str,
}

/// Curves over a common axis: a panel of the plot of a case.
pub struct Curve {
    pub x_label: &'static str,
    pub y_label: &'static str,
    pub series: Vec<Series>,
}

/// Result of a quantity, or of a case that ended without quantities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pass,
    /// A value beyond its bound, with an explanation if there is one.
    Fail(String),
    /// A case that this device cannot run, and the reason.
    NotRun(String),
}

/// Hash of a final state and the run that ended with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalState {
    /// Name of the built-in scene.
    pub scene: String,
    /// Override of the scene, `key=value`.
    pub change: String,
    pub steps: u64,
    pub hash: String,
}

/// Results of a case.
pub struct Outcome {
    pub checks: Vec<Check>,
    /// Final state of runs that are repeated.
    pub state: Option<FinalState>,
    /// Panels of the plot, one below the other; no plot if there is none.
    pub panels: Vec<Curve>,
    /// Status of a case that ended without quantities.
    pub ended: Option<Status>,
}

impl Outcome {
    pub fn of(checks: Vec<Check>) -> Self {
        Self { checks, state: None, panels: Vec::new(), ended: None }
    }

    pub fn ended(status: Status) -> Self {
        Self { checks: Vec::new(), state: None, panels: Vec::new(), ended: Some(status) }
    }

    /// Adds a panel to the plot.
    pub fn with_curve(mut self, x_label: &'static str, y_label: &'static str, series: Vec<Series>) -> Self {
        self.panels.push(Curve { x_label, y_label, series });
        self
    }

    /// Writes the plot to `plots/NAME.svg`, if there is one.
    pub fn write_plot(&self, case: &Case, folder: &Path) -> Result<(), Failure> {
        if self.panels.is_empty() {
            return Ok(());
        }
        let plots = folder.join("plots");
        fs::create_dir_all(&plots)
            .map_err(|error| Failure::other(format!("cannot create {}: {error}", plots.display())))?;
        let panels = self.panels.iter().map(|curve| Panel {
            x_label: curve.x_label,
            y_label: curve.y_label,
            series: &curve.series,
        });
        let path = plots.join(format!("{}.svg", case.name));
        plot_panels(case.about, &panels.collect::<Vec<_>>(), &path).map_err(Failure::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_error_keeps_nan() {
        assert_eq!(larger(1.0, 2.0), 2.0);
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn bounds_include_their_ends_and_never_nan() {
        for bound in [Bound::AtMost(1.0), Bound::AtLeast(1.0), Bound::Within(0.5, 0.5)] {
            assert!(bound.allows(1.0) && !bound.allows(f64::NAN), "{bound:?}");
        }
        assert!(!Bound::AtMost(1.0).allows(1.5) && !Bound::AtLeast(1.0).allows(0.5));
        assert!(!Bound::Within(1.0, 0.1).allows(1.2) && !Bound::Within(1.0, 0.1).allows(0.8));
    }
}
