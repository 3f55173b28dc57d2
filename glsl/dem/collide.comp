#version 460
// Computes the forces on a grain (Gucer2010 eq 3.3, 3.12) of its contacts with grains, bodies and the walls
// of the domain, gathered in the order of its contact list, so that grains need no atomics. Contacts with
// pieces of slabs, the last of the list, are handled by collide_pieces.comp.
//
// The contact law costs far more than a distance, and a list with a skin has more grains than touch: threads
// advance to their next contact, and then evaluate the law together.
//
// Both ends of a contact evaluate it. Evaluating it at one end would halve the arithmetic and double what is
// read: the other end would read force, torque arm and couple (24 to 36 bytes, written by the first) in place
// of a sphere, a motion and a history (56 to 68), and the history could not stay at both ends.
//
// The history of a contact is stored at both ends, in the rows of their lists, and updated in place. Loads of
// grains on named bodies are summed in integers, in any order.
// Bytes: 4 + 60 a grain read, 28 written; 4 a row and, for each grain that it touches, 56, and 16 (28 with
// rolling) each way. Order-independent.
// Work: 11 flop per listed_grain, 270 + 32 * HAS_ROLLING flop per touching_grain.
// Work: 250 + 32 * HAS_ROLLING flop per touching_surface.
// Elements: near = all, list_shear = all, list_rolling = all, body_data = 0, bodies = 0, clock = 0.
// Elements: fault = 0, sums = 0.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
layout(constant_id = 1) const uint HAS_ROLLING = 1;
layout(constant_id = 2) const uint HAS_BODIES = 1;
// 1 if loads on some bodies are measured.
layout(constant_id = 3) const uint HAS_NAMED_BODIES = 1;
layout(constant_id = 4) const uint BODY_KINDS = 0xe00df;
const uint DIMENSIONS = 3u;
#include "dem/contact.glsl"
#include "common/clock.glsl"
#include "dem/fault.glsl"
#include "dem/grain.glsl"
#include "common/body.glsl"

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Terms { DemTerms terms[]; };
// First row of each grain's contact list; it ends where that of the next grain starts.
layout(scalar, binding = 2) readonly buffer FirstRow { uint first_row[]; };
layout(scalar, binding = 3) buffer Near { uint near[]; };
layout(scalar, binding = 4) buffer ListShear { vec4 list_shear[]; };
layout(scalar, binding = 5) buffer ListRolling { vec3 list_rolling[]; };
layout(scalar, binding = 6) readonly buffer Sphere { vec4 sphere[]; };
layout(scalar, binding = 7) readonly buffer Motion { GrainMotion motion[]; };
layout(scalar, binding = 8) readonly buffer Bodies { Body bodies[]; };
layout(scalar, binding = 9) readonly buffer BodyData { float body_data[]; };
layout(scalar, binding = 10) writeonly buffer Load { ContactLoad load[]; };
layout(scalar, binding = 11) buffer Fault { DemFault fault[]; };
layout(scalar, binding = 12) buffer Sums { uint sums[]; };
layout(scalar, binding = 13) buffer Clock { StepClock clock[]; };

#include "common/surfaces.glsl"
#include "dem/grain_contact.glsl"
#include "common/fixed.glsl"
#include "dem/partners.glsl"

// Adds the contact with a grain of radius `other` in a row with this first word. The difference of positions
// is exact, and that of the residuals beside it far below its ulp.
void apply_grain_contact(bool has_bonds, uint i, uint row, uint word, vec3 apart, float other, float r,
                         float m) {
    uint j = word & INDEX_BITS;
    float both = r + other;
    apart += motion[i].residual_m - motion[j].residual_m;
    float distance = sqrt(dot(apart, apart));
    ContactHistory history = load_history(row, word);
    float m_other = mass_of(terms[0], other);
    precise float lever = r - 0.5 * (both - distance);
    precise float lever_other = other - 0.5 * (both - distance);
    // Loaded here, because the loop over contacts has no registers to keep them in on a GPU.
    vec3 v = motion[i].velocity_m_s;
    vec3 w = motion[i].spin_1_s;
    vec3 w_other = motion[j].spin_1_s;
    ContactKinematics c;
    // Two coincident grains separate along x.
    c.normal = distance > 0.0 ? apart / distance : vec3((word & IS_HIGHER) != 0u ? 1.0 : -1.0, 0.0, 0.0);
    c.overlap_m = both - distance;
    precise vec3 surface_m_s = lever * w;
    precise vec3 surface_other_m_s = lever_other * w_other;
    precise vec3 turning = surface_m_s + surface_other_m_s;
    precise vec3 surface = vec3(turning.y * c.normal.z, turning.z * c.normal.x, turning.x * c.normal.y);
    precise vec3 surface_too = vec3(turning.z * c.normal.y, turning.x * c.normal.z, turning.y * c.normal.x);
    precise vec3 relative_m_s = v - motion[j].velocity_m_s;
    precise vec3 at_contact = relative_m_s - (surface - surface_too);
    c.velocity_m_s = at_contact;
    c.spin_1_s = w - w_other;
    precise float product = m * m_other;
    precise float sum = m + m_other;
    c.mass_kg = product / sum;
    precise float radii = r * other;
    c.radius_m = radii / both;
    float inertia = (1.0 + BALL_INERTIA) * m * r * r;
    float inertia_other = (1.0 + BALL_INERTIA) * m_other * other * other;
    precise float inertias = inertia * inertia_other;
    precise float inertia_sum = inertia + inertia_other;
    c.rolling_inertia_kg_m2 = inertias / inertia_sum;
    c.damping_ratio = terms[0].damping_ratio;
    c.friction = terms[0].friction;
    c.attraction_n = terms[0].cohesion_n;
    c.attraction_range_m = terms[0].cohesion_range_m;
    c.bond_strength_n = terms[0].bond_strength_n;
    c.bond_shear_strength_n = terms[0].bond_shear_strength_n;
    c.bond_yields = false;
    ContactForce force = evaluate_contact(has_bonds, c, history);
    accumulate(force, c.normal, lever);
    store_history(row, word, force.is_kept, history);
}

// Returns the deepest overlap of grain i, as a share of the smaller radius, and the largest travel of it and
// of the grains that it overlaps, in their radii per step.
vec2 overlap_and_travel(uint i, float dt_s) {
    vec4 own = sphere[i];
    vec2 found = vec2(0.0, dt_s * travel_1_s(motion[i], own.w));
    uint end = min(first_row[i + 1u], near.length());
    [[dont_unroll]] for (uint row = first_row[i]; row < end && near[row] < FIRST_WALL; ++row) {
        uint j = near[row] & INDEX_BITS;
        vec4 other = sphere[j];
        vec3 apart = own.xyz - other.xyz;
        float depth = own.w + other.w - sqrt(dot(apart, apart));
        if (depth <= 0.0) continue;
        found = max(found, vec2(depth / min(own.w, other.w), dt_s * travel_1_s(motion[j], other.w)));
    }
    return found;
}

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    // If a step has failed, its state is kept unchanged.
    if (is_frozen(clock[0])) return;
    uint row = first_row[i];
    uint end = min(first_row[i + 1u], near.length());
    vec4 own_sphere = sphere[i];
    vec3 x = own_sphere.xyz;
    float r = own_sphere.w;
    float m = mass_of(terms[0], r);
    float widened = r + contact_gap(terms[0]);
    // Bonds hold, but form in some steps only.
    bool has_bonds = terms[0].has_bonds != 0u && clock[0].step <= terms[0].bond_forms_until;
    force_n = vec3(0.0);
    torque_n_m = vec3(0.0);
    n_surfaces = 0u;
    uint n_near = 0u;

    // Grains come first, then surfaces.
    // Bound: the rows of the grain: each turn takes one or ends.
    [[dont_unroll]] while (true) {
        uint word = FIRST_WALL;
        vec3 apart = vec3(0.0);
        float other = 0.0;
        bool is_near = false;
        bool is_found = false;
        // Bound: the rows that are left.
        [[dont_unroll]] while (row < end && !is_found) {
            word = near[row];
            if (word >= FIRST_WALL) break;
            vec4 other_sphere = sphere[word & INDEX_BITS];
            apart = x - other_sphere.xyz;
            other = other_sphere.w;
            float reach = widened + other;
            is_near = dot(apart, apart) <= reach * reach;
            // A contact whose ends have parted loses its history.
            is_found = is_near || (word & KEPT) != 0u;
            if (!is_found) ++row;
        }
        if (!is_found) break;
        if (is_near) {
            ++n_near;
            apply_grain_contact(has_bonds, i, row, word, apart, other, r, m);
        } else {
            near[row] = word & ~KEPT;
        }
        ++row;
    }
    float time_s = substep_start_s(clock[0], terms[0].dt_s);
    [[dont_unroll]] for (; row < end; ++row) {
        DemTerms t = terms[0];
        uint word = near[row];
        uint partner = word & ~KEPT;
        if (partner >= FIRST_PIECE) break;
        bool is_wall = partner < FIRST_BODY;
        vec4 surface = wall(t, partner - FIRST_WALL, x);
        vec3 moving = vec3(0.0);
        vec3 turning = vec3(0.0);
        uint number = partner - FIRST_WALL;
        float surface_friction =
            number < 3u ? t.lower_wall_friction[number] : t.upper_wall_friction[number % 3u];
        float surface_damping = t.wall_damping_ratio;
        vec2 attraction = vec2(0.0);
        uint layer = NO_LAYER;
        vec3 centre = vec3(0.0);
        if (HAS_BODIES != 0u && !is_wall) {
            Body body = bodies[partner - FIRST_BODY];
            Pose pose = pose_of(body, time_s);
            surface = surface_of(t.up_axis, body, pose, x);
            moving = velocity_of(body, pose, x - surface.w * surface.xyz);
            if (HAS_ROLLING != 0u) turning = pose.angular_velocity_rad_s;
            surface_friction = body.friction;
            surface_damping = body.damping_ratio;
            centre = torque_centre(body, pose);
            if (is_kind(body, HEIGHTFIELD)) {
                attraction = vec2(t.adhesion_n, t.adhesion_range_m);
                layer = layer_at(t, x, clock[0].step);
            }
        }
        surface.w += dot(surface.xyz, motion[i].residual_m);
        ContactForce force = touch_surface(has_bonds, row, word, surface, moving, turning, 0.0,
                                           surface_friction, surface_damping, attraction.x, attraction.y,
                                           layer, r, m, motion[i].velocity_m_s, motion[i].spin_1_s);
        if (HAS_NAMED_BODIES != 0u && !is_wall && partner - FIRST_BODY >= t.first_named) {
            uint body = partner - FIRST_BODY;
            vec3 reaction = -(force.normal_force_n + force.tangential_force_n);
            vec3 arm = x - lever_of(r, surface) * surface.xyz - centre;
            uint wrench = t.n_pieces + body - t.first_named;
            add_force(wrench, reaction, t.quanta_per_n);
            add_torque(wrench, cross(arm, reaction) - force.rolling_torque_n_m, t.quanta_per_n);
        }
    }
    load[i] = ContactLoad(force_n, row, torque_n_m);
    uint n_contacts = n_near + n_surfaces;
    if (n_contacts <= MANY_CONTACTS) return;
    vec2 found = overlap_and_travel(i, terms[0].dt_s);
    bool is_deep = found.x > DEEP_OVERLAP;
    if (!is_deep && n_contacts <= MAX_CONTACTS) return;
    if (is_deep) atomicMax(fault[0].overlap, floatBitsToUint(found.x));
    atomicMax(fault[0].travel, floatBitsToUint(found.y));
    RECORD_FAULT_STEP();
    atomicMin(fault[0].crowded, motion[i].id);
}
