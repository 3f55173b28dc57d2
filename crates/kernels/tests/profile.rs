//! Profiles of passes: work by the device's counts, and repetitions of one kernel alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_shaders::grid::count_cells;
use frazil_testkit::own_device;
use frazil_vk::{Buffer, Device, DeviceCount, Isolate, Kernel, PassTime, Recorder, RecorderOptions};

/// Keys of which all are of one cell, counted by a kernel that adds to what it finds.
struct Cells {
    device: Device,
    counts: Counts,
    count: DeviceCount,
    kernel: Kernel<count_cells::Interface>,
    key: Buffer<u32>,
    cell_count: Buffer<u32>,
    arrival: Buffer<u32>,
}

const CELL: u32 = 3;

impl Cells {
    /// 100 keys where the host expects 1 000.
    fn new() -> Self {
        let device = own_device();
        let counts = Counts::new(&device).unwrap();
        let count = counts.upload(&device, "keys", 100, 1000).unwrap();
        count.expect(1000);
        Self {
            kernel: Kernel::new(&device).unwrap(),
            key: device.buffer_from("key", &[CELL; 1000]).unwrap(),
            cell_count: device.buffer_from("cell count", &[0; 8]).unwrap(),
            arrival: device.buffer("arrival", 1000).unwrap(),
            counts,
            count,
            device,
        }
    }

    fn record(&self, recorder: &mut Recorder) {
        let Self { count, key, cell_count, arrival, .. } = self;
        recorder.dispatch_counted(
            &self.kernel,
            count_cells::Bindings { count, key, cell_count, arrival },
            (),
        );
    }

    fn run(&self, isolate: Option<Isolate>, record: impl FnOnce(&mut Recorder)) -> Vec<PassTime> {
        let options = RecorderOptions { profile: true, isolate, ..Default::default() };
        let mut recorder = self.device.recorder_with(options).unwrap();
        record(&mut recorder);
        let times = self.device.submit(recorder).unwrap().pass_times().unwrap();
        self.device.check_validation().unwrap();
        times
    }
}

#[test]
fn elements_and_bytes_follow_the_devices_count_and_not_the_expected_one() {
    let cells = Cells::new();
    let none = cells.device.buffer_from("none", &[0]).unwrap();
    let times = cells.run(None, |recorder| {
        cells.record(recorder);
        recorder.copy(&none, &cells.count.count, 1);
        cells.counts.prepare(recorder, &cells.count);
        cells.record(recorder);
    });
    let elements: Vec<_> = times.iter().map(|time| time.elements).collect();
    assert_eq!(elements, [Some(100), None, Some(1), Some(0)]);
    // The count, 100 keys, the 8 counters read and written, and 100 arrivals, of 4 bytes each.
    assert_eq!((times[0].bytes, times[3].bytes), (4 * (1 + 100 + 2 * 8 + 100), 0));
    assert!(times[3].is_empty() && !times[0].is_empty() && !times[1].is_empty());
    assert_eq!(cells.device.download(&cells.cell_count, 8).unwrap()[CELL as usize], 100);
}

#[test]
fn a_kernel_repeated_alone_gives_the_result_of_one_dispatch() {
    let cells = Cells::new();
    let isolate = Isolate { kernel: "grid.count_cells", occurrence: 2, repetitions: 5 };
    let times = cells.run(Some(isolate), |recorder| (0..3).for_each(|_| cells.record(recorder)));
    let found: Vec<_> = times.iter().map(|time| (time.name.as_str(), time.elements)).collect();
    assert_eq!(found, [("grid.count_cells", Some(100)); 5]);
    assert_eq!(cells.device.download(&cells.cell_count, 8).unwrap()[CELL as usize], 300);
}
