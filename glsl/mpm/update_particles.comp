#version 460
// Runs steps 7 and 8 for a particle: deformation gradient, velocity, and the stress for the next step;
// without bodies also steps 9 and 10, collisions with walls and motion, which are otherwise in
// collide_particles.comp.
//
// Step 7: F̂_E = (I + Δt ∇v) F_E with ∇v = Σ v_i ∇wᵀ (Breekveldt2017 eq 3.26, 3.27; MLS: the affine
// velocity). Its singular values are bounded, and the excess, or a share of it in viscous snow, goes to the
// plastic part (eq 3.30), of which only J_P = det F_P is used and stored. Step 8: PIC and FLIP blended (eq
// 3.31, 3.32), the affine velocity C = Σ w v_i (x_i − x_p)ᵀ/D, or both (AFLIP, Fei2021): then particles keep
// a share of their own velocity, but move by that of the grid, and collide_particles runs in any case.
//
// With the strain floor, entries of Δt ∇v below 2⁻²⁴ count as 0. On the diagonal of F, which is near 1, they
// are lost to rounding anyway; off the diagonal they would accumulate, and the rounding of Σ v_i ∇w, which is
// exactly 0 for a particle that drifts alone, would become strain (Breekveldt2017 sec 4.1).
//
// Sums over nodes take these operations, without the decomposition; APIC sums both ∇v and C.
// Work: SUM_FLOP + 2 * MATRIX_WORDS * (1 + TRANSFER * (2 - TRANSFER)) flop per particle_node.
// Bytes: 4 (9 + 3 + 9 MOVES + 2 D² + 3 + D(D+1)/2) a particle, with C 4 D² more, and the velocities (FLIP:
// and changes) of its nodes once per block if caches hold them. Order-independent, except for the choice of
// the first fault, which is the one with the lowest index.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint DIMENSIONS = 3;
layout(constant_id = 2) const uint STENCIL = 4;
layout(constant_id = 3) const uint AS_PRINTED = 0;
layout(constant_id = 4) const uint TRANSFER = 0;
// 1 to unroll the loop over the rows of a plane of nodes: fewer selects, more registers.
layout(constant_id = 5) const uint UNROLLS_ROWS = 0;
// 1 if collide_particles does not run: particles collide with walls, and move.
layout(constant_id = 6) const uint MOVES = 0;
// 1 if apply_contact runs next, which keeps particles in the domain.
layout(constant_id = 7) const uint HAS_CONTACT_FORCES = 0;
// 1 if velocities keep a share of FLIP.
layout(constant_id = 8) const uint HAS_FLIP = 0;
// Operations of weights, velocity and, for FLIP, its change.
const uint SUM_FLOP = DIMENSIONS * (10u + HAS_FLIP * TRANSFER * (3u - TRANSFER)) - 7u;
#include "mpm/splines.glsl"
#include "mpm/tensors.glsl"
#include "mpm/snow.glsl"
#include "common/clock.glsl"
#include "mpm/fault.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { MpmTerms terms[]; };
layout(scalar, binding = 2) readonly buffer BlockOf { uint block_of[]; };
layout(scalar, binding = 3) readonly buffer Target { uvec4 target[]; };
layout(scalar, binding = 4) readonly buffer NodeVelocity { vec3 node_velocity[]; };
layout(scalar, binding = 5) readonly buffer NodeChange { vec3 node_change[]; };
layout(scalar, binding = 6) readonly buffer Volume { float volume[]; };
// With MOVES the part of positions below their ulp; else, for AFLIP, the velocity of the grid.
layout(scalar, binding = 7) buffer Carried { vec3 carried[]; };
layout(scalar, binding = 8) buffer Position { vec3 position[]; };
layout(scalar, binding = 9) buffer Velocity { vec3 velocity[]; };
layout(scalar, binding = 10) buffer Elastic { float elastic[]; };
layout(scalar, binding = 11) buffer PlasticVolume { float plastic_volume[]; };
layout(scalar, binding = 12) writeonly buffer Stress { float stress[]; };
layout(scalar, binding = 13) writeonly buffer Affine { float affine[]; };
layout(scalar, binding = 14) buffer Fault { MpmFault fault[]; };
layout(scalar, binding = 15) buffer Clock { StepClock clock[]; };

#include "sparse/node_row.glsl"
const uint ONLY_STICKY = 0u;
#include "mpm/walls.glsl"

const float ROUNDING_OF_ONE = 5.9604645e-8;

mat3 floored(mat3 strain) {
    for (uint c = 0u; c < 3u; ++c)
        for (uint r = 0u; r < 3u; ++r)
            strain[c][r] = abs(strain[c][r]) < ROUNDING_OF_ONE ? 0.0 : strain[c][r];
    return strain;
}

// Position of a particle among its nodes, the place of the first of them in its block, and the velocity that
// is subtracted from those of nodes.
struct Stencil {
    vec3 f;
    uvec3 base_in_block;
    vec3 start;
};

struct Sums {
    vec3 velocity;
    vec3 change;
    mat3 gradient;
    mat3 spin;
};

// Adds a row of nodes along x.
void add_row(inout Sums sums, Stencil at, uvec4 targets, vec2 along_z, uint y, uint z) {
    vec2 along_y = axis_weight(at.f.y, y);
    NodeRow row = row_of_nodes(targets, at.base_in_block, y, z);
    [[unroll]] for (uint k = 0u; k < STENCIL; ++k) {
        uint node = node_in_row(row, at.base_in_block.x + k);
        vec4 w = node_weight(axis_weight(at.f.x, k), along_y, along_z);
        vec3 v = in_dimensions(node_velocity[node]) - at.start;
        sums.velocity += scaled(w.w, v);
        if (HAS_FLIP != 0u) sums.change += scaled(w.w, in_dimensions(node_change[node]));
        if (TRANSFER != MLS) sums.gradient += outer_product(v, w.xyz);
        if (TRANSFER != PIC_FLIP) sums.spin += outer_product(v, scaled(w.w, vec3(k, y, z) - from_base(at.f)));
    }
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    if (is_frozen(clock[0])) return;
    vec3 xi = place_in_cells(terms[0].lattice, position[i]);
    uvec3 base = base_of(terms[0].lattice, xi);
    vec3 f = place_in_stencil(xi, base);
    uvec3 base_in_block = base % BLOCK_SIDE;
    uint block = block_of[i];

    // Velocities are used as differences from the particle's own. Σ w = 1, Σ ∇w = 0 and Σ w (x_i − x_p) = 0
    // hold only to rounding, with an error of constant sign: for differences it is negligible, for velocities
    // it would add momentum with every step, and strain with speed. AS_PRINTED sums velocities.
    vec3 start = AS_PRINTED != 0u ? vec3(0.0) : velocity[i];
    Stencil at = Stencil(f, base_in_block, start);
    Sums sums = Sums(vec3(0.0), vec3(0.0), mat3(0.0), mat3(0.0));
    [[dont_unroll]] for (uint z = 0u; z < STENCIL_Z; ++z) {
        vec2 along_z = third_weight(f, z);
        uvec4 targets = targets_of_plane(block, base_in_block, z);
        if (UNROLLS_ROWS != 0u) {
            [[unroll]] for (uint y = 0u; y < STENCIL; ++y) add_row(sums, at, targets, along_z, y, z);
        } else {
            [[dont_unroll]] for (uint y = 0u; y < STENCIL; ++y) add_row(sums, at, targets, along_z, y, z);
        }
    }
    // The motion comes first, and terms are loaded after the loops: the fewer values the decomposition has
    // beside it, the more subgroups a GPU holds.
    MpmTerms t = terms[0];
    vec3 x = position[i];
    vec3 picked = sums.velocity + start;
    vec3 v = HAS_FLIP != 0u ? mix(picked, velocity[i] + sums.change, t.flip_ratio) : picked;
    bool is_sound = true;
    if (MOVES != 0u) {
        v = collide_with_walls(t, x, 0.0, v);
        vec3 lost;
        vec3 free = moved(x, carried[i], v, t.dt_s, lost);
        vec3 next = HAS_CONTACT_FORCES == 0u ? kept_in_domain(t, free) : free;
        if (DIMENSIONS == 2u) next.z = x.z;
        position[i] = next;
        carried[i] = residual_after(lost, free, next);
        is_sound = is_sound_motion(t, next, v);
    } else if (HAS_FLIP * TRANSFER != 0u) {
        // A share of FLIP in an affine transfer; PIC_FLIP is 0.
        carried[i] = picked;
    }
    velocity[i] = v;

    mat3 gradient = sums.gradient;
    mat3 spin = sums.spin;
    mat3 c = inverse_inertia(t.lattice.cells_per_m) * t.cell_m * spin;
    gradient = TRANSFER == MLS ? c : t.lattice.cells_per_m * gradient;

    mat3 strain = t.dt_s * gradient;
    if (t.has_strain_floor != 0u) strain = floored(strain);
    mat3 stretched = LOAD_MATRIX(elastic, i, 1.0);
    stretched += times(strain, stretched);
    Decomposed d = decompose(stretched);
    float j = d.sigma.x * d.sigma.y * d.sigma.z;
    float plastic = plastic_volume[i];
    // Inverted snow is not bounded back into shape, so that the fault reports the state in which it was
    // found.
    if (t.is_plastic != 0u && j > 0.0) {
        vec3 kept = clamp(d.sigma, vec3(t.sigma_min), vec3(t.sigma_max));
        if (DIMENSIONS == 2u) kept.z = 1.0;
        // Viscous yield, by backward Euler; the branch leaves the bits of yield at once alone.
        if (t.yield_share < 1.0) kept = d.sigma + t.yield_share * (kept - d.sigma);
        if (kept != d.sigma) {
            plastic *= j / (kept.x * kept.y * kept.z);
            d.sigma = kept;
            stretched = times(times_diagonal(d.u, kept), transpose(d.v));
        }
    }

    plastic_volume[i] = plastic;
    STORE_MATRIX(elastic, i, stretched);
    mat3 s = kirchhoff(t, d, plastic, volume[i]);
    STORE_SYMMETRIC(stress, i, s);
    if (TRANSFER != PIC_FLIP) STORE_MATRIX(affine, i, c);

    if (!(is_sound && is_finite(magnitude_bits(stretched)) && j > 0.0)) RECORD_FAULT(i)
}
