#version 460
// Adds gravity to velocities and finds the cell of each predicted position: v ← v + Δt g, key ← cell(x + Δt
// v), or that of the position itself if passes work at the start of the step (`move_s` = 0). Along periodic
// axes, particles that leave the domain enter it again at the other side. These are the first two lines of
// the loop in Chen2021 fig 5.1b; predict computes the predicted position itself after the sort, and
// project_out_of_bodies moves it out of bodies. Particles in drains get a key behind all cells, and
// remove_drained removes them.
//
// Bytes: 52 a particle (position 12, residual 12, velocity 12 + 12, key 4). Order-independent.
// Elements: drain = all * HAS_DRAINS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "grid/grid.glsl"
#include "pbd/motion.glsl"
#include "sources/sources.glsl"
#include "pbd/walls.glsl"

// Periodic axes, a bit each.
layout(constant_id = 1) const uint PERIODIC = 0;
layout(constant_id = 2) const uint HAS_DRAINS = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) buffer Position { vec3 position[]; };
layout(scalar, binding = 2) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 3) writeonly buffer Key { uint key[]; };
layout(scalar, binding = 4) readonly buffer Residual { vec3 residual_m[]; };
layout(scalar, binding = 5) readonly buffer Drains { Drain drain[]; };
layout(scalar, push_constant) uniform Params {
    Grid grid;
    Walls walls;
    vec3 gravity_m_s2;
    // Time of gravity, and of the motion to the position whose cell is found.
    float dt_s;
    float move_s;
    uint n_cells;
};

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    vec3 v = velocity[i] + dt_s * gravity_m_s2;
    velocity[i] = v;
    vec3 x = moved(position[i], residual_m[i], v, move_s);
    if (PERIODIC != 0u) {
        // Prediction and position move together, so that predict.comp finds the former in the domain.
        vec3 shift_m = lap_shift_m(walls, PERIODIC, x);
        if (shift_m != vec3(0.0)) position[i] -= shift_m;
        x -= shift_m;
    }
    x = confine(walls, PERIODIC, x);
    uint cell = cell_key(grid, cell_of(grid, x));
    if (HAS_DRAINS != 0u) {
        [[dont_unroll]] for (uint d = 0u; d < drain.length(); ++d)
            if (drains(drain[d], position[i])) cell = n_cells;
    }
    key[i] = cell;
}
