//! Change of phase: the selection of leaving particles, their new indices, and the single permutation of the
//! columns (Chen2021 ch. 7).

use super::{Kind, LatentHeat, Parameters, State, fixed_point_temperature};
use crate::bonds::remap_bonds;
use crate::primitives::{cell_starts, exclusive_scan_u32, radix_sort_pairs};

impl State {
    /// Increases α (Chen2021 eq 6.2), and marks particles that are blended in (eq 6.4) and on the wrong side
    /// of the transition as leaving.
    pub fn mark_phase_change(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            for alpha in &mut phase.blend {
                *alpha = (*alpha + p.blend_speed).min(1.0);
            }
            let leaves = |i: usize| {
                let (temperature_c, enthalpy_j_kg) = (phase.temperature_c[i], phase.enthalpy_j_kg[i]);
                let passed = match (p.heat.latent_heat, kind) {
                    (LatentHeat::Blending, Kind::Solid) => temperature_c > p.heat.freezing_c,
                    (LatentHeat::Blending, Kind::Fluid) => temperature_c < p.heat.freezing_c,
                    (LatentHeat::Enthalpy { latent_j_kg }, Kind::Solid) => enthalpy_j_kg >= latent_j_kg,
                    (LatentHeat::Enthalpy { .. }, Kind::Fluid) => enthalpy_j_kg <= 0.0,
                };
                u32::from(phase.blend[i] > p.blend_threshold && passed)
            };
            phase.leaves = (0..phase.len()).map(leaves).collect();
        }
        self.transition_counts();
    }

    /// Adds leaving particles to the ledger.
    fn transition_counts(&mut self) {
        let [(melted, melted_temperature), (frozen, frozen_temperature)] = Kind::ALL.map(|kind| {
            let leavers = self[kind].temperature_c.iter().zip(&self[kind].leaves);
            let leavers = leavers.filter(|(_, leaves)| **leaves != 0);
            leavers.fold((0, 0), |(n, sum), (t, _)| (n + 1, sum + fixed_point_temperature(*t)))
        });
        self.ledger.melted += melted;
        self.ledger.frozen += frozen;
        self.ledger.melted_temperature += melted_temperature;
        self.ledger.frozen_temperature += frozen_temperature;
    }

    /// Counts for each particle the leaving ones before it.
    pub fn scan_leavers(&mut self) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            (phase.rank, phase.n_leavers) = exclusive_scan_u32(&phase.leaves);
        }
    }

    /// Assigns new indices: the particles that stay close the gaps, arriving ones follow, both in their old
    /// order.
    pub fn migrate(&mut self) {
        let arriving = Kind::ALL.map(|kind| {
            let (own, other) = (&self[kind], &self[kind.other()]);
            let n_staying = own.len() - own.n_leavers as usize;
            let n = n_staying + other.n_leavers as usize;
            let (mut key, mut origin) = (vec![0; n], vec![0; n]);
            for i in (0..own.len()).filter(|i| own.leaves[*i] == 0) {
                let place = i - own.rank[i] as usize;
                (key[place], origin[place]) = (own.key[i], i as u32);
            }
            for i in (0..other.len()).filter(|i| other.leaves[*i] != 0) {
                let place = n_staying + other.rank[i] as usize;
                (key[place], origin[place]) = (other.key[i], self.capacity + i as u32);
            }
            (key, origin)
        });
        for (kind, (key, origin)) in Kind::ALL.into_iter().zip(arriving) {
            (self[kind].key, self[kind].origin) = (key, origin);
        }
    }

    /// Sorts each phase stably by cell and finds the start of each cell.
    pub fn sort_by_cell(&mut self, p: &Parameters) {
        for kind in Kind::ALL {
            let phase = &mut self[kind];
            phase.order = (0..phase.key.len() as u32).collect();
            radix_sort_pairs(&mut phase.key, &mut phase.order, 0..32);
            phase.cell_start = cell_starts(&phase.key, p.fluid.grid.n_cells());
        }
    }

    /// Permutes all columns and the links. Particles that have just changed phase have α = 0 and no links.
    pub fn reorder(&mut self) {
        let before = [self.solid.clone(), self.fluid.clone()];
        for (kind, [own, other]) in
            Kind::ALL.into_iter().zip([[&before[0], &before[1]], [&before[1], &before[0]]])
        {
            let capacity = self.capacity;
            let phase = &mut self[kind];
            phase.source = phase.order.iter().map(|place| phase.origin[*place as usize]).collect();
            let taken = phase.source.iter().map(|source| match source.checked_sub(capacity) {
                None => (own, *source as usize, own.blend[*source as usize]),
                Some(from) => (other, from as usize, 0.0),
            });
            let taken: Vec<_> = taken.collect();
            phase.position = taken.iter().map(|(from, i, _)| from.position[*i]).collect();
            phase.velocity = taken.iter().map(|(from, i, _)| from.velocity[*i]).collect();
            phase.residual[0] = taken.iter().map(|(from, i, _)| from.residual[0][*i]).collect();
            phase.id = taken.iter().map(|(from, i, _)| from.id[*i]).collect();
            phase.temperature_c = taken.iter().map(|(from, i, _)| from.temperature_c[*i]).collect();
            phase.enthalpy_j_kg = taken.iter().map(|(from, i, _)| from.enthalpy_j_kg[*i]).collect();
            phase.blend = taken.iter().map(|(_, _, blend)| *blend).collect();
            phase.rest_position = taken.iter().map(|(from, i, _)| from.rest_position[*i]).collect();
            let n = phase.position.len();
            phase.predicted.resize(n, [0.0; 3]);
            phase.constraint.resize(n, [0.0; 4]);
            phase.contact.resize(n, [1.0; 2]);
            phase.density.resize(n, 0.0);
            phase.push.resize(n, [0.0; 3]);
            phase.updated.resize(n, [0.0; 3]);
        }
        self.links = remap_bonds(&self.links, &self.solid.source);
    }
}
