//! Nodes in the stencil of a particle, with their weights and gradients (Breekveldt2017 eq 3.2 to 3.7).

use glam::DVec3;

use super::{Parameters, Spline, Weights};

/// Node in the stencil of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Index along each axis.
    pub node: [i64; 3],
    /// w_ip.
    pub weight: f64,
    /// ∇w_ip in 1/m.
    pub gradient: DVec3,
}

/// Stencil of a particle; an axis beyond the dimensions has one node of weight 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// The first node.
    pub base: [i64; 3],
    /// (N, ∇N) of each node along each axis, ∇N in 1/m.
    axes: [Vec<(f64, f64)>; 3],
}

impl Stencil {
    /// Stencil around a position in m.
    pub fn new(p: &Parameters, position: DVec3) -> Self {
        let xi = (position - p.origin_m()) / p.cell_size_m;
        let mut base = [0; 3];
        let mut axes = [const { Vec::new() }; 3];
        for axis in 0..3 {
            axes[axis] = if axis < p.dimensions {
                let (first, values) = along(p, xi[axis]);
                base[axis] = first;
                values.into_iter().map(|(n, slope)| (n, slope / p.cell_size_m)).collect()
            } else {
                vec![(1.0, 0.0)]
            };
        }
        Self { base, axes }
    }

    /// Returns all nodes, x fastest.
    pub fn nodes(&self) -> Vec<Neighbour> {
        let mut nodes = Vec::new();
        for (k, (nz, dz)) in (0..).zip(&self.axes[2]) {
            for (j, (ny, dy)) in (0..).zip(&self.axes[1]) {
                for (i, (nx, dx)) in (0..).zip(&self.axes[0]) {
                    nodes.push(Neighbour {
                        node: [self.base[0] + i, self.base[1] + j, self.base[2] + k],
                        weight: nx * ny * nz,
                        gradient: DVec3::new(dx * ny * nz, nx * dy * nz, nx * ny * dz),
                    });
                }
            }
        }
        nodes
    }
}

/// Returns the first node along an axis, and (N, dN/dξ) of each, at a position in cells.
fn along(p: &Parameters, xi: f64) -> (i64, Vec<(f64, f64)>) {
    match p.spline {
        Spline::Cubic => {
            let f = xi - xi.floor();
            let g = 1.0 - f;
            let weights = match p.weights {
                Weights::Factored => [
                    g.powi(3) / 6.0,
                    (3.0 * f.powi(3) - 6.0 * f * f + 4.0) / 6.0,
                    (3.0 * g.powi(3) - 6.0 * g * g + 4.0) / 6.0,
                    f.powi(3) / 6.0,
                ],
                Weights::AsPrinted => [1.0, 0.0, -1.0, -2.0].map(|d| as_printed(f + d)),
            };
            // dN/dx of Breekveldt2017 eq 3.6 with the missing sign restored.
            let slopes = [-g * g / 2.0, f * (3.0 * f - 4.0) / 2.0, -g * (3.0 * g - 4.0) / 2.0, f * f / 2.0];
            (xi.floor() as i64 - 1, weights.into_iter().zip(slopes).collect())
        }
        Spline::Quadratic => {
            let base = (xi - 0.5).floor();
            let f = xi - base;
            let weights = [(1.5 - f).powi(2) / 2.0, 0.75 - (f - 1.0).powi(2), (f - 0.5).powi(2) / 2.0];
            let slopes = [f - 1.5, -2.0 * (f - 1.0), f - 0.5];
            (base as i64, weights.into_iter().zip(slopes).collect())
        }
    }
}

/// Returns N of Breekveldt2017 eq 3.3.
fn as_printed(d: f64) -> f64 {
    let x = d.abs();
    if x < 1.0 {
        0.5 * x.powi(3) - x * x + 2.0 / 3.0
    } else if x < 2.0 {
        -x.powi(3) / 6.0 + x * x - 2.0 * x + 4.0 / 3.0
    } else {
        0.0
    }
}
