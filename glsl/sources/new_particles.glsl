// Particles of the layers that appear before a step: emitters in their order, and the points of each in
// theirs. Needs the buffers `emitters` and `emission`.
#ifndef SOURCES_NEW_PARTICLES
#define SOURCES_NEW_PARTICLES
#include "sources/sources.glsl"

struct NewParticle {
    // False if the layer of the point does not appear.
    bool appears;
    uint emitter;
    // Number of particles that appear before this one.
    uint place;
    // Distance that it has come, in m.
    float moved_m;
};

const NewParticle NO_PARTICLE = NewParticle(false, 0u, 0u, 0.0);

NewParticle new_particle(uint point, uint step) {
    if (step <= emission[0].last_step) return NO_PARTICLE;
    uint n_before = 0u;
    // Bound: the emitters, of which one has the point.
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        float moved_layers;
        bool begins = begins_layer(emitters[e], step, moved_layers);
        uint n_points = emitters[e].n_points;
        uint k = point - emitters[e].first_point;
        if (k < n_points) return NewParticle(begins, e, n_before + k, moved_layers * emitters[e].layer_m);
        if (begins) n_before += n_points;
    }
    return NO_PARTICLE;
}

// Returns the number of particles that appear before a step.
uint new_particle_count(uint step) {
    if (step <= emission[0].last_step) return 0u;
    uint n_new = 0u;
    [[dont_unroll]] for (uint e = 0u; e < emitters.length(); ++e) {
        float moved_layers;
        if (begins_layer(emitters[e], step, moved_layers)) n_new += emitters[e].n_points;
    }
    return n_new;
}

#endif
