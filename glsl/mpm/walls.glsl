// Effect of the walls of the domain on the velocities of snow, and the motion of particles.
//
// Needs the constant ONLY_STICKY, which is 1 if other surfaces than sticky ones do not act.
#ifndef MPM_WALLS
#define MPM_WALLS
#include "mpm/terms.glsl"
#include "linalg/matrix.glsl"
#include "pbd/motion.glsl"

// Distance from a surface, in cells, up to which a node is on it. Without it, a wall or a body along a row of
// nodes would hold that row or not by the rounding of the nodes' positions, which differs between devices and
// places. It exceeds that rounding up to 5000 cells from the origin, and moves a surface by 0.1 % of a cell.
const float ON_SURFACE_CELLS = 1.0 / 1024.0;

// Returns the velocity after an inelastic collision with Coulomb friction (Breekveldt2017 sec 3.2.5).
vec3 collide(vec3 v, vec3 normal, vec3 body_velocity, float friction, bool is_sticky) {
    if (is_sticky) return body_velocity;
    vec3 relative = v - body_velocity;
    float along = dot(relative, normal);
    if (along >= 0.0) return v;
    vec3 tangent = relative - along * normal;
    float speed = sqrt(dot(tangent, tangent));
    if (speed <= -friction * along) return body_velocity;
    return body_velocity + tangent * (1.0 + friction * along / speed);
}

// Returns 1 at a distance of at most `reach_m` from the lower wall of an axis or behind it, −1 for the upper
// one.
float wall_side(MpmTerms terms, vec3 x_m, float reach_m, uint axis) {
    if (x_m[axis] - terms.domain_min_m[axis] <= reach_m) return 1.0;
    return terms.domain_max_m[axis] - x_m[axis] <= reach_m ? -1.0 : 0.0;
}

// Returns μ of the wall of an axis on the side of wall_side, negative if it is sticky.
float wall_friction(MpmTerms terms, float side, uint axis) {
    return side > 0.0 ? terms.lower_wall_friction[axis] : terms.upper_wall_friction[axis];
}

vec3 collide_with_walls(MpmTerms terms, vec3 x_m, float reach_m, vec3 v) {
    for (uint axis = 0u; axis < DIMENSIONS; ++axis) {
        float side = wall_side(terms, x_m, reach_m, axis);
        if (side == 0.0) continue;
        vec3 normal = vec3(0.0);
        normal[axis] = side;
        float friction = wall_friction(terms, side, axis);
        if (ONLY_STICKY != 0u && friction >= 0.0) continue;
        v = collide(v, normal, vec3(0.0), friction, friction < 0.0);
    }
    return v;
}

// Returns the position within the domain.
vec3 kept_in_domain(MpmTerms terms, vec3 x_m) {
    return min(max(x_m, terms.domain_min_m), terms.domain_max_m);
}

// Returns true if a step's motion is sound: finite, and at most a cell along each axis. A value that is not
// finite fails every comparison.
bool is_sound_motion(MpmTerms terms, vec3 next_m, vec3 v) {
    vec3 farthest = abs(terms.dt_s * v);
    bool is_slow = max(farthest.x, max(farthest.y, farthest.z)) <= terms.cell_m;
    return is_finite_vector(v) && is_finite_vector(next_m) && is_slow;
}

#endif
