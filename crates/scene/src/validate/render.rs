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

    fn check_light(&self, check: &Checker<'_>) -> Check {
        let n = self.render.lights.len();
        if n > MAX_LIGHTS {
            let expected = format!("at most {MAX_LIGHTS} beside the sun");
            check.fail("render.lights", format!("{n} lights"), expected)?;
        }
        Ok(())
    }

    pub(crate) fn check_render(&self, check: &Checker<'_>) -> Check {
        let render = &self.render;
        self.check_colour(check)?;
        if let Some([low, high]) = render.colour_range {
            let key = "render.colour_range";
            if !(low.is_finite() && high.is_finite() && low < high) {
                let found = format!("[{}, {}]", number(low), number(high));
                check.fail(key, found, "two numbers, the lower first")?;
            }
        }
        self.check_scheme(check)?;
        self.check_light(check)?;
        match render.camera.target_m {
            Some(target) => check.vector("render.camera.target_m", target, "metres"),
            None => Ok(()),
        }
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
