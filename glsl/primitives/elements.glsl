// Interpretation of the input words of a scan or a reduction of u32.

// 0: numbers. 1: flags, each nonzero one counts as 1.
layout(constant_id = 3) const uint ELEMENTS = 0;

const uint NUMBERS = 0u;
const uint FLAGS = 1u;

// Returns the number that an input word represents.
uint element(uint bits) { return ELEMENTS == FLAGS ? min(bits, 1u) : bits; }
