//! Depth-averaged flow on a terrain: an independent reference for the run-out of grains.
//!
//! The flow is a layer of thickness h perpendicular to the ground and of one velocity over it. It is
//! represented by columns of constant volume that move with it, like the particles of com1DFA (Tonnel2023): h
//! and the mean velocity are gathered at the nodes of the terrain's grid, by bilinear weights. The velocity
//! of a column is tangential to the ground, and changes by
//!
//! - gravity along the ground, and the pressure −g_n ∇h of a hydrostatic layer;
//! - basal friction τ/(ρ h), against the motion ([`Friction`]);
//! - g_n, gravity towards the ground and the normal acceleration of a curved path: friction, not pressure,
//!   includes the latter, as by default in com1DFA;
//! - mixing: a column of volume V exchanges momentum with the mean around it, at the rate C |Δv| √(h/(π V)),
//!   the artificial viscosity of com1DFA with its C = 100. The columns are its particles, which hold 0.25 m
//!   of thickness in a cell: four in each cell of a release of 1 m.
//!
//! There is no entrainment, and no earth pressure other than hydrostatic.

use glam::{DVec2, DVec3};
use std::f64::consts::PI;

const G: f64 = 9.81;

/// Coefficient of the mixing of momentum.
const MIXING: f64 = 100.0;

/// Thickness in m below which friction and its turbulent part are those of this thickness.
const MIN_THICKNESS_M: f64 = 0.05;

/// Basal friction τ of a layer, with σ = ρ g_n h.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// τ = μ σ.
    Coulomb {
        /// μ.
        mu: f64,
    },
    /// τ = μ σ + ρ g v²/ξ (Voellmy1955).
    Voellmy {
        /// μ.
        mu: f64,
        /// ξ in m/s².
        xi: f64,
    },
    /// τ = μ σ (1 + R₀/(R₀ + R)) + ρ v²/(ln(h/r)/κ + B)², R = ρ v²/σ: samosAT's (Sampl2004), with the values
    /// of com1DFA's standard calibration but for μ.
    SamosAt {
        /// μ, 0.155 in the standard calibration.
        mu: f64,
    },
    /// τ = μ σ + k ρ h v²: the drag of grains.
    Drag {
        /// μ.
        mu: f64,
        /// k in 1/m.
        k: f64,
    },
}

impl Friction {
    /// Returns the deceleration τ/(ρ h) at rest, and its part that is proportional to the square of the
    /// speed, in 1/m, for a thickness h, a load g_n and a speed.
    fn terms(self, h: f64, normal_m_s2: f64, speed: f64) -> (f64, f64) {
        let h = h.max(MIN_THICKNESS_M);
        match self {
            Self::Coulomb { mu } => (mu * normal_m_s2, 0.0),
            Self::Voellmy { mu, xi } => (mu * normal_m_s2, G / (xi * h)),
            Self::SamosAt { mu } => {
                const R0: f64 = 0.222;
                let ratio = speed * speed / (normal_m_s2 * h).max(1e-6);
                let log = ((h / 0.05).ln() / 0.43).max(0.0) + 4.13;
                (mu * normal_m_s2 * (1.0 + R0 / (R0 + ratio)), 1.0 / (h * log * log))
            }
            Self::Drag { mu, k } => (mu * normal_m_s2, k),
        }
    }
}

/// Terrain: heights at the nodes of a grid with the first at the origin, rows along y.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Distance of nodes in m.
    pub cell_m: f64,
    /// Number of nodes along x and y.
    pub n: [usize; 2],
    /// Heights in m; NaN where unknown.
    pub heights_m: Vec<f64>,
}

/// Nodes around a point, and their bilinear weights.
type Weights = [(usize, f64); 4];

impl Ground {
    /// Returns the nodes around a point; `None` off the map.
    fn weights(&self, at: DVec2) -> Option<Weights> {
        let place = at / self.cell_m;
        let corner = place.floor();
        if corner.min_element() < 0.0
            || corner.x as usize + 1 >= self.n[0]
            || corner.y as usize + 1 >= self.n[1]
        {
            return None;
        }
        let (share, first) = (place - corner, corner.y as usize * self.n[0] + corner.x as usize);
        let [x, y] = [share.x, share.y];
        let up = first + self.n[0];
        Some([
            (first, (1.0 - x) * (1.0 - y)),
            (first + 1, x * (1.0 - y)),
            (up, (1.0 - x) * y),
            (up + 1, x * y),
        ])
    }

    /// Returns the central difference of nodal values along x and y, one-sided at edges and beside unknown
    /// values.
    fn gradient(&self, values: &[f64], node: usize) -> DVec2 {
        let at = [node % self.n[0], node / self.n[0]];
        let along = |axis: usize, stride: usize| {
            let of = |k: usize| Some(values[k]).filter(|v| !v.is_nan());
            let before = (at[axis] > 0).then(|| node - stride).and_then(of);
            let after = (at[axis] + 1 < self.n[axis]).then(|| node + stride).and_then(of);
            let here = values[node];
            match (before, after) {
                (Some(a), Some(b)) => (b - a) / (2.0 * self.cell_m),
                (Some(a), None) => (here - a) / self.cell_m,
                (None, Some(b)) => (b - here) / self.cell_m,
                (None, None) => 0.0,
            }
        };
        DVec2::new(along(0, 1), along(1, self.n[0]))
    }

    /// Returns the gradient of bilinear interpolation between the nodes around a point.
    fn bilinear_gradient(&self, values: &[f64], at: DVec2, weights: &Weights) -> DVec2 {
        let [a, b, c, d] = weights.map(|(node, _)| values[node]);
        let share = (at / self.cell_m).fract();
        let along_x = (b - a) * (1.0 - share.y) + (d - c) * share.y;
        let along_y = (c - a) * (1.0 - share.x) + (d - b) * share.x;
        DVec2::new(along_x, along_y) / self.cell_m
    }

    /// Returns upward unit normals at nodes; NaN where unknown.
    fn normals(&self) -> Vec<DVec3> {
        let of = |node: usize| {
            if self.heights_m[node].is_nan() {
                return DVec3::NAN;
            }
            let slope = self.gradient(&self.heights_m, node);
            DVec3::new(-slope.x, -slope.y, 1.0).normalize()
        };
        (0..self.heights_m.len()).map(of).collect()
    }
}

/// Column of the flow.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Position on the map in m.
    pub at: DVec2,
    /// Velocity in m/s, tangential to the ground.
    pub velocity: DVec3,
    /// Volume in m³.
    pub volume: f64,
}

/// Depth-averaged flow.
#[derive(Clone, Debug)]
pub struct Flow {
    ground: Ground,
    normals: Vec<DVec3>,
    friction: Friction,
    /// True if friction includes the normal acceleration of curved paths.
    pub has_curvature: bool,
    /// Columns that are on the map.
    pub columns: Vec<Column>,
    /// Thickness of the layer at nodes in m, perpendicular to the ground, and its maximum over time.
    pub thickness_m: Vec<f64>,
    /// See [`Self::thickness_m`].
    pub peak_thickness_m: Vec<f64>,
    /// Maximum over time of the speed of the mean velocity at nodes, in m/s.
    pub peak_speed_m_s: Vec<f64>,
    mean: Vec<DVec3>,
}

impl Flow {
    /// Makes a flow at rest: columns of equal spacing, `side`² in each cell, with this thickness where it is
    /// positive.
    pub fn new(ground: Ground, friction: Friction, side: usize, thickness_m: impl Fn(DVec2) -> f64) -> Self {
        let normals = ground.normals();
        let n = ground.heights_m.len();
        let mut flow = Self {
            normals,
            friction,
            has_curvature: true,
            columns: Vec::new(),
            thickness_m: vec![0.0; n],
            peak_thickness_m: vec![0.0; n],
            peak_speed_m_s: vec![0.0; n],
            mean: vec![DVec3::ZERO; n],
            ground,
        };
        let step = flow.ground.cell_m / side as f64;
        let [wide, high] = flow.ground.n.map(|n| (n - 1) * side);
        for k in 0..wide * high {
            let at = step * (DVec2::new((k % wide) as f64, (k / wide) as f64) + 0.5);
            let h = thickness_m(at);
            if h > 0.0
                && let Some((_, normal)) = flow.at(at)
            {
                let volume = h * step * step / normal.z;
                flow.columns.push(Column { at, velocity: DVec3::ZERO, volume });
            }
        }
        flow.gather();
        flow
    }

    /// Returns the nodes around a point and the normal there; `None` where the ground is unknown.
    fn at(&self, at: DVec2) -> Option<(Weights, DVec3)> {
        let weights = self.ground.weights(at)?;
        let normal = weights.iter().map(|(node, w)| *w * self.normals[*node]).sum::<DVec3>().normalize();
        (!normal.is_nan()).then_some((weights, normal))
    }

    /// Gathers thickness and mean velocity at nodes, and raises their maxima.
    fn gather(&mut self) {
        self.thickness_m.fill(0.0);
        self.mean.fill(DVec3::ZERO);
        for column in &self.columns {
            for (node, w) in self.ground.weights(column.at).into_iter().flatten() {
                self.thickness_m[node] += w * column.volume;
                self.mean[node] += w * column.volume * column.velocity;
            }
        }
        for node in 0..self.mean.len() {
            let volume = self.thickness_m[node];
            if volume == 0.0 {
                continue;
            }
            self.mean[node] /= volume;
            self.thickness_m[node] =
                volume * self.normals[node].z / (self.ground.cell_m * self.ground.cell_m);
            let [peak, speed] = [&mut self.peak_thickness_m[node], &mut self.peak_speed_m_s[node]];
            *peak = peak.max(self.thickness_m[node]);
            *speed = speed.max(self.mean[node].length());
        }
    }

    /// Advances the flow by a step. Columns that leave the map are lost.
    pub fn step(&mut self, dt: f64) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.retain_mut(|column| self.advance(column, dt).is_some());
        self.columns = columns;
        self.gather();
    }

    fn advance(&self, column: &mut Column, dt: f64) -> Option<()> {
        let (weights, normal) = self.at(column.at)?;
        let h: f64 = weights.iter().map(|(node, w)| w * self.thickness_m[*node]).sum();
        let slope = self.ground.bilinear_gradient(&self.thickness_m, column.at, &weights);
        let mean: DVec3 = weights.iter().map(|(node, w)| *w * self.mean[*node]).sum();
        let tangential = |v: DVec3| v - v.dot(normal) * normal;
        let load = G * normal.z;
        let mut v = tangential(column.velocity);
        let apart = v - tangential(mean);
        let rate = MIXING * (h / (PI * column.volume)).sqrt() * apart.length();
        v -= apart * (1.0 - 1.0 / (1.0 + dt * rate));
        v += dt * tangential(DVec3::new(0.0, 0.0, -G) - load * slope.extend(0.0));
        // Curvature along the path, from the normal that the column reaches.
        let ahead = self.at(column.at + dt * v.truncate())?.1;
        let pressed = if self.has_curvature { (load - (ahead - normal).dot(v) / dt).max(0.0) } else { load };
        let speed = v.length();
        let (dry, turbulent) = self.friction.terms(h, pressed, speed);
        let slowed = (speed - dt * dry).max(0.0) / (1.0 + dt * turbulent * speed);
        v *= if speed > 0.0 { slowed / speed } else { 0.0 };
        column.at += dt * v.truncate();
        // On the new tangential plane, with the same speed: the ground does no work.
        let (_, normal) = self.at(column.at)?;
        let speed = v.length();
        column.velocity = (v - v.dot(normal) * normal).normalize_or_zero() * speed;
        Some(())
    }

    /// Returns the kinetic energy over the density, in m⁵/s².
    pub fn kinetic_energy(&self) -> f64 {
        self.columns.iter().map(|c| 0.5 * c.volume * c.velocity.length_squared()).sum()
    }

    /// Steps until the kinetic energy is 1 % of its maximum, com1DFA's criterion, or for `max_s`; returns
    /// the time.
    pub fn run(&mut self, dt: f64, max_s: f64) -> f64 {
        let (mut time_s, mut highest) = (0.0, 0.0_f64);
        while time_s < max_s {
            self.step(dt);
            time_s += dt;
            let energy = self.kinetic_energy();
            highest = highest.max(energy);
            if energy < 0.01 * highest {
                break;
            }
        }
        time_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the ground of a height that depends on x.
    fn track(n: [usize; 2], cell_m: f64, height_m: impl Fn(f64) -> f64) -> Ground {
        let heights_m = (0..n[0] * n[1]).map(|k| height_m((k % n[0]) as f64 * cell_m)).collect();
        Ground { cell_m, n, heights_m }
    }

    /// Returns columns in the middle of the width, sorted along x.
    fn middle(flow: &Flow) -> Vec<Column> {
        let half = 0.5 * (flow.ground.n[1] - 1) as f64 * flow.ground.cell_m;
        let near = |c: &&Column| (c.at.y - half).abs() < 2.0 * flow.ground.cell_m;
        let mut columns: Vec<Column> = flow.columns.iter().filter(near).copied().collect();
        columns.sort_by(|a, b| a.at.x.total_cmp(&b.at.x));
        columns
    }

    /// The middle of a layer, which neither end has reached, accelerates as v tanh(t a/v) to v = √(ξ h (sin θ
    /// − μ cos θ)), a = g (sin θ − μ cos θ) (Voellmy1955).
    #[test]
    fn a_layer_reaches_the_terminal_speed_of_voellmys_friction() {
        let (theta, mu, xi, h) = (30.0_f64.to_radians(), 0.2, 400.0, 1.0);
        let ground = track([121, 81], 5.0, |x| -x * theta.tan());
        let area =
            |at: DVec2| if (10.0..300.0).contains(&at.x) && (20.0..380.0).contains(&at.y) { h } else { 0.0 };
        let mut flow = Flow::new(ground, Friction::Voellmy { mu, xi }, 2, area);
        let excess = theta.sin() - mu * theta.cos();
        let terminal = (xi * h * excess).sqrt();
        let dt = 0.02;
        for step in 1..=400 {
            flow.step(dt);
            if step % 100 != 0 {
                continue;
            }
            let t = dt * f64::from(step);
            let expected = terminal * (G * excess * t / terminal).tanh();
            let columns = middle(&flow);
            let found = columns[columns.len() / 2].velocity.length();
            // Steps of 0.02 s in a time of 3.5 s.
            assert!((found / expected - 1.0).abs() < 0.01, "after {t} s: {found} m/s, expected {expected}");
        }
    }

    /// A column under Coulomb friction alone stops where a line of slope μ from its start meets the ground,
    /// if friction has no part of the path's curvature.
    #[test]
    fn a_column_stops_on_its_energy_line() {
        let ground = track([401, 9], 5.0, |x| 500.0 * (1.0 - x / 1000.0).max(0.0).powi(2));
        for mu in [0.3, 0.4, 0.5] {
            let start = DVec2::new(101.25, 21.25);
            let thin = |at: DVec2| if at.distance(start) < 0.1 { 1e-6 } else { 0.0 };
            let mut flow = Flow::new(ground.clone(), Friction::Coulomb { mu }, 2, thin);
            flow.has_curvature = false;
            while flow.kinetic_energy() > 0.0 || flow.columns[0].at.x < 110.0 {
                flow.step(0.02);
            }
            let end = flow.columns[0].at;
            let height = |at: DVec2| {
                let weights = flow.ground.weights(at).unwrap();
                weights.iter().map(|(node, w)| w * flow.ground.heights_m[*node]).sum::<f64>()
            };
            let found = (height(start) - height(end)) / (end.x - start.x);
            println!("{mu}: {found:.4} at {end}");
            assert!((found / mu - 1.0).abs() < 0.02, "μ {mu}: {found}");
        }
    }

    /// A dam on a slope with Coulomb friction breaks with h = (2 c₀ − x/t + ½ m t)²/(9 g cos θ), x downhill
    /// from the dam, c₀ = √(g h₀ cos θ), m = g (sin θ − μ cos θ) (Mangeney2000).
    #[test]
    fn a_dam_on_a_slope_breaks_by_the_analytic_solution() {
        let (theta, mu, h0) = (30.0_f64.to_radians(), 0.3, 5.0);
        let cell_m = 2.5;
        let ground = track([241, 57], cell_m, |x| -x * theta.tan());
        let dam = 250.0;
        let area = |at: DVec2| if at.x < dam { h0 } else { 0.0 };
        let mut flow = Flow::new(ground, Friction::Coulomb { mu }, 2, area);
        let t = 8.0;
        for _ in 0..400 {
            flow.step(0.02);
        }
        let (load, m) = (G * theta.cos(), G * (theta.sin() - mu * theta.cos()));
        let c0 = (load * h0).sqrt();
        let row = 28 * flow.ground.n[0];
        let (mut error, mut total) = (0.0, 0.0);
        for column in 60..240 {
            let x = (column as f64 * cell_m - dam) / theta.cos();
            let below = (2.0 * c0 - x / t + 0.5 * m * t).max(0.0);
            let expected = (below * below / (9.0 * load)).min(h0);
            let found = flow.thickness_m[row + column];
            error += (found - expected).abs();
            total += expected;
            println!("{x:.1} {found:.3} {expected:.3}");
        }
        assert!(error < 0.06 * total, "{} of the volume is elsewhere", error / total);
    }
}
