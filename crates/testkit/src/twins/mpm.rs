//! Snow on a grid: conversion of the device's parameters, columns and nodes to the twin's.

use frazil_reference::mpm as twin;
use frazil_reference::uniform_bodies;
use frazil_scene::{Contact, Mpm as Section, Spline, Transfer, Weights};
use frazil_solvers::StateColumn;
use frazil_solvers::mpm::{Mpm, MpmParameters, Surroundings};
use frazil_vk::{Buffer, Device, Result};
use glam::{DMat3, DVec3};

/// Returns particles of the twin from a saved state; columns that it lacks are empty.
///
/// # Panics
/// If a column is shorter than the ids.
pub fn particles_of_state(parameters: &MpmParameters, state: &[StateColumn]) -> Vec<twin::Particle> {
    let words = |name: &str| {
        let column = state.iter().find(|c| c.name == name);
        column.map(|c| c.words.as_slice()).unwrap_or_default()
    };
    let numbers = |name: &str| words(name).iter().map(|word| f32::from_bits(*word)).collect::<Vec<f32>>();
    let (position, velocity) = (numbers("position"), numbers("velocity"));
    let residual = numbers("position_residual");
    let (mass, volume, plastic) = (numbers("mass"), numbers("volume"), numbers("plastic_volume"));
    let (elastic, affine, contact) = (numbers("elastic"), numbers("affine"), numbers("contact"));
    let (force, turn) = (numbers("surface_force"), numbers("surface_turn"));
    let d = parameters.dimensions as usize;
    let vector =
        |column: &[f32], i: usize| DVec3::from_array(std::array::from_fn(|k| column[3 * i + k].into()));
    let of_surfaces = |column: &[f32], i: usize| match parameters.has_surface_forces() {
        true => vector(column, i),
        false => DVec3::ZERO,
    };
    let matrix = |column: &[f32], i: usize, corner: f64| {
        let mut m = DMat3::ZERO;
        m.z_axis.z = corner;
        for c in 0..d {
            for r in 0..d {
                m.col_mut(c)[r] = column[d * d * i + d * c + r].into();
            }
        }
        m
    };
    let one = |i: usize, id: u32| twin::Particle {
        position: vector(&position, i),
        residual: vector(&residual, i),
        velocity: vector(&velocity, i),
        id,
        mass: mass[i].into(),
        volume: volume[i].into(),
        elastic: matrix(&elastic, i, 1.0),
        plastic_volume: plastic[i].into(),
        affine: if affine.is_empty() { DMat3::ZERO } else { matrix(&affine, i, 0.0) },
        slip: contact.get(4 * i..4 * i + 3).map_or(DVec3::ZERO, |slip| vector(slip, 0)),
        contact_radius: contact.get(4 * i + 3).map_or(0.0, |radius| f64::from(*radius)),
        surface_force: of_surfaces(&force, i),
        surface_turn: of_surfaces(&turn, i),
    };
    words("id").iter().enumerate().map(|(i, id)| one(i, *id)).collect()
}

/// Moves the affine velocities of particles and the forces of surfaces on them, downloaded between the stages
/// Reorder and UpdateParticles, to their particles: the device reads them through the order.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn sort_affine(device: &Device, mpm: &Mpm, particles: &mut [twin::Particle]) -> Result<()> {
    let order = device.download(mpm.order(), particles.len())?;
    let before = particles.to_vec();
    for (particle, from) in particles.iter_mut().zip(order) {
        let from = &before[from as usize];
        particle.affine = from.affine;
        (particle.surface_force, particle.surface_turn) = (from.surface_force, from.surface_turn);
    }
    Ok(())
}

/// Returns the twin's parameters for a section without bodies, with those of the scene's surroundings that it
/// supports.
pub fn twin_parameters(section: &Section, dt_s: f64, surroundings: &Surroundings) -> twin::Parameters {
    let m = &section.material;
    let wall = |face: Option<f32>| match face {
        Some(friction) => uniform_bodies::Surface { friction: friction.into(), sticky: false },
        None => uniform_bodies::Surface { friction: section.walls.friction, sticky: section.walls.sticky },
    };
    twin::Parameters {
        dimensions: section.dimensions as usize,
        cell_size_m: f64::from(section.cell_size_m as f32),
        domain_min_m: wide(surroundings.domain_min_m),
        domain_max_m: wide(surroundings.domain_max_m),
        dt_s: f64::from(dt_s as f32),
        gravity_m_s2: wide(surroundings.gravity_m_s2),
        material: twin::Material {
            youngs_modulus_pa: m.youngs_modulus_pa,
            poissons_ratio: m.poissons_ratio,
            hardening: m.hardening,
            critical_compression: m.critical_compression,
            critical_stretch: m.critical_stretch,
            min_plastic_volume: m.min_plastic_volume,
            yield_share: dt_s / (m.relaxation_time_s + dt_s),
            plastic: m.plastic,
        },
        transfer: match section.transfer {
            Transfer::PicFlip => twin::Transfer::PicFlip,
            Transfer::Apic => twin::Transfer::Apic,
            Transfer::Mls => twin::Transfer::Mls,
        },
        flip_ratio: section.flip_share(dt_s),
        spline: match section.spline {
            Spline::Cubic => twin::Spline::Cubic,
            Spline::Quadratic => twin::Spline::Quadratic,
        },
        weights: match section.weights {
            Weights::Factored => twin::Weights::Factored,
            Weights::AsPrinted => twin::Weights::AsPrinted,
        },
        strain_floor: section.strain_floor,
        node_mass_cutoff_kg: section.node_mass_cutoff_kg(),
        has_contact_forces: section.contact() == Contact::Particles,
        bodies: Vec::new(),
        walls: surroundings.face_friction.map(|faces| faces.map(wall)),
        implicit: section.implicit.map(|i| twin::Implicit {
            beta: i.beta,
            max_iterations: i.max_iterations,
            tolerance: i.tolerance,
        }),
    }
}

/// Returns the index along each axis of each node of the active blocks, in the device's order.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn node_places(device: &Device, mpm: &Mpm) -> Result<Vec<[i64; 3]>> {
    let (blocks, side) = (mpm.blocks(), i64::from(frazil_kernels::BLOCK_SIDE));
    let n_blocks = device.download(&blocks.active_count().count, 1)?[0] as usize;
    let active = device.download(blocks.active(), n_blocks)?;
    let (block_nodes, lattice) = (blocks.layout().block_nodes(), blocks.layout().lattice().blocks);
    let of_block = |&number: &u32| {
        let row = number / lattice[0];
        let place = [number % lattice[0], row % lattice[1], row / lattice[1]].map(i64::from);
        (0..i64::from(block_nodes)).map(move |local| {
            let within = [local % side, local / side % side, local / (side * side)];
            std::array::from_fn(|axis| side * place[axis] + within[axis])
        })
    };
    Ok(active.iter().flat_map(of_block).collect())
}

/// Returns mass, momentum and force of the first `n` nodes.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn node_sums(device: &Device, mpm: &Mpm, n: usize) -> Result<Vec<twin::Node>> {
    let momentum = device.download(mpm.node_momentum(), n)?;
    let force = device.download(mpm.node_force(), n)?;
    let node = |([x, y, z, mass], force): (&[f32; 4], &[f32; 3])| twin::Node {
        mass: f64::from(*mass),
        momentum: wide([*x, *y, *z]),
        force: wide(*force),
        ..Default::default()
    };
    Ok(momentum.iter().zip(&force).map(node).collect())
}

/// Returns vectors of the first `n` nodes.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn node_vectors(device: &Device, buffer: &Buffer<[f32; 3]>, n: usize) -> Result<Vec<DVec3>> {
    Ok(device.download(buffer, n)?.into_iter().map(wide).collect())
}

/// Returns the device's nodes, before or after the update of their velocities, as the twin's grid.
///
/// # Errors
/// The device was lost; not enough memory.
pub fn grid_of(device: &Device, mpm: &Mpm) -> Result<twin::Grid> {
    let places = node_places(device, mpm)?;
    let mut sums = node_sums(device, mpm, places.len())?;
    let velocity = node_vectors(device, mpm.node_velocity(), places.len())?;
    for (node, velocity) in sums.iter_mut().zip(velocity) {
        node.before = if node.mass > 0.0 { node.momentum / node.mass } else { DVec3::ZERO };
        node.velocity = velocity;
    }
    Ok(twin::Grid { nodes: places.into_iter().zip(sums).collect(), ..twin::Grid::default() })
}

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}
