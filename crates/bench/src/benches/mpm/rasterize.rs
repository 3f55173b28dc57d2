//! Transfer from particles to nodes.

use super::block::{Block, axes, run_before, spline_axis, variant_axis};
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::mpm::{Grid, Node, Particle};
use frazil_solvers::mpm::Stage;
use frazil_testkit::ROUNDING;
use frazil_testkit::twins::mpm::{node_places, node_sums, sort_affine};
use frazil_vk::{Device, Recorder};
use glam::DVec3;

pub struct Rasterize;

/// Tolerance of sums over all nodes, relative to sums of magnitudes.
const TOTAL_TOLERANCE: f64 = 4e-6;

struct Workload {
    block: Block,
    /// Expected nodes, in the device's order.
    expected: Vec<Node>,
    totals: Totals,
    /// Maximum rounding errors of mass, momentum and force of a node.
    tolerances: [f64; 3],
}

/// Totals that are equal for nodes and particles.
struct Totals {
    mass: f64,
    momentum: DVec3,
    /// Σ m |v|.
    momentum_scale: f64,
}

impl Bench for Rasterize {
    fn id(&self) -> &'static str {
        "mpm.rasterize"
    }

    fn about(&self) -> &'static str {
        "mass, momentum and force of nodes, of a block of snow sorted by cell"
    }

    fn axes(&self) -> Vec<Axis> {
        axes().into_iter().chain([spline_axis(), variant_axis()]).collect()
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let mut block = Block::new(device, point)?;
        let other = if block.is_for_the_twin() { None } else { Some(block.other(device)?) };
        block.run_before(device, Stage::Rasterize)?;
        let mut particles = block.particles(device)?;
        sort_affine(device, &block.mpm, &mut particles)?;
        let places = node_places(device, &block.mpm)?;
        let expected = match other {
            None => {
                let grid = Grid::rasterize(&block.p, &particles);
                places.iter().map(|at| grid.node(*at)).collect()
            }
            Some(mut other) => {
                run_before(device, &mut other, Stage::UpdateNodes)?;
                node_sums(device, &other, places.len())?
            }
        };
        let tolerances = tolerances(&block, point.integer("per_cell")? as f64, &particles, &expected);
        let totals = Totals::new(&particles);
        Ok(Prepared::Device(Box::new(Workload { block, expected, totals, tolerances })))
    }
}

/// Returns the maximum errors of a node's sums over `per_cell` particles per cell, relative to the largest
/// sum; for forces also the error of the stress of F ≈ 1, which the device computes from an F not yet rounded
/// to the numbers that the twin reads.
fn tolerances(block: &Block, per_cell: f64, particles: &[Particle], nodes: &[Node]) -> [f64; 3] {
    let p = &block.p;
    let terms = f64::from(1 << (2 * p.dimensions)) * per_cell;
    let largest = |of: fn(&Node) -> f64| nodes.iter().map(of).fold(0.0, f64::max);
    let stiffness = |x: &Particle| {
        let lame = p.material.lame(x.plastic_volume);
        x.volume * (2.0 * lame.mu + 3.0 * lame.lambda)
    };
    let stiffness_j = per_cell * particles.iter().map(stiffness).fold(0.0, f64::max);
    let relative = (64.0 + terms) * ROUNDING;
    [
        relative * largest(|node| node.mass),
        relative * largest(|node| node.momentum.length()),
        relative * largest(|node| node.force.length()) + 8.0 * ROUNDING * stiffness_j / p.cell_size_m,
    ]
}

impl Totals {
    fn new(particles: &[Particle]) -> Self {
        Self {
            mass: particles.iter().map(|x| x.mass).sum(),
            momentum: particles.iter().map(|x| x.mass * x.velocity).sum(),
            momentum_scale: particles.iter().map(|x| x.mass * x.velocity.length()).sum(),
        }
    }

    /// Returns the difference of the nodes' totals.
    fn difference(&self, nodes: &[Node]) -> Option<Difference> {
        let mass: f64 = nodes.iter().map(|node| node.mass).sum();
        let momentum: DVec3 = nodes.iter().map(|node| node.momentum).sum();
        let force: DVec3 = nodes.iter().map(|node| node.force).sum();
        let force_scale: f64 = nodes.iter().map(|node| node.force.length()).sum();
        let sums = [
            ("mass", (mass - self.mass).abs(), self.mass),
            ("momentum", (momentum - self.momentum).length(), self.momentum_scale),
            ("force", force.length(), force_scale),
        ];
        let off = sums.into_iter().find(|(_, off, scale)| off.is_nan() || *off > TOTAL_TOLERANCE * scale);
        off.map(|(name, off, scale)| {
            Difference(format!("the sum of {name} over all nodes is off by {off} of {scale}"))
        })
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.block.n as u64;
        let [_, symmetric, affine] = self.block.words();
        // Position, velocity, mass, stress and C read; momentum, mass and force of nodes written.
        let bytes_minimum = 4 * (7 + symmetric + affine) * elements + 28 * self.block.n_nodes();
        Work { elements, bytes_minimum }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.block.mpm.node_momentum(), u32::MAX);
        recorder.fill(self.block.mpm.node_force(), u32::MAX);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.block.mpm.record_stage(recorder, Stage::Rasterize)?;
        self.block.mpm.record_node_sums(recorder);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = node_sums(device, &self.block.mpm, self.expected.len())?;
        for (i, (found, expected)) in found.iter().zip(&self.expected).enumerate() {
            let errors = [
                (found.mass - expected.mass).abs(),
                (found.momentum - expected.momentum).length(),
                (found.force - expected.force).length(),
            ];
            // Written so that a NaN exceeds any tolerance.
            if !errors.iter().zip(self.tolerances).all(|(error, tolerance)| *error <= tolerance) {
                let of = |node: &Node| (node.mass, node.momentum, node.force);
                return Ok(Some(Difference(format!(
                    "mass, momentum and force of node {i} are {:?}, expected {:?} to {:?}",
                    of(found),
                    of(expected),
                    self.tolerances
                ))));
            }
        }
        Ok(self.totals.difference(&found))
    }
}
