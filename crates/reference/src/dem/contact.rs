//! Contact law of the discrete element method.

use crate::sources::Sources;
use glam::DVec3;

use super::oscillator::Oscillator;

/// Parameters of the method, in SI units.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Δt.
    pub dt_s: f64,
    /// Acceleration of free fall.
    pub gravity: DVec3,
    /// Corners of the domain.
    pub domain: [DVec3; 2],
    /// Density of the material of the grains.
    pub density: f64,
    /// k_n.
    pub normal_stiffness: f64,
    /// k_t.
    pub tangential_stiffness: f64,
    /// c_t/c_n.
    pub tangential_damping_ratio: f64,
    /// e between grains.
    pub restitution: f64,
    /// μ between grains.
    pub friction: f64,
    /// μ_r.
    pub rolling_friction: f64,
    /// e on surfaces.
    pub wall_restitution: f64,
    /// μ on the lower and on the upper walls of the domain, by axis.
    pub wall_friction: [[f64; 3]; 2],
    /// True for the lower and the upper walls, by axis, that coincide with a body, which is the wall there.
    pub wall_is_body: [[bool; 3]; 2],
    /// Attraction between touching grains in N, and the gap in m over which it falls to 0.
    pub cohesion: (f64, f64),
    /// Attraction to a terrain, like `cohesion`.
    pub adhesion: (f64, f64),
    /// Deceleration by the turbulent drag over the square of the speed, in 1/m.
    pub turbulent_drag: f64,
    /// Freeze bonds, if they can form.
    pub bonds: Option<Bonds>,
    /// Weak layer between grains and terrains.
    pub layer: Option<WeakLayer>,
    /// Emitters.
    pub sources: Sources,
    /// Of emitted grains: mean radius in m, half of the width of the distribution over it, and half of the
    /// distance in m between the points at which they appear.
    pub emitted_radius: [f32; 3],
}

/// Bonds of grains to a terrain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeakLayer {
    /// Tensile strength in N.
    pub strength: f64,
    /// Shear strength in N.
    pub shear_strength: f64,
    /// Last step, counted from 1, in which they form.
    pub forms_until: u64,
    /// Step from which none holds within the circle.
    pub fails_at: u64,
    /// Centre of that circle along the two horizontal axes, in m.
    pub centre: [f64; 2],
    /// Its radius in m.
    pub radius: f64,
    /// Vertical axis.
    pub up_axis: usize,
}

impl WeakLayer {
    /// Returns true if it holds a grain at `x` in a step, counted from 1.
    pub fn holds(&self, x: DVec3, step: u64) -> bool {
        let [a, b] = if self.up_axis == 1 { [x.x, x.z] } else { [x.x, x.y] };
        let is_inside = (a - self.centre[0]).hypot(b - self.centre[1]) <= self.radius;
        !is_inside || step < self.fails_at
    }
}

/// Freeze bonds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bonds {
    /// Tensile strength in N.
    pub strength: f64,
    /// Shear strength in N.
    pub shear_strength: f64,
    /// Maximum relative speed in m/s at which bonds form.
    pub below: f64,
    /// Time in s after which a slow contact becomes a bond.
    pub after: f64,
    /// Last step, counted from 1, in which they form.
    pub forms_until: u64,
}

/// Returns β for a rebound with restitution e: e = exp(−πβ/√(1 − β²)).
pub fn damping_ratio(restitution: f64) -> f64 {
    let log = restitution.ln();
    -log / (std::f64::consts::PI.powi(2) + log * log).sqrt()
}

/// State of a contact from step to step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactHistory {
    /// Tangential spring, in m.
    pub shear: DVec3,
    /// Rolling and twisting spring, in rad.
    pub rolling: DVec3,
    /// Time for which the contact has been slow enough to freeze, in s; 0 for a bond.
    pub slow: f64,
    /// True for a bond.
    pub is_bonded: bool,
    /// Phase: new, held, or with a rebound that has ended.
    pub phase: Phase,
}

/// Phase of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has no previous step.
    #[default]
    New,
    /// It has one.
    Held,
    /// Its rebound has ended: without a force until its ends approach again.
    Ended,
}

/// Kinematics of a contact as seen from one end.
#[derive(Clone, Copy, Debug)]
pub struct ContactKinematics {
    /// Unit normal from the other end to this one.
    pub normal: DVec3,
    /// δ in m; negative for a gap.
    pub overlap: f64,
    /// Velocity of this surface relative to the other at the contact.
    pub velocity: DVec3,
    /// ω of this end minus ω of the other.
    pub spin: DVec3,
    /// m*.
    pub mass: f64,
    /// R*.
    pub radius: f64,
    /// Rotational inertia m r² + I of both ends about the contact, combined in series.
    pub rolling_inertia: f64,
    /// e.
    pub restitution: f64,
    /// μ.
    pub friction: f64,
    /// Attraction at zero gap in N, and the gap at which it ends in m.
    pub attraction: (f64, f64),
    /// True if the contact may freeze.
    pub may_bond: bool,
    /// Tensile and shear strength in N of a bond at the contact.
    pub strength: [f64; 2],
    /// True for a bond that yields in shear at its strength, as snow that sinters does, in place of failing.
    pub bond_yields: bool,
}

/// Force and torque of a contact on this end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactForce {
    /// Normal force.
    pub across: DVec3,
    /// Tangential force.
    pub along: DVec3,
    /// Rolling and twisting torque.
    pub couple: DVec3,
    /// State for the next step; none if the contact ends.
    pub history: Option<ContactHistory>,
}

/// Damping ratio of the rolling spring.
const ROLLING_DAMPING: f64 = 0.3;

fn cut(force: DVec3, most: f64) -> DVec3 {
    force.clamp_length_max(most)
}

/// Returns the forces of a contact and its new state (Gucer2010 eq 3.3 to 3.11).
pub fn evaluate_contact(p: &Parameters, c: &ContactKinematics, history: ContactHistory) -> ContactForce {
    let (attraction, range) = c.attraction;
    let share = match () {
        () if c.overlap >= 0.0 => 1.0,
        () if range > 0.0 => (1.0 + c.overlap / range).max(0.0),
        () => 0.0,
    };
    let pulled = ContactForce { across: -attraction * share * c.normal, ..Default::default() };
    let mut is_bonded = history.is_bonded;
    if c.overlap < 0.0 && !is_bonded {
        return pulled;
    }
    let in_plane = |v: DVec3| v - v.dot(c.normal) * c.normal;
    let separation_m_s = c.velocity.dot(c.normal);
    let sliding = in_plane(c.velocity);
    if history.phase == Phase::Ended && separation_m_s > 0.0 && !is_bonded {
        let history = ContactHistory { phase: Phase::Ended, ..ContactHistory::default() };
        return ContactForce { history: Some(history), ..pulled };
    }
    let oscillator = Oscillator::new(damping_ratio(c.restitution), c.mass, p.normal_stiffness, p.dt_s);
    let damping = oscillator.damping_n_s_m;
    let is_new = history.phase == Phase::New;
    let pressed = oscillator.normal_force(c.overlap, separation_m_s, is_new, is_bonded);
    let phase = if pressed.has_ended { Phase::Ended } else { Phase::Held };
    let along_damping = p.tangential_damping_ratio * damping;
    let mut shear = in_plane(history.shear) + p.dt_s * sliding;
    let mut along = -p.tangential_stiffness * shear - along_damping * sliding;
    let mut slow = history.slow;
    if is_bonded {
        let [tensile, shearing] = c.strength;
        let is_torn = -p.normal_stiffness * c.overlap > tensile;
        let is_sheared = p.tangential_stiffness * shear.length() > shearing;
        is_bonded = !is_torn && (c.bond_yields || !is_sheared);
        if !is_bonded && c.overlap < 0.0 {
            return pulled;
        }
    } else if let Some(bonds) = p.bonds.filter(|_| c.may_bond) {
        slow = if c.velocity.length() <= bonds.below { slow + p.dt_s } else { 0.0 };
    }
    let limit = match is_bonded {
        true if c.bond_yields => c.strength[1],
        true => f64::INFINITY,
        false => c.friction * pressed.load,
    };
    if along.length() > limit {
        along = cut(along, limit);
        shear = match p.tangential_stiffness {
            0.0 => DVec3::ZERO,
            stiffness => -(along + along_damping * sliding) / stiffness,
        };
    }
    let (mut rolling, mut couple) = (history.rolling, DVec3::ZERO);
    if p.rolling_friction > 0.0 {
        let arm = p.rolling_friction * c.radius;
        let stiffness = 2.25 * p.normal_stiffness * arm * arm;
        rolling += p.dt_s * c.spin;
        couple = -stiffness * rolling;
        if couple.length() > arm * pressed.load {
            couple = cut(couple, arm * pressed.load);
            rolling = -couple / stiffness;
        } else {
            couple -= 2.0 * ROLLING_DAMPING * (c.rolling_inertia * stiffness).sqrt() * c.spin;
        }
    }
    if let Some(bonds) = p.bonds.filter(|_| c.may_bond && !is_bonded)
        && slow > 0.0
        && slow >= bonds.after
    {
        (slow, is_bonded) = (0.0, true);
    }
    if pressed.has_ended {
        slow = 0.0;
    }
    ContactForce {
        across: pulled.across + pressed.force * c.normal,
        along,
        couple,
        history: Some(ContactHistory { shear, rolling, slow, is_bonded, phase }),
    }
}
