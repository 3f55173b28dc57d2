//! Variants of the step that the study of noise compares: the paper's, and each remedy against feedback.

use frazil_scene::{Mpm as Section, Transfer, Weights};

/// Side of a cell in m.
pub const CELL_M: f64 = 0.01;
/// Speed of particles that drift in m/s, as in the paper.
pub const SPEED_M_S: f64 = 1.0;

/// A variant of the step.
pub struct Variant {
    pub name: &'static str,
    pub about: &'static str,
    transfer: Transfer,
    flip_ratio: f64,
    weights: Weights,
    strain_floor: bool,
    node_mass_cutoff: f64,
}

const fn variant(name: &'static str, about: &'static str) -> Variant {
    let (transfer, weights) = (Transfer::PicFlip, Weights::AsPrinted);
    Variant { name, about, transfer, flip_ratio: 0.95, weights, strain_floor: false, node_mass_cutoff: 0.0 }
}

/// Returns the variants to compare: first the paper's method, last the engine's default, with PIC in each
/// step.
pub fn variants() -> [Variant; 10] {
    [
        variant("as_printed", "as printed (eq 3.3), FLIP 0.95"),
        Variant { flip_ratio: 1.0, ..variant("as_printed_flip", "as printed, FLIP 1") },
        Variant { weights: Weights::Factored, ..variant("factored", "factored weights") },
        Variant { strain_floor: true, ..variant("strain_floor", "clamp: strain floor") },
        Variant {
            weights: Weights::Factored,
            strain_floor: true,
            ..variant("both", "factored weights and floor")
        },
        Variant { node_mass_cutoff: 1e-6, ..variant("cutoff", "mass cut-off 1e-6 of a cell") },
        Variant { node_mass_cutoff: 1e-3, ..variant("cutoff_large", "mass cut-off 1e-3 of a cell") },
        Variant { transfer: Transfer::Apic, flip_ratio: 0.0, ..variant("apic", "as printed, APIC") },
        Variant { transfer: Transfer::Mls, flip_ratio: 0.0, ..variant("mls", "as printed, MLS") },
        Variant {
            transfer: Transfer::Apic,
            flip_ratio: 0.0,
            weights: Weights::Factored,
            strain_floor: true,
            ..variant(
                "default",
                "APIC, factored weights and floor: the engine's default but for its rate of PIC",
            )
        },
    ]
}

impl Variant {
    pub fn section(&self) -> Section {
        Section {
            transfer: self.transfer,
            flip_ratio: Some(self.flip_ratio),
            weights: self.weights,
            strain_floor: self.strain_floor,
            node_mass_cutoff: self.node_mass_cutoff,
            ..Section::sampled(3, CELL_M)
        }
    }

    /// Returns true for PIC and FLIP.
    pub fn is_flip(&self) -> bool {
        self.transfer == Transfer::PicFlip
    }

    /// Returns the exponent over steps with which errors of one sign add up to a rotation: 1, or 2 if the
    /// transfer keeps a spin.
    pub fn exponent(&self) -> u32 {
        if self.is_flip() { 1 } else { 2 }
    }
}
