#version 460
// Averages a supersampled image down to the image, which antialiases all edges. One triangle covers the
// image.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "render/resolve.glsl"

void main() {
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
