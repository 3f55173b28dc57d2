//! A step of the material point method compared with its f64 twin stage by stage: each stage of the twin
//! starts from the device's state before it, so that bounds are those of one stage's rounding, and the first
//! difference identifies the stage.

use crate::meshes::device_mesh;
use crate::snowpack::state_of;
use crate::{Worst, download_loads};
use frazil_reference::mpm::{self as twin, Grid, Node, Particle, Stencil};
use frazil_reference::uniform_bodies;
use frazil_scene::{Mpm as Section, Rasterization, Transfer, Weights};
use frazil_shaders::common::body::{BOX, HEIGHTFIELD, PLANE, SPHERE, UPRIGHT_CYLINDER};
use frazil_shaders::types::{Body, BodyLoad};
use frazil_solvers::StateColumn;
use frazil_solvers::mpm::{Mpm, MpmParameters, Stage, Surroundings};
use frazil_testkit::twins::mpm::{grid_of, particles_of_state, sort_affine, twin_parameters};
use frazil_testkit::{ROUNDING, Random};
use frazil_vk::Device;
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// Snow and its surroundings, in the forms of the device and of the twin.
#[derive(Clone, Debug)]
pub struct MpmCase {
    /// Section of the scene.
    pub section: Section,
    /// Surroundings on the device.
    pub surroundings: Surroundings,
    /// Parameters of the twin.
    pub p: twin::Parameters,
}

impl MpmCase {
    /// Creates a case of snow among bodies.
    pub fn new(
        section: Section,
        dt_s: f64,
        mut surroundings: Surroundings,
        bodies: Vec<uniform_bodies::UniformBody>,
    ) -> Self {
        let mut p = twin_parameters(&section, dt_s, &surroundings);
        for body in &bodies {
            let body = device_body(body, &mut surroundings.body_data);
            surroundings.bodies.push(body);
        }
        p.bodies = bodies;
        Self { section, surroundings, p }
    }

    /// Returns the parameters of the device's solver.
    ///
    /// # Panics
    /// If there are too many cells.
    #[allow(clippy::expect_used)]
    pub fn parameters(&self) -> MpmParameters {
        MpmParameters::new(&self.section, self.p.dt_s, self.surroundings.clone()).expect("sound parameters")
    }

    /// Returns the device's columns of particles; stresses are the twin's.
    pub fn columns(&self, particles: &[Particle]) -> Vec<StateColumn> {
        let d = self.p.dimensions;
        let column = |name: &str, of: &dyn Fn(&Particle) -> Vec<f64>| StateColumn {
            name: name.into(),
            words: particles.iter().flat_map(of).map(|x| (x as f32).to_bits()).collect(),
        };
        let matrix = |m: DMat3| (0..d * d).map(|e| m.col(e / d)[e % d]).collect::<Vec<_>>();
        let symmetric = |m: DMat3| {
            let pairs: &[(usize, usize)] = if d == 2 {
                &[(0, 0), (1, 1), (0, 1)]
            } else {
                &[(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            };
            pairs.iter().map(|(c, r)| m.col(*c)[*r]).collect::<Vec<_>>()
        };
        let mut columns = vec![
            column("position", &|x| x.position.to_array().to_vec()),
            column("position_residual", &|x| x.residual.to_array().to_vec()),
            column("velocity", &|x| x.velocity.to_array().to_vec()),
            column("mass", &|x| vec![x.mass]),
            column("volume", &|x| vec![x.volume]),
            column("plastic_volume", &|x| vec![x.plastic_volume]),
            column("elastic", &|x| matrix(x.elastic)),
            column("stress", &|x| symmetric(x.stress(&self.p.material))),
            column("affine", &|x| matrix(x.affine)),
            column("contact", &|x| [x.slip.to_array().to_vec(), vec![x.contact_radius]].concat()),
        ];
        if self.parameters().moves_with_grid() {
            columns.push(column("surface_force", &|x| x.surface_force.to_array().to_vec()));
            columns.push(column("surface_turn", &|x| x.surface_turn.to_array().to_vec()));
        }
        columns.push(StateColumn { name: "id".into(), words: particles.iter().map(|x| x.id).collect() });
        if self.parameters().measures_loads() {
            let n_words = self.surroundings.names.len() * size_of::<BodyLoad>() / 4;
            columns.push(StateColumn { name: "body loads".into(), words: vec![0; n_words] });
        }
        columns
    }

    /// Uploads particles to the device, before step `step` + 1.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn restore(&self, device: &Device, particles: &[Particle], step: u64) -> Mpm {
        let columns = self.columns(particles);
        Mpm::restore(device, self.parameters(), &columns, step, Default::default())
            .expect("snow that fits the device")
    }

    /// Samples `n` particles in the whole domain with random values in single precision: anywhere, on faces
    /// of cells, on nodes, and at edges and corners of the domain. On a lattice of a power of two their
    /// positions in cells are exact.
    pub fn scatter(&self, n: u32, seed: u64) -> Vec<Particle> {
        let p = &self.p;
        let mut random = Random::new(seed);
        let mut unit = move || f64::from(random.unit());
        let mut below = Random::new(seed + 1);
        let h = p.cell_size_m;
        let single = |x: f64| f64::from(x as f32);
        let mut particle = |id: u32| {
            let mut x = DVec3::ZERO;
            let special = (unit() * p.dimensions as f64) as usize;
            for axis in 0..p.dimensions {
                let [low, high] = [p.domain_min_m[axis], p.domain_max_m[axis]];
                let fine = h / 256.0;
                let free = (low + fine * ((high - low) / fine * unit()).floor()).min(high);
                let face = (low + h * ((high - low) / h * unit()).floor()).min(high);
                let wall = if unit() < 0.5 { low } else { high };
                x[axis] = match id % 6 {
                    0 | 1 => free,
                    2 if axis == special => face,
                    3 => face,
                    4 if axis == special => wall,
                    5 => wall,
                    _ => free,
                };
                x[axis] = single(x[axis]);
            }
            let mut matrix = |size: f64| {
                let mut m = DMat3::ZERO;
                for c in 0..p.dimensions {
                    for r in 0..p.dimensions {
                        m.col_mut(c)[r] = single(size * (2.0 * unit() - 1.0));
                    }
                }
                m
            };
            let (strain, affine, velocity) = (matrix(0.03), matrix(5.0), matrix(1.0).x_axis);
            let has_surface_force = p.moves_with_grid() && p.has_contact_forces;
            let push = if has_surface_force { matrix(1.0).x_axis } else { DVec3::ZERO };
            let elastic = DMat3::from_cols_array(&(DMat3::IDENTITY + strain).to_cols_array().map(single));
            let volume = single(h.powi(p.dimensions as i32) * (0.15 + 0.2 * unit()));
            let turn = match p.dimensions {
                2 => DVec3::Z * push.x,
                _ => DVec3::new(push.y, push.z, push.x),
            };
            let turn = (40.0 * volume / p.dt_s / h * turn).as_vec3().as_dvec3();
            // Gains 0.1 m/s in a step.
            let surface_force = (40.0 * volume / p.dt_s * push).as_vec3().as_dvec3();
            // None on faces, where rounding would decide on which side a particle is.
            let below_ulp = if id % 6 < 2 { ROUNDING * (2.0 * f64::from(below.unit()) - 1.0) } else { 0.0 };
            Particle {
                velocity,
                residual: (below_ulp * x).as_vec3().as_dvec3(),
                elastic,
                plastic_volume: single(0.55 + 0.7 * unit()),
                affine: if p.is_affine() { affine } else { DMat3::ZERO },
                surface_force,
                surface_turn: turn,
                ..Particle::new(x, id, single(400.0 * volume), volume)
            }
        };
        (0..n).map(&mut particle).collect()
    }

    /// Returns the error bound of a position in cells, in m: zero if it needs no rounding on a lattice of a
    /// power of two, otherwise one rounding of the difference from the lattice's origin, and on other
    /// lattices also those of the origin, the cell and the product.
    fn misplaced_m(&self, x: DVec3) -> f64 {
        let from_origin = x - self.p.origin_m();
        let farthest = from_origin.abs().max_element();
        if !self.is_dyadic() {
            return 4.0 * ROUNDING * (farthest + self.p.origin_m().abs().max_element());
        }
        if from_origin.as_vec3().as_dvec3() == from_origin { 0.0 } else { ROUNDING * farthest }
    }

    /// Returns true if the cell size is a power of two, so that node positions are exact.
    fn is_dyadic(&self) -> bool {
        self.p.cell_size_m.log2().fract() == 0.0
    }
}

/// Converts a twin's body to its device form.
pub fn device_body(body: &uniform_bodies::UniformBody, body_data: &mut Vec<f32>) -> Body {
    use uniform_bodies::Shape::*;
    let narrow = |v: DVec3| v.as_vec3().to_array();
    let wide = |v: [f32; 3]| glam::Vec3::from(v).as_dvec3();
    let mesh = match &body.shape {
        Mesh(mesh) => device_mesh(mesh, body_data),
        _ => bytemuck::Zeroable::zeroed(),
    };
    let (kind, origin, extent) = match &body.shape {
        Mesh(_) => (mesh.kind, wide(mesh.origin_m), wide(mesh.extent)),
        Plane { point_m, normal } => (PLANE, *point_m, *normal),
        Ball { centre_m, radius_m } | Container { centre_m, radius_m } => {
            (SPHERE, *centre_m, DVec3::splat(*radius_m))
        }
        Box { centre_m, size_m, .. } => (BOX, *centre_m, 0.5 * size_m),
        Cylinder { foot_m, radius_m, height_m } => {
            (UPRIGHT_CYLINDER, *foot_m, DVec3::new(*radius_m, *height_m, 0.0))
        }
        Heightfield(heights) => {
            let [x, z] = heights.origin_m;
            (HEIGHTFIELD, DVec3::new(x, 0.0, z), DVec3::splat(heights.spacing_m))
        }
    };
    let rotation = if let Box { rotation, .. } = &body.shape { *rotation } else { DMat3::IDENTITY };
    let n_so_far = body_data.len() as u32;
    let (first_height, n_heights) = match &body.shape {
        Heightfield(heights) => {
            body_data.extend(heights.heights_m.iter().flatten().map(|h| *h as f32));
            (n_so_far, [heights.heights_m[0].len() as u32, heights.heights_m.len() as u32])
        }
        _ => (mesh.first_height, mesh.n_heights),
    };
    let still = uniform_bodies::Motion { velocity_m_s: DVec3::ZERO, from_s: 0.0, until_s: 0.0 };
    let motion = body.motion.unwrap_or(still);
    Body {
        kind,
        is_sticky: body.surface.sticky.into(),
        friction: body.surface.friction as f32,
        damping_ratio: 0.0,
        origin_m: narrow(origin),
        extent: narrow(extent),
        rotation: DQuat::from_mat3(&rotation).as_quat().to_array(),
        velocity_m_s: narrow(motion.velocity_m_s),
        from_s: motion.from_s as f32,
        until_s: motion.until_s as f32,
        first_height,
        n_heights,
        is_container: matches!(body.shape, Container { .. }).into(),
        ..bytemuck::Zeroable::zeroed()
    }
}

/// A node near a particle, and the error bounds of its weight and gradient.
struct Reached {
    weight: f64,
    gradient: DVec3,
    offset_m: DVec3,
    weight_off: f64,
    gradient_off: f64,
}

/// Returns the nodes near a position with an error bound, from which follow those of weights and gradients.
fn reached(case: &MpmCase, x: DVec3) -> BTreeMap<[i64; 3], Reached> {
    let p = &case.p;
    // A sum of four terms near 1, with four nodes along each axis.
    let printed = if case.section.weights == Weights::AsPrinted { 8.0 * ROUNDING } else { 0.0 };
    let mut nodes: BTreeMap<[i64; 3], Reached> = BTreeMap::new();
    for n in Stencil::new(p, x).nodes() {
        let rounding = 32.0 * ROUNDING;
        let value = Reached {
            weight: n.weight,
            gradient: n.gradient,
            offset_m: p.node_m(n.node) - x,
            weight_off: rounding * n.weight + 3.0 * printed,
            gradient_off: rounding * n.gradient.length() + 3.0 * printed / p.cell_size_m,
        };
        nodes.insert(n.node, value);
    }
    let off_m = case.misplaced_m(x);
    if off_m == 0.0 {
        return nodes;
    }
    for axis in 0..p.dimensions {
        for side in [-off_m, off_m] {
            let moved = Stencil::new(p, x + side * DVec3::AXES[axis]).nodes();
            for n in moved {
                let node = nodes.entry(n.node).or_insert(Reached {
                    weight: 0.0,
                    gradient: DVec3::ZERO,
                    offset_m: p.node_m(n.node) - x,
                    weight_off: 3.0 * printed,
                    gradient_off: 3.0 * printed / p.cell_size_m,
                });
                node.weight_off += (n.weight - node.weight).abs();
                node.gradient_off += (n.gradient - node.gradient).length();
            }
        }
    }
    nodes
}

fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A step on the device together with its twin.
pub struct Stages<'a> {
    /// Snow.
    pub case: &'a MpmCase,
    /// Device.
    pub device: &'a Device,
    /// Solver on the device.
    pub mpm: Mpm,
    /// Maximum errors, relative to their bounds.
    pub worst: Worst,
    /// The twin's impulse and angular impulse of this step on each body.
    impulses: Vec<[DVec3; 2]>,
    /// Error bound of an impulse in N s.
    impulse_off: f64,
    /// True between Reorder and UpdateParticles, when affine velocities are in the order of the last step.
    is_sorted: bool,
}

impl<'a> Stages<'a> {
    /// Uploads particles to the device, before step `step` + 1.
    pub fn new(case: &'a MpmCase, device: &'a Device, particles: &[Particle], step: u64) -> Self {
        let mpm = case.restore(device, particles, step);
        Self {
            case,
            device,
            mpm,
            worst: Worst::default(),
            impulses: Vec::new(),
            impulse_off: 0.0,
            is_sorted: false,
        }
    }

    /// Downloads the particles, in the device's order.
    #[allow(clippy::expect_used)]
    pub fn particles(&self) -> Vec<Particle> {
        let mut particles = particles_of_state(self.mpm.parameters(), &state_of(self.device, &self.mpm));
        if self.is_sorted {
            sort_affine(self.device, &self.mpm, &mut particles).expect("an order");
        }
        particles
    }

    /// Runs stages on the device.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn run(&mut self, stages: &[Stage]) {
        let mut recorder = self.device.recorder().expect("a recorder");
        for stage in stages {
            self.mpm.record_stage(&mut recorder, *stage).expect("a stage");
        }
        self.device.submit(recorder).expect("a submission").wait().expect("a step");
        for stage in stages {
            self.is_sorted = (self.is_sorted || *stage == Stage::Reorder) && *stage != Stage::UpdateParticles;
        }
    }

    /// Runs a step, comparing each stage.
    pub fn step(&mut self) {
        let time_s = self.mpm.step() as f64 * self.case.p.dt_s;
        self.sort();
        self.rasterize();
        self.update_nodes(time_s);
        if self.case.p.implicit.is_some() {
            self.solve(time_s);
        }
        self.update_particles(time_s);
    }

    /// Sorts particles by cell; with exact positions, the order equals the twin's.
    pub fn sort(&mut self) {
        let before = self.particles();
        self.run(&[Stage::FindCells, Stage::SortByCell, Stage::Reorder]);
        let mut expected = twin::State::new(before.clone());
        expected.sort_by_cell(&self.case.p);
        let after = self.particles();
        let is_moved = |particle: &Particle| before.iter().any(|b| b == particle);
        let lost = after.iter().filter(|particle| !is_moved(particle)).count();
        self.worst.note("Reorder: particles changed", lost as f64, 0.0, "");
        if before.iter().all(|x| self.case.misplaced_m(x.position) == 0.0) {
            let ids = |particles: &[Particle]| particles.iter().map(|x| x.id).collect::<Vec<_>>();
            let is_same = ids(&after) == ids(&expected.particles);
            self.worst.note("SortByCell: order", f64::from(u8::from(!is_same)), 0.0, "");
        }
    }

    /// Computes mass, momentum and force of nodes.
    ///
    /// Bounds: each particle's term has the error of its weight and some roundings, and a sum has one
    /// rounding per term.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn rasterize(&mut self) {
        self.run(&[Stage::Rasterize]);
        let mut recorder = self.device.recorder().expect("a recorder");
        self.mpm.record_node_sums(&mut recorder);
        self.device.submit(recorder).expect("a submission").wait().expect("sums");
        let (p, particles) = (&self.case.p, self.particles());
        let grid = Grid::rasterize(p, &particles);
        #[derive(Clone, Copy, Default)]
        struct Bound {
            terms: f64,
            sums: [f64; 3],
            off: [f64; 3],
        }
        let mut bounds: BTreeMap<[i64; 3], Bound> = BTreeMap::new();
        let inertia = p.inertia_m2();
        for particle in &particles {
            let stress = norm(particle.stress(&p.material));
            // The device computed it from a deformation before rounding to the numbers that the twin reads.
            let lame = p.material.lame(particle.plastic_volume);
            let stress_off = 4.0 * ROUNDING * particle.volume * (2.0 * lame.mu + 3.0 * lame.lambda);
            for (at, n) in reached(self.case, particle.position) {
                let bound = bounds.entry(at).or_default();
                let place_off = self.case.misplaced_m(particle.position) + 4.0 * ROUNDING * p.cell_size_m;
                let (reach, c) = (n.offset_m.length(), norm(particle.affine));
                let speed = particle.velocity.length() + c * reach;
                let (pull, pull_off) = if p.transfer == twin::Transfer::Mls {
                    let off = (n.weight_off + 8.0 * ROUNDING * n.weight) * reach + n.weight * place_off;
                    (n.weight * reach / inertia, off / inertia)
                } else {
                    (n.gradient.length(), n.gradient_off)
                };
                bound.terms += 1.0;
                let m = particle.mass;
                let pushed = particle.surface_force.length() + particle.surface_turn.length() * reach;
                let terms = [n.weight * m, n.weight * m * speed, stress * pull + n.weight * pushed];
                let momentum_off = n.weight_off * m * speed + n.weight * m * c * place_off;
                let force_off = stress * (pull_off + 32.0 * ROUNDING * pull)
                    + stress_off * pull
                    + (n.weight_off + 32.0 * ROUNDING * n.weight) * pushed
                    + n.weight * particle.surface_turn.length() * place_off;
                let off = [n.weight_off * m, momentum_off, force_off];
                for k in 0..3 {
                    bound.sums[k] += terms[k];
                    bound.off[k] += off[k];
                }
            }
        }
        let device = self.grid().nodes;
        let terms = &self.mpm.parameters().terms;
        let is_fixed = self.case.section.rasterization == Rasterization::FixedPoint;
        let quanta = [terms.mass_quantum, terms.momentum_quantum, terms.momentum_quantum / terms.dt_s];
        for at in grid.nodes.keys().filter(|at| !device.contains_key(*at)) {
            self.worst.note("SortByCell: nodes missing", grid.node(*at).mass, 0.0, format!("{at:?}"));
        }
        for (at, node) in device {
            let bound = bounds.get(&at).copied().unwrap_or_default();
            let of = |k: usize| {
                let quantum = if is_fixed { 2.0 * bound.terms * f64::from(quanta[k]) } else { 0.0 };
                bound.off[k] + (bound.terms + 8.0) * ROUNDING * bound.sums[k] + quantum
            };
            let expected = grid.node(at);
            let name = format!("node {at:?}, expected {expected:?}");
            self.worst.note("Rasterize: mass", (node.mass - expected.mass).abs(), of(0), &name);
            self.worst.note(
                "Rasterize: momentum",
                (node.momentum - expected.momentum).length(),
                of(1),
                &name,
            );
            self.worst.note("Rasterize: force", (node.force - expected.force).length(), of(2), &name);
        }
    }

    /// Downloads the grid before or after the update of velocities.
    #[allow(clippy::expect_used)]
    fn grid(&self) -> Grid {
        grid_of(self.device, &self.mpm).expect("nodes")
    }

    /// Returns true if the collision of a velocity with bodies within a reach depends on the rounding of the
    /// position; `with_walls` includes the domain's walls.
    fn is_on_an_edge(&self, x: DVec3, reach_m: f64, v: DVec3, time_s: f64, with_walls: bool) -> bool {
        let mut p = self.case.p.clone();
        if !with_walls {
            p.domain_min_m -= DVec3::splat(1e3);
            p.domain_max_m += DVec3::splat(1e3);
        }
        let here = twin::collide(&p, x, reach_m, v, time_s);
        (0..2 * p.dimensions).any(|k| {
            let aside = x + DVec3::AXES[k / 2] * if k % 2 == 0 { 4e-7 } else { -4e-7 };
            (twin::collide(&p, aside, reach_m, v, time_s) - here).length() > 1e-5 * (v.length() + 1.0)
        })
    }

    /// Computes velocities of nodes after forces and collisions.
    ///
    /// Bounds: some roundings of the terms; in bodies, whose normals are differences of positions, a hundred
    /// more.
    pub fn update_nodes(&mut self, time_s: f64) {
        self.run(&[Stage::UpdateNodes]);
        let p = &self.case.p;
        let reach_m = p.on_surface_m();
        // A velocity differs by its bound after the collision with each body.
        let n_bodies = p.bodies.len() as f64;
        let device = self.grid();
        let mut grid = device.clone();
        grid.update_velocity(p);
        let free = grid.clone();
        grid.collide(p, time_s);
        self.impulses.clone_from(&grid.impulses);
        self.impulse_off = 0.0;
        for (at, node) in &device.nodes {
            if node.mass == 0.0 {
                self.worst.note("UpdateNodes: empty", node.velocity.length(), 0.0, format!("{at:?}"));
                continue;
            }
            let (x, v) = (p.node_m(*at), free.nodes[at].velocity);
            if self.is_on_an_edge(x, reach_m, v, time_s, false) {
                self.impulse_off += n_bodies * node.mass * (v.length() + 1.0);
            }
            if self.is_on_an_edge(x, reach_m, v, time_s, true) {
                continue;
            }
            let is_touched = p.bodies.iter().any(|c| c.distance_m(p, x, time_s).0 <= reach_m);
            for (k, body) in p.bodies.iter().enumerate() {
                if body.distance_m(p, x, time_s).0 <= reach_m {
                    self.worst.see(k);
                }
            }
            let scale =
                node.before.length() + p.dt_s * ((node.force / node.mass).length() + p.gravity_m_s2.length());
            let roundings = if is_touched { 800.0 } else { 8.0 };
            let bound = roundings * ROUNDING * (scale + if is_touched { 1.0 } else { 0.0 });
            if is_touched {
                self.impulse_off += n_bodies * node.mass * bound;
            }
            let error = (node.velocity - grid.nodes[at].velocity).length();
            self.worst.note("UpdateNodes: velocity", error, bound, format!("node {at:?} at {x}"));
        }
    }

    /// Runs the semi-implicit solve.
    ///
    /// Bounds, in the norm √Σ m v²: the eigenvalues of B are at least 1, so a residual below the tolerance
    /// leaves an error below it; rounding of B's sums adds some.
    pub fn solve(&mut self, time_s: f64) {
        let p = &self.case.p;
        let Some(implicit) = p.implicit else { return };
        let mut grid = self.grid();
        let size =
            |nodes: &Grid| nodes.nodes.values().map(|n| n.mass * n.velocity.length_squared()).sum::<f64>();
        let start = size(&grid);
        self.run(&[Stage::SolveImplicit]);
        let exact = twin::Implicit { tolerance: 1e-9, max_iterations: 500, ..implicit };
        let star = grid.clone();
        grid.find_contacts(p, time_s);
        let solved = grid.solve(p, &self.particles(), &exact);
        self.worst.note("SolveImplicit: twin", solved.residual, 1e-9, "");
        grid.collide(p, time_s);
        let device = self.grid();
        let distance = |other: &Grid| {
            let square = |(at, n): (&[i64; 3], &Node)| {
                n.mass * (n.velocity - other.node(*at).velocity).length_squared()
            };
            (device.nodes.iter().map(square).sum::<f64>() / start).sqrt()
        };
        let bound = implicit.tolerance + 1000.0 * ROUNDING;
        self.worst.note(
            "SolveImplicit: velocity",
            distance(&grid),
            bound,
            format!("{} iterations", solved.iterations),
        );
        // Alternatively there was nothing to solve.
        self.worst.note("SolveImplicit: change", 0.01 - distance(&star), 0.0, "too little");
    }

    /// Computes velocity, position, deformation and stress of particles.
    ///
    /// Bounds: weights have the errors above, sums one rounding per node; the deformation has Δt times the
    /// gradient's error and some roundings of 1, twice that for the two factors of a decomposition; stress
    /// and hardening follow from the deformation.
    pub fn update_particles(&mut self, time_s: f64) {
        let (case, p) = (self.case, &self.case.p);
        let impulses = std::mem::take(&mut self.impulses);
        let (grid, before) = (Grid { impulses, ..self.grid() }, self.particles());
        let n_bodies = p.bodies.len() as f64;
        self.run(&[Stage::UpdateParticles]);
        let after = self.particles();
        let stresses = self.stresses();
        let mut expected = twin::State::new(before.clone());
        expected.update_particles(p, &grid, time_s);
        let fault = expected.fault.map_or(String::new(), |fault| format!("{fault:?}"));
        self.worst.note("UpdateParticles: twin's fault", f64::from(u8::from(!fault.is_empty())), 0.0, fault);
        for (i, (old, new)) in before.iter().zip(&after).enumerate() {
            let twin = &expected.particles[i];
            let name = format!("particle {} {old:?}: {new:?}, expected {twin:?}", old.id);
            let [mut picked, mut picked_off, mut slope, mut slope_off, mut spin, mut spin_off] = [0.0; 6];
            let place_off = case.misplaced_m(old.position) + 4.0 * ROUNDING * p.cell_size_m;
            for (at, n) in reached(case, old.position) {
                let node = grid.node(at);
                let v = node.velocity.length();
                let flip = if p.flip_ratio == 0.0 { 0.0 } else { node.before.length() };
                picked += n.weight * (v + flip);
                picked_off += n.weight_off * (v + flip);
                slope += n.gradient.length() * v;
                slope_off += n.gradient_off * v;
                let reach = n.offset_m.length();
                spin += n.weight * v * reach / p.inertia_m2();
                spin_off += (n.weight_off * reach + n.weight * place_off) * v / p.inertia_m2();
            }
            let sum = 64.0 * ROUNDING;
            let v_bound = sum * (picked + old.velocity.length()) + 2.0 * picked_off;
            let c_bound = sum * spin + 2.0 * spin_off;
            // Contact adds the errors of depth and slip through the springs, some roundings of its impulses,
            // and that of the volume's power; friction may slip on one side only, by its bound.
            let touch = |v_off: f64| {
                if !p.has_contact_forces {
                    return 0.0;
                }
                let stiffness = (p.material.lame(1.0).lambda + 2.0 * p.material.lame(1.0).mu)
                    * old.volume.powf(1.0 - 1.0 / p.dimensions as f64)
                    / p.cell_size_m;
                let reach = old.contact_radius + p.dt_s * (twin.velocity.length() + 1.0) + old.slip.length();
                let place = 16.0 * ROUNDING + p.dt_s * v_off;
                3.0 * p.dt_s / old.mass * stiffness * (place + 64.0 * ROUNDING * reach)
                    + 2.0 * v_off
                    + 800.0 * ROUNDING * (twin.velocity.length() + 1.0)
            };
            let touched = touch(v_bound + c_bound * old.contact_radius);
            let gradient_c_bound = c_bound;
            let c_bound = c_bound + touched * p.cell_size_m / p.inertia_m2();
            let force_bound = touched * old.mass / p.dt_s;
            let v_bound = v_bound + if p.moves_with_grid() { 0.0 } else { touched };
            let gradient_bound = if p.transfer == twin::Transfer::Mls {
                gradient_c_bound
            } else {
                sum * slope + 2.0 * slope_off
            };
            let size = norm(twin.elastic);
            let f_bound = 2.0 * p.dt_s * gradient_bound * size + 32.0 * ROUNDING;
            let j_bound = 6.0 * f_bound * twin.plastic_volume.abs();
            let lame = p.material.lame(twin.plastic_volume);
            let mut stress = twin.stress(&p.material);
            if p.dimensions == 2 {
                // This component acts along the axis without motion, and is not stored.
                stress.z_axis.z = 0.0;
            }
            let s_bound = old.volume * 6.0 * (2.0 * lame.mu + 3.0 * lame.lambda) * f_bound
                + norm(stress) * (p.material.hardening * j_bound + 16.0 * ROUNDING);
            if !p.material.plastic || twin.plastic_volume == old.plastic_volume {
                let changed = (new.plastic_volume - twin.plastic_volume).abs();
                // Within rounding of the yield bounds, only one of the two may yield.
                self.worst.note("UpdateParticles: J_P kept", changed, j_bound, &name);
            } else {
                self.worst.n_yielded += 1;
                self.worst.note(
                    "UpdateParticles: J_P",
                    (new.plastic_volume - twin.plastic_volume).abs(),
                    j_bound,
                    &name,
                );
            }
            self.worst.note("UpdateParticles: F", norm(new.elastic - twin.elastic), f_bound, &name);
            self.worst.note("UpdateParticles: stress", norm(stresses[i] - stress), s_bound, &name);
            if p.is_affine() {
                self.worst.note("UpdateParticles: C", norm(new.affine - twin.affine), c_bound, &name);
            }
            let is_inert = new.id == old.id && new.mass == old.mass && new.volume == old.volume;
            self.worst.note("UpdateParticles: constants", f64::from(u8::from(!is_inert)), 0.0, &name);
            if self.is_on_an_edge(old.position, 0.0, twin.velocity, time_s, false)
                || self.is_on_an_edge(old.position, 0.0, new.velocity, time_s, false)
            {
                self.impulse_off += n_bodies * old.mass * (twin.velocity.length() + picked + 1.0);
                continue;
            }
            let is_touched = p.bodies.iter().any(|c| c.distance_m(p, old.position, time_s).0 <= 0.0);
            let v_bound = v_bound
                + if is_touched { 800.0 * ROUNDING * (twin.velocity.length() + picked + 1.0) } else { 0.0 };
            if is_touched {
                self.impulse_off += n_bodies * old.mass * v_bound;
            }
            self.worst.note("UpdateParticles: v", (new.velocity - twin.velocity).length(), v_bound, &name);
            let force_off = (new.surface_force - twin.surface_force).length();
            self.worst.note("UpdateParticles: force of surfaces", force_off, force_bound, &name);
            let turn_off = (new.surface_turn - twin.surface_turn).length();
            let turn_bound = force_bound * p.cell_size_m / p.inertia_m2();
            self.worst.note("UpdateParticles: moment of surfaces", turn_off, turn_bound, &name);
            let x_bound = p.dt_s * v_bound
                + 16.0 * ROUNDING * p.domain_max_m.abs().max(p.domain_min_m.abs()).max_element();
            self.worst.note("UpdateParticles: x", (new.position - twin.position).length(), x_bound, &name);
        }
        self.compare_loads(&expected);
    }

    /// Compares the loads of the step on named bodies.
    ///
    /// Bounds: those of the velocities of nodes and particles that collide, and twice that where rounding
    /// decides whether they do; arms are at most 2 m long.
    fn compare_loads(&mut self, expected: &twin::State) {
        let found = download_loads(self.device, self.mpm.body_loads());
        let named = expected.loads.iter().skip(expected.loads.len() - found.len());
        if !found.is_empty() {
            // Loads that are compared must be far larger than their bounds.
            let total: f64 = named.clone().map(|load| load.force_n.length()).sum();
            self.worst.note("loads: bound", 2.0 * self.impulse_off / self.case.p.dt_s, 0.01 * total, "");
        }
        for (k, (found, twin)) in found.iter().zip(named).enumerate() {
            let name = format!("body {k}: {found:?}, expected {twin:?}");
            let wide = DVec3::from_array;
            let (dt_s, off) = (self.case.p.dt_s, 2.0 * self.impulse_off);
            let force_off = off / dt_s + 4.0 * ROUNDING * twin.force_n.length();
            let torque_off = 2.0 * off / dt_s + 4.0 * ROUNDING * twin.torque_n_m.length();
            self.worst.note("loads: force", (wide(found.force_n) - twin.force_n).length(), force_off, &name);
            self.worst.note(
                "loads: torque",
                (wide(found.torque_n_m) - twin.torque_n_m).length(),
                torque_off,
                &name,
            );
        }
    }

    /// Downloads V⁰ τ in J, in the device's order.
    pub fn stresses(&self) -> Vec<DMat3> {
        let state = state_of(self.device, &self.mpm);
        let column = state.iter().find(|c| c.name == "stress");
        let words = column.map(|c| c.words.as_slice()).unwrap_or_default();
        let numbers: Vec<f64> = words.iter().map(|w| f32::from_bits(*w).into()).collect();
        let two = |s: &[f64]| {
            DMat3::from_cols(DVec3::new(s[0], s[2], 0.0), DVec3::new(s[2], s[1], 0.0), DVec3::ZERO)
        };
        let three = |s: &[f64]| {
            let [x, y, z] = [[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]];
            DMat3::from_cols(x.into(), y.into(), z.into())
        };
        if self.case.p.dimensions == 2 {
            numbers.chunks(3).map(two).collect()
        } else {
            numbers.chunks(6).map(three).collect()
        }
    }
}

/// Returns the transfer's name in messages.
pub fn name_of(section: &Section) -> String {
    let transfer = match section.transfer {
        Transfer::PicFlip => "pic_flip",
        Transfer::Apic => "apic",
        Transfer::Mls => "mls",
    };
    format!("{}-D {:?} {transfer} {:?}", section.dimensions, section.spline, section.rasterization)
}
