#version 460
// The surroundings as the background of a picture. One triangle covers the image.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/shade.glsl"
#include "render/image_pass.glsl"

void main() {
    gl_Position = cover(gl_VertexIndex);
}
