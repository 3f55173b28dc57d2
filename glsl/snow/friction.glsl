// Coulomb's law for corrections of positions (Chen2021 eq 5.22).

#include "common/vectors.glsl"

// Returns the part of a slip that friction removes under a normal correction of `pressed_m`.
vec3 coulomb(vec3 slip_m, float pressed_m, float static_friction, float kinetic_friction) {
    float slip = length(slip_m);
    if (slip < static_friction * pressed_m) return slip_m;
    return slip > 0.0 ? min(kinetic_friction * pressed_m / slip, 1.0) * slip_m : vec3(0.0);
}
