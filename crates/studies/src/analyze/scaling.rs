//! Effect of the mass and the number of particles and of the cell size (Breekveldt2017 sec 4.3).

use super::fit::{Line, power_law};
use super::lab::{Grain, Sample, cube, empty_space};
use super::report::{OwnPanel, Report, cell, digits, table};
use super::study::{Effort, Study};
use frazil_engine::Failure;
use frazil_report::{Mark, Scale, Series};
use frazil_scene::{InitialVolume, Mpm as Section};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

const HEADER: [&str; 7] =
    ["part", "ratio [1]", "n_particles [1]", "cell_size [m]", "quantity", "found [own]", "expected [own]"];

const DENSITY_KG_M3: f64 = 400.0;
const CELL_M: f64 = 0.01;
/// Side of the cube, in cells.
const SIDE_CELLS: f64 = 4.0;
/// Stress −τ_yy of F_E = diag(1, 0.975, 1) (Breekveldt2017 eq 4.2).
const STRESS_PA: f64 = 3791.6667;

/// Side in m of the cube that is weighed.
const WEIGHED_M: f64 = 0.08;
/// Share κ h/L by which an axis of a filled cube that ends on nodes weighs too little: the nodes about each
/// end hold 1/24, 1/2 and 23/24 of a cell, and what is weighed is their squares, n − κ = n − 3 + 2 Σ G².
const END_LOSS: f64 = 95.0 / 144.0;
/// Share of a lone particle's mass that it finds in the cell about a node: (Σ w²)³ = ½³.
const LONE_SHARE: f64 = 0.125;

/// Returns the mean density of a filled cube in kg/m³ as the grid weighs it, at h over its side.
fn weighed_kg_m3(ratio: f64) -> f64 {
    DENSITY_KG_M3 * (1.0 - END_LOSS * ratio).powi(3)
}

/// Effect of the stress of a compressed cube in one step.
struct Push {
    /// Mass of a particle relative to that of the first.
    mass_ratio: f64,
    n_particles: usize,
    /// Sum of the upward forces, in N.
    force_n: f64,
    /// Root mean square acceleration of particles, in m/s².
    acceleration_m_s2: f64,
    /// Acceleration of the centre of mass of the upper half, in m/s².
    upper_m_s2: f64,
}

/// Density of a cube of snow as estimated on the grid (eq 3.12, 3.13).
struct Estimate {
    n_a_side: u32,
    cell_size_m: f64,
    mean_kg_m3: f64,
    max_kg_m3: f64,
}

impl Estimate {
    /// Returns h over the side of the cube.
    fn ratio(&self) -> f64 {
        self.cell_size_m / WEIGHED_M
    }

    /// Returns true if cells hold three particles or more, and the cube has four cells or more along a side.
    fn is_filled(&self) -> bool {
        f64::from(self.n_a_side) * self.ratio() >= 1.5 && self.ratio() <= 0.26
    }
}

/// An exponent found, beside the expected one and its derivation.
struct Exponent {
    of: &'static str,
    found: Option<Line>,
    expected: f64,
    why: &'static str,
}

/// Returns the exponents of the study.
fn exponents(heavier: &[Push], more: &[Push], estimates: &[Estimate], lone: &[(f64, f64)]) -> Vec<Exponent> {
    let of = |pushes: &[Push], x: &dyn Fn(&Push) -> f64, y: &dyn Fn(&Push) -> f64| {
        power_law(&pushes.iter().map(|p| (x(p), y(p))).collect::<Vec<_>>())
    };
    let mass = |p: &Push| p.mass_ratio;
    let count = |p: &Push| p.n_particles as f64;
    let filled: Vec<&Estimate> = estimates.iter().filter(|e| e.is_filled()).collect();
    let missing = |mean: &dyn Fn(&Estimate) -> f64| {
        power_law(&filled.iter().map(|e| (e.ratio(), 1.0 - mean(e) / DENSITY_KG_M3)).collect::<Vec<_>>())
    };
    let exponent = |of, found, expected, why| Exponent { of, found, expected, why };
    vec![
        exponent("force over mass", of(heavier, &mass, &|p| p.force_n), 0.0, "f = −Σ V σ ∇w has no m"),
        exponent("velocity over mass", of(heavier, &mass, &|p| p.acceleration_m_s2), -1.0, "Δv = f Δt/m"),
        exponent("force over number", of(more, &count, &|p| p.force_n), 0.0, "V = V_cube/n, and Σ V is kept"),
        exponent("velocity over number", of(more, &count, &|p| p.upper_m_s2), 0.0, "Σ V and Σ m are kept"),
        exponent(
            "density of a lone particle over h",
            power_law(lone),
            -3.0,
            "Σ w (w m)/h³ = (Σ w²)³ m/h³ = m/(8 h³) on a node",
        ),
        exponent(
            "missing density of a cube over h",
            missing(&|e| e.mean_kg_m3),
            missing(&|e| weighed_kg_m3(e.ratio())).map_or(f64::NAN, |fit| fit.slope),
            "1 − (1 − κ h/L)³, κ = 95/144: 1 for h ≪ L, less where edges and corners are shared",
        ),
    ]
}

/// Runs the study of masses, counts and cell sizes (sec 4.3).
///
/// # Errors
/// A step has a fault, or the device lacks memory or was lost.
pub fn study(device: &Device, effort: Effort) -> Result<Report, Failure> {
    let heavier =
        [1.0, 2.0, 4.0, 8.0].iter().map(|ratio| push(device, 8, *ratio)).collect::<Result<Vec<_>, _>>()?;
    let counts: &[u32] = effort.choose(&[4, 8, 12], &[4, 8, 12, 16, 20]);
    let more = counts.iter().map(|n| push(device, *n, 1.0)).collect::<Result<Vec<_>, _>>()?;
    let (sizes, sides): (&[f64], &[u32]) = effort.choose(
        (&[0.01, 0.04 / 3.0, 0.02, 0.04], &[16]),
        (&[0.0025, 0.005, 0.01, 0.02, 0.04, 0.08], &[8, 16, 24]),
    );
    let mut estimates = Vec::new();
    for n in sides {
        for h in sizes {
            estimates.push(estimate(device, *n, *h)?);
        }
    }
    let lone: Vec<(f64, f64)> =
        sizes.iter().map(|h| Ok((*h, lone_density(device, *h)?))).collect::<Result<_, Failure>>()?;

    let mut rows = Vec::new();
    for (part, pushes) in [("heavier particles", &heavier), ("more particles", &more)] {
        for p in pushes {
            for (quantity, found) in [
                ("force [N]", p.force_n),
                ("rms acceleration [m/s^2]", p.acceleration_m_s2),
                ("acceleration of the upper half [m/s^2]", p.upper_m_s2),
            ] {
                rows.push(row(part, p.mass_ratio, p.n_particles, CELL_M, quantity, [found, f64::NAN]));
            }
        }
    }
    for e in &estimates {
        let expected = if e.is_filled() { weighed_kg_m3(e.ratio()) } else { f64::NAN };
        for (quantity, found) in [
            ("mean density [kg/m^3]", [e.mean_kg_m3, expected]),
            ("greatest density [kg/m^3]", [e.max_kg_m3, f64::NAN]),
        ] {
            rows.push(row("cell size", 1.0, (e.n_a_side as usize).pow(3), e.cell_size_m, quantity, found));
        }
    }
    for (h, density) in &lone {
        let expected = LONE_SHARE * lone_mass_kg() / h.powi(3);
        rows.push(row("lone particle", 1.0, 1, *h, "density [kg/m^3]", [*density, expected]));
    }
    let exponents = exponents(&heavier, &more, &estimates, &lone);
    for e in &exponents {
        let found = e.found.map_or(f64::NAN, |line| line.slope);
        rows.push(row("exponent", 1.0, 1, CELL_M, e.of, [found, e.expected]));
    }
    let slope = exponents[1].found.map_or(f64::NAN, |line| line.slope);
    Ok(Report {
        study: Study::Scaling,
        title: "Heavier particles, more particles, other cells (Breekveldt2017 sec 4.3)",
        header: &HEADER,
        rows,
        panels: panels(&heavier, &more, &estimates, &lone),
        scales: [Scale::Logarithmic; 2],
        more_plots: Vec::new(),
        page: page(&heavier, &more, &estimates, &exponents),
        summary: format!("scaling: force the same and velocity as mass to the {slope:.3}"),
    })
}

/// Returns a row; an expected value that is not a number is left out.
fn row(part: &str, ratio: f64, n: usize, h: f64, quantity: &str, found: [f64; 2]) -> Vec<String> {
    let [found, expected] = found.map(|x| if x.is_nan() { String::new() } else { cell(x) });
    vec![part.into(), cell(ratio), n.to_string(), cell(h), quantity.into(), found, expected]
}

/// Releases a cube of n³ particles that is compressed along y to the yield bound.
fn push(device: &Device, n: u32, mass_ratio: f64) -> Result<Push, Failure> {
    let section = Section::as_published(3, CELL_M);
    let side = SIDE_CELLS * CELL_M;
    let corner = DVec3::splat(6.0 * CELL_M);
    let squeezed = DMat3::from_diagonal(DVec3::new(1.0, 1.0 - section.material.critical_compression, 1.0));
    let grains: Vec<Grain> = cube(3, corner, side, n, DENSITY_KG_M3)
        .into_iter()
        .map(|grain| Grain { elastic: squeezed, mass_kg: mass_ratio * grain.mass_kg, ..grain })
        .collect();
    let space = empty_space([16.0 * CELL_M; 3]);
    let mut sample = Sample::strained(device, &section, 1e-4, space, &grains)?;
    sample.step(1)?;
    let force_n = sample.node_forces()?.iter().map(|force| force.y.max(0.0)).sum();
    let after = sample.grains()?;
    let dt_s = f64::from(sample.mpm.parameters().terms.dt_s);
    let squares: f64 = after.iter().map(|grain| grain.velocity_m_s.length_squared()).sum();
    let middle = corner.y + 0.5 * side;
    let upper: Vec<f64> =
        after.iter().filter(|grain| grain.position_m.y > middle).map(|grain| grain.velocity_m_s.y).collect();
    Ok(Push {
        mass_ratio,
        n_particles: after.len(),
        force_n,
        acceleration_m_s2: (squares / after.len() as f64).sqrt() / dt_s,
        upper_m_s2: upper.iter().sum::<f64>() / upper.len() as f64 / dt_s,
    })
}

/// Estimates the density of a cube of 8 cm with n³ particles with cells of side `h`.
fn estimate(device: &Device, n: u32, h: f64) -> Result<Estimate, Failure> {
    let grains = cube(3, DVec3::splat(0.04), WEIGHED_M, n, DENSITY_KG_M3);
    let densities = densities(device, h, &grains)?;
    Ok(Estimate {
        n_a_side: n,
        cell_size_m: h,
        mean_kg_m3: densities.iter().sum::<f64>() / densities.len() as f64,
        max_kg_m3: densities.iter().copied().fold(0.0, f64::max),
    })
}

/// Returns the mass of a particle of the coarsest cube.
fn lone_mass_kg() -> f64 {
    DENSITY_KG_M3 * (WEIGHED_M / 8.0).powi(3)
}

/// Returns the estimated density of a single particle of the coarsest cube on a node.
fn lone_density(device: &Device, h: f64) -> Result<f64, Failure> {
    let grain = Grain::new(DVec3::splat(2.0 * h), lone_mass_kg(), lone_mass_kg() / DENSITY_KG_M3);
    Ok(densities(device, h, &[grain])?[0])
}

fn densities(device: &Device, h: f64, grains: &[Grain]) -> Result<Vec<f64>, Failure> {
    let mut section = Section::as_published(3, h);
    section.initial_volume = InitialVolume::Grid;
    let sample = Sample::new(device, &section, 1e-4, empty_space([0.16_f64.max(4.0 * h); 3]), grains)?;
    Ok(sample.grains()?.iter().map(|grain| grain.mass_kg / grain.volume_m3).collect())
}

fn panels(heavier: &[Push], more: &[Push], estimates: &[Estimate], lone: &[(f64, f64)]) -> Vec<OwnPanel> {
    let first = &heavier[0];
    let relative = |label: &str, points: Vec<(f64, f64)>| Series::new(label, Mark::Points, points);
    let ratio =
        |p: &Push, reference: &Push| (p.force_n / reference.force_n, p.upper_m_s2 / reference.upper_m_s2);
    let last = heavier[heavier.len() - 1].mass_ratio;
    let per_cell = |p: &Push| p.n_particles as f64 / SIDE_CELLS.powi(3);
    let mut density: Vec<Series> = Vec::new();
    for e in estimates {
        let label = format!("{}³ particles", e.n_a_side);
        if density.last().is_none_or(|series| series.label != label) {
            density.push(Series::new(label, Mark::Line, Vec::new()));
        }
        if let Some(series) = density.last_mut() {
            series.points.push((e.cell_size_m, e.mean_kg_m3));
        }
    }
    density.push(Series::new("a lone particle", Mark::Dashes, lone.to_vec()));
    vec![
        OwnPanel {
            x_label: "mass of a particle, over the first [1]",
            y_label: "over the first [1]",
            series: vec![
                relative("force", heavier.iter().map(|p| (p.mass_ratio, ratio(p, first).0)).collect()),
                relative("velocity", heavier.iter().map(|p| (p.mass_ratio, ratio(p, first).1)).collect()),
                Series::new("1/m", Mark::Dashes, vec![(1.0, 1.0), (last, 1.0 / last)]),
            ],
        },
        OwnPanel {
            x_label: "particles a cell [1]",
            y_label: "over the first [1]",
            series: vec![
                relative("force", more.iter().map(|p| (per_cell(p), ratio(p, &more[0]).0)).collect()),
                relative("velocity", more.iter().map(|p| (per_cell(p), ratio(p, &more[0]).1)).collect()),
            ],
        },
        OwnPanel { x_label: "cell size [m]", y_label: "density by the grid [kg/m³]", series: density },
    ]
}

fn page(heavier: &[Push], more: &[Push], estimates: &[Estimate], exponents: &[Exponent]) -> String {
    let pushes = |pushes: &[Push], first: &str, of: &dyn Fn(&Push) -> String| {
        let rows: Vec<Vec<String>> = pushes
            .iter()
            .map(|p| {
                vec![of(p), digits(p.force_n, 6), digits(p.upper_m_s2, 5), digits(p.acceleration_m_s2, 5)]
            })
            .collect();
        table(&[first, "force up [N]", "acceleration of the upper half [m/s²]", "rms of all [m/s²]"], &rows)
    };
    let cross_section = (SIDE_CELLS * CELL_M).powi(2);
    let spread = |of: &dyn Fn(&Push) -> f64| {
        let values = more.iter().map(of);
        let (min, max) = values.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), v| (a.min(v), b.max(v)));
        100.0 * (max / min - 1.0)
    };
    let exponent = exponents[1].found.map_or("–".into(), shown);
    let lone_exponent = exponents[4].found.map_or("–".into(), shown);
    let exponent_rows: Vec<Vec<String>> = exponents
        .iter()
        .map(|e| {
            let found = e.found.map_or("–".into(), shown);
            vec![e.of.to_owned(), found, digits(e.expected, 4), e.why.to_owned()]
        })
        .collect();
    let rows: Vec<Vec<String>> = estimates
        .iter()
        .map(|e| {
            let per_cell = (f64::from(e.n_a_side) * e.ratio()).powi(3);
            let expected = if e.is_filled() { digits(weighed_kg_m3(e.ratio()), 4) } else { "–".to_owned() };
            vec![
                cell(e.cell_size_m),
                e.n_a_side.pow(3).to_string(),
                digits(per_cell, 3),
                digits(e.mean_kg_m3, 4),
                expected,
                digits(e.max_kg_m3, 4),
            ]
        })
        .collect();
    let header = [
        "h [m]",
        "particles",
        "particles a cell",
        "mean density [kg/m³]",
        "ρ₀ (1 − κ h/L)³",
        "maximum [kg/m³]",
    ];
    let worst = estimates
        .iter()
        .filter(|e| e.is_filled())
        .fold(0.0, |max: f64, e| max.max((e.mean_kg_m3 / weighed_kg_m3(e.ratio()) - 1.0).abs()));
    format!(
        "A cube of snow ({DENSITY_KG_M3} kg/m³, {SIDE_CELLS} cells of {CELL_M} m a side, in space) is \
         squeezed to F_E = diag(1, 0.975, 1) and let go without gravity; what its stress does in one step \
         is compared.\n\n\
         ## Heavier particles\n\n\
         Mass times 1, 2, 4, 8 at the same volume. The paper: the same force, and so a velocity as 1/m. \
         Found: the acceleration goes as the mass to the {exponent}.\n\n{}\n\
         ## More particles\n\n\
         The same cube in more particles, each with its share of mass and volume. The paper: the same \
         force from all, the same velocity. Found: forces within {:.4} % of one another, each τ_yy times \
         the cube's cross-section, {:.4} N, and velocities of the upper half within {:.2} %, since \
         particles sample the same field elsewhere.\n\n{}\n\
         ## Another cell size\n\n\
         A cube of 8 cm weighed by the grid about it (eq 3.12 to 3.14, `initial_volume = \"grid\"`). The \
         paper: the density of a particle depends on the cell size, and so do all forces, since f goes with \
         V and gravity with m. Found: it does, at both ends. Where cells are much smaller than the \
         distance of particles, each particle is alone and its density goes as h to the {lone_exponent}, \
         whatever the snow is; where they are larger than the body, its mass is spread over cells that it \
         does not fill. The mean of a cube of filled cells, four or more along a side, is ρ₀ (1 − κ h/L)³ \
         with κ = 95/144, within {:.2} %: the surface is smeared over empty nodes.\n\n{}\n\
         `initial_volume = \"sampled\"` takes the volume that a particle was sampled from, and so has \
         {DENSITY_KG_M3} kg/m³ exactly with any cell and any count: the coupling that the paper warns of \
         is a matter of how volumes are set, not of the method.\n\n\
         ## Exponents\n\n{}",
        pushes(heavier, "mass ratio", &|p| cell(p.mass_ratio)),
        spread(&|p| p.force_n),
        STRESS_PA * cross_section,
        spread(&|p| p.upper_m_s2),
        pushes(more, "particles a cell", &|p| digits(p.n_particles as f64 / SIDE_CELLS.powi(3), 3)),
        100.0 * worst,
        table(&header, &rows),
        table(&["of", "found", "expected", "derivation"], &exponent_rows)
    )
}

fn shown(line: Line) -> String {
    // Without the sign of a rounded zero.
    let line = Line { slope: if line.slope.abs() < 5e-5 { 0.0 } else { line.slope }, ..line };
    let error = line.slope_error;
    if error < 1e-4 {
        format!("{:.4} ± <1e-4", line.slope)
    } else {
        format!("{:.4} ± {error:.4}", line.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrates the cubic spline about a node at the end of a filled axis, numerically.
    #[test]
    fn the_loss_at_an_end_is_that_of_the_spline() {
        let spline = |x: f64| {
            let r = x.abs();
            ((2.0 - r).max(0.0).powi(3) - 4.0 * (1.0 - r).max(0.0).powi(3)) / 6.0
        };
        let n = 20_000;
        let held = |node: f64| -> f64 {
            let width = 8.0 / f64::from(n);
            (0..n).map(|k| width * spline((f64::from(k) + 0.5) * width - node)).sum()
        };
        let lost: f64 =
            (-2..4).map(|node| f64::from(u8::from(node > 0)) - held(f64::from(node)).powi(2)).sum();
        // Of the node on each end, half belongs to the axis.
        assert!((2.0 * (lost + 0.5) - END_LOSS).abs() < 1e-6, "{lost}");
    }
}
