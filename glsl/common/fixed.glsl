// Fixed-point sums to which many threads add in any order, with the same bits in every order: 64-bit integers
// in units of a quantum, two words each, the low one first. Needs a buffer `sums` of uint.
#ifndef COMMON_FIXED
#define COMMON_FIXED

const float TWO_32 = 4294967296.0;

// Adds x, in quanta. A value that is not finite adds nothing; the thread that computed it detects it itself.
void add_fixed(uint number, float x) {
    float size = min(abs(x), 9.0e18);
    if (!(size >= 0.5)) return;
    // Exact: the part of the 24 digits of x above 2^32, and the rest.
    uint high = uint(size / TWO_32);
    uint low = uint(size - float(high) * TWO_32 + 0.5);
    if (x < 0.0) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    uint carry;
    uaddCarry(atomicAdd(sums[2u * number], low), low, carry);
    if (high + carry != 0u) atomicAdd(sums[2u * number + 1u], high + carry);
}

// Returns a sum in quanta, rounded to f32.
float fixed_sum(uint number) {
    uint low = sums[2u * number];
    uint high = sums[2u * number + 1u];
    bool is_negative = (high & 0x80000000u) != 0u;
    if (is_negative) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    float size = float(high) * TWO_32 + float(low);
    return is_negative ? -size : size;
}

// Words of a wrench, which is six sums: force, then torque about the centre.
const uint WRENCH_WORDS = 12u;

// Adds a force to a wrench.
void add_force(uint wrench, vec3 force_n, float quanta_per_n) {
    [[unroll]] for (uint axis = 0u; axis < 3u; ++axis)
        add_fixed(6u * wrench + axis, force_n[axis] * quanta_per_n);
}

void add_torque(uint wrench, vec3 torque_n_m, float quanta_per_n) {
    [[unroll]] for (uint axis = 0u; axis < 3u; ++axis)
        add_fixed(6u * wrench + 3u + axis, torque_n_m[axis] * quanta_per_n);
}

vec3 vector_sum(uint first) { return vec3(fixed_sum(first), fixed_sum(first + 1u), fixed_sum(first + 2u)); }

// Returns the force or the torque of a wrench, in quanta.
vec3 force_sum(uint wrench) { return vector_sum(6u * wrench); }

vec3 torque_sum(uint wrench) { return vector_sum(6u * wrench + 3u); }

// Resets the sums of a wrench to 0.
void clear_wrench(uint wrench) {
    [[unroll]] for (uint word = 0u; word < WRENCH_WORDS; ++word) sums[WRENCH_WORDS * wrench + word] = 0u;
}

// Adds an impulse at the end of an arm to that of a body, if the scene names it: loads are measured on bodies
// from `first_named` on only.
void add_impulse_on_body(uint body, uint first_named, vec3 impulse_n_s, vec3 arm_m, float quanta_per_n_s) {
    if (body < first_named) return;
    add_force(body - first_named, impulse_n_s, quanta_per_n_s);
    add_torque(body - first_named, cross(arm_m, impulse_n_s), quanta_per_n_s);
}

#endif
