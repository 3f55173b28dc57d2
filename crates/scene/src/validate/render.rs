//! Validates the display and output sections.

use crate::Every;
use crate::check::{Check, Checker, number};
use crate::scene::{RenderScheme, Scene, Shading};

/// Maximum number of lights beside the sun, that of the renderer.
const MAX_LIGHTS: usize = 4;

impl Scene {
    /// Refuses a column name that no solver can have; which columns exist, only the solver knows.
    fn check_colour(&self, check: &Checker<'_>) -> Check {
        let name = &self.render.colour_by;
        let column =
            name.strip_suffix(['x', 'y', 'z']).and_then(|column| column.strip_suffix('.')).unwrap_or(name);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !column.starts_with(|c: char| c.is_ascii_digit())
            && !column.is_empty()
            && column.chars().all(is_plain)
        {
            return Ok(());
        }
        let expected = "the name of a column, such as velocity, or of its component, such as velocity.x";
        check.fail("render.colour_by", format!("\"{name}\""), expected)
    }

    /// Checks the surface settings: surfaces require three dimensions and are not shaded by density, and
    /// `surface_and_slabs` requires slabs.
    fn check_scheme(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        check.range("render.surface_cell_spacings", render.surface_cell_spacings, 0.25, 4.0)?;
        check.range("render.surface_level", render.surface_level, 0.05, 0.95)?;
        let found = format!("\"{}\"", render.scheme.name());
        if render.scheme != RenderScheme::Sprites && self.n_dimensions() == 2 {
            let keys = ["render.scheme", "mpm.dimensions"];
            return check.fail_between(&keys, format!("{found} in a scene in a plane"), "\"sprites\"");
        }
        if render.scheme != RenderScheme::Sprites && render.shading == Shading::Density {
            let found = format!("{found} with render.shading = \"density\"");
            return check.fail("render.scheme", found, "\"sprites\"");
        }
        if render.scheme == RenderScheme::SurfaceAndSlabs && self.slabs().is_empty() {
            let found = format!("{found} in a scene without [[dem.slabs]]");
            return check.fail("render.scheme", found, "\"sprites\" or \"surface\"");
        }
        Ok(())
    }

    fn check_fluid(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        check.range("render.fluid_radius_spacings", render.fluid_radius_spacings, 0.3, 2.0)?;
        check.range("render.fluid_anisotropy", render.fluid_anisotropy, 1.0, 8.0)?;
        check.range("render.fluid_smoothing_spacings", render.fluid_smoothing_spacings, 0.0, 16.0)?;
        for (i, absorption) in render.absorption_1_m.unwrap_or_default().into_iter().enumerate() {
            check.range(&format!("render.absorption_1_m.{i}"), absorption, 0.0, 1e6)?;
        }
        for (i, component) in render.fluid_color_srgb.into_iter().enumerate() {
            check.range(&format!("render.fluid_color_srgb.{i}"), component, 0.0, 1.0)?;
        }
        check.range("render.spray_level", render.spray_level, 0.0, 0.95)
    }

    fn check_light(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        if render.lights.len() > MAX_LIGHTS {
            let found = format!("{} lights", render.lights.len());
            check.fail("render.lights", found, format!("at most {MAX_LIGHTS} beside the sun"))?;
        }
        for (i, light) in render.lights.iter().enumerate() {
            let key = |name: &str| format!("render.lights.{i}.{name}");
            check.range(&key("azimuth_deg"), light.azimuth_deg, -360.0, 360.0)?;
            check.range(&key("elevation_deg"), light.elevation_deg, -90.0, 90.0)?;
            check.range(&key("intensity"), light.intensity, 0.0, 100.0)?;
            for (c, component) in light.color_srgb.into_iter().enumerate() {
                check.range(&key(&format!("color_srgb.{c}")), component, 0.0, 1.0)?;
            }
        }
        let snow = &render.snow;
        let given = [
            ("bump_slope", snow.bump_slope, 0.0, 2.0),
            ("bump_wavelength_m", snow.bump_wavelength_m, 1e-6, 1e6),
            ("glitter", snow.glitter, 0.0, 1.0),
            ("glitter_cell_m", snow.glitter_cell_m, 1e-6, 1e6),
        ];
        for (name, value, lowest, highest) in given {
            if let Some(value) = value {
                check.range(&format!("render.snow.{name}"), value, lowest, highest)?;
            }
        }
        Ok(())
    }

    fn check_powder(&self, check: &Checker<'_>) -> Check {
        let powder = &self.render.powder;
        let ranges = [
            ("suspended_share", powder.suspended_share, 0.0, 1.0),
            ("onset_speed_m_s", Some(powder.onset_speed_m_s), 1e-6, 1e6),
            ("ice_radius_m", Some(powder.ice_radius_m), 1e-7, 1.0),
            ("puff_radius_m", powder.puff_radius_m, 1e-6, 1e3),
            ("spray_optical_depth", powder.spray_optical_depth, 0.0, 100.0),
        ];
        for (name, value, lowest, highest) in ranges {
            if let Some(value) = value {
                check.range(&format!("render.powder.{name}"), value, lowest, highest)?;
            }
        }
        Ok(())
    }

    pub(crate) fn check_render(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        // 16384 is the largest image that common devices draw.
        check.count("render.width_px", render.width_px, 16384)?;
        check.count("render.height_px", render.height_px, 16384)?;
        self.check_colour(check)?;
        if let Some([low, high]) = render.colour_range {
            let key = "render.colour_range";
            if !(low.is_finite() && high.is_finite() && low < high) {
                let found = format!("[{}, {}]", number(low), number(high));
                check.fail(key, found, "two numbers, the lower first")?;
            }
        }
        self.check_scheme(check)?;
        self.check_fluid(check)?;
        self.check_light(check)?;
        self.check_powder(check)?;
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

    /// Checks that intervals are above 0, and that columns are named once.
    pub(crate) fn check_output(&self, check: &Checker<'_>) -> Check {
        let output = &self.output;
        let cadences = [
            ("output.render_every", output.render_every),
            ("output.record_every", output.record_every),
            ("output.metrics_every", output.metrics_every),
        ];
        for (key, every) in cadences {
            match every {
                Some(Every::Steps(0)) => check.fail(key, "0 steps", "at least 1")?,
                Some(Every::Seconds(s)) => check.positive(key, s, "seconds")?,
                _ => {}
            }
        }
        let columns = output.record_columns.as_deref().unwrap_or_default();
        for (column_idx, column) in columns.iter().enumerate() {
            let key = format!("output.record_columns.{column_idx}");
            if columns[..column_idx].contains(column) {
                check.fail(&key, format!("\"{column}\" again"), "each column once")?;
            }
        }
        Ok(())
    }
}
