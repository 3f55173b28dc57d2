// Analytic walls: a domain box with the fluid inside it, and colliders in it. There are no boundary particles
// and no leaks.
//
// Needs a buffer `colliders` of Collider.
#include "sph/kernels.glsl"

struct Walls {
    vec3 domain_min_m;
    vec3 domain_max_m;
    float clearance_m;
    float fraction_scale;
    uint n_colliders;
};

const uint COLLIDER_PLANE = 0u;
const uint COLLIDER_BALL = 1u;
const uint COLLIDER_CONTAINER = 2u;

// Collider of the fluid. A plane has `vector` as its unit normal, into the fluid, and `scalar_m` as its
// distance from the origin along it; a ball (fluid outside) and a container (fluid inside) have `vector` as
// their centre and `scalar_m` as their radius.
struct Collider {
    uint kind;
    vec3 vector;
    float scalar_m;
};

// Returns (unit normal into the fluid, signed distance in m, positive in the fluid).
vec4 collider_distance(Collider collider, vec3 x_m) {
    if (collider.kind == COLLIDER_PLANE) return vec4(collider.vector, dot(collider.vector, x_m) - collider.scalar_m);
    vec3 offset = x_m - collider.vector;
    float r = sqrt(dot(offset, offset));
    // The centre of a ball has no outward direction; up is as good as any, and gravity acts against it
    // afterwards.
    vec3 direction = r > 0.0 ? offset / r : vec3(0.0, 1.0, 0.0);
    if (collider.kind == COLLIDER_BALL) return vec4(direction, r - collider.scalar_m);
    return vec4(-direction, collider.scalar_m - r);
}

// Moves a position at least the clearance away from every solid, the domain box last, so that no particle
// leaves the domain.
#define CONFINE(walls, x_m)                                                                   \
    for (uint k_ = 0u; k_ < walls.n_colliders; ++k_) {                                        \
        vec4 surface_ = collider_distance(colliders[k_], x_m);                                \
        x_m += max(walls.clearance_m - surface_.w, 0.0) * surface_.xyz;                       \
    }                                                                                         \
    x_m = min(max(x_m, walls.domain_min_m + walls.clearance_m), walls.domain_max_m - walls.clearance_m)

// Contribution of walls to a density constraint: the share of the kernel that they cut off, ρ_wall/ρ₀ = 1 −
// Π(1 − f_k), and h times its gradient. The product keeps corners from being counted twice. fraction_scale
// makes a lattice that starts half a spacing from a wall feel exactly the share that the wall has cut off.
struct WallTerm {
    float open;
    vec3 gradient_h;
};

void add_wall(inout WallTerm term, float fraction_scale, float q, vec3 normal) {
    if (q >= 1.0) return;
    float fraction = fraction_scale * spline_wall_fraction(q);
    float slope = fraction_scale * spline_wall_slope(q);
    term.gradient_h = term.gradient_h * (1.0 - fraction) - term.open * slope * normal;
    term.open *= 1.0 - fraction;
}

WallTerm domain_term(Walls walls, vec3 x_m, float h_m) {
    WallTerm term = WallTerm(1.0, vec3(0.0));
    vec3 below = (x_m - walls.domain_min_m) / h_m;
    vec3 above = (walls.domain_max_m - x_m) / h_m;
    // Nearly all particles are far from all walls.
    if (all(greaterThanEqual(below, vec3(1.0))) && all(greaterThanEqual(above, vec3(1.0)))) return term;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        vec3 normal = vec3(0.0);
        normal[axis] = 1.0;
        add_wall(term, walls.fraction_scale, below[axis], normal);
        add_wall(term, walls.fraction_scale, above[axis], -normal);
    }
    return term;
}

#define WALL_TERM(term, walls, x_m, h_m)                                                      \
    WallTerm term = domain_term(walls, x_m, h_m);                                             \
    for (uint k_ = 0u; k_ < walls.n_colliders; ++k_) {                                        \
        vec4 surface_ = collider_distance(colliders[k_], x_m);                                \
        add_wall(term, walls.fraction_scale, surface_.w / h_m, surface_.xyz);                                       \
    }
