//! Pictures of a scene: its particles, coloured by their columns, and their surroundings.

mod body_lines;
mod body_solids;
mod camera;
mod coloring;
mod fluid;
mod grid_lines;
mod landscape;
mod legends;
mod painter;
mod powder;
mod shown;
mod space;
mod surface;
mod vertex_columns;

pub use body_solids::{Polyhedron, polyhedra};
pub use camera::{Camera, PendingPicture, Picture, draw, draw_with};
pub use coloring::check;
pub use landscape::poses;
pub use legends::robust_range;
pub use painter::schemes;
pub use painter::{Painter, camera, property};
pub use shown::Shown;
pub use surface::{HostSurface, Surfaces, check as check_surface};
pub use vertex_columns::vertex_columns;
