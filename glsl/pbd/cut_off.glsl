// What bodies cut off of the kernel: the share of its integral that lies in the solid, in closed form from distances to the body's faces, and h
// times that share's gradient. All are exact for a plane. Of other surfaces:
//
// - Balls, solid or hollow, exactly: a sphere of radius q about the particle has a share (1 − cos α)/2 in a ball of radius R at distance s, where
//   cos α = a/q + b q, a = s(2 + κs)/(2(1 + κs)), b = κ/(2(1 + κs)), κ = h/R, negative in a hollow one; the integral of that over the kernel is
//   J₂ − a J₁ − b J₃ with the moments J_n = 2π ∫_s^1 qⁿ W dq.
// - Rods and capsules by their mean curvature, on which the share depends to first order.
// - Boxes, and the rims of rods, by the product of what faces leave: within 0.006 of the kernel's integral (crates/reference/tests/cut_off.rs).
// - Meshes and heightfields as the plane that touches them next to the particle.
//
// Needs common/surfaces.glsl and sph/kernels.glsl.

// A share of the kernel's integral, and its slope per h along the outward normal, with the sign of a decrease.
struct Share {
    float share;
    float slope;
};

// J₃, see above.
float spline_third_moment(float q) {
    float u = max(1.0 - q, 0.0);
    float v = max(0.5 - q, 0.0);
    float u4 = u * u * u * u;
    float v4 = v * v * v * v;
    return 32.0 * (u4 * (0.25 + u * (-0.6 + u * (0.5 - u / 7.0))) -
                   4.0 * v4 * (1.0 / 32.0 + v * (-0.15 + v * (0.25 - v / 7.0))));
}

// What a surface of this curvature, h over the radius of the ball that has it, cuts off at a distance of 0 ≤ q ≤ 1.
Share curved_share(float q, float curvature) {
    // In a hollow ball no larger than the kernel nothing is known of what is across.
    float d = max(1.0 + curvature * q, 0.1);
    float b = 0.5 * curvature / d;
    float j1 = spline_wall_slope(q);
    float j3 = spline_third_moment(q);
    Share s = Share(spline_wall_fraction(q) - b * (j3 - q * q * j1),
                    j1 - 0.5 * curvature * q * (2.0 + curvature * q) / (d * d) * j1 - 2.0 * b * b * j3);
    if (curvature * (1.0 - q) > 2.0) {
        // The ball ends within the kernel.
        float far = q + 2.0 / curvature;
        float far1 = spline_wall_slope(far);
        float far3 = spline_third_moment(far);
        float a = q * (2.0 + curvature * q) / (2.0 * d);
        s.share -= spline_wall_fraction(far) + (far - a) * far1 - b * far3;
        s.slope -= 0.5 * (1.0 + 1.0 / (d * d)) * far1 - 2.0 * b * b * far3;
    }
    return s;
}

// The same at any distance, within the solid, too: there as much is cut off as outside is left.
Share share_behind(float q, float curvature) {
    if (abs(q) >= 1.0) return Share(q < 0.0 ? 1.0 : 0.0, 0.0);
    if (q >= 0.0) return curved_share(q, curvature);
    Share mirrored = curved_share(-q, -curvature);
    return Share(1.0 - mirrored.share, mirrored.slope);
}

// Between two faces `half_h` (in h) from the middle: what both leave, and its derivative along the axis per h.
vec2 share_between(float at_h, float half_h) {
    Share low = share_behind(half_h + at_h, 0.0);
    Share high = share_behind(half_h - at_h, 0.0);
    return vec2(1.0 - low.share - high.share, low.slope - high.slope);
}

// A container's faces leave open what each leaves, as those of the domain do.
void close_face(inout vec4 cut, float scale, float q, float curvature, vec3 normal) {
    if (q >= 1.0) return;
    Share s = curved_share(max(q, 0.0), curvature);
    float fraction = scale * s.share;
    cut = vec4(cut.xyz * (1.0 - fraction) - (1.0 - cut.w) * scale * s.slope * normal, cut.w + (1.0 - cut.w) * fraction);
}

// Of a box, as (gradient, share); `local` in its own axes.
vec4 cut_off_by_box(vec3 local_h, vec3 half_h, bool is_container, float scale) {
    vec4 cut = vec4(0.0);
    if (is_container) {
        [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
            vec3 normal = vec3(0.0);
            normal[axis] = 1.0;
            close_face(cut, scale, half_h[axis] + local_h[axis], 0.0, normal);
            close_face(cut, scale, half_h[axis] - local_h[axis], 0.0, -normal);
        }
        return cut;
    }
    vec2 x = share_between(local_h.x, half_h.x);
    vec2 y = share_between(local_h.y, half_h.y);
    vec2 z = share_between(local_h.z, half_h.z);
    return scale * vec4(x.y * y.x * z.x, x.x * y.y * z.x, x.x * y.x * z.y, x.x * y.x * z.x);
}

vec4 cut_off_by_rod(vec3 local_h, float radius_h, float half_h, bool is_container, float scale) {
    float arm = sqrt(local_h.x * local_h.x + local_h.z * local_h.z);
    vec3 side = arm > 0.0 ? vec3(local_h.x, 0.0, local_h.z) / arm : vec3(1.0, 0.0, 0.0);
    float curvature = 0.5 / radius_h;
    if (is_container) {
        vec4 cut = vec4(0.0);
        close_face(cut, scale, radius_h - arm, -curvature, -side);
        close_face(cut, scale, half_h + local_h.y, 0.0, vec3(0.0, 1.0, 0.0));
        close_face(cut, scale, half_h - local_h.y, 0.0, vec3(0.0, -1.0, 0.0));
        return cut;
    }
    Share about = share_behind(arm - radius_h, curvature);
    vec2 along = share_between(local_h.y, half_h);
    return scale * vec4(-about.slope * along.x * side + vec3(0.0, about.share * along.y, 0.0), about.share * along.x);
}

vec4 cut_off_by_capsule(vec3 local_h, float radius_h, float half_h, bool is_container, float scale) {
    vec3 arm = local_h - vec3(0.0, clamp(local_h.y, -half_h, half_h), 0.0);
    float r = sqrt(dot(arm, arm));
    vec3 normal = r > 0.0 ? arm / r : vec3(1.0, 0.0, 0.0);
    // A cylinder where all about is one, a ball where nothing is: the mean curvature goes from one to the other over the kernel.
    float curvature = (1.0 - 0.5 * share_between(local_h.y, half_h).x) / radius_h;
    float q = is_container ? radius_h - r : r - radius_h;
    vec4 cut = vec4(0.0);
    close_face(cut, scale, q, is_container ? -curvature : curvature, is_container ? -normal : normal);
    return cut;
}

// h times the gradient (xyz) and the share (w) of the kernel that a body cuts off at x, of support h. A particle that is pressed into the solid counts
// as lying on its surface.
vec4 cut_off_by(uint up_axis, Body body, vec3 x_m, float time_s, float h_m, float scale) {
    vec4 surface = surface_of(up_axis, body, x_m, time_s);
    if (surface.w >= h_m) return vec4(0.0);
    vec4 cut = vec4(0.0);
    if (body.kind == BALL || body.kind == VESSEL) {
        bool is_hollow = (body.kind == VESSEL) != (body.is_container != 0u);
        close_face(cut, scale, surface.w / h_m, (is_hollow ? -h_m : h_m) / body.extent.x, surface.xyz);
        return cut;
    }
    if (body.kind != BOX && body.kind != ROD && body.kind != CAPSULE) {
        close_face(cut, scale, surface.w / h_m, 0.0, surface.xyz);
        return cut;
    }
    vec3 outside_m = x_m - min(surface.w, 0.0) * surface.xyz;
    vec3 local_h = turn_back(body.rotation, local_of(body, outside_m, time_s)) / h_m;
    vec3 extent_h = body.extent / h_m;
    bool is_container = body.is_container != 0u;
    if (body.kind == BOX) cut = cut_off_by_box(local_h, extent_h, is_container, scale);
    else if (body.kind == ROD) cut = cut_off_by_rod(local_h, extent_h.x, extent_h.y, is_container, scale);
    else cut = cut_off_by_capsule(local_h, extent_h.x, extent_h.y, is_container, scale);
    vec3 gradient = turn(body.rotation, cut.xyz);
    if (body.motion >= SPINNING) gradient = turn(pose_of(body, time_s).rotation, gradient);
    return vec4(gradient, cut.w);
}

// Both what one and what another body cut off, so that a corner between them is not counted twice.
vec4 both_cut_off(vec4 a, vec4 b) { return vec4(a.xyz * (1.0 - b.w) + b.xyz * (1.0 - a.w), a.w + b.w - a.w * b.w); }
