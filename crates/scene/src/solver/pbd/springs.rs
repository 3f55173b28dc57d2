//! Springs of snow: their constants, and the largest ones that a step resolves.

use super::snow::{LinkLimit, Snow};
use crate::Scene;

/// Springs of contacts and links as the solver uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Springs {
    /// Spring constant of a contact in N/m; none for the paper's contacts.
    pub contact_n_m: Option<f64>,
    /// Spring constant of a link in N/m; none for the paper's links, and without links.
    pub link_n_m: Option<f64>,
    /// Share β of the difference to the present forces that an iteration after the first applies.
    pub share: f64,
    /// k τ Δt/m of the dampers of links in a step, 0 without.
    pub damping: f64,
    /// Number of stages in which a step solves the dampers, a multiple of 3; 0 without.
    pub damping_stages: u32,
    /// Factor by which the constants are below those that the scene asks for, so that a step is stable; 1 if
    /// it is so without.
    pub softening: f64,
}

/// Maximum number of equal spheres that touch one sphere.
const MAX_CONTACTS: f64 = 12.0;

/// Spring constant over E d: 18 equal springs to the nearest and next neighbours of a cubic lattice are an
/// isotropic solid of E = 5/2 k/d and ν = 1/4.
const SPRING_PER_MODULUS: f64 = 0.4;

/// Returns the largest eigenvalue of Σ n nᵀ over the directions n of the links of a particle, for any choice
/// of `most` of its neighbours on a cubic lattice, nearest first.
fn links_along_an_axis(most: f64) -> f64 {
    most.min(2.0) + 0.5 * (most - 2.0).clamp(0.0, 8.0) + (most - 18.0).max(0.0) / 3.0
}

/// Returns the maximum of S, the bound of k Δt²/m over all modes, at which a step of `iterations` is stable.
///
/// A mode of s = k Δt²/m gets the displacement −s x in the first iteration, and then approaches that of an
/// implicit step by β (1 + s) in each, β = 1/(1 + S): what is left is R = (1 − β (1 + s))^(n − 1). With a =
/// (1 − R) s/(1 + s) + R s and b = (1 − R) s/(1 + s), the step is x' = (1 − a) x + (1 − b) Δt v, Δt v' = x' −
/// x, which is stable for a + 2b < 4. With S = 3n it is at most 3 in all modes: beyond, friction on walls
/// excites the stiffest ones.
pub(super) fn stable_stiffness(iterations: u32) -> f64 {
    3.0 * f64::from(iterations.max(1))
}

/// Maximum number of stages of the dampers in a step; more damping is cut off.
const MAX_DAMPING_STAGES: u32 = 30;

/// Returns the largest product of rate and step that a first-order Runge–Kutta–Legendre scheme of some stages
/// solves stably (Meyer et al. 2014), with a margin: at the limit itself the fastest mode is not damped.
fn longest_damping(stages: u32) -> f64 {
    0.9 * f64::from(stages * stages + stages)
}

/// Returns the number of stages for a product of rate and step. Three buffers take turns, so that multiples
/// of three end in the first.
fn stages_of(rate_dt: f64) -> u32 {
    (3..=MAX_DAMPING_STAGES)
        .step_by(3)
        .find(|n| longest_damping(*n) >= rate_dt * (1.0 - 1e-9))
        .unwrap_or(MAX_DAMPING_STAGES)
}

impl Springs {
    /// Returns Young's modulus in Pa of linked snow at this spacing; without links that of a column of
    /// particles in contact.
    pub fn modulus_pa(&self, spacing_m: f64) -> Option<f64> {
        let link = self.link_n_m.map(|link| link / (SPRING_PER_MODULUS * spacing_m));
        link.or(self.contact_n_m.map(|contact| contact / spacing_m))
    }
}

impl Snow {
    fn springs_asked(&self, spacing_m: f64) -> [Option<f64>; 2] {
        let by_modulus = SPRING_PER_MODULUS * self.youngs_modulus_pa * spacing_m;
        let spring = |compliance: Option<f64>| compliance.map_or(by_modulus, |compliance| 1.0 / compliance);
        let contact = match self.non_penetration_stiffness {
            Some(_) => None,
            None => Some(spring(self.contact_compliance_m_n)),
        };
        let link = match self.links.stiffness {
            _ if self.links.limit == LinkLimit::None => None,
            Some(_) => None,
            None => Some(spring(self.links.compliance_m_n)),
        };
        [contact, link]
    }
}

impl Scene {
    /// Returns the springs of the scene's snow at its step, its spacing and number of iterations.
    pub fn snow_springs(&self, snow: &Snow) -> Springs {
        let [contact, link] = snow.springs_asked(self.snow_spacing_m());
        let dt2_over_mass = self.dt_s().powi(2) / self.particle_mass_kg();
        // Twice the largest eigenvalue of the stiffness of a particle among fixed neighbours bounds that of
        // all particles.
        let contacts = contact.unwrap_or(0.0) * MAX_CONTACTS / 3.0;
        let links = link.unwrap_or(0.0) * links_along_an_axis(f64::from(snow.links.most));
        let asked = 2.0 * (contacts + links) * dt2_over_mass;
        let largest = stable_stiffness(self.iterations());
        let softening = if asked > largest { largest / asked } else { 1.0 };
        let along = links_along_an_axis(f64::from(snow.links.most));
        let damping =
            softening * link.unwrap_or(0.0) * snow.links.damping_s * self.dt_s() / self.particle_mass_kg();
        let damping = damping.min(longest_damping(MAX_DAMPING_STAGES) / (2.0 * along));
        Springs {
            contact_n_m: contact.map(|spring| softening * spring),
            link_n_m: link.map(|spring| softening * spring),
            share: 1.0 / (1.0 + asked.min(largest)),
            damping,
            damping_stages: match damping > 0.0 {
                true => stages_of(2.0 * along * damping),
                false => 0,
            },
            softening,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the maximum of a + 2b over modes, and of the amplification of any of them in a step.
    fn worst(stiffness: f64, iterations: u32) -> [f64; 2] {
        let mut worst = [0.0_f64; 2];
        for mode in 1..=4000 {
            let s = stiffness * f64::from(mode) / 4000.0;
            let left = (1.0 - (1.0 + s) / (1.0 + stiffness)).powi(iterations as i32 - 1);
            let b = (1.0 - left) * s / (1.0 + s);
            let a = b + left * s;
            // Eigenvalues: z² − (2 − a − b) z + (1 − b) = 0.
            let (half, product) = (0.5 * (2.0 - a - b), 1.0 - b);
            let discriminant = half * half - product;
            let amplification = match discriminant < 0.0 {
                true => product.sqrt(),
                false => half.abs() + discriminant.sqrt(),
            };
            worst = [worst[0].max(a + 2.0 * b), worst[1].max(amplification)];
        }
        worst
    }

    #[test]
    fn a_step_is_stable_up_to_the_limit_for_any_number_of_iterations() {
        for iterations in 1..=100 {
            let [criterion, amplification] = worst(stable_stiffness(iterations), iterations);
            assert!(
                criterion <= 3.0 + 1e-9 && amplification <= 1.0 + 1e-12,
                "{iterations}: {criterion}, {amplification}"
            );
            // The limit is not far below where the step becomes unstable.
            let [_, beyond] = worst(2.5 * stable_stiffness(iterations), iterations);
            assert!(beyond > 1.01, "{iterations}: {beyond} at 2.5 times the limit");
        }
    }

    #[test]
    fn the_full_shells_of_a_lattice_are_isotropic() {
        // Σ n nᵀ is a third of the number of links: 18, and 26 with the space diagonals.
        assert_eq!(links_along_an_axis(18.0), 6.0);
        assert!((links_along_an_axis(26.0) - 26.0 / 3.0).abs() < 1e-12);
        assert_eq!(links_along_an_axis(1.0), 1.0);
    }
}
