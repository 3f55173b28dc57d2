//! Barriers of the recorder: none missing, none redundant, and a missing one is detected by the host-side
//! checker and by the synchronization layer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_shaders::primitives::gather_u32;
use frazil_testkit::{assert_no_validation_messages, own_device};
use frazil_vk::{
    BarrierPlan, Buffer, Device, Error, Event, Kernel, Recorder, RecorderOptions, Use, find_hazards,
};
use proptest::prelude::*;

const N: usize = 300;
const BUFFERS: usize = 4;

/// A pass that reads and writes some of the test's buffers.
#[derive(Clone, Copy, Debug)]
enum Pass {
    Copy { from: usize, to: usize },
    Fill { buffer: usize },
    Gather { order: usize, from: usize, to: usize },
}

fn pass() -> impl Strategy<Value = Pass> {
    let different = prop::sample::subsequence((0..BUFFERS).collect::<Vec<_>>(), 3).prop_shuffle();
    (different, 0..3u8).prop_map(|(b, kind)| match kind {
        0 => Pass::Copy { from: b[0], to: b[1] },
        1 => Pass::Fill { buffer: b[0] },
        _ => Pass::Gather { order: b[0], from: b[1], to: b[2] },
    })
}

struct Bench {
    device: Device,
    gather: Kernel<gather_u32::Interface>,
    count: frazil_vk::DeviceCount,
    buffers: Vec<Buffer<u32>>,
}

impl Bench {
    fn new() -> Self {
        let device = own_device();
        let count = Counts::new(&device).unwrap().upload(&device, "count", N as u32, N as u32).unwrap();
        let order: Vec<u32> = (0..N as u32).collect();
        let buffers =
            (0..BUFFERS).map(|i| device.buffer_from(&format!("buffer {i}"), &order).unwrap()).collect();
        Self { gather: Kernel::new(&device).unwrap(), count, buffers, device }
    }

    fn record(&self, passes: &[Pass], barriers: BarrierPlan) -> Recorder {
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut recorder = self.device.recorder_with(options).unwrap();
        for pass in passes {
            match *pass {
                Pass::Copy { from, to } => recorder.copy(&self.buffers[from], &self.buffers[to], N),
                Pass::Fill { buffer } => recorder.fill(&self.buffers[buffer], 0),
                Pass::Gather { order, from, to } => {
                    let bindings = gather_u32::Bindings {
                        count: &self.count,
                        order: &self.buffers[order],
                        column: &self.buffers[from],
                        moved: &self.buffers[to],
                    };
                    recorder.dispatch_counted(&self.gather, bindings, ());
                }
            }
        }
        recorder
    }
}

#[test]
fn every_barrier_is_there_and_every_barrier_is_needed() {
    let bench = Bench::new();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) };
    proptest!(config, |(passes in prop::collection::vec(pass(), 1..12))| {
        let recorder = bench.record(&passes, BarrierPlan::All);
        let barriers = recorder.barrier_count();
        prop_assert_eq!(find_hazards(recorder.events()), vec![]);
        bench.device.submit(recorder).unwrap().wait().unwrap();
        assert_no_validation_messages(&bench.device);
        for omitted in 0..barriers {
            let recorder = bench.record(&passes, BarrierPlan::Omit(omitted));
            let hazards = find_hazards(recorder.events());
            prop_assert!(!hazards.is_empty(), "barrier {} of {} is not needed", omitted, barriers);
            // The synchronization layer checks while commands are recorded; the recorder is never submitted.
            // Layers 1.3.239 do not report two kernels that write the same buffer, and overestimate the
            // effect of some chains of barriers, so only neighbouring passes are checked with them.
            let unasked = |h: &frazil_vk::Hazard| {
                let both_write = h.first.usage == Use::ComputeWrite && h.second.usage == Use::ComputeWrite;
                both_write || h.second.pass > h.first.pass + 1
            };
            let messages = bench.device.validation().take();
            let reported = messages.iter().any(|m| m.id.starts_with("SYNC-HAZARD"));
            prop_assert!(
                reported || hazards.iter().all(unasked),
                "the layer misses barrier {}: {:?}", omitted, hazards
            );
        }
    });
}

#[test]
fn passes_that_only_read_in_common_get_no_barrier() {
    let bench = Bench::new();
    let passes = [Pass::Gather { order: 0, from: 1, to: 2 }, Pass::Gather { order: 0, from: 1, to: 3 }];
    let recorder = bench.record(&passes, BarrierPlan::All);
    assert_eq!(recorder.barrier_count(), 0);
    assert!(recorder.events().iter().all(|e| matches!(e, Event::Access(_))));
}

#[test]
fn a_planted_missing_barrier_is_reported_by_the_synchronization_layer() {
    let bench = Bench::new();
    let passes = [Pass::Gather { order: 0, from: 1, to: 2 }, Pass::Gather { order: 0, from: 2, to: 3 }];
    let recorder = bench.record(&passes, BarrierPlan::Omit(0));
    let hazards = find_hazards(recorder.events());
    assert_eq!(hazards.len(), 1, "the checker sees exactly the planted one: {hazards:?}");
    bench.device.submit(recorder).unwrap().wait().unwrap();
    let messages = bench.device.validation().take();
    assert!(
        messages
            .iter()
            .any(|m| m.id.contains("SYNC-HAZARD-READ-AFTER-WRITE") || m.text.contains("READ_AFTER_WRITE")),
        "expected a read-after-write hazard, got {messages:#?}"
    );
}

#[test]
fn planted_bad_accesses_are_refused_with_the_names_of_what_was_bound() {
    let bench = Bench::new();
    // Input and output are the same buffer: threads would race within one pass.
    let recorder = bench.record(&[Pass::Gather { order: 0, from: 1, to: 1 }], BarrierPlan::All);
    let Err(Error::Misuse { object, problem }) = bench.device.submit(recorder) else {
        panic!("aliasing went through")
    };
    assert!(object.contains("primitives.gather_u32"), "{object}");
    assert!(
        problem.contains("\"buffer 1\"") && problem.contains("\"column\"") && problem.contains("\"moved\""),
        "{problem}"
    );

    let short = bench.device.buffer::<u32>("short", N - 1).unwrap();
    let mut recorder = bench.device.recorder().unwrap();
    recorder.copy(&bench.buffers[0], &short, N);
    let Err(Error::Misuse { object, problem }) = bench.device.submit(recorder) else {
        panic!("overrun went through")
    };
    assert!(object.contains("\"short\"") && problem.contains("299"), "{object}: {problem}");

    assert_no_validation_messages(&bench.device);
}

#[test]
fn a_buffer_beyond_the_device_limit_is_refused_with_the_limit() {
    let device = own_device();
    let limit = device.capabilities().max_storage_range;
    let Err(error) = device.buffer::<u32>("huge", (limit / 4 + 1) as usize) else { panic!("went through") };
    assert!(matches!(error, Error::BeyondLimit { limit: found, .. } if found == limit), "{error}");
    assert!(
        error.to_string().contains("\"huge\"") && error.to_string().contains("maxStorageBufferRange"),
        "{error}"
    );
    assert_no_validation_messages(&device);
}

#[test]
fn dropped_objects_live_until_the_device_is_done_with_them() {
    let bench = Bench::new();
    let temporary = bench.device.buffer_from("temporary", &vec![7u32; N]).unwrap();
    let held = bench.device.statistics().bytes_held;
    let mut recorder = bench.device.recorder().unwrap();
    recorder.copy(&temporary, &bench.buffers[0], N);
    drop(temporary);
    let submission = bench.device.submit(recorder).unwrap();
    submission.wait().unwrap();
    assert_eq!(bench.device.download(&bench.buffers[0], N).unwrap(), vec![7u32; N]);
    assert!(bench.device.statistics().bytes_held < held, "the temporary buffer's memory came back");
    assert_no_validation_messages(&bench.device);
}
