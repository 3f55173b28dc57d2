//! Slab pieces on the device, and the loads on them and on named bodies.

use super::contacts::ListRows;
use super::fault::FaultReport;
use super::parameters::DemParameters;
use super::particles::Particles;
use super::pieces::Pieces;
use crate::bodies::Shared;
use crate::clock::Clock;
use crate::facets::body_columns;
use crate::{BodyLoads, SolverError, Tuning};
use frazil_kernels::{CellSort, CellSortMethod, Counts, UniformGrid};
use frazil_particles::{ColumnKind, ColumnView, ParticleTable};
use frazil_shaders::common::fixed::WRENCH_WORDS;
use frazil_shaders::dem::{
    collide_pieces, find_near_pieces, find_piece_cells, move_pieces, pull_links, show_pieces, touch_points,
};
use frazil_shaders::types::{
    Body, DemLists, DemTerms, PieceFace, PieceLink, PieceMotion, PiecePoint, PiecePose, PieceShape,
};
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, Kernel, Recorder, Threads};

/// Words of a piece's motion.
const MOTION_WORDS: u32 = (size_of::<PieceMotion>() / 4) as u32;

/// Maximum number of pieces listed near each. In a heap of equal pieces, the bounding spheres of some twenty
/// others overlap a piece's; with more, each surface point searches for pieces itself.
const MAX_NEAR: u32 = 32;
/// Workgroup size of pieces. Pieces are few and each loops over many others: small groups occupy more of the
/// device.
const GROUP_OF_PIECES: u32 = 64;

/// Inputs of the piece kernels other than the pieces.
pub struct StepContext<'a> {
    pub terms: &'a Buffer<DemTerms>,
    pub bodies: &'a Buffer<Body>,
    pub body_data: &'a Buffer<f32>,
    pub clock: &'a Clock,
    pub fault: &'a FaultReport,
}

impl StepContext<'_> {
    /// Returns what dynamic bodies share with the solver.
    pub fn shared(&self) -> Shared<'_> {
        Shared { clock: self.clock.buffer(), bodies: self.bodies, body_data: self.body_data }
    }
}

/// Slab pieces, their links and the loads on bodies on the device. Empty buffers have one element that no
/// kernel reads.
pub struct Slabs {
    pub motions: Buffer<PieceMotion>,
    pub shapes: Buffer<PieceShape>,
    pub faces: Buffer<PieceFace>,
    pub corners_m: Buffer<[f32; 3]>,
    /// Pieces by cell.
    pub order: Buffer<u32>,
    /// Force and torque on each piece, then on each named body, as integers.
    pub sums: Buffer<u32>,
    pub loads: BodyLoads,
    /// Cells as a line.
    pub line: UniformGrid,
    points: Buffer<PiecePoint>,
    point_partner: Buffer<u32>,
    point_shear_m: Buffer<[f32; 3]>,
    links: Buffer<PieceLink>,
    linked: Buffer<[u32; 2]>,
    link_is_whole: Buffer<u32>,
    key: Buffer<u32>,
    near_pieces: Buffer<u32>,
    /// Pose of each piece when contact lists were built.
    listed_poses: Buffer<PiecePose>,
    shown: ShownPieces,
    n_points: usize,
    n_links: usize,
    n_pieces: usize,
    n_named: usize,
    sort: Option<(CellSort, DeviceCount)>,
    find_cells: Kernel<find_piece_cells::Interface>,
    find_near: Kernel<find_near_pieces::Interface>,
    touch: Kernel<touch_points::Interface>,
    collide: Kernel<collide_pieces::Interface>,
    pull: Kernel<pull_links::Interface>,
    move_pieces: Kernel<move_pieces::Interface>,
    show: Kernel<show_pieces::Interface>,
}

/// Poses and velocities of pieces, for pictures and recordings.
#[derive(Clone, Debug)]
pub struct ShownPieces {
    /// Centres of mass in m.
    pub centre_m: Buffer<[f32; 3]>,
    /// Rotations since the initial state, unit quaternions (x, y, z, w).
    pub rotation: Buffer<[f32; 4]>,
    /// Rotations since the initial state, as axis times angle in rad.
    pub turn: Buffer<[f32; 3]>,
    /// Velocities in m/s.
    pub velocity_m_s: Buffer<[f32; 3]>,
}

impl ShownPieces {
    fn new(device: &Device, n_pieces: usize) -> frazil_vk::Result<Self> {
        let n = n_pieces.max(1);
        Ok(Self {
            centre_m: device.buffer("piece centre", n)?,
            rotation: device.buffer("piece rotation", n)?,
            turn: device.buffer("piece turn", n)?,
            velocity_m_s: device.buffer("piece velocity", n)?,
        })
    }
}

fn some_of<T: bytemuck::Pod>(device: &Device, name: &str, values: &[T]) -> frazil_vk::Result<Buffer<T>> {
    if values.is_empty() {
        return device.buffer_from(name, &[T::zeroed()]);
    }
    device.buffer_from(name, values)
}

impl Slabs {
    pub fn new(device: &Device, parameters: &DemParameters, tuning: Tuning) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let DemParameters { terms, surroundings, pieces, .. } = parameters;
        let Pieces { shapes, motions, faces, corners_m, point_pieces, points_m, links, linked } = pieces;
        let (n_pieces, n_points, n_links) = (shapes.len(), points_m.len(), links.len());
        let n_named = surroundings.names.len();
        let n_cells = if n_pieces > 0 { terms.piece_grid.cells.iter().product::<u32>() } else { 1 };
        let line = UniformGrid::new(device, [0.0; 3], [n_cells as f32, 1.0, 1.0], 1.0)?;
        let sort = if n_pieces > 0 {
            let method = tuning.cell_sort.map_or_else(|| CellSortMethod::fastest(device), Ok)?;
            let sort = CellSort::with_options(device, n_pieces as u32, &line, method, workgroup_size)?;
            Some((sort, Counts::new(device)?.upload(device, "pieces", n_pieces as u32, n_pieces as u32)?))
        } else {
            None
        };
        let point = |(&piece, &place_m): (&u32, &[f32; 3])| PiecePoint { place_m, piece };
        let points: Vec<PiecePoint> = point_pieces.iter().zip(points_m).map(point).collect();
        Ok(Self {
            motions: some_of(device, "slab_motion", motions)?,
            shapes: some_of(device, "piece shapes", shapes)?,
            faces: some_of(device, "piece faces", faces)?,
            corners_m: some_of(device, "piece corners", corners_m)?,
            order: some_of(device, "piece order", &vec![0; n_pieces])?,
            sums: some_of(device, "wrenches", &vec![0; WRENCH_WORDS as usize * (n_pieces + n_named)])?,
            loads: BodyLoads::new(device, surroundings)?,
            line,
            points: some_of(device, "points", &points)?,
            point_partner: some_of(device, "slab_point_partner", &vec![u32::MAX; n_points])?,
            point_shear_m: some_of(device, "slab_point_shear", &vec![[0.0; 3]; n_points])?,
            links: some_of(device, "links", links)?,
            linked: some_of(device, "linked pieces", linked)?,
            link_is_whole: some_of(device, "slab_link", &vec![1; n_links])?,
            key: some_of(device, "piece key", &vec![0; n_pieces])?,
            near_pieces: some_of(device, "near pieces", &vec![0; (MAX_NEAR as usize + 1) * n_pieces])?,
            listed_poses: device.buffer("listed poses", n_pieces.max(1))?,
            shown: ShownPieces::new(device, n_pieces)?,
            n_points,
            n_links,
            n_pieces,
            n_named,
            sort,
            find_cells: Kernel::specialized(device, &find_piece_cells::Specialization { workgroup_size })?,
            find_near: Kernel::specialized(
                device,
                &find_near_pieces::Specialization {
                    workgroup_size: workgroup_size.min(GROUP_OF_PIECES),
                    max_near: MAX_NEAR,
                },
            )?,
            touch: touch_kernel(device, parameters, workgroup_size)?,
            collide: Kernel::specialized(
                device,
                &collide_pieces::Specialization {
                    workgroup_size,
                    has_rolling: parameters.has_rolling().into(),
                },
            )?,
            pull: Kernel::specialized(device, &pull_links::Specialization { workgroup_size })?,
            move_pieces: Kernel::specialized(device, &move_pieces::Specialization { workgroup_size })?,
            show: Kernel::specialized(device, &show_pieces::Specialization { workgroup_size })?,
        })
    }

    /// Creates the kernel for bodies of the same shapes with other motions.
    pub fn body_kernel(
        &self,
        device: &Device,
        parameters: &DemParameters,
        workgroup_size: u32,
    ) -> frazil_vk::Result<Kernel<touch_points::Interface>> {
        touch_kernel(device, parameters, workgroup_size)
    }

    /// Adopts this kernel.
    pub fn set_body_kernel(&mut self, kernel: Kernel<touch_points::Interface>) {
        self.touch = kernel;
    }

    /// Records the sort of pieces by cell, and the list of pieces near each piece; if contact lists of
    /// `listing` grains are built, also the poses for which they are.
    pub fn sort_pieces(
        &self,
        recorder: &mut Recorder,
        terms: &Buffer<DemTerms>,
        listing: &DeviceCount,
    ) -> Result<(), SolverError> {
        let Some((sort, count)) = &self.sort else { return Ok(()) };
        let bindings = find_piece_cells::Bindings { terms, motions: &self.motions, key: &self.key };
        recorder.dispatch(&self.find_cells, Threads::Fixed(self.n_pieces), bindings, ());
        sort.record(recorder, count, &self.line, &self.key, &self.order)?;
        let bindings = find_near_pieces::Bindings {
            terms,
            motions: &self.motions,
            shapes: &self.shapes,
            faces: &self.faces,
            piece_order: &self.order,
            piece_cell_start: self.line.cell_start(),
            linked_pieces: &self.linked,
            link_is_whole: &self.link_is_whole,
            near_pieces: &self.near_pieces,
            listing_count: &listing.count,
            listed_poses: &self.listed_poses,
        };
        recorder.dispatch(&self.find_near, Threads::Fixed(self.n_pieces), bindings, ());
        Ok(())
    }

    /// Records forces of pieces on grains, after all other forces on grains.
    pub fn collide_grains(
        &self,
        recorder: &mut Recorder,
        context: &StepContext<'_>,
        grains: &Particles,
        rows: &ListRows,
    ) {
        if self.n_pieces == 0 {
            return;
        }
        let bindings = collide_pieces::Bindings {
            count: &grains.count,
            terms: context.terms,
            first_row: &rows.first_row,
            near: &rows.near,
            list_shear: &rows.shear,
            list_rolling: &rows.rolling,
            sphere: &grains.sphere,
            motion: &grains.motion,
            load: &grains.load,
            piece_motions: &self.motions,
            shapes: &self.shapes,
            faces: &self.faces,
            corners: &self.corners_m,
            sums: &self.sums,
            clock: context.clock.buffer(),
        };
        recorder.declare_bytes(12 * u64::from(grains.count.expected()));
        recorder.dispatch_counted(&self.collide, bindings, ());
    }

    /// Records forces between pieces, and of pieces on surfaces.
    pub fn touch_points(&self, recorder: &mut Recorder, context: &StepContext<'_>) {
        if self.n_points == 0 {
            return;
        }
        let bindings = touch_points::Bindings {
            terms: context.terms,
            clock: context.clock.buffer(),
            points: &self.points,
            motions: &self.motions,
            shapes: &self.shapes,
            faces: &self.faces,
            piece_order: &self.order,
            piece_cell_start: self.line.cell_start(),
            linked_pieces: &self.linked,
            link_is_whole: &self.link_is_whole,
            bodies: context.bodies,
            body_data: context.body_data,
            point_partner: &self.point_partner,
            point_shear_m: &self.point_shear_m,
            sums: &self.sums,
            near_pieces: &self.near_pieces,
        };
        let params = touch_points::Params { n_points: self.n_points as u32 };
        recorder.dispatch(&self.touch, Threads::Fixed(self.n_points), bindings, params);
    }

    /// Records forces of links.
    pub fn pull_links(&self, recorder: &mut Recorder, context: &StepContext<'_>) {
        if self.n_links == 0 {
            return;
        }
        let bindings = pull_links::Bindings {
            terms: context.terms,
            clock: context.clock.buffer(),
            links: &self.links,
            motions: &self.motions,
            link_is_whole: &self.link_is_whole,
            sums: &self.sums,
        };
        let params = pull_links::Params { n_links: self.n_links as u32 };
        recorder.dispatch(&self.pull, Threads::Fixed(self.n_links), bindings, params);
    }

    /// Records the motion of pieces and dynamic bodies, and the loads on bodies.
    pub fn move_pieces(&self, recorder: &mut Recorder, context: &StepContext<'_>, lists: &Buffer<DemLists>) {
        let n = self.n_pieces + self.n_named;
        if n == 0 {
            return;
        }
        let bindings = move_pieces::Bindings {
            terms: context.terms,
            clock: context.clock.buffer(),
            fault: context.fault.buffer(),
            shapes: &self.shapes,
            motions: &self.motions,
            loads: &self.loads.loads,
            sums: &self.sums,
            listed_poses: &self.listed_poses,
            lists,
        };
        recorder.dispatch(&self.move_pieces, Threads::Fixed(n), bindings, ());
        self.loads.record_motion(recorder, context.shared());
    }

    /// Records the update of [`Self::shown`] to the current state.
    pub fn show(&self, recorder: &mut Recorder) {
        if self.n_pieces == 0 {
            return;
        }
        let bindings = show_pieces::Bindings {
            motions: &self.motions,
            centre_m: &self.shown.centre_m,
            rotation: &self.shown.rotation,
            turn: &self.shown.turn,
            velocity_m_s: &self.shown.velocity_m_s,
        };
        let params = show_pieces::Params { n_pieces: self.n_pieces as u32 };
        recorder.dispatch(&self.show, Threads::Fixed(self.n_pieces), bindings, params);
    }

    /// Returns the poses of pieces as of [`Self::show`]: one that is unused if there are none.
    pub fn pieces(&self) -> &ShownPieces {
        &self.shown
    }

    /// Returns the poses of pieces as of [`Self::show`]; none without pieces.
    pub fn shown(&self) -> Option<&ShownPieces> {
        (self.n_pieces > 0).then_some(&self.shown)
    }

    /// Returns the columns of pieces to record, as of [`Self::show`].
    pub fn shown_columns(&self) -> Vec<ColumnView> {
        let of = |shown: &ShownPieces| body_columns(&shown.centre_m, &shown.turn, &shown.velocity_m_s);
        self.shown().map_or_else(Vec::new, of)
    }

    /// Registers what the next step depends on for checkpoints.
    pub fn register(&self, table: &mut ParticleTable) {
        let words = DoubleBuffer::single;
        if self.n_pieces > 0 {
            let kind = ColumnKind::Matrix(MOTION_WORDS);
            table.array("slab_motion", "1", kind, words(self.motions.cast()));
            table.array("slab_point_partner", "1", ColumnKind::U32, words(self.point_partner.clone()));
            table.array("slab_point_shear", "m", ColumnKind::Vec3, words(self.point_shear_m.cast()));
        }
        if self.n_links > 0 {
            table.array("slab_link", "1", ColumnKind::U32, words(self.link_is_whole.clone()));
        }
        self.loads.register(table);
    }

    /// Returns a flag for each link: 1 if it is unbroken.
    pub fn link_is_whole(&self) -> &Buffer<u32> {
        &self.link_is_whole
    }
}

/// Makes the kernel in which points of pieces touch grains' surroundings.
fn touch_kernel(
    device: &Device,
    parameters: &DemParameters,
    workgroup_size: u32,
) -> frazil_vk::Result<Kernel<touch_points::Interface>> {
    let surroundings = &parameters.surroundings;
    let specialization = touch_points::Specialization {
        workgroup_size,
        has_bodies: (!surroundings.bodies.is_empty()).into(),
        body_kinds: surroundings.kinds(),
        max_near: MAX_NEAR,
    };
    Kernel::specialized(device, &specialization)
}
