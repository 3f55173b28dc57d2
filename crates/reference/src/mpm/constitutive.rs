//! Fixed-corotated energy with hardening and bounded singular values (Breekveldt2017 sec 3.1.4, 3.2.3 and
//! 3.2.7).

use glam::{DMat3, DVec3};

use crate::linalg::{eigen_symmetric, nearest_rotation};

/// The elasto-plastic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// E₀ in Pa.
    pub youngs_modulus_pa: f64,
    /// ν.
    pub poissons_ratio: f64,
    /// ξ.
    pub hardening: f64,
    /// θ_c.
    pub critical_compression: f64,
    /// θ_s.
    pub critical_stretch: f64,
    /// Lower bound of J_P in hardening.
    pub min_plastic_volume: f64,
    /// Share of the strain beyond the bounds that becomes plastic in a step, Δt/(τ + Δt); 1 without
    /// viscosity.
    pub yield_share: f64,
    /// True if the material yields and hardens.
    pub plastic: bool,
}

/// Lamé parameters in Pa after hardening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// μ: the shear modulus.
    pub mu: f64,
    /// λ.
    pub lambda: f64,
}

impl Material {
    /// Returns μ and λ of Breekveldt2017 eq 3.9; λ₀ = E₀ν/((1+ν)(1−2ν)), which Cai2020 misprints.
    pub fn lame(&self, plastic_volume: f64) -> Lame {
        let (e, nu) = (self.youngs_modulus_pa, self.poissons_ratio);
        let hardening = if self.plastic {
            (self.hardening * (1.0 - plastic_volume.max(self.min_plastic_volume))).exp()
        } else {
            1.0
        };
        Lame {
            mu: hardening * e / (2.0 * (1.0 + nu)),
            lambda: hardening * e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        }
    }

    /// Returns F_E and J_P after plastic yield of F̂_E, Breekveldt2017 eq 3.30 with the viscosity of Duvaut &
    /// Lions (1972); `plastic_volume` is J_P before.
    pub fn yielded(&self, trial: DMat3, plastic_volume: f64) -> (DMat3, f64) {
        if !self.plastic {
            return (trial, plastic_volume);
        }
        let (u, sigma, v) = svd(trial);
        let bounded = sigma.map(|s| {
            let bound = s.clamp(1.0 - self.critical_compression, 1.0 + self.critical_stretch);
            s + self.yield_share * (bound - s)
        });
        if bounded == sigma {
            return (trial, plastic_volume);
        }
        let elastic = u * DMat3::from_diagonal(DVec3::from_array(bounded)) * v.transpose();
        (elastic, plastic_volume * trial.determinant() / elastic.determinant())
    }
}

impl Lame {
    /// Returns Ψ in J/m³, Breekveldt2017 eq 3.8.
    pub fn energy_pa(&self, elastic: DMat3) -> f64 {
        let strain = elastic - rotation(elastic);
        let volumetric = elastic.determinant() - 1.0;
        self.mu * double_dot(strain, strain) + 0.5 * self.lambda * volumetric * volumetric
    }

    /// Returns P = ∂Ψ/∂F_E, Breekveldt2017 eq 3.21; J F⁻ᵀ is the matrix of cofactors.
    pub fn first_piola_pa(&self, elastic: DMat3) -> DMat3 {
        2.0 * self.mu * (elastic - rotation(elastic))
            + self.lambda * (elastic.determinant() - 1.0) * cofactors(elastic)
    }

    /// Returns τ = P F_Eᵀ, Breekveldt2017 eq 3.23; symmetric.
    pub fn kirchhoff_pa(&self, elastic: DMat3) -> DMat3 {
        let j = elastic.determinant();
        let tau = 2.0 * self.mu * (elastic - rotation(elastic)) * elastic.transpose()
            + DMat3::from_diagonal(DVec3::splat(self.lambda * (j - 1.0) * j));
        0.5 * (tau + tau.transpose())
    }

    /// Returns δP for δF_E: ∂²Ψ/∂F_E² applied to it.
    pub fn differential_pa(&self, elastic: DMat3, delta: DMat3) -> DMat3 {
        let cofactor = cofactors(elastic);
        2.0 * self.mu * (delta - rotation_differential(elastic, delta))
            + self.lambda * double_dot(cofactor, delta) * cofactor
            + self.lambda * (elastic.determinant() - 1.0) * cofactor_differential(elastic, delta)
    }
}

/// Decomposes M = U diag(σ) Vᵀ of a matrix whose singular values are far from 0. They are in descending
/// order; U and V are rotations, and the last σ has the sign of the determinant.
pub fn svd(m: DMat3) -> (DMat3, [f64; 3], DMat3) {
    let (_, vectors) = eigen_symmetric((m.transpose() * m).to_cols_array_2d());
    let mut v = DMat3::from_cols_array_2d(&vectors);
    v.z_axis = v.x_axis.cross(v.y_axis);
    let images = m * v;
    let u0 = images.x_axis.normalize();
    let u1 = (images.y_axis - u0.dot(images.y_axis) * u0).normalize();
    let u = DMat3::from_cols(u0, u1, u0.cross(u1));
    let sigma = [u.x_axis.dot(images.x_axis), u.y_axis.dot(images.y_axis), u.z_axis.dot(images.z_axis)];
    (u, sigma, v)
}

/// Returns R of F = R S.
fn rotation(f: DMat3) -> DMat3 {
    DMat3::from_cols_array_2d(&nearest_rotation(f.to_cols_array_2d()))
}

/// Returns δR for δF: RᵀδR is the skew matrix W for which S W + W S = RᵀδF − δFᵀR, or (tr S − S) w = the
/// axial vector of the right-hand side.
fn rotation_differential(f: DMat3, delta: DMat3) -> DMat3 {
    let r = rotation(f);
    let s = r.transpose() * f;
    let a = r.transpose() * delta;
    let axial = axial(a);
    let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
    let w = (DMat3::from_diagonal(DVec3::splat(trace)) - s).inverse() * axial;
    let skew =
        DMat3::from_cols(DVec3::new(0.0, w.z, -w.y), DVec3::new(-w.z, 0.0, w.x), DVec3::new(w.y, -w.x, 0.0));
    r * skew
}

/// Returns the axial vector of A − Aᵀ: (A − Aᵀ) x = a × x.
pub(super) fn axial(a: DMat3) -> DVec3 {
    DVec3::new(a.y_axis.z - a.z_axis.y, a.z_axis.x - a.x_axis.z, a.x_axis.y - a.y_axis.x)
}

/// Returns J F⁻ᵀ.
fn cofactors(f: DMat3) -> DMat3 {
    DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

/// Returns the change of J F⁻ᵀ with F.
fn cofactor_differential(f: DMat3, delta: DMat3) -> DMat3 {
    let change = |a: DVec3, b: DVec3, da: DVec3, db: DVec3| da.cross(b) + a.cross(db);
    DMat3::from_cols(
        change(f.y_axis, f.z_axis, delta.y_axis, delta.z_axis),
        change(f.z_axis, f.x_axis, delta.z_axis, delta.x_axis),
        change(f.x_axis, f.y_axis, delta.x_axis, delta.y_axis),
    )
}

/// Returns A : B.
fn double_dot(a: DMat3, b: DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}
