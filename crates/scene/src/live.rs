//! Parameters of a scene that may change while its simulation runs.

use serde::Serialize;
use serde_json::Value as Json;

use crate::format::error::hint;
use crate::format::removed::moved_key;
use crate::format::tree::Node;
use crate::load::places::Places;
use crate::loaded::Missing;
use crate::properties::{Range, find_property};
use crate::solver::json_schema;
use crate::units::name_and_unit;
use crate::{BodyMotion, Scene, SceneError, Shape, TimeStep, Vec3};

/// Key of the time step.
const TIME_STEP: &str = "time.dt_s";
const GRAVITY: &str = "gravity_m_s2";
/// Key of the number of iterations, whose default is the solver's.
const ITERATIONS: &str = "pbd.iterations";
/// Ratio of the ends of a range without limits of its own to the value in it.
const DECADES: f64 = 100.0;

/// A parameter that may change while the simulation runs, with the description of its control.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveParameter {
    /// Key in the scene, such as `fluid.dynamic_viscosity_pa_s`.
    pub key: String,
    /// Name in words: the end of the key without the unit.
    pub name: String,
    /// Unit of the value, by the suffix of the key; empty for a dimensionless one.
    pub unit: &'static str,
    /// Description from the schema of the scene file.
    pub description: String,
    /// Present value.
    pub value: LiveValue,
    /// Ends of the range of a control, which may be narrower than that of the key: two decades about the
    /// value in the scene, where the schema has no closer limits.
    pub range: [f64; 2],
    /// True if the range spans decades.
    pub is_logarithmic: bool,
}

/// Value of a [`LiveParameter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LiveValue {
    /// Number.
    Number(f64),
    /// Whole number.
    Whole(u64),
    /// Vector (x, y, z).
    Vector(Vec3),
}

/// Writes the value as a scene file has it.
impl std::fmt::Display for LiveValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The shortest text that reads back as the same number, with a point or an exponent.
            Self::Number(x) => write!(f, "{x:?}"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Vector([x, y, z]) => write!(f, "[{x:?}, {y:?}, {z:?}]"),
        }
    }
}

impl LiveValue {
    fn of(json: &Json) -> Option<Self> {
        if let Some(n) = json.as_u64() {
            return Some(Self::Whole(n));
        }
        if let Some(x) = json.as_f64() {
            return Some(Self::Number(x));
        }
        let numbers: Vec<f64> = json.as_array()?.iter().map(Json::as_f64).collect::<Option<_>>()?;
        numbers.try_into().ok().map(Self::Vector)
    }
}

impl Scene {
    /// Returns the keys of this scene that may change while it is simulated, as its solver lists them.
    pub fn live_keys(&self) -> &'static [&'static str] {
        self.solver_scene().map_or(&[], |solver| solver.live_keys(self))
    }

    /// Returns the key of [`Self::live_keys`], or `bodies.N.motion`, that a key is or belongs to: in scenes
    /// with live keys the motions of bodies may change, too.
    pub fn live_key_of(&self, key: &str) -> Option<String> {
        if self.live_keys().contains(&key) {
            return Some(key.to_owned());
        }
        let mut names = key.split('.');
        let (table, index, motion) = (names.next()?, names.next()?.parse::<usize>().ok()?, names.next()?);
        let is_motion = table == "bodies" && motion == "motion" && index < self.bodies.len();
        (is_motion && !self.live_keys().is_empty()).then(|| format!("bodies.{index}.motion"))
    }

    /// Returns the scene with another motion of a body, for a simulation that goes on with it.
    ///
    /// # Errors
    /// Like [`Self::with_live`].
    pub fn with_body_motion(&self, body: usize, motion: &BodyMotion) -> Result<Self, SceneError> {
        let mut value = String::new();
        let written = motion.serialize(toml::ser::ValueSerializer::new(&mut value)).map(|_| ());
        let argument = format!("bodies.{body}.motion={value}");
        match written {
            Ok(()) => self.with_live(&[argument]),
            Err(error) => Err(SceneError::Override { argument, problem: error.to_string() }),
        }
    }

    /// Returns the scene with other values of some of [`Self::live_keys`] and motions of bodies, as arguments
    /// `key=value`: read and validated as a whole, as when it was loaded. An automatic time step keeps its
    /// present value, as a number, because the time of a state is the number of its steps times one step.
    ///
    /// # Errors
    /// A key that may not change while the simulation runs, or a value that makes the scene invalid.
    pub fn with_live(&self, changes: &[String]) -> Result<Self, SceneError> {
        for argument in changes {
            let key = argument.split_once('=').map_or(argument.as_str(), |(key, _)| key).trim();
            if self.live_key_of(key).as_deref() != Some(key) {
                let problem = if self.live_keys().is_empty() {
                    format!(
                        "{key} cannot change while the simulation runs, and no other key of this scene can"
                    )
                } else {
                    let remedy = match moved_key(key) {
                        Some(moved) => format!("expected {moved}"),
                        None => hint(key, self.live_keys()),
                    };
                    format!("{key} cannot change while the simulation runs; {remedy}")
                };
                return Err(SceneError::Override { argument: argument.clone(), problem });
            }
        }
        let changed = self.with_overrides(changes)?;
        for (idx, (own, other)) in self.bodies.iter().zip(&changed.bodies).enumerate() {
            if own.dynamics() != other.dynamics() {
                let key = format!("bodies.{idx}.motion");
                let argument = changes.iter().find(|argument| argument.starts_with(&key)).cloned();
                let problem = format!(
                    "{key} cannot change while the simulation runs: its loads move a dynamic body, and no other"
                );
                return Err(SceneError::Override { argument: argument.unwrap_or(key), problem });
            }
        }
        if changed.time.dt_s == TimeStep::Auto && changed.step_s() != self.step_s() {
            let fixed = format!("{TIME_STEP}={:?}", self.step_s());
            return self.with_overrides(&[changes, &[fixed]].concat());
        }
        Ok(changed)
    }

    fn with_overrides(&self, overrides: &[String]) -> Result<Self, SceneError> {
        let origin = &self.name;
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut tree = Node::parse_json(&text, origin)?;
        for (turn, argument) in overrides.iter().enumerate() {
            tree.apply_override(turn, argument)?;
        }
        // Particles may have come from memory, and need not be read again.
        let points = self.particles.iter().filter_map(|block| match &block.shape {
            Shape::Points { path, points, .. } => Some((path.clone(), points.shared()?)),
            _ => None,
        });
        let points = &points.collect();
        Self::from_tree(tree, origin, Places { folder: None, missing: Missing::Refuse, points })
    }

    /// Returns the effective scene as the text of a scene file, which reads back as the same scene.
    ///
    /// # Errors
    /// A value that TOML cannot express, such as a seed of 2⁶³ or more; the message says which.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|error| error.to_string())
    }

    /// Returns the keys whose values differ in another scene; elements of arrays of numbers have no keys of
    /// their own.
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let [own, other] = [self, other].map(|scene| serde_json::to_value(scene).unwrap_or_default());
        let mut keys = Vec::new();
        collect_differences("", &own, &other, &mut keys);
        keys
    }

    /// Returns the first key in which another scene differs although it may not while this one is simulated.
    pub fn first_fixed_change(&self, other: &Self) -> Option<String> {
        let may_change = |key: &str| {
            self.live_key_of(key).is_some() || (key == TIME_STEP && self.step_s() == other.step_s())
        };
        self.changed_keys(other).into_iter().find(|key| !may_change(key))
    }

    /// Returns the live parameters that have a value in this scene, or a default in the schema.
    pub fn live_parameters(&self) -> Vec<LiveParameter> {
        let (schema, scene) = (json_schema(), serde_json::to_value(self).unwrap_or_default());
        let describe = |key: &&str| {
            let property = find_property(&schema, key)?;
            let default = property.get("default").and_then(LiveValue::of);
            let value = if *key == GRAVITY {
                LiveValue::Vector(self.gravity_m_s2())
            } else if *key == ITERATIONS {
                LiveValue::Whole(self.iterations().into())
            } else {
                scene.pointer(&format!("/{}", key.replace('.', "/"))).and_then(LiveValue::of).or(default)?
            };
            // JSON does not distinguish 1.0 and 1 in the schema's numbers.
            let limits = Range::of(property);
            let value = match value {
                LiveValue::Whole(n) if !limits.is_whole => LiveValue::Number(n as f64),
                other => other,
            };
            let (range, is_logarithmic) = control_range(value, default, limits);
            let description =
                property.get("description").and_then(Json::as_str).unwrap_or_default().to_owned();
            let (name, unit) = name_and_unit(key);
            Some(LiveParameter {
                key: (*key).to_owned(),
                name,
                unit,
                description,
                value,
                range,
                is_logarithmic,
            })
        };
        self.live_keys().iter().filter_map(describe).collect()
    }
}

/// Returns the range of a control and true if it spans decades: all of a range that is about as wide as the
/// value, else two decades about the value within it.
fn control_range(value: LiveValue, default: Option<LiveValue>, limits: Range) -> ([f64; 2], bool) {
    let number = |value: LiveValue| match value {
        LiveValue::Number(x) => x,
        LiveValue::Whole(n) => n as f64,
        LiveValue::Vector(v) => v.iter().fold(0.0, |max, x| x.abs().max(max)),
    };
    let (value_size, default) = (number(value), default.map(number));
    if let LiveValue::Vector(_) = value {
        let max = (2.0 * value_size).max(1.0);
        return ([-max, max], false);
    }
    let all = [Some(value_size), default];
    let size = all.into_iter().flatten().find(|x| *x != 0.0).unwrap_or(1.0).abs();
    let is_whole = matches!(value, LiveValue::Whole(_));
    // A parameter that may be 0, which switches its effect off, reaches it.
    let min = limits.min.filter(|_| !limits.excludes_min);
    let decades_low = all.iter().flatten().copied().fold(size / DECADES, f64::min);
    let low = if min == Some(0.0) { 0.0 } else { decades_low.max(min.unwrap_or(decades_low)) };
    if let Some(max) = limits.max.filter(|max| *max <= DECADES * size || *max <= 1.0) {
        let is_logarithmic = min.is_some_and(|min| min > 0.0 && max > DECADES * min);
        return ([min.unwrap_or(low).min(value_size), max.max(value_size)], is_logarithmic);
    }
    let decades_high = all.iter().flatten().copied().fold(size * DECADES, f64::max);
    let high = decades_high.min(limits.max.unwrap_or(decades_high));
    let [low, high] = if is_whole { [low.floor(), high.ceil()] } else { [low, high] };
    ([low.min(value_size), high.max(value_size)], true)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn collect_differences(path: &str, a: &Json, b: &Json, keys: &mut Vec<String>) {
    let is_numbers = |values: &[Json]| values.iter().all(Json::is_number);
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let [a, b] = [a, b].map(|map| map.get(key).unwrap_or(&Json::Null));
                collect_differences(&join(path, key), a, b, keys);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() && !(is_numbers(a) && is_numbers(b)) => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                collect_differences(&join(path, &i.to_string()), a, b, keys);
            }
        }
        _ if a != b => keys.push(path.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use crate::builtin;
    use proptest::prelude::*;

    fn scene(name: &str) -> Scene {
        Scene::find(name, &[]).unwrap()
    }

    #[test]
    fn every_live_key_is_in_the_schema_and_its_range_contains_its_value_and_default() {
        let schema = json_schema();
        assert!(scene("dam_break").live_parameters().len() > 5);
        for scene in builtin().iter().map(|builtin| builtin.load(&[]).unwrap()) {
            for key in scene.live_keys() {
                let property = find_property(&schema, key).unwrap_or_else(|| panic!("{key}"));
                assert!(property["description"].is_string(), "{key}");
            }
            for parameter in scene.live_parameters() {
                let [low, high] = parameter.range;
                assert!(low < high && low.is_finite() && high.is_finite(), "{parameter:?}");
                let is_inside = |x: f64| (low..=high).contains(&x);
                let default =
                    find_property(&schema, &parameter.key).unwrap().get("default").and_then(Json::as_f64);
                assert!(default.is_none_or(is_inside), "{parameter:?}, {default:?}");
                let is_value_inside = match parameter.value {
                    LiveValue::Number(x) => is_inside(x),
                    LiveValue::Whole(n) => is_inside(n as f64),
                    LiveValue::Vector(v) => v.into_iter().all(is_inside),
                };
                assert!(is_value_inside && !parameter.description.is_empty(), "{parameter:?}");
                // The present value changes nothing.
                let same = scene.with_live(&[format!("{}={}", parameter.key, parameter.value)]).unwrap();
                let fixed = scene.first_fixed_change(&same);
                assert!(fixed.is_none(), "{}: {fixed:?}", parameter.key);
            }
        }
    }

    #[test]
    fn fixed_keys_and_invalid_values_are_refused_by_name() {
        let water = scene("dam_break");
        let refusal = |change: &str| water.with_live(&[change.to_owned()]).unwrap_err().to_string();
        assert!(refusal("fluid.particle_spacing_m=0.1").contains("cannot change while the simulation runs"));
        assert!(refusal("no.such_key=1").contains("no.such_key"));
        let invalid = refusal("fluid.dynamic_viscosity_pa_s=-1.0");
        assert!(
            invalid.contains("fluid.dynamic_viscosity_pa_s") && invalid.contains("expected"),
            "{invalid}"
        );
        let other = Scene::find("dam_break", &["time.dt_s=0.0011".to_owned()]).unwrap();
        assert_eq!(water.first_fixed_change(&other).as_deref(), Some("time.dt_s"));
    }

    #[test]
    fn an_automatic_time_step_keeps_its_value() {
        let auto = builtin().iter().map(|builtin| builtin.load(&[]).unwrap()).find(|scene| {
            scene.time.dt_s == TimeStep::Auto && scene.live_keys().contains(&"mpm.material.youngs_modulus_pa")
        });
        let auto = auto.unwrap();
        let Some(mpm) = auto.mpm() else { panic!("a key of [mpm] without the section") };
        let change = format!("mpm.material.youngs_modulus_pa={:?}", 0.5 * mpm.material.youngs_modulus_pa);
        let softer = auto.with_live(&[change]).unwrap();
        assert_eq!(softer.dt_s(), auto.dt_s());
        assert_eq!(softer.time.dt_s, TimeStep::Seconds(auto.dt_s()));
        assert_eq!(auto.first_fixed_change(&softer), None);
    }

    proptest! {
        #[test]
        fn values_read_back_to_the_bit(x in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            let text = LiveValue::Number(x).to_string();
            let read: toml::Table = format!("x = {text}").parse().unwrap();
            prop_assert_eq!(read["x"].as_float().map(f64::to_bits), Some(x.to_bits()));
        }
    }
}
