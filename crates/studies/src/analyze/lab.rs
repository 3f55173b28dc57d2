//! Snow samples with a given state on the device, and measurements of them.

use frazil_engine::Failure;
use frazil_scene::Mpm as Section;
use frazil_solvers::mpm::{Fault, InitialState, Mpm, MpmMetrics, MpmParameters, Surroundings};
use frazil_solvers::{Solver as _, StateColumn, Tuning};
use frazil_vk::{Device, RecorderOptions};
use glam::{DMat3, DVec3};

/// Number of steps per submission.
const STEPS_AT_ONCE: u64 = 32;

/// Returns a domain without gravity or bodies whose lower corner is the origin.
pub fn empty_space(size_m: [f64; 3]) -> Surroundings {
    let domain_max_m = size_m.map(|x| x as f32);
    Surroundings { domain_max_m, up_axis: 1, ..Default::default() }
}

/// A particle of snow in a given state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    pub position_m: DVec3,
    pub velocity_m_s: DVec3,
    pub mass_kg: f64,
    pub volume_m3: f64,
    /// Elastic deformation gradient F_E.
    pub elastic: DMat3,
    /// Plastic volume ratio J_P.
    pub plastic_volume: f64,
    /// Kirchhoff stress times initial volume, V⁰ τ, in J.
    pub stress: DMat3,
}

impl Grain {
    /// Returns an undeformed particle at rest.
    pub fn new(position_m: DVec3, mass_kg: f64, volume_m3: f64) -> Self {
        Self {
            position_m,
            velocity_m_s: DVec3::ZERO,
            mass_kg,
            volume_m3,
            elastic: DMat3::IDENTITY,
            plastic_volume: 1.0,
            stress: DMat3::ZERO,
        }
    }
}

/// Returns `n`³ (n² in 2D) particles on a lattice in a cube of side `side_m` whose lower corner is at
/// `corner_m`.
pub fn cube(dimensions: u32, corner_m: DVec3, side_m: f64, n: u32, density_kg_m3: f64) -> Vec<Grain> {
    let spacing = side_m / f64::from(n);
    let volume = spacing.powi(dimensions as i32);
    let layers = if dimensions == 3 { n } else { 1 };
    let number = |i: u32| spacing * (f64::from(i) + 0.5);
    (0..n * n * layers)
        .map(|i| {
            let depth = if dimensions == 3 { number(i / (n * n)) } else { 0.0 };
            let at = corner_m + DVec3::new(number(i % n), number(i / n % n), depth);
            Grain::new(at, density_kg_m3 * volume, volume)
        })
        .collect()
}

/// Returns the Frobenius norm.
pub fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Returns the rotation of the polar decomposition by Newton's iteration, which converges for a matrix near a
/// rotation.
pub fn rotation(f: DMat3) -> DMat3 {
    (0..20).fold(f, |r, _| 0.5 * (r + r.inverse().transpose()))
}

/// A snow sample on the device.
pub struct Sample {
    device: Device,
    pub mpm: Mpm,
}

impl Sample {
    /// Creates undeformed snow at rest, ignoring the strain of the grains.
    pub fn new(
        device: &Device,
        section: &Section,
        dt_s: f64,
        surroundings: Surroundings,
        grains: &[Grain],
    ) -> Result<Self, Failure> {
        let narrow = |v: DVec3| v.to_array().map(|x| x as f32);
        let beginning = InitialState {
            positions_m: grains.iter().map(|grain| narrow(grain.position_m)).collect(),
            velocities_m_s: grains.iter().map(|grain| narrow(grain.velocity_m_s)).collect(),
            masses_kg: grains.iter().map(|grain| grain.mass_kg as f32).collect(),
            volumes_m3: grains.iter().map(|grain| grain.volume_m3 as f32).collect(),
            ..InitialState::default()
        };
        let parameters = MpmParameters::new(section, dt_s, surroundings)?;
        let mpm = Mpm::new(device, parameters, &beginning, Tuning::default())?;
        Ok(Self { device: device.clone(), mpm })
    }

    /// Creates snow with the strain of its grains, clamped to the yield bounds. Its stress is computed on
    /// the device, by a step without motion.
    pub fn strained(
        device: &Device,
        section: &Section,
        dt_s: f64,
        surroundings: Surroundings,
        grains: &[Grain],
    ) -> Result<Self, Failure> {
        let Surroundings { domain_min_m, domain_max_m, .. } = surroundings;
        let alone = Surroundings { domain_min_m, domain_max_m, up_axis: 1, ..Default::default() };
        let mut state = Self::new(device, section, dt_s, alone.clone(), grains)?.state()?;
        let ids = word_column(&state, "id").to_vec();
        let d = section.dimensions as usize;
        for column in &mut state {
            let of = |value: &dyn Fn(&Grain) -> Vec<f32>| {
                ids.iter().flat_map(|id| value(&grains[*id as usize])).map(f32::to_bits).collect()
            };
            match column.name.as_str() {
                "plastic_volume" => column.words = of(&|grain| vec![grain.plastic_volume as f32]),
                "elastic" => {
                    column.words = of(&|grain| {
                        let entry = |k: usize| grain.elastic.col(k / d)[k % d] as f32;
                        (0..d * d).map(entry).collect()
                    });
                }
                _ => {}
            }
        }
        let parameters = MpmParameters::new(section, dt_s, alone)?;
        let mut still = Self {
            device: device.clone(),
            mpm: Mpm::restore(device, parameters, &state, 0, Default::default())?,
        };
        still.step(1)?;
        let parameters = MpmParameters::new(section, dt_s, surroundings)?;
        let mpm = Mpm::restore(device, parameters, &still.state()?, 0, Default::default())?;
        Ok(Self { device: device.clone(), mpm })
    }

    /// Returns the sample in its state with other surroundings, of the same extent.
    pub fn among(self, section: &Section, dt_s: f64, surroundings: Surroundings) -> Result<Self, Failure> {
        let parameters = MpmParameters::new(section, dt_s, surroundings)?;
        let mpm =
            Mpm::restore(&self.device, parameters, &self.state()?, self.mpm.step(), Default::default())?;
        Ok(Self { mpm, ..self })
    }

    /// Takes steps, which must succeed.
    pub fn step(&mut self, n: u64) -> Result<(), Failure> {
        match self.try_step(n)? {
            None => Ok(()),
            Some(fault) => Err(Failure::invariant(fault)),
        }
    }

    /// Takes steps, and returns the fault, if one occurred.
    pub fn try_step(&mut self, n: u64) -> Result<Option<Fault>, Failure> {
        let last = self.mpm.step() + n;
        loop {
            let now = (last - self.mpm.step()).min(STEPS_AT_ONCE);
            let mut recorder = self.device.recorder()?;
            (0..now).for_each(|_| self.mpm.record_step(&mut recorder));
            let check = self.mpm.record_fault_check(&mut recorder)?;
            self.device.submit(recorder)?;
            let fault = check.wait()?;
            if fault.is_some() && self.mpm.regrow(&self.device)?.is_some() {
                continue;
            }
            if self.mpm.step() == last || fault.is_some() {
                return Ok(fault);
            }
        }
    }

    /// Returns the device time of each of `n` steps in one submission, in ns.
    pub fn time(&mut self, n: u32) -> Result<f64, Failure> {
        let mut recorder =
            self.device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        (0..n).for_each(|_| self.mpm.record_step(&mut recorder));
        let times = self.device.submit(recorder)?.pass_times()?;
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            let name = &self.device.info().name;
            return Err(Failure::device(format!("{name} has no time stamps, which this study is made of")));
        };
        Ok((last.start_ns + last.duration_ns - first.start_ns) / f64::from(n))
    }

    /// Measures the metrics of the sample.
    pub fn metrics(&self) -> Result<MpmMetrics, Failure> {
        let mut recorder = self.device.recorder()?;
        let pending = self.mpm.record_metrics(&mut recorder)?;
        self.device.submit(recorder)?;
        Ok(pending.wait()?)
    }

    /// Returns the particles in the order in which they were given.
    pub fn grains(&self) -> Result<Vec<Grain>, Failure> {
        let state = self.state()?;
        let numbers = |name: &str| -> Vec<f64> {
            word_column(&state, name).iter().map(|word| f32::from_bits(*word).into()).collect()
        };
        let (position, velocity) = (numbers("position"), numbers("velocity"));
        let (mass, volume, plastic) = (numbers("mass"), numbers("volume"), numbers("plastic_volume"));
        let (elastic, stress) = (numbers("elastic"), numbers("stress"));
        let d = self.mpm.parameters().dimensions as usize;
        let symmetric = d * (d + 1) / 2;
        let matrix = |i: usize| matrix(d, &elastic[d * d * i..]);
        let tensor = |i: usize| {
            let s = &stress[symmetric * i..symmetric * (i + 1)];
            match *s {
                [xx, yy, zz, xy, xz, yz] => DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
                _ => DMat3::from_cols_array(&[s[0], s[2], 0.0, s[2], s[1], 0.0, 0.0, 0.0, 0.0]),
            }
        };
        let mut grains: Vec<(u32, Grain)> = word_column(&state, "id")
            .iter()
            .enumerate()
            .map(|(i, id)| {
                let grain = Grain {
                    position_m: DVec3::from_slice(&position[3 * i..]),
                    velocity_m_s: DVec3::from_slice(&velocity[3 * i..]),
                    mass_kg: mass[i],
                    volume_m3: volume[i],
                    elastic: matrix(i),
                    plastic_volume: plastic[i],
                    stress: tensor(i),
                };
                (*id, grain)
            })
            .collect();
        grains.sort_by_key(|(id, _)| *id);
        Ok(grains.into_iter().map(|(_, grain)| grain).collect())
    }

    /// Returns F_E of the particles in the order in which they were given.
    pub fn elastic(&self) -> Result<Vec<DMat3>, Failure> {
        let state = self.columns(|name| ["id", "elastic"].contains(&name))?;
        let d = self.mpm.parameters().dimensions as usize;
        let numbers: Vec<f64> =
            word_column(&state, "elastic").iter().map(|word| f32::from_bits(*word).into()).collect();
        let ids = word_column(&state, "id");
        let mut elastic = vec![DMat3::IDENTITY; ids.len()];
        for (id, numbers) in ids.iter().zip(numbers.chunks_exact(d * d)) {
            elastic[*id as usize] = matrix(d, numbers);
        }
        Ok(elastic)
    }

    /// Returns the stress forces on the active nodes of the last step, in N.
    pub fn node_forces(&self) -> Result<Vec<DVec3>, Failure> {
        // A sample that has made no step has its forces on blocks alone.
        let mut recorder = self.device.recorder()?;
        self.mpm.record_node_sums(&mut recorder);
        self.device.submit(recorder)?;
        let n_blocks = self.device.download(&self.mpm.blocks().active_count().count, 1)?[0];
        let n = (n_blocks * self.mpm.parameters().layout.block_nodes()) as usize;
        let forces = self.device.download(self.mpm.node_force(), n)?;
        Ok(forces.into_iter().map(|force| DVec3::from_array(force.map(f64::from))).collect())
    }

    fn state(&self) -> Result<Vec<StateColumn>, Failure> {
        self.columns(|_| true)
    }

    fn columns(&self, is_chosen: impl Fn(&str) -> bool) -> Result<Vec<StateColumn>, Failure> {
        let mut state = Vec::new();
        for column in self.mpm.state_columns().into_iter().filter(|column| is_chosen(&column.name)) {
            let words = self.device.download(&column.words, column.words.len())?;
            state.push(StateColumn { name: column.name.into(), words });
        }
        Ok(state)
    }
}

/// Returns the matrix of d² numbers by columns, embedded in the identity.
fn matrix(d: usize, numbers: &[f64]) -> DMat3 {
    let mut m = DMat3::IDENTITY;
    for (k, number) in numbers[..d * d].iter().enumerate() {
        m.col_mut(k / d)[k % d] = *number;
    }
    m
}

fn word_column<'a>(state: &'a [StateColumn], name: &str) -> &'a [u32] {
    state.iter().find(|column| column.name == name).map_or(&[], |column| &column.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotation_of_a_stretched_rotation_is_found() {
        let r = DMat3::from_rotation_y(0.4) * DMat3::from_rotation_x(-1.1);
        let found = rotation(r * DMat3::from_diagonal(DVec3::new(1.01, 0.98, 1.0)));
        assert!(norm(found - r) < 1e-12);
    }
}
