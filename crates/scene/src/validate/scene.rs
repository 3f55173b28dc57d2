//! Validates a scene.

use crate::check::{AXES, Check, Checker, number};
use crate::format::error::SceneError;
use crate::scene::{Fill, GridLines, ParticleBlock, SCENE_VERSION, Scene};
use crate::solver::SolverScene;
use crate::solver::feature::Feature;
use crate::solver::registry;
use crate::{Shape, TimeStep, Vec3};

/// Tolerance for the rounding of decimal numbers, as a share of a spacing, by which blocks may reach past the
/// domain.
const DOMAIN_TOLERANCE_SPACINGS: f64 = 1e-6;

impl Scene {
    /// Makes the error for an unsuitable value: for problems that are known only once there is a device.
    pub fn value_error(&self, key: &str, found: impl ToString, expected: impl ToString) -> SceneError {
        SceneError::Value {
            at: self.source.locate_between(&[key]),
            key: key.to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// Checks that the scene is valid: every value in its range, and all of them consistent.
    ///
    /// Loading has done this already; call it after changing fields.
    ///
    /// # Errors
    /// [`SceneError::Value`] for a value that is wrong, [`SceneError::Several`] for several. The number of
    /// particles, the time step and the discretization are checked once all others are right.
    pub fn validate(&self) -> Result<(), SceneError> {
        // Stops at the first error.
        let check = Checker::new(&self.source);
        let all = Checker::collecting(&self.source);
        let kind = self.solver.kind.name();
        let solver = registry::find(kind).ok_or_else(|| registry::unknown_kind(kind, &self.source))?;
        self.check_sections(solver)?;
        self.check_features(&check)?;
        self.check_ranges(&all)?;
        self.check_values(&all)?;
        if let Some(terrain) = &self.terrain {
            self.check_terrain(&all, terrain)?;
        }
        solver.validate(self, &all)?;
        self.check_render(&all)?;
        self.check_output(&all)?;
        for (block_idx, block) in self.particles.iter().enumerate() {
            self.check_block(&all, solver, &format!("particles.{block_idx}"), block)?;
        }
        self.check_bodies(&all)?;
        self.check_joints(&all)?;
        self.check_sources(&all)?;
        all.refused()?;
        self.check_overlaps(&check)?;
        self.check_speeds(&check)?;
        self.check_count(&check)?;
        solver.check_discretization(self, &check)?;
        self.check_streams(&check)?;
        self.check_travel(&check)?;
        self.check_steps(&check)
    }

    /// Checks that the sections are those of the scene's solver, and that all required ones are present.
    fn check_sections(&self, solver: &dyn SolverScene) -> Check {
        let is_own = |name: &str| solver.sections().iter().any(|section| section.name() == name);
        if let Some(stray) = self.sections.names().find(|name| !is_own(name)) {
            return Err(registry::stray_section(stray, solver, &self.source));
        }
        let is_given = |name: &str| self.sections.names().any(|given| given == name);
        match solver.sections().iter().find(|section| section.is_required() && !is_given(section.name())) {
            Some(section) => {
                Err(SceneError::MissingKey { at: self.source.whole(), key: section.name().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Refuses parts of the scene that the solver does not support.
    fn check_features(&self, check: &Checker<'_>) -> Check {
        let kind = self.solver.kind.name();
        let given = [
            (Feature::Terrain, self.terrain.is_some()),
            (Feature::Bodies, !self.bodies.is_empty()),
            (Feature::Emitters, !self.emitters.is_empty()),
            (Feature::Drains, !self.drains.is_empty()),
        ];
        let is_unknown = |feature: Feature| !self.has_feature(feature);
        if let Some((feature, _)) = given.into_iter().find(|(part, is_given)| *is_given && is_unknown(*part))
        {
            let key = feature.key();
            let found = format!("[{key}] in a scene of solver.kind = \"{kind}\"");
            let expected = format!("it with solver.kind = {} only", registry::kinds_with(feature, "or"));
            return check.fail_between(&[key, "solver.kind"], found, expected);
        }
        if self.domain.periodic != [false; 3] && is_unknown(Feature::PeriodicDomain) {
            return check.fail_between(
                &["domain.periodic", "solver.kind"],
                format!("periodic axes in a scene of solver.kind = \"{kind}\""),
                format!("solver.kind = {}", registry::kinds_with(Feature::PeriodicDomain, "or")),
            );
        }
        if self.render.grid != GridLines::None && is_unknown(Feature::GridLines) {
            return check.fail_between(
                &["render.grid", "solver.kind"],
                format!("lines of a grid in a scene of solver.kind = \"{kind}\""),
                format!("solver.kind = {}", registry::kinds_with(Feature::GridLines, "or")),
            );
        }
        if self.time.dt_s == TimeStep::Auto && is_unknown(Feature::AutoTimeStep) {
            let kinds = registry::kinds_with(Feature::AutoTimeStep, "and");
            return check.fail(
                "time.dt_s",
                format!("\"auto\" in a scene of solver.kind = \"{kind}\""),
                format!("a positive number of seconds; only solver.kind = {kinds} determine it themselves"),
            );
        }
        self.check_substeps(check)
    }

    /// Refuses substeps where the solver has none.
    fn check_substeps(&self, check: &Checker<'_>) -> Check {
        let time = &self.time;
        if !time.substeps.is_one() && !self.has_feature(Feature::Substeps) {
            let kind = self.solver.kind.name();
            return check.fail_between(
                &["time.substeps", "solver.kind"],
                format!("substeps in a scene of solver.kind = \"{kind}\""),
                format!("none, or solver.kind = {}", registry::kinds_with(Feature::Substeps, "or")),
            );
        }
        Ok(())
    }

    /// Refuses keys of a block that the solver does not support.
    fn check_block_features(&self, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        let alone = |feature: Feature| {
            format!("it in scenes of solver.kind = {} only", registry::kinds_with(feature, "or"))
        };
        let given = [
            (Feature::AngularVelocity, block.angular_velocity_rad_s.is_some()),
            (Feature::Count, block.count.is_some()),
            (Feature::MassSpread, block.mass_spread.is_some()),
        ];
        for (feature, _) in given.into_iter().filter(|(part, is_given)| *is_given && !self.has_feature(*part))
        {
            let found = format!("it in a scene of solver.kind = \"{}\"", self.solver.kind.name());
            check.fail(&format!("{key}.{}", feature.key()), found, alone(feature))?;
        }
        if self.has_feature(Feature::RandomFill) {
            return Ok(());
        }
        if block.fill == Fill::Random {
            check.fail(&format!("{key}.fill"), "\"random\"", alone(Feature::RandomFill))?;
        }
        match block.packing_fraction {
            Some(share) => {
                check.fail(&format!("{key}.packing_fraction"), number(share), alone(Feature::RandomFill))
            }
            None => Ok(()),
        }
    }

    fn check_values(&self, check: &Checker<'_>) -> Check {
        if self.version != SCENE_VERSION {
            let expected = format!("{SCENE_VERSION}, the version this program reads");
            check.fail("version", self.version, expected)?;
        }
        if self.name.trim().is_empty() {
            check.fail("name", format!("\"{}\"", self.name), "a name")?;
        }
        check.seed("seed", self.seed)?;
        if self.scale != 1.0 {
            check.fail("scale", number(self.scale), "1 once a scene is loaded, which applies it")?;
        }
        if let Some(gravity) = self.gravity_m_s2 {
            check.vector("gravity_m_s2", gravity, "m/s²")?;
        }
        let n_axes = self.n_dimensions();
        let (min, max) = (&self.domain.min_m, &self.domain.max_m);
        check.vector("domain.min_m", *min, "metres")?;
        check.vector("domain.max_m", *max, "metres")?;
        check.extent("domain.min_m", &min[..n_axes], "domain.max_m", &max[..n_axes])
    }

    fn check_block(
        &self,
        check: &Checker<'_>,
        solver: &dyn SolverScene,
        key: &str,
        block: &ParticleBlock,
    ) -> Check {
        let within = |name: &str| format!("{key}.shape.{}.{name}", block.shape.name());
        match &block.shape {
            Shape::Box { min_m, max_m } => check.extent(&within("min_m"), min_m, &within("max_m"), max_m)?,
            Shape::Rectangle { min_m, max_m } => {
                check.extent(&within("min_m"), min_m, &within("max_m"), max_m)?
            }
            Shape::Circle { centre_m, .. } => {
                check.vector(&within("centre_m"), in_space(*centre_m), "metres")?;
            }
            Shape::Sphere { centre_m, .. } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
            }
            Shape::Cylinder { centre_m, .. } => {
                check.vector(&within("centre_m"), *centre_m, "metres")?;
            }
            Shape::Text { origin_m, .. } => {
                check.vector(&within("origin_m"), *origin_m, "metres")?;
            }
            Shape::Mesh { offset_m, .. } | Shape::Points { offset_m, .. } => {
                check.vector(&within("offset_m"), *offset_m, "metres")?;
            }
        }
        if block.shape.n_points().is_some() {
            check_points(check, key, block)?;
        }
        if let Some(rows) = block.velocity_gradient_per_s {
            let gradient_key = format!("{key}.velocity_gradient_per_s");
            for row in rows {
                check.vector(&gradient_key, row, "1/s")?;
            }
            let is_out_of_plane = (0..3).any(|axis| rows[2][axis] != 0.0 || rows[axis][2] != 0.0);
            if self.n_dimensions() == 2 && is_out_of_plane {
                let expected = "a third row and a third column of 0 in scenes of two dimensions";
                check.fail_between(&[&gradient_key, "mpm.dimensions"], format!("{rows:?}"), expected)?;
            }
        }
        solver.check_block(self, check, key, block)?;
        self.check_block_features(check, key, block)?;
        check.vector(&format!("{key}.velocity_m_s"), block.velocity_m_s, "m/s")?;
        if matches!(block.fill, Fill::Uniform | Fill::BlueNoise) && block.jitter_spacings > 0.0 {
            let how = if block.fill == Fill::Uniform { "uniformly" } else { "with blue noise" };
            let found = format!("{} on a block filled {how}", number(block.jitter_spacings));
            check.fail(&format!("{key}.jitter_spacings"), found, "it only on fill = \"lattice\"")?;
        }
        self.check_extent(check, solver, key, block)
    }

    /// Checks that a block lies in the domain and has space for a particle.
    fn check_extent(
        &self,
        check: &Checker<'_>,
        solver: &dyn SolverScene,
        key: &str,
        block: &ParticleBlock,
    ) -> Check {
        let shape_key = format!("{key}.shape.{}", block.shape.name());
        let (spacing_key, _) = solver.spacing_key(self);
        // Other values of the section may determine the spacing, too.
        let section = spacing_key.split_once('.').map_or(spacing_key, |(section, _)| section);
        if !block.shape.is_loaded() || !check.are_valid(&[&shape_key]) {
            return Ok(());
        }
        let d = self.block_spacing_m(block);
        let (min, max) = block.shape.bounds_m();
        for axis in 0..3 {
            let (low, high) = (self.domain.min_m[axis], self.domain.max_m[axis]);
            let tolerance = DOMAIN_TOLERANCE_SPACINGS * d;
            if d > 0.0 && (min[axis] < low - tolerance || max[axis] > high + tolerance) {
                let name = AXES[axis];
                return check.fail_between(
                    &[&shape_key, "domain"],
                    format!("{name} from {} m to {} m", number(min[axis]), number(max[axis])),
                    format!(
                        "a shape inside the domain, {name} from {} m to {} m{}",
                        number(low),
                        number(high),
                        self.scale_hint_of_block(block)
                    ),
                );
            }
        }
        if block.shape.n_points().is_some() || !check.are_valid(&[section, key]) {
            return Ok(());
        }
        let keys = [shape_key.as_str(), spacing_key];
        let n_axes = self.n_dimensions();
        let thinnest = (0..n_axes).map(|i| max[i] - min[i]).fold(f64::INFINITY, f64::min);
        if block.fill == Fill::Lattice && block.shape.lattice_extent(d).contains(&0.0) {
            let spacing = solver.spacing_noun();
            return check.fail_between(
                &keys,
                format!("no particles, because the shape is {} m thin", number(thinnest)),
                format!(
                    "a shape at least one {spacing}, {} m, thick{}",
                    number(d),
                    self.scale_hint_of_block(block)
                ),
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
                format!(
                    "at least the {what} of a particle, {} {unit}{}",
                    number(d.powi(n_axes as i32)),
                    self.scale_hint_of_block(block)
                ),
            );
        }
        Ok(())
    }
}

/// Refuses keys that fill a shape on a block whose particles come from a file.
fn check_points(check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
    let expected = "it only on shapes that are filled with particles, not on points of a file";
    let given = [
        ("fill", block.fill != Fill::Lattice),
        ("count", block.count.is_some()),
        ("jitter_spacings", block.jitter_spacings != 0.0),
        ("packing_fraction", block.packing_fraction.is_some()),
    ];
    for (name, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        check.fail(&format!("{key}.{name}"), "it on shape.points", expected)?;
    }
    Ok(())
}

/// Returns a point of the plane z = 0.
fn in_space([x, y]: [f64; 2]) -> Vec3 {
    [x, y, 0.0]
}
