//! Families of hardware that kernels can be compiled for in its absence.

use frazil_engine::Failure;

/// Mesa's driver of a vendor, with the shim that stands for the kernel's interface to its hardware.
#[derive(Debug, PartialEq, Eq)]
pub struct Vendor {
    pub name: &'static str,
    /// Manifest of the Vulkan driver.
    pub manifest: &'static str,
    /// Library of `mesa-drm-shim`.
    pub shim: &'static str,
    /// Environment variable by which the shim takes the family.
    pub variable: &'static str,
    /// Unit of which the driver counts resident subgroups.
    pub processor: &'static str,
}

const NVIDIA: Vendor = Vendor {
    name: "NVIDIA",
    manifest: "nouveau_icd.json",
    shim: "libnouveau_noop_drm_shim.so",
    variable: "NOUVEAU_CHIPSET",
    processor: "streaming multiprocessor",
};
const QUALCOMM: Vendor = Vendor {
    name: "Qualcomm",
    manifest: "freedreno_icd.json",
    shim: "libfreedreno_noop_drm_shim.so",
    variable: "FD_GPU_ID",
    processor: "core",
};
const APPLE: Vendor = Vendor {
    name: "Apple",
    manifest: "asahi_icd.json",
    shim: "libasahi_noop_drm_shim.so",
    // The shim knows one family; the variable has no effect.
    variable: "FRAZIL_FAMILY",
    processor: "core",
};
/// AMD's driver also takes a family without a shim, before Mesa 26 ([`super::absent`]).
pub const AMD: Vendor = Vendor {
    name: "AMD",
    manifest: "radeon_icd.json",
    shim: "libamdgpu_noop_drm_shim.so",
    variable: "AMDGPU_GPU_ID",
    processor: "SIMD",
};

/// A family of hardware.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    /// Name, such as `ada`.
    pub name: &'static str,
    pub vendor: &'static Vendor,
    /// Value of the vendor's variable.
    pub id: &'static str,
    /// Maximum of the subgroups that a processor holds at once; none where the driver tells.
    pub max_subgroups: Option<u64>,
}

const fn family(
    vendor: &'static Vendor,
    name: &'static str,
    id: &'static str,
    max_subgroups: Option<u64>,
) -> Family {
    Family { name, vendor, id, max_subgroups }
}

const fn amd(name: &'static str) -> Family {
    family(&AMD, name, name, None)
}

/// Families that the shims of Mesa 26.2 know. Warps of a multiprocessor by NVIDIA's Programming Guide,
/// "Technical Specifications per Compute Capability"; waves and threads of a core as the drivers bound them.
pub const FAMILIES: &[Family] = &[
    family(&NVIDIA, "maxwell", "120", Some(64)),
    family(&NVIDIA, "pascal", "134", Some(64)),
    family(&NVIDIA, "volta", "140", Some(64)),
    family(&NVIDIA, "turing", "164", Some(32)),
    family(&NVIDIA, "ampere", "172", Some(48)),
    family(&NVIDIA, "ada", "192", Some(48)),
    family(&NVIDIA, "blackwell", "1b2", Some(48)),
    amd("polaris10"),
    amd("polaris12"),
    amd("vega10"),
    amd("vega20"),
    amd("raven"),
    amd("raven2"),
    amd("renoir"),
    amd("navi10"),
    amd("navi21"),
    amd("vangogh"),
    amd("rembrandt"),
    amd("raphael_mendocino"),
    amd("navi31"),
    amd("navi33"),
    amd("phoenix"),
    amd("gfx1201"),
    family(&QUALCOMM, "adreno618", "618", Some(16)),
    family(&QUALCOMM, "adreno630", "630", Some(16)),
    family(&QUALCOMM, "adreno660", "660", Some(16)),
    family(&QUALCOMM, "adreno730", "730", Some(16)),
    family(&QUALCOMM, "adreno740", "740", Some(16)),
    family(&QUALCOMM, "adreno750", "750", Some(16)),
    family(&QUALCOMM, "adreno830", "830", Some(16)),
    family(&APPLE, "m1", "m1", Some(32)),
];

/// Returns the family of a name.
///
/// # Errors
/// There is none: the message lists all.
pub fn find(name: &str) -> Result<&'static Family, Failure> {
    FAMILIES
        .iter()
        .find(|family| family.name == name)
        .ok_or_else(|| Failure::input(format!("found the family \"{name}\", expected one of {}", list())))
}

/// Lists the families by vendor.
pub fn list() -> String {
    let mut vendors: Vec<&Vendor> = FAMILIES.iter().map(|family| family.vendor).collect();
    vendors.dedup();
    let of = |vendor: &Vendor| {
        let names = FAMILIES.iter().filter(|family| family.vendor == vendor).map(|family| family.name);
        format!("{} ({})", vendor.name, names.collect::<Vec<_>>().join(", "))
    };
    vendors.into_iter().map(of).collect::<Vec<_>>().join(", ")
}
