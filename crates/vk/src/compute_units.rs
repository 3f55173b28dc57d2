//! Processors of a device that run workgroups.

/// Processors of a device that run workgroups, and what each can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeUnits {
    /// Number of units: streaming multiprocessors, compute units, or threads of a software device.
    pub count: u32,
    /// Kind of units.
    pub kind: UnitKind,
}

/// Kind of [`ComputeUnits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// Streaming multiprocessors of NVIDIA (`VK_NV_shader_sm_builtins`).
    Multiprocessor {
        /// Maximum number of warps of a multiprocessor.
        max_warps: u32,
    },
    /// Compute units of AMD (`VK_AMD_shader_core_properties`).
    ComputeUnit {
        /// SIMDs of a unit.
        simds: u32,
        /// Maximum number of waves of a SIMD.
        max_waves: u32,
        /// Threads of a wave: the least subgroup size. RADV counts a larger subgroup as several waves.
        wave_size: u32,
    },
    /// Threads of a CPU, each of which runs one workgroup at a time.
    Thread,
}
