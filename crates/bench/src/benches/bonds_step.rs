//! Cost of existing bonds in a step: a rule that updates them, one that breaks some, and the permutation to a
//! new order.

use super::bonds_build::{difference, rows_of};
use super::lattice::{Cells, Points};
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{BondCapacity, BondColumn, BondSearch, BondedParticles, Builder, PairBonds};
use frazil_reference::bonds::{self as twin, Bonds, FreezeRule, Particles, SpringSolve};
use frazil_testkit::bond_rules::{FreezeRules, SpringRules};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct BondsStep;

const VARIANTS: &[&str] = &["brittle", "plastic_springs", "freeze_bonds"];
const SLOTS: u32 = 8;
const RADIUS_M: f32 = 1.0;
const BREAK_RATIO: f32 = 1.1;
const MAX_LENGTH_M: f32 = 1.0;
const PLASTICITY_DT: f32 = 0.3;
const YIELD_RATIO: f32 = 0.05;
const SOLVE: SpringSolve =
    SpringSolve { multiplier_column: 2, is_first: true, gain: 0.2, compliance_dt2: 0.5, inverse_mass: 1.0 };
const FREEZE: FreezeRule =
    FreezeRule { dt_s: 0.5, slow_m_s: 0.5, freeze_after_s: 0.5, contact_m: 0.6, break_ratio: 1.1 };

/// Maximum rounding error of a device's division and square root in the correction of one spring, in m, and
/// in its multiplier, in kg m.
const SOLVE_TOLERANCE: f32 = 1e-6;

enum Rule {
    Brittle,
    PlasticSprings { rules: SpringRules, displacement: Buffer<[f32; 3]> },
    FreezeBonds(FreezeRules),
}

struct Workload {
    rule: Rule,
    count: DeviceCount,
    position: Buffer<[f32; 3]>,
    velocity: Buffer<[f32; 3]>,
    limit: Buffer<u32>,
    id: Buffer<u32>,
    order: Buffer<u32>,
    bonds: PairBonds,
    before: Before,
    expected: Bonds,
    expected_displacement: Vec<[f32; 3]>,
}

/// State of the table before the step.
struct Before {
    partner: Buffer<u32>,
    rest_length_m: Buffer<f32>,
    state: Buffer<u32>,
    degree: Buffer<u32>,
}

impl Bench for BondsStep {
    fn id(&self) -> &'static str {
        "bonds.step"
    }

    fn about(&self) -> &'static str {
        "bonds, at most eight a particle: updated by a rule, some broken, all moved to another order"
    }

    fn axes(&self) -> Vec<Axis> {
        let count = Axis::integers("count", Domain::Integers(0, 1 << 28), &[1_000, 100_003], &[1_000]);
        vec![count, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let (rule, columns) = match point.name("variant")? {
            "brittle" => (Rule::Brittle, Vec::new()),
            "plastic_springs" => {
                let displacement = device.buffer("displacement", n)?;
                let rule = Rule::PlasticSprings { rules: SpringRules::new(device)?, displacement };
                let columns = vec![
                    BondColumn::f32("plastic_change", "m", 0.0),
                    BondColumn::u32("age", "1", 0),
                    BondColumn::f32("multiplier", "kg m", 0.0),
                ];
                (rule, columns)
            }
            "freeze_bonds" => {
                let rule = Rule::FreezeBonds(FreezeRules::new(device)?);
                let columns =
                    vec![BondColumn::u32("is_frozen", "1", 0), BondColumn::f32("slow_time", "s", 0.0)];
                (rule, columns)
            }
            _ => return Err(point.unknown("variant", VARIANTS)),
        };
        let points = Points::new(n);
        let Cells { grid, count, sorted_keys } = points.cells(device)?;
        let mut particles = Particles {
            position: points.positions_m,
            limit: vec![SLOTS; n],
            id: (0..n as u32).map(|i| i ^ 0x2aa).collect(),
        };
        let position = device.buffer_from("position", &particles.position)?;
        let limit = device.buffer_from("limit", &particles.limit)?;
        let id = device.buffer_from("id", &particles.id)?;
        let capacity = BondCapacity { particles: n as u32, slots: SLOTS };
        let mut bonds = PairBonds::new(device, capacity, &columns)?;
        let bonded = BondedParticles { count: &count, position: &position, limit: &limit, id: &id };
        let search = BondSearch { radius_m: RADIUS_M, max_bonds: SLOTS };
        let builder = Builder::Reproducible { rounds: 4 };
        bonds.build(device, &grid, &sorted_keys, bonded, builder, &search)?;
        let before = Before::copy(device, &bonds)?;
        // Some bonds are stretched, and some beyond the break ratio.
        for (i, x) in particles.position.iter_mut().enumerate() {
            *x = std::array::from_fn(|axis| x[axis] + 0.2 * (unit_noise(5 * i + axis) - 0.5));
        }
        device.upload(&position, &particles.position)?;
        let velocity: Vec<[f32; 3]> =
            (0..n).map(|i| std::array::from_fn(|axis| unit_noise(11 * i + axis) - 0.5)).collect();
        // Particles are swapped in pairs.
        let order: Vec<u32> = (0..n as u32).map(|i| if (i ^ 1) < n as u32 { i ^ 1 } else { i }).collect();
        let mut workload = Workload {
            velocity: device.buffer_from("velocity", &velocity)?,
            order: device.buffer_from("order", &order)?,
            expected: rows_of(device, &bonds, n)?.unwrap_or_else(|_| Bonds::none(n)),
            expected_displacement: Vec::new(),
            rule,
            count,
            position,
            limit,
            id,
            bonds,
            before,
        };
        workload.step_of_twin(&particles, &velocity, &order);
        Ok(Prepared::Device(Box::new(workload)))
    }
}

impl Before {
    fn copy(device: &Device, bonds: &PairBonds) -> Result<Self> {
        let words =
            |name, buffer: &Buffer<u32>| device.buffer_from(name, &device.download(buffer, buffer.len())?);
        let rest_length_m = device.download(bonds.rest_length_m(), bonds.rest_length_m().len())?;
        Ok(Self {
            partner: words("partner before", bonds.partner())?,
            rest_length_m: device.buffer_from("rest length before", &rest_length_m)?,
            state: words("state before", bonds.state())?,
            degree: words("degree before", bonds.degree())?,
        })
    }
}

impl Workload {
    fn step_of_twin(&mut self, particles: &Particles, velocity: &[[f32; 3]], order: &[u32]) {
        let bonds = &mut self.expected;
        let keep_mask = match self.rule {
            Rule::Brittle => twin::mark_stretched_bonds(bonds, particles, SLOTS, BREAK_RATIO),
            Rule::PlasticSprings { .. } => {
                self.expected_displacement = twin::solve_springs(bonds, &particles.position, &SOLVE);
                twin::update_plastic_springs(bonds, &particles.position, PLASTICITY_DT, YIELD_RATIO);
                twin::mark_long_springs(bonds, particles, SLOTS, MAX_LENGTH_M)
            }
            Rule::FreezeBonds(_) => {
                twin::update_freeze_bonds(bonds, velocity, &FREEZE);
                twin::mark_broken_freeze_bonds(bonds, particles, SLOTS, &FREEZE)
            }
        };
        twin::remove_bonds(bonds, &keep_mask);
        *bonds = twin::remap_bonds(bonds, order);
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.rows.len() as u64;
        // Position, limit, id and degree of a particle; its bonds add as many bytes as there are bonds.
        Work { elements, bytes_minimum: 24 * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.bonds.partner(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        let (before, bonds) = (&self.before, &self.bonds);
        recorder.copy(&before.partner, bonds.partner(), before.partner.len());
        recorder.copy(&before.rest_length_m, bonds.rest_length_m(), before.rest_length_m.len());
        recorder.copy(&before.state, bonds.state(), before.state.len());
        recorder.copy(&before.degree, bonds.degree(), before.degree.len());
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let Self { rule, count, position, limit, id, bonds, .. } = self;
        let particles = BondedParticles { count, position, limit, id };
        match rule {
            Rule::Brittle => bonds.record_break_stretched(recorder, particles, SLOTS, BREAK_RATIO)?,
            Rule::PlasticSprings { rules, displacement } => {
                rules.record_solve(recorder, bonds, particles, &SOLVE, displacement);
                rules.record_flow(recorder, bonds, particles, PLASTICITY_DT, YIELD_RATIO);
                rules.record_mark_long(recorder, bonds, particles, SLOTS, MAX_LENGTH_M);
                bonds.record_remove(recorder, count)?;
            }
            Rule::FreezeBonds(rules) => {
                rules.record_update(recorder, bonds, particles, &self.velocity, &FREEZE);
                rules.record_mark_broken(recorder, bonds, particles, SLOTS, &FREEZE);
                bonds.record_remove(recorder, count)?;
            }
        }
        Ok(bonds.record_remap(recorder, count, &self.order)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.expected.rows.len();
        let mut found = match rows_of(device, &self.bonds, n)? {
            Ok(bonds) => bonds,
            Err(difference) => return Ok(Some(difference)),
        };
        if let Rule::PlasticSprings { displacement, .. } = &self.rule {
            let moved = device.download(displacement, n)?;
            let pairs = moved.iter().flatten().zip(self.expected_displacement.iter().flatten());
            // Written so that a NaN exceeds any tolerance.
            let is_close = |a: f32, b: f32| (a - b).abs() <= SOLVE_TOLERANCE;
            if let Some((a, b)) = pairs.into_iter().find(|(a, b)| !is_close(**a, **b)) {
                return Ok(Some(Difference(format!("a displacement is {a} m, expected {b} m"))));
            }
            // A multiplier within the tolerance counts as equal.
            let ends = found.rows.iter_mut().flatten().zip(self.expected.rows.iter().flatten());
            for (bond, expected) in ends {
                let column = SOLVE.multiplier_column;
                let [a, b] = [bond.state[column], expected.state[column]].map(f32::from_bits);
                if is_close(a, b) {
                    bond.state[column] = expected.state[column];
                }
            }
        }
        Ok(difference(&found, &self.expected))
    }
}
