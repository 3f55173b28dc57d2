//! Avalanche events: a mountain side, its release, and a depth-averaged flow to compare grains with.

use crate::scene_grains::SceneGrains;
use frazil_io::affected_area_overlap;
use frazil_reference::depth_averaged::{Flow, Friction, Ground};
use frazil_scene::{Scene, Terrain};
use frazil_vk::Device;
use std::path::{Path, PathBuf};

/// Peaks of a flow on the grid of its terrain.
pub struct Peaks {
    /// Thickness in m perpendicular to the slope; NaN off the map.
    pub thickness_m: Vec<f32>,
    /// Speed in m/s.
    pub speed_m_s: Vec<f32>,
}

/// Extent of a flow: where it is thicker than [`THICK_M`].
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Area in m² on the map.
    pub area_m2: f64,
    /// Height in m of the lowest place.
    pub low_m: f64,
    /// Horizontal distance in m from the highest place to the lowest.
    pub run_out_m: f64,
    /// Angle in degrees of the line from the highest place to the lowest.
    pub angle_deg: f64,
    /// Peak speed in m/s.
    pub speed_m_s: f64,
}

/// Comparison of a flow with a reference.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// Blocks in which both are thicker than [`THICK_M`], divided by blocks in which either is.
    pub overlap: f64,
    /// Share of the flow's blocks that are also the reference's.
    pub within: f64,
    /// Extent of the flow, and of the reference.
    pub flow: Extent,
    /// See [`Self::flow`].
    pub reference: Extent,
}

/// Thickness in m from which a place counts as affected.
pub const THICK_M: f32 = 0.1;

/// Event: a scene of grains on a terrain.
pub struct Event {
    /// Name.
    pub name: &'static str,
    scene: PathBuf,
}

/// Returns the folder of avaKot's data, which is outside the project; prints a message if it is absent.
pub fn avakot_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/terrain/avaKot");
    let is_there = folder.join("avaKot.asc").is_file();
    if !is_there {
        eprintln!("SKIPPED: {} is not there, and avaKot not compared with", folder.display());
    }
    is_there.then_some(folder)
}

/// Returns the height of the generated track in m, x along it and y across: a parabola of 900 m height over
/// 1800 m that runs out on flat ground, with a gully that winds, and opens at its end, between banks that
/// rise to both sides.
pub fn track_height_m(x: f64, y: f64) -> f64 {
    let fall = 900.0 * (1.0 - x / 1800.0).max(0.0).powi(2);
    let beyond = |from: f64, over: f64| ((x - from) / over).clamp(0.0, 1.0);
    let winding = (std::f64::consts::TAU * (x - 250.0) / 900.0).sin() * beyond(250.0, 200.0);
    let depth = 45.0 * beyond(250.0, 250.0) * (1.0 - beyond(1200.0, 450.0));
    let gully = depth * (-((y - 300.0 - 70.0 * winding) / 60.0).powi(2)).exp();
    fall + 60.0 * ((y - 300.0) / 300.0).powi(2) - gully
}

impl Event {
    /// Returns the event of AvaFrame's avaKot; `None` without its data.
    pub fn avakot() -> Option<Self> {
        avakot_data()?;
        let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/avakot.toml");
        Some(Self { name: "avaKot", scene })
    }

    /// Returns the event on the generated track, twice the volume of avaKot, written to a folder.
    ///
    /// # Panics
    /// If the folder is not writable.
    #[allow(clippy::expect_used)]
    pub fn track(folder: &Path) -> Self {
        let (n_columns, n_rows, cell_m) = (441, 121, 5.0);
        let mut map = format!(
            "ncols {n_columns}\nnrows {n_rows}\nxllcorner 0\nyllcorner 0\ncellsize {cell_m}\nNODATA_value \
             -9999\n"
        );
        for row in (0..n_rows).rev() {
            let height = |column: i32| track_height_m(f64::from(column) * cell_m, f64::from(row) * cell_m);
            let line: Vec<String> = (0..n_columns).map(|column| format!("{:.3}", height(column))).collect();
            map += &line.join(" ");
            map.push('\n');
        }
        std::fs::create_dir_all(folder).expect("a folder");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/track.toml");
        let text = std::fs::read_to_string(path).expect("the scene");
        let scene = folder.join("track.toml");
        std::fs::write(folder.join("track.asc"), map).expect("a map");
        std::fs::write(&scene, text).expect("a scene");
        Self { name: "track", scene }
    }

    /// Loads the scene.
    ///
    /// # Panics
    /// If it is not sound.
    #[allow(clippy::expect_used)]
    pub fn load(&self, overrides: &[String]) -> Scene {
        Scene::load(&self.scene, overrides).expect("a sound scene")
    }

    /// Runs the depth-averaged model of the same release until it stops.
    ///
    /// # Panics
    /// If the scene has no ground or release.
    #[allow(clippy::expect_used)]
    pub fn depth_averaged(&self, friction: Friction) -> Peaks {
        let scene = self.load(&[]);
        let ground = scene.ground().expect("a ground");
        let areas: Vec<_> = scene.releases().iter().filter_map(|release| release.areas()).collect();
        let thickness_m = |at: glam::DVec2| {
            let areas = areas.iter().flat_map(|areas| areas.iter());
            areas.filter(|area| area.polygon.contains(at.to_array())).map(|area| area.thickness_m).sum()
        };
        let n = [ground.n_columns(), ground.n_rows()];
        let height = |k: usize| ground.height_at(k % n[0], k / n[0]).unwrap_or(f64::NAN);
        let heights_m = (0..n[0] * n[1]).map(height).collect();
        let ground = Ground { cell_m: ground.cell_m(), n, heights_m };
        // Four columns in a cell: com1DFA's number for a release of 1 m.
        let mut flow = Flow::new(ground, friction, 2, thickness_m);
        flow.run(0.05, 200.0);
        let narrow = |values: &[f64]| values.iter().map(|v| *v as f32).collect();
        Peaks { thickness_m: narrow(&flow.peak_thickness_m), speed_m_s: narrow(&flow.peak_speed_m_s) }
    }

    /// Runs grains for the duration of the scene, and checks in some frames that none is below the ground.
    ///
    /// # Panics
    /// If one is, and on a device error.
    #[allow(clippy::expect_used)]
    pub fn grains(&self, device: &Device, overrides: &[String]) -> (Terrain, Peaks) {
        const FRAMES: u64 = 60;
        let mut grains = SceneGrains::new(device, self.load(overrides));
        let terrain = grains.scene.ground().expect("a ground").clone();
        let steps = grains.steps(grains.scene.time.duration_s) / FRAMES;
        for frame in 0..=FRAMES {
            if frame > 0 {
                grains.advance(steps);
            }
            let (n_below, lowest_m) = grains.below_ground(&grains.grains());
            assert_eq!(n_below, 0, "frame {frame}: the lowest is {lowest_m} m above the ground");
        }
        let rasters = grains.flow_rasters();
        eprintln!("{} grains, {} steps", grains.grains().len(), steps * FRAMES);
        (terrain, Peaks { thickness_m: rasters.peak_thickness_m, speed_m_s: rasters.peak_speed_m_s })
    }
}

/// Returns the maximum of each block of `side`² cells of a raster, and the width in blocks; unknown for
/// blocks without known cells.
fn blocks(values: &[f32], width: usize, side: usize) -> (Vec<f32>, usize) {
    let height = values.len() / width;
    let (across, along) = (width / side, height / side);
    let of = |block: usize| {
        let (column, row) = (block % across * side, block / across * side);
        let cells = (0..side * side).map(|k| values[(row + k / side) * width + column + k % side]);
        cells.fold(f32::NAN, f32::max)
    };
    ((0..across * along).map(of).collect(), across)
}

/// Compares the peaks of two flows on a terrain, in blocks of `side`² cells.
///
/// # Panics
/// If one of them is empty.
#[allow(clippy::expect_used)]
pub fn compare(terrain: &Terrain, flow: &Peaks, reference: &Peaks, side: usize) -> Agreement {
    let width = terrain.n_columns();
    let known = |values: &[f32]| -> Vec<f32> {
        let is_known = |k: usize| terrain.height_at(k % width, k / width).is_some();
        values.iter().enumerate().map(|(k, v)| if is_known(k) { *v } else { f32::NAN }).collect()
    };
    let (ours, across) = blocks(&known(&flow.thickness_m), width, side);
    let (theirs, _) = blocks(&known(&reference.thickness_m), width, side);
    let (mut both, mut flow_alone) = (0.0, 0.0);
    for (_, b) in ours.iter().zip(&theirs).filter(|(a, _)| **a > THICK_M) {
        if *b > THICK_M { both += 1.0 } else { flow_alone += 1.0 }
    }
    let block_m = side as f64 * terrain.cell_m();
    let extent = |values: &[f32], speed_m_s: &[f32]| {
        let thick = values.iter().enumerate().filter(|(_, v)| **v > THICK_M);
        let mut places: Vec<[f64; 3]> = thick
            .filter_map(|(block, _)| {
                let [x, y] = [block % across, block / across].map(|k| (k as f64 + 0.5) * block_m);
                Some([terrain.height_m([x, y])?, x, y])
            })
            .collect();
        places.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let (low, high) = (*places.first().expect("a flow"), *places.last().expect("a flow"));
        let run_out_m = (high[1] - low[1]).hypot(high[2] - low[2]);
        Extent {
            area_m2: places.len() as f64 * block_m * block_m,
            low_m: low[0],
            run_out_m,
            angle_deg: ((high[0] - low[0]) / run_out_m).atan().to_degrees(),
            speed_m_s: speed_m_s.iter().fold(0.0_f32, |most, v| most.max(*v)).into(),
        }
    };
    Agreement {
        overlap: affected_area_overlap(&ours, &theirs, THICK_M),
        within: both / (both + flow_alone),
        flow: extent(&ours, &flow.speed_m_s),
        reference: extent(&theirs, &reference.speed_m_s),
    }
}

/// Returns the peaks of com1DFA on avaKot, at the terrain's own cells.
///
/// # Panics
/// If the files cannot be read.
#[allow(clippy::expect_used)]
pub fn com1dfa(data: &Path, terrain: &Terrain) -> Peaks {
    let read = |name: &str| {
        let text = std::fs::read_to_string(data.join(name)).expect("a file");
        let model = Terrain::from_ascii_grid(&text).expect("a grid");
        let of = |k: usize| {
            let place =
                [k % terrain.n_columns(), k / terrain.n_columns()].map(|k| k as f64 * terrain.cell_m());
            // The nearest of the model's cells, whose size is equal to 0.05 %.
            let at = model.from_map_m(terrain.to_map_m(place)).map(|x| (x / model.cell_m()).round().max(0.0));
            let [column, row] = at.map(|k| k as usize);
            let is_inside = column < model.n_columns() && row < model.n_rows();
            let value = if is_inside { model.map_heights_m()[row * model.n_columns() + column] } else { 0.0 };
            if value.is_nan() { 0.0 } else { value as f32 }
        };
        (0..terrain.n_columns() * terrain.n_rows()).map(of).collect()
    };
    Peaks { thickness_m: read("com1DFA_null_pft.asc"), speed_m_s: read("com1DFA_null_pfv.asc") }
}
