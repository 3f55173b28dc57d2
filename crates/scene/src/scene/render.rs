//! The `[render]` section: display settings of pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_quantity::FlowQuantity;
use crate::Vec3;

/// Maximum width and height of a picture in pixels: that of the largest image that common devices draw.
const MAX_PICTURE_PX: u32 = 16_384;

/// Shading of particles in pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shading {
    /// Lit spheres in the colours of a property.
    #[default]
    Lit,
    /// Soft white discs on black, brighter at higher density (Cai2020 sec 2.3), white at the rest density,
    /// and so large that they leave no gaps. Where several overlap the brightest is visible.
    Density,
}

/// Geometry that particles are drawn as (Gucer2010 section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RenderScheme {
    /// A sphere for each particle.
    #[default]
    Sprites,
    /// Bodies as the surface around them, by marching cubes; particles that are in none as spheres. Surfaces
    /// are drawn in the material's own look, and `colour_by` has no effect. In scenes of three dimensions
    /// only.
    Surface,
    /// Like `surface`, and also the pieces of `[[dem.slabs]]`.
    SurfaceAndSlabs,
    /// Water as the smooth surface that its particles show from the camera, which reflects, refracts and
    /// absorbs (Huang2016 chapter 3); water in the air as white spheres; all other particles as in `sprites`.
    /// In scenes of three dimensions only.
    Fluid,
}

/// Parts of a solver's grid that pictures show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GridLines {
    /// None.
    #[default]
    None,
    /// Outlines of the blocks of 4^D nodes that particles reached in the last step (Cai2020 fig 4), which are
    /// all that the grid stores. In pictures of running scenes of the material point method only.
    ActiveBlocks,
}

/// Filter that smooths the distances of a fluid's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FluidFilter {
    /// Narrow-range filter (Truong2018), which keeps slopes and does not mix surfaces behind one another.
    #[default]
    NarrowRange,
    /// Bilateral filter (Huang2016 eq 3.1).
    Bilateral,
}

impl RenderScheme {
    /// All schemes.
    pub const ALL: [Self; 4] = [Self::Sprites, Self::Surface, Self::SurfaceAndSlabs, Self::Fluid];

    /// Returns the name used in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sprites => "sprites",
            Self::Surface => "surface",
            Self::SurfaceAndSlabs => "surface_and_slabs",
            Self::Fluid => "fluid",
        }
    }

    /// Returns true if the scheme extracts the surface of particles as a mesh.
    pub fn has_surface(self) -> bool {
        matches!(self, Self::Surface | Self::SurfaceAndSlabs)
    }

    /// Returns true if a picture needs results of the device on the host before it is recorded: sizes of
    /// surfaces, or the number of particles in the air.
    pub fn waits(self) -> bool {
        self != Self::Sprites
    }
}

/// Display settings of pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Render {
    /// Width of a picture in pixels.
    #[schemars(range(min = 1, max = MAX_PICTURE_PX))]
    pub width_px: u32,
    /// Height of a picture in pixels.
    #[schemars(range(min = 1, max = MAX_PICTURE_PX))]
    pub height_px: u32,
    /// Camera position and projection.
    pub camera: Camera,
    /// Geometry that particles are drawn as.
    pub scheme: RenderScheme,
    /// Edge of a cell of the surface's lattice in spacings; particles contribute up to two cells away.
    #[schemars(range(min = 0.25, max = 4))]
    pub surface_cell_spacings: f64,
    /// Isovalue of the surface, as a share of the density of packed particles.
    #[schemars(range(min = 0.05, max = 0.95))]
    pub surface_level: f64,
    /// Shading of particles; `density` replaces `colour_by`.
    pub shading: Shading,
    /// Column that colours the particles, by the name it has in recordings: a vector by its magnitude, or by
    /// a component such as `velocity.x`. Besides columns there are `speed`, `height` above the domain's floor
    /// and, in scenes with both snow and water, `phase`: snow as snow and water as water.
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*(\.[xyz])?$"))]
    pub colour_by: String,
    /// Values at the two ends of the colour map, in the column's unit; by default a range that follows from
    /// the scene and is the same in every picture, or, where the solver states none, that of the values in
    /// the first picture. Overriding `colour_by` alone discards it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour_range: Option<[f64; 2]>,
    /// Radius of a drawn particle in spacings; for particles with a radius of their own in diameters, so that
    /// 0.5 is their true size.
    #[schemars(range(min = 0.01, max = 10))]
    pub particle_radius_spacings: f64,
    /// Radius of a drawn water particle in spacings, in scenes with snow.
    #[schemars(range(min = 0.01, max = 10))]
    pub water_radius_spacings: f64,
    /// Share of the light from behind that is absorbed at the centre of one water particle, in scenes with
    /// snow that are coloured by phase.
    #[schemars(range(min = 0, max = 0.99))]
    pub water_opacity: f64,
    /// Radius of the spheres that a fluid's surface is smoothed from, in spacings. They must overlap.
    #[schemars(range(min = 0.3, max = 2))]
    pub fluid_radius_spacings: f64,
    /// Bound on the ratio of the semi-axes of ellipsoids that are fitted to a fluid's particles and drawn in
    /// place of the spheres (Yu2013 has 4); 1 for spheres.
    #[schemars(range(min = 1, max = 8))]
    pub fluid_anisotropy: f64,
    /// Filter that smooths the surface of a fluid.
    pub fluid_filter: FluidFilter,
    /// Reach of that filter in spacings; 0 shows the spheres.
    #[schemars(range(min = 0, max = 16))]
    pub fluid_smoothing_spacings: f64,
    /// Absorption coefficient of a fluid in 1/m for red, green and blue light: a share e^(−a d) passes a
    /// thickness d. Pure water has [0.34, 0.06, 0.01] (Pope1997) and is colourless in a tank; by default the
    /// coefficients are such that the colour of deep water is visible at the size of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0, max = 1e6)))]
    pub absorption_1_m: Option<Vec3>,
    /// Colour of a fluid where it is too thick to see through, sRGB components.
    #[schemars(inner(range(min = 0, max = 1)))]
    pub fluid_color_srgb: Vec3,
    /// Density below which water is drawn as spray, as a share of its rest density; 0 for none.
    /// That at a single particle is up to 0.32, at a flat surface 0.85, and at an edge 0.6.
    #[schemars(range(min = 0, max = 0.95))]
    pub spray_level: f64,
    /// PNG file, relative to the scene's file, with the surroundings that a fluid reflects: an
    /// equirectangular image with the direction of azimuth 0 in the middle. By default a clear sky.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// True if pictures show the directions of the axes and a bar of a round length, which is true at the
    /// distance of the camera's target.
    pub show_scale: bool,
    /// True if the surroundings are also the background, in place of `background_srgb`.
    pub show_environment: bool,
    /// Parts of the solver's grid that are drawn as lines.
    pub grid: GridLines,
    /// Background colour, sRGB components.
    #[schemars(inner(range(min = 0, max = 1)))]
    pub background_srgb: Vec3,
    /// Extinction coefficient β of the air in 1/m: at the distance d a share e^(−β d) of a colour remains,
    /// the rest is background. 0 is clear air; 0.0039 is fog with a visibility of 1 km.
    #[schemars(range(min = 0, max = 1000))]
    pub fog_per_m: f64,
    /// Azimuth of the sun about the up axis, in degrees like the camera's azimuth; by default 60° to the left
    /// of the scene's camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -360, max = 360))]
    pub sun_azimuth_deg: Option<f64>,
    /// Elevation of the sun in degrees.
    #[schemars(range(min = 0, max = 90))]
    pub sun_elevation_deg: f64,
    /// Lights beside the sun, at most 4. They light what the sun lights, apart from fluids, and cast no
    /// shadows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lights: Vec<RenderLight>,
    /// Relief and glitter of snow, finer than terrain and surfaces.
    pub snow: SnowLook,
    /// Powder that flowing snow suspends in the air, and spray.
    pub powder: PowderLook,
    /// True if the sun casts shadows, in scenes with a terrain and in the scheme `fluid`.
    pub shadows: bool,
    /// Quantity of a flow on a terrain that `map.png` shows.
    pub map: FlowQuantity,
}

impl Default for Render {
    fn default() -> Self {
        Self {
            width_px: 1280,
            height_px: 720,
            camera: Camera::default(),
            scheme: RenderScheme::Sprites,
            surface_cell_spacings: 1.0,
            surface_level: 0.35,
            shading: Shading::Lit,
            colour_by: "speed".to_owned(),
            colour_range: None,
            particle_radius_spacings: 0.5,
            water_radius_spacings: 0.6,
            water_opacity: 0.07,
            fluid_radius_spacings: 0.8,
            fluid_anisotropy: 1.0,
            fluid_filter: FluidFilter::NarrowRange,
            fluid_smoothing_spacings: 3.0,
            absorption_1_m: None,
            fluid_color_srgb: [0.05, 0.27, 0.36],
            spray_level: 0.4,
            environment: None,
            show_scale: true,
            show_environment: false,
            grid: GridLines::None,
            background_srgb: [0.88, 0.89, 0.91],
            fog_per_m: 2e-4,
            sun_azimuth_deg: None,
            sun_elevation_deg: 35.0,
            lights: Vec::new(),
            snow: SnowLook::default(),
            powder: PowderLook::default(),
            shadows: true,
            map: FlowQuantity::default(),
        }
    }
}

/// A light from one direction, beside the sun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenderLight {
    /// Azimuth about the up axis, in degrees like that of the sun.
    #[schemars(range(min = -360, max = 360))]
    pub azimuth_deg: f64,
    /// Elevation in degrees.
    #[schemars(range(min = -90, max = 90))]
    pub elevation_deg: f64,
    /// Colour, sRGB components.
    #[serde(default = "white")]
    #[schemars(inner(range(min = 0, max = 1)))]
    pub color_srgb: Vec3,
    /// Factor on the colour's light; a white light of 1 is about as bright as the sun.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub intensity: f64,
}

fn white() -> Vec3 {
    [1.0; 3]
}

fn one() -> f64 {
    1.0
}

/// Relief and glitter of snow in pictures, on terrains and on surfaces of particles (the schemes `surface`
/// and `surface_and_slabs`). Both depend on the place in the world only, and fade out where pixels are too
/// large for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SnowLook {
    /// Slope of bumps by which the light on snow varies; by default 0.08 in scenes with a terrain,
    /// else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 2))]
    pub bump_slope: Option<f64>,
    /// Wavelength of the longest bumps in m; by default 6 spacings. They show above 3 pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub bump_wavelength_m: Option<f64>,
    /// Share of cells of the snow with a crystal that can reflect the sun; by default 0.5 in scenes
    /// with a terrain, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub glitter: Option<f64>,
    /// Side of such a cell in m; by default a quarter of a spacing. They show above 2 pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub glitter_cell_m: Option<f64>,
}

/// Suspended powder in pictures of snow in the schemes `surface` and `surface_and_slabs`. It shows how fast
/// snow flows, and is no part of the simulation: it follows from the positions and velocities of one state,
/// and has no mass, no drag and no history.
///
/// A particle of mass m and speed v above the onset v₀ carries a puff of ice particles of radius r and
/// density ρ = 917 kg/m³ with a mass of s m (1 − (v₀/v)²), whose extinction cross-section is 3/(2 r ρ) m² a
/// kilogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowderLook {
    /// Share s of a particle's mass that is suspended at high speed; by default 0.002 in scenes with
    /// a terrain, else 0, for no powder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub suspended_share: Option<f64>,
    /// Speed v₀ in m/s above which powder is suspended.
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub onset_speed_m_s: f64,
    /// Radius r in m of the suspended ice particles.
    #[schemars(range(min = 1e-7, max = 1))]
    pub ice_radius_m: f64,
    /// Radius of a puff in m; by default 5 spacings. Its centre is half as high above the
    /// particle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-6, max = 1000))]
    pub puff_radius_m: Option<f64>,
    /// Optical depth through the middle of a particle of spray; 0 for opaque spheres. By default 2
    /// in scenes with a terrain, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub spray_optical_depth: Option<f64>,
}

impl Default for PowderLook {
    fn default() -> Self {
        Self {
            suspended_share: None,
            onset_speed_m_s: 10.0,
            ice_radius_m: 1e-4,
            puff_radius_m: None,
            spray_optical_depth: None,
        }
    }
}

/// Projection of a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// Farther objects appear smaller.
    #[default]
    Perspective,
    /// Size does not depend on distance; for scenes of two dimensions. The visible height equals that of the
    /// perspective at the target.
    Orthographic,
}

/// An orbit camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Camera {
    /// Point the camera looks at, in m; by default the centre of the domain, or on a terrain that of the flow
    /// from its releases to its expected run-out, moved as far as the legend requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_m: Option<Vec3>,
    /// Distance from the target in m; by default as far as needed to see all of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub distance_m: Option<f64>,
    /// Angle about the up axis in degrees. At 0 the camera looks along −z where y is up, along +y where z is
    /// up; increasing angles move it counter-clockwise seen from above. In scenes of two dimensions by
    /// default 0.
    #[schemars(range(min = -360, max = 360))]
    pub azimuth_deg: f64,
    /// Angle above the horizon in degrees. In scenes of two dimensions by default 0.
    #[schemars(range(min = -89, max = 89))]
    pub elevation_deg: f64,
    /// Vertical field of view in degrees.
    #[schemars(range(min = 1, max = 150))]
    pub vertical_fov_deg: f64,
    /// Perspective or orthographic.
    pub projection: Projection,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            target_m: None,
            distance_m: None,
            azimuth_deg: 25.0,
            elevation_deg: 15.0,
            vertical_fov_deg: 35.0,
            projection: Projection::Perspective,
        }
    }
}
