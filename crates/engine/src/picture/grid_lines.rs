//! Outlines of the blocks of a solver's grid (Cai2020 fig 4).

use crate::failure::Failure;
use frazil_render::WireBox;
use frazil_render::glam::Vec3;
use frazil_scene::{GridLines, Scene};
use frazil_solvers::ActiveBlocks;
use frazil_vk::Device;

/// Returns the outlines of the blocks that the scene shows. It waits for the device if there are any.
pub fn outlines(
    device: &Device,
    scene: &Scene,
    blocks: Option<&ActiveBlocks>,
) -> Result<Vec<WireBox>, Failure> {
    let Some(blocks) = blocks.filter(|_| scene.render.grid == GridLines::ActiveBlocks) else {
        return Ok(Vec::new());
    };
    let size = Vec3::from(blocks.block_m);
    let outline = |corner: [f32; 3]| WireBox::between(Vec3::from(corner), Vec3::from(corner) + size);
    Ok(blocks.corners_m(device)?.into_iter().map(outline).collect())
}
