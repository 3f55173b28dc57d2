//! Every bench gives the twin's result at boundary sizes, and none accepts garbage as a result.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_bench::{
    Axis, AxisOverride, Bench, DeviceWorkload, Difference, Error, Planned, Point, Prepared, Profile, Result,
    Session, Value, Work, benches, first_difference, plan, select,
};
use frazil_testkit::{is_full_run, own_device};
use frazil_vk::{Buffer, Device, Recorder};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// One device for all tests of a process, with validation on.
static DEVICE: LazyLock<Device> = LazyLock::new(own_device);

/// Returns the one session of a process: a new one measures the bandwidth of copies, which takes a second.
fn session() -> MutexGuard<'static, Session> {
    static SESSION: LazyLock<Mutex<Session>> =
        LazyLock::new(|| Mutex::new(Session::new(&DEVICE, None).unwrap()));
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

fn planned(filters: &[&str], overrides: &[&str], profile: Profile) -> Vec<Planned<'static>> {
    let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
    let overrides: Vec<AxisOverride> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    plan(&select(benches::all(), &filters).unwrap(), &overrides, profile).unwrap()
}

/// Runs and verifies a point twice: the second time on buffers that the first run used.
fn verify(session: &Session, planned: &Planned<'_>) {
    let (id, point) = (planned.bench.id(), &planned.point);
    let mut running = session.prepare(planned.bench, point).unwrap();
    let sample = running.sample().unwrap();
    running.verify("again").unwrap();
    let work = running.work();
    let count = point.integer("count").unwrap();
    assert_eq!(work.elements, count, "{id} at {point}");
    if let Some(moved) = sample.bytes_moved {
        let is_counted = count > 0;
        assert!(moved >= work.bytes_minimum || !is_counted, "{id} at {point}: {moved} bytes, {work:?}");
        assert!(sample.ns > 0.0 || count == 0, "{id} at {point}");
    }
    DEVICE.check_validation().unwrap();
}

#[test]
fn every_bench_verifies_at_sizes_that_break_tails() {
    let session = session();
    // `a_result_that_was_not_computed_is_refused` verifies each at 257: a whole group and a tail.
    let sizes = if is_full_run() { "count=0,1,2,255" } else { "count=0,1" };
    for point in planned(&[], &[sizes], Profile::Smoke) {
        verify(&session, &point);
    }
}

#[test]
fn every_distribution_and_workgroup_size_verifies() {
    let session = session();
    let all = "distribution=uniform,sorted,reversed,equal,few_distinct,top_bit";
    for point in planned(&["primitives"], &["count=2049", all], Profile::Smoke) {
        verify(&session, &point);
    }
    for point in planned(&["primitives"], &["count=4097", "workgroup_size=64,128,256,512"], Profile::Smoke) {
        let capabilities = DEVICE.capabilities();
        let subgroups =
            point.point.integer("workgroup_size").unwrap_or(0) / u64::from(capabilities.subgroup_size);
        let by_subgroups = point.point.name("variant").is_ok_and(|name| name == "look_back_subgroups");
        if by_subgroups && subgroups > capabilities.max_subgroups.into() {
            // A group of more subgroups than the device allows is refused by the kernel's name.
            let refused = session.prepare(point.bench, &point.point).err().map(|error| error.to_string());
            assert!(refused.is_some_and(|said| said.contains("subgroups a group")), "{}", point.point);
            continue;
        }
        verify(&session, &point);
    }
    for point in planned(&["radix_sort"], &["count=1000", "key_bits=1,4,7,8,9,24,31"], Profile::Smoke) {
        verify(&session, &point);
    }
    for point in planned(&["compaction"], &["count=3000", "kept_percent=0,1,99,100"], Profile::Smoke) {
        verify(&session, &point);
    }
}

#[test]
fn every_transfer_spline_and_density_of_snow_on_a_grid_verifies() {
    let session = session();
    // `every_bench_verifies_at_sizes_that_break_tails` has emitters that do nothing.
    let is_left_out = |point: &Planned<'_>| {
        !is_full_run() && point.point.name("sources").is_ok_and(|sources| sources != "none")
    };
    // The transfers that are not the default with the spline that is not; in the long form all with both.
    let (splines, others) = if is_full_run() { ("cubic,quadratic", "apic,") } else { ("quadratic", "") };
    let (transfers, splines) = (format!("transfer=pic_flip,{others}mls"), format!("spline={splines}"));
    for point in planned(&["mpm."], &["count=257", &transfers, &splines], Profile::Smoke) {
        if !is_left_out(&point) {
            verify(&session, &point);
        }
    }
    let densities = if is_full_run() { "per_cell=1,3,100" } else { "per_cell=1,100" };
    for point in planned(&["mpm."], &["count=2049", densities], Profile::Smoke) {
        if !is_left_out(&point) {
            verify(&session, &point);
        }
    }
    // More points than the twin can compute: other rasterizations, samples and sums. Tiles are verified
    // against fixed point; the long form also does it the other way round, and steps the twin.
    for point in planned(&["mpm."], &["count=33001", "dimensions=3"], Profile::Smoke) {
        let is_tiles = !point.point.name("variant").is_ok_and(|variant| variant != "tiles");
        if is_full_run() || is_tiles && !is_left_out(&point) {
            verify(&session, &point);
        }
    }
    if DEVICE.capabilities().float_atomics {
        let floats = "variant=float_atomics";
        for point in planned(&["mpm.step", "mpm.rasterize"], &["count=1,2049", floats], Profile::Smoke) {
            verify(&session, &point);
        }
    }
}

#[test]
fn steps_of_grains_verify_with_the_twin_and_beyond_it() {
    let session = session();
    // The twin computes up to 2048 grains. None and one: `every_bench_verifies_at_sizes_that_break_tails`.
    let sizes = if is_full_run() { "count=2,65,2048,2049,20001" } else { "count=2,65,2048,2049" };
    for point in planned(&["dem."], &[sizes], Profile::Smoke) {
        verify(&session, &point);
    }
}

#[test]
fn steps_of_viscoelastic_fluids_with_a_feed_heat_and_bodies_verify() {
    let session = session();
    let parts = ["count=257", "model=conformation,springs", "feed=upper half", "heat=faces"];
    let on_a_floor = ["count=257", "model=none", "bodies=floor"];
    for parts in [&parts[..], &on_a_floor] {
        for point in planned(&["viscoelastic.step"], parts, Profile::Smoke) {
            verify(&session, &point);
        }
    }
}

#[test]
fn surfaces_of_every_fineness_and_workgroup_verify() {
    let session = session();
    let all = ["count=64,65,4097", "period=4,9,40", "workgroup_size=64,256,512"];
    for point in planned(&["surface.marching_cubes"], &all, Profile::Smoke) {
        verify(&session, &point);
    }
    let all = ["count=64,2049", "per_cell=1,3,100", "workgroup_size=64,256,512"];
    for point in planned(&["surface.splat_density"], &all, Profile::Smoke) {
        verify(&session, &point);
    }
}

#[test]
fn ids_are_unique_and_defaults_are_values_of_their_axes() {
    let ids: BTreeSet<_> = benches::all().iter().map(|bench| bench.id()).collect();
    assert_eq!(ids.len(), benches::all().len());
    for bench in benches::all() {
        let id = bench.id();
        let plain =
            |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(id.split('.').count() == 2 && id.split('.').all(|p| !p.is_empty() && plain(p)), "{id}");
        let axes = bench.axes();
        let names: BTreeSet<_> = axes.iter().map(|axis| axis.name).collect();
        assert_eq!(names.len(), axes.len(), "{id}");
        for axis in &axes {
            assert!(!axis.full.is_empty() && !axis.smoke.is_empty(), "{id}: {}", axis.name);
            for value in axis.full.iter().chain(&axis.smoke) {
                assert_eq!(
                    axis.domain.parse(&value.to_string()).as_ref(),
                    Some(value),
                    "{id}: {}",
                    axis.name
                );
            }
        }
        let count = axes.iter().find(|axis| axis.name == "count").unwrap();
        let tail = |value: &Value| matches!(value, Value::Integer(n) if !n.is_power_of_two());
        assert!(count.full.iter().any(tail), "{id}: a count that is no power of two");
    }
}

#[test]
fn a_result_that_was_not_computed_is_refused() {
    for planned in planned(&[], &["count=257"], Profile::Smoke) {
        let (id, point) = (planned.bench.id(), planned.point.to_string());
        match planned.bench.prepare(&DEVICE, &planned.point).unwrap() {
            Prepared::Host(mut workload) => {
                workload.reset();
                assert!(workload.verify().is_some(), "{id} at {point}");
                workload.run();
                assert_eq!(workload.verify(), None, "{id} at {point}");
                workload.reset();
                // A computation that does not change its inputs keeps its correct result.
                assert!(id.ends_with("scan") || workload.verify().is_some(), "{id} at {point}");
            }
            Prepared::Device(mut workload) => {
                let mut submit = |record: &mut dyn FnMut(&mut dyn DeviceWorkload, &mut Recorder)| {
                    let mut recorder = DEVICE.recorder().unwrap();
                    record(workload.as_mut(), &mut recorder);
                    DEVICE.submit(recorder).unwrap().wait().unwrap();
                    workload.verify(&DEVICE).unwrap()
                };
                let mut unrun = |workload: &mut dyn DeviceWorkload, recorder: &mut Recorder| {
                    workload.poison(recorder);
                    workload.reset(recorder);
                };
                assert!(submit(&mut unrun).is_some(), "{id} at {point}: before it ran");
                assert_eq!(submit(&mut |w, r| w.record(r).unwrap()), None, "{id} at {point}");
                assert!(submit(&mut unrun).is_some(), "{id} at {point}: after it ran");
            }
        }
        DEVICE.check_validation().unwrap();
    }
}

/// A copy that omits the last element from its `right_runs`-th run on.
struct IncompleteCopy {
    right_runs: u32,
}

struct IncompleteCopyWorkload {
    from: Buffer<u32>,
    to: Buffer<u32>,
    right_runs: Cell<u32>,
}

impl Bench for IncompleteCopy {
    fn id(&self) -> &'static str {
        "test.incomplete_copy"
    }

    fn about(&self) -> &'static str {
        "a copy that omits the last element"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let from = device.buffer_from("from", &vec![7u32; point.count()?])?;
        let to = device.buffer("to", from.len())?;
        Ok(Prepared::Device(Box::new(IncompleteCopyWorkload {
            from,
            to,
            right_runs: self.right_runs.into(),
        })))
    }
}

impl DeviceWorkload for IncompleteCopyWorkload {
    fn work(&self) -> Work {
        Work { elements: self.from.len() as u64, bytes_minimum: 8 * self.from.len() as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.to, 0);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.to, 0);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let right = self.right_runs.get() > 0;
        self.right_runs.set(self.right_runs.get().saturating_sub(1));
        recorder.copy(&self.from, &self.to, self.from.len() - usize::from(!right));
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.to, self.to.len())?;
        Ok(first_difference("to", &found, &vec![7; self.from.len()]))
    }
}

#[test]
fn a_wrong_result_stops_the_bench_and_is_named() {
    let session = session();
    let point = Point::default().with("count", Value::Integer(100));
    for (right_runs, when) in
        [(0, "before it was timed"), (1, "after it was timed"), (4, "after it was timed")]
    {
        let error = session.measure(&IncompleteCopy { right_runs }, &point, Profile::Smoke).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("test.incomplete_copy at count=100 is wrong {when}: to[99] is 0, expected 7")
        );
    }
    let right = session.measure(&IncompleteCopy { right_runs: u32::MAX }, &point, Profile::Smoke).unwrap();
    assert!(right.verified && right.bytes_moved == Some(800));
}

/// A bench whose output is correct before anything runs, and that runs nothing.
struct Idle;

struct IdleFill {
    filled: Buffer<u32>,
}

impl Bench for Idle {
    fn id(&self) -> &'static str {
        "test.idle"
    }

    fn about(&self) -> &'static str {
        "a fill that was done in advance"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        Ok(Prepared::Device(Box::new(IdleFill {
            filled: device.buffer_from("filled", &vec![7; point.count()?])?,
        })))
    }
}

impl DeviceWorkload for IdleFill {
    fn work(&self) -> Work {
        Work { elements: self.filled.len() as u64, bytes_minimum: 4 * self.filled.len() as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.filled, 0);
    }

    fn record(&mut self, _: &mut Recorder) -> Result<()> {
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.filled.len();
        Ok(first_difference("filled", &device.download(&self.filled, n)?, &vec![7; n]))
    }
}

#[test]
fn a_stale_result_is_rejected() {
    let point = Point::default().with("count", Value::Integer(3));
    let error = session().measure(&Idle, &point, Profile::Smoke).unwrap_err().to_string();
    assert_eq!(error, "test.idle at count=3 is wrong before it was timed: filled[0] is 0, expected 7");
}

#[test]
fn a_point_without_an_axis_is_refused_by_name() {
    let session = session();
    for bench in benches::all() {
        let error = session.prepare(*bench, &Point::default()).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Point { .. }), "{}: {error}", bench.id());
        assert!(error.to_string().contains(bench.id()) && error.to_string().contains("missing"), "{error}");
    }
}

#[test]
fn a_row_says_what_was_measured() {
    let session = session();
    for planned in planned(&["copy", "exclusive_scan"], &["count=5000"], Profile::Smoke) {
        let row = session.measure(planned.bench, &planned.point, Profile::Smoke).unwrap();
        let on_device = row.point.get("variant").is_none_or(|v| !v.to_string().starts_with("cpu_"));
        assert_eq!((row.elements, row.bytes_minimum), (5000, 40_000));
        assert_eq!(row.cold_samples_ns.len(), Profile::Smoke.cold_samples());
        assert_eq!(row.host_samples_ns.len(), if on_device { row.samples_ns.len() } else { 0 });
        assert_eq!((row.bytes_moved.is_some(), row.share_of_copy.is_some()), (on_device, on_device));
        assert!(row.min_ns <= row.median_ns && row.min_ns > 0.0, "{row:?}");
        let gb_per_s = row.gb_per_s.unwrap();
        assert!((gb_per_s * row.median_ns - 40_000.0).abs() < 1e-6, "{row:?}");
        assert!(row.share_of_copy.is_none_or(|share| (share - gb_per_s / row.copy_gb_per_s).abs() < 1e-12));
        assert_eq!(row.device, DEVICE.info().name);
    }
}
