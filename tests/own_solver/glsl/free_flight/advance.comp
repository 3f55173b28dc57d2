#version 460
// One step of free flight with linear drag: v ← (v + Δt g)/(1 + Δt k/m), x ← x + Δt v, and the dissipated
// power k v². The drag is implicit, so that no time step overshoots rest. Particles outside the domain or
// with NaN are marked.
//
// A particle that has entered a body at rest is moved to its surface; it keeps no velocity into the body, and
// friction (Coulomb) decelerates it along the surface, or it stops where the body is sticky.
//
// Bytes: 60 per particle, 92 more per body. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xff;
const uint DIMENSIONS = 3u;
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Position { vec3 position[]; };
layout(scalar, binding = 2) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer DragPower { float drag_power[]; };
layout(scalar, binding = 4) writeonly buffer NotFinite { uint not_finite[]; };
layout(scalar, binding = 5) writeonly buffer Outside { uint outside[]; };
layout(scalar, binding = 6) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 7) readonly buffer BodyData { float body_data[]; };
layout(scalar, push_constant) uniform Params {
    vec3 domain_min_m;
    vec3 domain_max_m;
    vec3 gravity_m_s2;
    float dt_s;
    float drag_kg_s;
    float mass_kg;
    uint up_axis;
    uint n_bodies;
};
#include "common/surfaces.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 v = (velocity[i] + dt_s * gravity_m_s2) / (1.0 + dt_s * drag_kg_s / mass_kg);
    vec3 x = position[i] + dt_s * v;
    [[dont_unroll]] for (uint k = 0u; k < n_bodies; ++k) {
        vec4 surface = surface_of(up_axis, bodies[k], x, 0.0);
        if (!(surface.w < 0.0)) continue;
        x -= surface.w * surface.xyz;
        float normal_m_s = min(dot(v, surface.xyz), 0.0);
        vec3 along = v - dot(v, surface.xyz) * surface.xyz;
        float along_m_s = sqrt(dot(along, along));
        float kept_m_s =
            bodies[k].is_sticky != 0u ? 0.0 : max(along_m_s + bodies[k].friction * normal_m_s, 0.0);
        v = max(dot(v, surface.xyz), 0.0) * surface.xyz +
            (along_m_s > 0.0 ? kept_m_s / along_m_s : 0.0) * along;
    }
    position[i] = x;
    velocity[i] = v;
    drag_power[i] = drag_kg_s * dot(v, v);
    bool is_finite = !any(isnan(x)) && !any(isinf(x));
    bool is_inside = all(greaterThanEqual(x, domain_min_m)) && all(lessThanEqual(x, domain_max_m));
    not_finite[i] = uint(!is_finite);
    outside[i] = uint(is_finite && !is_inside);
}
