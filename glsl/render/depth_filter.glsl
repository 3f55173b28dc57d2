// Parameters and taps of the filters that smooth the distances of a fluid's surface, along one axis of the
// image.
#include "render/view.glsl"
#include "render/screen.glsl"

layout(scalar, push_constant) uniform Params {
    uint width;
    uint height;
    // 0 along rows, 1 along columns.
    uint axis;
    // Pixels per m: at a distance of 1 m with perspective, else at any.
    float px_per_m;
    uint is_perspective;
    // Reach of the filter in m; the Gaussian weight has half of it as its standard deviation.
    float radius;
    // Bilateral: standard deviation of the weight of differences of distance, in m. Narrow-range: differences
    // beyond which a pixel shows another surface, in m.
    float range;
    // Narrow-range: distance in m by which farther pixels count as behind this one.
    float step_back;
};

// Maximum number of taps on each side; a wider filter skips pixels.
const int MAX_TAPS = 16;
// Maximum reach in pixels, for surfaces close to the eye.
const float MAX_RADIUS_PX = 96.0;

// Returns the reach in pixels at a distance.
float radius_px(float z) {
    float reach = radius * px_per_m / (is_perspective == 1u ? max(z, 1e-6) : 1.0);
    return min(reach, MAX_RADIUS_PX);
}

// Returns the number of taps on each side for a reach in pixels.
int tap_count(float reach) { return min(int(reach), MAX_TAPS); }

// Returns the distance in pixels of a tap, 1 to `n`.
int tap_offset(int tap, int n, float reach) {
    return reach <= float(MAX_TAPS) ? tap : int(floor(reach * float(tap) / float(n) + 0.5));
}

// Returns the weight of a tap by its distance in pixels.
float tap_weight(int offset, float reach) {
    float t = 2.0 * float(offset) / reach;
    return exp(-0.5 * t * t);
}
