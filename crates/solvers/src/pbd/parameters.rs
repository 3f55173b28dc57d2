//! Conversion of a scene's quantities to kernel parameters.

use crate::clock::StepDivision;
use crate::sources::SourceParameters;
use crate::{SolverError, Surroundings};
use frazil_kernels::CellSortMethod;
use frazil_scene::{ConstraintGradient, FluidKernel, NeighbourGrid, Pressure, Scene, WallDensity};
use frazil_shaders::sph::kernels::{KERNEL_CUBIC_SPLINE, KERNEL_POLY6_SPIKY};
use frazil_shaders::types::{FaultLimits, Walls};

/// Parameters of a position-based fluid, as kernels use them. Symbols: h support radius, m particle mass, ρ₀
/// rest density.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Substeps of a step.
    pub division: StepDivision,
    /// Time step Δt in s, that of a substep.
    pub dt_s: f32,
    /// Gravitational acceleration in m/s².
    pub gravity_m_s2: [f32; 3],
    /// Smoothing kernels: `KERNEL_CUBIC_SPLINE` or `KERNEL_POLY6_SPIKY` of `sph/kernels.glsl`.
    pub kernel: u32,
    /// Support radius h in m.
    pub support_m: f32,
    /// Relative particle volume V/h³ in SPH sums, near m/(ρ₀h³), such that the rest lattice has rest density.
    pub volume_h3: f32,
    /// Particle mass m in kg.
    pub particle_mass_kg: f64,
    /// Rest density ρ₀ in kg/m³.
    pub rest_density_kg_m3: f32,
    /// Jacobi iterations per step: their number, or their minimum with a `density_tolerance`.
    pub iterations: u32,
    /// True if velocities are projected to those that keep the density, false if positions are corrected.
    pub is_projection: bool,
    /// Share of an excess of density that a step of a projection takes back.
    pub excess_share: f32,
    /// Share of a deficit of density within water that a step of a projection takes back.
    pub deficit_share: f32,
    /// Mean of max(ρ/ρ₀ − 1, 0) to which the density constraint is solved; 0 for a fixed number of
    /// iterations.
    pub density_tolerance: f32,
    /// Maximum of iterations with a `density_tolerance`.
    pub max_iterations: u32,
    /// Over-relaxation ω of Chen2021 eq 5.27.
    pub over_relaxation: f32,
    /// Relaxation ε h² of Chen2021 eq 5.19, dimensionless.
    pub relaxation: f32,
    /// Strength k of Huang2016 eq 2.21, in units of λ/h².
    pub pressure_strength: f32,
    /// Reciprocal of the kernel's shape at |Δq|, for the ratio of kernels in Huang2016 eq 2.21.
    pub pressure_inverse_shape: f32,
    /// Exponent n of Huang2016 eq 2.21.
    pub pressure_exponent: u32,
    /// Viscosity c of XSPH (Chen2021 eq 5.20).
    pub xsph_viscosity: f32,
    /// Weight of the drag of walls by XSPH: 1 with a coefficient per step, as in the paper, else 0.
    pub wall_xsph: f32,
    /// ν̂ of `pbd/smooth_velocity`: Δt ν s/h².
    pub viscosity_share: f32,
    /// h³/V, the number of particles in h³ at rest.
    pub particles_h3: f32,
    /// Wall friction s of `pbd/smooth_velocity`: 0 for free slip, 1 for no slip.
    pub wall_friction: f32,
    /// Difference between the friction of each face of the domain and `wall_friction`: of the lower and of
    /// the upper face along each axis.
    pub face_friction: [[f32; 3]; 2],
    /// Density in kg/m³ from which a particle is a fault of the step.
    pub max_density_kg_m3: f32,
    /// Speed in m/s from which a particle is a fault of the step.
    pub max_speed_m_s: f32,
    /// Domain box.
    pub walls: Walls,
    /// True if faces of the domain act on density by images of particles, false by the kernel's integral.
    pub has_images: bool,
    /// Axes along which the domain repeats itself, a bit each.
    pub periodic: u32,
    /// Method of the sort by cell; if none, the fastest on the device.
    pub cell_sort: Option<CellSortMethod>,
    /// True if corrections of density follow the gradients at the start of the step.
    pub gradient_at_start: bool,
    /// Minimum distance of particles from bodies in m.
    pub body_clearance_m: f32,
    /// Bodies.
    pub surroundings: Surroundings,
    /// Emitters and drains.
    pub sources: SourceParameters,
}

/// Minimum distance of a particle from a wall in spacings: it is the centre of the volume that it represents.
const CLEARANCE: f64 = 0.5;

/// The same where images of particles behind the wall keep them away: half a spacing would stop particles
/// that fluctuate about it, and damp the flow along the wall.
const CLEARANCE_WITH_IMAGES: f64 = 0.1;

/// The same in a projection: a particle is h/3 from its own image, where the slope of the cubic spline is
/// greatest. Nearer, the image would repel it less, and particles would gather in edges and corners.
const CLEARANCE_IN_PROJECTION: f64 = 1.0 / 3.0;

impl Parameters {
    /// Reads the parameters of a scene.
    ///
    /// # Errors
    /// The scene has no `[fluid]`, or a body of a kind that this solver does not know.
    pub fn from_scene(scene: &Scene) -> Result<Self, SolverError> {
        let Some(fluid) = scene.fluid() else {
            return Err(SolverError::Scene { key: "fluid".into(), found: "no such section".into() });
        };
        let narrow = |v: [f64; 3]| v.map(|x| x as f32);
        let h = scene.support_radius_m();
        let mass = scene.particle_mass_kg();
        let calibration = Calibration::new(mass / fluid.rest_density_kg_m3, h, fluid.kernel());
        let pressure = &scene.pbd().artificial_pressure;
        let has_snow = scene.snow().is_some();
        let faces = scene.domain.friction.unwrap_or_default().faces();
        let has_images = scene.wall_density() == Some(WallDensity::Images);
        let clearance = match (has_images, scene.pressure()) {
            (false, _) => CLEARANCE,
            (true, Pressure::Position) => CLEARANCE_WITH_IMAGES,
            (true, Pressure::Projection) => CLEARANCE_IN_PROJECTION,
        };
        let is_projection = scene.pressure() == Pressure::Projection;
        let added = |face: Option<f64>| face.map_or(0.0, |friction| (friction - fluid.wall_friction) as f32);
        Ok(Self {
            division: StepDivision::of(scene),
            dt_s: scene.dt_s() as f32,
            gravity_m_s2: narrow(scene.gravity_m_s2()),
            kernel: match fluid.kernel() {
                FluidKernel::CubicSpline => KERNEL_CUBIC_SPLINE,
                FluidKernel::Poly6Spiky => KERNEL_POLY6_SPIKY,
            },
            support_m: h as f32,
            volume_h3: calibration.volume_h3 as f32,
            particle_mass_kg: mass,
            rest_density_kg_m3: fluid.rest_density_kg_m3 as f32,
            iterations: scene.iterations(),
            is_projection,
            density_tolerance: if has_snow { 0.0 } else { scene.density_tolerance() as f32 },
            excess_share: scene.density_excess_share() as f32,
            deficit_share: scene.density_deficit_share() as f32,
            max_iterations: scene.pbd().max_iterations.max(scene.iterations()),
            over_relaxation: scene.pbd().over_relaxation as f32,
            relaxation: scene.pbd().constraint_relaxation as f32,
            pressure_strength: pressure.strength as f32,
            pressure_inverse_shape: (1.0 / kernel_shape(fluid.kernel(), pressure.radius_fraction)) as f32,
            pressure_exponent: pressure.exponent,
            xsph_viscosity: scene.xsph_share(fluid.xsph()) as f32,
            wall_xsph: f32::from(has_snow || fluid.xsph_viscosity.is_some()),
            viscosity_share: (scene.dt_s() * scene.viscous_share_per_s()) as f32,
            particles_h3: (fluid.rest_density_kg_m3 * h.powi(3) / mass) as f32,
            wall_friction: fluid.wall_friction as f32,
            max_density_kg_m3: (scene.pbd().max_density_ratio * fluid.rest_density_kg_m3) as f32,
            max_speed_m_s: (scene.pbd().max_courant * h / scene.dt_s()) as f32,
            walls: Walls {
                domain_min_m: narrow(scene.domain.min_m),
                domain_max_m: narrow(scene.domain.max_m),
                clearance_m: (clearance * fluid.particle_spacing_m) as f32,
                fraction_scale: calibration.wall_fraction_scale as f32,
            },
            has_images,
            periodic: scene.domain.periodic.iter().rev().fold(0, |bits, axis| 2 * bits + u32::from(*axis)),
            cell_sort: fluid.neighbour_grid.map(|grid| match grid {
                NeighbourGrid::Counting => CellSortMethod::Counting,
                NeighbourGrid::Sorting => CellSortMethod::Radix,
            }),
            gradient_at_start: scene.constraint_gradient() == ConstraintGradient::Start,
            body_clearance_m: (CLEARANCE * fluid.particle_spacing_m) as f32,
            face_friction: faces.map(|axes| axes.map(added)),
            surroundings: Surroundings::of(scene)?,
            sources: SourceParameters::of(scene),
        })
    }

    /// Returns the mean of max(ρ/ρ₀ − 1, 0) from which on the density of at least one particle is a fault. A
    /// projection has residuals instead, which have no such bound.
    pub fn max_density_error(&self) -> f32 {
        if self.is_projection { f32::MAX } else { self.max_density_kg_m3 / self.rest_density_kg_m3 - 1.0 }
    }

    /// Returns the limits of a state without a fault, for one of the phases.
    pub(crate) fn fault_limits(&self, phase: u32) -> FaultLimits {
        let Self { max_density_kg_m3, max_speed_m_s, .. } = *self;
        FaultLimits { max_density_kg_m3, max_speed_m_s, phase }
    }

    /// Returns true if the scene has bodies.
    pub fn has_bodies(&self) -> bool {
        !self.surroundings.bodies.is_empty()
    }
}

/// Returns the shape of the cubic B-spline at q = r/h: `spline_shape` of `sph/kernels.glsl`.
pub(super) fn spline_shape(q: f64) -> f64 {
    (1.0 - q).max(0.0).powi(3) - 4.0 * (0.5 - q).max(0.0).powi(3)
}

/// Returns `kernel_shape` of `sph/kernels.glsl` at q = r/h.
fn kernel_shape(kernel: FluidKernel, q: f64) -> f64 {
    match kernel {
        FluidKernel::CubicSpline => spline_shape(q),
        FluidKernel::Poly6Spiky => (1.0 - q * q).max(0.0).powi(3),
    }
}

/// Returns `kernel_wall_fraction` of `sph/kernels.glsl` at 0 ≤ q ≤ 1.
fn wall_fraction(kernel: FluidKernel, q: f64) -> f64 {
    match kernel {
        FluidKernel::CubicSpline => {
            let (u, v) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
            32.0 * (u.powi(5) * (1.0 / 20.0 - u / 30.0) - 4.0 * v.powi(5) * (1.0 / 40.0 - v / 30.0))
        }
        FluidKernel::Poly6Spiky => {
            let series =
                q - 4.0 / 3.0 * q.powi(3) + 1.2 * q.powi(5) - 4.0 / 7.0 * q.powi(7) + q.powi(9) / 9.0;
            0.5 - 315.0 / 256.0 * series
        }
    }
}

/// Constants with which a cubic lattice that fills its container is a fluid at rest, for any support radius.
struct Calibration {
    /// Relative volume V/h³ such that Σ V W = 1 on the lattice. At h = 2 spacings it is m/(ρ₀h³) to four
    /// digits; at the 1.684 of Chen2021 table 8.2 that would be wrong by some per cent, and the fluid would
    /// swell or shrink by as much before it comes to rest.
    volume_h3: f64,
    /// Ratio of the parts of the sum and of the integral that a wall half a spacing from the lattice's first
    /// layer cuts off.
    wall_fraction_scale: f64,
}

impl Calibration {
    fn new(particle_volume_m3: f64, support_m: f64, kernel: FluidKernel) -> Self {
        let kernel_scale = match kernel {
            FluidKernel::CubicSpline => 16.0 / std::f64::consts::PI,
            FluidKernel::Poly6Spiky => 315.0 / (64.0 * std::f64::consts::PI),
        };
        let spacing = particle_volume_m3.cbrt() / support_m;
        let reach = (1.0 / spacing).floor() as i32;
        let (mut all, mut behind_wall) = (0.0, 0.0);
        for x in -reach..=reach {
            for y in -reach..=reach {
                for z in -reach..=reach {
                    let q = spacing * f64::from(x * x + y * y + z * z).sqrt();
                    let shape = kernel_shape(kernel, q);
                    all += shape;
                    behind_wall += if x < 0 { shape } else { 0.0 };
                }
            }
        }
        let cut_off = wall_fraction(kernel, 0.5 * spacing);
        let scale = if cut_off > 0.0 { behind_wall / all / cut_off } else { 1.0 };
        Self { volume_h3: 1.0 / (kernel_scale * all), wall_fraction_scale: scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artificial_pressure_has_its_strength_at_its_distance() {
        // Huang2016 eq 2.21: s_corr = −k where W(r) = W(Δq), with the kernel that the device uses.
        for radius_fraction in ["0.1", "0.3", "0.8"] {
            let overrides = [format!("pbd.artificial_pressure.radius_fraction={radius_fraction}")];
            let scene = Scene::find("drop", &overrides).unwrap();
            let parameters = Parameters::from_scene(&scene).unwrap();
            let at = spline_shape(radius_fraction.parse().unwrap()) as f32;
            assert!((at * parameters.pressure_inverse_shape - 1.0).abs() < 1e-6, "{radius_fraction}");
        }
    }

    /// A lattice at rest has rest density with each kernel: Σ V W = 1, whose sums differ by the kernel.
    #[test]
    fn a_lattice_has_rest_density_with_each_kernel() {
        let pi = std::f64::consts::PI;
        for (kernel, scale) in
            [(FluidKernel::CubicSpline, 16.0 / pi), (FluidKernel::Poly6Spiky, 315.0 / (64.0 * pi))]
        {
            for spacings in [1.684, 2.0, 2.5] {
                let calibration = Calibration::new(1e-6, 0.01 * spacings, kernel);
                let mut sum = 0.0;
                for x in -3..=3 {
                    for y in -3..=3 {
                        for z in -3..=3 {
                            let r = f64::from(x * x + y * y + z * z).sqrt();
                            sum += calibration.volume_h3 * scale * kernel_shape(kernel, r / spacings);
                        }
                    }
                }
                assert!((sum - 1.0).abs() < 1e-12, "{kernel:?} at {spacings} spacings: {sum}");
                // The volume is that of a cell of the lattice but for what few points miss of the integral.
                let exact = spacings.powi(-3);
                assert!((calibration.volume_h3 / exact - 1.0).abs() < 0.1, "{kernel:?} at {spacings}");
            }
        }
    }
}
