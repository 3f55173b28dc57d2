//! A cube of grains that are in contact and move, high above a terrain.

use crate::axis::{Axis, Domain, Point};
use crate::bench::Difference;
use crate::error::Result;
use frazil_reference::dem as twin;
use frazil_scene::{Dem as Section, SampledSlabs};
use frazil_shaders::common::body::HEIGHTFIELD;
use frazil_shaders::types::Body;
use frazil_solvers::Surroundings;
use frazil_solvers::dem::{Dem, DemParameters, Grains, MapGrid, Pieces, Stage};
use frazil_solvers::{Solver as _, SourceParameters, StateColumn, StepDivision, Tuning};
use frazil_testkit::saved_state;
use frazil_testkit::twins::{dem, slabs};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, Recorder};
use glam::{DQuat, DVec3};

const LAWS: &[&str] = &["sliding", "rolling"];

const RADIUS_M: f64 = 0.05;
/// Grain spacing, a little less than the diameter, with random offsets: most of the six neighbours of each
/// grain touch it, as in a flow.
const PITCH_M: f64 = 1.98 * RADIUS_M;
const NOISE_RADII: f64 = 0.02;
/// Thickness of the ice in m; below, the strength of its links.
const THICKNESS_M: f64 = 2.0 * RADIUS_M;
const STRENGTH_PA: f64 = 1e6;
/// Maximum velocity in each direction, in m/s.
const SPEED_M_S: f64 = 0.5;
/// Steps after which contacts have a history.
const HISTORY_STEPS: u64 = 16;
/// Maximum number of grains for the twin, which checks all pairs.
const TWIN_GRAINS: usize = 2048;
const GRAVITY: [f32; 3] = [0.0, -9.81, 0.0];

/// Maximum rounding error of a step: of forces of some 100 N, to seven digits each, on half a kilogramme over
/// 50 µs, and of velocities.
const VELOCITY_TOLERANCE_M_S: f64 = 4e-6;
/// Relative tolerance of positions, which have their own rounding at some metres from the origin.
const PLACE_TOLERANCE: f64 = 2.5e-7;
/// Tolerance of Σ m v with the contribution of gravity, relative to Σ m |v|.
const MOMENTUM_TOLERANCE: f64 = 2e-6;

/// Returns the axes: the number of grains, and whether there is rolling resistance, for which contacts have
/// columns of their own.
pub fn axes() -> Vec<Axis> {
    let counts = &[10_007, 131_072, 262_144, 524_288, 1_048_576];
    vec![
        Axis::integers("count", Domain::Integers(0, 1 << 24), counts, &[1_000]),
        Axis::names("law", LAWS, &LAWS[..1], LAWS),
    ]
}

/// Grains, with the states before and after a step.
pub struct Block {
    pub dem: Dem,
    pub n: usize,
    /// Ends of contacts when the step begins.
    pub n_ends: u64,
    section: Section,
    before: Vec<Buffer<u32>>,
    /// State after the twin's step.
    expected: Option<twin::State>,
    /// Pieces at the start of the simulation.
    slabs: twin::Slabs,
    /// Σ m v in kg m/s of grains and pieces after the step: they touch only one another.
    momentum: DVec3,
}

impl Block {
    /// Makes the grains of a point, with `n_pieces` pieces of ice on them and emitters, and runs the steps
    /// that build up contact history.
    pub fn new(device: &Device, point: &Point, n_pieces: usize, sources: SourceParameters) -> Result<Self> {
        let n = point.count()?;
        let rolling_friction = match point.name("law")? {
            "sliding" => 0.0,
            "rolling" => 0.1,
            _ => return Err(point.unknown("law", LAWS)),
        };
        let section = section(rolling_friction);
        let side = (1..).find(|side: &usize| side.pow(3) >= n).unwrap_or(1);
        let dt_s = section.contact_time_s() / section.steps_per_contact;
        let mut parameters =
            DemParameters::new(&section, StepDivision::whole(dt_s), surroundings(side), n as u32)
                .with_pieces(plates(&section, n_pieces, side), RADIUS_M);
        // A flow over a terrain is mapped in each step.
        parameters.sources = sources;
        parameters.map = Some(MapGrid::new([side as u32; 2], PITCH_M, RADIUS_M));
        let slabs = slabs::twin_slabs(&parameters.pieces);
        let p = dem::twin_parameters(&section, &parameters);
        let mut dem = Dem::new(device, parameters, &grains(n, side), Tuning::default())?;
        for _ in 0..HISTORY_STEPS {
            let mut recorder = device.recorder()?;
            dem.record_step(&mut recorder);
            device.submit(recorder)?;
        }
        let columns = saved_state(device, &dem)?;
        let before = columns
            .iter()
            .map(|column| device.buffer_from("before", &column.words))
            .collect::<frazil_vk::Result<_>>()?;
        let mut state = state_of(&columns, dem.step(), &slabs);
        let mass = state.grains.iter().map(|grain| grain.mass(&p)).sum::<f64>()
            + slabs.solids.iter().map(|solid| solid.mass).sum::<f64>();
        let momentum = state.momentum(&p) + mass * p.dt_s * p.gravity;
        let counts = columns.iter().find(|column| column.name == "contact_count");
        let n_ends = counts.map_or(0, |counts| counts.words.iter().map(|&count| u64::from(count)).sum());
        let expected = (n <= TWIN_GRAINS).then(|| {
            state.advance(&p, &[]);
            state
        });
        Ok(Self { dem, n, n_ends, section, before, expected, slabs, momentum })
    }

    /// Words per grain of all columns that a step reads and writes: position, velocity, spin, radius, id and
    /// number of contacts.
    pub const GRAIN_WORDS: u64 = 12;

    /// Returns the words stored per contact end: the partner, the shear spring and the time, and the rolling
    /// spring.
    pub fn contact_words(&self) -> u64 {
        if self.dem.parameters().has_rolling() { 8 } else { 5 }
    }

    /// Records the restoration of the state before the step, and the build of its contact lists, so that the
    /// step builds none: in a flow, most do not.
    pub fn restore(&mut self, recorder: &mut Recorder) -> Result<()> {
        for (before, column) in self.before.iter().zip(self.dem.state_columns()) {
            recorder.copy(before, &column.words, before.len());
        }
        self.dem.adopt_columns();
        self.record_before(recorder, Stage::Collide)
    }

    /// Records the stages of a step before this one.
    pub fn record_before(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<()> {
        for other in Dem::STAGES.into_iter().take_while(|other| *other != stage) {
            self.dem.record_stage(recorder, other)?;
        }
        Ok(())
    }

    /// Returns the first difference between the device's grains and the expected ones after the step.
    pub fn difference(&self, device: &Device) -> Result<Option<Difference>> {
        let columns = saved_state(device, &self.dem)?;
        let ids = columns.iter().find(|column| column.name == "id").map_or(&[][..], |ids| &ids.words);
        let mut seen = vec![false; self.n];
        for (i, id) in ids.iter().enumerate() {
            match seen.get_mut(*id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Ok(Some(Difference(format!(
                        "id[{i}] is {id}, expected each below {} once",
                        self.n
                    ))));
                }
            }
        }
        let counts = columns.iter().find(|column| column.name == "contact_count");
        let max = counts.and_then(|counts| counts.words.iter().max()).copied().unwrap_or(0);
        if max > frazil_solvers::dem::MAX_CONTACTS {
            return Ok(Some(Difference(format!("a grain has {max} contacts"))));
        }
        let p = dem::twin_parameters(&self.section, self.dem.parameters());
        let found = state_of(&columns, self.dem.step(), &self.slabs);
        if let Some(expected) = &self.expected {
            let grains = found.grains.iter().zip(&expected.grains).map(|(found, expected)| {
                let turned = (found.spin - expected.spin).length() * expected.radius;
                ([found.position, found.velocity], [expected.position, expected.velocity], turned)
            });
            let pieces = found.slabs.motions.iter().zip(&expected.slabs.motions).map(|(found, expected)| {
                ([found.centre, found.velocity], [expected.centre, expected.velocity], 0.0)
            });
            for (found, expected, turned) in grains.chain(pieces) {
                let place = PLACE_TOLERANCE * (1.0 + expected[0].length());
                let speed = VELOCITY_TOLERANCE_M_S * (1.0 + expected[1].length());
                let errors = [
                    (found[0] - expected[0]).length() / place,
                    (found[1] - expected[1]).length() / speed,
                    turned / speed,
                ];
                // Written so that a NaN exceeds any tolerance.
                if !errors.iter().all(|error| *error <= 1.0) {
                    let problem =
                        format!("place and velocity {found:?}, expected {expected:?}; errors {errors:?}");
                    return Ok(Some(Difference(problem)));
                }
            }
        }
        let scale = found.grains.iter().map(|grain| grain.mass(&p) * grain.velocity.length()).sum::<f64>()
            + self
                .slabs
                .solids
                .iter()
                .zip(&found.slabs.motions)
                .map(|(s, m)| s.mass * m.velocity.length())
                .sum::<f64>();
        let momentum = found.momentum(&p);
        let is_kept = (momentum - self.momentum).length() <= MOMENTUM_TOLERANCE * scale;
        Ok((!is_kept)
            .then(|| Difference(format!("the momentum is {momentum} kg m/s, expected {}", self.momentum))))
    }
}

fn state_of(columns: &[StateColumn], step: u64, slabs: &twin::Slabs) -> twin::State {
    twin::State { slabs: slabs::slabs_of(columns, slabs), ..dem::state_of(columns, step) }
}

fn section(rolling_friction: f64) -> Section {
    Section { restitution: 0.3, rolling_friction, steps_per_contact: 20.0, ..dem::section(RADIUS_M, 1e5) }
}

/// Returns surroundings with two grain widths of air on each side, so that the grid is not wrapped: a wrapped
/// cube would collide with itself in every cell, which a thin flow does not. At the foot is a terrain whose
/// height every grain looks up, as in an avalanche.
fn surroundings(side: usize) -> Surroundings {
    let (margin_m, extent_m) = (2.0 * PITCH_M, (side as f64 - 1.0) * PITCH_M);
    let n_heights = side as u32 + 2;
    Surroundings {
        domain_min_m: [-margin_m as f32; 3],
        domain_max_m: [(extent_m + margin_m) as f32; 3],
        face_friction: [[None; 3]; 2],
        face_is_body: [[false; 3]; 2],
        gravity_m_s2: GRAVITY,
        up_axis: 1,
        bodies: vec![Body {
            kind: HEIGHTFIELD,
            is_sticky: 0,
            friction: 0.5,
            damping_ratio: 0.3,
            origin_m: [-margin_m as f32; 3],
            extent: [((extent_m + 2.0 * margin_m) / f64::from(n_heights - 1)) as f32, 0.0, 0.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity_m_s: [0.0; 3],
            from_s: 0.0,
            until_s: 0.0,
            first_height: 0,
            n_heights: [n_heights; 2],
            ..bytemuck::Zeroable::zeroed()
        }],
        names: Vec::new(),
        body_data: (0..n_heights * n_heights).map(|k| 0.02 * unit_noise(k as usize)).collect(),
        ..Default::default()
    }
}

/// Makes `n` blocks of ice side by side on top of the grains, each linked to the next along one side, like
/// plates that have cracked along the other.
fn plates(section: &Section, n: usize, side: usize) -> Pieces {
    let across = (n as f64).sqrt().ceil() as usize;
    let width_m = side as f64 * PITCH_M / across.max(1) as f64;
    let slab = slabs::ice(STRENGTH_PA);
    let foot_m = (side as f64 - 1.0) * PITCH_M + RADIUS_M;
    let centre = |k: usize| {
        let along = |cells: usize| (cells as f64 + 0.5) * width_m - 0.5 * PITCH_M;
        DVec3::new(along(k % across), foot_m + 0.5 * THICKNESS_M, along(k / across))
    };
    // Blocks of different rows have a gap between them.
    let size = DVec3::new(width_m, THICKNESS_M, 0.98 * width_m);
    let pieces = (0..n).map(|k| slabs::block(&slab, centre(k), size, DQuat::IDENTITY)).collect();
    let neighbours = (1..n).filter(|k| k % across != 0);
    let links = neighbours.map(|k| {
        let middle = 0.5 * (centre(k - 1) + centre(k));
        slabs::link(&slab, [k - 1, k], middle, DVec3::X, THICKNESS_M * size.z)
    });
    let links = links.collect();
    Pieces::of(&[slab], section, &SampledSlabs { pieces, links })
}

/// Makes `n` moving grains near lattice points; their ids are in random order with respect to cells.
fn grains(n: usize, side: usize) -> Grains {
    let noise = |i: usize, k: usize| 2.0 * f64::from(unit_noise(6 * i + k)) - 1.0;
    let place = |i: usize| -> [f32; 3] {
        let at = [i % side, i / side % side, i / side / side];
        std::array::from_fn(|k| (PITCH_M * at[k] as f64 + NOISE_RADII * RADIUS_M * noise(i, k)) as f32)
    };
    Grains {
        positions_m: (0..n).map(place).collect(),
        velocities_m_s: (0..n)
            .map(|i| std::array::from_fn(|k| (SPEED_M_S * noise(i, 3 + k)) as f32))
            .collect(),
        spins_1_s: vec![[0.0; 3]; n],
        radii_m: vec![RADIUS_M as f32; n],
        residuals_m: Vec::new(),
    }
}
