#version 460
// Suspended powder before what is behind it, of which a share e^(−τ) is visible (Beer and Lambert); the rest
// is light of sun and sky that the powder scatters. One triangle covers the image.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/powder_light.glsl"

void main() {
    gl_Position = vec4(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0, 0.0, 1.0);
}
