//! Fluid between two coaxial cylinders that are bodies, 0.1 and 0.2 m in radius and 0.1 m long, of which the
//! inner one turns at 2/s: Couette's flow, which it starts with.

use frazil_scene::{Sampled, Scene};
use frazil_testkit::Random;
use std::f64::consts::PI;

const INNER_M: f64 = 0.1;
const OUTER_M: f64 = 0.2;
const LENGTH_M: f64 = 0.1;
const RATE_PER_S: f64 = 2.0;

/// Returns A in 1/s and B in m²/s of the flow v = B/r − A r.
fn flow() -> [f64; 2] {
    let a = RATE_PER_S * INNER_M * INNER_M / (OUTER_M * OUTER_M - INNER_M * INNER_M);
    [a, a * OUTER_M * OUTER_M]
}

/// Returns the torque of the flow on the outer cylinder in N m, of which the inner one gets the opposite.
pub fn torque_n_m(viscosity_pa_s: f64) -> f64 {
    4.0 * PI * viscosity_pa_s * LENGTH_M * flow()[1]
}

/// Returns the scene, with the sections of its fluid, and its particles: on rings that fill the gap at the
/// density of rest, displaced by up to `disorder` spacings beside their own disorder.
///
/// # Panics
/// If the scene is refused.
#[allow(clippy::expect_used)]
pub fn coaxial_cylinders(sections: &str, d: f64, dt_s: f64, disorder: f64) -> (Scene, Sampled) {
    let mut random = Random::new(5);
    let mut positions_m = Vec::new();
    let n_rings = ((OUTER_M - INNER_M) / d).round() as usize;
    let n_layers = (LENGTH_M / d).round() as usize;
    for (layer, ring) in (0..n_layers).flat_map(|layer| (0..n_rings).map(move |ring| (layer, ring))) {
        let radius_m = INNER_M + (ring as f64 + 0.5) * d;
        let n = (2.0 * PI * radius_m / d).round();
        let mut at = |k: usize| {
            let turn = 2.0 * PI * (k as f64 + 0.5 * (ring % 2) as f64 + 0.25 * (layer % 2) as f64) / n;
            let mut disordered = |x: f64| (x + disorder * d * (2.0 * f64::from(random.unit()) - 1.0)) as f32;
            [radius_m * turn.cos(), radius_m * turn.sin(), (layer as f64 + 0.5) * d].map(&mut disordered)
        };
        positions_m.extend((0..n as usize).map(&mut at));
    }
    let cylinder = |radius_m: f64| {
        format!(
            "friction = 1.0\nshape.cylinder = {{ from_m = [0.0, 0.0, -0.2], to_m = [0.0, 0.0, 0.2], \
             radius_m = {radius_m:?} }}\n"
        )
    };
    let text = format!(
        "version = 1\nname = \"cylinders\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         time = {{ dt_s = {dt_s:?}, duration_s = 1.0 }}\n{sections}\
         [domain]\nmin_m = [-0.22, -0.22, 0.0]\nmax_m = [0.22, 0.22, {LENGTH_M:?}]\n\
         [[bodies]]\nname = \"outer\"\nside = \"inside\"\n{}\
         [[bodies]]\nname = \"inner\"\n{}motion.spinning = {{ point_m = [0.0, 0.0, 0.0], \
         angular_velocity_rad_s = [0.0, 0.0, {RATE_PER_S:?}] }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.14, 0.0, 0.0], max_m = [0.16, {d:?}, {LENGTH_M:?}] }}\n",
        cylinder(OUTER_M),
        cylinder(INNER_M),
    );
    let scene = Scene::parse(&text, "cylinders.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut sampled = scene.sample().expect("a box of fluid");
    let n = positions_m.len();
    sampled.positions_m = positions_m;
    let [a, b] = flow();
    let velocity = |[x, y, _]: &[f32; 3]| {
        let rate = (b / f64::from(x * x + y * y) - a) as f32;
        [-rate * y, rate * x, 0.0]
    };
    sampled.velocities_m_s = sampled.positions_m.iter().map(velocity).collect();
    sampled.phases.resize(n, sampled.phases[0]);
    sampled.temperatures_c.resize(n, sampled.temperatures_c[0]);
    (scene, sampled)
}
