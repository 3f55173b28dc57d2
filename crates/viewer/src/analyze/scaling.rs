//! Effect of the mass and the number of particles and of the cell size (Breekveldt2017 sec 4.3).

use super::fit::{Line, line, power_law};
use super::lab::{Grain, Sample, cube, empty_space};
use super::report::{OwnPanel, Report, cell, digits, table};
use super::study::{Effort, Study};
use crate::failure::Failure;
use frazil_report::{Mark, Scale, Series};
use frazil_scene::{InitialVolume, Mpm as Section};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

const HEADER: [&str; 6] =
    ["part", "ratio [1]", "n_particles [1]", "cell_size [m]", "quantity", "found [own]"];

const DENSITY_KG_M3: f64 = 400.0;
const CELL_M: f64 = 0.01;
/// Side of the cube, in cells.
const SIDE_CELLS: f64 = 4.0;
/// Stress −τ_yy of F_E = diag(1, 0.975, 1) (Breekveldt2017 eq 4.2).
const STRESS_PA: f64 = 3791.6667;

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

/// Runs the study.
pub fn study(device: &Device, effort: Effort) -> Result<Report, Failure> {
    let heavier =
        [1.0, 2.0, 4.0, 8.0].iter().map(|ratio| push(device, 8, *ratio)).collect::<Result<Vec<_>, _>>()?;
    let counts: &[u32] = effort.choose(&[4, 8, 12], &[4, 8, 12, 16, 20]);
    let more = counts.iter().map(|n| push(device, *n, 1.0)).collect::<Result<Vec<_>, _>>()?;
    let (sizes, sides): (&[f64], &[u32]) =
        effort.choose((&[0.01, 0.02, 0.04], &[8]), (&[0.0025, 0.005, 0.01, 0.02, 0.04, 0.08], &[8, 16, 24]));
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
                rows.push(row(part, p.mass_ratio, p.n_particles, CELL_M, quantity, found));
            }
        }
    }
    for e in &estimates {
        for (quantity, found) in
            [("mean density [kg/m^3]", e.mean_kg_m3), ("greatest density [kg/m^3]", e.max_kg_m3)]
        {
            rows.push(row("cell size", 1.0, (e.n_a_side as usize).pow(3), e.cell_size_m, quantity, found));
        }
    }
    for (h, density) in &lone {
        rows.push(row("lone particle", 1.0, 1, *h, "density [kg/m^3]", *density));
    }
    let exponent =
        power_law(&heavier.iter().map(|p| (p.mass_ratio, p.acceleration_m_s2)).collect::<Vec<_>>());
    let slope = exponent.map_or(f64::NAN, |line| line.slope);
    Ok(Report {
        study: Study::Scaling,
        title: "Heavier particles, more particles, other cells (Breekveldt2017 sec 4.3)",
        header: &HEADER,
        rows,
        panels: panels(&heavier, &more, &estimates, &lone),
        scales: [Scale::Logarithmic; 2],
        more_plots: Vec::new(),
        page: page(&heavier, &more, &estimates, &lone, exponent),
        summary: format!("scaling: force the same and velocity as mass to the {slope:.3}"),
    })
}

fn row(part: &str, ratio: f64, n: usize, h: f64, quantity: &str, found: f64) -> Vec<String> {
    vec![part.into(), cell(ratio), n.to_string(), cell(h), quantity.into(), cell(found)]
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
    let side = 0.08;
    let grains = cube(3, DVec3::splat(0.04), side, n, DENSITY_KG_M3);
    let densities = densities(device, h, &grains)?;
    Ok(Estimate {
        n_a_side: n,
        cell_size_m: h,
        mean_kg_m3: densities.iter().sum::<f64>() / densities.len() as f64,
        max_kg_m3: densities.iter().copied().fold(0.0, f64::max),
    })
}

/// Returns the estimated density of a single particle of the coarsest cube on a node.
fn lone_density(device: &Device, h: f64) -> Result<f64, Failure> {
    let volume = (0.08_f64 / 8.0).powi(3);
    let grain = Grain::new(DVec3::splat(2.0 * h), DENSITY_KG_M3 * volume, volume);
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

fn page(
    heavier: &[Push],
    more: &[Push],
    estimates: &[Estimate],
    lone: &[(f64, f64)],
    exponent: Option<Line>,
) -> String {
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
    let exponent = exponent.map_or("–".into(), shown);
    let rows: Vec<Vec<String>> = estimates
        .iter()
        .map(|e| {
            let per_cell = (f64::from(e.n_a_side) * e.cell_size_m / 0.08).powi(3);
            vec![
                cell(e.cell_size_m),
                e.n_a_side.pow(3).to_string(),
                digits(per_cell, 3),
                digits(e.mean_kg_m3, 4),
                digits(e.max_kg_m3, 4),
            ]
        })
        .collect();
    let header = ["h [m]", "particles", "particles a cell", "mean density [kg/m³]", "maximum [kg/m³]"];
    // The error at the surface depends on the width of the cube in cells.
    let filled =
        |e: &&Estimate| f64::from(e.n_a_side) * e.cell_size_m / 0.08 >= 1.0 && e.cell_size_m <= 0.021;
    let deficit: Vec<(f64, f64)> = estimates
        .iter()
        .filter(filled)
        .map(|e| (e.cell_size_m / 0.08, 1.0 - e.mean_kg_m3 / DENSITY_KG_M3))
        .collect();
    let deficit = line(&deficit).map_or(String::new(), |found| {
        format!(
            " Where cells are filled (a particle a cell or more) and the cube is four cells across or \
             more, the missing share of the mean is {:.2} ± {:.2} times h over the side, {:+.2} at 0: it \
             is the surface, whose mass is smeared over empty nodes.",
            found.slope, found.slope_error, found.intercept
        )
    });
    let lone_exponent = power_law(lone).map_or("–".into(), shown);
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
         does not fill.{deficit}\n\n{}\n\
         `initial_volume = \"sampled\"` takes the volume that a particle was sampled from, and so has \
         {DENSITY_KG_M3} kg/m³ exactly with any cell and any count: the coupling that the paper warns of \
         is a matter of how volumes are set, not of the method.\n",
        pushes(heavier, "mass ratio", &|p| cell(p.mass_ratio)),
        spread(&|p| p.force_n),
        STRESS_PA * cross_section,
        spread(&|p| p.upper_m_s2),
        pushes(more, "particles a cell", &|p| digits(p.n_particles as f64 / SIDE_CELLS.powi(3), 3)),
        table(&header, &rows)
    )
}

fn shown(line: Line) -> String {
    let error = line.slope_error;
    if error < 1e-4 {
        format!("{:.4} ± <1e-4", line.slope)
    } else {
        format!("{:.4} ± {error:.4}", line.slope)
    }
}
