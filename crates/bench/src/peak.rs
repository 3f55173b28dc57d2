//! Peak memory bandwidths according to vendors.

/// Peak memory bandwidth in GB/s, by the exact name that the driver gives. Other builds of a chip (laptops,
/// other memory) have other names and are not guessed.
///
/// NVIDIA: the data sheets of H200, H100, A100, A10, L40S, L4, T4 and V100 (row «GPU memory bandwidth»); for
/// GeForce, bus width times the memory's data rate as in the specifications on nvidia.com. AMD: «peak memory
/// bandwidth» in the specifications on amd.com.
const PEAKS: &[(&str, f64)] = &[
    ("NVIDIA H200", 4800.0),
    ("NVIDIA H200 NVL", 4800.0),
    ("NVIDIA H100 80GB HBM3", 3350.0),
    ("NVIDIA H100 NVL", 3900.0),
    ("NVIDIA H100 PCIe", 2000.0),
    ("NVIDIA A100-SXM4-80GB", 2039.0),
    ("NVIDIA A100-SXM4-40GB", 1555.0),
    ("NVIDIA A100 80GB PCIe", 1935.0),
    ("NVIDIA A100-PCIE-40GB", 1555.0),
    ("NVIDIA A10", 600.0),
    ("NVIDIA L40S", 864.0),
    ("NVIDIA L4", 300.0),
    ("Tesla T4", 320.0),
    ("Tesla V100-SXM2-16GB", 900.0),
    ("Tesla V100-SXM2-32GB", 900.0),
    ("NVIDIA GeForce RTX 5090", 1792.0),
    ("NVIDIA GeForce RTX 4090", 1008.0),
    ("NVIDIA GeForce RTX 4080", 716.8),
    ("NVIDIA GeForce RTX 3090", 936.2),
    ("NVIDIA GeForce RTX 3080", 760.3),
    ("AMD Radeon RX 7900 XTX", 960.0),
    ("AMD Radeon RX 6900 XT", 512.0),
];

/// Returns the vendor's peak memory bandwidth of a device in GB/s, if known. Drivers may append their own
/// name in brackets.
pub fn peak_gb_per_s(device: &str) -> Option<f64> {
    let name = device.split(" (").next().unwrap_or(device).trim();
    PEAKS.iter().find(|(known, _)| *known == name).map(|(_, peak)| *peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_names_are_known() {
        assert_eq!(peak_gb_per_s("NVIDIA H200"), Some(4800.0));
        assert_eq!(peak_gb_per_s("AMD Radeon RX 7900 XTX (RADV NAVI31)"), Some(960.0));
        assert_eq!(peak_gb_per_s("NVIDIA GeForce RTX 4090 Laptop GPU"), None);
        assert_eq!(peak_gb_per_s("llvmpipe (LLVM 15.0.6, 256 bits)"), None);
    }
}
