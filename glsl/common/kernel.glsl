// Common start of every kernel: extensions, the group size, and the index of the thread.
//
// The group size is specialisation constant 0, so that it is tuned without recompiling GLSL; shared arrays
// are sized by it. Groups are counted over x and y: some devices allow only 65 535 groups in one dimension,
// so the dispatch folds.
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require

layout(constant_id = 0) const uint WORKGROUP_SIZE = 256;
layout(local_size_x_id = 0) in;

// Index of no element: the content of an empty slot, and an order's entry for a new particle.
const uint INVALID_INDEX = 0xffffffffu;

// Index of this workgroup in the folded dispatch.
uint group_idx() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

// Index of this thread in the folded dispatch; may lie past the element count.
uint thread_idx() { return group_idx() * WORKGROUP_SIZE + gl_LocalInvocationIndex; }

// Runs a statement where the condition holds. A software device runs both sides of a branch in any case, but
// no iteration of a loop that no thread of a subgroup takes; for a GPU it is a branch.
#define RARELY(condition) [[dont_unroll]] for (uint once_ = (condition) ? 1u : 0u; once_ > 0u; --once_)
