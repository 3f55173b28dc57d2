// Normal force of a contact such that the discrete step rebounds with the requested restitution.
//
// A contact is an oscillator: m* δ'' = −k δ − c δ'. With v ← v − Δt (k δ + c v)/m*, δ ← δ + Δt v, successive
// overlaps lie on δ(θ) ∝ e^{−κθ} sin θ at angles θ that are α apart, if c = (1 − e^{−2κα}) m*/Δt and
//   ω² Δt² = 2 e^{−κα} (cosh κα − cos α),  ω² = k/m*.
// Half a turn, θ = π, damps by e^{−κπ}, so κ = −ln(e)/π = β/√(1 − β²) makes the restitution e for any Δt. The
// spring keeps its stiffness k. Since grains touch and part between steps, the first and the last step of a
// contact take the share of their time in contact into account.
//
// The force is attractive at the end of a rebound, so that the impulse of its positive part exceeds the
// impulse of the force, by 14 % at e = 0.1. Coulomb's law bounds friction by a load instead, whose impulse
// over a rebound is that of the force: once the ends separate, at most the impulse that is still to come,
// which is 0 from where they are as fast as they will part.
#ifndef DEM_OSCILLATOR
#define DEM_OSCILLATOR

struct Oscillator {
    float dt_s;
    float mass_kg;
    float stiffness_n_m;
    float damping_n_s_m;
    // κ, and the angle α of a step.
    float decay;
    float angle;
};

// Returns e^x for |x| up to about 1/2, to 3e-5, on any device: the errors that Vulkan allows sin() and cos()
// are 2^-11.
float exponential(float x) {
    return 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0))));
}

// Returns sin x and cos x for |x| up to about 1/2, to 2e-6.
float sine(float x) { return x * (1.0 - x * x / 6.0 * (1.0 - x * x / 20.0)); }

float cosine(float x) { return 1.0 - x * x / 2.0 * (1.0 - x * x / 12.0 * (1.0 - x * x / 30.0)); }

Oscillator oscillator_of(float damping_ratio, float mass_kg, float stiffness_n_m, float dt_s) {
    Oscillator o;
    o.dt_s = dt_s;
    o.mass_kg = mass_kg;
    o.stiffness_n_m = stiffness_n_m;
    float root = sqrt(1.0 - damping_ratio * damping_ratio);
    float k = damping_ratio / root;
    float w = dt_s * sqrt(stiffness_n_m / mass_kg) * root;
    o.decay = k;
    // Inverse series of the equation above in w = ω Δt √(1 − β²).
    o.angle = w * (1.0 + w * (k / 2.0 + w * (k * k / 3.0 + 1.0 / 24.0 + w * k * (1.0 / 12.0 + k * k / 4.0))));
    o.damping_n_s_m = (1.0 - exponential(-2.0 * k * o.angle)) * mass_kg / dt_s;
    return o;
}

// Returns the separation velocity before the first step of a contact, from the speed `separation_m_s` < 0 of
// approach: that of the oscillator one step before `overlap_m`. The ends touched during the previous step,
// overlap/|separation_m_s| ago.
float parting_at_entry(Oscillator o, float overlap_m, float separation_m_s) {
    float share = overlap_m / (-separation_m_s * o.dt_s);
    float s = share * o.angle;
    // θ of e^{−κθ} sin θ = s.
    float theta = s * (1.0 + s * (o.decay + s * (1.5 * o.decay * o.decay + 1.0 / 6.0)));
    float before = theta - o.angle;
    return separation_m_s * (share - exponential(-o.decay * before) * sine(before) / o.angle);
}

// Returns the speed at which the ends part, given the overlap before and the gap after the last step.
float parting_at_exit(Oscillator o, float overlap_m, float gap_m) {
    // The zero is at the angle θ of tan θ = overlap/q after this step.
    float q = (overlap_m * cosine(o.angle) + gap_m * exponential(o.decay * o.angle)) / sine(o.angle);
    float tangent = overlap_m / q;
    float t2 = tangent * tangent;
    float theta = tangent * (1.0 - t2 / 3.0 * (1.0 - 0.6 * t2 * (1.0 - t2 * 5.0 / 7.0)));
    return o.angle / o.dt_s * exponential(-o.decay * theta) * sqrt(q * q + overlap_m * overlap_m);
}

// Returns the angle whose sine and cosine have these ratios to a size, from 0 to π, to 1e-6, by two halvings.
float angle_of(float along, float across, float size) {
    float half_tangent = along / max(size + abs(across), 1.0e-37);
    float t = half_tangent / (1.0 + sqrt(1.0 + half_tangent * half_tangent));
    float t2 = t * t;
    float tail = 1.0 / 7.0 - t2 * (1.0 / 9.0 - t2 / 11.0);
    float angle = 4.0 * t * (1.0 - t2 * (1.0 / 3.0 - t2 * (1.0 / 5.0 - t2 * tail)));
    return across < 0.0 ? 3.14159265 - angle : angle;
}

// Returns the speed at which the ends will part, given the separation velocity before the step.
float parting_to_come(Oscillator o, float overlap_m, float separation_m_s) {
    // Sine and cosine of the angle that is left, times the same length.
    float along = overlap_m * sine(o.angle);
    float across = (overlap_m + o.dt_s * separation_m_s) * exponential(-o.decay * o.angle) -
                   overlap_m * cosine(o.angle);
    float size = sqrt(along * along + across * across);
    float share = exponential(-o.decay * angle_of(along, across, size) / 16.0);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) share *= share;
    return o.angle / o.dt_s * size / sine(o.angle) * share;
}

// Share of the speed of parting from which the load is bounded by the impulse to come: grains at rest, which
// few steps of strong damping do not resolve, are below it.
const float SEPARATING = 0.25;

// Returns the normal force of a contact, positive if it pushes. `load_n` bounds friction; `has_ended` is set
// if the rebound ends in this step. (Results in a struct would make glslang's propagation of `precise` take
// hours.)
float normal_force(Oscillator o, float overlap_m, float separation_m_s, bool is_new, bool is_bonded,
                   out float load_n, out bool has_ended) {
    float before = separation_m_s;
    bool touched_in_step =
        is_new && !is_bonded && separation_m_s < 0.0 && overlap_m <= -separation_m_s * o.dt_s;
    if (touched_in_step) before = parting_at_entry(o, overlap_m, separation_m_s);
    float per_step = o.mass_kg / o.dt_s;
    float force =
        o.stiffness_n_m * overlap_m - o.damping_n_s_m * before + (before - separation_m_s) * per_step;
    float gap_m = o.dt_s * (separation_m_s + force / per_step) - overlap_m;
    has_ended = !is_bonded && gap_m > 0.0;
    if (has_ended) force = (parting_at_exit(o, overlap_m, gap_m) - separation_m_s) * per_step;
    float parting = parting_to_come(o, overlap_m, before);
    bool is_separating = separation_m_s > SEPARATING * parting;
    load_n = max(is_separating ? min(force, (parting - separation_m_s) * per_step) : force, 0.0);
    return force;
}

#endif
