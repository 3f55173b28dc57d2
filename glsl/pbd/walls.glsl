// Analytic walls: a domain box with the fluid inside it. There are no boundary particles and no leaks. Bodies
// in the domain are in pbd/boundary_density.glsl.
#ifndef PBD_WALLS
#define PBD_WALLS
#include "sph/kernels.glsl"

struct Walls {
    vec3 domain_min_m;
    vec3 domain_max_m;
    float clearance_m;
    float fraction_scale;
};

// Returns the clearance of a particle of snow, whose spacing grows with α to a multiple of that of water:
// what freezes at a wall is pushed from it no faster than α grows.
float grown_clearance_m(float clearance_m, float spacings, float alpha) {
    return clearance_m * (1.0 + (spacings - 1.0) * min(alpha, 1.0));
}

// Returns a position moved at least the clearance away from every wall, so that no particle leaves the
// domain.
vec3 confine(Walls walls, vec3 x_m) {
    return min(max(x_m, walls.domain_min_m + walls.clearance_m), walls.domain_max_m - walls.clearance_m);
}

// The same between the walls of a domain whose axes of the bits of `periodic` have none.
vec3 confine(Walls walls, uint periodic, vec3 x_m) {
    return mix(confine(walls, x_m), x_m, notEqual(periodic & uvec3(1u, 2u, 4u), uvec3(0u)));
}

// Returns what the walls take from a motion that begins at a position between them.
vec3 stopped_m(Walls walls, uint periodic, vec3 x_m, vec3 change_m) {
    vec3 lowest_m = walls.domain_min_m + walls.clearance_m - x_m;
    vec3 highest_m = walls.domain_max_m - walls.clearance_m - x_m;
    vec3 stopped = min(max(change_m, lowest_m), highest_m) - change_m;
    return mix(stopped, vec3(0.0), notEqual(periodic & uvec3(1u, 2u, 4u), uvec3(0u)));
}

// Returns the whole extents of the domain in m by which a position lies beyond faces of periodic axes.
vec3 lap_shift_m(Walls walls, uint periodic, vec3 x_m) {
    vec3 extent_m = walls.domain_max_m - walls.domain_min_m;
    vec3 laps = floor((x_m - walls.domain_min_m) / extent_m);
    return mix(vec3(0.0), extent_m * laps, notEqual(periodic & uvec3(1u, 2u, 4u), uvec3(0u)));
}

// Contribution of walls to a density constraint: the share of the kernel that they cut off, ρ_wall/ρ₀ = 1 −
// Π(1 − f_k), and h times its gradient. The product avoids counting corners twice. fraction_scale
// makes the wall term exact for a lattice that starts half a spacing from the wall.
struct WallTerm {
    float open;
    vec3 gradient_h;
};

void add_wall(inout WallTerm term, float fraction_scale, float q, vec3 normal) {
    if (q >= 1.0) return;
    float fraction = fraction_scale * kernel_wall_fraction(q);
    float slope = fraction_scale * kernel_wall_slope(q);
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

// Returns the sum over the faces of the domain of their additional friction times the fraction that each cuts
// off beyond the faces before it.
float face_drag(Walls walls, vec3 x_m, float h_m, vec3 lower_friction, vec3 upper_friction) {
    vec3 below = (x_m - walls.domain_min_m) / h_m;
    vec3 above = (walls.domain_max_m - x_m) / h_m;
    float open = 1.0;
    float drag = 0.0;
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        [[unroll]] for (int side = 0; side < 2; ++side) {
            float q = side == 0 ? below[axis] : above[axis];
            float fraction = q < 1.0 ? walls.fraction_scale * kernel_wall_fraction(q) : 0.0;
            drag += (side == 0 ? lower_friction[axis] : upper_friction[axis]) * open * fraction;
            open *= 1.0 - fraction;
        }
    }
    return drag;
}

// Returns the weight w of viscosity at a distance of q in h, 0 to 1.
float viscous_weight(float q) { return (1.0 - q) * (1.0 - 0.5 * q); }

// Returns G of smooth_velocity at a distance q·h from a plane, per particle in h³: the integral of 5 w t² Δ/y
// over the half-space behind it, where Δ is the distance along the normal and t the cosine of the direction
// to an image and that of the velocity along the plane. A particle in the plane counts as one at 0.1 h.
float no_slip_drag(float q) {
    float s = max(q, 0.1);
    if (s >= 1.0) return 0.0;
    float s2 = s * s;
    float series = 1.0 / 30.0 - s2 * (1.0 / 4.0 + s2 * (1.0 / 2.0 + log(s) - s * (4.0 / 5.0 - s / 12.0)));
    return 3.92699081698724 * series / s;
}

// Returns the sum of G over the faces, weighted with the friction of each, for each component of the
// velocity: a face has no drag along its normal.
vec3 viscous_wall_drag(Walls walls, vec3 x_m, float h_m, vec3 lower_friction, vec3 upper_friction) {
    vec3 below = (x_m - walls.domain_min_m) / h_m;
    vec3 above = (walls.domain_max_m - x_m) / h_m;
    vec3 drag = vec3(0.0);
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        drag[axis] = lower_friction[axis] * no_slip_drag(below[axis]) +
                     upper_friction[axis] * no_slip_drag(above[axis]);
    }
    return vec3(drag.y + drag.z, drag.x + drag.z, drag.x + drag.y);
}

// Adds the boundary density of bodies, (h times the gradient, density over ρ₀), to the contribution of walls;
// the product avoids counting the overlap of a body with a wall twice.
void add_bodies(inout WallTerm term, vec4 boundary_density) {
    float open = 1.0 - boundary_density.w;
    term.gradient_h = term.gradient_h * open + term.open * boundary_density.xyz;
    term.open *= open;
}

// Returns the contribution of walls and of bodies, (h times the gradient, density over ρ₀), to a density
// constraint. With images of particles behind the faces of the domain, which are neighbours, it is the
// density of bodies in the fraction of the kernel that the faces leave open.
WallTerm density_term(Walls walls, vec3 x_m, float h_m, bool has_images, vec4 boundary_density) {
    if (has_images && boundary_density == vec4(0.0)) return WallTerm(1.0, vec3(0.0));
    WallTerm term = domain_term(walls, x_m, h_m);
    if (has_images) {
        vec3 gradient_h = term.open * boundary_density.xyz - boundary_density.w * term.gradient_h;
        return WallTerm(1.0 - term.open * boundary_density.w, gradient_h);
    }
    add_bodies(term, boundary_density);
    return term;
}

#endif
