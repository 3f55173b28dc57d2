//! Strain over the Courant number: its growth by feedback in a lone particle and in a block, measured and in
//! theory, and the strain that rounding alone makes, for each variant of the step.

use super::feedback::{self, Grown, Growth, Layer};
use super::report::{OwnPanel, cell, digits, table};
use super::study::Effort;
use super::variants::{SPEED_M_S, Variant};
use frazil_engine::Failure;
use frazil_report::{Mark, Series};
use frazil_scene::{Mpm as Section, Transfer};
use frazil_vk::Device;

/// Offset of the particles of the sweep in cells, and halfway between nodes.
const SWEEP_OFFSETS: [f64; 2] = [5e-3, 0.5];

/// Courant numbers of the strained block, about the limit of a body.
const BODY_COURANTS: [f64; 10] = [0.5, 0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.6];

/// Growth per step above which the strain of a particle and of a body count as growing: oscillations of what
/// keeps ∇v move the fits by less.
const PARTICLE_GROWS: f64 = 1.005;
const BODY_GROWS: f64 = 1.02;

/// Factor per step at a Courant number.
struct Point {
    variant: usize,
    courant: f64,
    offset: f64,
    measured: Option<f64>,
    theory: f64,
}

/// Behaviour over the Courant number.
pub struct Sweep {
    /// Particles that are strained at the start.
    strained: Vec<Point>,
    /// Particles that rounding alone strains, by variant and Courant number.
    drifting: Vec<(usize, f64, Grown)>,
    /// A block in flight, by variant and Courant number.
    blocks: Vec<(usize, f64, Vec<Layer>)>,
    /// A strained block at rest, by variant and Courant number.
    bodies: Vec<(usize, f64, Growth)>,
}

impl Sweep {
    pub fn run(device: &Device, variants: &[Variant], effort: Effort) -> Result<Self, Failure> {
        let courants: Vec<f64> = effort
            .choose(&[8_u32, 16][..], &[1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22][..])
            .iter()
            .map(|twentieths| f64::from(*twentieths) / 20.0)
            .collect();
        let mut sweep =
            Self { strained: Vec::new(), drifting: Vec::new(), blocks: Vec::new(), bodies: Vec::new() };
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
            if !["as_printed", "both", "cutoff_large", "apic", "mls", "default"].contains(&variant.name) {
                continue;
            }
            let courants: &[f64] = effort.choose(&[0.5, 1.2][..], &BODY_COURANTS[..]);
            for courant in courants {
                let steps = effort.choose(24, 64);
                let growth = feedback::strained_block(device, &section, *courant, SWEEP_OFFSETS[0], steps)?;
                sweep.bodies.push((number, *courant, growth));
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

    pub fn rows(&self, variants: &[Variant]) -> Vec<Vec<String>> {
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
        for (variant, courant, growth) in &self.bodies {
            for (part, factor) in
                [("strained block surface", growth.surface), ("strained block inside", growth.inside)]
            {
                let mut numbers = [None; 10];
                [numbers[0], numbers[1]] = [Some(*courant), Some(SWEEP_OFFSETS[0])];
                numbers[8] = Some(factor).filter(|factor| !factor.is_nan());
                add(part, *variant, numbers);
            }
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

    pub fn panels(&self, variants: &[Variant]) -> Vec<OwnPanel> {
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
        let is_flip = |number: &usize| variants[*number].is_flip();
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
        let mut body = vec![one()];
        for (number, variant) in variants.iter().enumerate() {
            let of = self.bodies.iter().filter(|(v, _, _)| *v == number);
            let points: Vec<(f64, f64)> = of.map(|(_, c, growth)| (*c, growth.surface)).collect();
            if !points.is_empty() {
                body.push(Series::new(format!("surface of a block, {}", variant.about), Mark::Line, points));
            }
        }
        let panel = |series| OwnPanel {
            x_label: "Courant number [1]",
            y_label: "growth of strain per step [1]",
            series,
        };
        vec![panel(flip), panel(affine), panel(body)]
    }

    /// Returns the Courant number from which the strain of a lone particle grows, or the largest measured.
    fn limit(&self, variant: usize, offset: f64) -> String {
        let own = self.strained.iter().filter(|p| p.variant == variant && p.offset == offset);
        limit(&own.filter_map(|p| Some((p.courant, p.measured?))).collect::<Vec<_>>(), PARTICLE_GROWS)
    }

    /// Returns the Courant number from which the strain of a block's surface grows.
    fn body_limit(&self, variant: usize) -> String {
        let own = self.bodies.iter().filter(|(v, _, _)| *v == variant);
        limit(&own.map(|(_, c, growth)| (*c, growth.surface)).collect::<Vec<_>>(), BODY_GROWS)
    }

    fn bodies_table(&self, variants: &[Variant]) -> String {
        let mut courants: Vec<f64> = self.bodies.iter().map(|(_, c, _)| *c).collect();
        courants.sort_by(f64::total_cmp);
        courants.dedup();
        let mut header = vec!["variant".to_owned()];
        header.extend(courants.iter().map(|c| format!("C = {c}")));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (number, variant) in variants.iter().enumerate() {
            let own = self.bodies.iter().filter(|(v, _, _)| *v == number);
            let cells: Vec<String> = own
                .map(|(_, _, g)| match g.surface.is_nan() {
                    true => "–".to_owned(),
                    false => format!("{:.2} / {:.2} ({})", g.surface, g.inside, digits(g.ratio, 2)),
                })
                .collect();
            if !cells.is_empty() {
                rows.push([vec![variant.about.to_owned()], cells].concat());
            }
        }
        table(&header, &rows)
    }

    /// Returns the table of the remedies, before and after, and which of them removes the feedback.
    fn remedies(&self, variants: &[Variant]) -> String {
        let rows: Vec<Vec<String>> = variants
            .iter()
            .enumerate()
            .map(|(number, variant)| {
                let section = variant.section();
                let kappa = feedback::stress_ratio(&section.material, section.dimensions);
                let of_particle = SWEEP_OFFSETS.map(|offset| {
                    let a = feedback::stiffness(&section, offset);
                    let theory = feedback::threshold(section.transfer, kappa, a);
                    format!("{} ({theory:.2})", self.limit(number, offset))
                });
                let rounding = |is_below: bool| {
                    let own =
                        self.drifting.iter().filter(|(v, c, _)| *v == number && (*c < 0.66) == is_below);
                    digits(own.fold(0.0, |max: f64, (_, _, grown)| max.max(grown.largest_stretch)), 2)
                };
                let [near, halfway] = of_particle;
                vec![
                    variant.about.to_owned(),
                    rounding(true),
                    rounding(false),
                    near,
                    halfway,
                    self.body_limit(number),
                ]
            })
            .collect();
        let header = [
            "variant",
            "largest ‖F − R‖ by rounding, C < 0.66",
            "above",
            "limit of a lone particle near a node (theory)",
            "halfway",
            "limit of a block's surface",
        ];
        format!(
            "The gain of the loop is a property of the time step. Courant numbers from which strain \
             grows:\n\n{}\n\
             - **Clamping** (factored weights, strain floor) leaves the limit where it is, and removes what \
             the loop begins with: both together leave nothing at any C.\n\
             - **A mass cut-off** (`node_mass_cutoff`: lighter nodes take no stress) of 10⁻⁶ of a cell \
             removes the almost massless nodes that the paper blames, and changes nothing. One that is large \
             enough to move the limit takes stress from nodes that carry it: forces no longer sum to 0, and \
             momentum is lost. It is off by default.\n\
             - **APIC and MLS** raise both limits, that of a lone particle to about that of a block in PIC \
             and FLIP, and keep spin that rounding makes.\n\
             - The **time step** removes the feedback: below the limit of a lone particle strain grows in no \
             variant. `dt = \"auto\"` takes C = 0.5.\n\
             - **Surface cells of a block** are not like lone particles: their particles share nodes with \
             those inside. What grows beyond the block's own limit is largest at the surface, and grows \
             inside as fast.\n",
            table(&header, &rows)
        )
    }

    pub fn page(&self, variants: &[Variant]) -> String {
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
            for (variant, name) in [
                ("as_printed", "PIC/FLIP"),
                ("cutoff_large", "cut-off 1e-3"),
                ("apic", "APIC"),
                ("mls", "MLS"),
            ] {
                let Some(variant) = variants.iter().find(|known| known.name == variant) else { continue };
                let section = variant.section();
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
             A particle with the stress σ gives its nodes −Δt V σ ∇w/(w m), and gets ∇v = −(Δt/ρ) σ A back, \
             A = Σ ∇w ∇wᵀ/w. The splines' products make A diagonal, a(f)/h² on each axis, with a from 3 (on \
             a node) to 3.14. A node far out has the share 1.5 (offset) in a: its velocity, as ∇w/w, grows \
             without bound, but comes back multiplied by ∇w. So the gain does not depend on small masses. \
             Under equal strain ε along all axes, with C = c Δt/h and κ = (2μ + Dλ)/(λ + 2μ) = \
             {kappa:.3}:\n\n\
             - PIC and FLIP keep no ∇v, and v is unchanged as Σ ∇w = 0, whatever their shares: ε' = (1 − κ \
             C² a) ε. Strain overshoots from κ C² a = 1 and grows, with alternating sign, from 2: C = {} at \
             the two offsets. Equal strain grows first, shear (κ = 2μ/(λ + 2μ)) later.\n\
             - APIC keeps c = Δt C: ε' = ε + c − κ C² a ε, c' = c − 3κ C² ε, which is stable up to κ C² = \
             4/(2a − 3): C = {}.\n\
             - MLS is the same with 3 for a: C = {}.\n\n\
             Measured of lone particles at rest, strained by 10⁻⁴ along all axes, |ε'/ε| a step; the largest \
             difference from theory is {worst:.1e}:\n\n{}\n\
             The drift above, 5·10⁻³ h off, for other steps: largest ‖F − R‖, and in brackets its factor per \
             step where it grows beyond 10⁻⁴ before snow yields:\n\n{}\n\
             A block of 4³ cells, 8³ particles, in flight at {SPEED_M_S} m/s; largest values over its \
             outermost particles and the others at steps {}:\n\n{}\n\
             The same block at rest, elastic, all of its particles strained differently by up to 10⁻⁵; \
             growth of the largest ‖F − R‖ per step, of the surface / inside, and of the surface over that \
             inside at the end:\n\n{}\n\
             ## Each remedy\n\n{}",
            limits(Transfer::PicFlip),
            limits(Transfer::Apic),
            limits(Transfer::Mls),
            table(&header, &rows),
            table(&header, &from_rounding),
            steps.join(", "),
            table(&block_header, &blocks),
            self.bodies_table(variants),
            self.remedies(variants)
        )
    }
}

/// Returns the abscissa at which points first exceed a bound from below, by linear interpolation.
fn crossing(points: &[(f64, f64)], bound: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| pair[0].1 <= bound && pair[1].1 > bound)?;
    let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
    Some(x0 + (bound - y0) / (y1 - y0) * (x1 - x0))
}

/// Returns the limit that points show, or the largest abscissa if they stay below the bound.
fn limit(points: &[(f64, f64)], bound: f64) -> String {
    match (crossing(points, bound), points.last()) {
        (Some(limit), _) => format!("{limit:.2}"),
        (None, Some((last, _))) => format!("> {last:.2}"),
        (None, None) => "–".to_owned(),
    }
}

/// Returns the factor of a step in theory for a section, a Courant number, and an offset in cells.
fn theory(section: &Section, courant: f64, offset: f64) -> f64 {
    let gain = feedback::stress_ratio(&section.material, section.dimensions) * courant * courant;
    feedback::factor(section.transfer, gain, feedback::stiffness(section, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_is_interpolated() {
        assert_eq!(crossing(&[(0.0, 0.5), (1.0, 1.5), (2.0, 0.0)], 1.0), Some(0.5));
        assert_eq!(crossing(&[(0.0, 0.5), (1.0, 0.8)], 1.0), None);
        assert_eq!(limit(&[(0.0, 0.5), (1.0, 0.8)], 1.0), "> 1.00");
    }
}
