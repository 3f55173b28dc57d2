// Motion of a step: a position is the sum of two numbers, one of which is below the ulp of the other, so
// that particles move by Δt v wherever they are. Δt v is often a few ulps of a position only (8e-6 m at 100
// m): what rounding cuts off would be missing in every step, with the same sign.
#ifndef PBD_MOTION
#define PBD_MOTION

// Returns x + (a change + the residual) to the ulp of a position, and its residual.
vec3 added(vec3 x_m, vec3 residual_m, vec3 change_m, out vec3 next_residual_m) {
    precise vec3 step_m = change_m + residual_m;
    precise vec3 to_m = x_m + step_m;
    precise vec3 done_m = to_m - x_m;
    precise vec3 before_m = to_m - done_m;
    precise vec3 lost_m = (x_m - before_m) + (step_m - done_m);
    next_residual_m = lost_m;
    return to_m;
}

// Returns the residual of a position after it was confined: where a wall stops it, it has none.
vec3 residual_after(vec3 residual_m, vec3 free_m, vec3 confined_m) {
    return mix(residual_m, vec3(0.0), notEqual(free_m, confined_m));
}

// Returns x + (Δt v + the residual) and its residual. The kernels of a step that call it get the same bits.
vec3 moved(vec3 x_m, vec3 residual_m, vec3 v_m_s, float dt_s, out vec3 next_residual_m) {
    precise vec3 change_m = dt_s * v_m_s;
    return added(x_m, residual_m, change_m, next_residual_m);
}

vec3 moved(vec3 x_m, vec3 residual_m, vec3 v_m_s, float dt_s) {
    vec3 next_residual_m;
    return moved(x_m, residual_m, v_m_s, dt_s, next_residual_m);
}

#endif
