// Decoupled look-back: the sum of all tiles before this one, within the pass that sums them.
//
// Merrill & Garland, Single-pass parallel prefix scan with decoupled look-back (2016). Each tile publishes
// its own sum, then adds up the sums of the tiles before it until it meets one that knows its whole prefix.
// Two things differ from the paper, because Vulkan guarantees neither progress between workgroups nor 64-bit
// atomics:
// - a tile polled SPINS times without an answer is summed again by the waiting group, so that no group ever
//   depends on the scheduling of another one;
// - a sum is published as two words, each with its own flag and 16 bits of the sum. Values travel in the
//   atomics themselves, and nothing is assumed about the order in which two words become visible: halves with
//   different flags are "not ready".
//
// The including shader defines `uint tile_sum(uint tile)`, the sum of a whole tile, called by all threads of
// the group in uniform control flow, and declares the buffer `look_back`: word 0 counts tickets, words 1 + 2t
// and 2 + 2t belong to tile t.
#include "primitives/tickets.glsl"

const uint LOOK_WINDOW_ = 32u;

uint tile_sum(uint tile);

shared uvec2 look_window_[LOOK_WINDOW_];
shared uint look_sum_;
shared uint look_next_;
shared bool look_done_;
shared bool look_blocked_;

void publish_(uint tile, uint flag, uint sum) {
    atomicMax(look_back[1u + 2u * tile], flag | (sum & 0xffffu));
    atomicMax(look_back[2u + 2u * tile], flag | (sum >> 16u));
}

// Returns (flag, sum) of a tile.
uvec2 look_at_(uint tile) {
    uint low = atomicOr(look_back[1u + 2u * tile], 0u);
    uint high = atomicOr(look_back[2u + 2u * tile], 0u);
    uint flag = low & FLAG_BITS;
    return flag == (high & FLAG_BITS) ? uvec2(flag, (low & 0xffffu) | (high & 0xffffu) << 16u)
                                      : uvec2(NOT_READY, 0u);
}

// Returns the sum of all tiles before `tile`, whose own sum is `own`. To be called once, in uniform control
// flow.
uint sum_before_tile(uint tile, uint own) {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) {
        if (!is_withheld(tile)) publish_(tile, tile == 0u ? INCLUSIVE_SUM : AGGREGATE, own);
        look_sum_ = 0u;
        look_next_ = tile;
        look_done_ = tile == 0u;
        look_blocked_ = false;
    }
    uint stalls = 0u;
    // Bound: SPINS turns without an answer for each tile, which is then summed again.
    for (;;) {
        barrier();
        if (look_done_) break;
        // The tiles before `look_next_` are still to be added, the nearest first; there is nothing before the
        // first.
        for (uint w = lane; w < LOOK_WINDOW_; w += WORKGROUP_SIZE) {
            look_window_[w] = w < look_next_ ? look_at_(look_next_ - 1u - w) : uvec2(INCLUSIVE_SUM, 0u);
        }
        barrier();
        if (lane == 0u) {
            uint w = 0u;
            for (; w < LOOK_WINDOW_; ++w) {
                if (look_window_[w].x == NOT_READY) break;
                look_sum_ += look_window_[w].y;
                look_done_ = look_window_[w].x == INCLUSIVE_SUM;
                if (look_done_) break;
            }
            look_next_ -= look_done_ ? 0u : w;
            stalls = w == 0u ? stalls + 1u : 0u;
            look_blocked_ = !look_done_ && stalls >= SPINS;
        }
        barrier();
        if (look_blocked_) {
            uint blocking = look_next_ - 1u;
            uint sum = tile_sum(blocking);
            if (lane == 0u) {
                publish_(blocking, AGGREGATE, sum);
                stalls = 0u;
            }
        }
    }
    if (lane == 0u && tile != 0u && !is_withheld(tile)) publish_(tile, INCLUSIVE_SUM, look_sum_ + own);
    return look_sum_;
}
