//! Rendering of particles to images.
//!
//! The crate holds the camera, the colour maps, the legend, and the [`Renderer`], which records one picture
//! into its own image: spheres coloured by any column, meshes, a terrain, rigid pieces, the domain's box, the
//! ground, bodies, ambient occlusion, and the legend on top. The owner of the image reads it back for
//! [`write_png`] or presents it to a window, so that both show the same picture.
//!
//! [`ParticleSurface`] extracts the surface of a particle set, and waits for the device until its capacity
//! suffices.
//!
//! Nothing else here waits for the device after set-up, changes a particle, or depends on windows, scene
//! files or solvers: the crate draws buffers that its callers fill. Values in images are display-encoded
//! (sRGB).

mod camera;
mod canvas;
mod color_map;
mod ellipsoids;
mod error;
mod fluid;
mod fluid_passes;
mod frame;
mod legend;
mod light;
mod lighting;
mod mesh;
mod picture;
mod powder;
mod powder_passes;
mod renderer;
mod scale;
mod shadows;
mod sheet;
mod spray;
mod surface;
mod terrain;
mod terrain_detail;

pub use camera::{OrbitCamera, Projection, UpAxis};
pub use color_map::ColorMap;
pub use ellipsoids::{Ellipsoid, EllipsoidOptions, Ellipsoids};
pub use error::Error;
pub use fluid::{
    DepthFilter, FLUID_RADIUS_SPACINGS, Fluid, FluidMaterial, FluidSet, SMOOTHING_SPACINGS, Smoothing,
    Surroundings, WATER_REFRACTIVE_INDEX,
};
pub use fluid_passes::FluidImages;
pub use frame::{
    Ball, Clip, Coloring, Column, DirectionalLight, Frame, Ground, Light, Particles, Radius, Shading,
    Shadows, SnowLook, WireBox,
};
pub use glam;
pub use legend::{Legend, Swatch, nice_ticks};
pub use mesh::{Material, Mesh, PieceShapes, Pieces, Solid, SolidShape};
pub use picture::{Pixels, read_image, read_png, write_png};
pub use powder::{Powder, PowderLoad, PowderSums};
pub use renderer::Renderer;
pub use sheet::ContactSheet;
pub use spray::{SpraySplit, SurfaceOptions};
pub use surface::{ParticleSurface, SurfaceFound};
pub use terrain::Terrain;
pub use terrain_detail::Chunk;

/// Result of drawing or writing a picture.
pub type Result<T, E = Error> = std::result::Result<T, E>;
