//! Contact lists of grains: what each may touch until something has moved by half of their skin.

use super::contacts::{Contacts, ListRows};
use super::parameters::DemParameters;
use super::particles::Particles;
use super::slabs::{Slabs, StepContext};
use super::sources::GrainSources;
use crate::clock::Clock;
use crate::{SolverError, Tunable, Tuning};
use frazil_kernels::{CellSort, CellSortMethod, Counts, Scan, ScanOptions, UniformGrid};
use frazil_shaders::dem::{
    check_lists, count_contacts, count_emitted, emit, find_cells, fit_lists, hold_overflow, list_contacts,
    load_histories, mark_emission, store_contacts, store_grains,
};
use frazil_shaders::types::DemLists;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, LARGEST_TILE_LOG2, Recorder, Threads};

/// Skin of contact lists in 64ths of `dem.radius_m`; 1 stands for none: lists are then built in every step.
///
/// Two grains approach each other by the skin before lists must be built again, at the earliest after skin /
/// (2 v Δt) steps at the speed v. A larger skin lists more grains, whose distance every step tests.
pub static LIST_SKIN: Tunable = Tunable { name: "list_skin", default: 16, min: 1, max: 64 };

/// Threads of kernels with one workgroup: at least the rows of dispatch arguments.
const ONE_GROUP: u32 = 32;

/// Names of the counts by which grains are stored.
const STORED: [&str; 2] = ["grains stored", "grains stored and one"];

/// Returns the skin of a tuning, as a share of the radius.
pub fn skin_radii(tuning: Tuning) -> f64 {
    match tuning.get(&LIST_SKIN) {
        1 => 0.0,
        skin => f64::from(skin) / 64.0,
    }
}

/// Contact lists on the device, and the passes that build them. Whether a step does is decided on the device:
/// otherwise the passes have no threads.
pub struct ContactLists {
    /// State of the lists as a whole.
    pub state: Buffer<DemLists>,
    /// Rows of the lists.
    pub rows: ListRows,
    /// Position of each grain when the lists were built.
    pub listed_at: Buffer<[f32; 3]>,
    /// Number of grains if this step builds lists, else 0.
    pub listing: DeviceCount,
    /// Likewise, of grains and one and of cells and one.
    listing_ends: DeviceCount,
    listing_starts: DeviceCount,
    /// Likewise, if lists with a skin do not fit.
    again: DeviceCount,
    again_ends: DeviceCount,
    /// Number of grains, by which they and their contacts are stored between builds; 0 after an overflow.
    stored: DeviceCount,
    /// Likewise, of grains and one.
    stored_ends: DeviceCount,
    row_count: Buffer<u32>,
    /// Cells of grains by id; then the index of each id.
    key: Buffer<u32>,
    /// Ids in cell order.
    order: Buffer<u32>,
    /// Cells as a line, which is all that the sort needs.
    line: UniformGrid,
    sort: CellSort,
    scan: Scan,
    check: Kernel<check_lists::Interface>,
    fit: Kernel<fit_lists::Interface>,
    hold_overflow: Kernel<hold_overflow::Interface>,
    find_cells: Kernel<find_cells::Interface>,
    count: Kernel<count_contacts::Interface>,
    list: Kernel<list_contacts::Interface>,
    load_histories: Kernel<load_histories::Interface>,
    store_grains: Kernel<store_grains::Interface>,
    store_contacts: Kernel<store_contacts::Interface>,
    max_groups_x: u32,
    workgroup_size: u32,
}

impl ContactLists {
    /// Makes lists of up to `capacity` rows, of the grains at the start and room for more. Set-up only: waits
    /// for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub fn new(
        device: &Device,
        parameters: &DemParameters,
        (n_start, n): (usize, usize),
        capacity: u32,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let n_cells = parameters.n_cells();
        let line = UniformGrid::new(device, [0.0; 3], [n_cells as f32, 1.0, 1.0], 1.0)?;
        let method = tuning.cell_sort.map_or_else(|| CellSortMethod::fastest(device), Ok)?;
        let has_rolling = u32::from(parameters.has_rolling());
        let counts = Counts::new(device)?;
        let n_ends = n as u32 + 1;
        // Byte estimates are those of a step that builds no lists.
        let none = |name, capacity| counts.upload(device, name, 0, capacity);
        let skin_m = parameters.skin_m as f32;
        let state = DemLists { is_stale: 1, skin_m, used_skin_m: 0.0, n_built: 0 };
        let scan = ScanOptions::for_device(device, workgroup_size);
        let one_group = workgroup_size.min(ONE_GROUP);
        let (count, list) = search_kernels(device, parameters, workgroup_size)?;
        Ok(Self {
            state: device.buffer_from("contact lists", &[state])?,
            rows: ListRows::new(device, n, capacity as usize, parameters.has_rolling())?,
            listed_at: device.buffer("listed at", n)?,
            listing: none("listing", n as u32)?,
            listing_ends: none("listing ends", n_ends)?,
            listing_starts: none("listing starts", n_cells + 1)?,
            again: none("listing again", n as u32)?,
            again_ends: none("listing again ends", n_ends)?,
            stored: counts.upload(device, STORED[0], n_start as u32, n as u32)?,
            stored_ends: counts.upload(device, STORED[1], n_start as u32 + 1, n_ends)?,
            row_count: device.buffer_from("row count", &vec![0; n + 1])?,
            key: device.buffer("key", n)?,
            order: device.buffer("order", n)?,
            sort: CellSort::with_options(device, n as u32, &line, method, workgroup_size)?,
            line,
            scan: Scan::with_options(device, n_ends, scan)?,
            check: Kernel::specialized(device, &check_lists::Specialization { workgroup_size: one_group })?,
            fit: Kernel::specialized(device, &fit_lists::Specialization { workgroup_size: one_group })?,
            hold_overflow: Kernel::specialized(
                device,
                &hold_overflow::Specialization { workgroup_size: one_group },
            )?,
            find_cells: Kernel::specialized(device, &find_cells::Specialization { workgroup_size })?,
            count,
            list,
            load_histories: Kernel::specialized(
                device,
                &load_histories::Specialization { workgroup_size, has_rolling },
            )?,
            store_grains: Kernel::specialized(device, &store_grains::Specialization { workgroup_size })?,
            store_contacts: Kernel::specialized(
                device,
                &store_contacts::Specialization { workgroup_size, has_rolling },
            )?,
            max_groups_x: device.capabilities().max_groups_x,
            workgroup_size,
        })
    }

    /// Returns the start of each cell among the grains, and their number, as of the last search.
    pub fn cell_start(&self) -> &Buffer<u32> {
        self.line.cell_start()
    }

    /// Replaces the rows of the `n_now` grains by `capacity` ones, which the next step must build, and ends
    /// an overflow. It waits for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind; the lists are then unchanged.
    pub fn grow(
        &mut self,
        device: &Device,
        parameters: &DemParameters,
        (n_now, capacity): (u32, u32),
    ) -> Result<(), SolverError> {
        let (n, n_ends) = (self.stored.capacity, self.stored_ends.capacity);
        let rows = ListRows::new(device, n as usize, capacity as usize, parameters.has_rolling())?;
        let counts = Counts::new(device)?;
        let stored = counts.upload(device, STORED[0], n_now, n)?;
        let stored_ends = counts.upload(device, STORED[1], n_now + 1, n_ends)?;
        let state = device.download(&self.state, 1)?;
        // An overflow has halved the skin.
        let skin_m = parameters.skin_m as f32;
        device.upload(&self.state, &[DemLists { is_stale: 1, skin_m, used_skin_m: 0.0, ..state[0] }])?;
        (self.rows, self.stored, self.stored_ends) = (rows, stored, stored_ends);
        Ok(())
    }

    /// Returns the index of each grain by id, if lists have been built.
    pub fn place(&self) -> &Buffer<u32> {
        &self.key
    }

    /// Creates the kernels for bodies of the same shapes with other motions.
    pub fn body_kernels(
        &self,
        device: &Device,
        parameters: &DemParameters,
    ) -> frazil_vk::Result<SearchKernels> {
        search_kernels(device, parameters, self.workgroup_size)
    }

    /// Adopts these kernels.
    pub fn set_body_kernels(&mut self, kernels: SearchKernels) {
        (self.count, self.list) = kernels;
    }

    /// Records the beginning of a substep: its clock, and the decision whether it builds lists. A step that
    /// begins has `n_substeps`.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        context: &StepContext<'_>,
        count: &DeviceCount,
        (is_forced, n_substeps): (bool, u32),
    ) {
        let bindings = check_lists::Bindings {
            count,
            clock: context.clock.buffer(),
            lists: &self.state,
            grain_count: &self.listing.count,
            grain_args: &self.listing.args,
            end_count: &self.listing_ends.count,
            end_args: &self.listing_ends.args,
            cell_count: &self.listing_starts.count,
            cell_args: &self.listing_starts.args,
            again_count: &self.again.count,
            again_args: &self.again.args,
            again_end_count: &self.again_ends.count,
            again_end_args: &self.again_ends.args,
        };
        let params = check_lists::Params {
            is_forced: is_forced.into(),
            n_substeps,
            n_starts: self.listing_starts.capacity,
            max_groups_x: self.max_groups_x,
        };
        recorder.dispatch(&self.check, Threads::Fixed(1), bindings, params);
    }

    /// Records that the next step builds lists if grains appear before it.
    pub fn mark_emission(&self, recorder: &mut Recorder, clock: &Clock, sources: &GrainSources) {
        let Some((emitters, _)) = sources.layers() else { return };
        let bindings = mark_emission::Bindings {
            clock: clock.buffer(),
            emitters,
            emission: sources.emission(),
            lists: &self.state,
        };
        recorder.dispatch(&sources.mark, Threads::Fixed(1), bindings, ());
    }

    /// Records the grains that appear before a step that builds lists, once all others are stored.
    pub fn emit(
        &self,
        recorder: &mut Recorder,
        context: &StepContext<'_>,
        grains: &Particles,
        contacts: &Contacts,
        sources: &GrainSources,
    ) {
        let count = &grains.count;
        let Some((emitters, points_m)) = sources.layers() else { return };
        let clock = context.clock.buffer();
        let capacity = count.capacity;
        let bindings = emit::Bindings {
            count,
            clock,
            emitters,
            points_m,
            emission: sources.emission(),
            position: &grains.position,
            residual_m: &grains.residual,
            velocity: &grains.velocity,
            spin: &grains.spin,
            radius: &grains.radius,
            first_row: &contacts.first_row,
        };
        let n_points = points_m.len();
        let [radius_m, radius_spread, room_m] = sources.radius;
        let params = emit::Params { n_points: n_points as u32, capacity, radius_m, radius_spread, room_m };
        recorder.dispatch(&sources.emit, Threads::Fixed(n_points), bindings, params);
        let bindings = count_emitted::Bindings {
            count,
            args: &count.args,
            clock,
            emitters,
            emission: sources.emission(),
            grain_count: &self.listing.count,
            grain_args: &self.listing.args,
            end_count: &self.listing_ends.count,
            end_args: &self.listing_ends.args,
            stored_count: &self.stored.count,
            stored_args: &self.stored.args,
            stored_end_count: &self.stored_ends.count,
            stored_end_args: &self.stored_ends.args,
        };
        let params = count_emitted::Params { capacity, max_groups_x: self.max_groups_x };
        recorder.dispatch(&sources.count, Threads::Fixed(1), bindings, params);
    }

    /// Records the storage of grains and contacts in the order of ids: always, or only in a step that builds
    /// lists. After an overflow nothing is stored.
    pub fn store(
        &self,
        recorder: &mut Recorder,
        grains: &Particles,
        contacts: &Contacts,
        is_always: bool,
    ) -> Result<(), SolverError> {
        let (count, ends) =
            if is_always { (&self.stored, &self.stored_ends) } else { (&self.listing, &self.listing_ends) };
        let bindings = store_grains::Bindings {
            count,
            sphere: &grains.sphere,
            motion: &grains.motion,
            first_row: &self.rows.first_row,
            near: &self.rows.near,
            position: &grains.position,
            velocity: &grains.velocity,
            spin: &grains.spin,
            row_count: &self.row_count,
            residual_m: &grains.residual,
        };
        recorder.dispatch_counted(&self.store_grains, bindings, ());
        self.scan.record_if_any(recorder, ends, &self.row_count, &contacts.first_row)?;
        let bindings = store_contacts::Bindings {
            count,
            order: &self.order,
            first_row: &self.rows.first_row,
            near: &self.rows.near,
            list_shear: &self.rows.shear,
            list_rolling: &self.rows.rolling,
            stored_first_row: &contacts.first_row,
            contact: &contacts.contact,
            shear: &contacts.shear,
        };
        recorder.dispatch_counted(&self.store_contacts, bindings, ());
        Ok(())
    }

    /// Records the cell of each grain.
    pub fn find_cells(&self, recorder: &mut Recorder, context: &StepContext<'_>, grains: &Particles) {
        let bindings = find_cells::Bindings {
            count: &self.listing,
            terms: context.terms,
            position: &grains.position,
            key: &self.key,
        };
        recorder.dispatch_counted(&self.find_cells, bindings, ());
    }

    /// Records the sort of grains by cell, stable from the order of ids.
    pub fn sort(&self, recorder: &mut Recorder) -> Result<(), SolverError> {
        let Self { listing, listing_starts, line, key, order, .. } = self;
        Ok(self.sort.record_if_any(recorder, listing, listing_starts, line, key, order)?)
    }

    /// Records the packing of the grains in that order.
    pub fn reorder(&self, recorder: &mut Recorder, grains: &Particles) {
        grains.sort(recorder, &self.listing, &self.order, &self.key);
    }

    /// Records the lists, with the stored histories of contacts.
    pub fn build(
        &self,
        recorder: &mut Recorder,
        context: &StepContext<'_>,
        grains: &Particles,
        contacts: &Contacts,
        slabs: &Slabs,
    ) -> Result<(), SolverError> {
        self.count_rows(recorder, context, grains, slabs, &self.listing, true);
        self.scan.record_if_any(recorder, &self.listing_ends, &self.row_count, &self.rows.first_row)?;
        let bindings = fit_lists::Bindings {
            count: &self.listing,
            first_row: &self.rows.first_row,
            lists: &self.state,
            again_count: &self.again.count,
            again_args: &self.again.args,
            again_end_count: &self.again_ends.count,
            again_end_args: &self.again_ends.args,
        };
        let params =
            fit_lists::Params { capacity: self.rows.near.len() as u32, max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.fit, Threads::Tiles(&self.listing, LARGEST_TILE_LOG2), bindings, params);
        self.count_rows(recorder, context, grains, slabs, &self.again, false);
        self.scan.record_if_any(recorder, &self.again_ends, &self.row_count, &self.rows.first_row)?;
        let bindings = hold_overflow::Bindings {
            count: &grains.count,
            first_row: &self.rows.first_row,
            fault: context.fault.buffer(),
            clock: context.clock.buffer(),
            grain_count: &self.listing.count,
            grain_args: &self.listing.args,
            stored_count: &self.stored.count,
            stored_args: &self.stored.args,
            stored_end_count: &self.stored_ends.count,
            stored_end_args: &self.stored_ends.args,
        };
        let params =
            hold_overflow::Params { capacity: self.rows.near.len() as u32, max_groups_x: self.max_groups_x };
        let threads = Threads::Tiles(&self.again, LARGEST_TILE_LOG2);
        recorder.dispatch(&self.hold_overflow, threads, bindings, params);
        let bindings = list_contacts::Bindings {
            count: &self.listing,
            terms: context.terms,
            cell_start: self.line.cell_start(),
            sphere: &grains.sphere,
            bodies: context.bodies,
            body_data: context.body_data,
            piece_motions: &slabs.motions,
            shapes: &slabs.shapes,
            faces: &slabs.faces,
            piece_order: &slabs.order,
            piece_cell_start: slabs.line.cell_start(),
            lists: &self.state,
            order: &self.order,
            first_row: &self.rows.first_row,
            near: &self.rows.near,
            clock: context.clock.buffer(),
        };
        recorder.dispatch_counted(&self.list, bindings, ());
        let bindings = load_histories::Bindings {
            count: &self.listing,
            sphere: &grains.sphere,
            order: &self.order,
            place: &self.key,
            stored_first_row: &contacts.first_row,
            contact: &contacts.contact,
            shear: &contacts.shear,
            first_row: &self.rows.first_row,
            near: &self.rows.near,
            list_shear: &self.rows.shear,
            list_rolling: &self.rows.rolling,
            listed_at: &self.listed_at,
        };
        recorder.dispatch_counted(&self.load_histories, bindings, ());
        Ok(())
    }

    fn count_rows(
        &self,
        recorder: &mut Recorder,
        context: &StepContext<'_>,
        grains: &Particles,
        slabs: &Slabs,
        count: &DeviceCount,
        has_skin: bool,
    ) {
        let bindings = count_contacts::Bindings {
            count,
            terms: context.terms,
            cell_start: self.line.cell_start(),
            sphere: &grains.sphere,
            bodies: context.bodies,
            body_data: context.body_data,
            piece_motions: &slabs.motions,
            shapes: &slabs.shapes,
            faces: &slabs.faces,
            piece_order: &slabs.order,
            piece_cell_start: slabs.line.cell_start(),
            lists: &self.state,
            row_count: &self.row_count,
            clock: context.clock.buffer(),
        };
        let params = count_contacts::Params { has_skin: has_skin.into() };
        recorder.dispatch_counted(&self.count, bindings, params);
    }
}

/// Kernels that count and list contacts.
pub type SearchKernels = (Kernel<count_contacts::Interface>, Kernel<list_contacts::Interface>);

/// Makes the kernels of the broad phase.
fn search_kernels(
    device: &Device,
    parameters: &DemParameters,
    workgroup_size: u32,
) -> frazil_vk::Result<SearchKernels> {
    let surroundings = &parameters.surroundings;
    let count = count_contacts::Specialization {
        workgroup_size,
        has_bodies: (!surroundings.bodies.is_empty()).into(),
        has_pieces: (parameters.terms.n_pieces > 0).into(),
        body_kinds: surroundings.kinds(),
    };
    let count_contacts::Specialization { has_bodies, has_pieces, body_kinds, .. } = count;
    let list = list_contacts::Specialization { workgroup_size, has_bodies, has_pieces, body_kinds };
    Ok((Kernel::specialized(device, &count)?, Kernel::specialized(device, &list)?))
}
