use frazil_reference::snow::{Boundary, Parameters, State};

use crate::{SPACING_M, cloud, parameters, solid_and_fluid};

const MIDDLE_M: [f32; 3] = [0.2; 3];

fn beside(r_m: f32) -> [f32; 3] {
    let [x, y, z] = MIDDLE_M;
    [x, y - r_m, z]
}

fn with_boundary(particles: &[([f32; 3], f32)]) -> Parameters {
    let mut p = parameters();
    let particles = particles.iter().map(|([x, y, z], weight)| [*x, *y, *z, *weight]).collect();
    p.boundary = Some(Boundary::new(&p.fluid.grid, particles));
    p
}

fn weighed(fluid: &[[f32; 3]], p: &Parameters) -> State {
    let mut state = solid_and_fluid(vec![], fluid.to_vec());
    state.begin_step(p);
    state.compute_lambda(p);
    state
}

/// Returns the index of the water particle in the middle.
fn middle(state: &State) -> usize {
    state.fluid.position.iter().position(|x| *x == MIDDLE_M).unwrap()
}

#[test]
fn a_boundary_particle_contributes_its_weight() {
    let wall = beside(0.4 * SPACING_M);
    for (weight, copies) in [(1.0, 1), (3.0, 3)] {
        let mut fluid = vec![MIDDLE_M];
        fluid.extend(vec![wall; copies]);
        let crowd = weighed(&fluid, &parameters());
        let alone = weighed(&[MIDDLE_M], &with_boundary(&[(wall, weight)]));
        let difference = crowd.fluid.density[middle(&crowd)] - alone.fluid.density[0];
        assert!(difference.abs() < 1e-3, "{weight}: {difference} kg/m³");
        // One particle of weight 1 pushes like one of water; for several, the sum of the squares of the parts
        // is not the square of the sum.
        if copies == 1 {
            let difference = crowd.fluid.constraint[middle(&crowd)][3] - alone.fluid.constraint[0][3];
            assert!(difference.abs() < 1e-5, "λ by {difference}");
        }
    }
}

#[test]
fn water_is_pushed_away_from_a_boundary_particle() {
    // Enough weight for the density to be above that at rest.
    let wall = beside(0.3 * SPACING_M);
    let p = with_boundary(&[(wall, 8.0)]);
    let mut state = weighed(&[MIDDLE_M], &p);
    assert!(state.fluid.constraint[0][3] < 0.0);
    state.solve(&p, 0);
    let [x, y, z] = state.fluid.predicted[0];
    assert!(x == MIDDLE_M[0] && z == MIDDLE_M[2] && y > MIDDLE_M[1] + 0.01 * SPACING_M, "{y}");
}

#[test]
fn boundary_particles_affect_neither_snow_nor_distant_water() {
    let p = with_boundary(&[(MIDDLE_M, 100.0)]);
    let far = [0.2, 0.2 + p.fluid.support_m, 0.2];
    let state = weighed(&[far], &p);
    assert_eq!(state.fluid.density, weighed(&[far], &parameters()).fluid.density);
    let [with, without] = [&p, &parameters()].map(|p| {
        let mut state = cloud([50, 0], 3);
        state.solid.blend.fill(0.3);
        state.begin_step(p);
        state.compute_lambda(p);
        state.solve(p, 0);
        state.solid
    });
    assert_eq!(with, without);
    assert!(with.constraint.iter().any(|constraint| constraint[3] != 0.0), "snow that was pressed");
}

/// Boundary particles have the effect of the closed form of the wall that they represent.
#[test]
fn boundary_particles_repel_water_like_the_closed_form() {
    // A lattice of boundary particles in the lower wall of the box, each of the weight of a lattice of water.
    let layers = (1..=2).flat_map(|layer| {
        (-4..=4).flat_map(move |a: i32| (-4..=4).map(move |b: i32| (layer as f32 - 0.5, a as f32, b as f32)))
    });
    let particles: Vec<_> =
        layers.map(|(y, x, z)| ([0.2 + x * SPACING_M, -y * SPACING_M, 0.2 + z * SPACING_M], 1.0)).collect();
    let x = [0.2, 0.5 * SPACING_M, 0.2];
    let [closed, layers] =
        [parameters(), with_boundary(&particles)].map(|p| weighed(&[x], &p).fluid.density[0]);
    assert!((closed - layers).abs() < 0.01 * closed, "{closed} {layers}");
}
