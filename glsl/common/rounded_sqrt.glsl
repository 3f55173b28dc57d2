// A square root rounded to the nearest f32 on every device.
#ifndef COMMON_ROUNDED_SQRT
#define COMMON_ROUNDED_SQRT

// Smallest argument whose residual is not lost to underflow.
const float MIN_CORRECTED = 1e-30;

// Returns √x, rounded to the nearest: the same bits on every device, while Vulkan lets `sqrt` be off by some
// units in the last place (an NVIDIA H200 is by one). For values that are stored and compared; below 1e−30 it
// is the device's own.
//
// One step of Newton's method from the device's root s, with the residual x − s² exact by the product of two
// halves of s (Dekker 1971).
float rounded_sqrt(float x) {
    float s = sqrt(x);
    precise float carry = 4097.0 * s;
    precise float high = carry - (carry - s);
    precise float low = s - high;
    precise float square = s * s;
    precise float error = ((high * high - square) + 2.0 * high * low) + low * low;
    precise float residual = (x - square) - error;
    precise float corrected = s + 0.5 * residual / s;
    return x >= MIN_CORRECTED ? corrected : s;
}

#endif
