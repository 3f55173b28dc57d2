use frazil_reference::mpm::{Lame, Material, svd};
use glam::{DMat3, DVec3};

use crate::{Random, difference, snow};

/// Returns deformations by up to 30 % and rotations, in a plane and in space.
fn deformations() -> Vec<(usize, DMat3)> {
    let mut random = Random(3);
    let mut all = Vec::new();
    for dimensions in [2, 3] {
        for _ in 0..50 {
            let stretch = DMat3::IDENTITY + random.matrix(dimensions, 0.15);
            let axis = if dimensions == 2 { DVec3::Z } else { random.vector(3, 0.1, 1.0).normalize() };
            all.push((dimensions, DMat3::from_axis_angle(axis, 6.0 * random.next()) * stretch));
        }
    }
    all
}

fn fresh() -> Lame {
    snow().lame(1.0)
}

fn double_dot(a: DMat3, b: DMat3) -> f64 {
    a.to_cols_array().iter().zip(b.to_cols_array()).map(|(a, b)| a * b).sum()
}

#[test]
fn stress_is_the_derivative_of_energy() {
    let mut random = Random(5);
    let lame = fresh();
    for (d, f) in deformations() {
        let direction = random.matrix(d, 1.0);
        let step = 1e-6;
        let energy = |s: f64| lame.energy_pa(f + s * step * direction);
        let slope = (energy(1.0) - energy(-1.0)) / (2.0 * step);
        let work = double_dot(lame.first_piola_pa(f), direction);
        assert!((slope - work).abs() < 1e-3, "{f} {slope} {work}");
        assert!(difference(lame.kirchhoff_pa(f), lame.first_piola_pa(f) * f.transpose()) < 1e-8);
    }
}

#[test]
fn the_differential_is_the_derivative_of_stress() {
    let mut random = Random(6);
    let lame = fresh();
    for (d, f) in deformations() {
        let direction = random.matrix(d, 1.0);
        let step = 1e-6;
        let stress = |s: f64| lame.first_piola_pa(f + s * step * direction);
        let slope = (stress(1.0) - stress(-1.0)) * (0.5 / step);
        let differential = lame.differential_pa(f, direction);
        assert!(difference(slope, differential) < 1e-3, "{f} {slope} {differential}");
    }
}

#[test]
fn a_rotation_causes_no_strain_and_rotates_stress() {
    let r = DMat3::from_axis_angle(DVec3::new(2.0, 3.0, 6.0) / 7.0, 1.3);
    let lame = fresh();
    assert!(lame.energy_pa(r) < 1e-20 && difference(lame.kirchhoff_pa(r), DMat3::ZERO) < 1e-9);
    for (_, f) in deformations() {
        let turned = r * lame.kirchhoff_pa(f) * r.transpose();
        assert!(difference(lame.kirchhoff_pa(r * f), turned) < 1e-8);
    }
}

/// Hooke's law: λ + 2μ and λ in uniaxial strain, μ in shear.
#[test]
fn small_strains_are_linear() {
    let lame = fresh();
    let strain = 1e-6;
    let mut f = DMat3::IDENTITY;
    f.x_axis.x += strain;
    let stress = lame.kirchhoff_pa(f);
    assert!((stress.x_axis.x / strain / (lame.lambda + 2.0 * lame.mu) - 1.0).abs() < 1e-5);
    assert!((stress.y_axis.y / strain / lame.lambda - 1.0).abs() < 1e-5);
    let mut f = DMat3::IDENTITY;
    f.y_axis.x += strain;
    assert!((lame.kirchhoff_pa(f).y_axis.x / strain / lame.mu - 1.0).abs() < 1e-5);
}

/// The numbers of Breekveldt2017 appendix A.
#[test]
fn lame_parameters_are_those_of_the_thesis() {
    assert!((fresh().mu - 58_333.333).abs() < 1e-3 && (fresh().lambda - 38_888.889).abs() < 1e-3);
}

#[test]
fn packed_snow_is_harder_up_to_a_bound() {
    let times = |plastic_volume: f64| snow().lame(plastic_volume).mu / fresh().mu;
    assert!((times(0.8) - 7.389).abs() < 1e-3);
    assert!((times(1.1) - (-1f64).exp()).abs() < 1e-12);
    assert_eq!(times(0.1), times(0.6));
    let elastic = Material { plastic: false, ..snow() };
    assert_eq!(elastic.lame(0.8), fresh());
}

#[test]
fn a_matrix_is_the_product_of_its_decomposition() {
    for (_, f) in deformations() {
        let (u, [a, b, c], v) = svd(f);
        assert!(difference(u * DMat3::from_diagonal(DVec3::new(a, b, c)) * v.transpose(), f) < 1e-14);
        for r in [u, v] {
            assert!(difference(r * r.transpose(), DMat3::IDENTITY) < 1e-14);
            assert!((r.determinant() - 1.0).abs() < 1e-14);
        }
        assert!(a >= b && b >= c && c > 0.0);
        let (_, mirrored, _) = svd(f * DMat3::from_diagonal(DVec3::new(1.0, -1.0, 1.0)));
        assert!((mirrored[2] + c).abs() < 1e-14);
    }
}

#[test]
fn yield_bounds_stretches_and_moves_the_rest_of_the_volume() {
    let material = snow();
    let mut yielded = [0; 2];
    for (d, f) in deformations() {
        let (elastic, plastic_volume) = material.yielded(f, 0.9);
        let (_, sigma, _) = svd(elastic);
        assert!(sigma.iter().all(|s| (0.975 - 1e-14..1.0075 + 1e-14).contains(s)), "{f} {sigma:?}");
        let volume = elastic.determinant() * plastic_volume;
        assert!((volume - f.determinant() * 0.9).abs() < 1e-14);
        // Whatever is left of F is a stretch along its own axes: the rotation does not change.
        let [before, after] = [f, elastic].map(|f| {
            let (u, _, v) = svd(f);
            u * v.transpose()
        });
        assert!(difference(before, after) < 1e-12);
        yielded[d - 2] += u32::from(elastic != f);
    }
    assert!(yielded.iter().all(|n| *n > 40));
    let elastic = Material { plastic: false, ..material };
    assert!(deformations().iter().all(|(_, f)| elastic.yielded(*f, 0.9) == (*f, 0.9)));
}

#[test]
fn viscous_yield_relaxes_a_held_strain_to_its_bounds() {
    // dε/dt = −(ε − θ)/τ by backward Euler: the excess is 1/(1 + Δt/τ)ⁿ of its start after n steps.
    let (dt, tau) = (1e-3, 4e-3);
    let material = Material { yield_share: dt / (tau + dt), ..snow() };
    let mut elastic = DMat3::from_rotation_z(0.3) * DMat3::from_diagonal(DVec3::new(1.05, 0.9, 1.0));
    let (volume, mut plastic_volume) = (elastic.determinant() * 0.9, 0.9);
    for n in 1..20 {
        (elastic, plastic_volume) = material.yielded(elastic, plastic_volume);
        let (_, [stretch, _, compression], _) = svd(elastic);
        let left = (1.0 + dt / tau).powi(-n);
        assert!((stretch - 1.0075 - 0.0425 * left).abs() < 1e-12, "{stretch}");
        assert!((compression - 0.975 + 0.075 * left).abs() < 1e-12, "{compression}");
        assert!((elastic.determinant() * plastic_volume - volume).abs() < 1e-12);
    }
}

#[test]
fn strain_within_the_bounds_does_not_yield() {
    let mut random = Random(8);
    for d in [2, 3] {
        let f = DMat3::from_rotation_z(0.4) * (DMat3::IDENTITY + random.matrix(d, 0.002));
        assert_eq!(snow().yielded(f, 1.1), (f, 1.1));
    }
}
