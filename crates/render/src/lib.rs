//! Pictures of particles.
//!
//! Here live the camera, the colour maps, the legend, and the [`Renderer`], which records one picture into an image of
//! its own: spheres coloured by any column, the domain's box, the ground, colliders, shading by depth, and the legend on
//! top. Whoever holds the image then reads it back for [`write_png`] or presents it to a window, so that both show the same.
//!
//! Nothing here waits for the device after set-up, changes a particle, or knows of windows, scene files or solvers: it
//! draws buffers that somebody else fills. Values in images are display-encoded (sRGB).

mod camera;
mod canvas;
mod color_map;
mod error;
mod frame;
mod legend;
mod picture;
mod renderer;
mod sheet;

pub use camera::{OrbitCamera, Projection, UpAxis};
pub use color_map::ColorMap;
pub use error::Error;
pub use frame::{Ball, Coloring, Column, Frame, Ground, Particles, Shading, WireBox};
pub use glam;
pub use legend::{Legend, Swatch, nice_ticks};
pub use picture::{read_png, write_png};
pub use renderer::Renderer;
pub use sheet::{ContactSheet, Pixels};

/// Result of drawing and of writing pictures.
pub type Result<T, E = Error> = std::result::Result<T, E>;
