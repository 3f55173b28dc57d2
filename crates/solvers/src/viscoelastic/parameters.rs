//! Conversion of a scene's quantities to constants of the kernels.

use frazil_scene::{Elasticity, Scene, ShearDrive, Viscoelastic, ViscosityModel};
use frazil_shaders::types::ViscoelasticTerms;
use frazil_shaders::viscoelastic::terms;

/// Maximum of the bound on Δt times the rates of the viscous operator at which a step is explicit, and the
/// part of it that the viscosity law may take.
const MAX_EXPLICIT: f64 = 1.0;
const MAX_EXPLICIT_OF_LAW: f64 = 0.5;

/// Ratio of the rates of viscosity at the steepest gradients of a free surface and on the lattice.
const SURFACE_RATIO: f64 = 4.0;

/// Share of |g| Δt below which the approach of a particle to a wall is that of a resting fluid.
const RESTING_STEPS: f64 = 4.0;

/// Distance in support radii up to which springs are made. Springs that end at the support radius are not
/// made anew at once, and at a support of two spacings the lattice's neighbours at that distance have none.
const SPRING_REACH: f64 = 0.95;

/// Ratio of the slots of a particle's row of springs and of its neighbours at rest density: beyond it only
/// the nearest get springs.
const SPRING_SLOTS: f64 = 1.75;
const MAX_SPRING_SLOTS: f64 = 240.0;

/// Δt²/m times the bound B of the stiffness at a particle: twice that bounds the squares of angles by which
/// springs oscillate in a step, which are stable below 4.
const SPRING_BOUND: f64 = 1.5;

/// Parameters of springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringParameters {
    /// Stiffness k in N/m of springs without length.
    pub stiffness_n_m: f32,
    /// Distance in m up to which springs are made.
    pub reach_m: f32,
    /// Rest length in m at which springs have no stiffness, and end.
    pub support_m: f32,
    /// Yield strain γ.
    pub yield_strain: f32,
    /// Share 1 − e^(−αΔt) of the strain beyond γ that a spring loses in a step.
    pub flow_share: f32,
    /// Stiffness B in N/m that a particle's springs have at most.
    pub max_bound_n_m: f32,
    /// Δt/m in s/kg.
    pub dt_per_mass: f32,
    /// 1/2V in 1/m³ with the volume of a particle.
    pub half_per_volume: f32,
    /// 1/m in 1/kg.
    pub inverse_mass: f32,
    /// Maximum number of springs of a particle.
    pub slots: u32,
    /// True for springs that never change.
    pub is_fixed: bool,
}

impl SpringParameters {
    /// Reads the parameters of a scene, if it has springs.
    fn from_scene(scene: &Scene, material: &Viscoelastic, lattice: &Lattice) -> Option<Self> {
        if material.elasticity != Elasticity::Springs {
            return None;
        }
        let (d, h, dt) = (scene.particle_spacing_m(), scene.support_radius_m(), scene.dt_s());
        let (mass, density) = (scene.particle_mass_kg(), scene.rest_density_kg_m3());
        // A strain ε stretches a spring by r n·ε·n, so that n particles per volume have the energy n/4 Σ k r²
        // (n·ε·n)², each spring at two of them. For simple shear γ, (n·ε·n)² is γ² n_x² n_y², of which the
        // mean over directions is γ²/15: G = n/30 Σ k r².
        let stiffness = 30.0 * material.modulus_pa * mass / (density * h * h * lattice.springs);
        let reach = SPRING_REACH * h;
        let neighbours = 4.0 / 3.0 * std::f64::consts::PI * (reach / d).powi(3);
        Some(Self {
            stiffness_n_m: stiffness as f32,
            reach_m: reach as f32,
            support_m: h as f32,
            yield_strain: material.yield_strain as f32,
            flow_share: -(-material.decay_per_s * dt).exp_m1() as f32,
            max_bound_n_m: (SPRING_BOUND * mass / (dt * dt)) as f32,
            dt_per_mass: (dt / mass) as f32,
            half_per_volume: (0.5 * density / mass) as f32,
            inverse_mass: (1.0 / mass) as f32,
            slots: (SPRING_SLOTS * neighbours).ceil().min(MAX_SPRING_SLOTS) as u32,
            is_fixed: material.springs_fixed,
        })
    }
}

/// Conduction of heat and shift of viscosity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatParameters {
    /// Conductivity in W/(m K).
    pub conductivity_w_m_k: f32,
    /// Δt/(ρ c h²) times the scale of the Laplacian, in m K/W.
    pub heating: f32,
    /// s/2 of the corrected weights.
    pub moment_scale: f32,
    /// Maximum correction of a particle.
    pub max_correction: f32,
    /// Temperatures in °C of the lower and of the upper faces, by axis.
    pub face_c: [[f32; 3]; 2],
    /// A bit for each lower, then for each upper face that has a temperature.
    pub fixed_faces: u32,
    /// B in K.
    pub activation_k: f32,
    /// T_ref in °C.
    pub reference_c: f32,
    /// Bounds of the factor on viscosity.
    pub shifts: [f32; 2],
    /// True if relaxation shifts, too.
    pub shifts_relaxation: bool,
}

impl HeatParameters {
    fn from_scene(scene: &Scene, material: &Viscoelastic) -> Option<Self> {
        let heat = material.heat.as_ref()?;
        let h = scene.support_radius_m();
        let per_conductivity = scene.dt_s() / (scene.rest_density_kg_m3() * heat.capacity_j_kg_k * h * h);
        let [moment_scale, max_correction] = scene.conduction_moments();
        let faces = heat.face_temperatures_c.faces();
        let [lower, upper] = faces.map(|side| bits(side.map(|face| face.is_some())));
        Some(Self {
            conductivity_w_m_k: heat.conductivity_w_m_k as f32,
            heating: (per_conductivity * scene.conduction_scale()) as f32,
            moment_scale: moment_scale as f32,
            max_correction: max_correction as f32,
            face_c: faces.map(|side| side.map(|face| face.unwrap_or(0.0) as f32)),
            fixed_faces: lower | upper << 3,
            activation_k: heat.activation_temperature_k as f32,
            reference_c: heat.reference_temperature_c as f32,
            shifts: scene.viscosity_shifts().map(|shift| shift as f32),
            shifts_relaxation: heat.shifts_relaxation,
        })
    }
}

/// Feed of a nozzle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedParameters {
    /// Velocity of fed particles in m/s.
    pub velocity_m_s: [f32; 3],
}

/// Parameters of a viscoelastic fluid.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Constants of the kernels.
    pub terms: ViscoelasticTerms,
    /// Elasticity model, as the kernels number it.
    pub elasticity: u32,
    /// Springs, if they are the elasticity.
    pub springs: Option<SpringParameters>,
    /// True if viscosity is solved implicitly.
    pub is_implicit: bool,
    /// True for the one-sided force of Huang2016 eq 2.24.
    pub as_printed: bool,
    /// Ratio of residual and impulse to which viscosity is solved.
    pub tolerance: f32,
    /// Maximum of iterations of a viscous solve: that of the scene, or what is sufficient.
    pub max_iterations: u32,
    /// Restitution and Coulomb friction of walls without stick.
    pub wall_restitution: f32,
    /// Coulomb friction of walls without stick.
    pub wall_friction: f32,
    /// Particle spacing d in m.
    pub spacing_m: f32,
    /// Approach speed in m/s below which particles do not rebound from walls.
    pub resting_speed_m_s: f32,
    /// True if velocities are smoothed by XSPH.
    pub has_xsph: bool,
    /// Shear between the y faces.
    pub shear: Option<ShearDrive>,
    /// Nozzle, if the scene has one.
    pub feed: Option<FeedParameters>,
    /// Heat, if the scene has it.
    pub heat: Option<HeatParameters>,
    /// Distance of the y faces in m.
    pub gap_m: f64,
}

impl Parameters {
    /// Reads the parameters of a scene.
    pub fn from_scene(scene: &Scene) -> Self {
        let material = scene.viscoelastic();
        let (d, h, dt) = (scene.particle_spacing_m(), scene.support_radius_m(), scene.dt_s());
        let density = scene.rest_density_kg_m3();
        let newtonian = scene.fluid().map_or(0.0, |fluid| fluid.dynamic_viscosity_pa_s);
        let lattice = Lattice::new(h / d);
        // Twice the sum of weights bounds the square of differences, and twice that the stress of the
        // gradient.
        let rate = 4.0 * lattice.weights / (lattice.moment * density * h * h);
        // tr(D)² is at most 3 D:D, and 2 η D:D the power of shear viscosity.
        let bulk = 1.0 + 1.5 * material.bulk_viscosity_ratio;
        let [_, max_shift] = scene.viscosity_shifts();
        let of_law = SURFACE_RATIO * dt * rate * bulk * material.viscosity.bound_pa_s(newtonian) * max_shift;
        // The method is that of the longest substep.
        let is_implicit = f64::from(scene.substeps()) * of_law > MAX_EXPLICIT_OF_LAW;
        // Damping is not worth an implicit step; the differences that it acts on are never larger than on the
        // lattice.
        let asked = material.unresolved_damping * density * scene.shear_wave_speed_m_s() * d;
        let unresolved = if is_implicit { asked } else { asked.min((MAX_EXPLICIT - of_law) / (dt * rate)) };
        let g = scene.gravity_m_s2().iter().map(|g| g * g).sum::<f64>().sqrt();
        Self {
            terms: terms_of(scene, &material, newtonian, unresolved, lattice.moment),
            elasticity: match material.elasticity {
                Elasticity::None => terms::NO_ELASTICITY,
                Elasticity::Conformation => terms::CONFORMATION,
                Elasticity::StrainTensor => terms::STRAIN_TENSOR,
                Elasticity::Springs => terms::SPRINGS,
            },
            springs: SpringParameters::from_scene(scene, &material, &lattice),
            is_implicit,
            as_printed: material.as_printed,
            tolerance: material.viscosity_tolerance as f32,
            max_iterations: material
                .max_viscosity_iterations
                .min(sufficient_iterations(of_law, material.viscosity_tolerance)),
            wall_restitution: material.wall_restitution as f32,
            wall_friction: material.wall_friction as f32,
            spacing_m: d as f32,
            resting_speed_m_s: (RESTING_STEPS * g * dt) as f32,
            has_xsph: scene
                .fluid()
                .is_some_and(|fluid| fluid.xsph_rate_per_s.is_some() || fluid.xsph_viscosity.is_some()),
            feed: material
                .feed
                .as_ref()
                .map(|feed| FeedParameters { velocity_m_s: feed.velocity_m_s.map(|v| v as f32) }),
            heat: HeatParameters::from_scene(scene, &material),
            shear: material.shear,
            gap_m: scene.domain.max_m[1] - scene.domain.min_m[1],
        }
    }

    /// Returns the speed along x in m/s of the upper y face at a time in s; the lower one moves oppositely.
    pub fn wall_speed_m_s(&self, time_s: f64) -> f32 {
        let Some(shear) = &self.shear else { return 0.0 };
        if shear.stop_s.is_some_and(|stop| time_s >= stop) {
            return 0.0;
        }
        let rate = shear.rate_per_s * (std::f64::consts::TAU * shear.frequency_hz * time_s).cos();
        (0.5 * self.gap_m * rate) as f32
    }
}

/// Returns the number of iterations of conjugate gradients that reduce any residual to the tolerance, for an
/// operator whose eigenvalues are between 1 and 1 + `rate_dt`: the error in the norm of the operator is less
/// than 2 ((√κ − 1)/(√κ + 1))ⁿ of the first one.
fn sufficient_iterations(rate_dt: f64, tolerance: f64) -> u32 {
    let root = (1.0 + rate_dt).sqrt();
    let digits = (2.0 * root / tolerance).ln();
    (digits / ((root + 1.0) / (root - 1.0)).ln()).ceil() as u32
}

fn terms_of(
    scene: &Scene,
    material: &Viscoelastic,
    newtonian_pa_s: f64,
    unresolved_pa_s: f64,
    lattice_moment: f64,
) -> ViscoelasticTerms {
    let law = &material.viscosity;
    let periodic = bits(scene.domain.periodic);
    let sticks = material.sticks();
    let is_sheared = material.shear.is_some();
    let lower = bits([sticks, sticks || is_sheared, sticks]);
    ViscoelasticTerms {
        // The solver fills in the grid.
        grid: bytemuck::Zeroable::zeroed(),
        domain_min_m: scene.domain.min_m.map(|x| x as f32),
        domain_max_m: scene.domain.max_m.map(|x| x as f32),
        support_m: scene.support_radius_m() as f32,
        dt_s: scene.dt_s() as f32,
        density_kg_m3: scene.rest_density_kg_m3() as f32,
        periodic,
        sticky_faces: lower | lower << 3,
        lattice_moment: lattice_moment as f32,
        modulus_pa: material.modulus_pa() as f32,
        relaxation_per_s: material.relaxation_time_s.map_or(0.0, |time| 1.0 / time) as f32,
        yield_stress_pa: material.yield_stress_pa.unwrap_or(-1.0) as f32,
        yield_strain: material.yield_strain as f32,
        decay_per_s: material.decay_per_s as f32,
        law: match law.model {
            ViscosityModel::Newtonian => terms::NEWTONIAN,
            ViscosityModel::Carreau => terms::CARREAU,
            ViscosityModel::PowerLaw => terms::POWER_LAW,
            ViscosityModel::HerschelBulkley => terms::HERSCHEL_BULKLEY,
        },
        viscosity_pa_s: newtonian_pa_s as f32,
        infinite_shear_pa_s: law.infinite_shear_pa_s as f32,
        time_s: law.time_s.unwrap_or(0.0) as f32,
        exponent: law.exponent as f32,
        consistency: law.consistency_pa_s_n.unwrap_or(0.0) as f32,
        law_yield_pa: law.yield_stress_pa as f32,
        max_pa_s: law.bound_pa_s(newtonian_pa_s) as f32,
        unresolved_pa_s: unresolved_pa_s as f32,
        bulk_ratio: material.bulk_viscosity_ratio as f32,
        shifting: material.particle_shifting as f32,
        feed_axis: scene.up_axis.index() as u32,
        feed_mouth_m: material.feed.as_ref().map_or(f32::INFINITY, |feed| feed.mouth_m as f32),
    }
}

fn bits(axes: [bool; 3]) -> u32 {
    axes.iter().rev().fold(0, |bits, axis| 2 * bits + u32::from(*axis))
}

/// Sums over the neighbours of a point of the cubic lattice, with the weights w = −W′(q)/q.
struct Lattice {
    /// Σ w.
    weights: f64,
    /// Σ w q²/3.
    moment: f64,
    /// Σ (1 − q) q² over the neighbours with springs.
    springs: f64,
}

impl Lattice {
    fn new(support_spacings: f64) -> Self {
        let reach = support_spacings.floor() as i32;
        let (mut weights, mut moment, mut springs) = (0.0, 0.0, 0.0);
        for x in -reach..=reach {
            for y in -reach..=reach {
                for z in -reach..=reach {
                    let q = f64::from(x * x + y * y + z * z).sqrt() / support_spacings;
                    if q > 0.0 && q < 1.0 {
                        let slope = (1.0 - q).powi(2) - 4.0 * (0.5 - q).max(0.0).powi(2);
                        weights += slope / q;
                        moment += slope * q / 3.0;
                    }
                    if q < SPRING_REACH {
                        springs += (1.0 - q) * q * q;
                    }
                }
            }
        }
        Self { weights, moment, springs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_grow_with_the_root_of_the_condition_number() {
        assert_eq!(sufficient_iterations(0.0, 1e-3), 0);
        let [few, many] = [100.0, 10_000.0].map(|rate| f64::from(sufficient_iterations(rate, 1e-3)));
        assert!((9.0..15.0).contains(&(many / few)), "{few} {many}");
        assert!((40.0..60.0).contains(&few), "{few}");
    }

    #[test]
    fn weights_on_the_lattice_are_those_of_six_twelve_and_eight_neighbours() {
        let lattice = Lattice::new(2.0);
        // Shells at q = 1/2, 1/√2 and √3/2, with slopes (1 − q)².
        let shells = [(6.0, 0.5_f64), (12.0, 0.5_f64.sqrt()), (8.0, 0.75_f64.sqrt())];
        let sum = |power: i32| shells.map(|(n, q)| n * (1.0 - q).powi(2) * q.powi(power)).iter().sum::<f64>();
        assert!((lattice.weights - sum(-1)).abs() < 1e-12 && (lattice.moment - sum(1) / 3.0).abs() < 1e-12);
        let springs: f64 = shells.map(|(n, q)| n * (1.0 - q) * q * q).iter().sum();
        assert!((lattice.springs - springs).abs() < 1e-12);
    }
}
