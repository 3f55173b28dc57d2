#version 460
// Darkens points that neighbours in the image occlude: ambient obscurance from the depth image alone, after
// McGuire et al., "The Alchemy Screen-Space Ambient Obscurance Algorithm", HPG 2011, eq. 10. One triangle
// covers the image.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "render/occlusion.glsl"

void main() {
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
