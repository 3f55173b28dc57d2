#version 460
// Applies restitution and Coulomb friction of faces to which the fluid does not stick, to particles within a
// spacing of them:
//   along the normal, a particle that approached at v_n < 0 leaves with at least −e v_n; along the face, the
//   velocity loses up to μ p Δt/(ρ d), with the pressure p = −ρ h² λ/Δt² of the density constraint.
// Approach speeds below 4 |g| Δt are those of a resting fluid and do not rebound. A particle on a face to
// which the fluid sticks that has too few neighbours for a stress takes the velocity of the face.
//
// Bytes: 84 a particle. Order-independent.
// Elements: shape = threads * 2.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "viscoelastic/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 2) readonly buffer Predicted { vec3 predicted[]; };
layout(scalar, binding = 3) readonly buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 4) readonly buffer Multiplier { float multiplier[]; };
layout(scalar, binding = 5) readonly buffer Shape { vec4 shape[]; };
layout(scalar, binding = 6) buffer Updated { vec3 updated[]; };
layout(scalar, push_constant) uniform Params {
    float restitution;
    float friction;
    float spacing_m;
    // Approach speed in m/s below which nothing rebounds.
    float resting_speed_m_s;
    // Speed of the sheared faces along x.
    float wall_speed_m_s;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    ViscoelasticTerms t = terms[0];
    vec3 x = predicted[i];
    vec3 before = velocity[i];
    vec3 v = updated[i];
    bool changed = false;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        if (bitfieldExtract(t.periodic, axis, 1) != 0u) continue;
        [[unroll]] for (int side = 0; side < 2; ++side) {
            float inward = side == 0 ? 1.0 : -1.0;
            float distance_m = side == 0 ? x[axis] - t.domain_min_m[axis] : t.domain_max_m[axis] - x[axis];
            if (distance_m >= spacing_m) continue;
            if (bitfieldExtract(t.sticky_faces, axis + 3 * side, 1) != 0u) {
                if (shape[2u * i + 1u].z == 0.0) {
                    v = vec3(axis == 1 ? -inward * wall_speed_m_s : 0.0, 0.0, 0.0);
                    changed = true;
                }
                continue;
            }
            float approach = -inward * before[axis];
            if (approach > resting_speed_m_s && inward * v[axis] > -approach) {
                v[axis] = inward * max(inward * v[axis], restitution * approach);
                changed = true;
            }
            vec3 along = v;
            along[axis] = 0.0;
            float speed = sqrt(dot(along, along));
            float loss = friction * max(-multiplier[i], 0.0) * t.support_m * t.support_m / (t.dt_s * spacing_m);
            if (loss > 0.0 && speed > 0.0) {
                v -= min(loss / speed, 1.0) * along;
                changed = true;
            }
        }
    }
    if (changed) updated[i] = v;
}
