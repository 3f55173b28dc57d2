// Shared part of both scatter kernels that rank keys by ballots: the ranks of a tile's keys by their digits,
// and moving the keys.
//
// Adinets & Merrill, Onesweep (2022): a thread holds its keys in registers. Lanes of a subgroup with equal
// digits find one another by eight ballots (Ashkiani et al., GPU multisplit, 2016), and each subgroup has a
// counter per digit in shared memory. The counters are filled by atomics first, so that the tile's counts are
// known two barriers after its start; scanned over digits and subgroups, each counter is then the rank of the
// next key of that digit in its subgroup. Keys are exchanged through shared memory, where the counters were,
// and written in coalesced runs.
#extension GL_KHR_shader_subgroup_ballot : require
#include "primitives/subgroup_scan.glsl"

layout(constant_id = 1) const uint ITEMS_PER_THREAD = 16;

const uint TILE = WORKGROUP_SIZE * ITEMS_PER_THREAD;
const uint COUNTERS_ = SUBGROUPS * DIGITS;
// Digits of a thread: consecutive ones, none past the last.
const uint DIGITS_PER_THREAD = (DIGITS + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;

// The larger of both, which are powers of two, by arithmetic that the build's reflection evaluates.
const uint RATIO_ = COUNTERS_ / TILE;
const uint EXCHANGE_ = TILE * (RATIO_ + 1u / (RATIO_ + 1u));

// Counters of each subgroup; later the keys of the tile, or their payload, by rank.
shared uint exchange[EXCHANGE_];
// Offset from a key's rank in the tile to its index in the sorted array.
shared uint digit_shift[DIGITS];

// Words of this thread's keys. The second is unused in keys of one word.
uint low[ITEMS_PER_THREAD];
uint high[ITEMS_PER_THREAD];
// Number of lower keys in the tile, and of equal ones before.
uint rank[ITEMS_PER_THREAD];
// Of this thread's digits: the number of keys, and of keys of lower digits.
uint digit_count[DIGITS_PER_THREAD];
uint digit_begin[DIGITS_PER_THREAD];

// Returns the place in the tile of an item of this thread: items of a subgroup are consecutive, so that lanes
// and items count in the order of keys, and loads are coalesced.
uint place_of(uint item) {
    return (gl_SubgroupID * ITEMS_PER_THREAD + item) * SUBGROUP_SIZE + gl_SubgroupInvocationID;
}

uint own_digit(uint item, uint shift, uint mask) {
    return KEY_WORDS == 1u ? low[item] >> shift & mask : digit_of_words(low[item], high[item], shift, mask);
}

// Loads the keys from `begin` on and counts their digits. To be called in uniform control flow; digit_count
// is then known.
void count_digits(uint begin, uint n, uint shift, uint mask) {
    uint lane = gl_LocalInvocationIndex;
    for (uint k = lane; k < COUNTERS_; k += WORKGROUP_SIZE) exchange[k] = 0u;
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint i = begin + place_of(item);
        low[item] = i < n ? keys[KEY_WORDS * i] : 0u;
        high[item] = KEY_WORDS == 2u && i < n ? keys[2u * i + 1u] : 0u;
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        if (begin + place_of(item) < n) {
            atomicAdd(exchange[gl_SubgroupID * DIGITS + own_digit(item, shift, mask)], 1u);
        }
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) {
        uint digit = lane * DIGITS_PER_THREAD + k;
        digit_count[k] = 0u;
        if (digit >= DIGITS) continue;
        for (uint s = 0u; s < SUBGROUPS; ++s) digit_count[k] += exchange[s * DIGITS + digit];
    }
}

// Ranks the keys, after count_digits; digit_begin is then known, too.
void rank_keys(uint begin, uint n, uint shift, uint mask) {
    uint lane = gl_LocalInvocationIndex;
    uint sum = 0u;
    [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) sum += digit_count[k];
    uint before = workgroup_exclusive_scan(sum).x;
    [[unroll]] for (uint k = 0u; k < DIGITS_PER_THREAD; ++k) {
        uint digit = lane * DIGITS_PER_THREAD + k;
        digit_begin[k] = before;
        if (digit >= DIGITS) continue;
        for (uint s = 0u; s < SUBGROUPS; ++s) {
            uint count = exchange[s * DIGITS + digit];
            exchange[s * DIGITS + digit] = before;
            before += count;
        }
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        bool is_key = begin + place_of(item) < n;
        uint digit = own_digit(item, shift, mask);
        // Lanes with a key of the same digit.
        uvec2 peers = subgroupBallot(is_key).xy;
        [[unroll]] for (uint bit = 0u; bit < DIGIT_BITS; ++bit) {
            bool is_set = (digit >> bit & 1u) != 0u;
            uvec2 set = subgroupBallot(is_set).xy;
            peers &= is_set ? set : ~set;
        }
        uvec2 lower = peers & gl_SubgroupLtMask.xy;
        uint peers_before = bitCount(lower.x);
        uint peer_count = bitCount(peers.x);
        if (SUBGROUP_SIZE == 64u) {
            peers_before += bitCount(lower.y);
            peer_count += bitCount(peers.y);
        }
        uint next = exchange[gl_SubgroupID * DIGITS + digit];
        rank[item] = next + peers_before;
        subgroupMemoryBarrierShared();
        subgroupBarrier();
        if (is_key && peers_before == 0u) exchange[gl_SubgroupID * DIGITS + digit] = next + peer_count;
        subgroupMemoryBarrierShared();
        subgroupBarrier();
    }
}

// Moves the tile's keys and their payload, once digit_shift is known. To be called in uniform control flow,
// after a barrier after the last use of `exchange`.
void move_tile(uint begin, uint n, uint shift, uint mask) {
    uint lane = gl_LocalInvocationIndex;
    uint keys_in_tile = min(n - begin, TILE);
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        if (place_of(item) < keys_in_tile) exchange[rank[item]] = low[item];
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        low[item] = exchange[item * WORKGROUP_SIZE + lane];
    }
    if (KEY_WORDS == 2u) {
        barrier();
        [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
            if (place_of(item) < keys_in_tile) exchange[rank[item]] = high[item];
        }
        barrier();
        [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
            high[item] = exchange[item * WORKGROUP_SIZE + lane];
        }
    }
    // Index of each of these keys in the sorted array.
    uint to[ITEMS_PER_THREAD];
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        to[item] = digit_shift[own_digit(item, shift, mask)] + place;
        if (place >= keys_in_tile) continue;
        sorted_keys[KEY_WORDS * to[item]] = low[item];
        if (KEY_WORDS == 2u) sorted_keys[2u * to[item] + 1u] = high[item];
    }
    if (payload_kind == PAYLOAD_NONE) return;
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint from = begin + place_of(item);
        if (from < n) exchange[rank[item]] = payload_kind == PAYLOAD_GIVEN ? payload[from] : from;
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint place = item * WORKGROUP_SIZE + lane;
        if (place < keys_in_tile) sorted_payload[to[item]] = exchange[place];
    }
}
