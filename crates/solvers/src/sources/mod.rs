//! Emitters and drains: particles that enter and leave while a simulation runs.

mod columns;
mod parameters;
mod removal;

pub use parameters::SourceParameters;
pub(crate) use removal::Removal;

use crate::StateColumn;
use crate::metrics::{Measurement, PendingMeasurement};
use crate::pending::forwarded;
use bytemuck::Zeroable;
use columns::{MAX_COLUMNS, Slots};
use frazil_particles::{Column, ColumnKind, ParticleTable, PhaseArray};
use frazil_shaders::sources::{count_emitted, emit, fill_emitted};
use frazil_shaders::types::{Drain, Emission, Emitter, StepClock};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

/// Name of the counts in checkpoints.
pub(crate) const EMISSION: &str = "emission";

/// Names and units of the numbers of particles that entered and left so far.
pub(crate) const EMISSION_METRICS: [(&str, &str); 2] = [("n_emitted", "1"), ("n_drained", "1")];

/// Emitters and drains on the device.
pub struct Sources {
    /// Counts of the run, one element.
    emission: Buffer<Emission>,
    emitters: Option<Emitters>,
    drains: Option<Buffer<Drain>>,
    ring: ReadbackRing,
    max_groups_x: u32,
}

struct Emitters {
    emitters: Buffer<Emitter>,
    points_m: Buffer<[f32; 3]>,
    n_points: usize,
    emit: Kernel<emit::Interface>,
    count: Kernel<count_emitted::Interface>,
    fills: Vec<Fill>,
    /// Bound where a step with too many particles is held.
    spare: Buffer<u32>,
}

/// Pass that gives new particles their values in some columns.
struct Fill {
    kernel: Kernel<fill_emitted::Interface>,
    columns: Slots,
    initial: Buffer<u32>,
    /// First word of each column in `initial`.
    first: [u32; MAX_COLUMNS],
}

/// A column with the words of a new particle of each emitter, emitter by emitter.
pub(crate) type Filled = (Column<u32>, Vec<u32>);

/// Outcome of a step for whose particles there is no room.
#[derive(Clone, Copy)]
pub(crate) enum WhenFull<'a> {
    /// It has no particles, and its fault is noted in this slot.
    Empty(&'a Buffer<u32>, u32),
    /// It is the first with a fault, and held.
    Hold,
}

impl Sources {
    /// Makes the sources of a scene that has any, and registers their counts as part of the state; `filled`
    /// are the columns besides position, its residual, velocity and id that new particles have values in.
    /// `empties` is true for [`WhenFull::Empty`]. Set-up only: waits for the device.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        sources: &SourceParameters,
        (n, table): (u32, &mut ParticleTable),
        filled: &[Filled],
        empties: bool,
    ) -> Result<Option<Self>> {
        if !sources.has_emitters() && !sources.has_drains() {
            return Ok(None);
        }
        let start = Emission { next_id: n, ..Emission::zeroed() };
        let emission = device.buffer_from("emission", &[start])?;
        table.array(EMISSION, "1", ColumnKind::U32, DoubleBuffer::single(emission.cast()));
        let emitters = || {
            let of_count = count_emitted::Specialization { empties: empties.into(), ..Default::default() };
            let fill = |columns: &[Filled]| Fill::new(device, workgroup_size, columns);
            Ok(Emitters {
                emitters: device.buffer_from("emitters", &sources.emitters)?,
                points_m: device.buffer_from("points of emitters", &sources.points_m)?,
                n_points: sources.points_m.len(),
                emit: Kernel::specialized(device, &emit::Specialization { workgroup_size })?,
                count: Kernel::specialized(device, &of_count)?,
                fills: filled.chunks(MAX_COLUMNS).map(fill).collect::<Result<_>>()?,
                spare: device.buffer("spare slot", 1)?,
            })
        };
        Ok(Some(Self {
            emission,
            emitters: sources.has_emitters().then(emitters).transpose()?,
            drains: match sources.has_drains() {
                true => Some(device.buffer_from("drains", &sources.drains)?),
                false => None,
            },
            ring: ReadbackRing::new(device),
            max_groups_x: device.capabilities().max_groups_x,
        }))
    }

    /// Returns the emitters, if there are any.
    pub fn emitters(&self) -> Option<&Buffer<Emitter>> {
        self.emitters.as_ref().map(|own| &own.emitters)
    }

    /// Returns the emitters and the points of their layers in m, if there are any.
    pub(crate) fn layers(&self) -> Option<(&Buffer<Emitter>, &Buffer<[f32; 3]>)> {
        self.emitters.as_ref().map(|own| (&own.emitters, &own.points_m))
    }

    /// Returns the drains, if there are any.
    pub fn drains(&self) -> Option<&Buffer<Drain>> {
        self.drains.as_ref()
    }

    /// Returns the counts of the run, one element.
    pub fn emission(&self) -> &Buffer<Emission> {
        &self.emission
    }

    /// Records the particles that appear before a step, once the clock has advanced to it.
    pub(crate) fn record_emit(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        residual: &Column<[f32; 3]>,
        clock: &Buffer<StepClock>,
        when_full: WhenFull<'_>,
    ) {
        let Some(own) = &self.emitters else { return };
        let count = &phase.count;
        let (n_points, capacity) = (own.n_points as u32, count.capacity);
        let bindings = emit::Bindings {
            count,
            clock,
            emitters: &own.emitters,
            points_m: &own.points_m,
            emission: &self.emission,
            position: phase.position.front(),
            residual_m: residual.front(),
            velocity: phase.velocity.front(),
            id: phase.id.front(),
        };
        let params = emit::Params { n_points, capacity };
        recorder.dispatch(&own.emit, Threads::Fixed(own.n_points), bindings, params);
        for fill in &own.fills {
            let [column0, column1, column2, column3, column4, column5, column6] = fill.columns.fronts();
            let bindings = fill_emitted::Bindings {
                count,
                clock,
                emitters: &own.emitters,
                initial: &fill.initial,
                emission: &self.emission,
                column0,
                column1,
                column2,
                column3,
                column4,
                column5,
                column6,
            };
            let params = fill_emitted::Params { n_points, capacity, first: fill.first };
            recorder.dispatch(&fill.kernel, Threads::Fixed(own.n_points), bindings, params);
        }
        let (faulty, faulty_slot) = match when_full {
            WhenFull::Empty(faulty, slot) => (faulty, slot),
            WhenFull::Hold => (&own.spare, 0),
        };
        let bindings = count_emitted::Bindings {
            count,
            args: &count.args,
            clock,
            emitters: &own.emitters,
            emission: &self.emission,
            faulty,
        };
        let params = count_emitted::Params { capacity, faulty_slot, max_groups_x: self.max_groups_x };
        recorder.dispatch(&own.count, Threads::Fixed(1), bindings, params);
    }

    /// Records the read-back of the counts.
    pub fn record_counts(&self, recorder: &mut Recorder) -> Result<Pending<Emission>> {
        self.ring.read(recorder, &self.emission, 1)
    }
}

impl Fill {
    fn new(device: &Device, workgroup_size: u32, filled: &[Filled]) -> Result<Self> {
        let columns = Slots::new(device, filled.iter().map(|(column, _)| column))?;
        let mut first = [0; MAX_COLUMNS];
        let mut initial = Vec::new();
        for (place, (_, words)) in first.iter_mut().zip(filled) {
            *place = initial.len() as u32;
            initial.extend_from_slice(words);
        }
        let [words_0, words_1, words_2, words_3, words_4, words_5, words_6] = columns.words();
        let constants = fill_emitted::Specialization {
            workgroup_size,
            words_0,
            words_1,
            words_2,
            words_3,
            words_4,
            words_5,
            words_6,
        };
        Ok(Self {
            kernel: Kernel::specialized(device, &constants)?,
            columns,
            initial: device.buffer_from("values of new particles", &initial)?,
            first,
        })
    }
}

/// Completes a measurement by the numbers of particles that entered and left so far, [`EMISSION_METRICS`], in
/// scenes with emitters or drains.
pub(crate) fn with_emission_values(
    own: PendingMeasurement,
    sources: Option<&Sources>,
    recorder: &mut Recorder,
) -> Result<PendingMeasurement> {
    let Some(sources) = sources else { return Ok(own) };
    Ok(forwarded(
        (own, sources.record_counts(recorder)?),
        |(own, emission)| Ok(own.is_ready()? && emission.is_ready()?),
        |(own, emission)| {
            let mut measured: Measurement = own.wait()?;
            let counts = emission.wait()?;
            let values = counts
                .first()
                .map_or([f64::NAN; 2], |counts| [counts.n_emitted, counts.n_drained].map(f64::from));
            measured.values.extend(values);
            Ok(measured)
        },
    ))
}

/// Returns the number of particles of a state whose next step is held for lack of room, and how many it
/// needs; `None` if there was room. It waits for the device.
pub(crate) fn held(device: &Device, sources: Option<&Sources>) -> Result<Option<[u32; 2]>> {
    let Some(sources) = sources else { return Ok(None) };
    let emission = device.download(&sources.emission, 1)?[0];
    Ok((emission.n_required > 0).then_some([emission.n_held, emission.n_required]))
}

/// Returns the state of `n` particles as a restoration takes it, of a step that is to be repeated. It waits
/// for the device.
pub(crate) fn download_state(device: &Device, table: &ParticleTable, n: u32) -> Result<Vec<StateColumn>> {
    let mut state = Vec::new();
    for column in table.state_columns() {
        let len = match column.is_of_particles {
            true => n as usize * column.kind.words() as usize,
            false => column.words.len(),
        };
        let mut words = device.download(&column.words, len)?;
        if column.name == EMISSION {
            let [emission]: [Emission; 1] =
                bytemuck::cast_slice(&words).try_into().unwrap_or([Emission::zeroed()]);
            words = bytemuck::cast_slice(&[Emission { n_held: 0, n_required: 0, ..emission }]).to_vec();
        }
        state.push(StateColumn { name: column.name.to_string(), words });
    }
    Ok(state)
}
