//! Conversion of a scene's quantities to kernel parameters.

use crate::SolverError;
use crate::Surroundings;
use crate::bodies::quanta_per_n_s;
use crate::clock::StepDivision;
use crate::sources::SourceParameters;
use frazil_kernels::BlockLayout;
use frazil_scene::{Contact, Implicit, InitialVolume, Mpm, Rasterization, Spline, Transfer, Weights};
use frazil_shaders::mpm::terms;
use frazil_shaders::types::MpmTerms;

/// Friction of a sticky wall in [`MpmTerms`].
const STICKY: f32 = -1.0;

/// Parameters of the material point method, as kernels use them.
#[derive(Clone, Debug)]
pub struct MpmParameters {
    /// Substeps of a step; the step of [`Self::terms`] is that of a substep.
    pub division: StepDivision,
    /// Number of dimensions D: 2 or 3.
    pub dimensions: u32,
    /// Nodes per axis that a particle reaches: 4 for the cubic spline, 3 for the quadratic one.
    pub stencil: u32,
    /// Transfer of velocities between particles and nodes.
    pub transfer: Transfer,
    /// True if velocities of particles keep a share of FLIP.
    pub has_flip: bool,
    /// Evaluation of the cubic spline.
    pub weights: Weights,
    /// Method of the sums of particles on nodes.
    pub rasterization: Rasterization,
    /// Source of the initial volumes.
    pub initial_volume: InitialVolume,
    /// Objects on which surfaces that are not sticky act.
    pub contact: Contact,
    /// Semi-implicit step.
    pub implicit: Option<Implicit>,
    /// Lattice of nodes.
    pub layout: BlockLayout,
    /// Domain, gravity, bodies and heights.
    pub surroundings: Surroundings,
    /// Emitters and drains; those of [`Self::of`](super::MpmParameters::of) have them.
    pub sources: SourceParameters,
    /// Mass in kg and volume in m³ of a particle of an emitter.
    pub emitted: [f32; 2],
    /// Largest mass in kg that a particle has had.
    pub heaviest_kg: f32,
    /// Parameters that all kernels read; the quanta of fixed point are set from the particles' masses.
    pub terms: MpmTerms,
}

impl MpmParameters {
    /// Reads the section of a scene, with its time step and surroundings.
    ///
    /// # Errors
    /// The domain has more cells than the keys can number.
    pub fn new(mpm: &Mpm, dt_s: f64, surroundings: Surroundings) -> Result<Self, SolverError> {
        let (stencil, shift_cells) = match mpm.spline {
            Spline::Cubic => (4, 1.0),
            Spline::Quadratic => (3, 0.5),
        };
        let material = &mpm.material;
        let (mu_pa, lambda_pa) = material.lame_pa();
        let Surroundings { domain_min_m, domain_max_m, gravity_m_s2, up_axis, .. } = surroundings;
        let layout = BlockLayout::new(
            mpm.dimensions,
            domain_min_m,
            domain_max_m,
            mpm.cell_size_m as f32,
            shift_cells,
        )?;
        let beta = mpm.implicit.map_or(0.0, |implicit| implicit.beta);
        let of_walls = if mpm.walls.sticky { STICKY } else { mpm.walls.friction as f32 };
        let [lower_wall_friction, upper_wall_friction] =
            surroundings.face_friction.map(|faces| faces.map(|face| face.unwrap_or(of_walls)));
        let terms = MpmTerms {
            lattice: layout.lattice(),
            cell_m: mpm.cell_size_m as f32,
            dt_s: dt_s as f32,
            gravity_m_s2,
            domain_min_m,
            domain_max_m,
            flip_ratio: mpm.flip_share(dt_s) as f32,
            mu_pa: mu_pa as f32,
            lambda_pa: lambda_pa as f32,
            hardening: material.hardening as f32,
            min_plastic_volume: material.min_plastic_volume as f32,
            sigma_min: (1.0 - material.critical_compression) as f32,
            sigma_max: (1.0 + material.critical_stretch) as f32,
            yield_share: (dt_s / (material.relaxation_time_s + dt_s)) as f32,
            is_plastic: material.plastic.into(),
            has_strain_floor: mpm.strain_floor.into(),
            node_mass_cutoff_kg: mpm.node_mass_cutoff_kg() as f32,
            lower_wall_friction,
            upper_wall_friction,
            n_bodies: surroundings.bodies.len() as u32,
            first_named: surroundings.first_named(),
            quanta_per_n_s: 0.0,
            up_axis,
            mass_quantum: 0.0,
            momentum_quantum: 0.0,
            implicit_dt2: (beta * dt_s * dt_s) as f32,
        };
        Ok(Self {
            division: StepDivision::whole(dt_s),
            dimensions: mpm.dimensions,
            stencil,
            transfer: mpm.transfer,
            has_flip: mpm.has_flip(),
            weights: mpm.weights,
            rasterization: mpm.rasterization,
            initial_volume: mpm.initial_volume,
            contact: mpm.contact(),
            implicit: mpm.implicit,
            layout,
            surroundings,
            sources: SourceParameters::default(),
            emitted: [0.0; 2],
            heaviest_kg: 0.0,
            terms,
        })
    }

    /// Returns true if particles carry an affine velocity.
    pub fn has_affine(&self) -> bool {
        self.transfer != Transfer::PicFlip
    }

    /// Returns true if particles keep a share of their velocity, and move by that of the grid (AFLIP).
    pub fn moves_with_grid(&self) -> bool {
        self.has_flip && self.has_affine()
    }

    /// Returns true if surfaces act on nodes through particles.
    pub fn has_surface_forces(&self) -> bool {
        self.moves_with_grid() && self.has_contact_forces()
    }

    /// Returns true if the pass that moves particles is not that which updates them.
    pub(super) fn moves_apart(&self) -> bool {
        self.has_bodies() != 0 || self.moves_with_grid()
    }

    /// Returns true if surfaces that are not sticky act on particles, not on nodes.
    pub fn has_contact_forces(&self) -> bool {
        self.contact == Contact::Particles
    }

    /// Returns the number of elements of a matrix, D².
    pub fn matrix_words(&self) -> u32 {
        self.dimensions * self.dimensions
    }

    /// Returns the number of elements of a symmetric matrix, D(D+1)/2.
    pub fn symmetric_words(&self) -> u32 {
        self.dimensions * (self.dimensions + 1) / 2
    }

    /// Returns 1 if there are bodies besides the walls of the domain, else 0.
    pub(super) fn has_bodies(&self) -> u32 {
        (!self.surroundings.bodies.is_empty()).into()
    }

    /// Returns true if loads on bodies are measured: with an explicit step and a body that the scene names.
    /// In a semi-implicit step, bodies also constrain the solve, and the impulse of that is not measured.
    pub fn measures_loads(&self) -> bool {
        self.implicit.is_none() && !self.surroundings.names.is_empty()
    }

    /// Returns 1 if the spline is evaluated as printed, else 0.
    pub(super) fn as_printed(&self) -> u32 {
        (self.weights == Weights::AsPrinted).into()
    }

    /// Returns the transfer's number in `mpm/terms.glsl`.
    pub(super) fn transfer_number(&self) -> u32 {
        match self.transfer {
            Transfer::PicFlip => terms::PIC_FLIP,
            Transfer::Apic => terms::APIC,
            Transfer::Mls => terms::MLS,
        }
    }

    /// Sets the quanta of fixed point for particles of up to this mass in kg.
    ///
    /// They are 2⁻⁴⁰ of a particle's mass, and of its momentum at one cell per step, the maximum speed: 63
    /// bits hold the sum of 2²³ such particles about a node, and the quanta are far below the rounding of the
    /// terms.
    pub(super) fn set_quanta(&mut self, mass_max_kg: f32) {
        let quantum = |most: f32| 2.0_f32.powi(most.max(f32::MIN_POSITIVE).log2().ceil() as i32 - 40);
        self.terms.mass_quantum = quantum(mass_max_kg);
        self.terms.quanta_per_n_s = quanta_per_n_s(f64::from(mass_max_kg));
        self.terms.momentum_quantum = quantum(mass_max_kg * self.terms.cell_m / self.terms.dt_s);
    }
}
