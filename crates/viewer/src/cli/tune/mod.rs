//! `frazil tune`: measures the tunables of a scene's solver and stores the values that are faster than the
//! defaults.

mod args;
use crate::cli::interrupt;
use crate::cli::profile::Runner;
use crate::say;
pub use args::TuneArgs;
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_engine::stored_tuning::{self, StoredValue};
use frazil_io::calendar;
use frazil_kernels::MultiplyAdd;
use frazil_report::{TableStyle, median, table};
use frazil_scene::{Sampled, Scene};
use frazil_solvers::{SolverError, SolverFactory, Tunable, Tuning, factories, factory_of};
use frazil_vk::Device;

/// Number of rounds in which all values of a tunable take their steps, one after another.
const ROUNDS: u64 = 8;
/// Minimum gain of a value that is stored, so that one on a quiet device is worth its file.
const MIN_GAIN: f64 = 0.01;

/// Measures the tunables of the scene's solver one after another and stores what is faster; or lists or
/// removes the stored values.
pub fn tune(args: &TuneArgs, validation: bool) -> Result<(), Failure> {
    let scene = args.scene.as_deref().map(|scene| args.changes.load(scene)).transpose()?;
    let factory = scene.as_ref().map(factory_of).transpose()?;
    let solvers = factory.map_or_else(factories, |factory| vec![factory]);
    let names = chosen(&args.tunables, &solvers)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    match (scene, factory) {
        (Some(scene), Some(factory)) if !args.list && !args.reset => {
            interrupt::flag();
            let outcome = Tuner::new(&device, scene, factory, args)?.tune(&names);
            // If the cache cannot be written, only the next start takes longer.
            let _ = device.save_pipeline_cache();
            outcome
        }
        _ if args.list => list(&device, &solvers, &names),
        _ => reset(&device, &solvers, &names),
    }
}

/// Returns the requested tunables, by default all; one that no solver has is an error.
fn chosen(
    requested: &[String],
    solvers: &[&'static dyn SolverFactory],
) -> Result<Vec<&'static str>, Failure> {
    let mut known: Vec<&'static str> = Vec::new();
    for tunable in solvers.iter().flat_map(|factory| factory.tunables()) {
        if !known.contains(&tunable.name) {
            known.push(tunable.name);
        }
    }
    if let Some(unknown) = requested.iter().find(|name| !known.contains(&name.as_str())) {
        let of = match solvers {
            [factory] => format!("of solver \"{}\"", factory.kind()),
            _ => "of any solver".to_owned(),
        };
        let names = known.join(", ");
        return Err(Failure::input(format!("--tunable {unknown}: no tunable {of}, expected one of {names}")));
    }
    known.retain(|name| requested.is_empty() || requested.iter().any(|requested| requested == name));
    Ok(known)
}

/// Returns the tunables with these names, with the kinds of their solvers.
fn tunables_of<'a>(
    solvers: &'a [&'static dyn SolverFactory],
    names: &'a [&'static str],
) -> impl Iterator<Item = (&'static str, &'static Tunable)> + 'a {
    let named = solvers.iter().flat_map(|f| f.tunables().into_iter().map(|tunable| (f.kind(), tunable)));
    named.filter(|(_, tunable)| names.contains(&tunable.name))
}

/// Prints the stored values.
fn list(
    device: &Device,
    solvers: &[&'static dyn SolverFactory],
    names: &[&'static str],
) -> Result<(), Failure> {
    let mut lines: Vec<[String; 7]> = Vec::new();
    for (kind, tunable) in tunables_of(solvers, names) {
        match stored_tuning::read(device, kind, tunable) {
            Ok(None) => {}
            Ok(Some(StoredValue { value, gain, scene, date })) => lines.push([
                kind.to_owned(),
                tunable.name.to_owned(),
                value.to_string(),
                tunable.default.to_string(),
                format!("{:.1}", 100.0 * gain),
                scene,
                date,
            ]),
            Err(problem) => say::note(format_args!("warning: {problem}")),
        }
    }
    let device = device::describe(device.info());
    if lines.is_empty() {
        return say::data(&format!("{device}: no stored tunables, all have their defaults\n"));
    }
    let header = ["solver", "tunable", "value", "default", "gain [%]", "scene", "date"];
    say::data(&format!("{device}\n\n{}", table(&header, &lines, TableStyle::Plain)))
}

/// Removes the stored values.
fn reset(
    device: &Device,
    solvers: &[&'static dyn SolverFactory],
    names: &[&'static str],
) -> Result<(), Failure> {
    let mut n = 0;
    for (kind, tunable) in tunables_of(solvers, names) {
        let file = stored_tuning::file(device, kind, tunable).unwrap_or_default();
        let removed = stored_tuning::forget(device, kind, tunable);
        let removed =
            removed.map_err(|error| Failure::other(format!("cannot remove {}: {error}", file.display())))?;
        n += u32::from(removed);
    }
    let values = if n == 1 { "value" } else { "values" };
    say::data(&format!("{}: removed {n} stored {values}\n", device::describe(device.info())))
}

struct Tuner<'a> {
    device: &'a Device,
    scene: Scene,
    sampled: Sampled,
    factory: &'static dyn SolverFactory,
    warm_up: u64,
    /// Steps of each value in each round.
    steps: u64,
    tuning: Tuning,
    /// Hash of the state after all steps with the defaults.
    expected_hash: String,
    /// Values that change the result.
    wrong: Vec<String>,
}

/// Step times of one value of a tunable.
struct Measured {
    value: u32,
    /// Median of each round, in ns.
    rounds_ns: Vec<f64>,
}

/// Comparison of a value with the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gain {
    /// Saved share of the time of a step: 1 minus the median of the rounds' ratios.
    gain: f64,
    /// Interquartile range of the rounds' ratios.
    noise: f64,
}

impl<'a> Tuner<'a> {
    /// Takes the steps with the defaults, to know the result.
    fn new(
        device: &'a Device,
        scene: Scene,
        factory: &'static dyn SolverFactory,
        args: &TuneArgs,
    ) -> Result<Self, Failure> {
        let tunable = factory.tunables().into_iter().next();
        if tunable.is_some_and(|tunable| stored_tuning::file(device, factory.kind(), tunable).is_none()) {
            return Err(Failure::input(
                "no cache folder to store values in: neither XDG_CACHE_HOME nor HOME is set",
            ));
        }
        let (tuning, warnings) = stored_tuning::of_solver(device, factory);
        for warning in warnings {
            say::note(format_args!("warning: {warning}"));
        }
        let (warm_up, steps) = (args.warm_up, args.steps.div_ceil(ROUNDS));
        let sampled = scene.sample_observed(&mut |_, _| !interrupt::is_set())?;
        let mut runner =
            Runner::new(device, &scene, &sampled, Tuning::default())?.map_err(Failure::device)?;
        runner.take(warm_up + ROUNDS * steps, false)?;
        let expected_hash = runner.state_hash()?;
        let wrong = Vec::new();
        Ok(Self { device, scene, sampled, factory, warm_up, steps, tuning, expected_hash, wrong })
    }

    /// Measures and stores one tunable after another, each with the values found for those before.
    fn tune(mut self, names: &[&'static str]) -> Result<(), Failure> {
        let device = device::describe(self.device.info());
        let n = self.sampled.len();
        say::report(&format!("{}: {n} particles on {device}\n", self.scene.name))?;
        if self.device.is_software() {
            say::report(&format!("{}\n", device::SOFTWARE_WARNING))?;
        }
        let tunables = self.factory.tunables().into_iter().filter(|tunable| names.contains(&tunable.name));
        for tunable in tunables {
            // A value stored earlier takes part like all others.
            self.tuning = self.tuning.with(tunable, tunable.default).map_err(Failure::other)?;
            let measured = self.measure(tunable).map_err(|failure| match interrupt::is_set() {
                true => {
                    failure.within(tunable.name).with_remedy("the values of tunables before it are stored")
                }
                false => failure,
            })?;
            let found = best(tunable.default, &measured);
            // Without the default's time, a value stored earlier is neither better nor worse.
            if measured.iter().any(|measured| measured.value == tunable.default) {
                self.store(tunable, found)?;
            }
            say::report(&format!("\n{}", summary(tunable, &measured, found)))?;
        }
        self.device.check_validation()?;
        if self.wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::invariant(format!("refused, because they change the result: {}", self.wrong.join(", "))))
    }

    /// Measures all values of a tunable, interleaved, and drops those that the device does not support or
    /// that change the result.
    fn measure(&mut self, tunable: &'static Tunable) -> Result<Vec<Measured>, Failure> {
        let mut runners: Vec<(Measured, Runner)> = Vec::new();
        for value in values(tunable) {
            let tuning = self.tuning.with(tunable, value).map_err(Failure::other)?;
            match Runner::new(self.device, &self.scene, &self.sampled, tuning)? {
                Ok(runner) => runners.push((Measured { value, rounds_ns: Vec::new() }, runner)),
                Err(reason) => say::note(format_args!("{}={value} refused: {reason}", tunable.name)),
            }
        }
        MultiplyAdd::raise_clocks(self.device).map_err(SolverError::from)?;
        for (_, runner) in &mut runners {
            runner.take(self.warm_up, false)?;
        }
        for _ in 0..ROUNDS {
            for (measured, runner) in &mut runners {
                let before = runner.samples.step_ns().len();
                runner.take(self.steps, true)?;
                let ns = runner.samples.step_ns().iter().skip(before);
                measured.rounds_ns.push(median(&mut ns.map(|&ns| ns as f64).collect::<Vec<_>>()));
            }
            // The order changes, so that no value is always first.
            runners.rotate_left(1);
        }
        runners.sort_by_key(|(measured, _)| measured.value);
        let mut kept = Vec::new();
        for (measured, runner) in runners {
            let hash = runner.state_hash()?;
            if hash == self.expected_hash {
                kept.push(measured);
                continue;
            }
            let name = format!("{}={}", tunable.name, measured.value);
            let expected = &self.expected_hash;
            say::note(format_args!(
                "warning: {name} refused: it ends in another state than the defaults: {hash}, not {expected}"
            ));
            self.wrong.push(name);
        }
        Ok(kept)
    }

    /// Stores a value that is better than the default, or removes the one stored earlier.
    fn store(&mut self, tunable: &'static Tunable, found: Option<(u32, Gain)>) -> Result<(), Failure> {
        let kind = self.factory.kind();
        let outcome = match found {
            Some((value, Gain { gain, .. })) => {
                self.tuning = self.tuning.with(tunable, value).map_err(Failure::other)?;
                let (scene, date) = (self.scene.name.clone(), calendar::today());
                let stored = StoredValue { value, gain, scene, date };
                stored_tuning::write(self.device, kind, tunable, &stored)
            }
            None => stored_tuning::forget(self.device, kind, tunable).map(|_| ()),
        };
        let file = stored_tuning::file(self.device, kind, tunable).unwrap_or_default();
        outcome.map_err(|error| Failure::other(format!("cannot write {}: {error}", file.display())))
    }
}

/// Returns all values of a tunable.
fn values(tunable: &Tunable) -> impl Iterator<Item = u32> {
    let (min, max) = (tunable.min, tunable.max);
    (0..u32::BITS).map(|bit| 1 << bit).filter(move |value| (min..=max).contains(value))
}

/// Compares the rounds of a value with those of another.
fn gain(of: &Measured, over: &Measured) -> Gain {
    let mut ratios: Vec<f64> = of.rounds_ns.iter().zip(&over.rounds_ns).map(|(a, b)| a / b).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let quartile = |k: usize| ratios.get((k * ratios.len().saturating_sub(1) + 2) / 4).copied();
    let noise = quartile(3).zip(quartile(1)).map_or(f64::INFINITY, |(upper, lower)| upper - lower);
    Gain { gain: 1.0 - median(&mut ratios), noise }
}

/// Returns the fastest of the values that are faster than the default by more than the noise.
fn best(default: u32, measured: &[Measured]) -> Option<(u32, Gain)> {
    let base = measured.iter().find(|measured| measured.value == default)?;
    let others = measured.iter().filter(|measured| measured.value != default);
    let faster = others.map(|other| (other.value, gain(other, base)));
    let clear = faster.filter(|(_, Gain { gain, noise })| *gain > noise.max(MIN_GAIN));
    clear.max_by(|(_, a), (_, b)| a.gain.total_cmp(&b.gain))
}

/// Formats the measurements of a tunable, and the value that was chosen.
fn summary(tunable: &Tunable, measured: &[Measured], found: Option<(u32, Gain)>) -> String {
    let base = measured.iter().find(|measured| measured.value == tunable.default);
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let line = |of: &Measured| {
        let compared = base.filter(|_| of.value != tunable.default).map(|base| gain(of, base));
        let (gain, noise) = compared.map_or_else(Default::default, |g| (percent(g.gain), percent(g.noise)));
        let us = format!("{:.1}", 1e-3 * median(&mut of.rounds_ns.clone()));
        [of.value.to_string(), us, gain, noise]
    };
    let lines: Vec<_> = measured.iter().map(line).collect();
    let header = [tunable.name, "step [µs]", "gain [%]", "noise [%]"];
    let mut text = table(&header, &lines, TableStyle::Plain);
    text += &match (found, base) {
        (Some((value, _)), _) => format!("stored: {}={value} (default {})\n", tunable.name, tunable.default),
        (None, Some(_)) => format!(
            "the default {} stays: no value is faster by more than the noise and {} %\n",
            tunable.default,
            100.0 * MIN_GAIN
        ),
        (None, None) => format!("nothing changes: the default {} was refused\n", tunable.default),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: u32, rounds_ns: [f64; 8]) -> Measured {
        Measured { value, rounds_ns: rounds_ns.to_vec() }
    }

    #[test]
    fn all_values_within_bounds_are_tried() {
        static ODD: Tunable = Tunable { name: "odd", default: 4, min: 3, max: 33 };
        assert_eq!(values(&ODD).collect::<Vec<_>>(), [4, 8, 16, 32]);
    }

    #[test]
    fn drift_that_all_values_share_is_no_noise() {
        let drifting = [100.0, 120.0, 140.0, 160.0, 180.0, 200.0, 220.0, 240.0];
        let all = [measured(1, drifting), measured(2, drifting.map(|ns| 0.9 * ns)), measured(4, drifting)];
        let (value, Gain { gain, noise }) = best(1, &all).unwrap();
        assert!(value == 2 && (gain - 0.1).abs() < 1e-12 && noise < 1e-12, "{value} {gain} {noise}");
    }

    #[test]
    fn a_value_must_be_faster_by_more_than_its_noise() {
        let base = measured(1, [100.0; 8]);
        let noisy = measured(2, [60.0, 70.0, 80.0, 90.0, 90.0, 110.0, 120.0, 130.0]);
        let clear = measured(4, [95.0, 95.0, 96.0, 95.0, 94.0, 95.0, 95.0, 95.0]);
        let tiny = measured(8, [99.5; 8]);
        assert_eq!(best(1, &[base, noisy, clear, tiny]).map(|(value, _)| value), Some(4));
        assert_eq!(best(1, &[measured(1, [100.0; 8]), measured(8, [99.5; 8])]), None);
        assert_eq!(best(1, &[measured(4, [95.0; 8])]), None, "nothing to compare with");
        let untimed = measured(2, [f64::NAN; 8]);
        assert_eq!(best(1, &[measured(1, [100.0; 8]), untimed]), None);
    }
}
