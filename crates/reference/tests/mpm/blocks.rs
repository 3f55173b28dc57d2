use std::collections::BTreeSet;

use frazil_reference::mpm::{Lattice, Parameters, Particle, Spline, State, Stencil, cell_ranges};
use glam::DVec3;

use crate::{Random, parameters};

/// Returns particles all over the domain, including its corners.
fn everywhere(p: &Parameters) -> State {
    let mut random = Random(11);
    let mut positions: Vec<DVec3> = (0..200).map(|_| random.vector(p.dimensions, 0.0, 2.0)).collect();
    positions.extend([p.domain_min_m, p.domain_max_m, positions[0], positions[0]]);
    State::new((0..).zip(positions).map(|(id, x)| Particle::new(x, id, 1.0, 1.0)).collect())
}

fn settings() -> Vec<Parameters> {
    let all = [2, 3].into_iter().flat_map(|d| [Spline::Cubic, Spline::Quadratic].map(|s| (d, s)));
    all.map(|(d, spline)| Parameters { spline, ..parameters(d) }).collect()
}

#[test]
fn every_node_about_a_particle_is_in_an_active_block() {
    for p in settings() {
        let mut state = everywhere(&p);
        let keys = state.sort_by_cell(&p);
        let lattice = Lattice::new(&p);
        let occupied = lattice.occupied_blocks(&keys);
        let active = lattice.active_blocks(&occupied);
        assert!(occupied.is_sorted() && active.is_sorted());
        assert!(active.last() < Some(&(lattice.blocks.iter().product::<i64>() as u64)));
        let active: BTreeSet<u64> = active.into_iter().collect();
        assert!(occupied.iter().all(|block| active.contains(block)));
        for particle in &state.particles {
            for n in Stencil::new(&p, particle.position).nodes() {
                assert!(n.node.iter().all(|n| *n >= 0), "{p:?} {particle:?} {n:?}");
                let block = lattice.key(n.node) / lattice.nodes_per_block();
                assert!(active.contains(&block), "{p:?} {particle:?} {n:?}");
            }
        }
    }
}

/// 20 cells and 9 nodes more are 29 nodes: 8 blocks.
#[test]
fn nodes_have_keys_of_their_own() {
    for d in [2, 3] {
        let lattice = Lattice::new(&parameters(d));
        assert_eq!(lattice.blocks, if d == 2 { [8, 8, 1] } else { [8; 3] });
        let depth = if d == 2 { 1 } else { 32 };
        let mut keys = BTreeSet::new();
        for z in 0..depth {
            for (x, y) in (0..32).flat_map(|y| (0..32).map(move |x| (x, y))) {
                let key = lattice.key([x, y, z]);
                assert_eq!(lattice.position(key / lattice.nodes_per_block()), [x / 4, y / 4, z / 4]);
                keys.insert(key);
            }
        }
        assert_eq!(keys.len() as i64, 32 * 32 * depth);
        assert_eq!(keys.last(), Some(&(keys.len() as u64 - 1)));
    }
}

#[test]
fn ranges_cover_the_sorted_particles_in_order() {
    let p = parameters(2);
    let mut state = everywhere(&p);
    let keys = state.sort_by_cell(&p);
    assert!(keys.is_sorted());
    let ranges = cell_ranges(&keys);
    assert!(ranges.is_sorted_by_key(|(key, _)| *key));
    let mut next = 0;
    for (key, range) in ranges {
        assert_eq!(range.start, next);
        assert!(keys[range.clone()].iter().all(|other| *other == key));
        // The sort is stable.
        assert!(state.particles[range.clone()].is_sorted_by_key(|particle| particle.id));
        next = range.end;
    }
    assert_eq!(next, keys.len());
    assert!(cell_ranges(&[]).is_empty());
}
