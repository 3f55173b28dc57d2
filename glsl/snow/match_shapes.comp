#version 460
// Fits every linked neighbourhood at the positions of this iteration (see snow/shape.glsl): A = Σ (x*_j −
// c)(X_j − C)ᵀ over the particle and its partners, R = the rotation nearest to A, fit: X ↦ R X + c − R C.
//
// Bytes: 80 + 20 · links a particle, 28 a partner. Sums run in the order of slots.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "linalg/polar.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Constraint { vec4 constraint[]; };
layout(scalar, binding = 2) readonly buffer RestPosition { vec3 rest_position[]; };
layout(scalar, binding = 3) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 4) readonly buffer RestLength { float rest_length_m[]; };
layout(scalar, binding = 5) readonly buffer Degree { uint degree[]; };
#include "snow/shape.glsl"
layout(scalar, binding = 6) writeonly buffer Fits { Fit fits[]; };
layout(scalar, push_constant) uniform Params { uint link_stride; };

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    // Positions are relative to the particle itself, so that sums of small offsets keep their digits far from
    // the origin.
    vec3 x = constraint[i].xyz;
    vec3 rest = rest_position[i];
    float members = 1.0;
    vec3 centre = vec3(0.0);
    vec3 rest_centre = vec3(0.0);
    mat3 moments = mat3(0.0);
    for (uint slot = 0u; slot < degree[i]; ++slot) {
        uint at = slot * link_stride + i;
        uint j = partner[at];
        if (!is_of_shape(at, rest, rest_position[j])) continue;
        vec3 offset = constraint[j].xyz - x;
        vec3 rest_offset = rest_position[j] - rest;
        members += 1.0;
        centre += offset;
        rest_centre += rest_offset;
        moments += outerProduct(offset, rest_offset);
    }
    centre /= members;
    rest_centre /= members;
    mat3 rotation, stretch;
    polar3(moments - members * outerProduct(centre, rest_centre), rotation, stretch);
    fits[i] = Fit(rotation, x + centre - rotation * (rest + rest_centre));
}
