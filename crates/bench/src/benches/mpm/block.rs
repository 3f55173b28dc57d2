//! A square or cube of snow amid empty space, strained and in motion.

use crate::axis::{Axis, Domain, Point};
use crate::error::Result;
use frazil_reference::mpm as twin;
use frazil_scene::{Mpm as Section, Rasterization, Spline, Transfer};
use frazil_solvers::mpm::{InitialState, Mpm, MpmParameters, Stage, Surroundings};
use frazil_solvers::{Solver as _, SourceParameters, StateColumn, Tuning};
use frazil_testkit::twins::mpm::{particles_of_state, twin_parameters};
use frazil_testkit::{download_columns, unit_noise};
use frazil_vk::{Buffer, Device, Recorder};

const TRANSFERS: &[&str] = &["pic_flip", "apic", "mls"];
const SPLINES: &[&str] = &["cubic", "quadratic"];
const RASTERIZATIONS: &[&str] = &["tiles", "fixed_point", "float_atomics"];
/// Variant of whole steps on the CPU: the twin, in f64 on one core.
pub const CPU_VARIANT: &str = "cpu_one_core";
const STEP_VARIANTS: &[&str] = &["tiles", "fixed_point", CPU_VARIANT, "float_atomics"];

/// A power of two: positions in cells are exact in f32, so that they equal the twin's.
const CELL_M: f64 = 1.0 / 64.0;
/// Time step, less than a wave in hardened snow takes to cross a cell.
const DT_S: f64 = 1.0 / 16384.0;
/// Empty space on each side: no node with mass touches a wall, so that only gravity changes the momentum.
const MARGIN_CELLS: f64 = 8.0;
/// Number of steps that strain the snow: particles begin with random velocities and without strain;
/// afterwards a third of them have yielded.
const STRAINING_STEPS: u32 = 8;
/// Maximum number of pairs of a particle and a node for the twin; more would take tens of seconds.
const TWIN_PAIRS: usize = 1 << 21;

/// Snow, and the parameters of the twin.
pub struct Block {
    pub mpm: Mpm,
    pub p: twin::Parameters,
    pub n: usize,
}

/// Returns the axes of all benches of snow: the number, density and dimensions of particles, and the transfer
/// of velocities.
pub fn axes() -> Vec<Axis> {
    let names = |axis, names: &'static [&'static str]| Axis::names(axis, names, &names[..1], &names[..1]);
    vec![
        Axis::integers("count", Domain::Integers(0, 1 << 24), &[1_000, 10_007, 100_003], &[1_000]),
        Axis::integers("dimensions", Domain::Integers(2, 3), &[2, 3], &[2, 3]),
        Axis::integers("per_cell", Domain::Integers(1, 1024), &[8], &[8]),
        names("transfer", TRANSFERS),
    ]
}

/// Returns the axis of the spline, for benches with transfers between particles and nodes.
pub fn spline_axis() -> Axis {
    Axis::names("spline", SPLINES, &SPLINES[..1], &SPLINES[..1])
}

/// Returns the axis of the rasterization method. Atomics of floats are not among the defaults: devices may
/// lack them.
pub fn variant_axis() -> Axis {
    Axis::names("variant", RASTERIZATIONS, &RASTERIZATIONS[..2], &RASTERIZATIONS[..2])
}

/// Returns the axis of variants of whole steps: rasterization methods, and the twin on the CPU.
pub fn step_variant_axis() -> Axis {
    Axis::names("variant", STEP_VARIANTS, &STEP_VARIANTS[..3], &STEP_VARIANTS[..3])
}

impl Block {
    /// Makes the snow of a point, strains it, and sets the solver's capacity of blocks.
    pub fn new(device: &Device, point: &Point) -> Result<Self> {
        Self::with_sources(device, point, SourceParameters::default())
    }

    /// Like [`Self::new`], with emitters and drains.
    pub fn with_sources(device: &Device, point: &Point, sources: SourceParameters) -> Result<Self> {
        let n = point.count()?;
        let section = section(point)?;
        let dimensions = section.dimensions as usize;
        let per_cell = point.integer("per_cell")? as f64;
        let side_cells = (n as f64 / per_cell).powf(1.0 / dimensions as f64);
        let domain_cells = (side_cells + 2.0 * MARGIN_CELLS).ceil();
        let noise = |i: usize, axis: usize| f64::from(unit_noise(6 * i + axis));
        let vector = |of: &dyn Fn(usize) -> f64| -> [f32; 3] {
            std::array::from_fn(|axis| if axis < dimensions { of(axis) as f32 } else { 0.0 })
        };
        let surroundings = Surroundings {
            domain_max_m: vector(&|_| CELL_M * domain_cells),
            gravity_m_s2: [0.0, -9.81, 0.0],
            up_axis: 1,
            ..Default::default()
        };
        let volume = CELL_M.powi(dimensions as i32) / per_cell;
        let beginning = InitialState {
            positions_m: (0..n)
                .map(|i| vector(&|axis| CELL_M * (MARGIN_CELLS + side_cells * noise(i, axis))))
                .collect(),
            velocities_m_s: (0..n).map(|i| vector(&|axis| 4.0 * noise(i, 3 + axis) - 2.0)).collect(),
            masses_kg: vec![(section.material.density_kg_m3 * volume) as f32; n],
            volumes_m3: vec![volume as f32; n],
            ..InitialState::default()
        };
        let p = twin_parameters(&section, DT_S, &surroundings);
        let parameters = MpmParameters { sources, ..MpmParameters::new(&section, DT_S, surroundings)? };
        let mut mpm = Mpm::new(device, parameters, &beginning, Tuning::default())?;
        for _ in 0..STRAINING_STEPS {
            let mut recorder = device.recorder()?;
            mpm.record_step(&mut recorder);
            device.submit(recorder)?.wait()?;
        }
        let found = device.download(mpm.blocks().required(), 2)?;
        mpm.blocks().occupied_count().expect(found[0]);
        mpm.blocks().active_count().expect(found[1]);
        Ok(Self { mpm, p, n })
    }

    /// Runs the stages of a step before this one.
    pub fn run_before(&mut self, device: &Device, stage: Stage) -> Result<()> {
        run_before(device, &mut self.mpm, stage)
    }

    /// Makes the same snow at the same point of a step with another rasterization, as the reference where the
    /// twin takes too long.
    pub fn other(&self, device: &Device) -> Result<Mpm> {
        let parameters = self.mpm.parameters();
        let rasterization = match parameters.rasterization {
            Rasterization::Tiles => Rasterization::FixedPoint,
            Rasterization::FixedPoint | Rasterization::FloatAtomics => Rasterization::Tiles,
        };
        let parameters = MpmParameters { rasterization, ..parameters.clone() };
        Ok(Mpm::restore(device, parameters, &self.state(device)?, self.mpm.step(), Default::default())?)
    }

    /// Returns true if the block is small enough for the twin.
    pub fn is_for_the_twin(&self) -> bool {
        self.n << (2 * self.p.dimensions) <= TWIN_PAIRS
    }

    /// Returns the particles as the twin takes them, in the device's order.
    pub fn particles(&self, device: &Device) -> Result<Vec<twin::Particle>> {
        Ok(particles_of_state(self.mpm.parameters(), &self.state(device)?))
    }

    /// Returns everything that the next step depends on.
    pub fn state(&self, device: &Device) -> Result<Vec<StateColumn>> {
        state_of(device, &self.mpm)
    }

    /// Returns the number of words of a matrix, of a symmetric one, and of the affine velocity, which may be
    /// 0.
    pub fn words(&self) -> [u64; 3] {
        let p = self.mpm.parameters();
        let affine = if p.has_affine() { p.matrix_words() } else { 0 };
        [p.matrix_words(), p.symmetric_words(), affine].map(u64::from)
    }

    /// Nodes of the active blocks.
    pub fn n_nodes(&self) -> u64 {
        let blocks = self.mpm.blocks();
        u64::from(blocks.active_count().expected()) * u64::from(blocks.layout().block_nodes())
    }
}

/// Runs the stages of a step before this one, and the sums of nodes before their update.
pub fn run_before(device: &Device, mpm: &mut Mpm, stage: Stage) -> Result<()> {
    let mut recorder = device.recorder()?;
    let before: Vec<Stage> = mpm.stages().take_while(|other| *other != stage).collect();
    for stage in before {
        mpm.record_stage(&mut recorder, stage)?;
    }
    if stage == Stage::UpdateNodes {
        mpm.record_node_sums(&mut recorder);
    }
    Ok(device.submit(recorder)?.wait()?)
}

/// Returns the columns of a checkpoint.
pub fn state_of(device: &Device, mpm: &Mpm) -> Result<Vec<StateColumn>> {
    Ok(download_columns(device, &mpm.state_columns())?)
}

/// State before a step, to be restored.
pub struct Before(Vec<Buffer<u32>>);

impl Before {
    pub fn copy(device: &Device, block: &Block) -> Result<Self> {
        let mut columns = Vec::new();
        for column in block.state(device)? {
            columns.push(device.buffer_from("before", &column.words)?);
        }
        Ok(Self(columns))
    }

    pub fn restore(&self, recorder: &mut Recorder, mpm: &Mpm) {
        for (before, column) in self.0.iter().zip(mpm.state_columns()) {
            recorder.copy(before, &column.words, before.len());
        }
    }
}

fn section(point: &Point) -> Result<Section> {
    let transfer = match point.name("transfer")? {
        "pic_flip" => Transfer::PicFlip,
        "apic" => Transfer::Apic,
        "mls" => Transfer::Mls,
        _ => return Err(point.unknown("transfer", TRANSFERS)),
    };
    let spline = match point.get("spline").map(|_| point.name("spline")).transpose()? {
        None | Some("cubic") => Spline::Cubic,
        Some("quadratic") => Spline::Quadratic,
        Some(_) => return Err(point.unknown("spline", SPLINES)),
    };
    let rasterization = match point.get("variant").map(|_| point.name("variant")).transpose()? {
        // The variant on the CPU is verified against the device's default.
        None | Some("tiles" | CPU_VARIANT) => Rasterization::Tiles,
        Some("fixed_point") => Rasterization::FixedPoint,
        Some("float_atomics") => Rasterization::FloatAtomics,
        Some(_) => return Err(point.unknown("variant", RASTERIZATIONS)),
    };
    let dimensions = point.integer("dimensions")? as u32;
    Ok(Section { transfer, spline, rasterization, ..Section::sampled(dimensions, CELL_M) })
}
