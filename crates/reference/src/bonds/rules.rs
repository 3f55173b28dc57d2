//! Twins of the rules of `glsl/bond_rules`.

use super::{Bond, Bonds, Particles, distance2_m2, mark_broken_bonds, update_bonds};

/// Updates plastic springs: the rest length flows where a spring is stretched or compressed beyond its yield
/// length. State: the accumulated plastic change of length in m, and the age in steps.
pub fn update_plastic_springs(
    bonds: &mut Bonds,
    position: &[[f32; 3]],
    plasticity_dt: f32,
    yield_ratio: f32,
) {
    update_bonds(bonds, |i, bond| {
        let length_m = distance2_m2(position[i], position[bond.partner as usize]).sqrt();
        let rest_m = bond.rest_length_m;
        let beyond_m = (length_m - rest_m).abs() - yield_ratio * rest_m;
        if beyond_m > 0.0 {
            let change_m = plasticity_dt * beyond_m;
            let flowed_m = if length_m > rest_m { rest_m + change_m } else { rest_m - change_m };
            bond.rest_length_m = flowed_m.max(0.0);
            bond.state[0] = (f32::from_bits(bond.state[0]) + change_m).to_bits();
        }
        bond.state[1] += 1;
    });
}

/// Returns the keep masks of springs: one longer than `max_length_m` is removed.
pub fn mark_long_springs(
    bonds: &Bonds,
    particles: &Particles,
    max_bonds: u32,
    max_length_m: f32,
) -> Vec<Vec<bool>> {
    mark_broken_bonds(bonds, particles, max_bonds, |i, bond| {
        let is_whole = particles.distance2_m2(i, bond.partner as usize) <= max_length_m * max_length_m;
        !is_whole
    })
}

/// Returns the keep masks of springs: one whose rest length exceeds `max_rest_m` is removed.
pub fn mark_flowed_springs(
    bonds: &Bonds,
    particles: &Particles,
    max_bonds: u32,
    max_rest_m: f32,
) -> Vec<Vec<bool>> {
    mark_broken_bonds(bonds, particles, max_bonds, |_, bond| {
        let is_short = bond.rest_length_m <= max_rest_m;
        !is_short
    })
}

/// One iteration of springs as compliant constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringSolve {
    /// Column of the multiplier, in kg m.
    pub multiplier_column: usize,
    /// True for the first iteration of a step, which starts with multipliers of 0.
    pub is_first: bool,
    /// Share of the correction applied per iteration.
    pub gain: f32,
    /// α/Δt² in m/(N s²).
    pub compliance_dt2: f32,
    /// Inverse mass of a particle in 1/kg.
    pub inverse_mass: f32,
}

/// Returns the displacement of each particle by one iteration, in m.
pub fn solve_springs(bonds: &mut Bonds, position: &[[f32; 3]], solve: &SpringSolve) -> Vec<[f32; 3]> {
    let mut displacement = vec![[0.0f32; 3]; position.len()];
    update_bonds(bonds, |i, bond: &mut Bond| {
        let word = &mut bond.state[solve.multiplier_column];
        let mut multiplier = if solve.is_first { 0.0 } else { f32::from_bits(*word) };
        let (own, other) = (position[i], position[bond.partner as usize]);
        let length2_m2 = distance2_m2(own, other);
        if length2_m2 > 0.0 {
            let length_m = length2_m2.sqrt();
            let stretch_m = length_m - bond.rest_length_m;
            let unsatisfied_m = -stretch_m - solve.compliance_dt2 * multiplier;
            let change = solve.gain * unsatisfied_m / (2.0 * solve.inverse_mass + solve.compliance_dt2);
            let scale = solve.inverse_mass * change / length_m;
            for axis in 0..3 {
                displacement[i][axis] += scale * (own[axis] - other[axis]);
            }
            multiplier += change;
        }
        *word = multiplier.to_bits();
    });
    displacement
}

/// Rule by which contacts of grains freeze and end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreezeRule {
    /// Δt in s.
    pub dt_s: f32,
    /// Relative speed in m/s up to which a contact counts as slow.
    pub slow_m_s: f32,
    /// Time in s after which a slow contact freezes.
    pub freeze_after_s: f32,
    /// Distance in m beyond which an unfrozen contact ends.
    pub contact_m: f32,
    /// Ratio of length to rest length beyond which a frozen contact breaks.
    pub break_ratio: f32,
}

/// Freezes contacts that have been slow for long enough. State: 1 if frozen, and the time for which it has
/// been slow in s.
pub fn update_freeze_bonds(bonds: &mut Bonds, velocity: &[[f32; 3]], rule: &FreezeRule) {
    update_bonds(bonds, |i, bond| {
        if bond.state[0] != 0 {
            return;
        }
        let speed2 = distance2_m2(velocity[i], velocity[bond.partner as usize]);
        let is_slow = speed2 <= rule.slow_m_s * rule.slow_m_s;
        let slow_s = if is_slow { f32::from_bits(bond.state[1]) + rule.dt_s } else { 0.0 };
        bond.state[1] = slow_s.to_bits();
        bond.state[0] = u32::from(slow_s >= rule.freeze_after_s);
    });
}

/// Returns the keep masks of unfrozen contacts that have ended and of frozen ones that are overstretched.
pub fn mark_broken_freeze_bonds(
    bonds: &Bonds,
    particles: &Particles,
    max_bonds: u32,
    rule: &FreezeRule,
) -> Vec<Vec<bool>> {
    mark_broken_bonds(bonds, particles, max_bonds, |i, bond| {
        let is_frozen = bond.state[0] != 0;
        let max_m = if is_frozen { rule.break_ratio * bond.rest_length_m } else { rule.contact_m };
        let is_whole = particles.distance2_m2(i, bond.partner as usize) <= max_m * max_m;
        !is_whole
    })
}
