//! Free flight on the device.

use crate::kernels::free_flight::advance;
use crate::kernels::types::Body;
use crate::scene::Drag;
use frazil_kernels::{Counts, Operation, ReductionF32, ReductionU32};
use frazil_particles::{
    AnyColumn, ColumnInfo, ColumnKind, ColumnView, Display, Material, ParticleSet, PhaseArray, SetInfo,
};
use frazil_scene::{Sampled, Scene};
use frazil_solvers::{
    Measurement, MetricInfo, PendingMeasurement, PendingResult, Saved, Solver, SolverError, SolverFactory,
    StateColumn, StateSummary, Surroundings, Tuning,
};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Threads};

/// Particles in free flight.
pub struct FreeFlight {
    particles: PhaseArray,
    /// Power in W that drag dissipates, per particle.
    drag_power: Buffer<f32>,
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
        particles: PhaseArray,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let drag = scene
            .section::<Drag>()
            .ok_or_else(|| SolverError::Scene { key: "drag".into(), found: "no such section".into() })?;
        let n = particles.count.capacity;
        let around = Surroundings::of(scene)?;
        let n_bodies = around.bodies.len() as u32;
        let (bodies, body_data) = around.upload(device)?;
        Ok(Self {
            bodies: bodies.cast(),
            body_data,
            drag_power: device.buffer_from("drag_power", &vec![0.0; n as usize])?,
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
            particles,
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
            count: &count.count,
            position: position.front(),
            velocity: velocity.front(),
            drag_power: &self.drag_power,
            not_finite: &self.not_finite,
            outside: &self.outside,
            bodies: &self.bodies,
            body_data: &self.body_data,
        };
        recorder.dispatch(&self.kernel, Threads::Counted(count), bindings, self.params);
        Ok(())
    }

    fn particle_sets(&self) -> Vec<ParticleSet<'_>> {
        let (count, columns) = (&self.particles.count, self.columns());
        vec![ParticleSet { name: "particles", material: Material::Generic, count, columns }]
    }

    fn columns(&self) -> Vec<ColumnView> {
        vec![
            self.particles.position.view(),
            self.particles.velocity.view(),
            self.particles.id.view(),
            ColumnView::new("drag_power", "W", ColumnKind::F32, self.drag_power.cast()),
        ]
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
        let drag_power = self.sum.record(recorder, count, &self.drag_power)?;
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
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        let n = sampled.len() as u32;
        let (positions, velocities) = (&sampled.positions_m, &sampled.velocities_m_s);
        let particles = PhaseArray::upload(device, &Counts::new(device)?, positions, velocities, n)?;
        Ok(Box::new(FreeFlight::new(device, scene, particles, tuning)?))
    }

    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        _step: u64,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError> {
        let saved = Saved::new(state)?;
        let (positions, velocities, n) =
            (saved.vectors("position")?, saved.vectors("velocity")?, saved.ids.len() as u32);
        let counts = Counts::new(device)?;
        let particles = PhaseArray::restore(device, &counts, &positions, &velocities, saved.ids, n)?;
        let solver = FreeFlight::new(device, scene, particles, tuning)?;
        device.upload(&solver.drag_power, &saved.numbers("drag_power")?)?;
        Ok(Box::new(solver))
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
