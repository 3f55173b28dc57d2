//! Time of a step as a function of particles, nodes and bodies (Breekveldt2017 sec 4.4).

use super::fit::{Line, least_squares, line, power_law};
use super::lab::{Grain, Sample, empty_space};
use super::report::{OwnPanel, Report, cell, digits, table};
use super::study::{Effort, Study};
use frazil_engine::Failure;
use frazil_engine::device;
use frazil_report::{Mark, Scale, Series, median};
use frazil_scene::Mpm as Section;
use frazil_shaders::common::body::SPHERE;
use frazil_shaders::types::Body;
use frazil_vk::Device;
use glam::DVec3;

const HEADER: [&str; 6] =
    ["part", "n_particles [1]", "n_nodes [1]", "n_bodies [1]", "step_time [ms]", "model [ms]"];

const CELL_M: f64 = 0.01;
const DENSITY_KG_M3: f64 = 400.0;

/// Parameters of a body of snow to be timed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    part: &'static str,
    n_particles: u32,
    /// Number of cells over which the particles are spread.
    n_cells: u32,
    n_bodies: u32,
}

/// Timing of a case.
struct Timed {
    case: Case,
    n_nodes: f64,
    step_ms: f64,
}

impl Timed {
    fn point(&self) -> [f64; 3] {
        [self.case.n_particles.into(), self.n_nodes, self.case.n_bodies.into()]
    }

    /// Returns the terms of T = a + bP + cN + dPC + eNC.
    fn terms(&self) -> [f64; 5] {
        let [p, n, c] = self.point();
        [1.0, p, n, p * c, n * c]
    }
}

/// Runs the study of the time of a step (sec 4.4).
///
/// # Errors
/// A step has a fault, or the device lacks memory or was lost.
pub fn study(device: &Device, effort: Effort) -> Result<Report, Failure> {
    let submissions = effort.choose(3, 7);
    let mut bodies = Vec::new();
    for case in cases(effort) {
        bodies.push((case, body(device, case)?, Vec::new()));
    }
    // Interleaved, so that other load on the machine affects all cases equally.
    for _ in 0..submissions {
        for (_, sample, times) in &mut bodies {
            times.push(sample.time(2)?);
        }
    }
    let mut timed = Vec::new();
    for (case, sample, mut times) in bodies {
        let n_nodes = sample.metrics()?.n_nodes as f64;
        timed.push(Timed { case, n_nodes, step_ms: 1e-6 * median(&mut times) });
    }
    // Each point is weighted by its relative error, not by its absolute error.
    let weighted: Vec<([f64; 5], f64)> =
        timed.iter().map(|t| (t.terms().map(|x| x / t.step_ms), 1.0)).collect();
    let model = least_squares(&weighted);
    let predicted = |t: &Timed| {
        model.map_or(f64::NAN, |(fitted, _)| t.terms().iter().zip(fitted).map(|(x, k)| x * k).sum::<f64>())
    };
    let rows = timed
        .iter()
        .map(|t| {
            let mut row = vec![t.case.part.to_owned()];
            row.extend(t.point().map(cell));
            row.extend([t.step_ms, predicted(t)].map(cell));
            row
        })
        .collect();
    let exponents = Exponents::of(&timed, &|t| t.step_ms);
    let of_model = Exponents::of(&timed, &predicted);
    let [particles, nodes] = [shown(exponents.particles), shown(exponents.nodes)];
    let fit = model.map(|(fitted, errors)| Model { fitted, errors, worst: worst(&timed, &predicted) });
    Ok(Report {
        study: Study::Runtime,
        title: "What a step takes (Breekveldt2017 sec 4.4)",
        header: &HEADER,
        rows,
        panels: panels(&timed, &predicted),
        scales: [Scale::Logarithmic; 2],
        more_plots: Vec::new(),
        page: page(device, &timed, &[exponents, of_model], fit.as_ref()),
        summary: format!(
            "runtime: time goes as particles to the {}, nodes to the {}, on {}",
            particles,
            nodes,
            device.info().name
        ),
    })
}

fn cases(effort: Effort) -> Vec<Case> {
    let max = effort.particles.unwrap_or(effort.choose(2048, 65536)).max(64);
    let halves = |n: u32| (0..n).rev().map(|k| (max >> (2 * k)).max(8));
    let bodies: &[u32] = effort.choose(&[0, 4, 16], &[0, 1, 4, 16, 64]);
    let n = effort.choose(3, 5);
    let mut cases = Vec::new();
    // The number of cells is constant, the number of particles grows.
    let cells = (max / 32).max(8);
    cases.extend(halves(n).map(|n_particles| Case {
        part: "particles",
        n_particles,
        n_cells: cells,
        n_bodies: 0,
    }));
    // The number of particles is constant, the number of cells grows.
    let few = (max / 16).max(8);
    let spreads = (0..n).map(|k| (few / 8).max(1) << (2 * k));
    cases.extend(spreads.map(|n_cells| Case { part: "nodes", n_particles: few, n_cells, n_bodies: 0 }));
    let some = (max / 8).max(8);
    cases.extend(bodies.iter().map(|n_bodies| Case {
        part: "bodies",
        n_particles: some,
        n_cells: some / 8,
        n_bodies: *n_bodies,
    }));
    // Particles far apart, with many nodes per particle, so that the model can separate P C from N C.
    cases.extend(bodies.iter().map(|n_bodies| Case {
        part: "bodies far apart",
        n_particles: few,
        n_cells: 8 * few,
        n_bodies: *n_bodies,
    }));
    cases
}

/// Creates particles spread evenly over a cube of the given number of cells.
fn body(device: &Device, case: Case) -> Result<Sample, Failure> {
    let side = CELL_M * f64::from(case.n_cells).cbrt();
    let n = f64::from(case.n_particles).cbrt().ceil() as u32;
    let spacing = side / f64::from(n);
    let volume = side.powi(3) / f64::from(case.n_particles);
    let margin = 4.0 * CELL_M;
    // Unused places of the lattice are spread evenly over all layers.
    let places = u64::from(n).pow(3);
    let grains: Vec<Grain> = (0..u64::from(case.n_particles))
        .map(|k| {
            let place = (k * places / u64::from(case.n_particles)) as u32;
            let at =
                [place % n, place / n % n, place / (n * n)].map(|i| margin + spacing * (f64::from(i) + 0.5));
            Grain::new(DVec3::from_array(at), DENSITY_KG_M3 * volume, volume)
        })
        .collect();
    let mut surroundings = empty_space([side + 2.0 * margin; 3]);
    surroundings.gravity_m_s2 = [0.0, -9.81, 0.0];
    // Spheres without contact: each node and each particle computes its distance to each of them.
    let ball = |k: u32| Body {
        kind: SPHERE,
        origin_m: [-1.0, -1.0 - k as f32, -1.0],
        extent: [0.1, 0.0, 0.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        n_heights: [1, 1],
        ..bytemuck::Zeroable::zeroed()
    };
    surroundings.bodies = (0..case.n_bodies).map(ball).collect();
    let section = Section::as_published(3, CELL_M);
    let dt_s = 0.1 * CELL_M / section.material.wave_speed_m_s(1.0);
    let mut sample = Sample::new(device, &section, dt_s, surroundings, &grains)?;
    // The capacity for nodes is determined, and kernels are compiled, in the first steps.
    sample.step(8)?;
    Ok(sample)
}

/// Exponents of time as a function of one of the three, the others constant.
struct Exponents {
    particles: Option<Line>,
    /// Fit to the upper half of the points, where the fixed cost of a step matters least.
    many_particles: Option<Line>,
    nodes: Option<Line>,
    many_nodes: Option<Line>,
    bodies: Option<Line>,
    many_bodies: Option<Line>,
    /// Milliseconds per body.
    body: Option<Line>,
}

impl Exponents {
    /// Fits the exponents to the times in ms of the cases.
    fn of(timed: &[Timed], ms: &dyn Fn(&Timed) -> f64) -> Self {
        let points = |part: &str, axis: usize| -> Vec<(f64, f64)> {
            timed.iter().filter(|t| t.case.part == part).map(|t| (t.point()[axis], ms(t))).collect()
        };
        let upper = |points: &[(f64, f64)]| power_law(&points[points.len().saturating_sub(3)..]);
        let (particles, nodes, bodies) = (points("particles", 0), points("nodes", 1), points("bodies", 2));
        Self {
            particles: power_law(&particles),
            many_particles: upper(&particles),
            nodes: power_law(&nodes),
            many_nodes: upper(&nodes),
            bodies: power_law(&bodies),
            many_bodies: upper(&bodies),
            body: line(&bodies),
        }
    }
}

fn shown(line: Option<Line>) -> String {
    line.map_or("–".into(), |line| format!("{:.2} ± {:.2}", line.slope, line.slope_error))
}

/// Fitted model T = a + bP + cN + dPC + eNC.
struct Model {
    fitted: [f64; 5],
    errors: [f64; 5],
    /// Maximum relative error of a point.
    worst: f64,
}

impl Model {
    fn text(&self) -> String {
        let terms = [
            ("a [ms]", 1.0),
            ("b, a particle [ns]", 1e6),
            ("c, a node [ns]", 1e6),
            ("d, a particle and body [ns]", 1e6),
            ("e, a node and body [ns]", 1e6),
        ];
        let row = |(k, (name, unit)): (usize, (&str, f64))| {
            vec![name.to_owned(), digits(unit * self.fitted[k], 3), digits(unit * self.errors[k], 2)]
        };
        let rows: Vec<Vec<String>> = terms.into_iter().enumerate().map(row).collect();
        let caution = if self.fitted[0] < 0.0 {
            "\nA negative a means that larger sizes cost more for each particle or node, as where caches no \
             longer hold them, which the model does not know.\n"
        } else {
            ""
        };
        format!(
            "T = a + bP + cN + dPC + eNC, by least squares of relative errors; the worst point is {:.0} % \
             off:\n\n{}{caution}",
            100.0 * self.worst,
            table(&["term", "fitted", "standard error"], &rows)
        )
    }
}

fn worst(timed: &[Timed], predicted: &dyn Fn(&Timed) -> f64) -> f64 {
    timed.iter().map(|t| (predicted(t) / t.step_ms - 1.0).abs()).fold(0.0, f64::max)
}

fn panels(timed: &[Timed], predicted: &dyn Fn(&Timed) -> f64) -> Vec<OwnPanel> {
    let panel = |x_label, axis: usize, parts: &[&str]| OwnPanel {
        x_label,
        y_label: "time a step [ms]",
        series: parts
            .iter()
            .flat_map(|part| {
                let own = || timed.iter().filter(|t| t.case.part == *part);
                let measured = own().map(|t| (t.point()[axis], t.step_ms)).collect();
                let model = own().map(|t| (t.point()[axis], predicted(t))).collect();
                [
                    Series::new(format!("{part}, measured"), Mark::Points, measured),
                    Series::new(format!("{part}, model"), Mark::Dashes, model),
                ]
            })
            .collect(),
    };
    vec![
        panel("particles, nodes kept [1]", 0, &["particles"]),
        panel("nodes, particles kept [1]", 1, &["nodes"]),
        panel("bodies [1]", 2, &["bodies", "bodies far apart"]),
    ]
}

/// Returns the page text for the exponents of the measured times and of the fitted model.
fn page(device: &Device, timed: &[Timed], both: &[Exponents; 2], model: Option<&Model>) -> String {
    let [exponents, expected] = both;
    let rows: Vec<Vec<String>> = timed
        .iter()
        .map(|t| {
            let [p, n, c] = t.point();
            vec![t.case.part.to_owned(), cell(p), cell(n), cell(c), digits(t.step_ms, 4)]
        })
        .collect();
    let software =
        if device.is_software() { format!(" ({})", device::SOFTWARE_WARNING) } else { String::new() };
    let fitted = model.map_or("The model could not be fitted to so few points.\n".to_owned(), Model::text);
    let slope = |line: Option<Line>| line.map_or("–".to_owned(), |line| format!("{:.2}", line.slope));
    let row =
        |of: &str, all: &dyn Fn(&Exponents) -> Option<Line>, last: &dyn Fn(&Exponents) -> Option<Line>| {
            vec![
                of.to_owned(),
                shown(all(exponents)),
                slope(all(expected)),
                shown(last(exponents)),
                slope(last(expected)),
            ]
        };
    let per_body = exponents.body.map_or("–".into(), |line| {
        format!("{} ± {} µs", digits(1e3 * line.slope, 3), digits(1e3 * line.slope_error, 2))
    });
    format!(
        "Device: {}{software}. Snow in space, h = {CELL_M} m, PIC/FLIP, cubic splines, tiles; device time \
         by time stamps, median of submissions of two steps. N counts nodes of the blocks that particles \
         reach, since the grid is sparse: the paper's is dense, so that its cells count whether or not \
         snow is near.\n\n{}\n\
         ## Exponents\n\n\
         The paper finds T = O(P·C + N·C), linear in particles and in cells with C kept, by eye from its \
         figures 4.5 and 4.6 (one thread of an i5-3570K; it varies no bodies). Least squares of \
         logarithms, with standard errors; expected is the same fit to the model below at the same \
         points:\n\n{}\n\
         With T = a + bP + cN + dPC + eNC, d ln T/d ln P = (b + dC) P/T = 1 − (a + cN + eNC)/T: an exponent \
         is 1 less the share of what is kept, the passes of a step and the other number, and reaches 1 only \
         where that is negligible; likewise (c + eC) N/T, and (dP + eN) C/T. A further body costs \
         {per_body} a step here.\n\n\
         ## Model\n\n{fitted}\n",
        device::describe(device.info()),
        table(&["part", "P", "N", "C", "time a step [ms]"], &rows),
        table(
            &["of", "all points", "expected", "last three", "expected"],
            &[
                row("particles P", &|e| e.particles, &|e| e.many_particles),
                row("nodes N", &|e| e.nodes, &|e| e.many_nodes),
                row("bodies C", &|e| e.bodies, &|e| e.many_bodies),
            ]
        ),
    )
}
