//! Building bonds: reproducibly, and by compare-and-swap.

use super::lattice::{Cells, Points};
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{BondCapacity, BondSearch, BondedParticles, Builder, PairBonds, UniformGrid};
use frazil_reference::bonds::{Bonds, Particles, Search, build_reproducible, check_build};
use frazil_testkit::twins::bonds::download;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct BondsBuild;

const VARIANTS: &[&str] = &["reproducible", "compare_and_swap"];
const SLOTS: u32 = 8;
/// Maximum number of bonds per particle, and their maximum distance in m.
const LIMIT: u32 = 3;
const RADIUS_M: f32 = 1.0;
/// Maximum number of particles for the twin, which checks all pairs.
const TWIN_PARTICLES: usize = 3000;

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    limit: Buffer<u32>,
    id: Buffer<u32>,
    bonds: PairBonds,
    builder: Builder,
    particles: Particles,
}

impl Bench for BondsBuild {
    fn id(&self) -> &'static str {
        "bonds.build"
    }

    fn about(&self) -> &'static str {
        "bonds of particles that have none, at most three each, eight particles a cell"
    }

    fn axes(&self) -> Vec<Axis> {
        let rounds = Axis::integers("rounds", Domain::Integers(1, 256), &[4], &[4]);
        // A million would take a software device a minute.
        let count = Axis::integers("count", Domain::Integers(0, 1 << 28), &[1_000, 100_003], &[1_000]);
        vec![count, rounds, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, rounds) = (point.count()?, point.integer("rounds")?.clamp(1, 256) as u32);
        let builder = match point.name("variant")? {
            "reproducible" => Builder::Reproducible { rounds },
            "compare_and_swap" => Builder::CompareAndSwap { passes: rounds },
            _ => return Err(point.unknown("variant", VARIANTS)),
        };
        let points = Points::new(n);
        let Cells { grid, count, sorted_keys } = points.cells(device)?;
        let particles = Particles {
            limit: vec![LIMIT; n],
            id: (0..n as u32).map(|i| i ^ 0x2aa).collect(),
            position: points.positions_m,
        };
        Ok(Prepared::Device(Box::new(Workload {
            count,
            grid,
            sorted_keys,
            position: device.buffer_from("position", &particles.position)?,
            limit: device.buffer_from("limit", &particles.limit)?,
            id: device.buffer_from("id", &particles.id)?,
            bonds: PairBonds::new(device, BondCapacity { particles: n as u32, slots: SLOTS }, &[])?,
            builder,
            particles,
        })))
    }
}

impl Workload {
    fn builder_rounds(&self) -> u32 {
        match self.builder {
            Builder::Reproducible { rounds } | Builder::CompareAndSwap { passes: rounds } => rounds,
        }
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.particles.id.len() as u64;
        // Position, limit and id read; a degree and three bonds of eight bytes written.
        Work { elements, bytes_minimum: (20 + 4 + 3 * 8) * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.bonds.partner(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        self.bonds.record_clear(recorder);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let particles = BondedParticles {
            count: &self.count,
            position: &self.position,
            limit: &self.limit,
            id: &self.id,
        };
        let search = BondSearch { radius_m: RADIUS_M, max_bonds: SLOTS };
        let keys = &self.sorted_keys;
        self.bonds.record_build(recorder, &self.grid, keys, particles, self.builder, &search)?;
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.particles.id.len();
        let found = match rows_of(device, &self.bonds, n)? {
            Ok(bonds) => bonds,
            Err(difference) => return Ok(Some(difference)),
        };
        let search = Search { radius_m: RADIUS_M, max_bonds: SLOTS };
        let none = Bonds::none(n);
        if let Some(violation) = check_build(&none, &found, &self.particles, &search, RADIUS_M).first() {
            return Ok(Some(Difference(format!("{violation:?}"))));
        }
        let expected = (n <= TWIN_PARTICLES).then(|| {
            let mut expected = none;
            build_reproducible(&mut expected, &self.particles, &search, self.builder_rounds());
            expected
        });
        if let (Some(expected), Builder::Reproducible { .. }) = (&expected, self.builder) {
            return Ok(difference(&found, expected));
        }
        // If any pair is eligible, there must be a bond.
        let any = |bonds: &Bonds| bonds.rows.iter().any(|row| !row.is_empty());
        let missing = !any(&found) && expected.as_ref().is_none_or(any);
        Ok(missing.then(|| Difference("no bond was made".into())))
    }
}

/// Returns the rows of `n` particles, or what is wrong with them.
pub fn rows_of(device: &Device, bonds: &PairBonds, n: usize) -> Result<Result<Bonds, Difference>> {
    let rows = download(device, bonds, n)?;
    Ok(rows.map_err(|violations| Difference(format!("{:?}", violations[0]))))
}

/// Returns the first row that differs.
pub fn difference(found: &Bonds, expected: &Bonds) -> Option<Difference> {
    let wrong = (0..expected.rows.len()).find(|i| expected.rows[*i] != found.rows[*i])?;
    let (found, expected) = (&found.rows[wrong], &expected.rows[wrong]);
    Some(Difference(format!("bonds of {wrong} are {found:?}, expected {expected:?}")))
}
