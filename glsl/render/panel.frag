#version 460
// The fragment stage reads packed RGBA8 pixels, red in the lowest byte, for blending by their alpha.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/panel.glsl"

layout(scalar, binding = 0) readonly buffer Pixels { uint pixels[]; };
layout(location = 0) noperspective in vec2 in_panel;
layout(location = 0) out vec4 pixel;

void main() {
    uvec2 at = min(uvec2(in_panel), uvec2(width, height) - 1u);
    pixel = unpackUnorm4x8(pixels[at.y * width + at.x]);
}
