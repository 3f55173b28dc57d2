//! Grains on the device and on their f64 twin.

use crate::device;
use crate::mpm_stages::device_collider;
use frazil_reference::dem as twin;
use frazil_reference::mpm::Collider;
use frazil_scene::Dem as Section;
use frazil_solvers::Surroundings;
use frazil_solvers::dem::{Dem, DemFault, DemMetrics, DemParameters, Grains, MAX_CONTACTS};
use frazil_solvers::pbd::{StateColumn, Tuning};
use frazil_vk::Device;
use glam::DVec3;
use std::collections::{BTreeMap, HashMap};

/// Steps in a submission.
const STEPS_AT_ONCE: u64 = 64;

/// Balls of ice of this radius, that neither stick nor resist rolling.
pub fn section(radius_m: f64, normal_stiffness_n_m: f64) -> Section {
    Section {
        radius_m,
        radius_spread: 0.0,
        density_kg_m3: 900.0,
        normal_stiffness_n_m,
        tangential_stiffness_ratio: 2.0 / 7.0,
        tangential_damping_ratio: 0.5,
        restitution: 0.5,
        friction: 0.5,
        rolling_friction: 0.0,
        cohesion_n: 0.0,
        cohesion_range_m: None,
        bonds: None,
        wall_friction: None,
        wall_restitution: None,
        terrain_adhesion_n: 0.0,
        terrain_adhesion_range_m: None,
        steps_per_contact: 40.0,
    }
}

/// The time step that the section asks for.
pub fn dt_s(section: &Section) -> f64 {
    section.contact_time_s() / section.steps_per_contact
}

/// A grain at rest.
pub fn grain(id: u32, radius: f64, position: DVec3) -> twin::Grain {
    twin::Grain { id, position, velocity: DVec3::ZERO, spin: DVec3::ZERO, radius }
}

/// Grains among walls and bodies, on the device and as the twin takes them.
pub struct Grainpack {
    /// On the device.
    pub dem: Dem,
    /// The same numbers for the twin.
    pub p: twin::Parameters,
    /// The same bodies.
    pub bodies: Vec<Collider>,
    device: Device,
    n: usize,
}

impl Grainpack {
    /// Puts grains with ids 0, 1, 2 … on a device with validation.
    ///
    /// # Panics
    /// If the device refuses.
    pub fn new(
        section: &Section,
        dt_s: f64,
        gravity: DVec3,
        domain: [DVec3; 2],
        bodies: Vec<Collider>,
        grains: &[twin::Grain],
    ) -> Self {
        Self::on(device(), section, dt_s, gravity, domain, bodies, grains)
    }

    /// The same on a device that is open already.
    ///
    /// # Panics
    /// If the device refuses.
    #[allow(clippy::expect_used)]
    pub fn on(
        device: Device,
        section: &Section,
        dt_s: f64,
        gravity: DVec3,
        domain: [DVec3; 2],
        bodies: Vec<Collider>,
        grains: &[twin::Grain],
    ) -> Self {
        let narrow = |v: DVec3| v.as_vec3().to_array();
        let (parameters, p) = parameters(section, dt_s, gravity, domain, &bodies, grains.len() as u32);
        let beginning = Grains {
            positions_m: grains.iter().map(|g| narrow(g.position)).collect(),
            velocities_m_s: grains.iter().map(|g| narrow(g.velocity)).collect(),
            spins_1_s: grains.iter().map(|g| narrow(g.spin)).collect(),
            radii_m: grains.iter().map(|g| g.radius as f32).collect(),
        };
        let dem = Dem::new(&device, parameters, &beginning, Tuning::default()).expect("grains that fit");
        Self { dem, p, bodies, device, n: grains.len() }
    }

    /// Takes steps.
    ///
    /// # Panics
    /// If the device refuses, or there is a fault.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> DemMetrics {
        assert_eq!(self.try_advance(steps), None);
        let mut recorder = self.device.recorder().expect("a recorder");
        let metrics = self.dem.record_metrics(&mut recorder).expect("a measurement");
        self.device.submit(recorder).expect("a submission");
        metrics.wait().expect("a measurement")
    }

    /// Takes steps; what went wrong first, if anything did.
    ///
    /// # Panics
    /// If the device refuses.
    #[allow(clippy::expect_used)]
    pub fn try_advance(&mut self, steps: u64) -> Option<DemFault> {
        let mut left = steps;
        loop {
            let n = left.min(STEPS_AT_ONCE);
            left -= n;
            let mut recorder = self.device.recorder().expect("a recorder");
            (0..n).for_each(|_| self.dem.record_step(&mut recorder));
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let check = self.dem.record_fault_check(&mut recorder).expect("a check");
            self.device.submit(recorder).expect("a submission");
            return check.wait().expect("a check");
        }
    }

    /// All columns of the state, tidy.
    ///
    /// # Panics
    /// If the device refuses.
    #[allow(clippy::expect_used)]
    pub fn columns(&self) -> Vec<StateColumn> {
        let mut recorder = self.device.recorder().expect("a recorder");
        self.dem.record_output(&mut recorder);
        self.device.submit(recorder).expect("a submission");
        let words = |column: &frazil_particles::ColumnView| {
            let words = self.n * column.kind.words() as usize;
            self.device.download(&column.words, words).expect("a column")
        };
        let columns = self.dem.state_columns();
        columns.iter().map(|c| StateColumn { name: c.name.into(), words: words(c) }).collect()
    }

    /// What the device holds, by id.
    pub fn state(&self) -> twin::State {
        state_of(&self.columns(), self.dem.step())
    }

    /// A step of the twin from where the device is.
    pub fn twin_step(&self) -> twin::State {
        let mut state = self.state();
        state.advance(&self.p, &self.bodies);
        state
    }
}

/// The parameters of the device, and of the twin in the same single precision.
pub fn parameters(
    section: &Section,
    dt_s: f64,
    gravity: DVec3,
    domain: [DVec3; 2],
    bodies: &[Collider],
    n: u32,
) -> (DemParameters, twin::Parameters) {
    let narrow = |v: DVec3| v.as_vec3().to_array();
    let mut surroundings = Surroundings {
        domain_min_m: narrow(domain[0]),
        domain_max_m: narrow(domain[1]),
        gravity_m_s2: narrow(gravity),
        up_axis: 1,
        ..Default::default()
    };
    for body in bodies {
        let body = device_collider(body, &mut surroundings.heights_m);
        let damping_ratio = twin::damping_ratio(section.wall_restitution()) as f32;
        surroundings.colliders.push(frazil_shaders::types::Body { damping_ratio, ..body });
    }
    let parameters = DemParameters::new(section, dt_s, surroundings, n);
    let t = &parameters.terms;
    let wide = |v: [f32; 3]| glam::Vec3::from(v).as_dvec3();
    let p = twin::Parameters {
        dt_s: t.dt_s.into(),
        gravity: wide(t.gravity_m_s2),
        domain: [wide(t.domain_min_m), wide(t.domain_max_m)],
        density: t.density_kg_m3.into(),
        normal_stiffness: t.normal_stiffness_n_m.into(),
        tangential_stiffness: t.tangential_stiffness_n_m.into(),
        tangential_damping_ratio: t.tangential_damping_ratio.into(),
        restitution: section.restitution,
        friction: t.friction.into(),
        rolling_friction: t.rolling_friction.into(),
        wall_restitution: section.wall_restitution(),
        wall_friction: t.wall_friction.into(),
        cohesion: (t.cohesion_n.into(), t.cohesion_range_m.into()),
        adhesion: (t.adhesion_n.into(), t.adhesion_range_m.into()),
        bonds: section.bonds.as_ref().map(|_| twin::Bonds {
            strength: t.bond_strength_n.into(),
            shear_strength: t.bond_shear_strength_n.into(),
            below: t.bond_below_m_s.into(),
            after: t.bond_after_s.into(),
        }),
    };
    (parameters, p)
}

/// The state that columns hold, in the order of ids.
///
/// # Panics
/// If a column is missing.
#[allow(clippy::expect_used)]
pub fn state_of(columns: &[StateColumn], step: u64) -> twin::State {
    let columns: HashMap<&str, &[u32]> =
        columns.iter().map(|c| (c.name.as_str(), c.words.as_slice())).collect();
    let words = |name: &str| *columns.get(name).expect("a column of that name");
    let vector = |name: &str, i: usize| {
        DVec3::from_array(std::array::from_fn(|axis| f64::from(f32::from_bits(words(name)[3 * i + axis]))))
    };
    let ids = words("id");
    let mut grains: Vec<_> = (0..ids.len())
        .map(|i| twin::Grain {
            id: ids[i],
            position: vector("position", i),
            velocity: vector("velocity", i),
            spin: vector("spin", i),
            radius: f32::from_bits(words("radius")[i]).into(),
        })
        .collect();
    grains.sort_by_key(|grain| grain.id);
    let mut contacts = BTreeMap::new();
    for (i, id) in ids.iter().enumerate() {
        for k in 0..words("contact_count")[i] as usize {
            let slot = i * MAX_CONTACTS as usize + k;
            let partner = match words("contact_partner")[slot] {
                id @ 0..0x8000_0000 => twin::Partner::Grain(id),
                wall @ 0x8000_0000..0x8000_0006 => twin::Partner::Wall(wall - 0x8000_0000),
                body => twin::Partner::Body(body - 0x8000_0006),
            };
            let shear = |e: usize| f64::from(f32::from_bits(words("contact_shear")[4 * slot + e]));
            let memory = twin::Memory {
                shear: DVec3::new(shear(0), shear(1), shear(2)),
                rolling: columns
                    .get("contact_rolling")
                    .map_or(DVec3::ZERO, |_| vector("contact_rolling", slot)),
                slow: shear(3),
            };
            assert_eq!(contacts.insert((*id, partner), memory), None, "a contact is kept twice");
        }
    }
    twin::State { grains, contacts, step }
}
