// What a scan or a reduction of u32 takes the words of its input for.

// 0: numbers. 1: flags, of which every one that is not 0 counts as 1. 2: f32 in fixed point.
layout(constant_id = 3) const uint ELEMENTS = 0;
// Binary digits behind the point, for fixed point.
layout(constant_id = 4) const uint FRACTION_BITS = 0;

const uint NUMBERS = 0u;
const uint FLAGS = 1u;
const uint FIXED = 2u;

// 2^exponent, exactly.
float power_of_two(int exponent) { return uintBitsToFloat(uint(127 + exponent) << 23u); }

// Whether an f32 has a fixed-point value: a number, of less than 2^31 units.
bool fits_fixed(uint bits) { return abs(uintBitsToFloat(bits) * power_of_two(int(FRACTION_BITS))) < 2147483648.0; }

// The number that a word of the input stands for; fixed point is two's complement, 0 for what does not fit.
uint element(uint bits) {
    if (ELEMENTS == FLAGS) return min(bits, 1u);
    if (ELEMENTS == FIXED) {
        // A product with a power of two is exact; the rounding is to the nearest, ties to even.
        return fits_fixed(bits) ? uint(int(roundEven(uintBitsToFloat(bits) * power_of_two(int(FRACTION_BITS))))) : 0u;
    }
    return bits;
}

// The word of the output that a sum becomes: its own bits, or the f32 nearest to a fixed-point sum.
uint sum_bits(uint sum) {
    if (ELEMENTS == FIXED) return floatBitsToUint(float(int(sum)) * power_of_two(-int(FRACTION_BITS)));
    return sum;
}

// Whether a + b leaves the range of signed 32-bit integers.
bool overflows(uint a, uint b) { return ((a ^ (a + b)) & (b ^ (a + b)) & 0x80000000u) != 0u; }
