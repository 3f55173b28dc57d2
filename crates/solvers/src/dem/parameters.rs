//! Parameters of the discrete element method, as kernels use them.

use super::map_grid::MapGrid;
use super::pieces::Pieces;
use crate::Surroundings;
use crate::clock::StepDivision;
use crate::sources::SourceParameters;
use frazil_scene::{Dem, GRAIN_ROOM, damping_ratio};
use frazil_shaders::types::{DemTerms, WrappedGrid};

/// Maximum number of grid cells per grain: the grid is wrapped beyond it.
const CELLS_PER_GRAIN: u64 = 4;
/// Number of cells up to which a grid is never wrapped, for any number of grains.
const FEW_CELLS: u64 = 1 << 14;
/// Maximum number of cells of the grid of pieces: pieces are few, and each step clears all cells.
const CELLS_OF_PIECES: u64 = 1 << 12;
/// Maximum number of cells: the sort treats the grid as a line, whose length must be exact in f32.
const MAX_CELLS: u64 = 1 << 24;

/// Parameters of the discrete element method, as kernels use them.
#[derive(Clone, Debug)]
pub struct DemParameters {
    /// Substeps of a step; the step of [`Self::terms`] is that of a substep.
    pub division: StepDivision,
    /// Parameters that all kernels read.
    pub terms: DemTerms,
    /// Domain and the bodies in it.
    pub surroundings: Surroundings,
    /// Slab pieces.
    pub pieces: Pieces,
    /// Grid on which the peaks of the flow are mapped, if they are.
    pub map: Option<MapGrid>,
    /// Capacity in contact rows per grain, on average.
    pub contacts_per_grain: f64,
    /// Emitters; those of [`Self::of`](super::DemParameters::of) have them.
    pub sources: SourceParameters,
    /// Radius of a grain in m, to which the skin of contact lists is proportional, and that skin.
    pub radius_m: f64,
    /// Half of the width of the distribution of radii, as a share of it.
    pub radius_spread: f64,
    /// Skin of contact lists in m.
    pub skin_m: f64,
    /// Range of contacts between grains, and with pieces, in m.
    reach_m: [f64; 2],
    max_grains: u32,
}

impl DemParameters {
    /// Reads the section of a scene, with its steps and surroundings, for up to `n` grains.
    pub fn new(dem: &Dem, division: StepDivision, surroundings: Surroundings, n: u32) -> Self {
        let bonds = dem.bonds.as_ref();
        let bond_gap_m = bonds.map_or(0.0, |bonds| bonds.strength_n / dem.normal_stiffness_n_m);
        let reach_m = 2.0 * dem.max_radius_m() + dem.cohesion_range_m().max(bond_gap_m);
        let Surroundings { domain_min_m, domain_max_m, gravity_m_s2, up_axis, .. } = surroundings;
        let n_bodies = surroundings.bodies.len() as u32;
        let friction_of = |face: Option<f32>| face.unwrap_or(dem.wall_friction() as f32);
        let [lower_wall_friction, upper_wall_friction] =
            surroundings.face_friction.map(|faces| faces.map(friction_of));
        let layer = dem.weak_layer.as_ref();
        let circle = layer.and_then(|layer| layer.fails_within);
        let steps_before = |time_s: f64| (time_s / division.step_s).round().clamp(0.0, 4e9) as u32;
        let terms = DemTerms {
            grid: WrappedGrid { origin_m: domain_min_m, cells_per_m: 1.0, cells: [3; 3] },
            dt_s: division.dt_s() as f32,
            gravity_m_s2,
            domain_min_m,
            domain_max_m,
            density_kg_m3: dem.density_kg_m3 as f32,
            normal_stiffness_n_m: dem.normal_stiffness_n_m as f32,
            tangential_stiffness_n_m: dem.tangential_stiffness_n_m() as f32,
            tangential_damping_ratio: dem.tangential_damping_ratio as f32,
            damping_ratio: damping_ratio(dem.restitution) as f32,
            friction: dem.friction as f32,
            rolling_friction: dem.rolling_friction as f32,
            wall_damping_ratio: damping_ratio(dem.wall_restitution()) as f32,
            lower_wall_friction,
            upper_wall_friction,
            walls_that_are_bodies: bits(surroundings.face_is_body),
            cohesion_n: dem.cohesion_n as f32,
            cohesion_range_m: dem.cohesion_range_m() as f32,
            adhesion_n: dem.terrain_adhesion_n as f32,
            adhesion_range_m: dem.terrain_adhesion_range_m() as f32,
            turbulent_drag_1_m: dem.turbulent_drag_1_m as f32,
            has_bonds: bonds.is_some().into(),
            bond_strength_n: bonds.map_or(0.0, |bonds| bonds.strength_n as f32),
            bond_shear_strength_n: bonds.map_or(0.0, |bonds| bonds.shear_strength_n() as f32),
            bond_below_m_s: bonds.map_or(0.0, |bonds| bonds.form_below_m_s as f32),
            bond_after_s: bonds.map_or(0.0, |bonds| bonds.form_after_s as f32),
            bond_forms_until: bonds.and_then(|bonds| bonds.forms_until_s).map_or(u32::MAX, steps_before),
            layer_strength_n: layer.map_or(0.0, |layer| layer.strength_n as f32),
            layer_shear_strength_n: layer.map_or(0.0, |layer| layer.shear_strength_n() as f32),
            // Steps count from 1.
            layer_forms_until: layer.map_or(0, |layer| steps_before(layer.forms_until_s)),
            layer_fails_at: layer
                .map_or(0, |layer| layer.fails_at_s.map_or(u32::MAX, |time_s| steps_before(time_s) + 1)),
            layer_centre_m: circle.map_or([0.0; 2], |circle| circle.centre_m.map(|x| x as f32)),
            layer_radius_m: circle.map_or(f32::INFINITY, |circle| circle.radius_m as f32),
            n_bodies,
            first_named: surroundings.first_named(),
            n_pieces: 0,
            piece_grid: WrappedGrid { origin_m: domain_min_m, cells_per_m: 1.0, cells: [3; 3] },
            quanta_per_n: quanta_per_n(dem.normal_stiffness_n_m * dem.radius_m),
            up_axis,
        };
        let contacts_per_grain = dem.contacts_per_grain;
        let parameters = Self {
            division,
            terms,
            surroundings,
            pieces: Pieces::default(),
            map: None,
            contacts_per_grain,
            sources: SourceParameters::default(),
            radius_m: dem.radius_m,
            radius_spread: dem.radius_spread,
            skin_m: 0.0,
            reach_m: [reach_m, 0.0],
            max_grains: n,
        };
        parameters.with_skin(0.0)
    }

    /// Sets the number of grains for which there is room, and the grids for it.
    #[must_use]
    pub(super) fn for_grains(mut self, n: u32) -> Self {
        self.max_grains = n;
        let radii = self.skin_m / self.radius_m;
        self.with_skin(radii)
    }

    /// Sets the skin of contact lists, as a share of the radius, and the grids for it.
    #[must_use]
    pub fn with_skin(mut self, radii: f64) -> Self {
        let Surroundings { domain_min_m, domain_max_m, up_axis, .. } = self.surroundings;
        let domain_m = [domain_min_m, domain_max_m];
        self.skin_m = radii * self.radius_m;
        let [reach_m, piece_reach_m] = self.reach_m.map(|reach_m| reach_m + self.skin_m);
        self.terms.grid = wrapped_grid(domain_m, reach_m, up_axis, cells_for(self.max_grains));
        if self.terms.n_pieces > 0 {
            self.terms.piece_grid = wrapped_grid(domain_m, piece_reach_m, up_axis, CELLS_OF_PIECES);
        }
        self
    }

    /// Adds slab pieces among grains of radius up to `radius_m`.
    #[must_use]
    pub fn with_pieces(mut self, pieces: Pieces, radius_m: f64) -> Self {
        self.reach_m[1] = pieces.reach_m() + radius_m;
        self.terms.n_pieces = pieces.shapes.len() as u32;
        self.pieces = pieces;
        let radii = self.skin_m / self.radius_m;
        self.with_skin(radii)
    }

    /// Returns the mean radius in m of emitted grains, half of the width of the distribution over it, and
    /// half of the distance in m between the points at which they appear.
    pub fn emitted_radius(&self) -> [f32; 3] {
        let max_m = self.radius_m * (1.0 + self.radius_spread);
        [self.radius_m, self.radius_spread, GRAIN_ROOM * max_m].map(|x| x as f32)
    }

    /// Returns the number of grains for which a solver of `n` takes room.
    pub(super) fn capacity(&self, n: usize) -> usize {
        if self.sources.has_emitters() { n.max(self.max_grains as usize) } else { n }
    }

    /// Returns true if anything resists rolling.
    pub fn has_rolling(&self) -> bool {
        self.terms.rolling_friction > 0.0
    }

    /// Returns the capacity in contact rows for `n` grains.
    pub fn n_rows(&self, n: usize) -> usize {
        (self.contacts_per_grain * n as f64).ceil() as usize
    }

    /// Returns the grid of cells in which contacts are searched.
    pub(super) fn grid(&self) -> WrappedGrid {
        self.terms.grid
    }

    /// Returns the number of grid cells.
    pub fn n_cells(&self) -> u32 {
        self.terms.grid.cells.iter().product()
    }
}

/// Returns a word with bit 3 side + axis set where a face is marked.
fn bits(faces: [[bool; 3]; 2]) -> u32 {
    faces.as_flattened().iter().zip(0..).map(|(is_set, bit)| u32::from(*is_set) << bit).sum()
}

/// Returns the inverse of the quantum of force on pieces. Forces add up as 64-bit integers in units of 2^-40
/// of the force that compresses a grain by its radius, rounded to a power of two: far below the precision of
/// f32, with a range of some 2^23 of such forces.
fn quanta_per_n(pressing_n: f64) -> f32 {
    2.0_f64.powf((40.0 - pressing_n.log2().ceil()).clamp(-100.0, 100.0)) as f32
}

/// Returns the maximum number of cells for `n` grains.
fn cells_for(n: u32) -> u64 {
    (CELLS_PER_GRAIN * u64::from(n)).clamp(FEW_CELLS, MAX_CELLS)
}

/// Returns a grid with cells as wide as the contact range of grains, over the domain or, if that would take
/// more than `most` cells, wrapped: in height first, because flows are thin.
fn wrapped_grid([min_m, max_m]: [[f32; 3]; 2], reach_m: f64, up_axis: u32, most: u64) -> WrappedGrid {
    // The margin covers rounding: particles in contact are always in adjacent cells.
    let side_m = 1.001 * reach_m;
    let mut cells: [u64; 3] = std::array::from_fn(|axis| {
        let extent_m = f64::from(max_m[axis]) - f64::from(min_m[axis]);
        (extent_m / side_m).floor().min(1.0e6) as u64 + 1
    });
    // The outermost cells along x stay empty.
    cells[0] += 2;
    cells = cells.map(|n| n.max(3));
    let up = if up_axis == 1 { 1 } else { 2 };
    while cells.iter().product::<u64>() > most {
        let axis = if cells[up] > 8 || cells[3 - up] <= 8 { up } else { 3 - up };
        if cells[axis] == 3 {
            break;
        }
        cells[axis] = cells[axis].div_ceil(2).max(3);
    }
    WrappedGrid { origin_m: min_m, cells_per_m: (1.0 / side_m) as f32, cells: cells.map(|n| n as u32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mostly_empty_grid_is_wrapped() {
        let small = wrapped_grid([[0.0; 3], [1.0; 3]], 0.1, 1, cells_for(10));
        assert_eq!(small.cells, [12, 10, 10]);
        let mountain = wrapped_grid([[0.0; 3], [2000.0, 2500.0, 1000.0]], 4.0, 2, cells_for(100_000));
        let n: u32 = mountain.cells.iter().product();
        assert!(n <= 400_000 && mountain.cells.iter().all(|&n| n >= 3), "{:?}", mountain.cells);
        assert_eq!(mountain.cells[0], 502);
        let flat = wrapped_grid([[0.0; 3], [1.0, 0.0, 1.0]], 0.5, 1, cells_for(1));
        assert!(flat.cells.iter().all(|&n| n >= 3));
    }
}
