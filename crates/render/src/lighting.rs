//! Light on the device, as shaders of surfaces bind it.

use frazil_shaders::types::LightTerms;
use frazil_vk::Buffer;

/// Light on the device: bindings of all shaders of surfaces.
#[derive(Clone)]
pub(crate) struct Lighting {
    pub terms: Buffer<LightTerms>,
    pub opaque_shadow: Buffer<f32>,
    pub fluid_shadow: Buffer<f32>,
}

impl Lighting {
    /// Returns light without shadows; `unread` is bound in place of their images.
    pub fn unshaded(terms: Buffer<LightTerms>, unread: &Buffer<f32>) -> Self {
        Self { terms, opaque_shadow: unread.clone(), fluid_shadow: unread.clone() }
    }
}
