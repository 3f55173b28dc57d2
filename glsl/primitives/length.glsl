// Lengths of arrays that depend on a device count.
//
// A primitive works on arrays derived from the counted one: one entry per tile, sixteen per tile, and so on
// up a hierarchy of tiles. All of these lengths are ⌈multiplier · ⌈count/divisor⌉ / shrink⌉.

struct Length {
    uint divisor;
    uint multiplier;
    uint shrink;
};

uint ceil_div(uint a, uint b) { return a / b + (a % b != 0u ? 1u : 0u); }

uint length_of(Length length, uint count) {
    return ceil_div(ceil_div(count, length.divisor) * length.multiplier, length.shrink);
}
