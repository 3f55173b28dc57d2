//! Free flight on the device.

use crate::kernels::free_flight::advance;
use crate::kernels::types::Body;
use crate::scene::Drag;
use frazil_kernels::{Operation, ReductionF32, ReductionU32};
use frazil_particles::{
    Column, ColumnInfo, ColumnKind, Display, Material, ParticleSet, ParticleTable, PhaseArray, SetInfo, Uses,
};
use frazil_scene::Scene;
use frazil_solvers::{
    Measurement, MetricInfo, PendingMeasurement, PendingResult, Saved, Solver, SolverError, SolverFactory,
    SolverStart, StateSummary, Surroundings, Tuning,
};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder};

/// Particles in free flight.
pub struct FreeFlight {
    table: ParticleTable,
    particles: PhaseArray,
    /// Power in W that drag dissipates, per particle.
    drag_power: Column<f32>,
    not_finite: Buffer<u32>,
    outside: Buffer<u32>,
    /// Bodies that particles collide with, and the data of heightfields and meshes.
    bodies: Buffer<Body>,
    body_data: Buffer<f32>,
    kernel: Kernel<advance::Interface>,
    params: advance::Params,
    sum: ReductionF32,
    count: ReductionU32,
    ring: ReadbackRing,
}

impl FreeFlight {
    fn new(
        device: &Device,
        scene: &Scene,
        [positions_m, velocities_m_s]: [&[[f32; 3]]; 2],
        n: u32,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let drag = scene
            .section::<Drag>()
            .ok_or_else(|| SolverError::Scene { key: "drag".into(), found: "no such section".into() })?;
        let mut table = ParticleTable::new(device, n, n, tuning.workgroup_size())?;
        let ids: Vec<u32> = (0..n).collect();
        let around = Surroundings::of(scene)?;
        let n_bodies = around.bodies.len() as u32;
        let (bodies, body_data) = around.upload(device)?;
        Ok(Self {
            bodies: bodies.cast(),
            body_data,
            particles: PhaseArray::register(&mut table, positions_m, velocities_m_s, &ids)?,
            drag_power: table.computed("drag_power", "W", Uses::RECORDED, &vec![0.0; n as usize])?,
            not_finite: device.buffer_from("not_finite", &vec![0; n as usize])?,
            outside: device.buffer_from("outside", &vec![0; n as usize])?,
            kernel: Kernel::specialized(
                device,
                &advance::Specialization {
                    workgroup_size: tuning.workgroup_size(),
                    ..advance::Specialization::default()
                },
            )?,
            params: advance::Params {
                domain_min_m: around.domain_min_m,
                domain_max_m: around.domain_max_m,
                gravity_m_s2: around.gravity_m_s2,
                up_axis: around.up_axis,
                n_bodies,
                dt_s: scene.dt_s() as f32,
                drag_kg_s: drag.coefficient_kg_s as f32,
                mass_kg: scene.particle_mass_kg() as f32,
            },
            sum: ReductionF32::new(device, Operation::Sum, n)?,
            count: ReductionU32::new(device, Operation::Sum, n)?,
            ring: ReadbackRing::new(device),
            table,
        })
    }
}

impl Solver for FreeFlight {
    fn stages(&self) -> Vec<String> {
        vec!["Advance".to_owned()]
    }

    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError> {
        if stage != "Advance" {
            return Err(SolverError::Stage { found: stage.to_owned(), expected: "Advance".to_owned() });
        }
        let PhaseArray { count, position, velocity, .. } = &self.particles;
        let bindings = advance::Bindings {
            count,
            position: position.front(),
            velocity: velocity.front(),
            drag_power: self.drag_power.front(),
            not_finite: &self.not_finite,
            outside: &self.outside,
            bodies: &self.bodies,
            body_data: &self.body_data,
        };
        recorder.dispatch_counted(&self.kernel, bindings, self.params);
        Ok(())
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let (count, columns) = (self.table.count(), self.table.shown_columns());
        vec![ParticleSet { name: "particles", material: Material::Generic, count, columns }]
    }

    fn table(&self) -> &ParticleTable {
        &self.table
    }

    fn metrics(&self) -> Vec<MetricInfo> {
        MetricInfo::list([("n_particles", "1"), ("drag_power", "W")])
    }

    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError> {
        let count = &self.particles.count;
        // A reduction's result is read before the next one overwrites it.
        let mut sum = |flags| {
            let total = self.count.record(recorder, count, flags)?;
            Ok::<_, SolverError>(self.ring.read(recorder, total, 1)?)
        };
        let (not_finite, outside) = (sum(&self.not_finite)?, sum(&self.outside)?);
        let drag_power = self.sum.record(recorder, count, self.drag_power.front())?;
        Ok(Box::new(Measuring {
            n_particles: self.ring.read(recorder, &count.count, 1)?,
            not_finite,
            outside,
            drag_power: self.ring.read(recorder, drag_power, 1)?,
        }))
    }
}

/// A pending measurement, all of it in one submission.
struct Measuring {
    n_particles: Pending<u32>,
    not_finite: Pending<u32>,
    outside: Pending<u32>,
    drag_power: Pending<f32>,
}

impl PendingResult<Measurement> for Measuring {
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        self.drag_power.is_ready()
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<Measurement> {
        let summary = StateSummary {
            n_particles: self.n_particles.wait()?[0],
            n_not_finite: self.not_finite.wait()?[0],
            n_outside: self.outside.wait()?[0],
            sets: Vec::new(),
        };
        let values = vec![summary.n_particles.into(), self.drag_power.wait()?[0].into()];
        Ok(Measurement { summary, values })
    }
}

/// Factory of [`FreeFlight`].
#[derive(Debug)]
pub struct FreeFlightFactory;

impl SolverFactory for FreeFlightFactory {
    fn kind(&self) -> &'static str {
        "free_flight"
    }

    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        let new = |initial, n| FreeFlight::new(device, scene, initial, n as u32, tuning);
        Ok(Box::new(match start {
            SolverStart::Sampled(sampled) => {
                new([&sampled.positions_m[..], &sampled.velocities_m_s], sampled.len())?
            }
            SolverStart::Saved { columns, .. } => {
                let saved = Saved::new(columns)?;
                let solver = new([&[], &[]], saved.ids.len())?;
                solver.table.restore(&saved)?;
                solver
            }
        }))
    }

    fn set_infos(&self, scene: &Scene, _n_particles: usize) -> Vec<SetInfo> {
        let fastest2 =
            scene.particles.iter().map(|block| block.velocity_m_s.iter().map(|v| v * v).sum::<f64>());
        let max_w = scene.section::<Drag>().map_or(f64::NAN, |drag| drag.coefficient_kg_s)
            * fastest2.fold(0.0, f64::max);
        let column = |name, kind| ColumnInfo::new(name, kind, Display::default());
        let columns = vec![
            column("position", ColumnKind::Vec3),
            column("velocity", ColumnKind::Vec3),
            column("id", ColumnKind::U32),
            ColumnInfo::new("drag_power", ColumnKind::F32, Display::up_to(max_w as f32)),
        ];
        vec![SetInfo { name: "particles", material: Material::Generic, phase: 0, columns }]
    }
}
