//! Plots of the metrics of every run, and comparisons with published measurements for some scenes.

use super::solver_plots;
use frazil_engine::Failure;
use frazil_engine::outputs::Folder;
use frazil_io::MetricsTable;
use frazil_report::reference_data::{KOSHIZUKA_OKA_1996_FRONT, dam_break_time, ritter_front};
use frazil_report::{Mark, Series, plot_metrics, plot_series};
use frazil_scene::{Axis, Scene, Shape};
use frazil_solvers::PlotSpec;

/// Parameters of a column of water released at one end of a longer tank (dam break).
#[derive(Clone, Copy, Debug, PartialEq)]
struct DamBreak {
    /// Width L of the column in m.
    width_m: f64,
    /// Height of the column relative to its width, H/L.
    aspect: f64,
    gravity_m_s2: f64,
    /// Position of the back wall, in m.
    wall_m: f64,
    /// Half a particle spacing, the distance between the centre of the last particle and the front.
    half_spacing_m: f64,
}

/// Aspect ratio of the measurements: a column twice as high as wide.
const MEASURED_ASPECT: f64 = 2.0;
/// Relative tolerance on the proportions of the column and the tank, which the particle lattice rounds.
const TOLERANCE: f64 = 0.02;

/// Plots the metrics in `folder`, including the plots that the solver requests.
pub fn write(folder: &Folder, scene: &Scene, of_solver: &[PlotSpec]) -> Result<(), Failure> {
    let table = MetricsTable::read(&folder.metrics()).map_err(Failure::other)?;
    if table.n_rows() < 2 {
        return Ok(());
    }
    plot_metrics(&table, &folder.energy_plot()).map_err(Failure::other)?;
    plot_frame_time(folder)?;
    for plot in of_solver {
        solver_plots::write(plot, &table, &folder.plot(plot))?;
    }
    match DamBreak::of(scene) {
        Some(dam_break) => dam_break.plot(&table, folder),
        None => Ok(()),
    }
}

/// Plots the time of a step over the run, like Chen2021 figs 8.4, 8.8 and 8.12.
fn plot_frame_time(folder: &Folder) -> Result<(), Failure> {
    let table = MetricsTable::read(&folder.timing()).map_err(Failure::other)?;
    if table.n_rows() == 0 {
        return Ok(());
    }
    let column = |name| table.column(name).map_err(Failure::other);
    let points = column("step")?.iter().copied().zip(column("step_time")?.iter().copied()).collect();
    let series = [Series::new("wall time of a step", Mark::Line, points)];
    plot_series("Time a step", "step [1]", "time [ms]", &series, &folder.frame_time_plot())
        .map_err(Failure::other)
}

impl DamBreak {
    /// Recognizes the experiment by its geometry: one resting box in the lower corner of a free tank, twice
    /// as high as wide and as deep as the tank, with space to flow along x.
    fn of(scene: &Scene) -> Option<Self> {
        let [block] = scene.particles.as_slice() else { return None };
        let Shape::Box { min_m, max_m } = &block.shape else { return None };
        let domain = &scene.domain;
        let [width_m, height_m, depth_m]: [f64; 3] = std::array::from_fn(|i| max_m[i] - min_m[i]);
        let gravity = scene.gravity_m_s2();
        let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * width_m;
        let fits = scene.up_axis == Axis::Y
            && gravity[0] == 0.0
            && gravity[2] == 0.0
            && gravity[1] < 0.0
            && scene.bodies.is_empty()
            && block.velocity_m_s == [0.0; 3]
            && (0..3).all(|i| near(min_m[i], domain.min_m[i]))
            && near(height_m, MEASURED_ASPECT * width_m)
            && near(depth_m, domain.max_m[2] - domain.min_m[2])
            && domain.max_m[0] - domain.min_m[0] >= 2.0 * width_m;
        fits.then_some(Self {
            width_m,
            aspect: height_m / width_m,
            gravity_m_s2: -gravity[1],
            wall_m: domain.min_m[0],
            half_spacing_m: 0.5 * scene.particle_spacing_m(),
        })
    }

    fn plot(&self, table: &MetricsTable, folder: &Folder) -> Result<(), Failure> {
        let last_measured = KOSHIZUKA_OKA_1996_FRONT[KOSHIZUKA_OKA_1996_FRONT.len() - 1].0;
        let (times, fronts) =
            (table.column("time").map_err(Failure::other)?, table.column("upper_x").map_err(Failure::other)?);
        let simulated = times.iter().zip(fronts).map(|(&time_s, &upper_m)| {
            let t_star = dam_break_time(time_s, self.width_m, self.gravity_m_s2);
            (t_star, (upper_m + self.half_spacing_m - self.wall_m) / self.width_m)
        });
        let ritter = [0.0, last_measured].map(|t_star| (t_star, ritter_front(t_star, self.aspect)));
        let series = [
            Series::new(
                "frazil",
                Mark::Line,
                simulated.take_while(|point| point.0 <= last_measured).collect(),
            ),
            Series::new("measured (Koshizuka & Oka 1996)", Mark::Points, KOSHIZUKA_OKA_1996_FRONT.to_vec()),
            Series::new("inviscid limit (Ritter 1892)", Mark::Dashes, ritter.to_vec()),
        ];
        let (x_label, y_label) = ("time t √(2g/L) [1]", "front z/L [1]");
        plot_series("Surge front of the dam break", x_label, y_label, &series, &folder.front_plot())
            .map_err(Failure::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(name: &str, overrides: &[&str]) -> Scene {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Scene::find(name, &overrides).unwrap()
    }

    #[test]
    fn the_dam_break_is_known_by_its_geometry_at_any_size() {
        let found = DamBreak::of(&scene("dam_break", &["name=\"something else\""])).unwrap();
        assert!((found.width_m - 0.146).abs() < 1e-12 && (found.aspect - 2.0).abs() < 1e-12);
        assert_eq!(found.gravity_m_s2, 9.81);
        assert!(DamBreak::of(&scene("dam_break", &["fluid.particle_spacing_m=0.004"])).is_some());
    }

    #[test]
    fn other_scenes_are_not_the_experiment() {
        for (name, overrides) in [
            ("drop", &[][..]),
            ("hydrostatic", &[]),
            ("dam_break", &["particles.0.shape.box.max_m.1=0.2"]),
            ("dam_break", &["particles.0.velocity_m_s=[1.0, 0.0, 0.0]"]),
            ("dam_break", &["gravity_m_s2=[1.0, -9.0, 0.0]"]),
            ("dam_break", &["bodies=[{name='sill',shape={plane={point_m=[0,-1,0],normal=[0,1,0]}}}]"]),
        ] {
            assert_eq!(DamBreak::of(&scene(name, overrides)), None, "{name} {overrides:?}");
        }
    }
}
