// Emitters, which add layers of particles, and drains, which remove particles.
#ifndef SOURCES_SOURCES
#define SOURCES_SOURCES
#include "common/clock.glsl"

// Pipe behind a mouth: layers of equal points appear at its far end, and move through it at one velocity.
struct Emitter {
    // Centre of the mouth, and unit vectors of the flow and of the two sides of the mouth.
    vec3 mouth_m;
    vec3 flow;
    vec3 side_a;
    vec3 side_b;
    // Half of the sides; of a disk its radius, twice.
    vec2 half_m;
    uint is_round;
    // Length of the pipe.
    float reach_m;
    float speed_m_s;
    // Distance between layers, and the share of it that passes in a step in units of 2⁻³².
    float layer_m;
    uint layer_share;
    // The first of its points, and their number.
    uint first_point;
    uint n_points;
    // Number of the first step before which a layer may appear, from 1, and that after the last.
    uint first_step;
    uint end_step;
};

// Axis-aligned box.
struct Drain {
    vec3 min_m;
    vec3 max_m;
};

// Counts of a run.
struct Emission {
    // The last step before which particles were added: a step that is repeated, because a record of it was
    // too small, does not add them again.
    uint last_step;
    uint next_id;
    uint n_emitted;
    uint n_drained;
    // Where the particles of a step have no room: the number before it, and that with them; else 0.
    uint n_held;
    uint n_required;
};

// Returns true if a layer appears before a step, and how far behind the place where layers appear it is by
// then, in layers: one appears before the first step, others whenever the last one has moved by a layer.
bool begins_layer(Emitter emitter, uint step, out float moved_layers) {
    moved_layers = 0.0;
    if (step < emitter.first_step || step >= emitter.end_step) return false;
    uint n = step - emitter.first_step;
    uint layers;
    uint rest;
    umulExtended(n, emitter.layer_share, layers, rest);
    moved_layers = float(rest) * exp2(-32.0);
    if (n == 0u) return true;
    uint layers_before;
    uint rest_before;
    umulExtended(n - 1u, emitter.layer_share, layers_before, rest_before);
    return layers > layers_before;
}

// Returns true if a point lies in the pipe, or within a distance of its sides or its far end.
bool is_in_pipe(Emitter emitter, vec3 x, float margin_m) {
    vec3 offset = x - emitter.mouth_m;
    float along = dot(emitter.flow, offset);
    vec2 across = vec2(dot(emitter.side_a, offset), dot(emitter.side_b, offset));
    vec2 half_m = emitter.half_m + margin_m;
    bool is_inside = emitter.is_round != 0u ? dot(across, across) < half_m.x * half_m.x
                                            : all(lessThan(abs(across), half_m));
    return is_inside && along < 0.0 && along > -emitter.reach_m - margin_m;
}

bool drains(Drain drain, vec3 x) {
    return all(greaterThanEqual(x, drain.min_m)) && all(lessThanEqual(x, drain.max_m));
}

#endif
