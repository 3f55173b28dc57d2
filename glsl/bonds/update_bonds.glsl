// Body of a kernel that updates bonds by its own rule: update_bond is called once for each end of each bond.
//
// The kernel includes common/kernel.glsl and bonds/bonds.glsl, declares push constants with `BondTable table`
// among them, includes this file, declares the inputs and outputs of its rule from binding 3 on, and defines
// update_bond. `at` is the index in the columns of the bond of i with j. The rule writes at `at` only, and
// the same bits at both ends: it is symmetric in i and j, and its arithmetic is `precise`.

layout(scalar, binding = 0) readonly buffer Count { uint count[]; };
layout(scalar, binding = 1) readonly buffer Partner { uint partner[]; };
layout(scalar, binding = 2) readonly buffer Degree { uint degree[]; };

void update_bond(uint i, uint j, uint at);

void main() {
    uint i = thread_idx();
    if (i >= count[0]) return;
    FOR_EACH_BOND(table, i, at) update_bond(i, partner[at], at);
}
