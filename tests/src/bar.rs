//! A bar of two halves, for comparison of heat conduction with closed forms.

use crate::Particle;
use frazil_report::erf;
use frazil_scene::{Heat, Phase, Scene};
use std::f64::consts::PI;

/// Distance between particles, in m.
pub const SPACING_M: f64 = 0.01;
/// Support radius that reaches the six nearest neighbours only, in spacings.
pub const NEAREST: f64 = 1.2;
/// The paper's support radius in spacings, which reaches 18 neighbours.
pub const PAPER: f64 = 1.683889521824544;

/// Two blocks in contact at a plane across x: a bar from wall to wall, without gravity, in which nothing
/// moves.
pub struct Bar {
    /// Particles along x of each half.
    pub n_along: [u32; 2],
    /// Particles across, along y and z.
    pub n_across: u32,
    /// Support radius in spacings.
    pub support_spacings: f64,
    /// Phases of the two halves, in the same order.
    pub phases: [Phase; 2],
    /// Their initial temperatures in °C.
    pub temperatures_c: [f64; 2],
    /// Conductivities, capacities, latent heat.
    pub heat: Heat,
}

impl Bar {
    /// Returns the bar as a scene whose time step is `share` of the maximum that conduction allows.
    ///
    /// # Panics
    /// If the scene is invalid.
    #[allow(clippy::expect_used)]
    pub fn scene(&self, share: f64) -> Scene {
        let end = |n: u32| f64::from(n) * SPACING_M;
        let (middle, length, width) =
            (end(self.n_along[0]), end(self.n_along[0] + self.n_along[1]), end(self.n_across));
        let name = |phase| if phase == Phase::Snow { "snow" } else { "water" };
        let text = format!(
            "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
             time = {{ dt_s = 1e-9, duration_s = 1.0 }}\n\
             fluid = {{ particle_spacing_m = {SPACING_M}, support_radius_spacings = {} }}\n\
             solver = {{ steps_per_submission = 50 }}\n\
             pbd = {{ iterations = 1 }}\n\
             domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n\
             snow = {{ links = {{ limit = \"none\" }} }}\n\
             [[particles]]\nphase = \"{}\"\ntemperature_c = {}\n\
             shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{middle}, {width}, {width}] }}\n\
             [[particles]]\nphase = \"{}\"\ntemperature_c = {}\n\
             shape.box = {{ min_m = [{middle}, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n",
            self.support_spacings,
            name(self.phases[0]),
            self.temperatures_c[0],
            name(self.phases[1]),
            self.temperatures_c[1],
        );
        let mut scene = Scene::parse(&text, "bar.toml", &[]).expect("a scene that loads");
        scene.snow_mut().expect("a scene with snow").heat = self.heat.clone();
        // Validation accepts half of the step that would equalize a particle with its neighbours.
        scene.time.dt_s = (share * 0.5 / scene.conduction_rate_per_s().expect("a scene with snow")).into();
        scene
    }

    /// Returns the signed distance in m of a particle from the plane between the two halves.
    pub fn x_m(&self, particle: &Particle) -> f64 {
        f64::from(particle.position[0]) - f64::from(self.n_along[0]) * SPACING_M
    }

    /// Returns true if a particle is at least `margin` particles from the walls along the bar.
    pub fn is_inside(&self, particle: &Particle, margin: u32) -> bool {
        let place = |axis: usize| (f64::from(particle.position[axis]) / SPACING_M).floor() as u32;
        [1, 2].into_iter().all(|axis| (margin..self.n_across - margin).contains(&place(axis)))
    }

    /// Returns the diffusivity α = k/(ρc) in m²/s of a phase.
    pub fn diffusivity(&self, phase: Phase) -> f64 {
        let (k, c) = properties(&self.heat, phase);
        k / (1000.0 * c)
    }

    /// Returns the temperature of two half-spaces in contact at x in m, t in s: the contact keeps the mean of
    /// the two temperatures, weighted with the effusivities √(kρc), and each half approaches it as an error
    /// function. Diffusivities are multiplied by `faster`.
    pub fn exact_c(&self, x_m: f64, t_s: f64, faster: f64) -> f64 {
        let effusivity = self.phases.map(|phase| {
            let (k, c) = properties(&self.heat, phase);
            (k * 1000.0 * c).sqrt()
        });
        let [a, b] = self.temperatures_c;
        let contact = (effusivity[0] * a + effusivity[1] * b) / (effusivity[0] + effusivity[1]);
        let side = usize::from(x_m > 0.0);
        let reach = (4.0 * faster * self.diffusivity(self.phases[side]) * t_s).sqrt();
        contact + (self.temperatures_c[side] - contact) * erf(x_m.abs() / reach)
    }
}

/// Returns conductivity in W/(m K) and capacity in J/(kg K).
pub fn properties(heat: &Heat, phase: Phase) -> (f64, f64) {
    match phase {
        Phase::Snow => (heat.snow_conductivity_w_m_k, heat.snow_capacity_j_kg_k),
        Phase::Water => (heat.water_conductivity_w_m_k, heat.water_capacity_j_kg_k),
    }
}

/// Returns the temperature in °C of Neumann's solution at `into_ice_m` from the initial contact after `t_s`;
/// arguments as in [`neumann_lambda`].
pub fn neumann_temperature_c(
    heat: &Heat,
    [ice_c, water_c]: [f64; 2],
    lambda: f64,
    into_ice_m: f64,
    t_s: f64,
) -> f64 {
    let [ice, water] = [Phase::Snow, Phase::Water].map(|phase| {
        let (k, c) = properties(heat, phase);
        k / (1000.0 * c)
    });
    let [of_ice, of_water] = [ice, water].map(|diffusivity| into_ice_m / (4.0 * diffusivity * t_s).sqrt());
    let front_of_ice = lambda * (water / ice).sqrt();
    if of_water < lambda {
        water_c * (erf(lambda) - erf(of_water)) / (1.0 + erf(lambda))
    } else {
        ice_c * (erf(of_ice) - erf(front_of_ice)) / (1.0 - erf(front_of_ice))
    }
}

/// Returns λ of Neumann's solution for two half-spaces in contact, ice and water at `temperatures_c`, one
/// below and one above freezing at 0 °C or at it: the front between them is 2λ√(α_w t) away from the initial
/// contact, on the ice's side for λ > 0. The latent heat absorbed is the flux from the water minus the flux
/// into the ice: ρ L λ √α_w = k_w T_w e^(−λ²) / ((1 + erf λ) √(π α_w)) + k_i T_i e^(−λ²ν²) / ((1 − erf λν)
/// √(π α_i)),  ν = √(α_w/α_i).
pub fn neumann_lambda(heat: &Heat, [ice_c, water_c]: [f64; 2]) -> f64 {
    let [(k_ice, ice), (k_water, water)] = [Phase::Snow, Phase::Water].map(|phase| {
        let (k, c) = properties(heat, phase);
        (k, k / (1000.0 * c))
    });
    let ratio = (water / ice).sqrt();
    let excess = |lambda: f64| {
        let latent = 1000.0 * heat.latent_heat_j_kg * lambda * water.sqrt();
        let from_water =
            k_water * water_c * (-lambda * lambda).exp() / ((1.0 + erf(lambda)) * (PI * water).sqrt());
        let mu = lambda * ratio;
        let into_ice = k_ice * ice_c * (-mu * mu).exp() / ((1.0 - erf(mu)) * (PI * ice).sqrt());
        latent - from_water - into_ice
    };
    let (mut low, mut high) = (-2.0, 2.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}
