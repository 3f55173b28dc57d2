//! Density at the nodes of the active blocks.

use crate::{KernelError, SparseBlocks};
use frazil_shaders::surface::splat_density;
use frazil_vk::{Buffer, Device, Kernel, Recorder, Threads};

/// Threads per block: one for each node.
const BLOCK_NODES: u32 = 64;

/// Masses of particles.
#[derive(Clone, Copy, Debug)]
pub enum SplatMass<'a> {
    /// Equal masses, in kg.
    Same(f32),
    /// A mass per particle, in kg.
    Each(&'a Buffer<f32>),
}

/// Density at nodes: ρ_i = Σ m W(x_i − x_p) in kg/m³, in place of Gucer2010 eq 3.18.
///
/// W is the cubic spline with a support of `radius_cells` cells, which integrates to 1: inside a body, values
/// are near its density, half of it on a flat surface, and 0 at two or more cells from all particles, where
/// there are no blocks. Sums run in the particles' sorted order, so the results have the same bits on every
/// run.
pub struct SplatDensity {
    same: Kernel<splat_density::Interface>,
    each: Kernel<splat_density::Interface>,
    radius_cells: f32,
}

impl SplatDensity {
    /// Compiles the kernels, for a support of `radius_cells` cells.
    ///
    /// # Errors
    /// A support that is not above 0, or is above 2 cells; workgroups of fewer than 64 threads, or more than
    /// the device allows.
    pub fn new(device: &Device, radius_cells: f32, workgroup_size: u32) -> Result<Self, KernelError> {
        if !(radius_cells > 0.0 && radius_cells <= 2.0) {
            let problem = format!("a splat's radius of {radius_cells} cells, expected above 0 and at most 2");
            return Err(KernelError::Surface { problem });
        }
        super::check_workgroup("splat density", workgroup_size)?;
        let kernel = |own_mass| {
            let specialization =
                splat_density::Specialization { workgroup_size, threads_per_item: BLOCK_NODES, own_mass };
            Kernel::specialized(device, &specialization)
        };
        Ok(Self { same: kernel(0)?, each: kernel(1)?, radius_cells })
    }

    /// Returns the support of the splat, in cells.
    pub fn radius_cells(&self) -> f32 {
        self.radius_cells
    }

    /// Records the computation of `density` at all nodes of the active blocks, 64 per block, in kg/m³.
    ///
    /// `position`, in m, and masses are sorted by the keys that `blocks` was found from. The blocks must have
    /// been found with a shift of one cell: others would not cover all nodes of a splat of two cells.
    ///
    /// # Errors
    /// Two-dimensional blocks, or blocks whose shift does not fit the radius; `density` is too small for
    /// them; a mass that is not finite.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        blocks: &SparseBlocks,
        position: &Buffer<[f32; 3]>,
        mass: SplatMass<'_>,
        density: &Buffer<f32>,
    ) -> Result<(), KernelError> {
        let layout = blocks.layout();
        super::check_layout(layout)?;
        let lattice = layout.lattice();
        let (shift, radius) = (lattice.shift_cells, self.radius_cells);
        // The nodes within the radius are floor(ξ − shift) to 3 more, for any position ξ in the cell.
        if !(radius - 1.0..=3.0 - radius).contains(&shift) {
            let problem = format!(
                "blocks of particles that reach nodes from {shift} cells below, expected {} to {} for a \
                 radius of {radius} cells",
                radius - 1.0,
                3.0 - radius
            );
            return Err(KernelError::Surface { problem });
        }
        super::check_nodes("splat density", blocks.active_count(), density)?;
        if let SplatMass::Each(mass) = mass
            && mass.len() < position.len()
        {
            return Err(KernelError::TooSmall {
                primitive: "splat density",
                object: mass.name().to_owned(),
                found: mass.len() as u64,
                required: position.len() as u64,
            });
        }
        let per_m = lattice.cells_per_m / radius;
        let unit = 16.0 / std::f32::consts::PI * per_m * per_m * per_m;
        let unused = position.cast();
        let (kernel, mass, scale) = match mass {
            SplatMass::Same(mass_kg) if mass_kg.is_finite() => (&self.same, &unused, mass_kg * unit),
            SplatMass::Same(mass_kg) => {
                let problem = format!("particles of {mass_kg} kg, expected a finite mass");
                return Err(KernelError::Surface { problem });
            }
            SplatMass::Each(mass) => (&self.each, mass, unit),
        };
        let bindings = splat_density::Bindings {
            active_count: &blocks.active_count().count,
            active_block: blocks.active(),
            source: blocks.source(),
            first_cell: blocks.first_cell(),
            cell_start: blocks.cell_start(),
            position,
            mass,
            density,
        };
        let params = splat_density::Params { lattice, inverse_radius: 1.0 / radius, scale };
        recorder.dispatch(kernel, Threads::Counted(blocks.active_count()), bindings, params);
        Ok(())
    }
}
