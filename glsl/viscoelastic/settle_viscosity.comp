#version 460
// Computes the scalars of conjugate gradients between its passes, and ends the solve: no particle is active
// once the residual is within the tolerance of the impulse, or the bound on iterations is reached. One
// thread.
//
// Bytes: 44. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "viscoelastic/solve.glsl"

// Phases of the solve: all particles are active; the first residual; the step along p; the residual after it.
const uint START = 0u;
const uint FIRST = 1u;
const uint STEP = 2u;
const uint NEXT = 3u;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
// r·r or p·(I − Δt a) p, and |v − base|².
layout(scalar, binding = 1) readonly buffer First { float first[]; };
layout(scalar, binding = 2) readonly buffer Second { float second[]; };
layout(scalar, binding = 3) buffer Solve { ViscositySolve solve[]; };
layout(scalar, binding = 4) writeonly buffer Active { uint active_count[]; };
layout(scalar, binding = 5) writeonly buffer Args { uvec3 args[]; };
layout(scalar, push_constant) uniform Params {
    uint what;
    uint max_iterations;
    float tolerance;
    uint max_groups_x;
};

void activate(uint n) {
    active_count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}

void main() {
    if (thread_idx() != 0u) return;
    ViscositySolve s = solve[0];
    if (what == START) {
        // Without particles there are no further passes.
        s.is_done = count[0] == 0u ? 1u : 0u;
        s.iterations = 0u;
        s.n_steps += 1u;
        activate(count[0]);
    } else if (s.is_done == 0u) {
        if (what == STEP) {
            // Positive but for rounding.
            s.along = first[0] > 0.0 ? s.square / first[0] : 0.0;
            s.iterations += 1u;
        } else {
            s.keep = what == NEXT && s.square > 0.0 ? first[0] / s.square : 0.0;
            s.square = first[0];
            // Squares of velocities below 1e-18 m/s are no motion.
            if (what == FIRST) s.target = tolerance * tolerance * max(max(first[0], second[0]), 1e-36);
            // Not a number ends the solve, too; the particles then report the fault.
            bool goes_on = s.square > s.target;
            if (!goes_on || s.iterations >= max_iterations) {
                if (goes_on) s.n_unmet += 1u;
                s.is_done = 1u;
                activate(0u);
            }
        }
    }
    solve[0] = s;
}
