//! Pieces of slabs for tests.

use frazil_scene::{Dem as Section, SampledSlabs, Slab, SlabLink, SlabPiece};
use frazil_solvers::dem::Pieces;
use frazil_testkit::twins::slabs::twin_slabs;
use glam::{DMat3, DQuat, DVec3};

/// Creates a tetrahedron with edges of about `size`.
pub fn tetrahedron(slab: &Slab, centre: DVec3, size: f64, turn: DQuat) -> SlabPiece {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let place = |c: [f64; 3]| (centre + turn * (0.35 * size * DVec3::from_array(c))).to_array();
    let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    SlabPiece::new(0, slab, corners.map(place).to_vec(), faces.iter().map(|face| face.to_vec()).collect())
}

/// Converts pieces of one slab to their device form.
pub fn pieces(slab: &Slab, section: &Section, pieces: Vec<SlabPiece>, links: Vec<SlabLink>) -> Pieces {
    Pieces::of(std::slice::from_ref(slab), section, &SampledSlabs { pieces, links })
}

/// Sets a piece's angular velocity in rad/s.
pub fn set_spin(pieces: &mut Pieces, piece: usize, spin: DVec3) {
    let twin = twin_slabs(pieces);
    let turn = DMat3::from_quat(twin.motions[piece].rotation);
    let momentum = turn * twin.solids[piece].inertia * turn.transpose() * spin;
    let motion = &mut pieces.motions[piece];
    motion.spin_1_s = spin.as_vec3().to_array();
    motion.angular_momentum_kg_m2_s = momentum.as_vec3().to_array();
}
