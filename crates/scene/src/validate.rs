//! What makes a well-formed scene a sensible one.

use crate::source::Source;
use crate::{
    ColourBy, Dem, Every, Fill, Fluid, Mpm, Output, ParticleBlock, RenderScheme, SCENE_VERSION, Scene,
    SceneError, Shape, SolverKind, TimeStep, Vec3,
};

/// Most particles a scene may have: a column of four f32 a particle must fit into one storage buffer, whose size in bytes
/// Vulkan counts in 32 bits.
pub const MAX_PARTICLES: u64 = u32::MAX as u64 / 16;

/// Most cells of edge h a domain may have: cells are numbered in 32 bits.
pub(crate) const MAX_CELLS: f64 = u32::MAX as f64;

/// Positions are f32. Below this many representable steps a spacing, forces are noise.
pub(crate) const MIN_STEPS_PER_SPACING: f64 = 256.0;

/// Quantities lie within these magnitudes, so that products of two still fit into an f32.
pub(crate) const MIN_POSITIVE: f64 = 1e-18;
const MAX_MAGNITUDE: f64 = 1e18;

/// Blocks may reach past the domain by this share of a spacing, for the rounding of decimal numbers.
const DOMAIN_TOLERANCE_SPACINGS: f64 = 1e-6;

pub(crate) type Check = Result<(), SceneError>;

impl Scene {
    /// The error that a value is not what its user needs: for what only shows once there is a device.
    pub fn value_error(&self, key: &str, found: impl ToString, expected: impl ToString) -> SceneError {
        SceneError::Value {
            at: self.source.locate_between(&[key]),
            key: key.to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// Checks that the scene makes sense: every value in its range, and all of them together.
    ///
    /// Loading has done this already; call it after changing fields.
    ///
    /// # Errors
    /// [`SceneError::Value`] for the first thing found wrong.
    pub fn validate(&self) -> Result<(), SceneError> {
        let check = Checker { source: &self.source };
        let matter = self.check_matter(&check)?;
        self.check_values(&check)?;
        match matter {
            Matter::Fluid(fluid) => {
                check_fluid(&check, fluid)?;
                self.check_snow(&check, fluid)?;
            }
            Matter::Continuum(mpm) => {
                self.check_mpm(&check, mpm)?;
                self.check_grid(&check, mpm)?;
            }
            Matter::Grains(dem) => {
                self.check_dem(&check, dem)?;
                self.check_ground(&check, dem)?;
            }
        }
        for (block_idx, block) in self.particles.iter().enumerate() {
            self.check_block(&check, &format!("particles.{block_idx}"), block)?;
        }
        self.check_count(&check)?;
        if self.fluid.is_some() {
            self.check_discretization(&check)?;
        }
        for (collider_idx, collider) in self.colliders.iter().enumerate() {
            self.check_collider(&check, &format!("colliders.{collider_idx}"), collider)?;
        }
        self.check_bodies(&check)?;
        if let Some(mpm) = &self.mpm {
            self.check_time_step(&check, mpm)?;
        }
        if let Some(dem) = &self.dem {
            self.check_contact_time(&check, dem)?;
            self.check_slab_time(&check, dem)?;
        }
        self.check_render(&check)?;
        check_output(&check, &self.output)
    }

    /// What the scene is made of: the one section that its method reads.
    fn check_matter(&self, check: &Checker<'_>) -> Result<Matter<'_>, SceneError> {
        let missing = |key: &str| SceneError::MissingKey { at: self.source.whole(), key: key.to_owned() };
        let stray = |key: &str| {
            let found = format!("[{key}] in a scene of solver.kind = \"{}\"", self.solver.kind.name());
            let expected = match self.solver.kind {
                SolverKind::Pbd => "[fluid] alone or with [snow]; [mpm] needs solver.kind = \"mpm\"",
                SolverKind::Mpm => "[mpm] alone; [fluid] and [snow] need solver.kind = \"pbd\"",
                SolverKind::Dem => {
                    "[dem] alone; [fluid] and [snow] need solver.kind = \"pbd\", [mpm] needs \"mpm\""
                }
            };
            check.fail_between(&[key, "solver.kind"], found, expected)
        };
        if self.solver.kind != SolverKind::Dem {
            let grains = [
                ("dem", self.dem.is_some()),
                ("terrain", self.terrain.is_some()),
                ("releases", !self.releases.is_empty()),
                ("slabs", !self.slabs.is_empty()),
                ("obstacles", !self.obstacles.is_empty()),
            ];
            if let Some((key, _)) = grains.iter().find(|(_, is_given)| *is_given) {
                let found = format!("[{key}] in a scene of solver.kind = \"{}\"", self.solver.kind.name());
                check.fail_between(&[key, "solver.kind"], found, "it with solver.kind = \"dem\" only")?;
            }
        }
        match self.solver.kind {
            SolverKind::Pbd => {
                if self.mpm.is_some() {
                    stray("mpm")?;
                }
                if self.time.dt_s == TimeStep::Auto {
                    let expected = "a positive number of seconds; solver.kind = \"mpm\" and \"dem\" alone work out their own";
                    check.fail("time.dt_s", "\"auto\" in a scene of solver.kind = \"pbd\"", expected)?;
                }
                self.fluid.as_ref().map(Matter::Fluid).ok_or_else(|| missing("fluid"))
            }
            SolverKind::Mpm => {
                if self.fluid.is_some() {
                    stray("fluid")?;
                }
                if self.snow.is_some() {
                    stray("snow")?;
                }
                let mpm = self.mpm.as_ref().ok_or_else(|| missing("mpm"))?;
                if !(2..=3).contains(&mpm.dimensions) {
                    check.fail("mpm.dimensions", mpm.dimensions, "2, for the x–y plane, or 3")?;
                }
                Ok(Matter::Continuum(mpm))
            }
            SolverKind::Dem => {
                let others = [
                    ("fluid", self.fluid.is_some()),
                    ("snow", self.snow.is_some()),
                    ("mpm", self.mpm.is_some()),
                ];
                if let Some((key, _)) = others.iter().find(|(_, is_given)| *is_given) {
                    stray(key)?;
                }
                self.dem.as_ref().map(Matter::Grains).ok_or_else(|| missing("dem"))
            }
        }
    }

    fn check_values(&self, check: &Checker<'_>) -> Check {
        if self.version != SCENE_VERSION {
            return check.fail(
                "version",
                self.version,
                format!("{SCENE_VERSION}, the version this program reads"),
            );
        }
        if self.name.trim().is_empty() {
            return check.fail("name", format!("\"{}\"", self.name), "a name");
        }
        if self.seed > i64::MAX as u64 {
            return check.fail("seed", self.seed, format!("a whole number up to {}", i64::MAX));
        }
        if self.scale != 1.0 {
            return check.fail("scale", number(self.scale), "1 once a scene is loaded, which applies it");
        }
        if let Some(gravity) = self.gravity_m_s2 {
            check.vector("gravity_m_s2", gravity, "m/s²")?;
        }
        let n_axes = self.n_dimensions();
        let (min, max) = (&self.domain.min_m, &self.domain.max_m);
        check.vector("domain.min_m", *min, "metres")?;
        check.vector("domain.max_m", *max, "metres")?;
        check.extent("domain.min_m", &min[..n_axes], "domain.max_m", &max[..n_axes])?;
        if let TimeStep::Seconds(dt_s) = self.time.dt_s {
            check.positive("time.dt_s", dt_s, "seconds")?;
        }
        check.positive("time.duration_s", self.time.duration_s, "seconds")?;

        let solver = &self.solver;
        check.count("solver.iterations", solver.iterations, 1000)?;
        check.positive("solver.over_relaxation", solver.over_relaxation, "no unit")?;
        check.range("solver.over_relaxation", solver.over_relaxation, 0.0, 2.0)?;
        check.range("solver.constraint_relaxation", solver.constraint_relaxation, 0.0, 1e9)?;
        check.count("solver.steps_per_submission", solver.steps_per_submission, 4096)?;
        let pressure = &solver.artificial_pressure;
        check.range("solver.artificial_pressure.strength", pressure.strength, 0.0, 1e9)?;
        check.range("solver.artificial_pressure.radius_fraction", pressure.radius_fraction, 0.0, 0.9)?;
        check.count("solver.artificial_pressure.exponent", pressure.exponent, 32)
    }

    /// Domain, spacing and support radius against each other and against what the device can count and represent.
    fn check_discretization(&self, check: &Checker<'_>) -> Check {
        let domain = &self.domain;
        let d = self.particle_spacing_m();
        let h = self.support_radius_m();
        let extent: Vec3 = std::array::from_fn(|i| domain.max_m[i] - domain.min_m[i]);
        let keys = ["domain", "fluid.particle_spacing_m"];

        let thinnest = extent.iter().copied().fold(f64::INFINITY, f64::min);
        if thinnest < d {
            let found = format!("an extent of {} m", number(thinnest));
            return check.fail_between(
                &keys,
                found,
                format!("at least one particle spacing, {} m", number(d)),
            );
        }
        let n_cells: f64 = extent.iter().map(|e| (e / h).ceil()).product();
        if n_cells > MAX_CELLS {
            let found = format!("{} cells of edge {} m, the support radius", whole(n_cells), number(h));
            let expected = format!(
                "at most {}; enlarge fluid.particle_spacing_m or shrink the domain",
                whole(MAX_CELLS)
            );
            return check.fail_between(&keys, found, expected);
        }
        let farthest = domain.min_m.iter().chain(&domain.max_m).fold(0.0_f64, |far, x| far.max(x.abs()));
        let step = farthest * f64::from(f32::EPSILON);
        if d < MIN_STEPS_PER_SPACING * step {
            let found = format!(
                "coordinates up to {} m, which 32-bit floats resolve to {} m",
                number(farthest),
                number(step)
            );
            let expected = format!("a domain near the origin of its particle spacing of {} m", number(d));
            return check.fail_between(&keys, found, expected);
        }
        Ok(())
    }

    fn check_block(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        let within = |name: &str| format!("{key}.shape.{}.{name}", block.shape.name());
        match &block.shape {
            Shape::Box { min_m, max_m } => check.extent(&within("min_m"), min_m, &within("max_m"), max_m)?,
            Shape::Rectangle { min_m, max_m } => {
                check.extent(&within("min_m"), min_m, &within("max_m"), max_m)?
            }
            Shape::Circle { centre_m, radius_m } => {
                check.vector(&within("centre_m"), in_space(*centre_m), "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")?;
            }
            Shape::Sphere { centre_m, radius_m } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")?;
            }
            Shape::Cylinder { centre_m, radius_m, height_m, .. } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
                check.positive(&within("radius_m"), *radius_m, "metres")?;
                check.positive(&within("height_m"), *height_m, "metres")?;
            }
            Shape::Text { height_m, origin_m, depth_m, .. } => {
                check.positive(&within("height_m"), *height_m, "metres")?;
                check.vector(&within("origin_m"), *origin_m, "metres")?;
                if let Some(depth_m) = depth_m {
                    check.positive(&within("depth_m"), *depth_m, "metres")?;
                }
            }
            Shape::Mesh { scale, offset_m, .. } => {
                check.positive(&within("scale"), *scale, "metres a unit")?;
                check.vector(&within("offset_m"), *offset_m, "metres")?;
            }
        }
        match (&self.mpm, &self.dem) {
            (Some(mpm), _) => self.check_mpm_block(check, key, block, mpm)?,
            (None, Some(_)) => self.check_dem_block(check, key, block)?,
            (None, None) => self.check_pbd_block(check, key, block)?,
        }
        if self.dem.is_none() {
            check_known_to_grains(check, key, block)?;
        }
        check.vector(&format!("{key}.velocity_m_s"), block.velocity_m_s, "m/s")?;
        check.range(&format!("{key}.jitter_spacings"), block.jitter_spacings, 0.0, 0.5)?;
        if block.fill == Fill::Uniform && block.jitter_spacings > 0.0 {
            let found = format!("{} on a block filled uniformly", number(block.jitter_spacings));
            return check.fail(&format!("{key}.jitter_spacings"), found, "it only on fill = \"lattice\"");
        }

        if !block.shape.is_loaded() {
            return Ok(());
        }
        let shape_key = format!("{key}.shape.{}", block.shape.name());
        let d = self.particle_spacing_m();
        let (min, max) = block.shape.bounds_m();
        for axis in 0..3 {
            let (low, high) = (self.domain.min_m[axis], self.domain.max_m[axis]);
            let tolerance = DOMAIN_TOLERANCE_SPACINGS * d;
            if min[axis] < low - tolerance || max[axis] > high + tolerance {
                let name = AXES[axis];
                return check.fail_between(
                    &[&shape_key, "domain"],
                    format!("{name} from {} m to {} m", number(min[axis]), number(max[axis])),
                    format!("a shape inside the domain, {name} from {} m to {} m", number(low), number(high)),
                );
            }
        }
        let spacing_key = self.spacing_key();
        let keys = [shape_key.as_str(), spacing_key];
        let n_axes = self.n_dimensions();
        let thinnest = (0..n_axes).map(|i| max[i] - min[i]).fold(f64::INFINITY, f64::min);
        if block.fill == Fill::Lattice && block.shape.lattice_extent(d).contains(&0.0) {
            let spacing = match (&self.mpm, &self.dem) {
                (None, None) => spacing_key,
                (None, Some(_)) => "grain",
                (Some(_), _) => "lattice spacing",
            };
            return check.fail_between(
                &keys,
                format!("no particles, because the shape is {} m thin", number(thinnest)),
                format!("a shape at least one {spacing}, {} m, thick", number(d)),
            );
        }
        if self.block_count_estimate(block) < 1.0 {
            let (what, unit) = if n_axes == 2 { ("area", "m²") } else { ("volume", "m³") };
            return check.fail_between(
                &keys,
                format!(
                    "no particles, because the shape's {what} is {} {unit}",
                    number(block.shape.volume_m3())
                ),
                format!("at least the {what} of a particle, {} {unit}", number(d.powi(n_axes as i32))),
            );
        }
        Ok(())
    }

    fn check_count(&self, check: &Checker<'_>) -> Check {
        if self.particles.is_empty() && self.releases.is_empty() {
            if self.dem.is_none() {
                return check.fail("particles", "no particles", "at least one [[particles]] block");
            }
            return check.fail(
                "particles",
                "no particles",
                "at least one [[particles]] block or [[releases]] area",
            );
        }
        let blocks = self.particles.iter().enumerate().map(|(idx, block)| {
            let part = if block.count.is_some() { "count" } else { "shape" };
            (format!("particles.{idx}.{part}"), self.block_count_estimate(block))
        });
        let releases = self
            .releases
            .iter()
            .enumerate()
            .map(|(idx, release)| (format!("releases.{idx}"), self.release_count_estimate(release)));
        let counts: Vec<(String, f64)> = blocks.chain(releases).collect();
        let total: f64 = counts.iter().map(|(_, n)| n).sum();
        if total <= MAX_PARTICLES as f64 {
            return Ok(());
        }
        let largest = counts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("particles", |(key, _)| key);
        let spacing_key = self.spacing_key();
        let spacing_m = match (&self.mpm, &self.dem) {
            (Some(mpm), _) => mpm.cell_size_m,
            (None, Some(dem)) => dem.radius_m,
            (None, None) => self.particle_spacing_m(),
        };
        check.fail_between(
            &[largest, spacing_key],
            format!("{} particles", whole(total)),
            format!(
                "at most {MAX_PARTICLES} in all; enlarge {spacing_key} ({} m) or shrink the shape",
                number(spacing_m)
            ),
        )
    }

    /// The key that says how far apart particles are.
    fn spacing_key(&self) -> &'static str {
        match (&self.mpm, &self.dem) {
            (Some(_), _) => "mpm.cell_size_m",
            (None, Some(_)) => "dem.radius_m",
            (None, None) => "fluid.particle_spacing_m",
        }
    }

    /// What the position-based fluid asks of a block, and what it knows nothing of.
    fn check_pbd_block(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        let mpm_only = [
            ("angular_velocity_rad_s", block.angular_velocity_rad_s.is_some()),
            ("count", block.count.is_some()),
            ("mass_spread", block.mass_spread.is_some()),
        ];
        if let Some((part, _)) = mpm_only.iter().find(|(_, is_given)| *is_given) {
            return check.fail(
                &format!("{key}.{part}"),
                "it in a scene of solver.kind = \"pbd\"",
                "it in scenes of solver.kind = \"mpm\" only",
            );
        }
        if !matches!(block.shape, Shape::Box { .. } | Shape::Sphere { .. } | Shape::Cylinder { .. }) {
            return check.fail(
                &format!("{key}.shape"),
                format!("a {} in a scene of solver.kind = \"pbd\"", block.shape.name()),
                "box, sphere or cylinder; solver.kind = \"mpm\" knows the rest",
            );
        }
        self.check_phase(check, key, block)
    }

    /// Properties that the scene's particles have not are shown by no colour.
    fn check_colour(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        let of_kind = format!("in a scene of solver.kind = \"{}\"", self.solver.kind.name());
        let (missing, others): (&[ColourBy], _) = match self.solver.kind {
            SolverKind::Pbd => (&[ColourBy::PlasticVolume, ColourBy::Mass], "speed, density, height, id"),
            SolverKind::Mpm => (
                &[ColourBy::Lambda, ColourBy::Temperature, ColourBy::Phase],
                "speed, density, height, id, plastic_volume, mass",
            ),
            SolverKind::Dem => (
                &[
                    ColourBy::Density,
                    ColourBy::Lambda,
                    ColourBy::Temperature,
                    ColourBy::Phase,
                    ColourBy::PlasticVolume,
                ],
                "speed, height, id, mass",
            ),
        };
        if missing.contains(&render.colour_by) {
            let found = format!("\"{}\" {of_kind}", render.colour_by.name());
            return check.fail("render.colour_by", found, format!("one of {others}"));
        }
        Ok(())
    }

    /// A surface is of bodies in space, and shows no property.
    fn check_scheme(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        check.range("render.surface_cell_spacings", render.surface_cell_spacings, 0.25, 4.0)?;
        check.range("render.surface_level", render.surface_level, 0.05, 0.95)?;
        let found = format!("\"{}\"", render.scheme.name());
        if render.scheme.has_surface() && self.n_dimensions() == 2 {
            return check.fail("render.scheme", format!("{found} in a scene in a plane"), "\"sprites\"");
        }
        if render.scheme.has_surface() && render.shading == crate::Shading::Density {
            let found = format!("{found} with render.shading = \"density\"");
            return check.fail("render.scheme", found, "\"sprites\"");
        }
        if render.scheme == RenderScheme::SurfaceAndSlabs && self.slabs.is_empty() {
            let found = format!("{found} in a scene without [[slabs]]");
            return check.fail("render.scheme", found, "\"sprites\" or \"surface\"");
        }
        Ok(())
    }

    fn check_render(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        // 16384 is the largest image that common devices draw.
        check.count("render.width_px", render.width_px, 16384)?;
        check.count("render.height_px", render.height_px, 16384)?;
        self.check_colour(check)?;
        if let Some([low, high]) = render.colour_range {
            let key = "render.colour_range";
            if !(low.is_finite() && high.is_finite() && low < high) {
                let found = format!("[{}, {}]", number(low), number(high));
                return check.fail(key, found, "two numbers, the lower first");
            }
        }
        self.check_scheme(check)?;
        check.range("render.particle_radius_spacings", render.particle_radius_spacings, 0.01, 10.0)?;
        check.range("render.water_radius_spacings", render.water_radius_spacings, 0.01, 10.0)?;
        check.range("render.water_opacity", render.water_opacity, 0.0, 0.99)?;
        for (i, component) in render.background_srgb.into_iter().enumerate() {
            check.range(&format!("render.background_srgb.{i}"), component, 0.0, 1.0)?;
        }
        check.range("render.fog_per_m", render.fog_per_m, 0.0, 1e3)?;
        if let Some(azimuth_deg) = render.sun_azimuth_deg {
            check.range("render.sun_azimuth_deg", azimuth_deg, -360.0, 360.0)?;
        }
        check.range("render.sun_elevation_deg", render.sun_elevation_deg, 0.0, 90.0)?;
        let camera = &render.camera;
        if let Some(target) = camera.target_m {
            check.vector("render.camera.target_m", target, "metres")?;
        }
        if let Some(distance) = camera.distance_m {
            check.positive("render.camera.distance_m", distance, "metres")?;
        }
        check.range("render.camera.azimuth_deg", camera.azimuth_deg, -360.0, 360.0)?;
        check.range("render.camera.elevation_deg", camera.elevation_deg, -89.0, 89.0)?;
        check.range("render.camera.vertical_fov_deg", camera.vertical_fov_deg, 1.0, 150.0)
    }
}

/// What a scene is made of.
enum Matter<'a> {
    Fluid(&'a Fluid),
    Continuum(&'a Mpm),
    Grains(&'a Dem),
}

/// What only grains know is refused of other particles.
fn check_known_to_grains(check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
    let expected = "it in scenes of solver.kind = \"dem\" only";
    if block.fill == Fill::Random {
        return check.fail(&format!("{key}.fill"), "\"random\"", expected);
    }
    match block.packing_fraction {
        Some(share) => check.fail(&format!("{key}.packing_fraction"), number(share), expected),
        None => Ok(()),
    }
}

fn check_fluid(check: &Checker<'_>, fluid: &Fluid) -> Check {
    check.positive("fluid.particle_spacing_m", fluid.particle_spacing_m, "metres")?;
    check.positive("fluid.rest_density_kg_m3", fluid.rest_density_kg_m3, "kg/m³")?;
    check.range("fluid.support_radius_spacings", fluid.support_radius_spacings, 1.1, 5.0)?;
    check.range("fluid.xsph_viscosity", fluid.xsph_viscosity, 0.0, 1.0)?;
    check.range("fluid.wall_friction", fluid.wall_friction, 0.0, 1.0)?;
    match fluid.particle_mass_kg {
        Some(mass) => check.positive("fluid.particle_mass_kg", mass, "kg"),
        None => Ok(()),
    }
}

fn check_output(check: &Checker<'_>, output: &Output) -> Check {
    let cadences = [
        ("output.render_every", output.render_every),
        ("output.record_every", output.record_every),
        ("output.metrics_every", output.metrics_every),
    ];
    for (key, every) in cadences {
        match every {
            Some(Every::Steps(0)) => return check.fail(key, "0 steps", "at least 1"),
            Some(Every::Seconds(s)) => check.positive(key, s, "seconds")?,
            _ => {}
        }
    }
    let columns = output.record_columns.as_deref().unwrap_or_default();
    for (column_idx, column) in columns.iter().enumerate() {
        let key = format!("output.record_columns.{column_idx}");
        if columns[..column_idx].contains(column) {
            return check.fail(&key, format!("\"{column}\" again"), "each column once");
        }
    }
    Ok(())
}

/// A point of the plane z = 0.
fn in_space([x, y]: [f64; 2]) -> Vec3 {
    [x, y, 0.0]
}

pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// Checks of single values, with the source that says where they stand.
pub(crate) struct Checker<'a> {
    pub(crate) source: &'a Source,
}

impl Checker<'_> {
    pub(crate) fn fail(&self, key: &str, found: impl ToString, expected: impl ToString) -> Check {
        self.fail_between(&[key], found, expected)
    }

    /// The constraint between `keys` does not hold; the first is the one named.
    pub(crate) fn fail_between(&self, keys: &[&str], found: impl ToString, expected: impl ToString) -> Check {
        Err(SceneError::Value {
            at: self.source.locate_between(keys),
            key: keys[0].to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        })
    }

    pub(crate) fn positive(&self, key: &str, value: f64, unit: &str) -> Check {
        if value > 0.0 && (MIN_POSITIVE..=MAX_MAGNITUDE).contains(&value) {
            return Ok(());
        }
        let of_unit = if unit == "no unit" { String::new() } else { format!(" of {unit}") };
        let bounds = if value > 0.0 && value.is_finite() {
            format!(" between {MIN_POSITIVE:e} and {:e}", MAX_MAGNITUDE)
        } else {
            String::new()
        };
        self.fail(key, number(value), format!("a positive number{of_unit}{bounds}"))
    }

    pub(crate) fn range(&self, key: &str, value: f64, low: f64, high: f64) -> Check {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        self.fail(key, number(value), format!("a number from {} to {}", number(low), number(high)))
    }

    pub(crate) fn count(&self, key: &str, value: u32, high: u32) -> Check {
        if (1..=high).contains(&value) {
            return Ok(());
        }
        self.fail(key, value, format!("a whole number from 1 to {high}"))
    }

    pub(crate) fn vector(&self, key: &str, value: Vec3, unit: &str) -> Check {
        if value.iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Ok(());
        }
        let of_unit = if unit == "no unit" { String::new() } else { format!(" of {unit}") };
        self.fail(key, vector(value), format!("three finite numbers{of_unit}, at most {:e}", MAX_MAGNITUDE))
    }

    /// Corners of a box or rectangle, the lower first.
    pub(crate) fn extent(&self, min_key: &str, min: &[f64], max_key: &str, max: &[f64]) -> Check {
        for (key, corner) in [(min_key, min), (max_key, max)] {
            self.vector(key, std::array::from_fn(|i| corner.get(i).copied().unwrap_or(0.0)), "metres")?;
        }
        for axis in 0..min.len() {
            if min[axis] >= max[axis] {
                let name = AXES[axis];
                let found = format!("{name} = {} m", number(max[axis]));
                let expected = format!("more than the lower corner's {name} = {} m", number(min[axis]));
                return self.fail_between(&[max_key, min_key], found, expected);
            }
        }
        Ok(())
    }
}

/// A number as TOML would write it, without digits that say nothing.
pub(crate) fn number(x: f64) -> String {
    let magnitude = x.abs();
    if !x.is_finite() {
        x.to_string().to_lowercase()
    } else if magnitude == 0.0 || (1e-4..1e9).contains(&magnitude) {
        // Twelve decimals hide the rounding of sums such as 0.1 + 0.2.
        let rounded = (x * 1e12).round() / 1e12;
        format!("{rounded}")
    } else {
        format!("{x:e}")
    }
}

pub(crate) fn vector(v: Vec3) -> String {
    format!("[{}]", v.map(number).join(", "))
}

/// A positive number cut off after four digits.
pub(crate) fn rounded_down(x: f64) -> f64 {
    let power = 3 - x.log10().floor() as i32;
    // Dividing by a whole power of ten gives the number next to the decimal.
    let unit = 10.0_f64.powi(power.abs());
    if power < 0 { (x / unit).floor() * unit } else { (x * unit).floor() / unit }
}

/// A whole number in full up to 10¹⁵, beyond that in powers of ten.
pub(crate) fn whole(x: f64) -> String {
    if x < 1e15 { format!("{x:.0}") } else { format!("{x:.1e}") }
}
