use frazil_reference::mpm::{Parameters, Spline, Stencil, Weights};
use glam::{DMat3, DVec3};

use crate::{CELL_M, Random, close, difference, parameters};

fn splines() -> Vec<Parameters> {
    let kinds = [
        (Spline::Cubic, Weights::Factored),
        (Spline::Cubic, Weights::AsPrinted),
        (Spline::Quadratic, Weights::Factored),
    ];
    let with = |dimensions, (spline, weights)| Parameters { spline, weights, ..parameters(dimensions) };
    [2, 3].into_iter().flat_map(|d| kinds.map(|kind| with(d, kind))).collect()
}

/// Anywhere, on a node, between nodes, and on the corners of the domain.
fn positions(p: &Parameters) -> Vec<DVec3> {
    let mut random = Random(7);
    let flat = |x: f64| if p.dimensions == 2 { DVec3::new(x, x, 0.0) } else { DVec3::splat(x) };
    let mut positions = vec![flat(1.0), flat(1.05), flat(1.0 - 1e-12), p.domain_min_m, p.domain_max_m];
    positions.extend((0..100).map(|_| random.vector(p.dimensions, 0.0, 2.0)));
    positions
}

#[test]
fn weights_add_up_to_one_and_gradients_to_nothing() {
    for p in splines() {
        for x in positions(&p) {
            let nodes = Stencil::new(&p, x).nodes();
            let weight: f64 = nodes.iter().map(|n| n.weight).sum();
            let gradient: DVec3 = nodes.iter().map(|n| n.gradient).sum();
            assert!((weight - 1.0).abs() < 1e-14 && gradient.length() < 1e-13 / CELL_M, "{p:?} {x}");
        }
    }
}

/// Σ w (x_i − x) = 0, Σ (x_i − x) ∇wᵀ = I, Σ w (x_i − x)(x_i − x)ᵀ = D_p I.
#[test]
fn moments_are_those_that_affine_transfer_builds_on() {
    for p in splines() {
        let mut unit = DMat3::IDENTITY;
        if p.dimensions == 2 {
            unit.z_axis = DVec3::ZERO;
        }
        for x in positions(&p) {
            let (mut first, mut slope, mut second) = (DVec3::ZERO, DMat3::ZERO, DMat3::ZERO);
            for n in Stencil::new(&p, x).nodes() {
                let r = p.node_m(n.node) - x;
                first += n.weight * r;
                for axis in 0..3 {
                    *slope.col_mut(axis) += r * n.gradient[axis];
                    *second.col_mut(axis) += n.weight * r * r[axis];
                }
            }
            assert!(close(first, DVec3::ZERO, 1e-14), "{p:?} {x}");
            assert!(difference(slope, unit) < 1e-13, "{p:?} {x}");
            assert!(difference(second, p.inertia_m2() * unit) < 1e-15, "{p:?} {x}");
        }
    }
}

#[test]
fn gradients_are_central_differences_of_weights() {
    let step = 1e-5 * CELL_M;
    for p in splines() {
        // At the boundary between two cells the first node of a particle changes.
        for x in positions(&p).into_iter().skip(5) {
            for (i, n) in Stencil::new(&p, x).nodes().iter().enumerate() {
                for axis in 0..p.dimensions {
                    let weight =
                        |s: f64| Stencil::new(&p, x + s * step * DVec3::AXES[axis]).nodes()[i].weight;
                    let slope = (weight(1.0) - weight(-1.0)) / (2.0 * step);
                    assert!((slope - n.gradient[axis]).abs() < 1e-8 / CELL_M, "{p:?} {x} {n:?} {slope}");
                }
            }
        }
    }
}

#[test]
fn the_factored_cubic_spline_is_the_printed_one() {
    let factored = parameters(3);
    let printed = Parameters { weights: Weights::AsPrinted, ..parameters(3) };
    for x in positions(&factored) {
        let pairs = Stencil::new(&factored, x).nodes().into_iter().zip(Stencil::new(&printed, x).nodes());
        for (a, b) in pairs {
            assert!(a.node == b.node && (a.weight - b.weight).abs() < 1e-15, "{x} {a:?} {b:?}");
            assert!(a.weight >= 0.0, "{x} {a:?}");
        }
    }
}
