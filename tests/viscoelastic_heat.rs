//! Temperature of the viscoelastic fluid: conduction between and along walls, the sum of heat, and flow whose
//! viscosity follows temperature, compared with closed forms.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_testkit::{assert_no_validation_messages, download_columns};
use frazil_tests::ViscoelasticSimulation;

const GAP_M: f64 = 0.02;
const CAPACITY: f64 = 1000.0;

/// Returns the scene of a gap of `layers` spacings between y faces, periodic along the others. The fluid has
/// the density of 1000 kg/m³.
fn gap((layers, dt_s): (u32, f64), viscosity_pa_s: f64, material: &str, heat: &str) -> String {
    let d = GAP_M / f64::from(layers);
    let width = d * 6.0;
    format!(
        "version = 1\nname = \"gap\"\nup_axis = \"y\"\nseed = 5\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         solver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 100.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{width:?}, {GAP_M}, {width:?}]\nperiodic = [true, \
         false, true]\n\
         [fluid]\nparticle_spacing_m = {d:?}\ndynamic_viscosity_pa_s = {viscosity_pa_s:?}\n\
         [[particles]]\ntemperature_c = 40.0\n\
         shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{width:?}, {GAP_M}, {width:?}] }}\n\
         [viscoelastic]\nelasticity = \"none\"\n{material}\n\
         [viscoelastic.heat]\ncapacity_j_kg_k = {CAPACITY:?}\n{heat}\n"
    )
}

/// Returns a line with the conductivity for a diffusivity in m²/s.
fn conductivity(diffusivity_m2_s: f64) -> String {
    format!("conductivity_w_m_k = {:?}", diffusivity_m2_s * 1000.0 * CAPACITY)
}

/// Returns the diffusivity in m²/s whose longest step is twice that given.
fn diffusivity(layers: u32, dt_s: f64) -> f64 {
    let d = GAP_M / f64::from(layers);
    0.25 * d * d / (6.0 * dt_s)
}

fn temperatures(fluid: &ViscoelasticSimulation) -> Vec<f64> {
    let n = fluid.solver.fluid().count().capacity as usize;
    let column = fluid.device.download(fluid.solver.heat().unwrap().temperature.front(), n).unwrap();
    column.into_iter().map(f64::from).collect()
}

/// Sets the temperature of each particle by its height.
fn heat_up(fluid: &ViscoelasticSimulation, temperature_c: impl Fn(f64) -> f64) {
    let by_height: Vec<f32> =
        fluid.positions().iter().map(|x| temperature_c(f64::from(x[1])) as f32).collect();
    fluid.device.upload(fluid.solver.heat().unwrap().temperature.front(), &by_height).unwrap();
}

/// Returns the root of the mean square of differences from a profile.
fn deviation(fluid: &ViscoelasticSimulation, exact: impl Fn(f64) -> f64) -> f64 {
    let (x, t) = (fluid.positions(), temperatures(fluid));
    let squares: f64 = x.iter().zip(&t).map(|(x, t)| (t - exact(f64::from(x[1]))).powi(2)).sum();
    (squares / x.len() as f64).sqrt()
}

#[test]
fn heat_diffuses_between_walls_as_by_fourier() {
    let (layers, dt_s) = (8, 1e-3);
    let alpha = diffusivity(layers, dt_s);
    let wave = std::f64::consts::PI / GAP_M;
    // Insulated: a cosine decays at the rate α k².
    let mut fluid = ViscoelasticSimulation::new(&gap((layers, dt_s), 0.001, "", &conductivity(alpha)));
    heat_up(&fluid, |y| 40.0 + 20.0 * (wave * y).cos());
    fluid.advance(150);
    let amplitude = 20.0 * (-alpha * wave * wave * fluid.time_s()).exp();
    let decayed = deviation(&fluid, |y| 40.0 + amplitude * (wave * y).cos()) / amplitude;
    // Particles lie off the lattice by up to a fifth of a spacing; the sum of each is exact for a quadratic
    // field in the mean only (docs/snow.md).
    println!("a cosine decayed to {:.3} of 1, off by {:.2} %", amplitude / 20.0, 100.0 * decayed);
    assert!((0.3..0.6).contains(&(amplitude / 20.0)) && decayed < 0.03, "{decayed}");
    assert_no_validation_messages(&fluid.device);

    // Between walls of two temperatures: a linear profile and its transient, Σ over the sines.
    let walls = format!("{}\nface_temperatures_c = {{ y_min = 20.0, y_max = 60.0 }}", conductivity(alpha));
    let mut fluid = ViscoelasticSimulation::new(&gap((layers, dt_s), 0.001, "", &walls));
    for steps in [80, 400] {
        fluid.advance(steps);
        let t = fluid.time_s();
        let transient = |y: f64| -> f64 {
            // Of 40 − (20 + 40 y/H), odd about the middle: sines of even order n, with amplitudes 80/(π n).
            (1..20)
                .map(|half| {
                    let k = 2.0 * f64::from(half) * wave;
                    80.0 / (k * GAP_M) * (k * y).sin() * (-alpha * k * k * t).exp()
                })
                .sum()
        };
        let error = deviation(&fluid, |y| 20.0 + 2000.0 * y + transient(y)) / 20.0;
        println!("between two walls after {t:.3} s: off by {:.2} %", 100.0 * error);
        assert!(error < 0.03, "{error}");
    }
    let measured = {
        let mut recorder = fluid.device.recorder().unwrap();
        let pending = frazil_solvers::Solver::record_metrics(&fluid.solver, &mut recorder).unwrap();
        fluid.device.submit(recorder).unwrap();
        pending.wait().unwrap().values
    };
    let [mean, coldest, warmest] = measured[measured.len() - 3..] else { panic!("{measured:?}") };
    let all = temperatures(&fluid);
    let expected = all.iter().sum::<f64>() / all.len() as f64;
    let extremes = all.iter().fold([f64::MAX, f64::MIN], |[low, high], t| [low.min(*t), high.max(*t)]);
    assert!((mean - expected).abs() < 1e-4 && [coldest, warmest] == extremes, "{measured:?}");
    assert!(coldest > 20.0 && warmest < 60.0, "{coldest} {warmest}");
    assert_no_validation_messages(&fluid.device);
}

/// Returns a block that falls into a box, half of it hot.
fn falling(heat: &str) -> String {
    format!(
        "version = 1\nname = \"falling\"\nup_axis = \"y\"\nsolver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.05, 0.06, 0.04]\n\
         [fluid]\nparticle_spacing_m = 0.004\ndynamic_viscosity_pa_s = 0.5\n\
         [[particles]]\ntemperature_c = 60.0\nshape.box = {{ min_m = [0.0, 0.01, 0.0], max_m = [0.016, 0.04, \
         0.04] }}\n\
         [[particles]]\ntemperature_c = 10.0\nshape.box = {{ min_m = [0.016, 0.01, 0.0], max_m = [0.032, \
         0.04, 0.04] }}\n\
         [viscoelastic]\nmodulus_pa = 50.0\nrelaxation_time_s = 0.05\nunresolved_damping = 0.0\n{heat}\n"
    )
}

#[test]
fn heat_is_conserved_in_flow_and_acts_through_viscosity_alone() {
    let section = "[viscoelastic.heat]\ncapacity_j_kg_k = 1000.0\nconductivity_w_m_k = 500.0";
    let mut warm = ViscoelasticSimulation::new(&falling(section));
    let total = |fluid: &ViscoelasticSimulation| temperatures(fluid).iter().sum::<f64>();
    let before = total(&warm);
    let spread = |fluid: &ViscoelasticSimulation| {
        let all = temperatures(fluid);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        all.iter().map(|t| (t - mean).abs()).sum::<f64>() / all.len() as f64
    };
    assert!(spread(&warm) > 24.9);
    warm.advance(40);
    // With B = 0, temperature is a passenger: all other bits are those of the fluid without heat.
    let mut cold = ViscoelasticSimulation::new(&falling(""));
    cold.advance(40);
    let columns = |fluid: &ViscoelasticSimulation| {
        download_columns(&fluid.device, &fluid.solver.state_columns()).unwrap()
    };
    let (with, without) = (columns(&warm), columns(&cold));
    assert_eq!(with.len(), without.len() + 1);
    for own in &without {
        let same = with.iter().find(|other| other.name == own.name).unwrap();
        assert_eq!(same.words, own.words, "{}", own.name);
    }
    warm.advance(110);
    let change = (total(&warm) / before - 1.0).abs();
    println!("heat changed by {change:.1e} in 150 steps, spread {:.1} K", spread(&warm));
    // A step rounds each temperature to 2⁻²⁴, at random.
    assert!(change < 1e-6 && spread(&warm) < 20.0, "{change:e} {}", spread(&warm));
    assert_no_validation_messages(&warm.device);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn hot_layers_shear_faster_than_cold_ones() {
    let (layers, dt_s, rate, activation) = (12, 1e-3, 10.0, 6000.0);
    // Little conduction: the linear profile stays as it is.
    let alpha = 0.2 * diffusivity(layers, dt_s);
    let heat = format!(
        "{}\nactivation_temperature_k = {activation:?}\nreference_temperature_c = 40.0\n\
         face_temperatures_c = {{ y_min = 20.0, y_max = 60.0 }}",
        conductivity(alpha)
    );
    let shear = format!("shear = {{ rate_per_s = {rate:?} }}");
    let mut fluid = ViscoelasticSimulation::new(&gap((layers, dt_s), 1.0, &shear, &heat));
    let at = |y: f64| 20.0 + 40.0 * y / GAP_M;
    heat_up(&fluid, at);
    fluid.advance(250);
    // σ is the same everywhere: du/dy ∝ 1/η(T(y)).
    let fluidity = |y: f64| (-activation * (1.0 / (at(y) + 273.15) - 1.0 / 313.15)).exp();
    let cells = 2000;
    let step = GAP_M / f64::from(cells);
    let mut integral = vec![0.0];
    for cell in 0..cells {
        integral.push(integral[cell as usize] + step * fluidity((f64::from(cell) + 0.5) * step));
    }
    let whole = integral[cells as usize];
    let speed = 0.5 * rate * GAP_M;
    let exact = |y: f64| {
        let place = (y / step).clamp(0.0, f64::from(cells) - 1.0);
        let low = integral[place as usize];
        let share = (low + (place - place.floor()) * (integral[place as usize + 1] - low)) / whole;
        speed * (2.0 * share - 1.0)
    };
    let (x, v) = (fluid.positions(), fluid.velocities());
    let mut bins = vec![[0.0; 3]; layers as usize];
    for (x, v) in x.iter().zip(&v) {
        let bin =
            &mut bins[((f64::from(x[1]) / GAP_M * f64::from(layers)) as usize).min(layers as usize - 1)];
        *bin = [bin[0] + 1.0, bin[1] + f64::from(v[0]), bin[2] + exact(f64::from(x[1]))];
    }
    let error = bins.iter().map(|[n, found, exact]| (found - exact).abs() / n).fold(0.0, f64::max) / speed;
    let middle = exact(0.5 * GAP_M) / speed;
    println!("profile off by {:.2} %; the middle moves at {middle:.3} of the wall's speed", 100.0 * error);
    // Without the shift, the middle would be at rest.
    assert!(middle < -0.4 && error < 0.03, "{middle} {error}");
    let stress = fluid.advance(1).stress_pa[3];
    let expected = 2.0 * speed / whole;
    println!("σ_xy {stress:.3} Pa, expected {expected:.3}");
    assert!((stress / expected - 1.0).abs() < 0.05, "{stress} {expected}");
    assert_no_validation_messages(&fluid.device);
}

#[test]
fn bad_heat_is_refused() {
    for (material, heat, expected) in [
        ("", "conductivity_w_m_k = -1.0", "viscoelastic.heat.conductivity_w_m_k"),
        ("", "conductivity_w_m_k = nan", "viscoelastic.heat.conductivity_w_m_k"),
        ("", "conductivity_w_m_k = 1e6", "at most"),
        ("", "conductivity_w_m_k = 1.0\nactivation_temperature_k = -5.0", "activation_temperature_k"),
        ("", "conductivity_w_m_k = 1.0\nreference_temperature_c = nan", "reference_temperature_c"),
        ("", "conductivity_w_m_k = 1.0\nreference_temperature_c = -273.15", "at least 1 K"),
        (
            "",
            "conductivity_w_m_k = 1.0\nface_temperatures_c = { y_min = -300.0 }",
            "face_temperatures_c.y_min",
        ),
        ("", "conductivity_w_m_k = 1.0\nface_temperatures_c = { x_min = 20.0 }", "not periodic"),
        ("", "conductivity_w_m_k = 1.0\nmax_viscosity_shift = 0.0", "max_viscosity_shift"),
        ("", "conductivity_w_m_k = 1.0\nmax_viscosity_shift = 0.5", "at least the minimum, 1"),
        (
            "",
            "conductivity_w_m_k = 1.0\nactivation_temperature_k = 1e5\nface_temperatures_c = { y_min = 0.0 }",
            "max_viscosity_shift",
        ),
    ] {
        let text = gap((8, 1e-3), 1.0, material, heat);
        let found = Scene::parse(&text, "heat.toml", &[]).map(|_| ()).unwrap_err().to_string();
        assert!(found.contains(expected), "{heat}: {found}");
    }
    // The largest viscosity decides whether a solve is implicit.
    let implicit = |heat: &str| {
        let text = gap((8, 1e-5), 1.0, "", &format!("{}\n{heat}", conductivity(1e-6)));
        let scene = Scene::parse(&text, "heat.toml", &[]).unwrap();
        frazil_solvers::viscoelastic::Parameters::from_scene(&scene).is_implicit
    };
    assert!(!implicit("") && !implicit("activation_temperature_k = 5000.0\nreference_temperature_c = 40.0"));
    let cold = "activation_temperature_k = 5000.0\nreference_temperature_c = 40.0\n\
                face_temperatures_c = { y_min = -40.0 }";
    assert!(implicit(cold));
}
