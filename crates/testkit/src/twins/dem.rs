//! Grains: conversion of the device's parameters and columns to the twin's.

use super::pbd::twin_sources;
use frazil_reference::dem as twin;
use frazil_scene::Dem as Section;
use frazil_shaders::dem::partners::{FIRST_BODY, FIRST_PIECE, FIRST_WALL};
use frazil_solvers::StateColumn;
use frazil_solvers::dem::DemParameters;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;

/// Returns balls of ice of this radius, without cohesion or rolling friction.
pub fn section(radius_m: f64, normal_stiffness_n_m: f64) -> Section {
    Section {
        radius_m,
        radius_spread: 0.0,
        density_kg_m3: 900.0,
        normal_stiffness_n_m,
        tangential_stiffness_ratio: 2.0 / 7.0,
        tangential_damping_ratio: 0.5,
        restitution: 0.5,
        friction: 0.5,
        rolling_friction: 0.0,
        cohesion_n: 0.0,
        cohesion_range_m: None,
        bonds: None,
        weak_layer: None,
        wall_friction: None,
        wall_restitution: None,
        terrain_adhesion_n: 0.0,
        terrain_adhesion_range_m: None,
        turbulent_drag_1_m: 0.0,
        steps_per_contact: 40.0,
        contacts_per_grain: 8.0,
        releases: Vec::new(),
        slabs: Vec::new(),
    }
}

/// Returns the parameters of the twin, in the device's single precision.
pub fn twin_parameters(section: &Section, parameters: &DemParameters) -> twin::Parameters {
    let t = &parameters.terms;
    let wide = |v: [f32; 3]| Vec3::from(v).as_dvec3();
    twin::Parameters {
        dt_s: t.dt_s.into(),
        gravity: wide(t.gravity_m_s2),
        domain: [wide(t.domain_min_m), wide(t.domain_max_m)],
        density: t.density_kg_m3.into(),
        normal_stiffness: t.normal_stiffness_n_m.into(),
        tangential_stiffness: t.tangential_stiffness_n_m.into(),
        tangential_damping_ratio: t.tangential_damping_ratio.into(),
        restitution: section.restitution,
        friction: t.friction.into(),
        rolling_friction: t.rolling_friction.into(),
        wall_restitution: section.wall_restitution(),
        wall_friction: [t.lower_wall_friction, t.upper_wall_friction].map(|faces| faces.map(f64::from)),
        wall_is_body: parameters.surroundings.face_is_body,
        cohesion: (t.cohesion_n.into(), t.cohesion_range_m.into()),
        adhesion: (t.adhesion_n.into(), t.adhesion_range_m.into()),
        turbulent_drag: t.turbulent_drag_1_m.into(),
        bonds: section.bonds.as_ref().map(|_| twin::Bonds {
            strength: t.bond_strength_n.into(),
            shear_strength: t.bond_shear_strength_n.into(),
            below: t.bond_below_m_s.into(),
            after: t.bond_after_s.into(),
            forms_until: t.bond_forms_until.into(),
        }),
        layer: section.weak_layer.as_ref().map(|_| twin::WeakLayer {
            strength: t.layer_strength_n.into(),
            shear_strength: t.layer_shear_strength_n.into(),
            forms_until: t.layer_forms_until.into(),
            fails_at: t.layer_fails_at.into(),
            centre: t.layer_centre_m.map(f64::from),
            radius: t.layer_radius_m.into(),
            up_axis: t.up_axis as usize,
        }),
        sources: twin_sources(&parameters.sources),
        emitted_radius: parameters.emitted_radius(),
    }
}

/// Returns the words of a column.
///
/// # Panics
/// If there is no column of that name.
#[allow(clippy::expect_used)]
fn words<'a>(columns: &'a [StateColumn], name: &str) -> &'a [u32] {
    &columns.iter().find(|c| c.name == name).expect("a column of that name").words
}

fn vector(words: &[u32], i: usize) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|axis| f64::from(f32::from_bits(words[3 * i + axis]))))
}

/// Returns the grains that columns hold, in the order of ids.
///
/// # Panics
/// If a column is missing.
pub fn grains_of(columns: &[StateColumn]) -> Vec<twin::Grain> {
    let ids = words(columns, "id");
    let [position, residual, velocity, spin, radius] =
        ["position", "position_residual", "velocity", "spin", "radius"].map(|name| words(columns, name));
    let mut grains: Vec<_> = (0..ids.len())
        .map(|i| twin::Grain {
            id: ids[i],
            position: vector(position, i) + vector(residual, i),
            velocity: vector(velocity, i),
            spin: vector(spin, i),
            radius: f32::from_bits(radius[i]).into(),
        })
        .collect();
    grains.sort_by_key(|grain| grain.id);
    grains
}

/// Returns the state that columns hold, grains in the order of ids.
///
/// # Panics
/// If a column is missing, or a contact is stored twice.
pub fn state_of(columns: &[StateColumn], step: u64) -> twin::State {
    let [first_row, contact, shear] =
        ["contact_first_row", "contact", "contact_shear"].map(|name| words(columns, name));
    // A word for the partner and, with rolling resistance, three for the rolling spring.
    let stride = if contact.len() == shear.len() { 4 } else { 1 };
    let mut contacts = BTreeMap::new();
    for (i, id) in words(columns, "id").iter().enumerate() {
        let rows = first_row[i] as usize..first_row[i + 1] as usize;
        for row in rows.filter(|row| contact[stride * row] != u32::MAX) {
            let word = contact[stride * row];
            let is_frozen = word >> 30 == 1;
            let partner = partner_of(if is_frozen { word & 0x3fff_ffff } else { word });
            let slow = f64::from(f32::from_bits(shear[4 * row + 3]));
            // The time of a contact that has ended is −1; that of a bond to a surface, by a weak layer, is
            // −2.
            let is_bonded = is_frozen || slow < -1.0;
            let history = twin::ContactHistory {
                shear: vector(&shear[4 * row..], 0),
                rolling: if stride == 4 { vector(&contact[4 * row + 1..], 0) } else { DVec3::ZERO },
                slow: slow.max(0.0),
                is_bonded,
                phase: if slow < 0.0 && !is_bonded { twin::Phase::Ended } else { twin::Phase::Held },
            };
            assert_eq!(contacts.insert((*id, partner), history), None, "a contact is kept twice");
        }
    }
    twin::State { grains: grains_of(columns), contacts, step, ..Default::default() }
}

/// Returns the partner of a contact.
pub fn partner_of(number: u32) -> twin::Partner {
    match number {
        id @ 0..FIRST_WALL => twin::Partner::Grain(id),
        wall @ FIRST_WALL..FIRST_BODY => twin::Partner::Wall(wall - FIRST_WALL),
        piece @ FIRST_PIECE.. => twin::Partner::Piece(piece - FIRST_PIECE),
        body => twin::Partner::Body(body - FIRST_BODY),
    }
}
