//! Twin of `pbd/fault.glsl` and `pbd/end_step`: faults of position-based steps.

use std::collections::BTreeMap;

/// Kind of fault; of several in one step the first is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Position or velocity is not finite at the start of the step.
    StartNotFinite,
    /// Predicted position, velocity or density is not finite after the constraints.
    NotFinite,
    /// Speed above its limit.
    TooFast,
    /// Density above its limit.
    TooDense,
    /// Inverted by its neighbours.
    Inverted,
    /// More particles than there is room for.
    Full,
}

impl FaultKind {
    /// All kinds, in order.
    pub const ALL: [Self; 6] =
        [Self::StartNotFinite, Self::NotFinite, Self::TooFast, Self::TooDense, Self::Inverted, Self::Full];
}

/// Particle whose step has ended.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// x in m and v in m/s at the start.
    pub start: [[f32; 3]; 2],
    /// x* in m and u in m/s after the constraints.
    pub end: [[f32; 3]; 2],
    /// ρ in kg/m³.
    pub density: f32,
}

impl Moved {
    /// Returns the fault of the particle, if it has one.
    pub fn fault(&self, max_density_kg_m3: f32, max_speed_m_s: f32) -> Option<FaultKind> {
        // Beyond 1e15 in SI units, a number is not that of a state.
        let is_sound = |v: &[f32; 3]| v.iter().all(|x| x.abs() < 1e15);
        let length = |v: [f32; 3]| v.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
        let speed = length(self.start[1]).max(length(self.end[1]));
        if !self.start.iter().all(is_sound) {
            Some(FaultKind::StartNotFinite)
        } else if !self.end.iter().all(is_sound) || !self.density.is_finite() {
            Some(FaultKind::NotFinite)
        } else if speed >= f64::from(max_speed_m_s) {
            Some(FaultKind::TooFast)
        } else {
            (self.density >= max_density_kg_m3).then_some(FaultKind::TooDense)
        }
    }
}

/// First fault of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Step, from 1.
    pub step: u32,
    /// Its kind.
    pub kind: FaultKind,
    /// Phase of the particle.
    pub phase: u32,
    /// Id of the particle.
    pub id: u32,
}

/// Faults found in a step, and the first one of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Lowest index of a particle with each kind of fault, by kind and phase.
    pub lowest: BTreeMap<(FaultKind, u32), usize>,
    /// Steps so far.
    pub steps: u32,
    /// First fault.
    pub first: Option<Fault>,
}

impl Faults {
    /// Makes the faults of indices as the device has them: by kind, then by phase, all ones without a fault.
    pub fn from_words(words: &[u32]) -> Self {
        let keys = FaultKind::ALL.into_iter().flat_map(|kind| [(kind, 0), (kind, 1)]);
        let found = keys.zip(words).filter(|(_, word)| **word != u32::MAX);
        Self { lowest: found.map(|(key, word)| (key, *word as usize)).collect(), ..Self::default() }
    }

    /// Keeps a fault of particle i of a phase if it is the first one of its kind.
    pub fn note(&mut self, kind: FaultKind, phase: u32, i: usize) {
        let lowest = self.lowest.entry((kind, phase)).or_insert(i);
        *lowest = i.min(*lowest);
    }

    /// Ends a step of phases with these ids. Returns false if the simulation ends.
    pub fn end_step(&mut self, ids: &[&[u32]]) -> bool {
        self.steps += 1;
        if let (None, Some(((kind, phase), i))) = (self.first, self.lowest.first_key_value()) {
            let id = ids[*phase as usize][*i];
            self.first = Some(Fault { step: self.steps, kind: *kind, phase: *phase, id });
        }
        self.first.is_none()
    }
}
