// Sorts the words of a tile in shared memory by four of their bits; stable.
//
// A thread counts the nibbles of ITEMS_PER_THREAD consecutive words in its own column of counters; the scan
// of those counters, nibble by nibble and thread by thread, gives each word's new index. It uses no atomics
// and no subgroup operations, so it is the same on every device.
//
// Nibbles d and d + 8 share a counter word, 16 bits each. Counters and words share one array: a group of 512
// threads then fits the 32 KiB of shared memory that a device may have. One word in 33 is left out, against
// bank conflicts.
//
// The including shader defines `uint nibble_of(uint word, uint nibble_shift)`.

const uint TILE = WORKGROUP_SIZE * ITEMS_PER_THREAD;
const uint COUNTERS_ = 8u;

uint nibble_of(uint word, uint nibble_shift);

shared uint exchange_[TILE + TILE / 32u];

uint slot_(uint place) { return place + place / 32u; }
uint tile_word(uint place) { return exchange_[slot_(place)]; }
void set_tile_word(uint place, uint word) { exchange_[slot_(place)] = word; }

uint counter_of_(uint nibble) { return slot_((nibble & 7u) * WORKGROUP_SIZE + gl_LocalInvocationIndex); }
uint half_shift_(uint nibble) { return nibble < 8u ? 0u : 16u; }

// Sorts the tile by one nibble. Loops over the thread's own words are unrolled, so that these stay in
// registers; no other is, which halves the compile time on software devices. To be called in uniform control
// flow, after a barrier after the last set_tile_word; ends with a barrier.
void sort_by_nibble(uint nibble_shift) {
    uint lane = gl_LocalInvocationIndex;
    uint own[ITEMS_PER_THREAD];
    uint place[ITEMS_PER_THREAD];
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item)
        own[item] = tile_word(lane * ITEMS_PER_THREAD + item);
    barrier();
    [[dont_unroll]] for (uint k = 0u; k < COUNTERS_; ++k) exchange_[counter_of_(k)] = 0u;
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint nibble = nibble_of(own[item], nibble_shift);
        exchange_[counter_of_(nibble)] += 1u << half_shift_(nibble);
    }
    barrier();
    // Each thread scans eight consecutive counters, together all of them; both halves at once, neither can
    // overflow.
    uint sum = 0u;
    [[dont_unroll]] for (uint k = 0u; k < COUNTERS_; ++k) sum += tile_word(lane * COUNTERS_ + k);
    uvec2 before_and_all = workgroup_exclusive_scan(sum);
    // Nibbles from 8 on come after all lower ones.
    uint before = before_and_all.x + (before_and_all.y << 16u);
    [[dont_unroll]] for (uint k = 0u; k < COUNTERS_; ++k) {
        uint value = tile_word(lane * COUNTERS_ + k);
        set_tile_word(lane * COUNTERS_ + k, before);
        before += value;
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) {
        uint nibble = nibble_of(own[item], nibble_shift);
        uint counter = exchange_[counter_of_(nibble)];
        exchange_[counter_of_(nibble)] = counter + (1u << half_shift_(nibble));
        place[item] = counter >> half_shift_(nibble) & 0xffffu;
    }
    barrier();
    [[unroll]] for (uint item = 0u; item < ITEMS_PER_THREAD; ++item) set_tile_word(place[item], own[item]);
    barrier();
}
