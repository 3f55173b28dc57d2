// Bodies in the neighbourhood of a particle, for the implicit solve of viscosity.
//
// The part of a neighbourhood that a body cuts off counts as fluid whose velocity goes on linearly through
// that of the body at its surface. With the distance y, the normal n and the velocity v_k of the surface, and
// the part m of the second moment of the weight w along n beyond a plane at this distance:
//   M_i ← M_i + m n nᵀ,   L_i ← (Σ_j … + m/y (v_i − v_k) nᵀ) B_i
// so that gradients stay exact for linear fields, and the adjoint on the particle's force,
//   ρ a_i ← ρ a_i − m/y Q_i n + η_i m/y² (v_k − v_i),
// carries exactly the stress of a linear field to the body. m is multiplied by the friction of the body, up
// to 1, and by 1 for a sticky one.

struct BodyWall {
    // m/y in 1/m, 0 beyond the support, and y.
    float moment_per_m;
    float distance_m;
    vec3 normal;
    vec3 velocity;
};

// Returns m at a distance of q in h: of w = 2 − 3 q below a half, (1 − q)²/q above.
float moment_beyond(float q) {
    float q3 = q * q * q;
    float fourth = q < 0.5 ? 1.0 / 64.0 - q * q * q3 * (2.0 / 5.0 - 0.5 * q)
                           : 1.0 / 60.0 - q * q3 * (1.0 / 4.0 - q * (2.0 / 5.0 - q / 6.0));
    float open = 1.0 - q;
    float first = q < 0.5 ? 1.0 / 6.0 - q * q + q3 : open * open * open / 3.0;
    return q < 1.0 ? max(32.0 * (fourth - q3 * first), 0.0) : 0.0;
}

// Returns a body's wall at a position. A particle nearer than 0.1 h counts as one at 0.1 h.
BodyWall wall_of(BodyTerms b, Body body, Pose pose, vec3 x) {
    vec4 surface = surface_of(b.up_axis, body, pose, x);
    float friction = body.friction >= 0.0 ? body.friction : b.wall_friction;
    float share = body.is_sticky != 0u ? 1.0 : min(friction, 1.0);
    float distance_m = max(surface.w, 0.1 * b.support_m);
    float moment = share * moment_beyond(distance_m / b.support_m);
    vec3 n = surface.xyz;
    return BodyWall(moment / distance_m, distance_m, n, velocity_of(body, pose, x - surface.w * n));
}
