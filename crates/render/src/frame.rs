//! What is in a picture.

use crate::{ColorMap, Legend, Mesh, OrbitCamera, Pieces, Swatch, Terrain};
use frazil_shaders::render::particles;
use frazil_vk::{Buffer, DeviceCount};
use glam::Vec3;

/// Everything that one picture shows.
#[derive(Clone)]
pub struct Frame<'a> {
    /// Where it is seen from.
    pub camera: OrbitCamera,
    /// Display-encoded colour where nothing is; lines and text choose light or dark ink by it.
    pub background: [f32; 3],
    /// Sets of particles, such as one a phase.
    pub particles: &'a [Particles<'a>],
    /// Boxes drawn as wire frames, such as the domain.
    pub boxes: &'a [WireBox],
    /// Large spheres, such as colliders.
    pub balls: &'a [Ball],
    /// A plane with a grid, for scale and depth.
    pub ground: Option<Ground>,
    /// A terrain under the sun.
    pub terrain: Option<&'a Terrain>,
    /// Meshes, such as the surface of snow.
    pub meshes: &'a [Mesh<'a>],
    /// Rigid pieces, such as plates of ice.
    pub pieces: &'a [Pieces<'a>],
    /// The sun and the fog.
    pub light: Light,
    /// How much hollows are darkened: 0 not at all, 1 as usual.
    pub occlusion: f32,
    /// The legend, if any.
    pub legend: Option<&'a Legend>,
    /// Colours with a name, listed below the legend; empty for none.
    pub swatches: &'a [Swatch],
    /// A line of text at the lower left, such as scene and time; empty for none.
    pub caption: &'a str,
}

/// The light out of doors, and what the air does to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Unit vector towards the sun. It lights terrain, meshes, pieces and what is [`Shading::Sunlit`]; other lights move with the camera.
    pub to_sun: Vec3,
    /// Display-encoded colour of what is infinitely far away.
    pub fog_color: [f32; 3],
    /// Extinction coefficient β of the air in 1/m: exp(−β d) of a colour is seen from a distance d. 0 is clear air. What is shown flat is
    /// seen as it is, and so is everything without perspective.
    pub fog_per_m: f32,
}

/// A set of particles.
#[derive(Clone, Debug)]
pub struct Particles<'a> {
    /// Centres, in m.
    pub positions: &'a Buffer<[f32; 3]>,
    /// How many of them there are.
    pub count: &'a DeviceCount,
    /// No more than these are drawn, whatever the count says.
    pub at_most: u32,
    /// Radius of the spheres.
    pub radius: Radius<'a>,
    /// What they are coloured by.
    pub coloring: Coloring<'a>,
    /// How the colour is shown.
    pub shading: Shading,
}

/// Radii of a set's spheres.
#[derive(Clone, Copy, Debug)]
pub enum Radius<'a> {
    /// One for all, in m.
    Uniform(f32),
    /// One for each.
    Each {
        /// The radii, in m.
        radii_m: &'a Buffer<f32>,
        /// What they are multiplied by.
        scale: f32,
        /// A typical product, in m.
        typical_m: f32,
    },
}

/// Where a set's colours come from.
#[derive(Clone, Copy, Debug)]
pub enum Coloring<'a> {
    /// From a column's values.
    Mapped {
        /// The values.
        column: Column<'a>,
        /// The colours.
        map: ColorMap,
        /// The values at the two ends of the map; values past them have the colours of the ends.
        range: [f32; 2],
    },
    /// One display-encoded colour for all.
    Uniform([f32; 3]),
}

/// A column that particles can be coloured by, one element a particle.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// By value.
    Scalar(&'a Buffer<f32>),
    /// By magnitude.
    Vector(&'a Buffer<[f32; 3]>),
    /// By value, such as an id.
    Index(&'a Buffer<u32>),
    /// By one number of each element, such as a component of a vector.
    Component {
        /// The elements.
        numbers: &'a Buffer<f32>,
        /// Numbers an element has.
        stride: u32,
        /// Which of them counts.
        index: u32,
        /// What is subtracted from it.
        origin: f32,
    },
}

/// How a colour is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shading {
    /// As a lit sphere that shines, like water.
    #[default]
    Lit,
    /// As a lit sphere that does not, like snow.
    Matte,
    /// As a sphere of snow in the light of [`Light`], like a surface beside it.
    Sunlit,
    /// As something to see through, the more of it the less: water. Drawn over all that is solid and hidden by what is before it.
    Translucent {
        /// What the middle of one sphere takes of the light behind it, in per cent.
        percent: u8,
    },
    /// As it is, so that it can be read off the legend exactly.
    Flat,
    /// As it is, and where several are in one place the brightest, whichever is before the others. Drawn over all that is solid.
    Brightest,
}

/// A box drawn by its edges; a face, or a line, where edges are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireBox {
    /// A corner, in m.
    pub corner: Vec3,
    /// The edges from there, in m.
    pub edges: [Vec3; 3],
}

impl WireBox {
    /// The box along the axes between two corners, in m.
    pub fn between(lo: Vec3, hi: Vec3) -> Self {
        let size = hi - lo;
        let edges =
            [size.with_y(0.0).with_z(0.0), size.with_x(0.0).with_z(0.0), size.with_x(0.0).with_y(0.0)];
        Self { corner: lo, edges }
    }

    /// A line between two points, in m.
    pub fn line(from: Vec3, to: Vec3) -> Self {
        Self { corner: from, edges: [to - from, Vec3::ZERO, Vec3::ZERO] }
    }
}

/// A large sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its centre, in m.
    pub center: Vec3,
    /// Its radius, in m.
    pub radius_m: f32,
    /// Its display-encoded colour.
    pub color: [f32; 3],
}

/// A horizontal plane with a grid, fading out with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// The point about which it fades, in m; also gives the height.
    pub center: Vec3,
    /// Where it has faded out, in m from the centre.
    pub extent_m: f32,
    /// Side of a cell of its grid, in m; every fifth line is stronger.
    pub cell_m: f32,
}

impl Default for Frame<'_> {
    /// Nothing, before black.
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
            light: Light::default(),
            occlusion: 0.0,
            legend: None,
            swatches: &[],
            caption: "",
        }
    }
}

impl Shading {
    /// The number in `particles.frag`.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Flat | Self::Brightest => particles::SHADING_FLAT,
            Self::Lit => particles::SHADING_LIT,
            Self::Matte => particles::SHADING_MATTE,
            Self::Translucent { .. } => particles::SHADING_TRANSLUCENT,
            Self::Sunlit => particles::SHADING_SUNLIT,
        }
    }

    /// Whether what is behind it is hidden.
    pub(crate) fn has_depth(self) -> bool {
        !matches!(self, Self::Translucent { .. } | Self::Brightest)
    }

    /// The share of light that the middle of a sphere takes.
    pub(crate) fn opacity(self) -> f32 {
        match self {
            Self::Translucent { percent } => f32::from(percent.min(99)) / 100.0,
            _ => 1.0,
        }
    }
}

impl Column<'_> {
    /// How `particles.vert` reads the column.
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

/// A column as words, and where its values are among them.
pub(crate) struct ColumnLayout {
    pub words: Buffer<u32>,
    /// `COLUMN_F32`, `COLUMN_VEC3` or `COLUMN_U32` of `particles.vert`.
    pub kind: u32,
    pub stride: u32,
    pub index: u32,
    pub origin: f32,
}

impl ColumnLayout {
    /// Elements that the words hold.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride as usize
    }
}

impl Radius<'_> {
    /// What the radius of a sphere is, give or take.
    pub(crate) fn typical_m(self) -> f32 {
        match self {
            Self::Uniform(radius_m) => radius_m,
            Self::Each { typical_m, .. } => typical_m,
        }
    }
}

impl Ground {
    /// A ground under a box: as wide as it looks good, with cells of a round length, ten or so to the box.
    pub fn under(lo: Vec3, hi: Vec3, up_axis: crate::UpAxis) -> Self {
        let up = up_axis.axes().up;
        let middle = 0.5 * (lo + hi);
        let size = (hi - lo).max_element();
        let cell_m = crate::legend::nice_step(f64::from(size), 10) as f32;
        Self { center: middle + (lo - middle).dot(up) * up, extent_m: 3.0 * size, cell_m }
    }
}
