//! Limits of the parameters (Breekveldt2017 sec 4.2): maximum stress, hardening, the stable time step, and
//! the tipping density.

use super::lab::{Grain, Sample, cube, empty_space};
use super::modulus::{self, Packed};
use super::report::{ExtraPlot, OwnPanel, Report, cell, digits, table};
use super::resting::{self, Resting};
use super::study::{Effort, Study};
use super::tipping::{self, Tipping, tipping};
use frazil_engine::Failure;
use frazil_report::{Mark, Scale, Series};
use frazil_scene::{Material, Mpm as Section};
use frazil_vk::Device;
use glam::{DMat3, DVec3};

const HEADER: [&str; 7] =
    ["part", "parameter [1]", "value [own]", "at [own]", "quantity", "found [own]", "formula [own]"];

/// Runs the study of limits (sec 4.2).
///
/// # Errors
/// A step has a fault, or the device lacks memory or was lost.
pub fn study(device: &Device, effort: Effort) -> Result<Report, Failure> {
    let mut rows = Vec::new();
    let clamped = stresses(device, effort)?;
    for c in &clamped {
        rows.push(c.row());
    }
    let curves = hardening(device, effort)?;
    for (xi, points) in &curves {
        for (j, found) in points {
            let exact = (xi * (1.0 - j)).exp();
            rows.push(row("hardening", "xi [1]", *xi, *j, "stress over that at J_P = 1 [1]", *found, exact));
        }
    }
    let waves = stable_steps(device, effort)?;
    for w in &waves {
        rows.push(w.row());
    }
    let cells: &[f64] = effort.choose(&[1.0, 0.01], &[1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]);
    let tipped = cells.iter().map(|h| tipping(device, *h)).collect::<Result<Vec<Tipping>, _>>()?;
    for t in &tipped {
        let h = t.cell_size_m;
        let exact = tipping::expected_density(h);
        rows.push(row(
            "tipping",
            "h [m]",
            h,
            h,
            "force of the upper layer f h/V [Pa]",
            t.force_pa,
            tipping::CORRECT_PA,
        ));
        rows.push(row("tipping", "h [m]", h, h, "tipping density [kg/m^3]", t.density_kg_m3, exact));
    }
    let material = Material::default();
    let rested = rested(device, effort)?;
    for r in &rested {
        rows.extend(resting_rows(r));
    }
    let packed = modulus::packed(device, effort)?;
    for p in &packed {
        rows.extend(modulus_rows(p, &material));
    }
    let page = page(&clamped, &curves, &waves)
        + &modulus::page(&packed)
        + "\n"
        + &tipping::page(&tipped, material.density_kg_m3)
        + &resting::page(&rested, tipping::PRINTED_KG_M3);
    let summary = format!(
        "limits: tipping density {:.1}/h kg/m³ ({:.2} V/h carries it), where Breekveldt2017 prints {} kg/m³",
        tipped[0].density_kg_m3 * tipped[0].cell_size_m,
        tipped[0].force_pa,
        tipping::PRINTED_KG_M3
    );
    Ok(Report {
        study: Study::Limits,
        title: "How far the parameters of snow may go (Breekveldt2017 sec 4.2)",
        header: &HEADER,
        rows,
        panels: panels(&curves, &tipped),
        scales: [Scale::Linear, Scale::Logarithmic],
        more_plots: vec![
            ExtraPlot {
                name: "modulus",
                title: "Moduli of snow over its density (Breekveldt2017 fig 4.4)",
                panels: modulus::panels(&packed),
                scales: [Scale::Linear, Scale::Logarithmic],
            },
            ExtraPlot {
                name: "rest",
                title: "Plastic blocks of several cells at rest",
                panels: resting_panels(&rested),
                scales: [Scale::Linear; 2],
            },
        ],
        page,
        summary,
    })
}

/// Cell size in m and height in cells of the resting blocks: a lone layer tips at 231.9 kg/m³ on the first.
const REST_CELLS: (f64, u32) = (1.0, 4);
const FINE_REST_CELLS: (f64, u32) = (0.5, 8);

/// Lets blocks of densities below and above the tipping density rest.
fn rested(device: &Device, effort: Effort) -> Result<Vec<Resting>, Failure> {
    let tipping = tipping::expected_density(REST_CELLS.0);
    let densities = effort.choose(
        vec![0.5 * tipping, 2.0 * tipping],
        vec![50.0, 100.0, 200.0, 0.99 * tipping, 1.01 * tipping, 400.0, 800.0],
    );
    let mut cases: Vec<((f64, u32), f64)> =
        densities.into_iter().map(|density| (REST_CELLS, density)).collect();
    if !effort.smoke {
        cases.push((FINE_REST_CELLS, 400.0));
    }
    cases.into_iter().map(|((h, cells), density)| resting::resting(device, h, cells, density)).collect()
}

fn resting_rows(r: &Resting) -> Vec<Vec<String>> {
    let row = |quantity, [found, exact]: [f64; 2]| {
        row("resting", "density [kg/m^3]", r.density_kg_m3, r.cell_size_m, quantity, found, exact)
    };
    vec![
        row("height over that without gravity [1]", r.height),
        row("lowest J_P [1]", r.lowest),
        row("share that yields [1]", r.yielded),
        row("motion in a period over the height [1]", [r.creep, 0.0]),
    ]
}

fn resting_panels(rested: &[Resting]) -> Vec<OwnPanel> {
    let mut series = Vec::new();
    // Those about the tipping density lie on one another.
    let is_about =
        |r: &&Resting| (r.density_kg_m3 / tipping::expected_density(r.cell_size_m) - 1.0).abs() < 0.05;
    for r in rested.iter().filter(|r| !is_about(r)) {
        let label = format!("{:.0} kg/m³, h = {} m", r.density_kg_m3, r.cell_size_m);
        series.push(Series::new(&*label, Mark::Points, r.profile.clone()));
        let material = Material { density_kg_m3: r.density_kg_m3, ..Material::default() };
        let points = (0..=100).map(|k| {
            let depth = r.height_m * f64::from(k) / 100.0;
            let load = r.density_kg_m3 * tipping::GRAVITY_M_S2 * depth;
            (depth, resting::state(&material, load).plastic_volume)
        });
        series.push(Series::new(format!("{label}, theory"), Mark::Line, points.collect()));
    }
    vec![OwnPanel { x_label: "depth without gravity [m]", y_label: "plastic volume ratio J_P [1]", series }]
}

fn modulus_rows(p: &Packed, material: &Material) -> Vec<Vec<String>> {
    let row = |quantity: &str, found, exact| {
        row("modulus", "density [kg/m^3]", p.density_kg_m3, p.plastic_volume, quantity, found, exact)
    };
    let mut rows = vec![
        row("Young's modulus [Pa]", p.youngs_modulus_pa, modulus::formula_pa(material, p.density_kg_m3)),
        row("Poisson's ratio [1]", p.poissons_ratio, material.poissons_ratio),
    ];
    rows.extend(modulus::FITS.iter().map(|fit| {
        let quantity = format!("Young's modulus beside {} [Pa]", fit.key);
        row(&quantity, p.youngs_modulus_pa, (fit.pa)(p.density_kg_m3))
    }));
    rows
}

fn row(
    part: &str,
    parameter: &str,
    value: f64,
    at: f64,
    quantity: &str,
    found: f64,
    exact: f64,
) -> Vec<String> {
    vec![part.into(), parameter.into(), cell(value), cell(at), quantity.into(), cell(found), cell(exact)]
}

/// Maximum stress that a bound on singular values permits.
struct Clamped {
    bound: &'static str,
    theta: f64,
    uniaxial_pa: f64,
    isotropic_pa: f64,
    exact_pa: [f64; 2],
}

impl Clamped {
    fn row(&self) -> Vec<String> {
        row("clamp", self.bound, self.theta, 1.0, "uniaxial stress [Pa]", self.uniaxial_pa, self.exact_pa[0])
    }
}

/// Compresses and stretches single particles far beyond their yield bounds, and reads their stress.
fn stresses(device: &Device, effort: Effort) -> Result<Vec<Clamped>, Failure> {
    let compressions: &[f64] = effort.choose(&[2.5e-2], &[1e-3, 5e-3, 1e-2, 1.9e-2, 2.5e-2, 5e-2, 0.1, 0.2]);
    let stretches: &[f64] = effort.choose(&[7.5e-3], &[1e-3, 5e-3, 7.5e-3, 1e-2, 2.5e-2, 5e-2]);
    let mut found = Vec::new();
    for (bound, thetas, sign) in [("theta_c [1]", compressions, -1.0), ("theta_s [1]", stretches, 1.0)] {
        for theta in thetas {
            let mut section = Section::as_published(3, 0.01);
            let material = &mut section.material;
            // The excess strain hardens or softens the particle, which is not studied here.
            material.hardening = 0.0;
            (material.critical_compression, material.critical_stretch) = (*theta, *theta);
            let (mu, lambda) = material.lame_pa();
            let volume = 1e-6;
            let beyond = 1.0 + sign * 0.5;
            let strained = |x: f64, diagonal: DVec3| Grain {
                elastic: DMat3::from_diagonal(diagonal),
                ..Grain::new(DVec3::new(x, 0.08, 0.08), 400.0 * volume, volume)
            };
            let grains = [strained(0.08, DVec3::new(1.0, beyond, 1.0)), strained(0.24, DVec3::splat(beyond))];
            let sample = Sample::strained(device, &section, 1e-4, empty_space([0.32, 0.16, 0.16]), &grains)?;
            let stress: Vec<f64> =
                sample.grains()?.iter().map(|grain| grain.stress.y_axis.y / volume).collect();
            let sigma = 1.0 + sign * theta;
            let exact = |j: f64| 2.0 * mu * (sigma - 1.0) * sigma + lambda * (j - 1.0) * j;
            found.push(Clamped {
                bound,
                theta: *theta,
                uniaxial_pa: stress[0],
                isotropic_pa: stress[1],
                exact_pa: [exact(sigma), exact(sigma.powi(3))],
            });
        }
    }
    Ok(found)
}

/// Pairs of J_P and the factor on the stress of a given strain, for each ξ.
type Curves = Vec<(f64, Vec<(f64, f64)>)>;

fn hardening(device: &Device, effort: Effort) -> Result<Curves, Failure> {
    let (xis, n): (&[f64], u32) = effort.choose((&[10.0], 3), (&[2.0, 5.0, 10.0, 15.0, 20.0], 13));
    let mut curves = Vec::new();
    for xi in xis {
        let mut section = Section::as_published(3, 0.01);
        section.material.hardening = *xi;
        let volume = 1e-6;
        let plastic: Vec<f64> = (0..n).map(|k| 0.7 + 0.6 * f64::from(k) / f64::from(n - 1)).collect();
        // The last one is the reference for the others.
        let all = plastic.iter().copied().chain([1.0]);
        let grains: Vec<Grain> = all
            .enumerate()
            .map(|(k, plastic_volume)| Grain {
                elastic: DMat3::from_diagonal(DVec3::new(1.0, 0.99, 1.0)),
                plastic_volume,
                ..Grain::new(DVec3::new(0.08 * (k + 1) as f64, 0.08, 0.08), 400.0 * volume, volume)
            })
            .collect();
        let space = empty_space([0.08 * f64::from(n + 2), 0.16, 0.16]);
        let sample = Sample::strained(device, &section, 1e-4, space, &grains)?;
        let stress: Vec<f64> = sample.grains()?.iter().map(|grain| grain.stress.y_axis.y).collect();
        let plain = stress[stress.len() - 1];
        curves.push((*xi, plastic.into_iter().zip(stress.iter().map(|s| s / plain)).collect()));
    }
    Ok(curves)
}

/// Maximum stable time step of a block that does not yield.
struct Wave {
    youngs_modulus_pa: f64,
    poissons_ratio: f64,
    density_kg_m3: f64,
    speed_m_s: f64,
    /// Maximum Courant number Δt c/h at which its energy stays bounded.
    courant: f64,
}

const CELL_M: f64 = 0.01;

impl Wave {
    fn row(&self) -> Vec<String> {
        let (at, dt) = (self.density_kg_m3, self.courant * CELL_M / self.speed_m_s);
        let label = format!("E [Pa] at nu = {}", self.poissons_ratio);
        let exact = CELL_M / self.speed_m_s;
        row(
            "time step",
            &label,
            self.youngs_modulus_pa,
            at,
            "largest stable dt [s] beside h/c [s]",
            dt,
            exact,
        )
    }
}

fn stable_steps(device: &Device, effort: Effort) -> Result<Vec<Wave>, Failure> {
    let all = [
        (1.4e5, 0.2, 400.0),
        (1.4e4, 0.2, 400.0),
        (1.4e3, 0.2, 400.0),
        (1.4e5, 0.35, 400.0),
        (1.4e5, 0.45, 400.0),
        (1.4e5, 0.2, 100.0),
        (1.4e5, 0.2, 900.0),
        // Measured moduli (Bergfeld2023).
        (8.0e6, 0.25, 200.0),
        (1.69e8, 0.25, 400.0),
    ];
    let (n, halvings, steps) = effort.choose((1, 3, 60), (all.len(), 7, 200));
    let mut waves = Vec::new();
    for (youngs_modulus_pa, poissons_ratio, density_kg_m3) in all.into_iter().take(n) {
        let mut section = Section::as_published(2, CELL_M);
        let material = &mut section.material;
        material.plastic = false;
        material.youngs_modulus_pa = youngs_modulus_pa;
        material.poissons_ratio = poissons_ratio;
        material.density_kg_m3 = density_kg_m3;
        let speed_m_s = material.wave_speed_m_s(1.0);
        let (mut stable, mut unstable) = (0.1, 2.1);
        for _ in 0..halvings {
            let courant = 0.5 * (stable + unstable);
            match is_bounded(device, &section, courant * CELL_M / speed_m_s, steps)? {
                true => stable = courant,
                false => unstable = courant,
            }
        }
        let courant = 0.5 * (stable + unstable);
        waves.push(Wave { youngs_modulus_pa, poissons_ratio, density_kg_m3, speed_m_s, courant });
    }
    Ok(waves)
}

/// Returns true if the energy of a small perturbed block stays within twice its initial value.
fn is_bounded(device: &Device, section: &Section, dt_s: f64, steps: u64) -> Result<bool, Failure> {
    let material = &section.material;
    let mut grains = cube(2, DVec3::new(0.08, 0.08, 0.0), 0.08, 16, material.density_kg_m3);
    // So weak that the response stays linear, and of every wavelength.
    let speed = 1e-3 * material.wave_speed_m_s(1.0);
    for (k, grain) in grains.iter_mut().enumerate() {
        let turn = |prime: f64| (prime * (k + 1) as f64).sin();
        grain.velocity_m_s = speed * DVec3::new(turn(12.9898), turn(78.233), 0.0);
    }
    let mut sample = Sample::new(device, section, dt_s, empty_space([0.24, 0.24, 0.0]), &grains)?;
    let begin = sample.metrics()?.all.kinetic_energy_j;
    if sample.try_step(steps)?.is_some() {
        return Ok(false);
    }
    let end = sample.metrics()?;
    let energy = end.all.kinetic_energy_j + end.elastic_energy_j;
    Ok(energy.is_finite() && energy <= 2.0 * begin)
}

fn panels(curves: &Curves, tipped: &[Tipping]) -> Vec<OwnPanel> {
    let mut hardening: Vec<Series> = curves
        .iter()
        .map(|(xi, points)| Series::new(format!("ξ = {xi}"), Mark::Points, points.clone()))
        .collect();
    let mut exact = Vec::new();
    for (xi, _) in curves {
        exact.extend([0.7, 1.3].map(|j| (j, (xi * (1.0 - j)).exp())));
        // Prevents a line to the next curve.
        exact.push((f64::NAN, f64::NAN));
    }
    hardening.push(Series::new("e^(ξ(1 − J_P))", Mark::Dashes, exact));
    let found = tipped.iter().map(|t| (t.cell_size_m, t.density_kg_m3)).collect();
    let span = (0..=60).map(|k| 10_f64.powf(-2.0 + f64::from(k) / 30.0));
    let exact: Vec<(f64, f64)> = span.clone().map(|h| (h, tipping::expected_density(h))).collect();
    let flat = |density: f64| vec![(0.01, density), (1.0, density)];
    let density = Material::default().density_kg_m3;
    vec![
        OwnPanel {
            x_label: "plastic volume ratio J_P [1]",
            y_label: "stress over that at J_P = 1 [1]",
            series: hardening,
        },
        OwnPanel {
            x_label: "cell size h [m]",
            y_label: "density [kg/m³]",
            series: vec![
                Series::new("tipping density on the device", Mark::Points, found),
                Series::new("231.9/h", Mark::Line, exact),
                Series::new("ρ₀ = 400", Mark::Dashes, flat(density)),
                Series::new("printed: 0.004285", Mark::Dashes, flat(tipping::PRINTED_KG_M3)),
            ],
        },
    ]
}

fn page(clamped: &[Clamped], curves: &Curves, waves: &[Wave]) -> String {
    let error = clamped.iter().fold(0.0, |max: f64, c| {
        max.max((c.uniaxial_pa / c.exact_pa[0] - 1.0).abs()).max((c.isotropic_pa / c.exact_pa[1] - 1.0).abs())
    });
    let rows: Vec<Vec<String>> = clamped
        .iter()
        .map(|c| {
            let bound = if c.bound.starts_with("theta_c") { "θ_c" } else { "θ_s" };
            vec![bound.into(), cell(c.theta), digits(c.uniaxial_pa, 5), digits(c.isotropic_pa, 5)]
        })
        .collect();
    let mut text = format!(
        "## Critical compression and stretch (sec 4.2.1)\n\n\
         θ_c and θ_s bound the largest stress that snow can have before it hardens: 2μ(σ − 1)σ + λ(J − \
         1)J, almost in proportion to θ. On the device, of particles strained far beyond (E₀ = 1.4e5 Pa, ν \
         = 0.2, ξ = 0); the closed formula is met within {error:.1e}:\n\n{}\n",
        table(&["bound", "θ", "one axis strained, τ_yy [Pa]", "all axes strained [Pa]"], &rows)
    );
    let worst = curves.iter().flat_map(|(xi, points)| {
        points.iter().map(move |(j, found)| (found / (xi * (1.0 - j)).exp() - 1.0).abs())
    });
    let rows: Vec<Vec<String>> = curves
        .iter()
        .map(|(xi, points)| {
            let (first, last) = (points[0], points[points.len() - 1]);
            vec![cell(*xi), digits(first.1, 4), digits((0.2 * xi).exp(), 4), digits(last.1, 4)]
        })
        .collect();
    text += &format!(
        "\n## Hardening (sec 4.2.2)\n\n\
         The Lamé parameters are multiplied by e^(ξ(1 − J_P)) (eq 4.6); met on the device within {:.1e}. \
         The wave speed, and with it the time step, goes with the root of it. The paper proposes 0 < ξ ≤ \
         15. At ξ = 15 snow packed to J_P = 0.7 is 90 times as stiff, and takes time steps of about a \
         tenth; the engine bounds J_P at 0.6 in this factor (`min_plastic_volume`), so that it cannot \
         run away at any ξ.\n\n{}\n",
        worst.fold(0.0, f64::max),
        table(&["ξ", "J_P = 0.7", "0.8 (formula)", "1.3"], &rows)
    );
    let rows: Vec<Vec<String>> = waves
        .iter()
        .map(|w| {
            vec![
                cell(w.youngs_modulus_pa),
                cell(w.poissons_ratio),
                cell(w.density_kg_m3),
                digits(w.speed_m_s, 4),
                digits(CELL_M / w.speed_m_s * 1e3, 3),
                digits(w.courant * CELL_M / w.speed_m_s * 1e3, 3),
                format!("{:.2}", w.courant),
            ]
        })
        .collect();
    let courants = waves.iter().map(|w| w.courant);
    let (min, max) = courants.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), c| (a.min(c), b.max(c)));
    let header = ["E [Pa]", "ν", "ρ₀ [kg/m³]", "c [m/s]", "h/c [ms]", "largest stable Δt [ms]", "Δt c/h"];
    text + &format!(
        "\n## Young's modulus, Poisson's ratio and density (sec 4.2.3, 4.2.4)\n\n\
         What they limit is the time step: waves run at c = √((λ + 2μ)/ρ₀), and an explicit step must not \
         outrun them. A jolted block of 8 × 8 cells that does not yield, h = 1 cm, in a plane: the largest \
         Δt at which its energy stays bounded, by bisection:\n\n{}\n\
         Δt c/h is {:.2} to {:.2} in all of them, so that no range of E or ρ₀ is stable or unstable in \
         itself: it is Δt ≤ C h/c that has to hold (`dt = \"auto\"` takes C = 0.5). The paper proposes E₀ \
         from 1.4e3 to 1.4e5 Pa and ν from 0.2 to 0.35, after measured snow; towards ν = 0.5 c grows \
         without bound, and the step shrinks with it. ρ₀ is set directly here (`initial_volume = \
         \"sampled\"`), which the paper found near impossible (see `frazil analyze scaling`).\n",
        table(&header, &rows),
        min,
        max
    )
}
