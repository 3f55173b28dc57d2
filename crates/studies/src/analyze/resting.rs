//! A block of plastic snow of several cells that rests under its weight, on the device and in theory: the
//! continuation of the tipping density (Breekveldt2017 app. A), which is that of a single layer.
//!
//! A column between smooth walls, loaded slowly, has the stress ρ₀ g D at the depth D of snow above it. Under
//! compression along one axis the Cauchy stress is (λ + 2μ)(1 − σ) with σ the elastic stretch, at most q =
//! (λ + 2μ) θ_c before it hardens. Beyond, J_P falls until e^(ξ(1 − J_P))/J_P = ρ₀ g D/q.

use super::lab::{Sample, cube, empty_space};
use super::tipping::{GRAVITY_M_S2, expected_density};
use frazil_engine::Failure;
use frazil_scene::{Material, Mpm as Section};
use frazil_vk::Device;
use glam::DVec3;

/// Width of the block in cells.
const WIDTH_CELLS: f64 = 4.0;
/// Courant number, by the speed of waves in fresh snow: hardening triples it at most.
const COURANT: f64 = 0.2;
/// Number of equal parts in which gravity is applied.
const STAGES: u64 = 40;
/// Number of the block's slowest periods, 4 H/c, in which gravity is applied, and for which it then rests.
const LOAD_PERIODS: f64 = 4.0;
const REST_PERIODS: f64 = 12.0;

/// Results for one density.
#[derive(Clone, Debug, PartialEq)]
pub struct Resting {
    pub density_kg_m3: f64,
    pub cell_size_m: f64,
    pub height_m: f64,
    /// Height of the block over its height without gravity, on the device and in theory.
    pub height: [f64; 2],
    /// J_P of the lowest quarter of a cell, on the device and in theory.
    pub lowest: [f64; 2],
    /// Root mean square difference of J_P from theory over all particles.
    pub plastic_error: f64,
    /// Share of the particles that have yielded by more than 10⁻³, on the device and in theory.
    pub yielded: [f64; 2],
    /// Distance that the centre of mass moves in the last period, over the height.
    pub creep: f64,
    /// Depth and J_P of particles, on the device.
    pub profile: Vec<(f64, f64)>,
}

/// State of a column at a depth in theory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Elastic stretch along the column.
    pub stretch: f64,
    pub plastic_volume: f64,
}

/// Returns the largest stress of snow compressed along one axis before it hardens, in Pa.
pub fn yield_pressure_pa(material: &Material) -> f64 {
    let (mu, lambda) = material.lame_pa();
    (lambda + 2.0 * mu) * material.critical_compression
}

/// Returns the state under a load in Pa.
pub fn state(material: &Material, load_pa: f64) -> State {
    let excess = load_pa / yield_pressure_pa(material);
    if excess <= 1.0 {
        return State { stretch: 1.0 - material.critical_compression * excess, plastic_volume: 1.0 };
    }
    let (mut low, mut high) = (1e-3, 1.0);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        let hardened = material.hardening * (1.0 - middle.max(material.min_plastic_volume));
        if hardened.exp() / middle > excess {
            low = middle;
        } else {
            high = middle;
        }
    }
    State { stretch: 1.0 - material.critical_compression, plastic_volume: low }
}

/// Loads a block of several cells slowly, and lets it rest.
pub fn resting(
    device: &Device,
    cell_size_m: f64,
    height_cells: u32,
    density_kg_m3: f64,
) -> Result<Resting, Failure> {
    let h = cell_size_m;
    let mut section = Section::as_published(3, h);
    section.material.density_kg_m3 = density_kg_m3;
    let material = section.material.clone();
    let height = h * f64::from(height_cells);
    let n = (2.0 * WIDTH_CELLS) as u32;
    let layers = 2 * height_cells;
    // Of the cubes stacked on each other, the layers up to the height.
    let cubes = layers.div_ceil(n);
    let grains: Vec<_> = (0..cubes)
        .flat_map(|k| {
            let corner = DVec3::Y * (h * WIDTH_CELLS * f64::from(k));
            cube(3, corner, h * WIDTH_CELLS, n, density_kg_m3)
        })
        .filter(|grain| grain.position_m.y < height)
        .collect();
    let width = h * WIDTH_CELLS;
    let surroundings = |share: f64| {
        let mut space = empty_space([width, height + 4.0 * h, width]);
        space.gravity_m_s2 = [0.0, (-GRAVITY_M_S2 * share) as f32, 0.0];
        space.face_friction = [[Some(0.0); 3]; 2];
        space
    };
    let c = material.wave_speed_m_s(1.0);
    let dt_s = COURANT * h / c;
    let period = 4.0 * height / (c * dt_s);
    let steps = (LOAD_PERIODS * period / STAGES as f64).ceil() as u64;
    let mut sample = Sample::new(device, &section, dt_s, surroundings(0.0), &grains)?;
    for stage in 1..=STAGES {
        let share = stage as f64 / STAGES as f64;
        sample = sample.among(&section, dt_s, surroundings(share))?;
        sample.step(steps)?;
    }
    sample.step(((REST_PERIODS - 1.0) * period).ceil() as u64)?;
    let centre = |sample: &Sample| -> Result<f64, Failure> {
        let grains = sample.grains()?;
        Ok(grains.iter().map(|grain| grain.position_m.y).sum::<f64>() / grains.len() as f64)
    };
    let before = centre(&sample)?;
    sample.step(period.ceil() as u64)?;
    let after = centre(&sample)?;

    let rested = sample.grains()?;
    let spacing = 0.5 * h;
    let load = |depth_m: f64| density_kg_m3 * GRAVITY_M_S2 * depth_m;
    let depth = |i: usize| height - grains[i].position_m.y;
    let mean = |of: &dyn Fn(usize) -> f64, chosen: &dyn Fn(usize) -> bool| {
        let values: Vec<f64> = (0..rested.len()).filter(|i| chosen(*i)).map(of).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let found = |i: usize| rested[i].plastic_volume;
    let theory = |i: usize| state(&material, load(depth(i))).plastic_volume;
    let is_lowest = |i: usize| grains[i].position_m.y < spacing;
    let is_highest = |i: usize| grains[i].position_m.y > height - spacing;
    let all = |_: usize| true;
    // The highest particles are half a spacing below the top, and nearly unstrained.
    let top = mean(&|i| rested[i].position_m.y, &is_highest) + 0.5 * spacing;
    let parts = 1000;
    let compressed = |k: u32| {
        let s = state(&material, load(height * (f64::from(k) + 0.5) / f64::from(parts)));
        s.stretch * s.plastic_volume
    };
    let has_yielded = |j: f64| f64::from((j - 1.0).abs() > 1e-3);
    Ok(Resting {
        density_kg_m3,
        cell_size_m: h,
        height_m: height,
        height: [top / height, (0..parts).map(compressed).sum::<f64>() / f64::from(parts)],
        lowest: [mean(&found, &is_lowest), mean(&theory, &is_lowest)],
        plastic_error: mean(&|i| (found(i) - theory(i)).powi(2), &all).sqrt(),
        yielded: [mean(&|i| has_yielded(found(i)), &all), mean(&|i| has_yielded(theory(i)), &all)],
        creep: (after - before).abs() / height,
        profile: (0..rested.len()).map(|i| (depth(i), found(i))).collect(),
    })
}

/// Returns the page text.
pub fn page(found: &[Resting], printed_kg_m3: f64) -> String {
    let Some(Resting { height_m: height, .. }) = found.first() else { return String::new() };
    let q = yield_pressure_pa(&Material::default());
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|r| {
            let tipping = expected_density(r.cell_size_m);
            let lone = if r.density_kg_m3 < tipping { "rests" } else { "sinks" };
            let pair = |[found, theory]: [f64; 2]| format!("{found:.3} ({theory:.3})");
            vec![
                format!("{:.0}", r.density_kg_m3),
                super::report::cell(r.cell_size_m),
                format!("{:.2}", r.density_kg_m3 / tipping),
                "sinks".to_owned(),
                lone.to_owned(),
                if r.creep < MAX_CREEP { "rests" } else { "sinks" }.to_owned(),
                format!("{:.1e}", r.creep),
                pair(r.height),
                pair(r.lowest),
                pair(r.yielded),
                format!("{:.3}", r.plastic_error),
            ]
        })
        .collect();
    let header = [
        "density [kg/m³]",
        "h [m]",
        "over 231.9/h",
        "by the paper",
        "a lone layer",
        "this block",
        "centre of mass moves in a period, over the height",
        "height over that without gravity (theory)",
        "lowest J_P (theory)",
        "share that yields (theory)",
        "rms error of J_P",
    ];
    format!(
        "\n### A block of several cells\n\n\
         The paper concludes from one particle about all snow. A block carries its weight in another way: \
         the stress at the depth D is ρ₀ g D, whatever h is, and snow that yields hardens. Compressed along \
         one axis it carries q = (λ + 2μ) θ_c = {q:.0} Pa before it yields; beyond, J_P falls until e^(ξ(1 − \
         J_P))/J_P = ρ₀ g D/q. So there is a density from which the lowest snow is packed, {q:.0}/(g H), but \
         none from which a block cannot rest, as long as hardening goes on.\n\n\
         Plastic blocks {height} m high and {WIDTH_CELLS} cells wide between smooth walls, in PIC/FLIP as \
         the paper has it, loaded in {STAGES} parts over {LOAD_PERIODS} of their slowest periods 4 H/c, and \
         left for {REST_PERIODS} (q/(g H) = {first_yield:.1} kg/m³; 231.9/h = {tipping:.1} kg/m³ at h = 1 \
         m):\n\n{table}\n\
         They rest on either side of the tipping density, packed as the theory of the corrected stress says: \
         their heights and J_P depend on ρ₀ g H/q, not on 231.9/h, which cells of half the size double. Of \
         the paper's conclusion nothing is left: its {printed_kg_m3} kg/m³ is an inverse, the corrected \
         231.9/h is where a lone layer without hardening yields, and a block that exceeds it is packed and \
         rests.\n",
        first_yield = q / (GRAVITY_M_S2 * height),
        tipping = expected_density(1.0),
        table = super::report::table(&header, &rows),
    )
}

/// Motion of the centre of mass in a period, over the height, below which a block counts as resting. A block
/// that falls freely moves by 8 g H/c², above 0.1 at these sizes.
pub const MAX_CREEP: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snow_yields_from_its_pressure_on_and_hardens() {
        let material = Material::default();
        let q = yield_pressure_pa(&material);
        assert!((q - 3888.8889).abs() < 1e-3, "{q}");
        assert_eq!(state(&material, 0.5 * q), State { stretch: 0.9875, plastic_volume: 1.0 });
        for j in [0.95, 0.8, 0.65_f64] {
            let found = state(&material, q * (10.0 * (1.0 - j)).exp() / j);
            assert!((found.plastic_volume - j).abs() < 1e-9 && found.stretch == 0.975, "{found:?}");
        }
    }
}
