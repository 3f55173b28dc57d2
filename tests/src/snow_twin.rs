//! The two-phase step compared with its CPU twin: the device's state as the twin's, each stage on either, and
//! the bounds on their difference.

use frazil_reference::bonds::{Bonds, Columns};
use frazil_reference::fault::Faults;
use frazil_reference::snow::{Correction, Kind, LatentHeat, Ledger, Parameters, Phase, State};
use frazil_shaders::types as shader;
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::{PhaseParticles, Stage};
use frazil_vk::{Buffer, Device};

/// Downloads the state on the device. Between [`Stage::Migrate`] and [`Stage::Reorder`] (`is_migrating`) the
/// columns still have the old number of particles.
///
/// # Panics
/// If the device is lost, or rows of links have gaps.
pub fn snow_state(device: &Device, snow: &Snow, p: &Parameters, is_migrating: bool) -> State {
    let download = Download { device, snow, is_migrating };
    let [(melted, melted_temperature), (frozen, frozen_temperature)] =
        Kind::ALL.map(|kind| download.transition_counts(kind));
    let mut state = State {
        solid: download.phase(Kind::Solid),
        fluid: download.phase(Kind::Fluid),
        capacity: snow.capacity(),
        links: Bonds::none(0),
        n_max: snow.links().slots(),
        ledger: Ledger { melted, frozen, melted_temperature, frozen_temperature },
        faults: Faults::from_words(&download.of(snow.faulty(), snow.faulty().len())),
    };
    state.links = download.links(state.solid.len());
    if !is_migrating {
        // The device adds the push of the prediction when it applies friction, but with springs before.
        state.solid.push = download.of(snow.push_m(), state.solid.len());
        for kind in Kind::ALL {
            let n = state[kind].len();
            let (springs, first) = match kind {
                Kind::Solid => (snow.push_m(), snow.capacity() as usize),
                Kind::Fluid => (snow.elastic_m(), 0),
            };
            if springs.len() >= first + n {
                state[kind].elastic = download.of(springs, first + n).split_off(first);
            }
            let pushes = snow.body_push_m();
            let is_kept = kind == Kind::Solid && pushes.len() >= n;
            state[kind].body_push = if is_kept { download.of(pushes, n) } else { vec![[0.0; 4]; n] };
        }
        let has_springs = p.springs.contact_n_m > 0.0 || p.springs.link_n_m > 0.0;
        for i in 0..if has_springs { 0 } else { state.solid.len() } {
            let free = p.fluid.predict_one(state.solid.position[i], [0.0; 3], state.solid.velocity[i])[0];
            let confined = p.fluid.confine(free);
            for axis in 0..3 {
                state.solid.push[i][axis] += confined[axis] - free[axis];
            }
        }
    }
    state
}

struct Download<'a> {
    device: &'a Device,
    snow: &'a Snow,
    is_migrating: bool,
}

impl Download<'_> {
    #[allow(clippy::expect_used)]
    fn of<T: bytemuck::Pod>(&self, buffer: &Buffer<T>, n: usize) -> Vec<T> {
        self.device.download(buffer, n).expect("a column")
    }

    fn phase_particles(&self, kind: Kind) -> &PhaseParticles {
        match kind {
            Kind::Solid => self.snow.solid(),
            Kind::Fluid => self.snow.fluid(),
        }
    }

    fn one(&self, buffer: &Buffer<u32>) -> u32 {
        self.of(buffer, 1)[0]
    }

    fn transition_counts(&self, kind: Kind) -> (u32, i64) {
        let transition_counts = self.of(self.phase_particles(kind).transition_counts(), 3);
        (
            transition_counts[0],
            (u64::from(transition_counts[2]) << 32 | u64::from(transition_counts[1])).cast_signed(),
        )
    }

    fn phase(&self, kind: Kind) -> Phase {
        let phase_particles = self.phase_particles(kind);
        let n_leavers = self.one(phase_particles.n_leavers());
        let n_after = self.one(&phase_particles.phase.count.count) as usize;
        let n = if self.is_migrating {
            n_after + n_leavers as usize - self.one(self.phase_particles(kind.other()).n_leavers()) as usize
        } else {
            n_after
        };
        Phase {
            position: self.of(phase_particles.position(), n),
            residual: [phase_particles.residual.front(), phase_particles.residual.back()]
                .map(|r| self.of(r, n)),
            velocity: self.of(phase_particles.velocity(), n),
            id: self.of(phase_particles.id(), n),
            temperature_c: self.of(phase_particles.temperature.front(), n),
            enthalpy_j_kg: self.of(phase_particles.enthalpy.front(), n),
            blend: self.of(phase_particles.blend.front(), n),
            rest_position: self.of(phase_particles.rest_position.front(), n),
            key: self.of(phase_particles.key(), n_after),
            leaves: self.of(phase_particles.leaves(), n),
            rank: self.of(phase_particles.rank(), n),
            n_leavers,
            origin: self.of(phase_particles.origin(), n_after),
            order: self.of(phase_particles.order(), n_after),
            source: self.of(phase_particles.source(), n_after),
            cell_start: self
                .of(phase_particles.grid().cell_start(), phase_particles.grid().cells() as usize + 1),
            predicted: self.of(phase_particles.predicted(), n),
            constraint: self.of(phase_particles.constraint(), n),
            contact: self.of(phase_particles.contact(), n),
            correction: self.correction(phase_particles, n),
            density: self.of(phase_particles.density(), n),
            push: vec![[0.0; 3]; n],
            elastic: vec![[0.0; 3]; n],
            body_push: vec![[0.0; 4]; n],
            updated: self.of(self.snow.updated()[kind as usize], n),
        }
    }

    fn correction(&self, phase_particles: &PhaseParticles, n: usize) -> Vec<Correction> {
        let correction = phase_particles.correction();
        // Empty without correction.
        let n = n.min(correction.len());
        let tensor = |c: shader::Correction| {
            let ([xx, yy, zz], [yz, xz, xy]) = (c.diagonal, c.off_diagonal);
            [xx, yy, zz, yz, xz, xy]
        };
        self.of(correction, n).into_iter().map(tensor).collect()
    }

    #[allow(clippy::expect_used)]
    fn links(&self, n: usize) -> Bonds {
        let bonds = self.snow.links();
        let (slots, stride) = (bonds.partner().len(), bonds.capacity() as usize);
        let [partner, degree] = [(bonds.partner(), slots), (bonds.degree(), n)].map(|(b, n)| self.of(b, n));
        let rest_length_m = self.of(bonds.rest_length_m(), slots);
        let table =
            Columns { stride, partner: &partner, rest_length_m: &rest_length_m, state: &[], degree: &degree };
        Bonds::from_table(table, &[]).expect("rows without gaps")
    }
}

/// Runs one stage on the device, in a separate submission.
///
/// # Panics
/// On a device error.
#[allow(clippy::expect_used)]
pub fn run_snow_stage(device: &Device, snow: &mut Snow, stage: Stage) {
    let mut recorder = device.recorder().expect("a recorder");
    snow.record_stage(&mut recorder, stage);
    device.submit(recorder).expect("a submission").wait().expect("a stage");
}

/// Runs one stage on the twin.
pub fn run_snow_twin(state: &mut State, p: &Parameters, stage: Stage) {
    match stage {
        Stage::Integrate => state.integrate(p),
        Stage::MarkPhaseChange => state.mark_phase_change(p),
        Stage::ScanLeavers => state.scan_leavers(),
        Stage::Migrate => state.migrate(),
        Stage::SortByCell => state.sort_by_cell(p),
        Stage::Reorder => state.reorder(),
        Stage::Predict => state.predict(p),
        // Rows change no column; tests/snow_rows.rs compares them.
        Stage::ListNeighbours => {}
        Stage::Conduct => state.conduct(p),
        Stage::BreakLinks => state.break_links(p),
        Stage::BuildLinks => state.build_links(p),
        Stage::AttachToShape => state.attach_to_shape(),
        Stage::ComputeLambda => state.compute_lambda(p),
        Stage::Solve { iteration } => state.solve(p, iteration),
        Stage::ApplyShapeMatching => state.apply_shape_matching(p),
        Stage::ApplyFriction => state.friction(p),
        Stage::UpdateVelocity => state.update_velocity(p),
        Stage::DampLinks => state.damp_links(p),
        Stage::SmoothVelocity => state.smooth_velocity(p),
        Stage::EndStep => {
            state.end_step();
        }
    }
}

/// Returns true if the columns still have the old number of particles after a stage.
pub fn is_migrating_after(stage: Stage) -> bool {
    matches!(stage, Stage::Migrate | Stage::SortByCell)
}

/// Bounds on differences, and the differences found.
struct Comparison<'a> {
    p: &'a Parameters,
    before: &'a State,
    device: &'a State,
    twin: &'a State,
    surroundings: [Vec<Surroundings>; 2],
    /// Neighbours of the most crowded particle in multiples of thirty: factor on the usual rounding of sums.
    tolerance_scale: f32,
    wrong: Option<String>,
}

/// Describes the output of a stage that differs between device and twin, beyond rounding; both ran from
/// `before`.
///
/// Integers, flags, links and all values that are only moved must agree to the bit, and so must α. A computed
/// number may differ by an ulp or two if the device rounds a division or a root differently from the host,
/// and a sum over thirty neighbours by the same amount; a longer sum by more. The bounds for a scene of a
/// tenth of a metre, with Δt = 1 ms, h = 4 cm and T up to 50 °C:
///
/// - 1e-6 m for positions, which have an ulp of 1e-8 m and are the sum of thirty corrections of up to
///   centimetres;
/// - 1e-5 ρ₀ for densities, and through λ = C/(… + ε) with ε = 0.1 1e-4 for λ;
/// - 1e-4 °C for temperatures: thirty fluxes of 50 °C, weighted by up to a tenth; with an enthalpy of 4e5
///   J/kg, whose ulp is 0.03 J/kg, 0.5 J/kg and through the capacity of ice 3e-4 °C;
/// - 1e-4 m/s for velocities, which are positions over Δt: an ulp or two of those;
/// - the possible rotation, where the fit of a cluster is not unique, for example for particles in a line.
pub fn snow_disagreement(
    stage: Stage,
    p: &Parameters,
    before: &State,
    device: &State,
    twin: &State,
) -> Option<String> {
    let is_sum = matches!(
        stage,
        Stage::Conduct
            | Stage::ComputeLambda
            | Stage::Solve { .. }
            | Stage::ApplyFriction
            | Stage::SmoothVelocity
    );
    let surroundings = if is_sum { surroundings(before, p) } else { Default::default() };
    let max = surroundings.iter().flatten().map(|around| around.n_neighbours).max().unwrap_or(0);
    let tolerance_scale = (max as f32 / 30.0).max(1.0);
    let mut c = Comparison { p, before, device, twin, surroundings, tolerance_scale, wrong: None };
    match stage {
        Stage::Integrate => {
            c.ints("key", |phase| &phase.key);
            c.vectors("velocity", |phase| &phase.velocity, 1e-6);
        }
        Stage::MarkPhaseChange => {
            c.bits("blend", |phase| &phase.blend);
            c.ints("leaves", |phase| &phase.leaves);
            c.equal("ledger", |state| state.ledger);
        }
        Stage::ScanLeavers => {
            c.ints("rank", |phase| &phase.rank);
            c.equal("leavers", |state| [state.solid.n_leavers, state.fluid.n_leavers]);
        }
        Stage::Migrate => {
            c.ints("key", |phase| &phase.key);
            c.ints("origin", |phase| &phase.origin);
        }
        Stage::SortByCell => {
            c.ints("key", |phase| &phase.key);
            c.ints("order", |phase| &phase.order);
            c.ints("cell_start", |phase| &phase.cell_start);
        }
        Stage::Reorder => c.moved(),
        Stage::Predict => {
            c.vectors("predicted", |phase| &phase.predicted, 1e-6);
            c.vectors("residual", |phase| &phase.residual[1], 1e-7);
        }
        Stage::ListNeighbours => {}
        Stage::Conduct => c.heat(),
        Stage::BreakLinks | Stage::BuildLinks => c.equal("links", |state| state.links.clone()),
        Stage::AttachToShape => c.attachment(),
        Stage::ComputeLambda => c.weights(),
        Stage::Solve { .. } => {
            c.vectors("predicted", |phase| &phase.predicted, 1e-6 * tolerance_scale);
            c.vectors("push", |phase| &phase.push, 1e-6 * tolerance_scale);
            c.body_pushes();
            c.vectors("elastic", |phase| &phase.elastic, 1e-6 * tolerance_scale);
        }
        Stage::ApplyShapeMatching => c.shaped(),
        Stage::ApplyFriction => c.particle_friction(),
        Stage::UpdateVelocity | Stage::DampLinks => {
            c.vectors("updated", |phase| &phase.updated, 1e-4);
            c.equal("faults", |state| state.faults.lowest.clone());
        }
        Stage::EndStep => {
            let n_left = |state: &State| state.solid.len() + state.fluid.len();
            if n_left(before) > 0 && twin.faults.first.is_some() != (n_left(device) == 0) {
                c.object("end of the simulation".to_owned());
            }
        }
        Stage::SmoothVelocity => {
            c.vectors("position", |phase| &phase.position, 0.0);
            c.vectors("residual", |phase| &phase.residual[0], 0.0);
            c.vectors("velocity", |phase| &phase.velocity, 1e-4 * tolerance_scale);
        }
    }
    c.wrong
}

impl Comparison<'_> {
    fn object(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    fn equal<T: PartialEq>(&mut self, what: &str, of: impl Fn(&State) -> T) {
        if of(self.device) != of(self.twin) {
            self.object(what.to_owned());
        }
    }

    fn ints(&mut self, what: &str, column: impl Fn(&Phase) -> &Vec<u32>) {
        for kind in Kind::ALL {
            if column(&self.device[kind]) != column(&self.twin[kind]) {
                self.object(format!("{what} of {kind:?}"));
            }
        }
    }

    fn bits(&mut self, what: &str, column: impl Fn(&Phase) -> &Vec<f32>) {
        let bits = |column: &Vec<f32>| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for kind in Kind::ALL {
            if bits(column(&self.device[kind])) != bits(column(&self.twin[kind])) {
                self.object(format!("{what} of {kind:?}"));
            }
        }
    }

    /// Compares numbers by `bound`, absolute up to 1 and relative above.
    fn numbers(&mut self, what: &str, column: impl Fn(&Phase) -> &Vec<f32>, bound: f32) {
        self.vectors_of(what, |phase| column(phase).iter().map(|x| [*x]).collect(), |_, _| bound);
    }

    fn vectors<const N: usize>(&mut self, what: &str, column: impl Fn(&Phase) -> &Vec<[f32; N]>, bound: f32) {
        self.vectors_of(what, |phase| column(phase).clone(), |_, _| bound);
    }

    fn vectors_of<const N: usize>(
        &mut self,
        what: &str,
        column: impl Fn(&Phase) -> Vec<[f32; N]>,
        bound: impl Fn(Kind, usize) -> f32,
    ) {
        for kind in Kind::ALL {
            let (device, twin) = (column(&self.device[kind]), column(&self.twin[kind]));
            if device.len() != twin.len() {
                self.object(format!("{what} of {kind:?}: {} for {} particles", device.len(), twin.len()));
                continue;
            }
            for (i, (a, b)) in device.iter().zip(&twin).enumerate() {
                let parted = a.iter().zip(b).any(|(a, b)| {
                    // False for NaN.
                    let agree = (a - b).abs() <= bound(kind, i) * b.abs().max(1.0);
                    !agree
                });
                if parted {
                    self.object(format!("{what} of {kind:?} {i}: {a:?} for {b:?}"));
                }
            }
        }
    }

    /// Compares columns that are moved unchanged by the permutation, and the links.
    fn moved(&mut self) {
        self.ints("source", |phase| &phase.source);
        self.ints("id", |phase| &phase.id);
        self.vectors("position", |phase| &phase.position, 0.0);
        self.vectors("velocity", |phase| &phase.velocity, 0.0);
        self.bits("temperature", |phase| &phase.temperature_c);
        self.bits("blend", |phase| &phase.blend);
        self.vectors("rest position", |phase| &phase.rest_position, 0.0);
        if self.p.heat.latent_heat != LatentHeat::Blending {
            self.bits("enthalpy", |phase| &phase.enthalpy_j_kg);
        }
        self.equal("links", |state| state.links.clone());
    }

    fn heat(&mut self) {
        let tolerance_scale = self.tolerance_scale;
        if self.p.heat.max_correction.is_some() {
            // Rounding of the moments, amplified by the condition of the equations, which ε bounds.
            let norms = Kind::ALL.map(|kind| {
                let norm = |b: &Correction| b.iter().map(|b| b.abs()).fold(0.0, f32::max);
                self.twin[kind].correction.iter().map(norm).collect::<Vec<_>>()
            });
            let bound = |kind: Kind, i: usize| 1e-4 * tolerance_scale * norms[kind as usize][i];
            self.vectors_of("correction", |phase| phase.correction.clone(), bound);
        }
        match self.p.heat.latent_heat {
            LatentHeat::Blending => {
                self.numbers("temperature", |phase| &phase.temperature_c, 1e-4 * tolerance_scale)
            }
            LatentHeat::Enthalpy { .. } => {
                let enthalpy = |phase: &Phase| phase.enthalpy_j_kg.iter().map(|h| [*h]).collect();
                // Fluxes to a particle may cancel: besides its own rounding, that of 1e-5 °C of heat.
                let values = Kind::ALL.map(|kind| self.twin[kind].enthalpy_j_kg.clone());
                let bound = |kind: Kind, i: usize| {
                    tolerance_scale * (1e-6 + 0.02 / values[kind as usize][i].abs().max(1.0))
                };
                self.vectors_of("enthalpy", enthalpy, bound);
                self.numbers("temperature", |phase| &phase.temperature_c, 3e-4 * tolerance_scale);
            }
        }
    }

    fn weights(&mut self) {
        let tolerance_scale = self.tolerance_scale;
        self.vectors("x* beside λ", |phase| &phase.predicted, 0.0);
        self.vectors_of(
            "λ",
            |phase| phase.constraint.iter().map(|c| [c[3]]).collect(),
            |_, _| 1e-4 * tolerance_scale,
        );
        for kind in Kind::ALL {
            let contacts = self.device[kind].contact.iter().zip(&self.twin[kind].contact).enumerate();
            for (i, (device, twin)) in contacts {
                let may_part = self.surroundings[kind as usize][i].n_grazing as f32;
                if device[0].to_bits() != twin[0].to_bits() || (device[1] - twin[1]).abs() > may_part {
                    self.wrong.get_or_insert(format!("contact of {kind:?} {i}: {device:?} for {twin:?}"));
                }
            }
        }
        if self.device.solid.density != self.before.solid.density {
            self.object("density of snow".to_owned());
        }
        self.numbers("density", |phase| &phase.density, 1e-5 * tolerance_scale);
    }

    /// Compares the displacement of snow by bodies, and the last of these.
    fn body_pushes(&mut self) {
        let tolerance_scale = self.tolerance_scale;
        let of_snow = |state: &State| state.solid.body_push.clone();
        let (device, twin) = (of_snow(self.device), of_snow(self.twin));
        let agree =
            |i: &usize| device[*i].iter().zip(twin[*i]).all(|(a, b)| (a - b).abs() <= 1e-6 * tolerance_scale);
        if let Some(i) = (0..device.len().min(twin.len())).find(|i| !agree(i)) {
            self.object(format!("push of bodies on {i}: {:?} for {:?}", device[i], twin[i]));
        }
    }

    /// Compares rest positions: an existing one is kept to the bit; a new one has the particle's current
    /// distance from its host, whatever the host's rotation.
    fn attachment(&mut self) {
        let attachments: Vec<_> = (0..self.before.solid.len()).map(|i| self.before.attachment(i)).collect();
        let bound = |kind, i: usize| match kind {
            Kind::Solid => attachments[i].map_or(0.0, |attachment| 1e-6 + attachment.slack_m as f32),
            Kind::Fluid => 0.0,
        };
        self.vectors_of("rest position", |phase| phase.rest_position.clone(), bound);
        let (x, rest) = (&self.before.solid.predicted, &self.device.solid.rest_position);
        let length = |a: [f32; 3], b: [f32; 3]| {
            (0..3).map(|axis| (f64::from(a[axis]) - f64::from(b[axis])).powi(2)).sum::<f64>().sqrt()
        };
        for (i, attachment) in attachments.iter().enumerate() {
            let Some(host) = attachment.map(|attachment| attachment.host) else { continue };
            // The host's own rest position may be new, too.
            let parted_m = length(rest[i], self.before.solid.rest_position[host]) - length(x[i], x[host]);
            if parted_m.abs() > 1e-6 {
                self.wrong.get_or_insert(format!("distance of {i} from its host by {parted_m:e} m"));
            }
        }
    }

    fn shaped(&mut self) {
        let mut slack_m = vec![0.0; self.before.solid.len()];
        for cluster in self.before.clusters() {
            for i in &cluster.members {
                slack_m[*i] += cluster.slack_m(self.before.solid.rest_position[*i]);
            }
        }
        let share = self.p.shape_share(self.before.n_max);
        let bound = |kind, i: usize| match kind {
            Kind::Solid => 1e-6 + (share * slack_m[i]) as f32,
            Kind::Fluid => 0.0,
        };
        self.vectors_of("predicted", |phase| phase.predicted.clone(), bound);
        self.vectors_of("push", |phase| phase.push.clone(), bound);
    }

    /// Compares friction; particles at the edge between sticking and slipping may do either.
    fn particle_friction(&mut self) {
        let [sooner, later] = [1.0 - 1e-5, 1.0 + 1e-5].map(|factor| {
            let static_friction = factor * self.p.static_friction;
            let mut state = self.before.clone();
            state.friction(&Parameters { static_friction, ..self.p.clone() });
            state.solid.predicted
        });
        let slack =
            |i: usize| (0..3).map(|axis| (sooner[i][axis] - later[i][axis]).abs()).fold(0.0, f32::max);
        let tolerance_scale = self.tolerance_scale;
        let bound = |kind, i| 1e-6 * tolerance_scale + if kind == Kind::Solid { slack(i) } else { 0.0 };
        self.vectors_of("predicted", |phase| phase.predicted.clone(), bound);
    }
}

/// Counts of particles around a particle at x*.
#[derive(Clone, Copy, Debug, Default)]
struct Surroundings {
    /// Particles within h.
    n_neighbours: u32,
    /// Particles whose distance is D up to rounding, so that they may or may not count as contacts.
    n_grazing: u32,
}

/// Counts by comparing all pairs, for both phases.
fn surroundings(state: &State, p: &Parameters) -> [Vec<Surroundings>; 2] {
    let h = f64::from(p.fluid.support_m);
    let distances_m = [p.contact_distance_m, p.mixed_contact_distance_m].map(f64::from);
    Kind::ALL.map(|kind| {
        let around = |x: &[f32; 3]| {
            let mut found = Surroundings::default();
            for y in Kind::ALL.into_iter().flat_map(|other| &state[other].predicted) {
                let r2: f64 = x.iter().zip(y).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
                found.n_neighbours += u32::from(r2 < h * h);
                let is_grazing = |d: f64| (r2.sqrt() / d - 1.0).abs() < 1e-6;
                found.n_grazing += u32::from(distances_m.into_iter().any(is_grazing));
            }
            found
        };
        state[kind].predicted.iter().map(around).collect()
    })
}
