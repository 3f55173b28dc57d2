#version 460
// Computes the scalars of conjugate residuals between its passes. One thread.
//
// Bytes: 36. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "mpm/solve.glsl"

// Phases of the solve: the right-hand side |v*|², the first products z·w and |z|², the step along p by |q|²,
// the products after it.
const uint START = 0u;
const uint FIRST = 1u;
const uint STEP = 2u;
const uint NEXT = 3u;

layout(scalar, binding = 0) readonly buffer First { float first[]; };
layout(scalar, binding = 1) readonly buffer Second { float second[]; };
layout(scalar, binding = 2) buffer Solve { MpmSolve solve[]; };
layout(scalar, push_constant) uniform Params {
    uint what;
    float tolerance;
};

void main() {
    if (thread_idx() != 0u) return;
    MpmSolve s = solve[0];
    if (what == START) {
        s = MpmSolve(0.0, 0.0, 0.0, first[0], 0.0, 0u, 0u);
    } else if (s.is_done == 0u) {
        if (what == STEP) {
            // A direction that B maps to zero is not followed.
            s.along = first[0] > 0.0 ? s.product / first[0] : 0.0;
            s.iterations += 1u;
        } else {
            s.keep = what == NEXT && s.product != 0.0 ? first[0] / s.product : 0.0;
            s.product = first[0];
            s.residual = second[0];
        }
        // A residual that is not finite ends the solve, too; the particles then report the fault.
        bool goes_on = s.product > 0.0 && s.residual > tolerance * tolerance * s.start;
        if (what != STEP && !goes_on) s.is_done = 1u;
    }
    solve[0] = s;
}
