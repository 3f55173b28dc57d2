// Boundary density of bodies, ρ_b/ρ₀: the fraction of the kernel's integral that lies in the solid, in closed
// form from the distances to the faces of the body, and h times its gradient. For planes it is exact. For
// other surfaces:
//
// - Spheres, solid or hollow, are exact: a sphere of radius q about the particle has the fraction
//   (1 − cos α)/2 in a sphere of radius R at distance s, where cos α = a/q + b q, a = s(2 + κs)/(2(1 + κs)),
//   b = κ/(2(1 + κs)), κ = h/R, negative for a hollow one; its integral over the kernel is J₂ − a J₁ − b J₃
//   with the moments J_n = 2π ∫_s^1 qⁿ W dq.
// - Cylinders and capsules use their mean curvature, on which the fraction depends to first order.
// - Boxes, and the rims of cylinders, use the product of the fractions of their faces: within 0.006 of the
//   kernel's integral (crates/reference/tests/boundary_density.rs).
// - Meshes use the tangent plane at their nearest point, plus the map of the difference from it
//   (pbd/boundary_map.glsl).
// - Heightfields use the tangent plane, plus the integral of the kernel between it and the surface, by a
//   quadrature with two rings of points.
//
// Needs common/surfaces.glsl and sph/kernels.glsl.

#include "pbd/boundary_map.glsl"

// Maximum fraction that one body covers.
const float MAX_FRACTION = 0.98;

// Fraction of the kernel's integral, and minus its derivative along the outward normal, per h.
struct BoundaryFraction {
    float fraction;
    float slope;
};

// Returns J₃, see above.
float spline_third_moment(float q) {
    float u = max(1.0 - q, 0.0);
    float v = max(0.5 - q, 0.0);
    float u4 = u * u * u * u;
    float v4 = v * v * v * v;
    return 32.0 * (u4 * (0.25 + u * (-0.6 + u * (0.5 - u / 7.0))) -
                   4.0 * v4 * (1.0 / 32.0 + v * (-0.15 + v * (0.25 - v / 7.0))));
}

// Returns the fraction behind a surface at a distance of 0 ≤ q ≤ 1, with the curvature h/R of a sphere.
BoundaryFraction curved_fraction(float q, float curvature) {
    // The bound is for hollow spheres no larger than the kernel, whose opposite side is neglected.
    float d = max(1.0 + curvature * q, 0.1);
    float b = 0.5 * curvature / d;
    float j1 = spline_wall_slope(q);
    float j3 = spline_third_moment(q);
    float a_slope_j1 = 0.5 * curvature * q * (2.0 + curvature * q) / (d * d) * j1;
    BoundaryFraction s =
        BoundaryFraction(spline_wall_fraction(q) - b * (j3 - q * q * j1), j1 - a_slope_j1 - 2.0 * b * b * j3);
    if (curvature * (1.0 - q) > 2.0) {
        // The sphere ends within the kernel.
        float far = q + 2.0 / curvature;
        float far1 = spline_wall_slope(far);
        float far3 = spline_third_moment(far);
        float a = q * (2.0 + curvature * q) / (2.0 * d);
        s.fraction -= spline_wall_fraction(far) + (far - a) * far1 - b * far3;
        s.slope -= 0.5 * (1.0 + 1.0 / (d * d)) * far1 - 2.0 * b * b * far3;
    }
    return s;
}

// Returns the fraction behind a surface at any signed distance; inside the solid it is the complement of the
// fraction outside.
BoundaryFraction signed_fraction(float q, float curvature) {
    if (abs(q) >= 1.0) return BoundaryFraction(q < 0.0 ? 1.0 : 0.0, 0.0);
    if (q >= 0.0) return curved_fraction(q, curvature);
    BoundaryFraction outside = curved_fraction(-q, -curvature);
    return BoundaryFraction(1.0 - outside.fraction, outside.slope);
}

// Returns the fraction between two parallel faces at ±half_h (in h), and its derivative along their axis.
vec2 slab_fraction(float at_h, float half_h) {
    BoundaryFraction low = signed_fraction(half_h + at_h, 0.0);
    BoundaryFraction high = signed_fraction(half_h - at_h, 0.0);
    return vec2(1.0 - low.fraction - high.fraction, low.slope - high.slope);
}

// Adds a face to the (gradient, density) of a container; the fractions that faces leave open multiply, as
// those of the domain do.
void add_face(inout vec4 density, float scale, float q, float curvature, vec3 normal) {
    if (q >= 1.0) return;
    BoundaryFraction s = curved_fraction(max(q, 0.0), curvature);
    float fraction = scale * s.fraction;
    vec3 gradient = density.xyz * (1.0 - fraction) - (1.0 - density.w) * scale * s.slope * normal;
    density = vec4(gradient, density.w + (1.0 - density.w) * fraction);
}

// Returns (gradient, density) of a box; `local_h` is in its own axes.
vec4 box_density(vec3 local_h, vec3 half_h, bool is_container, float scale) {
    vec4 density = vec4(0.0);
    if (is_container) {
        [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
            vec3 normal = vec3(0.0);
            normal[axis] = 1.0;
            add_face(density, scale, half_h[axis] + local_h[axis], 0.0, normal);
            add_face(density, scale, half_h[axis] - local_h[axis], 0.0, -normal);
        }
        return density;
    }
    vec2 x = slab_fraction(local_h.x, half_h.x);
    vec2 y = slab_fraction(local_h.y, half_h.y);
    vec2 z = slab_fraction(local_h.z, half_h.z);
    return scale * vec4(x.y * y.x * z.x, x.x * y.y * z.x, x.x * y.x * z.y, x.x * y.x * z.x);
}

vec4 cylinder_density(vec3 local_h, float radius_h, float half_h, bool is_container, float scale) {
    float radial_h = sqrt(local_h.x * local_h.x + local_h.z * local_h.z);
    vec3 side = radial_h > 0.0 ? vec3(local_h.x, 0.0, local_h.z) / radial_h : vec3(1.0, 0.0, 0.0);
    float curvature = 0.5 / radius_h;
    if (is_container) {
        vec4 density = vec4(0.0);
        add_face(density, scale, radius_h - radial_h, -curvature, -side);
        add_face(density, scale, half_h + local_h.y, 0.0, vec3(0.0, 1.0, 0.0));
        add_face(density, scale, half_h - local_h.y, 0.0, vec3(0.0, -1.0, 0.0));
        return density;
    }
    BoundaryFraction across = signed_fraction(radial_h - radius_h, curvature);
    vec2 along = slab_fraction(local_h.y, half_h);
    vec3 gradient = -across.slope * along.x * side + vec3(0.0, across.fraction * along.y, 0.0);
    return scale * vec4(gradient, across.fraction * along.x);
}

vec4 capsule_density(vec3 local_h, float radius_h, float half_h, bool is_container, float scale) {
    vec3 offset = local_h - vec3(0.0, clamp(local_h.y, -half_h, half_h), 0.0);
    float r = sqrt(dot(offset, offset));
    vec3 normal = r > 0.0 ? offset / r : vec3(1.0, 0.0, 0.0);
    // The mean curvature changes from that of a cylinder to that of a sphere over the kernel.
    float curvature = (1.0 - 0.5 * slab_fraction(local_h.y, half_h).x) / radius_h;
    float q = is_container ? radius_h - r : r - radius_h;
    vec4 density = vec4(0.0);
    add_face(density, scale, q, is_container ? -curvature : curvature, is_container ? -normal : normal);
    return density;
}

// Points of a ring of the quadrature over the tangent plane of a heightfield.
const uint RING_POINTS = 6u;
// Radii of the rings over h, the root mean squares of those of their annuli, which are bounded by 0.45 h and
// 0.9 h; areas of the annuli over h².
const vec2 RING_RADIUS = vec2(0.3182, 0.7115);
const vec2 RING_AREA = vec2(0.6362, 1.9085);

// Returns the direction of a point of a ring, point · 60°. An array would be in memory on some GPUs.
vec2 ring_direction(uint point) {
    bool is_on_axis = point % 3u == 0u;
    vec2 direction = is_on_axis ? vec2(1.0, 0.0) : vec2(0.5, 0.8660254);
    bool is_left = point >= 2u && point <= 4u;
    return vec2(is_left ? -direction.x : direction.x, point > 3u ? -direction.y : direction.y);
}

// Minimum cosine between the normals of the surface and of the tangent plane.
const float MIN_COSINE = 0.3;

// Returns the difference between the density of a heightfield and that of its tangent plane, which has the
// normal n at the point `foot_m` at a distance of q h from the particle: with the height δ of the surface
// above the plane and the normal m of the surface,
//   Δβ = ∬ ∫_0^δ W dz dA,   h ∇Δβ = ∬ (W(0) n − W(δ) m/(m·n)) dA.
vec4 relief_density(uint up_axis, Body body, Pose pose, vec3 foot_m, vec3 n, float q, float h_m) {
    vec3 across = abs(n.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    vec3 first = normalize(cross(n, across));
    vec3 second = cross(n, first);
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint point = 0u; point < 2u * RING_POINTS; ++point) {
        uint ring = point / RING_POINTS;
        // The points of the outer ring are between those of the inner one.
        vec2 direction = ring_direction(point % RING_POINTS);
        if (ring == 1u) direction = direction.yx;
        float r = ring == 0u ? RING_RADIUS.x : RING_RADIUS.y;
        vec3 x = foot_m + h_m * r * (direction.x * first + direction.y * second);
        vec4 surface = surface_of(up_axis, body, pose, x);
        float cosine = max(dot(surface.xyz, n), MIN_COSINE);
        // The kernel is zero beyond a distance of h.
        float bound = sqrt(max(1.0 - r * r, 0.0));
        float top = clamp(q + surface.w / (h_m * cosine), -bound, bound);
        float bottom = min(q, bound);
        float w_bottom = spline_shape(sqrt(r * r + bottom * bottom));
        float w_top = spline_shape(sqrt(r * r + top * top));
        float middle = 0.5 * (bottom + top);
        float w_half = spline_shape(sqrt(r * r + middle * middle));
        float weight = SPLINE_SCALE * (ring == 0u ? RING_AREA.x : RING_AREA.y) / float(RING_POINTS);
        sum.w += weight * (bottom - top) / 6.0 * (w_bottom + 4.0 * w_half + w_top);
        sum.xyz += weight * (w_bottom * n - w_top / cosine * surface.xyz);
    }
    return sum;
}

// Adds the difference of a surface from its tangent plane to the density of the plane; the sum is a fraction.
// Where interpolation makes it negative, the surface is out of reach and has no gradient, either: pressure
// would push a particle that does not push back.
void add_relief(inout vec4 density, float scale, vec4 relief) {
    float fraction = min(density.w + scale * relief.w, MAX_FRACTION);
    density = fraction > 0.0 ? vec4(density.xyz + scale * relief.xyz, fraction) : vec4(0.0);
}

// Returns h times the gradient (xyz) and the value (w) of a body's boundary density at x, for the support h.
// A particle inside the solid counts as one on its surface.
vec4 boundary_density_of(uint up_axis, Body body, Pose pose, vec3 x_m, float h_m, float scale) {
    vec4 surface = surface_of(up_axis, body, pose, x_m);
    if (surface.w >= h_m) return vec4(0.0);
    vec4 density = vec4(0.0);
    bool is_container = body.is_container != 0u;
    if (is_kind(body, SPHERE)) {
        add_face(density, scale, surface.w / h_m, (is_container ? -h_m : h_m) / body.extent.x, surface.xyz);
        return density;
    }
    if (!is_kind(body, BOX) && !is_kind(body, CYLINDER) && !is_kind(body, CAPSULE)) {
        add_face(density, scale, surface.w / h_m, 0.0, surface.xyz);
        if (is_kind(body, HEIGHTFIELD)) {
            vec3 foot_m = x_m - surface.w * surface.xyz;
            float q = max(surface.w, 0.0) / h_m;
            add_relief(density, scale, relief_density(up_axis, body, pose, foot_m, surface.xyz, q, h_m));
        }
        if (is_kind(body, MESH) && body.first_map != 0u) {
            vec3 outside_m = x_m - min(surface.w, 0.0) * surface.xyz;
            vec4 relief = boundary_map_at(body.first_map, local_position(body, pose, outside_m));
            if (is_container) relief = -relief;
            if (is_rotating(body)) relief.xyz = rotate(pose.rotation, relief.xyz);
            add_relief(density, scale, vec4(h_m * relief.xyz, relief.w));
        }
        return density;
    }
    vec3 outside_m = x_m - min(surface.w, 0.0) * surface.xyz;
    vec3 local_h = rotate_inverse(body.rotation, local_position(body, pose, outside_m)) / h_m;
    vec3 extent_h = body.extent / h_m;
    if (is_kind(body, BOX))
        density = box_density(local_h, extent_h, is_container, scale);
    else if (is_kind(body, CYLINDER))
        density = cylinder_density(local_h, extent_h.x, extent_h.y, is_container, scale);
    else if (is_kind(body, CAPSULE))
        density = capsule_density(local_h, extent_h.x, extent_h.y, is_container, scale);
    vec3 gradient = rotate(body.rotation, density.xyz);
    if (is_rotating(body)) gradient = rotate(pose.rotation, gradient);
    return vec4(gradient, density.w);
}

// Combines the boundary densities of two bodies; the product avoids counting their overlap twice.
vec4 combine_boundary_densities(vec4 a, vec4 b) {
    return vec4(a.xyz * (1.0 - b.w) + b.xyz * (1.0 - a.w), a.w + b.w - a.w * b.w);
}
