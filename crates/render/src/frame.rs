//! Content of a picture.

use crate::{ColorMap, Fluid, Legend, Mesh, OrbitCamera, Pieces, Powder, Swatch, Terrain};
use frazil_shaders::render::particles;
use frazil_vk::{Buffer, DeviceCount};
use glam::Vec3;

/// Content of one picture.
#[derive(Clone)]
pub struct Frame<'a> {
    /// Camera.
    pub camera: OrbitCamera,
    /// Display-encoded background colour; lines and text use light or dark ink depending on it.
    pub background: [f32; 3],
    /// Particle sets, for example one per phase.
    pub particles: &'a [Particles<'a>],
    /// Boxes drawn as wire frames, for example the domain.
    pub boxes: &'a [WireBox],
    /// Large spheres, for example bodies.
    pub balls: &'a [Ball],
    /// Ground plane with a grid, for scale and depth.
    pub ground: Option<Ground>,
    /// Terrain lit by the sun.
    pub terrain: Option<&'a Terrain>,
    /// Meshes, for example the surface of snow.
    pub meshes: &'a [Mesh<'a>],
    /// Rigid pieces, for example plates of ice.
    pub pieces: &'a [Pieces<'a>],
    /// Fluid with a smooth, refracting surface.
    pub fluid: Option<Fluid<'a>>,
    /// Suspended powder, for example of an avalanche. It has no depth: lines and translucent particles are
    /// drawn over it, and it casts no shadows.
    pub powder: &'a [Powder<'a>],
    /// True if the surroundings that a fluid reflects are the background of the picture.
    pub backdrop: bool,
    /// Sun and fog.
    pub light: Light,
    /// Directional lights beside the sun, which cast no shadows. They light what the sun lights, apart from
    /// fluids.
    pub lights: &'a [DirectionalLight],
    /// Relief and glitter of snow on terrains and meshes.
    pub snow: SnowLook,
    /// Shadows of the sun, if there are any: of terrain, meshes, pieces, balls, opaque particles and fluids.
    pub shadows: Option<Shadows>,
    /// Strength of ambient occlusion: 0 is none, 1 the usual strength.
    pub occlusion: f32,
    /// Layer of space beyond which no particle is drawn as a sphere.
    pub clip: Option<Clip>,
    /// Legend.
    pub legend: Option<&'a Legend>,
    /// Named colours, listed below the legend; may be empty.
    pub swatches: &'a [Swatch],
    /// True for a bar of a round length at the lower right, which is true at the distance of the camera's
    /// target, and the directions of the axes above it.
    pub scale: bool,
    /// Line of text at the lower left, for example scene and time; empty for none.
    pub caption: &'a str,
}

/// A layer of space between two planes across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Axis of the world across which the planes are: 0, 1 or 2.
    pub axis: u32,
    /// Coordinates of the planes along it in m. The centres of drawn particles are between them.
    pub range_m: [f32; 2],
}

/// Outdoor light: the sun, and fog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Unit vector towards the sun. It lights terrain, meshes, pieces and particles with [`Shading::Sunlit`];
    /// other lights move with the camera.
    pub to_sun: Vec3,
    /// Display-encoded colour at infinite distance.
    pub fog_color: [f32; 3],
    /// Extinction coefficient β of the air in 1/m: the transmittance at distance d is exp(−β d), and 0 is
    /// clear air. Fog applies neither to flat shading nor without perspective.
    pub fog_per_m: f32,
}

/// A light from one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionalLight {
    /// Unit vector towards the light.
    pub to_light: Vec3,
    /// Display-encoded colour.
    pub color: [f32; 3],
    /// Factor on the linear colour; a white light of 1 is about as bright as the sun.
    pub intensity: f32,
}

/// Relief and glitter of snow finer than its surface. Both depend on the place in the world, and are none by
/// default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnowLook {
    /// Slope of the bumps by which normals are inclined; 0 for none.
    pub bump_slope: f32,
    /// Wavelength of the longest bumps in m, above 0. They fade out below eight pixels.
    pub bump_wavelength_m: f32,
    /// Share of cells that hold a crystal that reflects the sun, 0 to 1.
    pub glitter: f32,
    /// Side of a cell in m, above 0. Crystals fade out where it is below four pixels.
    pub glitter_cell_m: f32,
}

impl Default for SnowLook {
    fn default() -> Self {
        Self { bump_slope: 0.0, bump_wavelength_m: 1.0, glitter: 0.0, glitter_cell_m: 1.0 }
    }
}

/// Shadows of the sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadows {
    /// Two opposite corners in m of a box around all that casts shadows. What is beyond takes none.
    pub bounds: [Vec3; 2],
    /// Pixels along each side of the images in which shadows are found.
    pub size_px: u32,
    /// Distance in pixels of these images between the places that are averaged.
    pub spread_px: u32,
    /// Distance in m by which a point of a body of particles must be behind another to be in its shadow, so
    /// that its particles do not shade one another.
    pub bias_m: f32,
}

/// A set of particles.
#[derive(Clone, Debug)]
pub struct Particles<'a> {
    /// Centres, in m.
    pub positions: &'a Buffer<[f32; 3]>,
    /// Number of particles.
    pub count: &'a DeviceCount,
    /// Upper bound on the number of particles drawn, whatever the device count.
    pub max_count: u32,
    /// Radius of the spheres. In the picture, none is drawn with less than a pixel.
    pub radius: Radius<'a>,
    /// Source of the colours.
    pub coloring: Coloring<'a>,
    /// Shading.
    pub shading: Shading,
}

/// Radii of a set's spheres in m.
#[derive(Clone, Copy, Debug)]
pub enum Radius<'a> {
    /// One radius in m for all.
    Uniform(f32),
    /// A radius for each particle.
    Each {
        /// Unscaled radii in m.
        radii_m: &'a Buffer<f32>,
        /// Factor on the radii.
        scale: f32,
        /// Typical scaled radius in m.
        typical_m: f32,
    },
}

/// Source of a set's colours.
#[derive(Clone, Copy, Debug)]
pub enum Coloring<'a> {
    /// Colours mapped from a column.
    Mapped {
        /// Column of values.
        column: Column<'a>,
        /// Colour map.
        map: ColorMap,
        /// Values at the two ends of the map; values beyond them are clamped.
        range: [f32; 2],
    },
    /// One display-encoded colour for all particles.
    Uniform([f32; 3]),
}

/// A column that particles can be coloured by, with one element per particle.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Scalar, coloured by value.
    Scalar(&'a Buffer<f32>),
    /// Vector, coloured by magnitude.
    Vector(&'a Buffer<[f32; 3]>),
    /// Integer, such as an id, coloured by value.
    Index(&'a Buffer<u32>),
    /// One component of each element, such as a component of a vector.
    Component {
        /// Components of all elements.
        numbers: &'a Buffer<f32>,
        /// Components per element.
        stride: u32,
        /// Index of the component to show.
        index: u32,
        /// Offset subtracted from the component.
        origin: f32,
    },
}

/// Shading of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shading {
    /// Lit sphere with a highlight, like water.
    #[default]
    Lit,
    /// Lit sphere without a highlight, like snow.
    Matte,
    /// Sphere of snow lit by [`Light`], matching a surface beside it.
    Sunlit,
    /// Translucent sphere, like water; absorption accumulates along the line of sight. Drawn after everything
    /// opaque, and hidden by what is in front of it.
    Translucent {
        /// Opacity at the middle of one sphere, in per cent.
        percent: u8,
    },
    /// Unlit, so that colours can be read exactly off the legend.
    Flat,
    /// Unlit discs that fade out over the outer half of their radius, with the maximum of all that overlap,
    /// whatever their depth order. Drawn after everything opaque.
    Brightest,
}

/// A box drawn by its edges; with zero edges, a face or a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireBox {
    /// Corner in m.
    pub corner: Vec3,
    /// Edges from the corner, in m.
    pub edges: [Vec3; 3],
}

impl WireBox {
    /// Creates the axis-aligned box between two corners in m.
    pub fn between(lo: Vec3, hi: Vec3) -> Self {
        let size = hi - lo;
        let edges =
            [size.with_y(0.0).with_z(0.0), size.with_x(0.0).with_z(0.0), size.with_x(0.0).with_y(0.0)];
        Self { corner: lo, edges }
    }

    /// Creates a line between two points in m.
    pub fn line(from: Vec3, to: Vec3) -> Self {
        Self { corner: from, edges: [to - from, Vec3::ZERO, Vec3::ZERO] }
    }
}

/// A large sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre in m.
    pub center: Vec3,
    /// Radius in m.
    pub radius_m: f32,
    /// Display-encoded colour.
    pub color: [f32; 3],
}

/// A horizontal plane with a grid that fades out with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Point around which it fades, in m; also gives the height.
    pub center: Vec3,
    /// Distance from the centre in m at which it has faded out.
    pub extent_m: f32,
    /// Side of a grid cell in m; every fifth line is stronger.
    pub cell_m: f32,
}

impl Default for Frame<'_> {
    /// An empty frame with a black background.
    fn default() -> Self {
        Self {
            camera: OrbitCamera::default(),
            background: [0.0; 3],
            particles: &[],
            boxes: &[],
            balls: &[],
            ground: None,
            terrain: None,
            meshes: &[],
            pieces: &[],
            fluid: None,
            powder: &[],
            backdrop: false,
            light: Light::default(),
            lights: &[],
            snow: SnowLook::default(),
            shadows: None,
            occlusion: 0.0,
            clip: None,
            legend: None,
            swatches: &[],
            scale: false,
            caption: "",
        }
    }
}

impl Shading {
    /// Returns the index of the shading in `particles.frag`.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Flat => particles::SHADING_FLAT,
            Self::Brightest => particles::SHADING_SOFT,
            Self::Lit => particles::SHADING_LIT,
            Self::Matte => particles::SHADING_MATTE,
            Self::Translucent { .. } => particles::SHADING_TRANSLUCENT,
            Self::Sunlit => particles::SHADING_SUNLIT,
        }
    }

    /// Returns true if it hides what is behind it.
    pub(crate) fn has_depth(self) -> bool {
        !matches!(self, Self::Translucent { .. } | Self::Brightest)
    }

    /// Returns the opacity at the middle of a sphere.
    pub(crate) fn opacity(self) -> f32 {
        match self {
            Self::Translucent { percent } => f32::from(percent.min(99)) / 100.0,
            _ => 1.0,
        }
    }
}

impl Column<'_> {
    /// Returns the layout with which `particles.vert` reads the column.
    pub(crate) fn layout(&self) -> ColumnLayout {
        let (words, kind, stride, index, origin) = match *self {
            Self::Scalar(buffer) => (buffer.cast(), particles::COLUMN_F32, 1, 0, 0.0),
            Self::Vector(buffer) => (buffer.cast(), particles::COLUMN_VEC3, 3, 0, 0.0),
            Self::Index(buffer) => (buffer.clone(), particles::COLUMN_U32, 1, 0, 0.0),
            Self::Component { numbers, stride, index, origin } => {
                (numbers.cast(), particles::COLUMN_F32, stride, index, origin)
            }
        };
        ColumnLayout { words, kind, stride, index, origin }
    }
}

/// A column as words, and the position of its values among them.
pub(crate) struct ColumnLayout {
    pub words: Buffer<u32>,
    /// Value type: `COLUMN_F32`, `COLUMN_VEC3` or `COLUMN_U32` of `particles.vert`.
    pub kind: u32,
    pub stride: u32,
    pub index: u32,
    pub origin: f32,
}

impl ColumnLayout {
    /// Returns the number of elements that the words hold.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride as usize
    }
}

impl Radius<'_> {
    /// Returns an approximate radius of the spheres.
    pub(crate) fn typical_m(self) -> f32 {
        match self {
            Self::Uniform(radius_m) => radius_m,
            Self::Each { typical_m, .. } => typical_m,
        }
    }
}

impl Ground {
    /// Creates a ground under a box, with an extent in proportion to it and about ten cells of a round length
    /// across it.
    pub fn under(lo: Vec3, hi: Vec3, up_axis: crate::UpAxis) -> Self {
        let up = up_axis.axes().up;
        let middle = 0.5 * (lo + hi);
        let size = (hi - lo).max_element();
        let cell_m = crate::legend::nice_step(f64::from(size), 10) as f32;
        Self { center: middle + (lo - middle).dot(up) * up, extent_m: 3.0 * size, cell_m }
    }
}
