//! Replayed segments: the same results, accesses and barriers as recorded ones, never outdated, and the
//! buffers that they use are kept as long as needed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_shaders::primitives::{gather_u32, multiply_add};
use frazil_testkit::{assert_no_validation_messages, own_device};
use frazil_vk::{
    Buffer, Device, DeviceCount, Event, Kernel, Recorder, RecorderOptions, Replay, find_hazards,
};

const N: usize = 300;

struct Bench {
    device: Device,
    gather: Kernel<gather_u32::Interface>,
    count: DeviceCount,
    order: Buffer<u32>,
}

/// Passes of a segment: `from` is reversed into `to` and back, then `to` is filled if the word is not 0.
#[derive(Clone)]
struct Segment {
    from: Buffer<u32>,
    to: Buffer<u32>,
    word: u32,
}

impl Bench {
    fn new() -> Self {
        let device = own_device();
        let count = Counts::new(&device).unwrap().upload(&device, "count", N as u32, N as u32).unwrap();
        let reversed: Vec<u32> = (0..N as u32).rev().collect();
        let order = device.buffer_from("order", &reversed).unwrap();
        Self { gather: Kernel::new(&device).unwrap(), count, order, device }
    }

    fn buffer(&self, first: u32) -> Buffer<u32> {
        let numbers: Vec<u32> = (first..first + N as u32).collect();
        self.device.buffer_from("numbers", &numbers).unwrap()
    }

    fn record(&self, recorder: &mut Recorder, segment: &Segment) {
        let Segment { from, to, word } = segment;
        for (column, moved) in [(from, to), (to, from)] {
            let bindings = gather_u32::Bindings { count: &self.count, order: &self.order, column, moved };
            recorder.dispatch_counted(&self.gather, bindings, ());
        }
        if *word != 0 {
            recorder.fill(to, *word);
        }
    }

    fn submit(&self, segments: &[Segment], replay: Option<&Replay>) -> (Vec<Event>, u32) {
        let options = RecorderOptions { trace: true, ..Default::default() };
        let mut recorder = self.device.recorder_with(options).unwrap();
        for segment in segments {
            match replay {
                Some(replay) => recorder.replayed(replay, |recorder| self.record(recorder, segment)),
                None => self.record(&mut recorder, segment),
            }
        }
        let found = (recorder.events().to_vec(), recorder.barrier_count());
        self.device.submit(recorder).unwrap();
        found
    }

    fn read(&self, buffer: &Buffer<u32>) -> Vec<u32> {
        self.device.download(buffer, N).unwrap()
    }
}

#[test]
fn replayed_segments_have_the_accesses_and_barriers_of_recorded_ones() {
    let bench = Bench::new();
    let [a, b] = [0, 1000].map(|first| bench.buffer(first));
    let there = Segment { from: a.clone(), to: b.clone(), word: 0 };
    let back = Segment { from: b, to: a, word: 0 };
    let steps: Vec<Segment> = [there, back].into_iter().cycle().take(8).collect();
    let replay = Replay::default();
    let expected = bench.submit(&steps, None);
    for _ in 0..5 {
        let found = bench.submit(&steps, Some(&replay));
        assert_eq!(found, expected);
        assert!(find_hazards(&found.0).is_empty());
    }
    let counts = replay.counts();
    assert_eq!(counts.segments, 40);
    assert!(counts.replayed >= 30 && counts.kept <= 5, "{counts:?}");
    bench.device.wait_idle().unwrap();
    assert_no_validation_messages(&bench.device);
}

#[test]
fn changed_constants_buffers_and_order_are_never_outdated() {
    let bench = Bench::new();
    let replay = Replay::default();
    let [a, b, c] = [0, 1000, 2000].map(|first| bench.buffer(first));
    let segment =
        |from: &Buffer<u32>, to: &Buffer<u32>, word| Segment { from: from.clone(), to: to.clone(), word };
    // Each is recorded, kept and replayed before the next, which differs in one thing.
    let words = [segment(&a, &b, 7), segment(&a, &b, 8), segment(&a, &c, 8)];
    let [d, e, f] = [3000, 4000, 5000].map(|first| bench.buffer(first));
    let buffers = [segment(&d, &e, 0), segment(&f, &e, 0), segment(&f, &d, 0)];
    for segment in words.into_iter().chain(buffers) {
        for _ in 0..3 {
            let expected_from = bench.read(&segment.from);
            bench.submit(&[segment.clone(), segment.clone()], Some(&replay));
            let reversed: Vec<u32> = expected_from.iter().rev().copied().collect();
            let expected_to = if segment.word == 0 { reversed } else { vec![segment.word; N] };
            assert_eq!(bench.read(&segment.to), expected_to, "word {}", segment.word);
            assert_eq!(bench.read(&segment.from), expected_from);
        }
    }
    assert!(replay.counts().replayed >= 8, "{:?}", replay.counts());
    assert_no_validation_messages(&bench.device);
}

#[test]
fn changed_push_constants_are_never_outdated() {
    let bench = Bench::new();
    let rounds = multiply_add::Specialization { rounds: 1, ..Default::default() };
    let kernel = Kernel::<multiply_add::Interface>::specialized(&bench.device, &rounds).unwrap();
    let [start, total] = ["start", "total"].map(|name| bench.device.buffer_from(name, &[0.0; N]).unwrap());
    let replay = Replay::default();
    for addend in [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0] {
        let mut recorder = bench.device.recorder().unwrap();
        recorder.replayed(&replay, |recorder| {
            let bindings = multiply_add::Bindings { count: &bench.count, start: &start, total: &total };
            let params = multiply_add::Params { factor: 0.0, addend };
            recorder.dispatch_counted(&kernel, bindings, params);
        });
        bench.device.submit(recorder).unwrap();
        // The sum of three vectors of four elements.
        assert_eq!(bench.device.download(&total, N).unwrap(), [12.0 * addend; N]);
    }
    assert_eq!((replay.counts().kept, replay.counts().replayed), (2, 3));
    assert_no_validation_messages(&bench.device);
}

#[test]
fn a_replayed_segment_keeps_its_buffers_until_it_has_not_recurred_for_long() {
    let bench = Bench::new();
    let replay = Replay::default();
    let [a, b] = [0, 1000].map(|first| bench.buffer(first));
    let own = Segment { from: bench.buffer(0), to: bench.buffer(1), word: 0 };
    let other = Segment { from: a, to: b, word: 0 };
    for _ in 0..4 {
        bench.submit(std::slice::from_ref(&own), Some(&replay));
    }
    bench.device.wait_idle().unwrap();
    let held = || bench.device.statistics().bytes_held;
    let before = held();
    drop(own);
    assert_eq!(held(), before, "the command buffer may be submitted again");
    for _ in 0..80 {
        bench.submit(std::slice::from_ref(&other), Some(&replay));
    }
    assert_eq!(held(), before - 2 * 4 * N as u64);
    bench.device.wait_idle().unwrap();
    assert_no_validation_messages(&bench.device);
}

#[test]
fn segments_that_never_recur_and_copies_to_the_host_are_recorded_as_usual() {
    let bench = Bench::new();
    let replay = Replay::default();
    let [a, b] = [0, 1000].map(|first| bench.buffer(first));
    for word in 1..200 {
        bench.submit(&[Segment { from: a.clone(), to: b.clone(), word }], Some(&replay));
    }
    assert_eq!(bench.read(&b), vec![199; N]);
    assert_eq!((replay.counts().kept, replay.counts().replayed), (0, 0));

    let replay = Replay::default();
    let ring = frazil_vk::ReadbackRing::new(&bench.device);
    for word in [5, 5, 5] {
        let mut recorder = bench.device.recorder().unwrap();
        let segment = Segment { from: a.clone(), to: b.clone(), word };
        let read = recorder.replayed(&replay, |recorder| {
            bench.record(recorder, &segment);
            let read = ring.read(recorder, &b, N).unwrap();
            recorder.fill(&b, 6);
            read
        });
        bench.device.submit(recorder).unwrap();
        assert_eq!(read.wait().unwrap(), vec![5; N]);
        assert_eq!(bench.read(&b), vec![6; N]);
    }
    assert_eq!(replay.counts().replayed, 0);
    assert_no_validation_messages(&bench.device);
}
