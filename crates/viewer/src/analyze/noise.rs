//! Strain of a single particle due to rounding (Breekveldt2017 sec 4.1), with and without the engine's
//! counter-measures, and its growth by feedback over the Courant number.

use super::feedback::{self, Grown, Layer};
use super::fit::power_law;
use super::lab::{Grain, Sample, empty_space, norm, rotation};
use super::report::{ExtraPlot, OwnPanel, Report, cell, digits, table};
use super::study::{Effort, Study};
use crate::failure::Failure;
use frazil_report::{Mark, Scale, Series};
use frazil_scene::{Material, Mpm as Section, Transfer, Weights};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

const HEADER: [&str; 12] = [
    "part",
    "variant",
    "courant [1]",
    "offset [h]",
    "step [1]",
    "velocity_gradient [1/s]",
    "strain [1]",
    "stretch [1]",
    "strain_energy [J/kg]",
    "kinetic_energy_change [1]",
    "factor [1]",
    "theory [1]",
];

const CELL_M: f64 = 0.01;
const DT_S: f64 = 1e-4;
/// Speed of the particle in m/s, as in the paper.
const SPEED_M_S: f64 = 1.0;
/// Distance between single particles in cells, so that no two share a node.
const ROOM_CELLS: f64 = 12.0;
const FULL_STEPS: u64 = 4096;
const SMOKE_STEPS: u64 = 128;

/// A variant of the step.
struct Variant {
    name: &'static str,
    about: &'static str,
    transfer: Transfer,
    flip_ratio: f64,
    weights: Weights,
    strain_floor: bool,
}

const fn variant(name: &'static str, about: &'static str) -> Variant {
    let (transfer, weights) = (Transfer::PicFlip, Weights::AsPrinted);
    Variant { name, about, transfer, flip_ratio: 0.95, weights, strain_floor: false }
}

/// Returns the variants to compare; the first is the paper's method, the fifth the engine's default.
fn variants() -> [Variant; 7] {
    [
        variant("as_printed", "as printed (eq 3.3), FLIP 0.95"),
        Variant { flip_ratio: 1.0, ..variant("as_printed_flip", "as printed, FLIP 1") },
        Variant { weights: Weights::Factored, ..variant("factored", "factored weights only") },
        Variant { strain_floor: true, ..variant("strain_floor", "strain floor only") },
        Variant {
            weights: Weights::Factored,
            strain_floor: true,
            ..variant("both", "both: the engine's default")
        },
        Variant { transfer: Transfer::Apic, ..variant("apic", "as printed, APIC") },
        Variant { transfer: Transfer::Mls, ..variant("mls", "as printed, MLS") },
    ]
}

impl Variant {
    fn section(&self) -> Section {
        Section {
            transfer: self.transfer,
            flip_ratio: Some(self.flip_ratio),
            weights: self.weights,
            strain_floor: self.strain_floor,
            ..Section::as_published(3, CELL_M)
        }
    }
}

/// State of a particle at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment {
    step: u64,
    velocity_gradient: f64,
    /// ‖F_E − I‖, which a pure rotation also has.
    strain: f64,
    /// ‖F_E − R_E‖, from which the stress follows.
    stretch: f64,
    strain_energy: f64,
    kinetic_change: f64,
}

/// History of a particle.
struct Drift {
    variant: usize,
    offset: f64,
    moments: Vec<Moment>,
}

impl Drift {
    fn max_of(&self, of: impl Fn(&Moment) -> f64) -> f64 {
        self.moments.iter().map(of).fold(0.0, |max, value| max.max(value.abs()))
    }

    fn first_strained(&self) -> Option<u64> {
        self.moments.iter().find(|moment| moment.strain > 0.0).map(|moment| moment.step)
    }

    /// Returns the ratio of the maximum strain to the first nonzero strain.
    fn growth(&self) -> f64 {
        let first =
            self.moments.iter().find(|moment| moment.strain > 0.0).map_or(0.0, |moment| moment.strain);
        if first > 0.0 { self.max_of(|moment| moment.strain) / first } else { 1.0 }
    }
}

/// Runs the study.
pub fn study(device: &Device, effort: Effort) -> Result<Report, Failure> {
    let steps = effort.steps.unwrap_or(effort.choose(SMOKE_STEPS, FULL_STEPS)).max(4);
    let offsets: &[f64] = effort.choose(&[5e-3, 1e-3], &[1e-2, 5e-3, 1e-3, 1e-4, 1e-6]);
    let variants = variants();
    let mut drifts = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        drifts.extend(drift(device, number, variant, offsets, steps)?);
    }
    let mut rows = Vec::new();
    for d in &drifts {
        for m in &d.moments {
            let numbers = [
                d.offset,
                m.step as f64,
                m.velocity_gradient,
                m.strain,
                m.stretch,
                m.strain_energy,
                m.kinetic_change,
            ];
            let courant = DT_S / feedback::dt_s(&variants[d.variant].section(), 1.0);
            let mut row = vec!["drift".to_owned(), variants[d.variant].name.to_owned(), cell(courant)];
            row.extend(numbers.map(cell));
            row.extend([String::new(), String::new()]);
            rows.push(row);
        }
    }
    let sweep = Sweep::run(device, &variants, effort)?;
    rows.extend(sweep.rows(&variants));
    let worst: Vec<&Drift> = (0..variants.len()).filter_map(|number| worst(&drifts, number)).collect();
    Ok(Report {
        study: Study::Noise,
        title: "A lone particle that drifts (Breekveldt2017 sec 4.1)",
        header: &HEADER,
        rows,
        panels: panels(&variants, &worst),
        scales: [Scale::Logarithmic; 2],
        more_plots: vec![ExtraPlot {
            name: "growth",
            title: "Growth per step of a lone particle's strain",
            panels: sweep.panels(&variants),
            scales: [Scale::Linear; 2],
        }],
        page: page(&variants, &drifts, &worst, steps) + &sweep.page(&variants),
        summary: summary(&variants, &worst, steps),
    })
}

/// Simulates one particle per offset that drifts along x, slightly off the rows of nodes along y and z, far
/// from the others.
fn drift(
    device: &Device,
    number: usize,
    variant: &Variant,
    offsets: &[f64],
    steps: u64,
) -> Result<Vec<Drift>, Failure> {
    let grains: Vec<Grain> = offsets
        .iter()
        .enumerate()
        .map(|(k, offset)| {
            let row = 8.0 + ROOM_CELLS * k as f64;
            let at = CELL_M * DVec3::new(8.0 + offset, row + offset, 8.0 + offset);
            let volume = CELL_M.powi(3) / 8.0;
            let density = Material::default().density_kg_m3;
            Grain { velocity_m_s: SPEED_M_S * DVec3::X, ..Grain::new(at, density * volume, volume) }
        })
        .collect();
    let far = 2.0 * SPEED_M_S * DT_S * (steps + 1) as f64 + 16.0 * CELL_M;
    let space = empty_space([far, CELL_M * (ROOM_CELLS * offsets.len() as f64 + 16.0), 16.0 * CELL_M]);
    let mut sample = Sample::new(device, &variant.section(), DT_S, space, &grains)?;
    let mut drifts: Vec<Drift> = offsets
        .iter()
        .map(|offset| Drift { variant: number, offset: *offset, moments: Vec::new() })
        .collect();
    for step in moments(steps) {
        sample.step(step - 1 - sample.mpm.step())?;
        let before = sample.grains()?;
        sample.step(1)?;
        for ((drift, before), after) in drifts.iter_mut().zip(&before).zip(&sample.grains()?) {
            drift.moments.push(moment(step, before, after, sample.mpm.parameters().terms));
        }
    }
    Ok(drifts)
}

/// Returns the steps to sample: every step at first, then increasingly rarely.
fn moments(steps: u64) -> Vec<u64> {
    let mut moments = Vec::new();
    let mut next = 1;
    while next < steps {
        moments.push(next);
        next = (next + 1).max((next as f64 * 1.25) as u64);
    }
    moments.push(steps);
    moments
}

fn moment(step: u64, before: &Grain, after: &Grain, terms: frazil_shaders::types::MpmTerms) -> Moment {
    // F' = (I + Δt ∇v) F.
    let change = after.elastic * before.elastic.inverse() - DMat3::IDENTITY;
    let (mu, lambda) = (f64::from(terms.mu_pa), f64::from(terms.lambda_pa));
    let factor = (f64::from(terms.hardening) * (1.0 - after.plastic_volume)).exp();
    let j = after.elastic.determinant();
    // ‖F − R‖² as in eq 3.8.
    let stretch = norm(after.elastic - rotation(after.elastic));
    let energy_j_m3 = factor * (mu * stretch.powi(2) + 0.5 * lambda * (j - 1.0).powi(2));
    Moment {
        step,
        velocity_gradient: norm(change) / f64::from(terms.dt_s),
        strain: norm(after.elastic - DMat3::IDENTITY),
        stretch,
        strain_energy: if after.elastic == DMat3::IDENTITY {
            0.0
        } else {
            energy_j_m3 * after.volume_m3 / after.mass_kg
        },
        kinetic_change: after.velocity_m_s.length_squared() / SPEED_M_S.powi(2) - 1.0,
    }
}

/// Returns the particle of a variant with the maximum strain.
fn worst(drifts: &[Drift], variant: usize) -> Option<&Drift> {
    let strain = |drift: &&Drift| drift.max_of(|moment| moment.strain);
    drifts.iter().filter(|drift| drift.variant == variant).max_by(|a, b| strain(a).total_cmp(&strain(b)))
}

fn panels(variants: &[Variant], worst: &[&Drift]) -> Vec<OwnPanel> {
    let panel = |y_label, of: &dyn Fn(&Moment) -> f64| OwnPanel {
        x_label: "step [1]",
        y_label,
        series: worst
            .iter()
            .map(|drift| {
                let about = variants[drift.variant].about;
                let zero = if drift.max_of(of) == 0.0 { " (0 throughout)" } else { "" };
                let points = drift.moments.iter().map(|m| (m.step as f64, of(m))).collect();
                Series::new(format!("{about}{zero}"), Mark::Line, points)
            })
            .collect(),
    };
    vec![
        panel("norm of grad v [1/s]", &|m| m.velocity_gradient),
        panel("norm of F − I [1]", &|m| m.strain),
        panel("strain energy [J/kg]", &|m| m.strain_energy),
        panel("kinetic energy, off by [1]", &|m| m.kinetic_change.abs()),
    ]
}

fn summary(variants: &[Variant], worst: &[&Drift], steps: u64) -> String {
    let max = |name: &str| {
        let found = worst.iter().find(|drift| variants[drift.variant].name == name);
        found.map_or(0.0, |drift| drift.max_of(|moment| moment.strain))
    };
    format!(
        "noise: after {steps} steps strain up to {} as printed, {} with the engine's remedy",
        digits(max("as_printed"), 3),
        digits(max("both"), 3)
    )
}

fn page(variants: &[Variant], drifts: &[Drift], worst: &[&Drift], steps: u64) -> String {
    let rows: Vec<Vec<String>> = worst
        .iter()
        .map(|drift| {
            let risen: Vec<(f64, f64)> =
                drift.moments.iter().map(|moment| (moment.step as f64, moment.strain)).collect();
            let exponent = power_law(&risen).filter(|_| drift.max_of(|moment| moment.strain) > 0.0);
            vec![
                variants[drift.variant].about.to_owned(),
                format!("{:e}", drift.offset),
                drift.first_strained().map_or("never".into(), |step| step.to_string()),
                digits(drift.max_of(|m| m.velocity_gradient), 3),
                digits(drift.max_of(|m| m.strain), 3),
                digits(drift.max_of(|m| m.stretch), 3),
                exponent.map_or("–".into(), |line| format!("{:.2} ± {:.2}", line.slope, line.slope_error)),
                digits(drift.max_of(|m| m.strain_energy), 3),
                digits(drift.max_of(|m| m.kinetic_change), 3),
            ]
        })
        .collect();
    let header = [
        "variant",
        "worst offset [h]",
        "first strained at step",
        "max ‖∇v‖ [1/s]",
        "max ‖F − I‖",
        "max ‖F − R‖",
        "exponent of ‖F − I‖ over steps",
        "max strain energy [J/kg]",
        "kinetic energy off by",
    ];
    let free: Vec<&str> = worst
        .iter()
        .filter(|drift| drift.max_of(|moment| moment.strain) == 0.0)
        .map(|drift| variants[drift.variant].about)
        .collect();
    let free = if free.is_empty() { "none".to_owned() } else { free.join("; ") };
    let by_offset: Vec<Vec<String>> = drifts
        .iter()
        .filter(|drift| drift.variant == 0)
        .map(|drift| {
            let energy = drift.max_of(|m| m.strain_energy);
            vec![
                format!("{:e}", drift.offset),
                digits(drift.max_of(|m| m.strain), 3),
                format!("{:.0}", drift.growth()),
                digits(energy, 3),
            ]
        })
        .collect();
    format!(
        "One particle without stress, alone, at {SPEED_M_S} m/s along x, in cells of {CELL_M} m with Δt = \
         {DT_S} s, for {steps} steps in f32. It lies a hair off the rows of nodes along y and z, where \
         nodes at almost two cells get weights near (offset)³/6. In exact numbers nothing happens to it, \
         since all its nodes have one velocity. The paper (sec 4.1) argues that Σ v ∇w is then not 0 but \
         rounding, that this strains the particle, and that the force of that strain on an almost massless \
         node feeds it; it shows no measurement. Here is one: ‖∇v‖ from the change of F_E in one step, \
         ‖F_E − I‖, ‖F_E − R_E‖, strain energy, and the change of kinetic energy, each of the offset that \
         was strained most.\n\n{}\n\
         Stress-free at every step looked at, to the bit: {free}.\n\n\
         ## What feeds it\n\n\
         - *Weights as printed* (eq 3.3) are sums of terms near 1, off by 10⁻⁷ each. A weight of \
         (offset)³/6 drowns in that from offsets of about 10⁻² h down: it may come out 0 or negative, and \
         the node then has no velocity. Its slope, (offset)²/2, does not drown, so that Σ v ∇w lacks v \
         (offset)²/2h: 0.00125 /s an axis at 5·10⁻³ h.\n\
         - Otherwise it is the rounding of the sum Σ v ∇w, in proportion to v/h.\n\
         - *Here the loop damps.* Δt is a fifth of the time in which a wave crosses a cell; a step then \
         multiplies a stretch by less than 1 (last section), and ‖F − R‖ comes to a bound within some tens \
         of steps, with an energy that is to be seen beside the 0.5 J/kg of the motion. What grows is a \
         turn, which no stress resists, as a power of the steps (exponents in the table): 1 is an error that \
         is added in each step, 2 one that is added to a spin which an affine velocity keeps.\n\n\
         ## What stops it\n\n\
         - *Factored weights*, (2 − |x|)³/6, are exact to the rounding of the weight itself: every node \
         has mass, and the particle's own velocity.\n\
         - The *strain floor* takes entries of Δt ∇v below 2⁻²⁴, the rounding of 1, for nothing. It is the \
         clamp that the paper proposes in sec 4.1.2, at the one value that costs nothing: F_E near 1 could \
         not hold a smaller change on its diagonal anyway. Alone it does not help where a node is lost.\n\
         - The engine's default is both. They remove what starts the loop, not the loop.\n\
         - APIC and MLS with weights as printed are no remedy: they keep the spin that rounding gives \
         them.\n\n\
         ## The offset, as printed\n\n{}\n\
         Positions are f32: an offset below about 10⁻⁶ h is indistinguishable from none beside a coordinate of \
         tens of cells.\n",
        table(&header, &rows),
        table(&["offset [h]", "max ‖F − I‖", "over its first", "max strain energy [J/kg]"], &by_offset)
    )
}

/// Offset of the particles of the sweep in cells, and halfway between nodes.
const SWEEP_OFFSETS: [f64; 2] = [5e-3, 0.5];

/// Factor per step at a Courant number.
struct Point {
    variant: usize,
    courant: f64,
    offset: f64,
    measured: Option<f64>,
    theory: f64,
}

/// Behaviour over the Courant number.
struct Sweep {
    /// Particles that are strained at the start.
    strained: Vec<Point>,
    /// Particles that rounding alone strains, by variant and Courant number.
    drifting: Vec<(usize, f64, Grown)>,
    /// A block, by variant and Courant number.
    blocks: Vec<(usize, f64, Vec<Layer>)>,
}

impl Sweep {
    fn run(device: &Device, variants: &[Variant], effort: Effort) -> Result<Self, Failure> {
        let courants: Vec<f64> = effort
            .choose(&[8_u32, 16][..], &[1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19][..])
            .iter()
            .map(|twentieths| f64::from(*twentieths) / 20.0)
            .collect();
        let mut sweep = Self { strained: Vec::new(), drifting: Vec::new(), blocks: Vec::new() };
        for (number, variant) in variants.iter().enumerate() {
            let section = variant.section();
            for courant in &courants {
                let steps = effort.choose(12, 24);
                let found = feedback::measured(device, &section, *courant, &SWEEP_OFFSETS, steps)?;
                for (offset, measured) in SWEEP_OFFSETS.into_iter().zip(found) {
                    let theory = theory(&section, *courant, offset);
                    sweep.strained.push(Point {
                        variant: number,
                        courant: *courant,
                        offset,
                        measured,
                        theory,
                    });
                }
                let steps = effort.choose(32, 96);
                let [offset, _] = SWEEP_OFFSETS;
                let grown = feedback::drifting(device, &section, *courant, SPEED_M_S, offset, steps)?;
                sweep.drifting.push((number, *courant, grown));
            }
            if !["as_printed", "both", "apic"].contains(&variant.name) {
                continue;
            }
            let (courants, steps): (&[f64], &[u64]) =
                effort.choose((&[0.8][..], &[4][..]), (&[0.2, 0.5, 0.8, 0.95][..], &[1, 4, 16, 64, 256][..]));
            for courant in courants {
                let layers = feedback::block(device, &section, *courant, SPEED_M_S, SWEEP_OFFSETS[0], steps)?;
                sweep.blocks.push((number, *courant, layers));
            }
        }
        Ok(sweep)
    }

    fn rows(&self, variants: &[Variant]) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let mut add = |part: &str, variant: usize, numbers: [Option<f64>; 10]| {
            let mut row = vec![part.to_owned(), variants[variant].name.to_owned()];
            row.extend(numbers.map(|number| number.map_or(String::new(), cell)));
            rows.push(row);
        };
        for p in &self.strained {
            let mut numbers = [None; 10];
            [numbers[0], numbers[1]] = [Some(p.courant), Some(p.offset)];
            [numbers[8], numbers[9]] = [p.measured, Some(p.theory)];
            add("strained", p.variant, numbers);
        }
        for (variant, courant, grown) in &self.drifting {
            let mut numbers = [None; 10];
            [numbers[0], numbers[1]] = [Some(*courant), Some(SWEEP_OFFSETS[0])];
            [numbers[5], numbers[8]] = [Some(grown.largest_stretch), grown.factor];
            numbers[9] = Some(theory(&variants[*variant].section(), *courant, SWEEP_OFFSETS[0]));
            add("drifting", *variant, numbers);
        }
        for (variant, courant, layers) in &self.blocks {
            for layer in layers {
                let part = if layer.is_surface { "block surface" } else { "block inside" };
                let mut numbers = [None; 10];
                [numbers[0], numbers[1]] = [Some(*courant), Some(SWEEP_OFFSETS[0])];
                [numbers[2], numbers[3]] = [Some(layer.step as f64), Some(layer.velocity_gradient)];
                numbers[5] = Some(layer.stretch);
                add(part, *variant, numbers);
            }
        }
        rows
    }

    fn panels(&self, variants: &[Variant]) -> Vec<OwnPanel> {
        let curve = |transfer, about: &str| {
            let section = Section { transfer, ..variants[0].section() };
            let courants = (0..=200).map(|k| f64::from(k) / 200.0);
            let points = courants.map(|c| (c, theory(&section, c, SWEEP_OFFSETS[0]))).collect();
            Series::new(format!("theory, {about}"), Mark::Line, points)
        };
        let one = || Series::new("growth above", Mark::Dashes, vec![(0.0, 1.0), (1.0, 1.0)]);
        let strained = |number: usize| {
            let points = self.strained.iter().filter(|p| p.variant == number && p.offset == SWEEP_OFFSETS[0]);
            let points = points.filter_map(|p| Some((p.courant, p.measured?))).collect();
            Series::new(variants[number].about, Mark::Points, points)
        };
        let is_flip = |number: &usize| variants[*number].transfer == Transfer::PicFlip;
        let mut flip = vec![curve(Transfer::PicFlip, "PIC/FLIP"), one()];
        flip.extend((0..variants.len()).filter(is_flip).map(strained));
        for (number, variant) in variants.iter().enumerate().filter(|(number, _)| is_flip(number)) {
            let of = self.drifting.iter().filter(|(v, _, _)| *v == number);
            let points: Vec<(f64, f64)> = of.filter_map(|(_, c, grown)| Some((*c, grown.factor?))).collect();
            if !points.is_empty() {
                flip.push(Series::new(format!("{}, from rounding", variant.about), Mark::Points, points));
            }
        }
        let mut affine = vec![curve(Transfer::Apic, "APIC"), curve(Transfer::Mls, "MLS"), one()];
        affine.extend((0..variants.len()).filter(|number| !is_flip(number)).map(strained));
        let panel = |series| OwnPanel {
            x_label: "Courant number [1]",
            y_label: "growth of strain per step [1]",
            series,
        };
        vec![panel(flip), panel(affine)]
    }

    fn page(&self, variants: &[Variant]) -> String {
        let mut courants: Vec<f64> = self.strained.iter().map(|p| p.courant).collect();
        courants.dedup();
        courants.truncate(self.strained.len() / SWEEP_OFFSETS.len() / variants.len());
        let mut header = vec!["variant".to_owned(), "offset [h]".to_owned()];
        header.extend(courants.iter().map(|c| format!("C = {c}")));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let value = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.3}"));
        let mut rows = Vec::new();
        let mut worst: f64 = 0.0;
        for offset in SWEEP_OFFSETS {
            for (number, variant) in variants.iter().enumerate() {
                let own: Vec<&Point> =
                    self.strained.iter().filter(|p| p.variant == number && p.offset == offset).collect();
                let mut row = vec![variant.about.to_owned(), cell(offset)];
                row.extend(own.iter().map(|p| value(p.measured)));
                rows.push(row);
                for p in own {
                    worst = worst.max(p.measured.map_or(0.0, |found| (found - p.theory).abs()));
                }
            }
            for (transfer, name) in
                [(Transfer::PicFlip, "PIC/FLIP"), (Transfer::Apic, "APIC"), (Transfer::Mls, "MLS")]
            {
                let section = Section { transfer, ..variants[0].section() };
                let mut row = vec![format!("*theory, {name}*"), cell(offset)];
                row.extend(courants.iter().map(|c| value(Some(theory(&section, *c, offset)))));
                rows.push(row);
            }
        }
        let from_rounding: Vec<Vec<String>> = (0..variants.len())
            .map(|number| {
                let own = self.drifting.iter().filter(|(v, _, _)| *v == number);
                let mut row = vec![variants[number].about.to_owned(), cell(SWEEP_OFFSETS[0])];
                row.extend(own.map(|(_, _, grown)| {
                    let stretch = digits(grown.largest_stretch, 2);
                    grown.factor.map_or(stretch.clone(), |factor| format!("{stretch} (× {factor:.2})"))
                }));
                row
            })
            .collect();
        let blocks: Vec<Vec<String>> = self
            .blocks
            .iter()
            .map(|(variant, courant, layers)| {
                let of = |is_surface: bool, value: &dyn Fn(&Layer) -> f64| {
                    let own: Vec<String> = layers
                        .iter()
                        .filter(|layer| layer.is_surface == is_surface)
                        .map(|layer| digits(value(layer), 2))
                        .collect();
                    own.join(", ")
                };
                vec![
                    variants[*variant].about.to_owned(),
                    cell(*courant),
                    of(true, &|layer| layer.velocity_gradient),
                    of(false, &|layer| layer.velocity_gradient),
                    of(true, &|layer| layer.stretch),
                ]
            })
            .collect();
        let block_header = [
            "variant",
            "Courant number",
            "surface: largest ‖∇v‖ [1/s] over steps",
            "inside",
            "surface: largest ‖F − R‖",
        ];
        let mut steps: Vec<String> = Vec::new();
        if let Some((_, _, layers)) = self.blocks.first() {
            steps.extend(layers.iter().filter(|layer| layer.is_surface).map(|layer| layer.step.to_string()));
        }
        let material = variants[0].section().material;
        let kappa = feedback::stress_ratio(&material, 3);
        let limits = |transfer| {
            let [near, halfway] = SWEEP_OFFSETS
                .map(|offset| feedback::threshold(transfer, kappa, feedback::stiffness_of_place(offset)));
            format!("{near:.3} and {halfway:.3}")
        };
        format!(
            "\n## Feedback over the time step\n\n\
             A particle with the stress σ gives its nodes −Δt V σ ∇w/(w m), and gets ∇v = −(Δt/ρ) σ A back, A \
             = Σ ∇w ∇wᵀ/w. The splines' products make A diagonal, a(f)/h² on each axis, with a from 3 (on a \
             node) to 3.14. A node far out has the share 1.5 (offset) in a: its velocity, as ∇w/w, grows \
             without bound, but comes back multiplied by ∇w. So the gain does not depend on small masses. \
             Under equal strain ε along all axes, with C = c Δt/h and κ = (2μ + Dλ)/(λ + 2μ) = {kappa:.3}:\n\n\
             - PIC and FLIP keep no ∇v, and v is unchanged as Σ ∇w = 0, whatever their shares: ε' = (1 − κ C² \
             a) ε. Strain overshoots from κ C² a = 1 and grows, with alternating sign, from 2: C = {} at the \
             two offsets. Equal strain grows first, shear (κ = 2μ/(λ + 2μ)) later.\n\
             - APIC keeps c = Δt C: ε' = ε + c − κ C² a ε, c' = c − 3κ C² ε, which is stable up to κ C² = \
             4/(2a − 3): C = {}.\n\
             - MLS is the same with 3 for a: C = {}.\n\n\
             Measured of lone particles at rest, strained by 10⁻⁴ along all axes, |ε'/ε| a step; the largest \
             difference from theory is {worst:.1e}:\n\n{}\n\
             The remedies change no factor, as the theory has it: they leave rounding nothing to begin with. \
             The drift above, 5·10⁻³ h off, for other steps: largest ‖F − R‖, and in brackets its factor per \
             step where it grows beyond 10⁻⁴ before snow yields:\n\n{}\n\
             A block of 4³ cells, 8³ particles, in flight at {SPEED_M_S} m/s; largest values over its \
             outermost particles and the others at steps {}:\n\n{}",
            limits(Transfer::PicFlip),
            limits(Transfer::Apic),
            limits(Transfer::Mls),
            table(&header, &rows),
            table(&header, &from_rounding),
            steps.join(", "),
            table(&block_header, &blocks)
        )
    }
}

/// Returns the factor of a step in theory for a section, a Courant number, and an offset in cells.
fn theory(section: &Section, courant: f64, offset: f64) -> f64 {
    let gain = feedback::stress_ratio(&section.material, section.dimensions) * courant * courant;
    feedback::factor(section.transfer, gain, feedback::stiffness_of_place(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_begin_with_each_step_and_end_with_the_last() {
        let found = moments(100);
        assert_eq!(found[..5], [1, 2, 3, 4, 5]);
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]) && found.last() == Some(&100));
    }
}
