#version 460
// The surface of a fluid, from the smoothed distances of its particles: normals, reflection, refraction,
// absorption and shadow (Huang2016 section 3.6). One triangle covers the image.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/image_pass.glsl"

void main() {
    gl_Position = cover(gl_VertexIndex);
}
