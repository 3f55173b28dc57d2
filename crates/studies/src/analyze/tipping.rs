//! The density at which a particle over a floor no longer rests (Breekveldt2017 app. A), on the device.
//! A single particle, exactly on a row of nodes, lies just above a floor, compressed along y to the yield
//! bound: F_E = diag(1, 1 − θ_c, 1). Nodes one cell below it touch the floor, those at its height have no
//! force, and those one cell above it have the upward force −V⁰ τ_yy Σ ∂w/∂y = −V⁰ τ_yy/2h, summed over that
//! layer. Gravity acts on 5/6 of the mass; the floor supports the rest.

use super::lab::{Grain, Sample, empty_space};
use frazil_engine::Failure;
use frazil_scene::Mpm as Section;
use frazil_shaders::types::Body;
use frazil_vk::Device;
use glam::{DMat3, DVec3};

/// Standard gravity as the paper rounds it, in m/s².
pub const GRAVITY_M_S2: f64 = 9.81;
/// Force of the upper layer over V/h as printed in the paper, in Pa; the correct value is 3791.6667/2.
pub const PRINTED_PA: f64 = 1907.83;
pub const CORRECT_PA: f64 = 1895.8333;
/// Tipping density as printed in the paper, in kg/m³: the inverse of m/V = 233.37.
pub const PRINTED_KG_M3: f64 = 0.004285;

/// Distance between particles along x, in cells.
const ROOM_CELLS: f64 = 16.0;

/// Results for one cell size.
#[derive(Clone, Debug, PartialEq)]
pub struct Tipping {
    pub cell_size_m: f64,
    /// Stresses τ_xx and τ_yy in Pa.
    pub stress_pa: [f64; 2],
    /// Force of the upper layer times h/V in Pa.
    pub force_pa: f64,
    /// Fraction of the mass on which gravity acts.
    pub free_share: f64,
    /// Density at which stress and gravity balance, in kg/m³.
    pub density_kg_m3: f64,
    /// Densities tried, relative to the equilibrium density of the closed formula, and the acceleration of
    /// each in m/s².
    pub tried: Vec<(f64, f64)>,
}

/// Returns the tipping density by the closed formula, in kg/m³.
pub fn expected_density(cell_size_m: f64) -> f64 {
    CORRECT_PA / (GRAVITY_M_S2 * 5.0 / 6.0) / cell_size_m
}

/// Releases particles of several densities above a floor, all in one simulation and far from one another.
pub fn tipping(device: &Device, h: f64) -> Result<Tipping, Failure> {
    let section = Section::as_published(3, h);
    let squeezed = DMat3::from_diagonal(DVec3::new(1.0, 1.0 - section.material.critical_compression, 1.0));
    let ratios = [0.25, 0.5, 0.99, 1.01, 2.0, 4.0];
    let volume = h.powi(3) / 8.0;
    let grain = |(k, ratio): (usize, &f64)| {
        let at = h * DVec3::new(8.0 + ROOM_CELLS * k as f64, 8.0, 8.0);
        let mass = ratio * expected_density(h) * volume;
        Grain { elastic: squeezed, ..Grain::new(at, mass, volume) }
    };
    let grains: Vec<Grain> = ratios.iter().enumerate().map(grain).collect();
    let mut surroundings =
        empty_space([ROOM_CELLS * ratios.len() as f64, ROOM_CELLS, ROOM_CELLS].map(|cells| h * cells));
    surroundings.gravity_m_s2 = [0.0, -GRAVITY_M_S2 as f32, 0.0];
    surroundings.bodies = vec![floor(7.75 * h)];
    // So short that no particle moves by a noticeable part of a cell.
    let dt_s = 1e-3 * (h / GRAVITY_M_S2).sqrt();
    let mut sample = Sample::strained(device, &section, dt_s, surroundings, &grains)?;
    let stress = sample.grains()?[0].stress;
    sample.step(1)?;
    let up: f64 = sample.node_forces()?.iter().map(|force| force.y.max(0.0)).sum();
    let dt_s = f64::from(sample.mpm.parameters().terms.dt_s);
    let tried: Vec<(f64, f64)> = ratios
        .iter()
        .zip(sample.grains()?)
        .map(|(ratio, grain)| (*ratio, grain.velocity_m_s.y / dt_s))
        .collect();
    // a = A/ρ − B, of the lightest and the heaviest.
    let (first, last) = (tried[0], tried[tried.len() - 1]);
    let gain = (first.1 - last.1) / (1.0 / first.0 - 1.0 / last.0);
    let pull = gain / first.0 - first.1;
    Ok(Tipping {
        cell_size_m: h,
        stress_pa: [stress.x_axis.x / volume, stress.y_axis.y / volume],
        force_pa: up * h / (ratios.len() as f64 * volume),
        free_share: pull / GRAVITY_M_S2,
        density_kg_m3: gain / pull * expected_density(h),
        tried,
    })
}

/// Returns a horizontal plane without friction.
fn floor(height_m: f64) -> Body {
    Body {
        origin_m: [0.0, height_m as f32, 0.0],
        extent: [0.0, 1.0, 0.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        n_heights: [1, 1],
        ..bytemuck::Zeroable::zeroed()
    }
}

/// Returns the page text: the printed values, the correct ones, and the error in the paper.
pub fn page(found: &[Tipping], density_kg_m3: f64) -> String {
    let printed = PRINTED_PA / (GRAVITY_M_S2 * 5.0 / 6.0);
    let unit = expected_density(1.0);
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|t| {
            let expected = expected_density(t.cell_size_m);
            let state = |ratio: f64| {
                let tried = t.tried.iter().find(|(tried, _)| *tried == ratio);
                tried.map_or("–", |(_, a)| if *a > 0.0 { "rises" } else { "sinks" })
            };
            vec![
                super::report::cell(t.cell_size_m),
                format!("{:.2}", t.force_pa),
                format!("{:.2}", t.density_kg_m3),
                format!("{expected:.2}"),
                format!("{} / {}", state(0.99), state(1.01)),
                if density_kg_m3 < t.density_kg_m3 { "rests" } else { "sinks" }.to_owned(),
            ]
        })
        .collect();
    let max_pa = -found[0].stress_pa[1] / (1.0 - frazil_scene::Material::default().critical_compression);
    let header = [
        "h [m]",
        "force of the upper layer, f h/V [Pa]",
        "tipping density [kg/m³]",
        "231.9/h [kg/m³]",
        "1 % lighter / heavier",
        "snow of 400 kg/m³",
    ];
    format!(
        "## When snow rests (app. A)\n\n\
         The paper squeezes a lone particle over a floor as far as θ_c lets it, F_E = diag(1, 0.975, 1), and \
         asks which density its stress can carry. Its stress is right: τ_yy = −3791.67 Pa, here {yy:.2} Pa, \
         and {xx:.2} Pa across (printed −947.92). The sum that follows slips twice:\n\n\
         1. f_a = 3791.6667/72 is 52.66, not the printed 55.66. The nine slopes of the upper layer sum to ½ \
         exactly, so that the force is 3791.6667/2 = **{CORRECT_PA:.2} V/h**, not {PRINTED_PA} V.\n\
         2. {PRINTED_PA} V = 8.175 m makes m/V = {printed:.2}; the paper then prints the inverse of it, \
         {PRINTED_KG_M3} kg/m³, as the density. Moreover it works in cells of size 1: the slope of a weight \
         is 1/h.\n\n\
         The tipping density is **{unit:.1}/h kg/m³** with h in m. On the device, with particles of six \
         densities let go over the same floor, the acceleration of the first step tells (gravity pulls at \
         {share:.4} of the mass, 5/6 by the paper):\n\n{table}\n\
         So a lone layer of the paper's own ρ₀ = {density_kg_m3} kg/m³ is carried on cells below \
         {carried:.2} m. It is a load per area: the most stress that snow has before it hardens, {max_pa:.0} \
         Pa of the squeezed cross-section and height (τ/J), carries {depth:.2} m of such snow; deeper snow \
         is packed until hardening carries it. The paper's conclusion that this method cannot hold snow at \
         rest, because only {PRINTED_KG_M3} kg/m³ could be, falls with its number.\n",
        yy = found[0].stress_pa[1],
        xx = found[0].stress_pa[0],
        share = found[0].free_share,
        table = super::report::table(&header, &rows),
        carried = unit / density_kg_m3,
        depth = max_pa / (density_kg_m3 * GRAVITY_M_S2),
    )
}
