#version 460
// Decides whether the density solve of a step goes on: it ends when the mean of max(ρ/ρ₀ − 1, 0) over the
// particles is within the tolerance, or at the bound on iterations. From then on no particle is active, and
// the remaining passes of the step have no threads. It also ends when the mean is one that the density of at
// least one particle makes a fault: each iteration of a state that has collapsed may take seconds.
//
// With HAS_MOMENTUM also has the share by which the next update of the pressure extrapolates: t ← (1 + √(1 +
// 4 t²))/2, β = (t − 1)/t of the update after it; an error that has grown restarts at t = 1 (ODonoghue2015).
// It ends when the error is within 3 % of the motion of the step too, the mean of Δt u_i/h, or a tenth of the
// tolerance: an error ε leaves particles a speed of some h ε/Δt, with which water at rest would boil.
//
// One thread. Bytes: 262. Order-independent.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "primitives/dispatch.glsl"
#include "common/clock.glsl"
#include "pbd/density_status.glsl"

layout(constant_id = 1) const uint HAS_MOMENTUM = 0;

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Total { float total[]; };
layout(scalar, binding = 2) buffer Status { DensityStatus status[]; };
layout(scalar, binding = 3) writeonly buffer Active { uint active_count[]; };
layout(scalar, binding = 4) writeonly buffer Args { uvec3 args[]; };
layout(scalar, binding = 5) buffer Momentum { SolveMomentum momentum[]; };
layout(scalar, binding = 6) readonly buffer Clock { StepClock clock[]; };
layout(scalar, push_constant) uniform Params {
    // 1 at the beginning of a solve, which makes all particles active.
    uint is_first;
    // 1 if the total is then that of their motions; otherwise it has not been computed.
    uint has_motion;
    // Corrections of this step so far, and their bounds.
    uint iteration;
    uint min_iterations;
    uint max_iterations;
    float tolerance;
    // Error of a state that has diverged.
    float max_error;
    uint max_groups_x;
};

// Error over the motion of a step with which its solve ends, and the least, over the tolerance.
const float MOTION_SHARE = 0.03;
const float LEAST_TOLERANCE = 0.1;

// Above the error of any state.
const float HUGE_ERROR = 1e30;

void activate(uint n) {
    active_count[0] = n;
    [[dont_unroll]] for (uint row = 0u; row < 16u; ++row) args[row] = dispatch_of(n, row, max_groups_x);
}

float next_t(float t) { return 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t)); }

void main() {
    // A step that changes nothing is none of those that count.
    if (thread_idx() != 0u || is_frozen(clock[0])) return;
    DensityStatus now = status[0];
    if (is_first != 0u) {
        now.is_done = 0u;
        now.n_steps += 1u;
        status[0] = now;
        activate(count[0]);
        if (HAS_MOMENTUM != 0u) {
            float bound = tolerance;
            if (has_motion != 0u) {
                float motion_h = total[0] / float(max(count[0], 1u));
                bound = clamp(MOTION_SHARE * motion_h, LEAST_TOLERANCE * tolerance, tolerance);
            }
            momentum[0] = SolveMomentum(1.0, 0.0, HUGE_ERROR, bound);
        }
        return;
    }
    if (now.is_done != 0u) return;
    now.error = total[0] / float(max(count[0], 1u));
    now.iterations = iteration;
    // Not a number is never within the tolerance.
    bool is_met = now.error <= tolerance;
    bool is_end = is_met;
    if (HAS_MOMENTUM != 0u) {
        SolveMomentum m = momentum[0];
        is_end = now.error <= m.tolerance;
        float t = now.error > m.error ? 1.0 : next_t(m.t);
        momentum[0] = SolveMomentum(t, (t - 1.0) / next_t(t), now.error, m.tolerance);
    }
    bool has_diverged = !(now.error < max_error);
    if ((is_end && iteration >= min_iterations) || iteration >= max_iterations || has_diverged) {
        now.is_done = 1u;
        if (!is_met) now.n_unmet += 1u;
        if (!(now.error <= now.worst_error)) {
            now.worst_error = now.error;
            now.worst_step = now.n_steps;
        }
        activate(0u);
    }
    status[0] = now;
}
