// Decoupled look-back: what all tiles before this one sum to, within the pass that sums them.
//
// Merrill & Garland, Single-pass parallel prefix scan with decoupled look-back (2016). Each tile publishes its own sum, then adds
// up the sums of the tiles before it until it meets one that knows its whole prefix. Two things differ from the paper, because
// Vulkan promises neither progress between workgroups nor 64-bit atomics:
// - a tile that has been looked at SPINS times in vain is summed again by whoever waits for it, so that no group ever depends on
//   another one being scheduled;
// - a sum is published as two words, each with its own flag and 16 bits of the sum. Values travel in the atomics themselves, and
//   nothing is assumed about the order in which two words become visible: halves with different flags are "not ready".
//
// Tiles are numbered by ticket, in the order in which groups start. Who includes this defines `uint tile_sum(uint tile)`, the
// sum of a whole tile, called by all threads of the group in uniform control flow, and declares the buffer `look_back`:
// word 0 counts tickets, words 1 + 2t and 2 + 2t belong to tile t; all 0 at the start of the pass.

// Looks at a tile before it is summed again.
layout(constant_id = 10) const uint SPINS = 4;
// Tests only: with k > 0, tiles k − 1, 2k − 1 … never publish anything, as a group does that is never scheduled.
layout(constant_id = 11) const uint WITHHELD = 0;

const uint LOOK_NOT_READY_ = 0u;
const uint LOOK_AGGREGATE_ = 1u << 30u;
const uint LOOK_INCLUSIVE_ = 2u << 30u;
const uint LOOK_FLAGS_ = 3u << 30u;
const uint LOOK_WINDOW_ = 32u;

uint tile_sum(uint tile);

shared uint look_ticket_;
shared uvec2 look_window_[LOOK_WINDOW_];
shared uint look_sum_;
shared uint look_next_;
shared bool look_done_;
shared bool look_blocked_;

// This group's tile. To be called once, in uniform control flow.
uint take_ticket() {
    if (gl_LocalInvocationIndex == 0u) look_ticket_ = atomicAdd(look_back[0], 1u);
    barrier();
    return look_ticket_;
}

// Flags only rise, so that whoever publishes late changes nothing.
void publish_(uint tile, uint flag, uint sum) {
    atomicMax(look_back[1u + 2u * tile], flag | (sum & 0xffffu));
    atomicMax(look_back[2u + 2u * tile], flag | (sum >> 16u));
}

bool is_withheld_(uint tile) { return WITHHELD != 0u && tile % WITHHELD == WITHHELD - 1u; }

// (flag, sum) of a tile.
uvec2 look_at_(uint tile) {
    uint low = atomicOr(look_back[1u + 2u * tile], 0u);
    uint high = atomicOr(look_back[2u + 2u * tile], 0u);
    uint flag = low & LOOK_FLAGS_;
    return flag == (high & LOOK_FLAGS_) ? uvec2(flag, (low & 0xffffu) | (high & 0xffffu) << 16u) : uvec2(LOOK_NOT_READY_, 0u);
}

// The sum of all tiles before `tile`, whose own sum is `own`. To be called once, in uniform control flow.
uint sum_before_tile(uint tile, uint own) {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) {
        if (!is_withheld_(tile)) publish_(tile, tile == 0u ? LOOK_INCLUSIVE_ : LOOK_AGGREGATE_, own);
        look_sum_ = 0u;
        look_next_ = tile;
        look_done_ = tile == 0u;
        look_blocked_ = false;
    }
    uint stalls = 0u;
    for (;;) {
        barrier();
        if (look_done_) break;
        // The tiles before `look_next_` are still to be added, the nearest first; before the first there is nothing.
        for (uint w = lane; w < LOOK_WINDOW_; w += WORKGROUP_SIZE) {
            look_window_[w] = w < look_next_ ? look_at_(look_next_ - 1u - w) : uvec2(LOOK_INCLUSIVE_, 0u);
        }
        barrier();
        if (lane == 0u) {
            uint w = 0u;
            for (; w < LOOK_WINDOW_; ++w) {
                if (look_window_[w].x == LOOK_NOT_READY_) break;
                look_sum_ += look_window_[w].y;
                look_done_ = look_window_[w].x == LOOK_INCLUSIVE_;
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
                publish_(blocking, LOOK_AGGREGATE_, sum);
                stalls = 0u;
            }
        }
    }
    if (lane == 0u && tile != 0u && !is_withheld_(tile)) publish_(tile, LOOK_INCLUSIVE_, look_sum_ + own);
    return look_sum_;
}
