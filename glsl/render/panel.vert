#version 460
// An existing image, such as a legend, drawn over the image pixel by pixel: six vertices.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/panel.glsl"

layout(location = 0) noperspective out vec2 in_panel;

void main() {
    in_panel = (quad_corner(uint(gl_VertexIndex)) * 0.5 + 0.5) * vec2(width, height);
    gl_Position = vec4((place + in_panel) / image_size * 2.0 - 1.0, 0.0, 1.0);
}
