//! Pairs that a particle is part of, for display: links, springs, contacts.

use crate::SolverError;
use frazil_kernels::PairBonds;
use frazil_particles::{ColumnKind, ParticleSet, ParticleTable};
use frazil_vk::Device;

/// Pair of a particle with another one or with a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Kind, such as `link`, `spring`, `contact` or `freeze bond`.
    pub kind: &'static str,
    /// The other end.
    pub partner: Partner,
    /// Rest length in m, if the pair has one.
    pub rest_length_m: Option<f32>,
}

/// The other end of a [`Pair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// A particle, by its id.
    Particle(u32),
    /// A wall of the domain: the lower ones of x, y and z, then the upper ones.
    Wall(u32),
    /// A body, by its index in the scene.
    Body(u32),
    /// A piece of a slab.
    Piece(u32),
}

/// Registers bonds for checkpoints, in columns named after their kind.
pub(crate) fn register_bonds(table: &mut ParticleTable, kind: &str, bonds: &PairBonds) {
    for (name, words) in bonds.saved_columns() {
        table.array(format!("{kind} {name}"), "1", ColumnKind::U32, words);
    }
}

/// Returns the bonds of the particle with this id; none if it is not in the set. It waits for the device.
pub(crate) fn bonds_of(
    device: &Device,
    kind: &'static str,
    set: &ParticleSet<'_>,
    bonds: &PairBonds,
    id: u32,
) -> Result<Vec<Pair>, SolverError> {
    let n = device.download(&set.count.count, 1)?.first().map_or(0, |n| *n as usize);
    let ids = match set.column("id").filter(|column| column.kind == ColumnKind::U32) {
        Some(column) => device.download(&column.words, n)?,
        None => (0..n as u32).collect(),
    };
    let Some(row) = ids.iter().position(|own| *own == id) else { return Ok(Vec::new()) };
    let degree = device.download(bonds.degree(), row + 1)?[row];
    // Slot s of row i is at s · capacity + i.
    let stride = bonds.capacity() as usize;
    let len = degree.saturating_sub(1) as usize * stride + row + 1;
    let (partner, rest_length_m) =
        (device.download(bonds.partner(), len)?, device.download(bonds.rest_length_m(), len)?);
    let pair = |slot: usize| {
        let at = slot * stride + row;
        let other = ids.get(partner[at] as usize)?;
        Some(Pair { kind, partner: Partner::Particle(*other), rest_length_m: Some(rest_length_m[at]) })
    };
    Ok((0..degree as usize).filter_map(pair).collect())
}
