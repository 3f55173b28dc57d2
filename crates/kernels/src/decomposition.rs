//! Singular value and polar decompositions of arrays of 2×2 and 3×3 matrices.
//!
//! Other kernels can include the same functions: `linalg/svd.glsl` and `linalg/polar.glsl`.

use crate::KernelError;
use crate::error::check_len;
use frazil_shaders::linalg::polar::{POLAR_DIRECT, POLAR_SVD};
use frazil_shaders::linalg::{decompose_polar2, decompose_polar3, decompose_svd2, decompose_svd3};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// A 2×2 matrix as an array of its columns, like GLSL's `mat2` and glam's `Mat2::to_cols_array_2d`.
pub type Matrix2 = [[f32; 2]; 2];
/// A 3×3 matrix as an array of its columns, like GLSL's `mat3` and glam's `Mat3::to_cols_array_2d`.
pub type Matrix3 = [[f32; 3]; 3];

macro_rules! svd {
    ($name:ident, $module:ident, $matrix:ty, $n:literal, $size:literal, $order:literal) => {
        #[doc = concat!("Singular value decompositions M = U diag(σ) Vᵀ of ", $size, " matrices.")]
        ///
        #[doc = concat!("U and V are rotations (det +1), orthonormal to 1e−5; ", $order, ", and the last σ")]
        /// has the sign of det M. |M − U diag(σ) Vᵀ| ≤ 1e−5 |M| in the Frobenius norm, and the errors of σ
        /// are relative to |M| likewise. Any finite matrix is decomposed, whatever its scale and rank; the
        /// zero matrix gives U = V = I and σ = 0. A matrix with an entry that is not finite gives NaN in
        /// every component. Entries and σ below 1.2e−38 count as 0 where the device flushes denormals.
        pub struct $name {
            kernel: Kernel<$module::Interface>,
        }

        impl $name {
            /// Compiles the kernel.
            ///
            /// # Errors
            /// The device refuses it.
            pub fn new(device: &Device) -> Result<Self, KernelError> {
                Self::with_workgroup_size(device, $module::Specialization::default().workgroup_size)
            }

            /// Compiles the kernel with another workgroup size.
            ///
            /// # Errors
            /// The device's limits do not allow it.
            pub fn with_workgroup_size(device: &Device, workgroup_size: u32) -> Result<Self, KernelError> {
                let kernel = Kernel::specialized(device, &$module::Specialization { workgroup_size })?;
                Ok(Self { kernel })
            }

            /// Records the decomposition of the first `count` of `matrices` into as many of `u`, `sigma` and
            /// `v`.
            ///
            /// # Errors
            /// A buffer is smaller than the count's capacity.
            pub fn record(
                &self,
                recorder: &mut Recorder,
                count: &DeviceCount,
                matrices: &Buffer<$matrix>,
                u: &Buffer<$matrix>,
                sigma: &Buffer<[f32; $n]>,
                v: &Buffer<$matrix>,
            ) -> Result<(), KernelError> {
                const PRIMITIVE: &str = concat!($size, " singular values");
                for buffer in [matrices, u, v] {
                    check_len(PRIMITIVE, count, buffer)?;
                }
                check_len(PRIMITIVE, count, sigma)?;
                let bindings = $module::Bindings { count, matrix: matrices, u, sigma, v };
                recorder.dispatch_counted(&self.kernel, bindings, ());
                Ok(())
            }
        }
    };
}

svd!(Svd2, decompose_svd2, Matrix2, 2, "2×2", "σ₁ ≥ |σ₂|");
svd!(Svd3, decompose_svd3, Matrix3, 3, "3×3", "σ₁ ≥ σ₂ ≥ |σ₃|");

/// Method of a polar decomposition. Both meet the whole contract; they may choose different rotations where
/// several are equally near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolarMethod {
    /// R = U Vᵀ, S = V diag(σ) Vᵀ.
    Svd,
    /// 2×2: closed form. 3×3: Newton's iteration, with the singular values as fallback for matrices with det
    /// M ≤ 1e−4 |M|³ (reflecting, singular or nearly so). Cheaper than [`Self::Svd`] near rotations, such as
    /// the deformation gradients of stiff materials; more expensive where one subgroup holds matrices of both
    /// kinds.
    Direct,
}

macro_rules! polar {
    ($name:ident, $module:ident, $matrix:ty, $size:literal, $ambiguous:literal) => {
        #[doc = concat!("Polar decompositions M = R S of ", $size, " matrices.")]
        ///
        /// R is a rotation (det +1), orthonormal to 1e−5; S is symmetric to the last bit, with the singular
        /// values of M as eigenvalues, the last with the sign of det M; |M − R S| ≤ 1e−5 |M| in the Frobenius
        /// norm. So R is the rotation
        #[doc = concat!("nearest to M, also where M is singular or reflects; where ", $ambiguous, " it is")]
        /// one of several. The zero matrix gives R = I and S = 0; a matrix with an entry that is not finite
        /// gives NaN in every component.
        pub struct $name {
            kernel: Kernel<$module::Interface>,
        }

        impl $name {
            /// Compiles the kernel.
            ///
            /// # Errors
            /// The device refuses it.
            pub fn new(device: &Device, method: PolarMethod) -> Result<Self, KernelError> {
                Self::with_workgroup_size(device, method, $module::Specialization::default().workgroup_size)
            }

            /// Compiles the kernel with another workgroup size.
            ///
            /// # Errors
            /// The device's limits do not allow it.
            pub fn with_workgroup_size(
                device: &Device,
                method: PolarMethod,
                workgroup_size: u32,
            ) -> Result<Self, KernelError> {
                let method = match method {
                    PolarMethod::Svd => POLAR_SVD,
                    PolarMethod::Direct => POLAR_DIRECT,
                };
                let kernel =
                    Kernel::specialized(device, &$module::Specialization { workgroup_size, method })?;
                Ok(Self { kernel })
            }

            /// Records the decomposition of the first `count` of `matrices` into as many of `r` and `s`.
            ///
            /// # Errors
            /// A buffer is smaller than the count's capacity.
            pub fn record(
                &self,
                recorder: &mut Recorder,
                count: &DeviceCount,
                matrices: &Buffer<$matrix>,
                r: &Buffer<$matrix>,
                s: &Buffer<$matrix>,
            ) -> Result<(), KernelError> {
                for buffer in [matrices, r, s] {
                    check_len(concat!($size, " polar decomposition"), count, buffer)?;
                }
                let bindings = $module::Bindings { count, matrix: matrices, r, s };
                recorder.dispatch_counted(&self.kernel, bindings, ());
                Ok(())
            }
        }
    };
}

polar!(Polar2, decompose_polar2, Matrix2, "2×2", "σ₁ + σ₂ = 0");
polar!(Polar3, decompose_polar3, Matrix3, "3×3", "σ₂ + σ₃ = 0");
