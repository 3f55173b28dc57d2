// The part of bodies in Δt a of a viscous force. The kernel declares the buffers of stress_divergence.glsl,
// the shape and those of summed_walls.glsl.
#include "viscoelastic/shape.glsl"
#include "viscoelastic/summed_walls.glsl"

// Returns Δt a by bodies in m/s.
vec3 impulse_of_bodies(uint i, bool are_moving) {
    ViscoelasticTerms t = terms[0];
    mat3 own = mat3(coupling[3u * i].xyz, coupling[3u * i + 1u].xyz, coupling[3u * i + 2u].xyz);
    Neighbourhood n = unpack_neighbourhood(shape[2u * i], shape[2u * i + 1u]);
    float viscosity_pa_s = viscosity_at_walls(n, t.unresolved_pa_s);
    return t.dt_s / t.density_kg_m3 * force_at_walls(i, field[i], own, viscosity_pa_s, are_moving);
}
