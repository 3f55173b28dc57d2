//! The `[[emitters]]` and `[[drains]]`: where particles enter and leave a scene while it runs.

mod emitter;
mod stream;

pub use emitter::{Drain, DrainShape, Emitter, Mouth};
pub(crate) use stream::Scales;
pub use stream::{GRAIN_ROOM, Stream};
