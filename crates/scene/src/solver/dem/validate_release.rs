//! Validates the release areas of grains.

use crate::check::{AXES, Check, Checker, number, rounded_down};
use crate::{Dem, Release, ReleaseArea, Scene, Terrain};

/// Minimum thickness of a release in radii of the largest grain: the lattice of grains has layers of that
/// thickness, and there must not be millions of them with few grains each.
const MIN_THICKNESS_RADII: f64 = 0.01;

impl Scene {
    pub(crate) fn check_releases(&self, check: &Checker<'_>, dem: &Dem) -> Check {
        for (idx, release) in dem.releases.iter().enumerate() {
            self.check_release(check, &format!("dem.releases.{idx}"), release, dem)?;
        }
        Ok(())
    }

    fn check_release(&self, check: &Checker<'_>, key: &str, release: &Release, dem: &Dem) -> Check {
        let within = |name: &str| format!("{key}.{name}");
        if self.terrain.is_none() {
            check.fail(key, "an area of release and no [terrain]", "a [terrain] that it is on")?;
        }
        match (&release.polygons, &release.polygon_m) {
            (None, None) => check.missing(key, &within("polygons or polygon_m"))?,
            (Some(_), Some(_)) => {
                let keys = [&*within("polygon_m"), &*within("polygons")];
                check.fail_between(&keys, "it together with polygons", "one of the two")?;
            }
            (None, Some(_)) if release.thickness_m.is_none() => check.missing(key, &within("thickness_m"))?,
            _ => {}
        }
        check.vector(&within("velocity_m_s"), release.velocity_m_s, "m/s")?;
        let densest = Release::max_density_kg_m3(dem);
        let bulk = release.bulk_density_kg_m3(dem);
        if bulk > densest {
            check.fail_between(
                &[&within("bulk_density_kg_m3"), "dem.density_kg_m3", "dem.radius_spread"],
                format!("{} kg/m³", number(bulk)),
                format!(
                    "at most {} kg/m³, that of grains in their closest packing",
                    number(rounded_down(densest))
                ),
            )?;
        }
        if let (Some(terrain), Some(areas)) = (self.ground(), release.areas()) {
            let name = if release.polygons.is_some() { "polygons" } else { "polygon_m" };
            for (area_idx, area) in areas.iter().enumerate() {
                let thinnest = MIN_THICKNESS_RADII * dem.max_radius_m();
                if area.thickness_m < thinnest {
                    let name = if release.thickness_m.is_some() { "thickness_m" } else { name };
                    check.fail_between(
                        &[&within(name), "dem.radius_m", "dem.radius_spread"],
                        format!("a thickness of {} m", number(area.thickness_m)),
                        format!("at least {} m, a hundredth of a grain's radius", number(thinnest)),
                    )?;
                }
                self.check_area(check, &within(name), area_idx, area, release, terrain)?;
            }
        }
        Ok(())
    }

    /// Checks that an area lies on the map and in the domain.
    fn check_area(
        &self,
        check: &Checker<'_>,
        key: &str,
        area_idx: usize,
        area: &ReleaseArea,
        release: &Release,
        terrain: &Terrain,
    ) -> Check {
        let of = |what: String| match &release.polygons {
            Some(path) => format!("{path}: polygon {}: {what}", area_idx + 1),
            None => what,
        };
        if let Some(problem) = area.polygon.problem() {
            return check.fail(key, of(problem), "a polygon of three corners or more that bounds an area");
        }
        let corners = || area.polygon.rings.iter().flatten().copied();
        let off = corners().filter(|corner| terrain.height_m(*corner).is_none()).count();
        if let Some(corner) = corners().find(|corner| terrain.height_m(*corner).is_none()) {
            let [easting, northing] = terrain.to_map_m(corner).map(number);
            let [west, south] = terrain.to_map_m([0.0; 2]).map(number);
            let [east, north] = terrain.to_map_m(terrain.extent_m()).map(number);
            let [min_edge, max_edge] =
                [corner[0].abs().min(corner[1].abs()), corner[0].abs().max(corner[1].abs())];
            let is_generated = self.terrain.as_ref().is_some_and(|source| source.generated.is_some());
            let in_degrees = !is_generated
                && min_edge.is_finite()
                && max_edge.is_finite()
                && corners().all(|corner| {
                    let [longitude, latitude] = terrain.to_map_m(corner);
                    longitude.abs() <= 180.0 && latitude.abs() <= 90.0
                });
            let hint = if in_degrees { "; these look like longitudes and latitudes" } else { "" };
            return check.fail_between(
                &[key, "terrain"],
                of(format!(
                    "{off} of {} corners off the map, the first at easting {easting} m and northing \
                     {northing} m{hint}",
                    corners().count()
                )),
                format!(
                    "an area on the known heights of the terrain, from ({west}, {south}) m to ({east}, \
                     {north}) m"
                ),
            );
        }
        let ([left, low], [right, high]) = area.polygon.bounds();
        let (min, max) = (self.domain.min_m, self.domain.max_m);
        for (axis, [min_edge, max_edge]) in [[left, right], [low, high]].into_iter().enumerate() {
            if min_edge < min[axis] || max_edge > max[axis] {
                let name = AXES[axis];
                return check.fail_between(
                    &[key, "domain"],
                    of(format!("{name} from {} m to {} m", number(min_edge), number(max_edge))),
                    format!(
                        "an area inside the domain, {name} from {} m to {} m",
                        number(min[axis]),
                        number(max[axis])
                    ),
                );
            }
        }
        Ok(())
    }
}
