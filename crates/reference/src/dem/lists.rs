//! Contact lists: when they are built, and which rows they need.

use super::contact::Parameters;
use super::step::Grain;
use super::surroundings::{Partner, surfaces};
use crate::uniform_bodies::UniformBody;
use glam::DVec3;

/// Share of the skin by which a grain may move before lists are built again.
const MAX_SHIFT: f64 = 0.49;

/// Returns true if lists that were built for grains at `listed_at` must be built again: one of the grains, in
/// the same order, has moved by nearly half of the skin.
pub fn check_lists(listed_at: &[DVec3], grains: &[Grain], skin: f64) -> bool {
    listed_at.iter().zip(grains).any(|(from, grain)| grain.position.distance(*from) >= MAX_SHIFT * skin)
}

/// Returns the number of grains, walls and bodies within the reach of each grain and the skin.
pub fn count_contacts(
    p: &Parameters,
    bodies: &[UniformBody],
    grains: &[Grain],
    skin: f64,
    time_s: f64,
) -> Vec<usize> {
    let gap = p.cohesion.1.max(p.bonds.as_ref().map_or(0.0, |bonds| bonds.strength / p.normal_stiffness));
    let rows_of = |grain: &Grain| {
        let reach = |other: &Grain| grain.radius + other.radius + gap + skin;
        let is_near =
            |other: &&Grain| other.id != grain.id && grain.position.distance(other.position) <= reach(other);
        let around = surfaces(p, bodies, grain.position, time_s);
        let of_layer = p.layer.map_or(0.0, |layer| layer.strength / p.normal_stiffness);
        let near = around.iter().filter(|(partner, s)| {
            let gap = match partner {
                Partner::Body(_) => p.adhesion.1.max(of_layer),
                _ => 0.0,
            };
            s.distance <= grain.radius + gap + skin
        });
        grains.iter().filter(is_near).count() + near.count()
    };
    grains.iter().map(rows_of).collect()
}

/// Returns the skin with which lists are built, and the one to begin with next time, if they need `n_rows`
/// with `skin`.
pub fn fit_lists(n_rows: usize, capacity: usize, skin: f64) -> [f64; 2] {
    if n_rows <= capacity { [skin; 2] } else { [0.0, 0.75 * skin] }
}
