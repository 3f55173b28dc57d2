//! Feedback of a particle's strain on itself (Breekveldt2017 sec 4.1): the factor by which a step multiplies
//! the strain of a lone particle, in theory and on the device, and the strain of a block in free flight.
//!
//! A lone particle of mass m and volume V with the stress σ moves its nodes by −Δt V σ ∇w/(w m), and takes
//! ∇v = −(Δt/ρ) σ A from them, with A = Σ ∇w ∇wᵀ/w. The products of splines make A diagonal, with a(f)/h² for
//! the place f of the particle between nodes along each axis. Under equal strain ε along all D axes σ is
//! (2μ + D λ) ε, so that with the Courant number C = c Δt/h and κ = (2μ + D λ)/(λ + 2μ)
//!
//! - PIC and FLIP, which keep no ∇v: ε' = (1 − κ C² a) ε;
//! - APIC, which keeps c = Δt C: ε' = ε + c − κ C² a ε, c' = c − 3 κ C² ε;
//! - MLS: the same with 3, the inverse inertia of the spline in 1/h², for a.
//!
//! With a mass cut-off the sum A is over the nodes above it.

use super::fit::{least_squares, line};
use super::lab::{Grain, Sample, cube, empty_space, norm, rotation};
use frazil_engine::Failure;
use frazil_scene::{Material, Mpm as Section, Transfer};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

/// Inverse inertia of the cubic spline in 1/h².
const INVERSE_INERTIA: f64 = 3.0;

/// Distance of a particle from the walls and from the next one in cells.
const ROOM_CELLS: f64 = 12.0;

/// Strain at the start: far above the rounding of 1, 6·10⁻⁸, and small enough that the response is linear.
const SEED: f64 = 1e-4;
/// Bounds of the strains from which a factor is measured.
const MEASURED: [f64; 2] = [1e-6, 1e-3];
/// Share of a cell's mass that a particle has.
const PARTICLE_SHARE: f64 = 1.0 / 8.0;
/// Particles along a side of the block, two per cell.
const BLOCK_SIDE: u32 = 8;
/// Strain at the start of a block's particles, and the one up to which its growth is measured.
const BLOCK_SEED: f64 = 1e-5;
const BLOCK_MEASURED: f64 = 1e-2;
/// Stretch that a particle must reach for a factor to be reported: the sum of the rounding of some hundred
/// steps is below.
const MIN_GROWN: f64 = 1e-4;

/// Returns a(f) = h² Σ (∂w/∂x)²/w along one axis for a particle at f cells past a node: 3 at a node, at
/// most 3.14 between.
pub fn stiffness_of_place(f: f64) -> f64 {
    let pair = |e: f64| {
        let (inner, outer) = (((1.0 + e).powi(3) - 4.0 * e.powi(3)) / 6.0, e.powi(3) / 6.0);
        let slope = 0.5 * ((1.0 + e).powi(2) - 4.0 * e * e);
        // The slope of the outer node is e²/2: its share vanishes with e, although its mass does too.
        let far = if outer > 0.0 { (0.5 * e * e).powi(2) / outer } else { 0.0 };
        slope * slope / inner + far
    };
    pair(f) + pair(1.0 - f)
}

/// Returns a of a section for a particle at f cells past a node along all axes, without the nodes below the
/// mass cut-off.
pub fn stiffness(section: &Section, f: f64) -> f64 {
    if section.node_mass_cutoff == 0.0 {
        return stiffness_of_place(f);
    }
    // Weight and slope of the four nodes.
    let axis = [f + 1.0, f, 1.0 - f, 2.0 - f].map(|r: f64| {
        let (near, far) = ((1.0 - r).max(0.0), 2.0 - r);
        ((far.powi(3) - 4.0 * near.powi(3)) / 6.0, 0.5 * (far * far - 4.0 * near * near))
    });
    let mut a = 0.0;
    for (x, slope) in axis {
        for (y, _) in axis {
            for (z, _) in axis {
                if x * y * z * PARTICLE_SHARE > section.node_mass_cutoff {
                    a += slope * slope / x * y * z;
                }
            }
        }
    }
    a
}

/// Returns κ, the stress of equal strain along D axes over that of strain along one.
pub fn stress_ratio(material: &Material, dimensions: u32) -> f64 {
    let (mu, lambda) = material.lame_pa();
    (2.0 * mu + f64::from(dimensions) * lambda) / (lambda + 2.0 * mu)
}

/// Returns the factor |ε'/ε| of a step in theory, at κ C² and a.
pub fn factor(transfer: Transfer, gain: f64, a: f64) -> f64 {
    let a = if transfer == Transfer::Mls { INVERSE_INERTIA } else { a };
    match transfer {
        Transfer::PicFlip => (1.0 - gain * a).abs(),
        Transfer::Apic | Transfer::Mls => largest_root(2.0 - gain * a, -(1.0 - gain * (a - INVERSE_INERTIA))),
    }
}

/// Returns the Courant number at which the factor reaches 1 from below, a eigenvalue being −1.
pub fn threshold(transfer: Transfer, kappa: f64, a: f64) -> f64 {
    let gain = match transfer {
        Transfer::PicFlip => 2.0 / a,
        Transfer::Apic => 4.0 / (2.0 * a - INVERSE_INERTIA),
        Transfer::Mls => 4.0 / INVERSE_INERTIA,
    };
    (gain / kappa).sqrt()
}

/// Returns the largest modulus of the solutions of z² = t z + b.
fn largest_root(t: f64, b: f64) -> f64 {
    let discriminant = t * t + 4.0 * b;
    if discriminant < 0.0 { (-b).sqrt() } else { 0.5 * (t.abs() + discriminant.sqrt()) }
}

/// Measures the factor per step of lone particles at rest, with equal strain along all axes, at offsets from
/// a node in cells: none where strain leaves the measured range at once.
pub fn measured(
    device: &Device,
    section: &Section,
    courant: f64,
    offsets: &[f64],
    steps: u64,
) -> Result<Vec<Option<f64>>, Failure> {
    let h = section.cell_size_m;
    // Yield would bound the growth.
    let section =
        Section { material: Material { plastic: false, ..section.material.clone() }, ..section.clone() };
    let grains: Vec<Grain> = offsets
        .iter()
        .enumerate()
        .map(|(k, offset)| {
            let row = 8.0 + ROOM_CELLS * k as f64;
            let at = h * (DVec3::new(8.0, row, 8.0) + DVec3::splat(*offset));
            Grain { elastic: (1.0 + SEED) * DMat3::IDENTITY, ..particle(&section, at) }
        })
        .collect();
    let space = empty_space([16.0 * h, h * (ROOM_CELLS * offsets.len() as f64 + 16.0), 16.0 * h]);
    let mut sample = Sample::strained(device, &section, dt_s(&section, courant), space, &grains)?;
    let mut strains = vec![vec![SEED]; offsets.len()];
    for _ in 0..steps {
        if sample.try_step(1)?.is_some() {
            break;
        }
        for (history, f) in strains.iter_mut().zip(&sample.elastic()?) {
            history.push((f.x_axis.x + f.y_axis.y + f.z_axis.z - 3.0) / f64::from(section.dimensions));
        }
    }
    Ok(strains.iter().map(|history| fitted(section.transfer, history)).collect())
}

/// Fits the factor per step to the strains of a particle.
fn fitted(transfer: Transfer, strains: &[f64]) -> Option<f64> {
    let upper = strains.iter().position(|x| x.abs() > MEASURED[1]).unwrap_or(strains.len() - 1);
    let strains = &strains[..=upper];
    if transfer == Transfer::PicFlip {
        let pairs = strains.windows(2).filter(|pair| pair[0].abs() > MEASURED[0]);
        let (product, square) = pairs.fold((0.0, 0.0), |(p, s), x| (p + x[0] * x[1], s + x[0] * x[0]));
        return (square > 0.0).then_some((product / square).abs());
    }
    // Two unknowns, ε and c, of which ε is known: it follows from its two values before.
    let rows: Vec<([f64; 2], f64)> = strains.windows(3).map(|x| ([x[1], x[0]], x[2])).collect();
    let ([t, b], _) = least_squares(&rows)?;
    Some(largest_root(t, b))
}

/// Growth of the strain of a lone drifting particle by rounding alone.
pub struct Grown {
    /// Factor per step, if the stretch ‖F − R‖ grows beyond [`MIN_GROWN`].
    pub factor: Option<f64>,
    pub largest_stretch: f64,
}

/// Measures a particle that drifts along x at a speed in m/s, at an offset from the rows of nodes in cells.
pub fn drifting(
    device: &Device,
    section: &Section,
    courant: f64,
    speed_m_s: f64,
    offset: f64,
    steps: u64,
) -> Result<Grown, Failure> {
    let (h, dt) = (section.cell_size_m, dt_s(section, courant));
    let at = h * DVec3::splat(8.0 + offset);
    let grain = Grain { velocity_m_s: speed_m_s * DVec3::X, ..particle(section, at) };
    let far = 2.0 * speed_m_s * dt * (steps + 1) as f64 + 16.0 * h;
    let mut sample = Sample::new(device, section, dt, empty_space([far, 16.0 * h, 16.0 * h]), &[grain])?;
    let mut stretches = Vec::new();
    for step in 1..=steps {
        sample.step(1)?;
        let f = sample.elastic()?[0];
        stretches.push((step as f64, norm(f - rotation(f))));
    }
    let largest_stretch = stretches.iter().fold(0.0, |max: f64, (_, s)| max.max(*s));
    let first = stretches.iter().find(|(_, s)| *s > 0.0).map_or(0.0, |(_, s)| *s);
    // Below, it is the sum of the steps' rounding, which also grows.
    let factor = (largest_stretch > MIN_GROWN).then(|| {
        let grown = stretches.iter().position(|(_, s)| *s > MEASURED[1]).unwrap_or(stretches.len());
        let logs: Vec<(f64, f64)> =
            stretches[..grown].iter().filter(|(_, s)| *s > 3.0 * first).map(|(n, s)| (*n, s.ln())).collect();
        line(&logs).map(|fit| fit.slope.exp())
    });
    Ok(Grown { factor: factor.flatten(), largest_stretch })
}

/// Largest values over the particles of a block at a step.
pub struct Layer {
    pub step: u64,
    /// True for the outermost particles.
    pub is_surface: bool,
    /// ‖∇v‖ in 1/s.
    pub velocity_gradient: f64,
    /// ‖F − R‖.
    pub stretch: f64,
}

/// Returns a block of 4³ cells, 8³ particles, at an offset from the nodes in cells.
fn block_of(section: &Section, offset: f64) -> Vec<Grain> {
    let h = section.cell_size_m;
    let corner = h * DVec3::splat(8.0 + offset);
    cube(3, corner, 4.0 * h, BLOCK_SIDE, section.material.density_kg_m3)
}

/// Returns true for the outermost particles of the block.
fn is_on_surface(i: usize) -> bool {
    let n = BLOCK_SIDE as usize;
    [i % n, i / n % n, i / (n * n)].iter().any(|k| *k == 0 || *k == n - 1)
}

/// Measures a block that flies along x at a speed in m/s.
pub fn block(
    device: &Device,
    section: &Section,
    courant: f64,
    speed_m_s: f64,
    offset: f64,
    steps: &[u64],
) -> Result<Vec<Layer>, Failure> {
    let (h, dt) = (section.cell_size_m, dt_s(section, courant));
    let mut grains = block_of(section, offset);
    grains.iter_mut().for_each(|grain| grain.velocity_m_s = speed_m_s * DVec3::X);
    let last = steps.last().copied().unwrap_or(0);
    let far = 2.0 * speed_m_s * dt * (last + 1) as f64 + 24.0 * h;
    let mut sample = Sample::new(device, section, dt, empty_space([far, 24.0 * h, 24.0 * h]), &grains)?;
    let mut layers = Vec::new();
    for step in steps {
        sample.step(step - 1 - sample.mpm.step())?;
        let before = sample.grains()?;
        sample.step(1)?;
        let after = sample.grains()?;
        let mut largest = [[0.0_f64; 2]; 2];
        for (i, (before, after)) in before.iter().zip(&after).enumerate() {
            let change = after.elastic * before.elastic.inverse() - DMat3::IDENTITY;
            let of = &mut largest[usize::from(is_on_surface(i))];
            of[0] = of[0].max(norm(change) / dt);
            of[1] = of[1].max(norm(after.elastic - rotation(after.elastic)));
        }
        layers.extend([true, false].map(|is_surface| {
            let [velocity_gradient, stretch] = largest[usize::from(is_surface)];
            Layer { step: *step, is_surface, velocity_gradient, stretch }
        }));
    }
    Ok(layers)
}

/// Growth of the largest stretch of a block per step, of its surface and inside.
pub struct Growth {
    pub surface: f64,
    pub inside: f64,
    /// Largest stretch of the surface over that inside at the end.
    pub ratio: f64,
}

/// Measures a block at rest that does not yield, with different small strains of all particles.
pub fn strained_block(
    device: &Device,
    section: &Section,
    courant: f64,
    offset: f64,
    steps: u64,
) -> Result<Growth, Failure> {
    let section =
        Section { material: Material { plastic: false, ..section.material.clone() }, ..section.clone() };
    let mut grains = block_of(&section, offset);
    for (i, grain) in grains.iter_mut().enumerate() {
        let turn = |prime: f64| (prime * (i + 1) as f64).sin();
        let strain = DVec3::new(turn(12.9898), turn(78.233), turn(37.719));
        grain.elastic = DMat3::from_diagonal(DVec3::ONE + BLOCK_SEED * strain);
    }
    let space = empty_space([24.0 * section.cell_size_m; 3]);
    let mut sample = Sample::strained(device, &section, dt_s(&section, courant), space, &grains)?;
    let mut largest = Vec::new();
    for step in 1..=steps {
        if sample.try_step(1)?.is_some() {
            break;
        }
        let mut now = [0.0_f64; 2];
        for (i, f) in sample.elastic()?.into_iter().enumerate() {
            let stretch = norm(f - rotation(f));
            let of = &mut now[usize::from(is_on_surface(i))];
            *of = of.max(stretch);
        }
        if now[0].max(now[1]) >= BLOCK_MEASURED {
            break;
        }
        largest.push((step as f64, now));
    }
    // The mode that grows fastest prevails in the second half.
    let late = &largest[largest.len() / 2..];
    let factor = |layer: usize| {
        let logs: Vec<(f64, f64)> = late.iter().map(|(step, now)| (*step, now[layer].ln())).collect();
        line(&logs).map_or(f64::NAN, |fit| fit.slope.exp())
    };
    let ratio = late.last().map_or(f64::NAN, |(_, now)| now[1] / now[0]);
    Ok(Growth { surface: factor(1), inside: factor(0), ratio })
}

/// Returns the time step in s at a Courant number, by the speed of waves in fresh snow.
pub fn dt_s(section: &Section, courant: f64) -> f64 {
    courant * section.cell_size_m / section.material.wave_speed_m_s(1.0)
}

fn particle(section: &Section, at: DVec3) -> Grain {
    let volume = section.cell_size_m.powi(section.dimensions as i32) * PARTICLE_SHARE;
    Grain::new(at, section.material.density_kg_m3 * volume, volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_far_out_does_not_stiffen_a_particle() {
        assert!((stiffness_of_place(0.0) - 3.0).abs() < 1e-12);
        // 2 (¾ + 75/92) halfway.
        assert!((stiffness_of_place(0.5) - 3.0 - 6.0 / 46.0).abs() < 1e-12);
        for f in [1e-6, 1e-3, 0.3, 0.999] {
            let a = stiffness_of_place(f);
            assert!((3.0..3.137).contains(&a) && (a - stiffness_of_place(1.0 - f)).abs() < 1e-9, "{f}: {a}");
        }
    }

    #[test]
    fn a_cut_off_removes_light_nodes_from_the_stiffness() {
        let with = |node_mass_cutoff| Section { node_mass_cutoff, ..Section::sampled(3, 0.01) };
        for f in [0.0, 5e-3, 0.3, 0.5] {
            let all = stiffness(&with(1e-30), f);
            assert!((all - stiffness_of_place(f)).abs() < 1e-9, "{f}: {all}");
        }
        // The outermost nodes near a node, 1.5 (offset); 4 of the 36 parts of the corners; all.
        assert!((stiffness(&with(1e-6), 5e-3) - stiffness_of_place(5e-3) + 0.0075).abs() < 1e-4);
        assert!((stiffness(&with(1e-3), 0.0) - 3.0 * 8.0 / 9.0).abs() < 1e-9);
        assert_eq!(stiffness(&with(1.0), 0.3), 0.0);
    }

    #[test]
    fn factors_are_1_at_the_threshold_and_above_beyond() {
        let kappa = stress_ratio(&Material::default(), 3);
        assert!((kappa - 1.5).abs() < 1e-12);
        for transfer in [Transfer::PicFlip, Transfer::Apic, Transfer::Mls] {
            for a in [3.0, 3.1] {
                let at = threshold(transfer, kappa, a);
                let of = |courant: f64| factor(transfer, kappa * courant * courant, a);
                assert!((of(at) - 1.0).abs() < 1e-7, "{transfer:?}: {}", of(at));
                assert!(of(1.02 * at) > 1.01 && of(0.98 * at) < 1.0 + 1e-12, "{transfer:?}");
            }
        }
    }

    #[test]
    fn a_factor_is_fitted_to_growth_decay_and_oscillation() {
        let powers = |z: f64| (0..8).map(|n| SEED * z.powi(n)).collect::<Vec<_>>();
        for z in [-1.7, -0.3, 0.8] {
            let found = fitted(Transfer::PicFlip, &powers(z));
            assert!(found.is_some_and(|x| (x - z.abs()).abs() < 1e-9), "{z}: {found:?}");
        }
        let wave: Vec<f64> = (0..20).map(|n| SEED * 0.98_f64.powi(n) * (0.9 * f64::from(n)).cos()).collect();
        let found = fitted(Transfer::Apic, &wave);
        assert!(found.is_some_and(|x| (x - 0.98).abs() < 1e-9), "{found:?}");
    }
}
