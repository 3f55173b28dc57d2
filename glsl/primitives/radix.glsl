// Digits of keys of one or two 32-bit words, the low word first.
//
// The including shader declares the buffer `keys` of words.

// Words of a key: 1 or 2.
layout(constant_id = 5) const uint KEY_WORDS = 1;

const uint DIGIT_BITS = 8;
const uint DIGITS = 256;

// Returns the bits of a key of two words from `shift` on that `mask` selects.
uint digit_of_words(uint low, uint high, uint shift, uint mask) {
    if (shift >= 32u) return high >> (shift - 32u) & mask;
    uint digit = low >> shift;
    if (shift > 32u - DIGIT_BITS) digit |= high << (32u - shift);
    return digit & mask;
}

// Returns the bits of key i from `shift` on that `mask` selects.
uint digit_of(uint i, uint shift, uint mask) {
    if (KEY_WORDS == 1u) return keys[i] >> shift & mask;
    return digit_of_words(keys[2u * i], keys[2u * i + 1u], shift, mask);
}

// Kind of payload: none, the contents of the payload buffer, or the key's own index.
const uint PAYLOAD_NONE = 0;
const uint PAYLOAD_GIVEN = 1;
const uint PAYLOAD_INDEX = 2;
