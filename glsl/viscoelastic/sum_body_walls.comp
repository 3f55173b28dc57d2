#version 460
// Sums what bodies add to the neighbourhood of each particle at the start of a step (body_walls.glsl), for
// the implicit solve of viscosity. Fed particles have none.
//
// Bytes: 108 a particle. Order-independent.
// Elements: body_walls = threads * BODY_WALL_VECTORS.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint BODY_KINDS = 0xe00df;
const uint DIMENSIONS = 3u;
#include "common/clock.glsl"
#include "grid/grid.glsl"
#include "pbd/body_terms.glsl"
#include "common/body.glsl"
#include "viscoelastic/terms.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { ViscoelasticTerms terms[]; };
layout(scalar, binding = 2) readonly buffer OfBodies { BodyTerms of_bodies[]; };
layout(scalar, binding = 3) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 4) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 5) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 6) readonly buffer Position { vec3 position[]; };
layout(scalar, binding = 7) writeonly buffer BodyWalls { vec4 body_walls[]; };
#include "common/surfaces.glsl"
#include "viscoelastic/body_walls.glsl"

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    BodyTerms b = of_bodies[0];
    float time_s = substep_start_s(clock[0], b.dt_s);
    vec3 x = position[i];
    vec4 towards = vec4(0.0);
    vec4 columns[3] = vec4[3](vec4(0.0), vec4(0.0), vec4(0.0));
    vec3 diagonal = vec3(0.0);
    vec3 off_diagonal = vec3(0.0);
    uint n_bodies = is_fed(terms[0], x) ? 0u : b.n_bodies;
    [[dont_unroll]] for (uint k = 0u; k < n_bodies; ++k) {
        BodyWall wall = wall_of(b, bodies[k], pose_of(bodies[k], time_s), x);
        if (!(wall.moment_per_m > 0.0)) continue;
        vec3 n = wall.normal;
        float per_m2 = wall.moment_per_m / wall.distance_m;
        towards += vec4(wall.moment_per_m * n, per_m2);
        [[unroll]] for (uint c = 0u; c < 3u; ++c) {
            columns[c] += vec4(wall.moment_per_m * n[c] * wall.velocity, per_m2 * wall.velocity[c]);
        }
        vec3 weighted = wall.moment_per_m * wall.distance_m * n;
        diagonal += weighted * n;
        off_diagonal += weighted.xxy * n.yzz;
    }
    uint at = BODY_WALL_VECTORS * i;
    body_walls[at] = towards;
    [[unroll]] for (uint c = 0u; c < 3u; ++c) body_walls[at + 1u + c] = columns[c];
    body_walls[at + 4u] = vec4(diagonal, off_diagonal.x);
    body_walls[at + 5u] = vec4(off_diagonal.yz, 0.0, 0.0);
}
