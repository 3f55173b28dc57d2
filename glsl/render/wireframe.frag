#version 460
// The fragment stage antialiases the line's sides over one pixel.
#extension GL_GOOGLE_include_directive : require
#include "render/view.glsl"
#include "render/wireframe.glsl"

layout(location = 0) noperspective in float offset;
layout(location = 0) out vec4 pixel;

void main() {
    float covered = clamp(0.5 * line_width + 0.5 - abs(offset), 0.0, 1.0);
    if (covered <= 0.0) discard;
    vec4 line = unpackUnorm4x8(color);
    pixel = vec4(line.rgb, line.a * covered);
}
