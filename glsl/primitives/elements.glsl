// Interpretation of the input words of a scan or a reduction of u32.

// 0: numbers. 1: flags, each nonzero one counts as 1. 2: f32 in fixed point.
layout(constant_id = 3) const uint ELEMENTS = 0;
// Number of fractional bits in fixed point.
layout(constant_id = 4) const uint FRACTION_BITS = 0;

const uint NUMBERS = 0u;
const uint FLAGS = 1u;
const uint FIXED = 2u;

// Returns 2^exponent, exactly.
float power_of_two(int exponent) { return uintBitsToFloat(uint(127 + exponent) << 23u); }

// Returns true if an f32 has a fixed-point value: not NaN, and less than 2^31 units.
bool fits_fixed(uint bits) { return abs(uintBitsToFloat(bits) * power_of_two(int(FRACTION_BITS))) < 2147483648.0; }

// Returns the number that an input word represents; fixed point is two's complement, 0 for values that do not
// fit.
uint element(uint bits) {
    if (ELEMENTS == FLAGS) return min(bits, 1u);
    if (ELEMENTS == FIXED) {
        // A product with a power of two is exact; the rounding is to the nearest, ties to even.
        return fits_fixed(bits) ? uint(int(roundEven(uintBitsToFloat(bits) * power_of_two(int(FRACTION_BITS))))) : 0u;
    }
    return bits;
}

// Returns the output word of a sum: its own bits, or the f32 nearest to a fixed-point sum.
uint sum_bits(uint sum) {
    if (ELEMENTS == FIXED) return floatBitsToUint(float(int(sum)) * power_of_two(-int(FRACTION_BITS)));
    return sum;
}

// Returns true if a + b leaves the range of signed 32-bit integers.
bool overflows(uint a, uint b) { return ((a ^ (a + b)) & (b ^ (a + b)) & 0x80000000u) != 0u; }
