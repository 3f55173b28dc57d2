#version 460
// Darkens opaque points that particles or solids shade from the sun. One triangle covers the image.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/image_pass.glsl"

void main() {
    gl_Position = cover(gl_VertexIndex);
}
