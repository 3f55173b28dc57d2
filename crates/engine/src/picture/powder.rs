//! Suspended powder and spray of a scene's pictures.

use super::shown::Shown;
use super::surface::Surfaces;
use frazil_particles::{ColumnKind, Material, ParticleSet};
use frazil_render::{Powder, PowderLoad};
use frazil_scene::Scene;
use frazil_vk::Buffer;

/// Display settings of powder and spray in pictures of a scene.
pub struct PowderStyle {
    extinction_m2: f32,
    onset_m_s: f32,
    radius_m: f32,
    spray_extinction_m2: f32,
    spray_radius_m: f32,
}

/// A set of particles that carries powder.
pub struct Carriers<'a> {
    set: &'a ParticleSet<'a>,
    position: Buffer<[f32; 3]>,
    velocity: Buffer<[f32; 3]>,
}

/// Density of ice in kg/m³.
const ICE_KG_M3: f64 = 917.0;
/// Defaults in scenes with a terrain.
const SUSPENDED_SHARE: f64 = 0.002;
const SPRAY_OPTICAL_DEPTH: f64 = 2.0;
/// Default radius of a puff in spacings.
const PUFF_SPACINGS: f64 = 5.0;
/// Height of a puff above its particle, in its radii.
const LIFT_RADII: f32 = 0.5;
/// Radius of spray in drawn radii of particles; it is densest at the middle.
const SPRAY_RADII: f64 = 2.0;

impl PowderStyle {
    /// Returns the style of a scene.
    pub fn of(scene: &Scene) -> Self {
        let (powder, spacing_m) = (&scene.render.powder, scene.particle_spacing_m());
        // On the scale of a snowball, no powder is suspended.
        let on_terrain = |value: f64| if scene.ground().is_some() { value } else { 0.0 };
        let share = powder.suspended_share.unwrap_or(on_terrain(SUSPENDED_SHARE));
        // Spheres take out twice their cross-section, as their diameter is many wavelengths of light.
        let extinction_m2_kg = 2.0 * 3.0 / (4.0 * powder.ice_radius_m * ICE_KG_M3);
        let depth = powder.spray_optical_depth.unwrap_or(on_terrain(SPRAY_OPTICAL_DEPTH));
        let spray_radius_m = SPRAY_RADII * scene.render.particle_radius_spacings * spacing_m;
        Self {
            extinction_m2: (share * scene.particle_mass_kg() * extinction_m2_kg) as f32,
            onset_m_s: powder.onset_speed_m_s as f32,
            radius_m: powder.puff_radius_m.unwrap_or(PUFF_SPACINGS * spacing_m) as f32,
            spray_extinction_m2: Powder::extinction_of(depth as f32, spray_radius_m as f32),
            spray_radius_m: spray_radius_m as f32,
        }
    }

    /// Returns true if spray is translucent.
    pub fn has_spray(&self) -> bool {
        self.spray_extinction_m2 > 0.0
    }

    /// Returns the sets of snow that carry powder; none without velocities, which a recording may lack.
    pub fn carriers<'a>(&self, shown: &'a Shown<'_>) -> Vec<Carriers<'a>> {
        let vectors = |set: &ParticleSet<'_>, name: &str| {
            let column = set.column(name).filter(|column| column.kind == ColumnKind::Vec3)?;
            Some(column.words.cast())
        };
        let snow =
            shown.sets.iter().filter(|set| self.extinction_m2 > 0.0 && set.material != Material::Water);
        let carriers = snow.filter_map(|set| {
            let (position, velocity) = (vectors(set, "position")?, vectors(set, "velocity")?);
            Some(Carriers { set, position, velocity })
        });
        carriers.collect()
    }

    /// Returns the powder of particles and the spray around surfaces.
    pub fn powder<'a>(
        &self,
        carriers: &'a [Carriers<'a>],
        surfaces: &'a Surfaces,
        shown: &Shown<'_>,
    ) -> Vec<Powder<'a>> {
        let (radius_m, extinction_m2) = (self.radius_m, self.extinction_m2);
        let of_carriers = |Carriers { set, position, velocity }: &'a Carriers<'a>| Powder {
            positions: position,
            count: set.count,
            max_count: u32::MAX,
            load: PowderLoad::BySpeed { velocities: velocity, onset_m_s: self.onset_m_s },
            extinction_m2,
            radius_m,
            lift_m: LIFT_RADII * radius_m,
        };
        let puffs = carriers.iter().map(of_carriers);
        let spray = surfaces.snow_spray(shown).filter(|_| self.has_spray());
        let spray = spray.map(|(positions, count, max_count)| Powder {
            positions,
            count,
            max_count,
            load: PowderLoad::Full,
            extinction_m2: self.spray_extinction_m2,
            radius_m: self.spray_radius_m,
            lift_m: 0.0,
        });
        puffs.chain(spray).collect()
    }
}
