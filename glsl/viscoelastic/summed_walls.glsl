// Sums over the bodies near a particle (body_walls.glsl), six vec4 in the buffer `body_walls`: Σ m/y n and
// Σ m/y²; the columns of Σ m/y v_k nᵀ, each with a component of Σ m/y² v_k; and Σ m n nᵀ as xx, yy, zz, xy
// and xz, yz. A linear field of directions has bodies at rest.

// Returns the sum over bodies of m/y (v − v_k) nᵀ.
mat3 gradient_at_walls(uint i, vec3 v, bool are_moving) {
    uint at = BODY_WALL_VECTORS * i;
    mat3 sum = outerProduct(v, body_walls[at].xyz);
    if (are_moving) sum -= mat3(body_walls[at + 1u].xyz, body_walls[at + 2u].xyz, body_walls[at + 3u].xyz);
    return sum;
}

// Returns ρ times the acceleration by bodies, with the coupling Q and the viscosity η of the particle.
vec3 force_at_walls(uint i, vec3 v, mat3 own, float viscosity_pa_s, bool are_moving) {
    uint at = BODY_WALL_VECTORS * i;
    vec4 first = body_walls[at];
    vec3 relative = -first.w * v;
    if (are_moving) relative += vec3(body_walls[at + 1u].w, body_walls[at + 2u].w, body_walls[at + 3u].w);
    return viscosity_pa_s * relative - own * first.xyz;
}
