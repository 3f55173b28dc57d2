//! The law of a contact.

use glam::DVec3;

/// The numbers of the method, in SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Δt.
    pub dt_s: f64,
    /// Acceleration of free fall.
    pub gravity: DVec3,
    /// Corners of the domain.
    pub domain: [DVec3; 2],
    /// Of what grains are made of.
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
    /// μ on the walls of the domain.
    pub wall_friction: f64,
    /// Attraction of grains that touch, in N, and the gap over which it falls to nothing, in m.
    pub cohesion: (f64, f64),
    /// The same towards a terrain.
    pub adhesion: (f64, f64),
    /// Bonds, where they form.
    pub bonds: Option<Bonds>,
}

/// Freeze bonds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bonds {
    /// Breaks one in tension, in N.
    pub strength: f64,
    /// Breaks one along the contact, in N.
    pub shear_strength: f64,
    /// They form below this speed in m/s,
    pub below: f64,
    /// after this time in s.
    pub after: f64,
}

/// β of a rebound with restitution e: e = exp(−πβ/√(1 − β²)).
pub fn damping_ratio(restitution: f64) -> f64 {
    let log = restitution.ln();
    -log / (std::f64::consts::PI.powi(2) + log * log).sqrt()
}

/// What a contact remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactHistory {
    /// The spring along the surface, in m.
    pub shear: DVec3,
    /// The spring against rolling and twisting, in rad.
    pub rolling: DVec3,
    /// For how long it has been slow enough to freeze, in s; of a bond 0.
    pub slow: f64,
    /// True for a bond.
    pub is_bonded: bool,
}

/// A contact as one end sees it.
#[derive(Clone, Copy, Debug)]
pub struct ContactKinematics {
    /// From the other to this one.
    pub normal: DVec3,
    /// δ in m; below 0 a gap.
    pub overlap: f64,
    /// Of this one's surface against the other's.
    pub velocity: DVec3,
    /// ω of this one less that of the other.
    pub spin: DVec3,
    /// m*.
    pub mass: f64,
    /// R*.
    pub radius: f64,
    /// Of both about the contact, m r² + I, as springs in a row.
    pub rolling_inertia: f64,
    /// e.
    pub restitution: f64,
    /// μ.
    pub friction: f64,
    /// Attraction at no gap in N, and the gap at which it ends in m.
    pub attraction: (f64, f64),
    /// True if it may freeze.
    pub may_bond: bool,
}

/// What a contact does to this end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactForce {
    /// Force along the normal.
    pub across: DVec3,
    /// Force along the surface.
    pub along: DVec3,
    /// Torque against rolling and twisting.
    pub couple: DVec3,
    /// What it remembers, if it goes on.
    pub history: Option<ContactHistory>,
}

/// Share of critical damping of the spring against rolling.
const ROLLING_DAMPING: f64 = 0.3;

fn cut(force: DVec3, most: f64) -> DVec3 {
    force.clamp_length_max(most)
}

/// Forces of a contact, and what it then remembers (Gucer2010 eq 3.3 to 3.11).
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
    let parting = c.velocity.dot(c.normal);
    let sliding = in_plane(c.velocity);
    let damping = 2.0 * damping_ratio(c.restitution) * (c.mass * p.normal_stiffness).sqrt();
    let pressed = p.normal_stiffness * c.overlap - damping * parting;
    let along_damping = p.tangential_damping_ratio * damping;
    let mut shear = in_plane(history.shear) + p.dt_s * sliding;
    let mut along = -p.tangential_stiffness * shear - along_damping * sliding;
    let mut slow = history.slow;
    if let Some(bonds) = p.bonds.filter(|_| c.may_bond) {
        if is_bonded {
            is_bonded = -p.normal_stiffness * c.overlap <= bonds.strength
                && p.tangential_stiffness * shear.length() <= bonds.shear_strength;
            if !is_bonded && c.overlap < 0.0 {
                return pulled;
            }
        } else {
            slow = if c.velocity.length() <= bonds.below { slow + p.dt_s } else { 0.0 };
        }
    }
    let load = pressed.max(0.0);
    if !is_bonded && along.length() > c.friction * load {
        along = cut(along, c.friction * load);
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
        if couple.length() > arm * load {
            couple = cut(couple, arm * load);
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
    ContactForce {
        across: pulled.across + pressed * c.normal,
        along,
        couple,
        history: Some(ContactHistory { shear, rolling, slow, is_bonded }),
    }
}
