#version 460
// Computes the forces of links: springs against tension, shear, bending and twisting of the face that two
// pieces share, each with a damper, until tension or shear at the edge of the face exceeds the strength of
// the link.
//
// The force acts on both pieces at one point, half-way between their two centres of the face, so that it
// conserves angular momentum. Bytes: 80 a link, and pieces. Order-independent.
// Elements: clock = 0, sums = all.
#extension GL_GOOGLE_include_directive : require
#include "common/kernel.glsl"
#include "dem/terms.glsl"
#include "common/clock.glsl"
#include "dem/piece.glsl"
#include "dem/link.glsl"

layout(scalar, binding = 0) readonly buffer Terms { DemTerms terms[]; };
layout(scalar, binding = 1) readonly buffer Clock { StepClock clock[]; };
layout(scalar, binding = 2) readonly buffer Links { PieceLink links[]; };
layout(scalar, binding = 3) readonly buffer Motions { PieceMotion motions[]; };
layout(scalar, binding = 4) buffer LinkIsWhole { uint link_is_whole[]; };
layout(scalar, binding = 5) buffer Sums { uint sums[]; };
layout(scalar, push_constant) uniform Params { uint n_links; };

#include "common/fixed.glsl"

void main() {
    uint i = thread_idx();
    if (i >= n_links || link_is_whole[i] == 0u || is_frozen(clock[0])) return;
    PieceLink link = links[i];
    PieceMotion a = motions[link.first];
    PieceMotion b = motions[link.second];
    vec3 arm_a = rotate(a.rotation, link.first_arm_m);
    vec3 arm_b = rotate(b.rotation, link.second_arm_m);
    vec3 normal = rotate(a.rotation, link.normal) + rotate(b.rotation, link.normal);
    normal /= sqrt(dot(normal, normal));
    // Differences of positions before sums, to keep significant digits.
    vec3 apart = (b.centre_m - a.centre_m) + (arm_b - arm_a);
    float across = dot(apart, normal);
    vec3 along = apart - across * normal;
    vec4 between = quaternion_product(b.rotation, vec4(-a.rotation.xyz, a.rotation.w));
    vec3 angle = (between.w < 0.0 ? -2.0 : 2.0) * between.xyz;
    float twist = dot(angle, normal);
    vec3 bend = angle - twist * normal;

    // Section of a square of side s: bending stiffness k s²/12, twisting k s²/6, maximum bending stress 6
    // M/s³, maximum twisting stress 3√2 M/s³.
    float s = link.side_m;
    float pull = link.stiffness_n_m * across;
    vec3 shear = link.shear_stiffness_n_m * along;
    vec3 bending = (link.stiffness_n_m * s * s / 12.0) * bend;
    float twisting = link.shear_stiffness_n_m * s * s / 6.0 * twist;
    float tension = pull + 6.0 / s * sqrt(dot(bending, bending));
    float sheared = sqrt(dot(shear, shear)) + 4.2426407 / s * abs(twisting);
    if (tension > link.strength_n || sheared > link.shear_strength_n) {
        link_is_whole[i] = 0u;
        return;
    }
    vec3 half_way = 0.5 * apart;
    vec3 to_a = arm_a + half_way;
    vec3 to_b = arm_b - half_way;
    vec3 relative_m_s = velocity_at(b, to_b) - velocity_at(a, to_a);
    vec3 force = pull * normal + shear + link.damping_n_s_m * relative_m_s;
    vec3 couple = bending + twisting * normal + link.turning_damping_n_m_s * (b.spin_1_s - a.spin_1_s);
    float quanta = terms[0].quanta_per_n;
    add_force(link.first, force, quanta);
    add_torque(link.first, cross(to_a, force) + couple, quanta);
    add_force(link.second, -force, quanta);
    add_torque(link.second, -cross(to_b, force) - couple, quanta);
}
