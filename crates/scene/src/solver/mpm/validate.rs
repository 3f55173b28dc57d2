//! Validates the `[mpm]` section, and the size of its grid.

use super::section::{Contact, Mpm, Transfer};
use crate::check::{Check, Checker, MIN_STEPS_PER_SPACING, number, vector, whole};
use crate::{Body, BodyMotion, BodyShape, ParticleBlock, Phase, Scene, Shape, Vec3};

/// Number of nodes along each axis of a grid block, and number of nodes of the grid beyond the domain.
const BLOCK_EDGE: f64 = 4.0;
const MARGIN_NODES: f64 = 9.0;

/// Maximum number of blocks: the key of a particle, its block times the nodes of one plus the node, has 32
/// bits.
const MAX_BLOCKS: [f64; 2] = [(1_u64 << 28) as f64, (1_u64 << 26) as f64];

impl Scene {
    pub(crate) fn check_mpm(&self, check: &Checker<'_>, mpm: &Mpm) -> Check {
        check_damping(check, mpm)?;
        check_mass_cutoff(check, mpm)?;
        if mpm.contact == Some(Contact::Particles) {
            let expected = "\"nodes\", or an affine transfer and an explicit step";
            if mpm.transfer == Transfer::PicFlip {
                let found = "\"particles\" with mpm.transfer = \"pic_flip\", which does not damp the \
                             vibrations of single particles";
                check.fail_between(&["mpm.contact", "mpm.transfer"], found, expected)?;
            }
            if mpm.implicit.is_some() {
                let found = "\"particles\" with a semi-implicit step, whose solve holds nodes at surfaces";
                check.fail_between(&["mpm.contact", "mpm.implicit"], found, expected)?;
            }
        }
        if mpm.dimensions == 2 {
            self.check_plane(check)?;
            if !self.emitters.is_empty() {
                let expected = "mpm.dimensions = 3: mouths of emitters are areas in space";
                check.fail_between(&["emitters", "mpm.dimensions"], "emitters in a plane", expected)?;
            }
        }
        let dynamic = self.bodies.iter().position(|body| body.dynamics().is_some());
        if let (Some(idx), true) = (dynamic, mpm.implicit.is_some()) {
            check.fail_between(
                &[&format!("bodies.{idx}.motion.dynamic"), "mpm.implicit"],
                "a dynamic body with a semi-implicit step, which does not measure its load",
                "an explicit step",
            )?;
        }
        Ok(())
    }

    /// Checks that nothing leaves the plane in scenes of two dimensions.
    fn check_plane(&self, check: &Checker<'_>) -> Check {
        if self.up_axis == crate::Axis::Z {
            let expected = "\"x\" or \"y\", the axes of the plane of mpm.dimensions = 2";
            check.fail_between(&["up_axis", "mpm.dimensions"], "\"z\"", expected)?;
        }
        if let Some(gravity) = self.gravity_m_s2 {
            check.in_plane("gravity_m_s2", gravity)?;
        }
        if !(self.domain.min_m[2] <= 0.0 && 0.0 <= self.domain.max_m[2]) {
            let found =
                format!("z from {} m to {} m", number(self.domain.min_m[2]), number(self.domain.max_m[2]));
            let expected = "a domain about z = 0, the plane of mpm.dimensions = 2";
            check.fail_between(&["domain", "mpm.dimensions"], found, expected)?;
        }
        for (idx, body) in self.bodies.iter().enumerate() {
            check_body_in_plane(check, &format!("bodies.{idx}"), body)?;
        }
        Ok(())
    }

    /// Checks the requirements of the material point method on a block, and refuses keys that do not apply to
    /// it.
    pub(crate) fn check_mpm_block(
        &self,
        check: &Checker<'_>,
        key: &str,
        block: &ParticleBlock,
        mpm: &Mpm,
    ) -> Check {
        if block.phase == Phase::Snow {
            let found = "\"snow\" in a scene of solver.kind = \"mpm\"";
            let expected = "no phase: the material is that of [mpm.material]";
            check.fail(&format!("{key}.phase"), found, expected)?;
        }
        if let Some(w) = block.angular_velocity_rad_s {
            let w_key = format!("{key}.angular_velocity_rad_s");
            check.vector(&w_key, w, "rad/s")?;
            if mpm.dimensions == 2 {
                check.about_z(&w_key, w, "rate")?;
            }
        }
        if mpm.dimensions == 2 {
            check.in_plane(&format!("{key}.velocity_m_s"), block.velocity_m_s)?;
        }
        if let Shape::Text { origin_m, depth_m: None, .. } = block.shape {
            check.in_plane(&format!("{key}.shape.text.origin_m"), origin_m)?;
        }
        let shape_key = format!("{key}.shape");
        match (mpm.dimensions, block.shape.is_flat()) {
            (2, false) => check.fail_between(
                &[&shape_key, "mpm.dimensions"],
                format!("{}, a shape of three dimensions", described(&block.shape)),
                "a shape of two (rectangle, circle, text), because mpm.dimensions = 2",
            ),
            (3, true) => check.fail_between(
                &[&shape_key, "mpm.dimensions"],
                format!("{}, a shape of two dimensions", described(&block.shape)),
                "a shape of three (box, sphere, cylinder, text with depth_m, mesh), because mpm.dimensions = \
                 3",
            ),
            _ => Ok(()),
        }
    }

    /// Checks domain and cell size against each other and against what the device can count and represent.
    pub(crate) fn check_grid(&self, check: &Checker<'_>, mpm: &Mpm) -> Check {
        if !check.are_valid(&["mpm.cell_size_m", "mpm.dimensions", "domain"]) {
            return Ok(());
        }
        let (h, domain) = (mpm.cell_size_m, &self.domain);
        let n_axes = mpm.dimensions as usize;
        let keys = ["mpm.cell_size_m", "domain"];
        let extent: Vec3 = std::array::from_fn(|i| domain.max_m[i] - domain.min_m[i]);
        let thinnest = extent[..n_axes].iter().copied().fold(f64::INFINITY, f64::min);
        if thinnest < h {
            let expected = format!("at most the extent of the domain, {} m", number(thinnest));
            return check.fail_between(&keys, format!("{} m", number(h)), expected);
        }
        let n_blocks: f64 =
            extent[..n_axes].iter().map(|e| (((e / h).ceil() + MARGIN_NODES) / BLOCK_EDGE).ceil()).product();
        let max = MAX_BLOCKS[n_axes - 2];
        if n_blocks > max {
            return check.fail_between(
                &keys,
                format!("{} m, which makes a grid of {} blocks", number(h), whole(n_blocks)),
                format!("larger cells or a smaller domain, of {} blocks at most", whole(max)),
            );
        }
        let corners = domain.min_m[..n_axes].iter().chain(&domain.max_m[..n_axes]);
        let farthest = corners.fold(0.0_f64, |far, x| far.max(x.abs()));
        let step = farthest * f64::from(f32::EPSILON);
        if h < MIN_STEPS_PER_SPACING * step {
            let found = format!(
                "{} m and coordinates up to {} m, which 32-bit floats resolve to {} m",
                number(h),
                number(farthest),
                number(step)
            );
            return check.fail_between(&keys, found, "a domain near the origin, or larger cells");
        }
        Ok(())
    }
}

fn described(shape: &Shape) -> String {
    match shape {
        Shape::Text { depth_m: Some(_), .. } => "text with depth_m".to_owned(),
        Shape::Text { .. } => "text without depth_m".to_owned(),
        _ => format!("a {}", shape.name()),
    }
}

/// Checks the mass below which nodes take no stress.
fn check_mass_cutoff(check: &Checker<'_>, mpm: &Mpm) -> Check {
    if mpm.node_mass_cutoff > 0.0 && mpm.implicit.is_some() {
        return check.fail_between(
            &["mpm.node_mass_cutoff", "mpm.implicit"],
            format!("{} together with mpm.implicit", number(mpm.node_mass_cutoff)),
            "0: the implicit solve is of all nodes",
        );
    }
    Ok(())
}

/// Checks the damping of PIC/FLIP, which is per step or per second.
fn check_damping(check: &Checker<'_>, mpm: &Mpm) -> Check {
    match (mpm.flip_ratio, mpm.pic_rate_per_s) {
        (Some(ratio), Some(rate)) => check.fail_between(
            &["mpm.flip_ratio", "mpm.pic_rate_per_s"],
            format!("{} together with mpm.pic_rate_per_s = {}", number(ratio), number(rate)),
            "one of them: flip_ratio damps per step, pic_rate_per_s per second",
        ),
        _ => Ok(()),
    }
}

/// Checks that a body has a cross-section and does not leave the plane.
fn check_body_in_plane(check: &Checker<'_>, key: &str, body: &Body) -> Check {
    let name = body.shape.name();
    let shape_key = format!("{key}.shape.{name}");
    match &body.shape {
        BodyShape::Plane { normal, .. } => check.in_plane(&format!("{shape_key}.normal"), *normal)?,
        BodyShape::Sphere { .. } => {}
        BodyShape::Box { rotation_deg, .. } => {
            check.about_z(&format!("{shape_key}.rotation_deg"), *rotation_deg, "turn")?;
        }
        BodyShape::Heightfield { heights_m, .. } => check.one_row(&shape_key, heights_m)?,
        BodyShape::Cylinder { .. }
        | BodyShape::UprightCylinder { .. }
        | BodyShape::Capsule { .. }
        | BodyShape::Mesh { .. } => {
            let expected = "a plane, sphere, box or heightfield, because mpm.dimensions = 2";
            check.fail_between(&[&shape_key, "mpm.dimensions"], body.shape.noun(), expected)?;
        }
    }
    let Some(motion) = &body.motion else { return Ok(()) };
    let within = |name: &str| format!("{key}.motion.{}.{name}", motion.name());
    match motion {
        BodyMotion::Dynamic(_) => check.fail_between(
            &[&format!("{key}.motion.dynamic"), "mpm.dimensions"],
            "a dynamic body",
            "dynamic bodies with mpm.dimensions = 3 only",
        ),
        BodyMotion::Uniform(motion) => check.in_plane(&within("velocity_m_s"), motion.velocity_m_s),
        BodyMotion::Oscillating { amplitude_m, .. } => check.in_plane(&within("amplitude_m"), *amplitude_m),
        BodyMotion::Spinning { angular_velocity_rad_s, .. } => {
            check.about_z(&within("angular_velocity_rad_s"), *angular_velocity_rad_s, "rate")
        }
        BodyMotion::Keyframed { keys, .. } => keys.iter().enumerate().try_for_each(|(idx, frame)| {
            check.in_plane(&within(&format!("keys.{idx}.offset_m")), frame.offset_m)?;
            check.about_z(&within(&format!("keys.{idx}.rotation_deg")), frame.rotation_deg, "turn")
        }),
    }
}

/// Checks of scenes of two dimensions.
impl Checker<'_> {
    fn in_plane(&self, key: &str, value: Vec3) -> Check {
        if value[2] == 0.0 {
            return Ok(());
        }
        let expected = "a third component of 0, because mpm.dimensions = 2";
        self.fail_between(&[key, "mpm.dimensions"], vector(value), expected)
    }

    /// Checks rotations or an angular velocity (`noun`), which may be about z only.
    fn about_z(&self, key: &str, value: Vec3, noun: &str) -> Check {
        if value[0] == 0.0 && value[1] == 0.0 {
            return Ok(());
        }
        let expected = format!("[0, 0, {noun} about z], because mpm.dimensions = 2");
        self.fail_between(&[key, "mpm.dimensions"], vector(value), expected)
    }

    /// Checks the number of rows of the heightfield at `key`.
    fn one_row(&self, key: &str, heights_m: &[Vec<f64>]) -> Check {
        if heights_m.len() == 1 {
            return Ok(());
        }
        let found = format!("{} rows of heights", heights_m.len());
        let expected = "one row, because mpm.dimensions = 2";
        self.fail_between(&[&format!("{key}.heights_m"), "mpm.dimensions"], found, expected)
    }
}
