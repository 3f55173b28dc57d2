//! Building interlinks: reproducibly, and by compare-and-swap as in the paper.

use super::lattice::Points;
use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::{Builder, Counts, LinkLimit, LinkRule, LinkedParticles, UniformGrid};
use frazil_reference::interlinks::{self as twin, Links, Particles, build_reproducible, check_build};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Interlinks;

const VARIANTS: &[&str] = &["reproducible", "compare_and_swap"];
const N_MAX: u32 = 8;
const TEMPERATURE_C: f32 = -10.0;
/// The twin looks at all pairs: as many particles as it can do that for in a moment.
const TWIN_PARTICLES: usize = 3000;

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    temperature_c: Buffer<f32>,
    id: Buffer<u32>,
    links: frazil_kernels::Interlinks,
    builder: Builder,
    rule: LinkRule,
    particles: Particles,
    twin_rule: twin::LinkRule,
}

impl Bench for Interlinks {
    fn id(&self) -> &'static str {
        "interlinks.build"
    }

    fn about(&self) -> &'static str {
        "links of particles that have none, at most three each, eight particles a cell"
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
        let grid = points.grid(device)?;
        let count = Counts::new(device)?.upload(device, "count", n as u32, n as u32)?;
        let sorted_keys = device.buffer_from("sorted keys", &points.sorted_keys)?;
        let mut recorder = device.recorder()?;
        grid.record_cell_ranges(&mut recorder, &count, &sorted_keys);
        device.submit(recorder)?.wait()?;
        let particles = Particles {
            temperature_c: vec![TEMPERATURE_C; n],
            id: (0..n as u32).map(|i| i ^ 0x2aa).collect(),
            position: points.positions_m,
        };
        Ok(Prepared::Device(Box::new(Workload {
            count,
            grid,
            sorted_keys,
            position: device.buffer_from("position", &particles.position)?,
            temperature_c: device.buffer_from("temperature", &particles.temperature_c)?,
            id: device.buffer_from("id", &particles.id)?,
            links: frazil_kernels::Interlinks::new(device, n as u32, N_MAX)?,
            builder,
            rule: LinkRule {
                radius_m: 1.0,
                link_temperature_c: 0.0,
                limit: LinkLimit::Constant(3),
                break_ratio: 2.0,
            },
            particles,
            twin_rule: twin::LinkRule {
                radius_m: 1.0,
                link_temperature_c: 0.0,
                limit: twin::LinkLimit::Constant(3),
                break_ratio: 2.0,
            },
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
        // Position, temperature and id read; a degree and three links of eight bytes written.
        Work { elements, bytes_minimum: (20 + 4 + 3 * 8) * elements }
    }

    fn spoil(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.links.partner(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        self.links.record_clear(recorder);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let particles = LinkedParticles {
            count: &self.count,
            position: &self.position,
            temperature_c: &self.temperature_c,
            id: &self.id,
        };
        self.links.record_build(
            recorder,
            &self.grid,
            &self.sorted_keys,
            particles,
            self.builder,
            &self.rule,
        )?;
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.particles.id.len();
        let stride = self.links.capacity() as usize;
        let slots = stride * N_MAX as usize;
        let partner = device.download(self.links.partner(), slots)?;
        let rest_length_m = device.download(self.links.rest_length_m(), slots)?;
        let degree = device.download(self.links.degree(), n)?;
        let links = match Links::from_table(N_MAX, stride, &partner, &rest_length_m, &degree) {
            Ok(links) => links,
            Err(violations) => return Ok(Some(Difference(format!("{:?}", violations[0])))),
        };
        let none = Links::none(n, N_MAX);
        if let Some(violation) = check_build(&none, &links, &self.particles, &self.twin_rule).first() {
            return Ok(Some(Difference(format!("{violation:?}"))));
        }
        let expected = (n <= TWIN_PARTICLES).then(|| {
            let mut expected = none;
            build_reproducible(&mut expected, &self.particles, &self.twin_rule, self.builder_rounds());
            expected
        });
        if let (Some(expected), Builder::Reproducible { .. }) = (&expected, self.builder) {
            let wrong = (0..n).find(|i| expected.records[*i] != links.records[*i]);
            return Ok(wrong.map(|i| {
                let (found, expected) = (&links.records[i], &expected.records[i]);
                Difference(format!("links of {i} are {found:?}, expected {expected:?}"))
            }));
        }
        // Where anything can be linked, something must have been.
        let any = |links: &Links| links.records.iter().any(|record| !record.is_empty());
        let missing = !any(&links) && expected.as_ref().is_none_or(any);
        Ok(missing.then(|| Difference("no link was made".into())))
    }
}
