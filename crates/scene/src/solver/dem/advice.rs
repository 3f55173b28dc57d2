//! Warnings about allowed but unusual scenes of grains.

use std::collections::HashMap;
use std::path::Path;

use super::section::Dem;
use crate::check::whole;
use crate::scene::sample::Sampled;
use crate::{Fill, Scene, SlabShape};

/// Number of steps for a contact from which the restitution is within 1 % of the requested one; `"auto"`
/// takes as many, truncated to four digits of Δt.
const RESOLVED_STEPS_PER_CONTACT: f64 = 19.99;

/// Number of grains packed at random from which that takes minutes.
const MANY_PACKED: f64 = 3e5;

/// Maximum overlap, in radii, at which the centre of a grain is well outside of the body it touches.
const MAX_OVERLAP_RADII: f64 = 0.5;

/// Maximum overlap at rest, in radii, beyond which the volume of a heap is wrong by percents.
const MAX_REST_OVERLAP_RADII: f64 = 0.05;

impl Scene {
    /// Warns about contacts that steps do not resolve, grains that roll without resistance, springs too soft
    /// for the load, and projections that are unknown or cannot be compared.
    pub(crate) fn advise_dem(&self, warn: &mut dyn FnMut(&str, String), dem: &Dem) {
        let (dt, contact) = (self.dt_s(), dem.contact_time_s());
        if contact < RESOLVED_STEPS_PER_CONTACT * dt {
            warn(
                "time.dt_s",
                format!(
                    "makes {:.1} steps of a contact of {contact:.3e} s; from {RESOLVED_STEPS_PER_CONTACT:.0} \
                     on, {:.3e} s or less, the restitution is within 1 %, and dt_s = \"auto\" takes {} s",
                    contact / dt,
                    contact / RESOLVED_STEPS_PER_CONTACT,
                    self.auto_contact_dt_s(dem)
                ),
            );
        }
        for (side, faces) in ["lower", "upper"].iter().zip(self.bodies_at_faces()) {
            for (axis, body) in ["x", "y", "z"].iter().zip(faces) {
                let Some(body) = body else { continue };
                let message = format!(
                    "coincides with the {side} {axis} face of the domain and replaces it: its friction and \
                     restitution hold there"
                );
                warn(&format!("bodies.{body}"), message);
            }
        }
        if dem.rolling_friction == 0.0 {
            warn(
                "dem.rolling_friction",
                "is 0: grains are perfect spheres, which roll on, so that a pile does not come to rest; the \
                 default is 0.1"
                    .to_owned(),
            );
        }
        let impact = self.impact_m_s();
        let overlap = dem.overlap_radii(impact);
        if overlap > MAX_OVERLAP_RADII {
            warn(
                "dem.normal_stiffness_n_m",
                format!(
                    "an impact at {impact:.1} m/s, as from a height of the whole domain, presses a grain \
                     {overlap:.2} radii deep; at most {MAX_OVERLAP_RADII} needs a stiffness of {:.2e} N/m",
                    dem.normal_stiffness_n_m * (overlap / MAX_OVERLAP_RADII).powi(2)
                ),
            );
        }
        for (idx, slab) in dem.slabs.iter().enumerate() {
            let SlabShape::Meshes { paths, meshes, .. } = &slab.shape else { continue };
            let meshes = meshes.get().map_or(&[][..], Vec::as_slice);
            for (mesh_idx, (path, mesh)) in paths.iter().zip(meshes).enumerate() {
                if let Some(note) = mesh.turned() {
                    warn(
                        &format!("dem.slabs.{idx}.shape.meshes.paths.{mesh_idx}"),
                        format!("{path}: {note}"),
                    );
                }
            }
        }
        for (idx, block) in self.particles.iter().enumerate() {
            let n = self.block_count_estimate(block);
            if block.fill == Fill::Random && n > MANY_PACKED {
                warn(
                    &format!("particles.{idx}.fill"),
                    format!(
                        "\"random\" packs {} grains, which takes minutes or more before the first step; a \
                         lattice with jitter_spacings does not",
                        whole(n)
                    ),
                );
            }
        }
        self.advise_projections(warn, dem);
    }

    /// Warns about springs that the weight of the grains at time 0 presses deeper than 5 % of a radius at
    /// rest. The lowest grain of a column, four radii wide, carries the weight on its share of the column's
    /// area.
    pub(crate) fn advise_overlap_at_rest(
        &self,
        warn: &mut dyn FnMut(&str, String),
        dem: &Dem,
        sampled: &Sampled,
    ) {
        let [across, along] = self.up_axis.horizontal();
        let side_m = 4.0 * dem.radius_m;
        let mut columns: HashMap<[i64; 2], f64> = HashMap::new();
        for (position, mass_kg) in sampled.positions_m.iter().zip(&sampled.masses_kg) {
            let cell = [across, along].map(|axis| (f64::from(position[axis]) / side_m).floor() as i64);
            *columns.entry(cell).or_default() += f64::from(*mass_kg);
        }
        let heaviest_kg = columns.into_values().fold(0.0, f64::max);
        let gravity_m_s2 = self.gravity_m_s2()[self.up_axis.index()].abs();
        // A grain takes an area of (2 r)², a quarter of the column's.
        let overlap_radii = 0.25 * heaviest_kg * gravity_m_s2 / (dem.normal_stiffness_n_m * dem.radius_m);
        if overlap_radii > MAX_REST_OVERLAP_RADII {
            let needed = dem.normal_stiffness_n_m * overlap_radii / MAX_REST_OVERLAP_RADII;
            warn(
                "dem.normal_stiffness_n_m",
                format!(
                    "is too soft: the weight of {heaviest_kg:.3e} kg on a column presses its lowest grains \
                     {overlap_radii:.3} radii deep at rest; at most {MAX_REST_OVERLAP_RADII} needs \
                     {needed:.2e} N/m or more"
                ),
            );
        }
    }

    /// Warns about files whose projection is unknown, or cannot be compared with the terrain's.
    fn advise_projections(&self, warn: &mut dyn FnMut(&str, String), dem: &Dem) {
        // Coordinates on a generated terrain are on no map.
        let path = self.terrain.as_ref().and_then(|source| source.file.as_deref());
        let (Some(path), Some(terrain)) = (path, self.ground()) else { return };
        if terrain.projection().is_none() {
            let prj = Path::new(path).with_extension("prj");
            warn(
                "terrain.file",
                format!(
                    "{path}: found no projection, expected that of a GeoTIFF or the file {}: rasters of the \
                     flow carry none",
                    prj.display()
                ),
            );
        }
        for (idx, release) in dem.releases.iter().enumerate() {
            let Some(path) = &release.polygons else { continue };
            let problem = match (release.projection.get(), terrain.projection()) {
                (Some(theirs), Some(ours)) if theirs.is_same(ours).is_none() => format!(
                    "found the projection {}, which cannot be compared with the terrain's, {}, one being a \
                     code and the other not; it is taken for the same",
                    theirs.name(),
                    ours.name()
                ),
                (Some(theirs), None) => {
                    format!(
                        "found the projection {}, expected the terrain's, which is unknown; it is taken for \
                         the same",
                        theirs.name()
                    )
                }
                (None, Some(ours)) => {
                    format!(
                        "found no projection, expected one; it is taken for the terrain's, {}",
                        ours.name()
                    )
                }
                _ => continue,
            };
            warn(&format!("dem.releases.{idx}.polygons"), format!("{path}: {problem}"));
        }
    }
}
