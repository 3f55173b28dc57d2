//! `mpm`: snow as a continuum, by the material point method.

mod advice;
mod section;
mod time_step;
mod validate;

pub use section::*;
pub use time_step::DerivedMpm;

use crate::check::{Check, Checker};
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Phase, Scene};
use crate::section::SectionType;
use crate::solver::feature::Feature;
use crate::solver::solver_scene::{ContactDefaults, SAMPLED_BYTES, SolverScene};
use crate::watch::Watch;
use crate::{SceneError, Section, Surface};

/// The material point method.
pub(crate) struct MaterialPoints;

pub(crate) static MPM: MaterialPoints = MaterialPoints;

const SECTIONS: &[SectionType] = &[SectionType::required::<Mpm>()];

impl SolverScene for MaterialPoints {
    fn kind(&self) -> &'static str {
        "mpm"
    }

    fn title(&self) -> &'static str {
        "Material point method."
    }

    fn sections(&self) -> &'static [SectionType] {
        SECTIONS
    }

    fn features(&self) -> &'static [Feature] {
        &[
            Feature::Bodies,
            Feature::Emitters,
            Feature::Drains,
            Feature::AutoTimeStep,
            Feature::Substeps,
            Feature::AngularVelocity,
            Feature::Count,
            Feature::MassSpread,
            Feature::GridLines,
        ]
    }

    fn n_dimensions(&self, scene: &Scene) -> usize {
        // Validation refuses other values; until then two dimensions require less of the domain.
        if scene.mpm().is_some_and(|mpm| mpm.dimensions != 3) { 2 } else { 3 }
    }

    fn live_keys(&self, _scene: &Scene) -> &'static [&'static str] {
        &[
            "gravity_m_s2",
            "mpm.material.youngs_modulus_pa",
            "mpm.material.poissons_ratio",
            "mpm.material.hardening",
            "mpm.material.critical_compression",
            "mpm.material.critical_stretch",
            "mpm.material.relaxation_time_s",
            "mpm.walls.friction",
        ]
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        scene.mpm().map_or(f64::NAN, Mpm::particle_spacing_m)
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        ("mpm.cell_size_m", scene.mpm().map_or(f64::NAN, |mpm| mpm.cell_size_m))
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        scene.mpm().map_or(f64::NAN, |mpm| mpm.material.density_kg_m3)
    }

    fn particle_mass_kg(&self, scene: &Scene) -> f64 {
        if scene.particles.is_empty() {
            return self.rest_density_kg_m3(scene) * self.emitted_volume_m3(scene);
        }
        let volume: f64 = scene.particles.iter().map(|block| scene.block_volume_m3(block)).sum();
        self.rest_density_kg_m3(scene) * volume / scene.particle_count_estimate() as f64
    }

    /// Returns the share of a lattice: masses of blocks may differ from it.
    fn emitted_volume_m3(&self, scene: &Scene) -> f64 {
        self.particle_spacing_m(scene).powi(self.n_dimensions(scene) as i32)
    }

    fn contact_defaults(&self, _scene: &Scene) -> ContactDefaults {
        ContactDefaults {
            friction: Some(Surface::default().friction),
            restitution: None,
            mesh_reach_m: 0.0,
            mesh_density_support_m: None,
        }
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        scene.mpm().map_or(f64::NAN, Mpm::support_radius_m)
    }

    fn auto_dt_s(&self, scene: &Scene) -> f64 {
        scene.mpm().map_or(f64::NAN, |mpm| scene.auto_wave_dt_s(mpm))
    }

    fn longest_dt_s(&self, scene: &Scene, speed_m_s: f64) -> f64 {
        scene.mpm().map_or(f64::NAN, |mpm| mpm.longest_dt_s(speed_m_s))
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        let derived = scene.derived_mpm().and_then(|derived| serde_json::to_value(derived).ok());
        derived.map(|derived| (Mpm::NAME, derived)).into_iter().collect()
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(mpm) = scene.mpm() else { return Ok(()) };
        scene.check_mpm(check, mpm)?;
        scene.check_grid(check, mpm)
    }

    fn check_block(&self, scene: &Scene, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        scene.mpm().map_or(Ok(()), |mpm| scene.check_mpm_block(check, key, block, mpm))
    }

    fn check_discretization(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        scene.mpm().map_or(Ok(()), |mpm| scene.check_wave_time(check, mpm))
    }

    /// Marks all particles as snow. Particles of a block share its mass as evenly as the block says, and its
    /// volume in proportion to their masses, so that all have the density of the material.
    fn complete_block(
        &self,
        scene: &Scene,
        block: &ParticleBlock,
        begin: usize,
        unit: &mut dyn FnMut() -> f64,
        watch: &mut Watch<'_>,
        sampled: &mut Sampled,
    ) -> Result<(), SceneError> {
        let n = sampled.len();
        sampled.phases[begin..].fill(Phase::Snow);
        let spin = block.angular_velocity_rad_s.unwrap_or_default().map(|w| w as f32);
        sampled.spins_rad_s.resize(n, spin);
        let volume_m3 = scene.block_volume_m3(block);
        let n_block = n - begin;
        let spacing_m = (volume_m3 / n_block as f64).powf(1.0 / scene.n_dimensions() as f64);
        for x in &sampled.positions_m[begin..] {
            watch.tick(1)?;
            sampled.contact_radii_m.push(contact_radius_m(block, *x, spacing_m) as f32);
        }
        let shares = shares(n_block, block.mass_spread.unwrap_or(0.0), unit, watch)?;
        let sum = shares.iter().sum::<f64>();
        let (mass_kg, volume_m3) = (self.rest_density_kg_m3(scene) * volume_m3 / sum, volume_m3 / sum);
        for share in shares {
            watch.tick(1)?;
            sampled.masses_kg.push((mass_kg * share) as f32);
            sampled.volumes_m3.push((volume_m3 * share) as f32);
        }
        Ok(())
    }

    /// Returns those of all columns, and of the shares of one block.
    fn sampling_bytes(&self, _scene: &Scene, n_particles: f64) -> f64 {
        (SAMPLED_BYTES + 32.0) * n_particles
    }

    fn advise(&self, scene: &Scene, warn: &mut dyn FnMut(&str, String)) {
        if let Some(mpm) = scene.mpm() {
            scene.advise_mpm(warn, mpm);
        }
    }

    fn unused_keys(&self, _scene: &Scene) -> Vec<(&'static str, String)> {
        let temperature = "snow on a grid has no temperature";
        let phase = "all particles are snow";
        vec![("particles.*.temperature_c", temperature.to_owned()), ("particles.*.phase", phase.to_owned())]
    }

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        let (Some(mpm), Some(derived)) = (scene.mpm(), scene.derived_mpm()) else { return Ok(Vec::new()) };
        let (mass, volume) = if mpm.dimensions == 2 { ("kg/m", "m²") } else { ("kg", "m³") };
        // The sum of nothing is −0.
        let total = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>() + 0.0;
        let cells: Vec<String> =
            derived.n_cells[..scene.n_dimensions()].iter().map(ToString::to_string).collect();
        Ok(vec![
            ("particles", format!("{} of {:.4e} {mass}", sampled.len(), scene.particle_mass_kg())),
            (
                "snow",
                format!(
                    "{:.4e} {mass}, {:.4e} {volume}",
                    total(&sampled.masses_kg),
                    total(&sampled.volumes_m3)
                ),
            ),
            ("cells", format!("{} of {} m", cells.join(" × "), mpm.cell_size_m)),
            (
                "wave speed",
                format!(
                    "{:.1} m/s, {:.1} m/s in hardened snow",
                    derived.wave_speed_m_s, derived.hardened_wave_speed_m_s
                ),
            ),
            ("particle speed", format!("up to {:.1} m/s", derived.fastest_m_s)),
            (
                "steps",
                format!(
                    "{}; in {} s a wave in hardened snow passes {:.2} cells",
                    scene.described_steps(),
                    scene.dt_s(),
                    derived.wave_courant_number
                ),
            ),
        ])
    }
}

/// Returns the contact radius of a particle in m: its distance from the surface of its shape if it is one of
/// the outermost, so that the balls about them have the surface of the shape; else half a spacing.
fn contact_radius_m(block: &ParticleBlock, point_m: [f32; 3], spacing_m: f64) -> f64 {
    match block.shape.depth_m(point_m.map(f64::from)) {
        Some(depth_m) if depth_m < spacing_m => depth_m.max(0.0),
        _ => 0.5 * spacing_m,
    }
}

/// Returns numbers with the relative spread `spread` about a mean of 1.
fn shares(
    n: usize,
    spread: f64,
    unit: &mut dyn FnMut() -> f64,
    watch: &mut Watch<'_>,
) -> Result<Vec<f64>, SceneError> {
    let mut shares = vec![1.0; n];
    if spread != 0.0 {
        for share in &mut shares {
            watch.tick(1)?;
            *share = 1.0 + spread * (2.0 * unit() - 1.0);
        }
    }
    Ok(shares)
}

impl Scene {
    /// Returns the `[mpm]` section, if the scene has it.
    pub fn mpm(&self) -> Option<&Mpm> {
        self.section()
    }

    /// Returns the `[mpm]` section for modification.
    pub fn mpm_mut(&mut self) -> Option<&mut Mpm> {
        self.section_mut()
    }
}
