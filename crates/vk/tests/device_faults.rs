//! Accesses beyond the end of a buffer, and submissions that do not finish in time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_shaders::primitives::gather_u32;
use frazil_vk::{
    Device, DeviceCount, DeviceOptions, DeviceSelector, Error, Kernel, Result, Submission, Threads, Watchdog,
};
use std::time::Duration;

const N: usize = 1024;

fn options() -> DeviceOptions {
    let name = std::env::var("FRAZIL_DEVICE").ok().filter(|name| !name.is_empty());
    let selector = name.as_deref().map(DeviceSelector::from);
    DeviceOptions { selector, validation: true, ..Default::default() }
}

/// Gathers a column by an order, some of whose places may not exist.
fn gather(device: &Device, order: &[u32]) -> Vec<u32> {
    let count = DeviceCount::new(device, "count", N as u32).unwrap();
    device.upload(&count.count, &[N as u32]).unwrap();
    let column: Vec<u32> = (0..N as u32).map(|i| i + 7).collect();
    let column = device.buffer_from("column", &column).unwrap();
    let order = device.buffer_from("order", order).unwrap();
    let moved = device.buffer::<u32>("moved", N).unwrap();
    let kernel = Kernel::<gather_u32::Interface>::new(device).unwrap();
    let mut recorder = device.recorder().unwrap();
    recorder.fill(&moved, 5);
    let bindings = gather_u32::Bindings { count: &count, order: &order, column: &column, moved: &moved };
    recorder.dispatch(&kernel, Threads::Fixed(N), bindings, ());
    device.submit(recorder).unwrap().wait().unwrap();
    device.download(&moved, N).unwrap()
}

/// Places of a column, with one far beyond its end.
fn order_with_a_mistake() -> Vec<u32> {
    let mut order: Vec<u32> = (0..N as u32).rev().collect();
    order[100] = 1 << 28;
    order
}

#[test]
fn robust_access_reads_zero_or_an_element_beyond_the_end_of_a_buffer() {
    let device = Device::open(&options()).unwrap();
    let moved = gather(&device, &order_with_a_mistake());
    for (i, value) in moved.into_iter().enumerate() {
        if i == 100 {
            assert!(value == 0 || (7..7 + N as u32).contains(&value), "{value}");
        } else {
            assert_eq!(value, (N - 1 - i) as u32 + 7);
        }
    }
    device.check_validation().unwrap();
}

#[test]
fn gpu_assisted_validation_finds_an_access_beyond_the_end_of_a_buffer() {
    let device = Device::open(&DeviceOptions { gpu_assisted: true, ..options() }).unwrap();
    gather(&device, &(0..N as u32).collect::<Vec<_>>());
    device.check_validation().unwrap();
    gather(&device, &order_with_a_mistake());
    let messages = device.validation().take();
    assert!(messages.iter().any(|message| message.text.contains("access out of bounds")), "{messages:?}");
}

/// Fills a buffer many times: longer than the host may be interrupted between submission and wait.
fn submit_fills(device: &Device) -> Result<Submission> {
    let buffer = device.buffer::<u32>("filled", 1 << 20)?;
    let mut recorder = device.recorder()?;
    (0..500).for_each(|word| recorder.fill(&buffer, word));
    device.submit(recorder)
}

#[test]
fn a_submission_that_exceeds_the_limit_of_the_watchdog_is_an_error() {
    let watchdog = Watchdog::Limit(Duration::from_micros(1));
    let device = Device::open(&DeviceOptions { watchdog, ..options() }).unwrap();
    let submission = submit_fills(&device).unwrap();
    let Err(error) = submission.wait() else { panic!("it ended in time") };
    let Error::Hung { submission: number, .. } = &error else { panic!("{error}") };
    assert_eq!(*number, submission.value());
    assert!(
        error.to_string().contains("in pass fill (") || error.to_string().contains("fill … fill"),
        "{error}"
    );
    // All later waits fail at once, and nothing is destroyed.
    assert!(matches!(device.wait_idle(), Ok(()) | Err(Error::Hung { .. })));
}

#[test]
fn a_watchdog_changes_no_result_and_recycles_its_marks() {
    let watchdog = Watchdog::Limit(Duration::from_secs(3600));
    let device = Device::open(&DeviceOptions { watchdog, ..options() }).unwrap();
    let order: Vec<u32> = (0..N as u32).rev().collect();
    for _ in 0..3 {
        assert_eq!(gather(&device, &order), order.iter().map(|i| i + 7).collect::<Vec<_>>());
        submit_fills(&device).unwrap().wait().unwrap();
    }
    device.check_validation().unwrap();
}
