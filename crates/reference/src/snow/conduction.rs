//! Heat conduction between particles (Chen2021 eq 6.1): harmonic mean of conductivities, twice that as
//! printed, or with an enthalpy Kirchhoff's transform; images behind walls and corrected second moments.

use super::{Correction, Kind, LatentHeat, Parameters, State};
use crate::fluid::{Image, dot, zip};
use crate::sph::Real;

/// ε of the correction's equations.
const REGULARIZATION: f32 = 0.01;

/// Squared distance in h below which a pair has no direction.
const MIN_Q2: f32 = 1e-12;

/// Returns the products of a vector's components in the order of a [`Correction`].
fn products([x, y, z]: [f32; 3]) -> [f32; 6] {
    [x * x, y * y, z * z, y * z, x * z, x * y]
}

/// Number of times that each element of a [`Correction`] is in its tensor.
const MULTIPLICITY: [f32; 6] = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];

impl State {
    /// Conducts heat at x* between all particles of both phases closer than h.
    pub fn conduct(&mut self, p: &Parameters) {
        let corrections = self.correct_conduction(p);
        let temperature_c = Kind::ALL.map(|kind| self[kind].temperature_c.clone());
        let flow = Kind::ALL.map(|kind| self.heat_flow_with(p, kind, &temperature_c, &corrections));
        let h2 = p.fluid.support_m * p.fluid.support_m;
        for ((kind, flow), correction) in Kind::ALL.into_iter().zip(flow).zip(corrections) {
            let phase = &mut self[kind];
            phase.correction = correction;
            let density_kg_m3 = p.fluid.rest_density_kg_m3 / p.volume(kind, 1.0);
            match p.heat.latent_heat {
                LatentHeat::Blending => {
                    let heat_capacity = density_kg_m3 * p.heat.capacity_j_kg_k(kind);
                    let rate = p.fluid.dt_s / (heat_capacity * h2) * p.heat.laplacian_scale;
                    for (temperature_c, flow) in phase.temperature_c.iter_mut().zip(flow) {
                        *temperature_c += rate * flow;
                    }
                }
                LatentHeat::Enthalpy { latent_j_kg } => {
                    let rate = p.fluid.dt_s / (density_kg_m3 * h2) * p.heat.laplacian_scale;
                    for (enthalpy_j_kg, flow) in phase.enthalpy_j_kg.iter_mut().zip(flow) {
                        *enthalpy_j_kg += rate * flow;
                    }
                    let temperature = |h: &f32| p.heat.temperature_c(latent_j_kg, *h);
                    phase.temperature_c = phase.enthalpy_j_kg.iter().map(temperature).collect();
                }
            }
        }
    }

    /// Computes the correction of each particle at x*, by phase; none without correction.
    pub fn correct_conduction(&self, p: &Parameters) -> [Vec<Correction>; 2] {
        if p.heat.max_correction.is_none() {
            return Default::default();
        }
        Kind::ALL.map(|kind| (0..self[kind].len()).map(|i| self.correction(p, kind, i)).collect())
    }

    fn correction(&self, p: &Parameters, kind: Kind, i: usize) -> Correction {
        // The particle itself has images, too.
        let near = self.candidates(p, kind, i).chain([(kind, i)]);
        let places = near.flat_map(|(kind_j, j)| {
            let places = self.places(p, (kind, i), (kind_j, j));
            places.into_iter().map(move |place| (place.offset_h, p.volume(kind_j, 1.0)))
        });
        correction_of(places, p.heat.laplacian_scale)
    }

    /// Returns Σ_j v_j k_ij (T_j − T_i) w_ij of each particle of a phase, in W/m, for temperatures of both
    /// phases, solid first: in f32 like the device, or in f64 as the reference for the same positions. With
    /// an enthalpy, k_ij (T_j − T_i) is the difference of ∫ k dT.
    pub fn heat_flow<T: Real>(&self, p: &Parameters, kind: Kind, temperature_c: &[Vec<T>; 2]) -> Vec<T> {
        self.heat_flow_with(p, kind, temperature_c, &self.correct_conduction(p))
    }

    fn heat_flow_with<T: Real>(
        &self,
        p: &Parameters,
        kind: Kind,
        temperature_c: &[Vec<T>; 2],
        corrections: &[Vec<Correction>; 2],
    ) -> Vec<T> {
        let temperature = |kind: Kind, i: usize| temperature_c[kind as usize][i];
        let number = |x: f32| T::from_f64(f64::from(x));
        let potential = |t: T| {
            let above = t - number(p.heat.freezing_c);
            let of = if above < number(0.0) { Kind::Solid } else { Kind::Fluid };
            above * number(p.heat.conductivity_w_m_k(of))
        };
        let flow = |i: usize| {
            let own = temperature(kind, i);
            self.candidates(p, kind, i).fold(number(0.0), |sum, (other, j)| {
                let weight = self.weight(p, corrections, (kind, i), (other, j));
                let neighbour = temperature(other, j);
                let flux = match p.heat.latent_heat {
                    LatentHeat::Enthalpy { .. } => potential(neighbour) - potential(own),
                    LatentHeat::Blending => {
                        let conductivity = p.heat.pair_conductivity_w_m_k(
                            p.heat.conductivity_w_m_k(kind),
                            p.heat.conductivity_w_m_k(other),
                        );
                        number(conductivity) * (neighbour - own)
                    }
                };
                sum + flux * number(p.volume(other, 1.0) * weight)
            })
        };
        (0..self[kind].len()).map(flow).collect()
    }

    /// Returns the places within h of particle `i` of a neighbour: its own, without reflection, and its
    /// images behind faces of the domain.
    fn places(&self, p: &Parameters, (kind, i): (Kind, usize), (other_kind, j): (Kind, usize)) -> Vec<Image> {
        let at =
            |kind: Kind, i: usize| (self[kind].predicted[i], p.fluid.grid.cell_from_index(self[kind].key[i]));
        let (own, other) = (at(kind, i), at(other_kind, j));
        let offset_h = zip(own.0, other.0, |a, b| (a - b) * (1.0 / p.fluid.support_m));
        let mut places = p.fluid.images(own, other);
        if dot(offset_h, offset_h) < 1.0 {
            places.insert(0, Image { offset_h, reflection: [1.0; 3], sides: [0; 3] });
        }
        places
    }

    /// Returns the weight of a pair, the same from either end: 1 − q, or its sum over all images of the other
    /// end, each times the mean correction of the ends.
    fn weight(
        &self,
        p: &Parameters,
        corrections: &[Vec<Correction>; 2],
        (kind, i): (Kind, usize),
        (other_kind, j): (Kind, usize),
    ) -> f32 {
        let Some(max_correction) = p.heat.max_correction else {
            let (own, other) = (self[kind].predicted[i], self[other_kind].predicted[j]);
            let offset_h = zip(own, other, |a, b| (a - b) * (1.0 / p.fluid.support_m));
            return 1.0 - dot(offset_h, offset_h).sqrt().min(1.0);
        };
        let (own, other) = (&corrections[kind as usize][i], &corrections[other_kind as usize][j]);
        let places = self.places(p, (kind, i), (other_kind, j)).into_iter();
        places.map(|place| corrected_weight(&place, own, other, max_correction)).sum()
    }
}

/// Returns the correction of a particle from the offsets in h of its neighbours and their images, and the
/// volumes of these over that of which the scale of the Laplacian is.
pub(crate) fn correction_of(
    neighbours: impl Iterator<Item = ([f32; 3], f32)>,
    laplacian_scale: f32,
) -> Correction {
    let mut fourth = [[0.0f32; 6]; 6];
    for (offset_h, volume) in neighbours {
        let q2 = dot(offset_h, offset_h);
        if q2 < MIN_Q2 {
            continue;
        }
        let weight = volume * (1.0 - q2.sqrt()) / q2;
        let products = products(offset_h);
        for (row, a) in fourth.iter_mut().zip(products) {
            for (element, b) in row.iter_mut().zip(products) {
                *element += weight * a * b;
            }
        }
    }
    // (A + ε)(B − 1) = 1 − A 1, with elements off the diagonal of a tensor counted twice.
    let half = 0.5 * laplacian_scale;
    let element = |a: usize, b: usize| {
        let epsilon = if a == b { REGULARIZATION * MULTIPLICITY[a] } else { 0.0 };
        MULTIPLICITY[a] * MULTIPLICITY[b] * (half * fourth[a][b]) + epsilon
    };
    let right = |a: usize| {
        let second = half * (fourth[a][0] + fourth[a][1] + fourth[a][2]);
        MULTIPLICITY[a] * (if a < 3 { 1.0 } else { 0.0 } - second)
    };
    let system =
        std::array::from_fn(|a| std::array::from_fn(|b| if b < 6 { element(a, b) } else { right(a) }));
    let solution = solve(system);
    std::array::from_fn(|a| solution[a] + if a < 3 { 1.0 } else { 0.0 })
}

/// Returns the weight of a neighbour at a place, with the corrections of both ends.
pub(crate) fn corrected_weight(
    Image { offset_h, reflection, .. }: &Image,
    own: &Correction,
    other: &Correction,
    max_correction: f32,
) -> f32 {
    let along = |correction: &Correction, v: [f32; 3], q2: f32| {
        if q2 < MIN_Q2 {
            return 1.0;
        }
        let terms = products(v).into_iter().zip(MULTIPLICITY).zip(correction);
        let form: f32 = terms.map(|((product, n), b)| n * b * product).sum();
        (form / q2).clamp(0.0, max_correction)
    };
    let q2 = dot(*offset_h, *offset_h);
    let reflected = zip(*offset_h, *reflection, |a, b| a * b);
    let ends = along(own, *offset_h, q2) + along(other, reflected, q2);
    (1.0 - q2.sqrt()) * (0.5 * ends)
}

/// Solves a symmetric, positive definite system by elimination; the last column is its right side.
fn solve(mut system: [[f32; 7]; 6]) -> [f32; 6] {
    for k in 0..6 {
        let pivot = system[k];
        for row in &mut system[k + 1..] {
            let factor = row[k] / pivot[k];
            for (element, above) in row.iter_mut().zip(pivot) {
                *element -= factor * above;
            }
        }
    }
    let mut solution = [0.0; 6];
    for k in (0..6).rev() {
        let known: f32 = (k + 1..6).map(|j| system[k][j] * solution[j]).sum();
        solution[k] = (system[k][6] - known) / system[k][k];
    }
    solution
}
