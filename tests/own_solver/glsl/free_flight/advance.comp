#version 460
// One step of free flight with linear drag: v ← (v + Δt g)/(1 + Δt k/m), x ← x + Δt v, and the dissipated
// power k v². The drag is implicit, so that no time step overshoots rest. Particles outside the domain or
// with NaN are marked.
//
// Bytes: 60 per particle. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Position { vec3 position[]; };
layout(scalar, binding = 2) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer DragPower { float drag_power[]; };
layout(scalar, binding = 4) writeonly buffer NotFinite { uint not_finite[]; };
layout(scalar, binding = 5) writeonly buffer Outside { uint outside[]; };
layout(scalar, push_constant) uniform Params {
    vec3 domain_min_m;
    vec3 domain_max_m;
    vec3 gravity_m_s2;
    float dt_s;
    float drag_kg_s;
    float mass_kg;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 v = (velocity[i] + dt_s * gravity_m_s2) / (1.0 + dt_s * drag_kg_s / mass_kg);
    vec3 x = position[i] + dt_s * v;
    position[i] = x;
    velocity[i] = v;
    drag_power[i] = drag_kg_s * dot(v, v);
    bool is_finite = !any(isnan(x)) && !any(isinf(x));
    bool is_inside = all(greaterThanEqual(x, domain_min_m)) && all(lessThanEqual(x, domain_max_m));
    not_finite[i] = uint(!is_finite);
    outside[i] = uint(is_finite && !is_inside);
}
