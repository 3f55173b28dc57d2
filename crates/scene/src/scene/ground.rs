//! Ground of a scene, and the domain on it.

use crate::check::{Check, Checker, number};
use crate::{Axis, Body, BodyShape, Scene, Terrain, TerrainSource, Vec3};

impl Scene {
    /// Returns the ground of the scene, if it has one and its file was loaded.
    pub fn ground(&self) -> Option<&Terrain> {
        self.terrain.as_ref().and_then(TerrainSource::terrain)
    }

    /// Returns the height of the ground at a horizontal position, in m along the up axis: that of the
    /// terrain, or of the domain's floor without one; `None` off the map.
    pub fn ground_height_m(&self, at_m: [f64; 2]) -> Option<f64> {
        match self.ground() {
            Some(terrain) => terrain.height_m(at_m),
            None => Some(self.floor_m()),
        }
    }

    /// Returns the depth of a point inside the solid part of a body at time 0, in m; negative where particles
    /// may be. For a mesh only the sign is known, and the depth is infinite; nothing is inside a mesh that
    /// was not loaded.
    pub fn body_depth_m(&self, body: &Body, point_m: Vec3) -> f64 {
        body.depth_m(point_m, self.up_axis, self.ground_below_m(body))
    }

    /// Returns true if a point lies inside the solid part of a body at time 0, or no farther away than
    /// `distance_m`. False for a mesh whose file was not loaded.
    pub(crate) fn is_within_body(&self, body: &Body, distance_m: f64, point_m: Vec3) -> bool {
        body.is_within(distance_m, point_m, self.up_axis, self.ground_below_m(body))
    }

    /// Returns the height in m at which an upright cylinder with this foot stands: that of the ground, or of
    /// the domain's floor off the map.
    pub fn foot_height_m(&self, foot_m: [f64; 2]) -> f64 {
        self.ground_height_m(foot_m).unwrap_or(self.floor_m())
    }

    /// Returns the height of the ground at the foot of an upright cylinder in m, and 0 for other bodies.
    fn ground_below_m(&self, body: &Body) -> f64 {
        match body.shape {
            BodyShape::UprightCylinder { foot_m, .. } => self.foot_height_m(foot_m),
            _ => 0.0,
        }
    }

    fn floor_m(&self) -> f64 {
        self.domain.min_m[self.up_axis.index()]
    }

    pub(crate) fn check_terrain(&self, check: &Checker<'_>, source: &TerrainSource) -> Check {
        if self.up_axis != Axis::Z {
            let found = format!("\"{}\"", ["x", "y", "z"][self.up_axis.index()]);
            check.fail_between(&["up_axis", "terrain"], found, "\"z\", which is up on a terrain")?;
        }
        match (&source.file, &source.generated) {
            (None, None) => check.missing("terrain", "terrain.file or terrain.generated")?,
            (Some(_), Some(_)) => {
                let keys = ["terrain.generated", "terrain.file"];
                check.fail_between(&keys, "it together with file", "one of the two")?;
            }
            (None, Some(generated)) => generated.check(check, "terrain.generated")?,
            (Some(_), None) => {}
        }
        if let Some([black, white]) = source.height_range_m
            && !(black.is_finite() && white.is_finite() && black != white)
        {
            let found = format!("[{}, {}]", number(black), number(white));
            check.fail("terrain.height_range_m", found, "two finite heights in metres that differ")?;
        }
        match source.terrain() {
            Some(terrain) => self.check_domain_on(check, terrain),
            None => Ok(()),
        }
    }

    /// Checks that the walls stand on the map and the floor is under it: nothing leaves a map whose edge is a
    /// rectangle.
    fn check_domain_on(&self, check: &Checker<'_>, terrain: &Terrain) -> Check {
        if !check.are_valid(&["domain", "terrain", "up_axis"]) {
            return Ok(());
        }
        let (low, high) = terrain.bounds_m();
        let slack = 1e-6 * terrain.cell_m();
        let (min, max) = (self.domain.min_m, self.domain.max_m);
        for axis in 0..2 {
            if min[axis] < low[axis] - slack || max[axis] > high[axis] + slack {
                let name = ["x", "y"][axis];
                return check.fail_between(
                    &["domain", "terrain"],
                    format!("{name} from {} m to {} m", number(min[axis]), number(max[axis])),
                    format!(
                        "walls on the terrain, {name} from {} m to {} m",
                        number(low[axis]),
                        number(high[axis])
                    ),
                );
            }
        }
        let lowest = terrain.lowest_within_m([min[0], min[1]], [max[0], max[1]]);
        match lowest {
            None => check.fail_between(
                &["domain", "terrain"],
                "a domain where the terrain has no known height",
                "a domain on the map",
            ),
            Some(lowest) if min[2] > lowest || max[2] <= lowest => check.fail_between(
                &["domain", "terrain"],
                format!("z from {} m to {} m", number(min[2]), number(max[2])),
                format!("a floor below the terrain, whose lowest height there is {} m", number(lowest)),
            ),
            Some(_) => Ok(()),
        }
    }
}
