//! Measurement of a point: verify, time with cold caches, time with warm caches, verify again.

use crate::axis::Point;
use crate::bench::{Bench, Difference, Prepared, Work};
use crate::error::{Error, Result};
use crate::peak::peak_gb_per_s;
use crate::row::{Clock, Row};
use crate::stopping::{Profile, StopReason};
use frazil_kernels::{CopyWords, MultiplyAdd};
use frazil_vk::{Buffer, Device, PassTime, RecorderOptions};
use std::time::{Instant, SystemTime};

/// Bytes written to flush the caches: more than the last-level cache of all but a few devices (MI300X: 256
/// MiB), or as much as the device can bind.
const FLUSH_BYTES: u64 = 128 << 20;
/// A device and its copy bandwidth.
pub struct Session {
    device: Device,
    copy_gb_per_s: f64,
    device_flush: Buffer<u32>,
    host_flush: std::cell::RefCell<Vec<u32>>,
    commit: Option<String>,
}

/// A prepared point whose result was correct once.
pub struct Running<'a> {
    session: &'a Session,
    bench: &'static str,
    point: Point,
    prepared: Prepared,
}

/// One execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Duration in ns: on the device, or on the CPU for a workload there.
    pub ns: f64,
    /// The host's time in ns for recording and submitting a device's work.
    pub host_ns: Option<f64>,
    /// Minimum of bytes that the passes of a device's work move.
    pub bytes_moved: Option<u64>,
}

impl Session {
    /// Measures the copy bandwidth. `commit` is stored in the rows.
    ///
    /// # Errors
    /// [`Error::NoTimeStamps`]; not enough memory.
    pub fn new(device: &Device, commit: Option<String>) -> Result<Self> {
        if device.capabilities().timestamp_period_ns == 0.0 {
            return Err(Error::NoTimeStamps { device: device.info().name.clone() });
        }
        let words = |bytes: u64| (bytes.min(device.capabilities().max_storage_range) / 4) as usize;
        Ok(Self {
            device: device.clone(),
            copy_gb_per_s: CopyWords::gb_per_s(device)?.unwrap_or(f64::NAN),
            device_flush: device.buffer("cache flush", words(FLUSH_BYTES))?,
            host_flush: Vec::new().into(),
            commit,
        })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the bytes read plus bytes written per second in a large copy between two buffers, in GB/s.
    pub fn copy_gb_per_s(&self) -> f64 {
        self.copy_gb_per_s
    }

    /// Prepares a point, runs it once and verifies the result.
    ///
    /// # Errors
    /// The bench refuses the point; [`Error::Wrong`].
    pub fn prepare<'a>(&'a self, bench: &dyn Bench, point: &Point) -> Result<Running<'a>> {
        let prepared = bench.prepare(&self.device, point).map_err(|error| match error {
            Error::Point { axis, found, expected, .. } => {
                Error::Point { bench: bench.id().to_owned(), axis, found, expected }
            }
            other => other,
        })?;
        let mut running = Running { session: self, bench: bench.id(), point: point.clone(), prepared };
        if let Prepared::Device(workload) = &mut running.prepared {
            let mut recorder = self.device.recorder()?;
            workload.poison(&mut recorder);
            self.device.submit(recorder)?;
        }
        running.sample()?;
        running.verify("before it was timed")?;
        Ok(running)
    }

    /// Measures a point until the profile's stopping rule is met.
    ///
    /// # Errors
    /// Like [`Self::prepare`].
    pub fn measure(&self, bench: &dyn Bench, point: &Point, profile: Profile) -> Result<Row> {
        let mut running = self.prepare(bench, point)?;
        // Clocks fall while the host prepares and verifies.
        MultiplyAdd::raise_clocks(&self.device)?;
        let cold: Vec<Sample> =
            (0..profile.cold_samples()).map(|_| running.cold_sample()).collect::<Result<_>>()?;
        // The flush evicted everything from the caches.
        running.sample()?;
        let rule = profile.stopping_rule();
        let begin = Instant::now();
        let (mut samples, mut samples_ns) = (Vec::new(), Vec::new());
        let stopped_because = loop {
            let sample = running.sample()?;
            samples.push(sample);
            samples_ns.push(sample.ns);
            if let Some(reason) = rule.stop(&samples_ns, begin.elapsed()) {
                break reason;
            }
        };
        running.verify("after it was timed")?;
        Ok(self.row(&running, &cold, &samples, stopped_because))
    }

    fn row(
        &self,
        running: &Running<'_>,
        cold: &[Sample],
        warm: &[Sample],
        stopped_because: StopReason,
    ) -> Row {
        let ns = |samples: &[Sample]| -> Vec<f64> { samples.iter().map(|sample| sample.ns).collect() };
        let (samples_ns, cold_samples_ns) = (ns(warm), ns(cold));
        let host_samples_ns: Vec<f64> = warm.iter().filter_map(|sample| sample.host_ns).collect();
        let mut sorted = samples_ns.clone();
        let median_ns = frazil_report::median(&mut sorted);
        let median_of =
            |samples: &[f64]| (!samples.is_empty()).then(|| frazil_report::median(&mut samples.to_vec()));
        let work = running.work();
        let on_device = matches!(running.prepared, Prepared::Device(_));
        let gb_per_s =
            Some(work.bytes_minimum as f64 / median_ns).filter(|rate| rate.is_finite() && *rate > 0.0);
        let info = self.device.info();
        Row {
            format_version: Row::FORMAT_VERSION,
            bench: running.bench.to_owned(),
            point: running.point.clone(),
            verified: true,
            clock: if on_device { Clock::Device } else { Clock::Host },
            median_ns,
            min_ns: sorted.first().copied().unwrap_or(f64::NAN),
            iqr_ns: frazil_report::quantile(&sorted, 0.75) - frazil_report::quantile(&sorted, 0.25),
            cold_median_ns: median_of(&cold_samples_ns),
            host_median_ns: median_of(&host_samples_ns),
            samples_ns,
            cold_samples_ns,
            host_samples_ns,
            stopped_because,
            elements: work.elements,
            bytes_minimum: work.bytes_minimum,
            bytes_moved: warm.last().and_then(|sample| sample.bytes_moved),
            gb_per_s,
            copy_gb_per_s: self.copy_gb_per_s,
            // A CPU's memory is not the device's.
            share_of_copy: gb_per_s.filter(|_| on_device).map(|rate| rate / self.copy_gb_per_s),
            share_of_peak: gb_per_s
                .filter(|_| on_device)
                .and_then(|rate| Some(rate / peak_gb_per_s(&info.name)?)),
            device: info.name.clone(),
            driver: info.driver.clone(),
            subgroup_size: self.device.capabilities().subgroup_size,
            commit: self.commit.clone(),
            unix_time_s: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
            session: None,
        }
    }

    /// Flushes the caches of the device or the CPU; returns when that is done.
    fn flush(&self, on_device: bool) -> Result<()> {
        if on_device {
            let mut recorder = self.device.recorder()?;
            recorder.fill(&self.device_flush, 0x5eed);
            return Ok(self.device.submit(recorder)?.wait()?);
        }
        let mut words = self.host_flush.borrow_mut();
        words.resize((FLUSH_BYTES / 4) as usize, 0);
        words.iter_mut().for_each(|word| *word = word.wrapping_add(1));
        std::hint::black_box(words.as_slice());
        Ok(())
    }
}

impl Running<'_> {
    /// Returns the amount of work per sample.
    pub fn work(&self) -> Work {
        match &self.prepared {
            Prepared::Device(workload) => workload.work(),
            Prepared::Host(workload) => workload.work(),
        }
    }

    /// Restores the inputs and runs once.
    ///
    /// # Errors
    /// The device is lost, or the bench records a mistake.
    pub fn sample(&mut self) -> Result<Sample> {
        self.sample_with(false)
    }

    /// Takes a sample like [`Self::sample`], with cold caches.
    ///
    /// # Errors
    /// Like [`Self::sample`].
    pub fn cold_sample(&mut self) -> Result<Sample> {
        self.sample_with(true)
    }

    fn sample_with(&mut self, cold: bool) -> Result<Sample> {
        let device = &self.session.device;
        match &mut self.prepared {
            Prepared::Device(workload) => {
                let mut recorder = device.recorder()?;
                workload.reset(&mut recorder);
                if recorder.pass_count() > 0 {
                    device.submit(recorder)?;
                }
                if cold {
                    self.session.flush(true)?;
                }
                let options = RecorderOptions { profile: true, ..Default::default() };
                let mut recorder = device.recorder_with(options)?;
                let begin = Instant::now();
                workload.record(&mut recorder)?;
                let submission = device.submit(recorder)?;
                let host_ns = begin.elapsed().as_nanos() as f64;
                let times = submission.pass_times()?;
                let bytes_moved = times.iter().map(|time| time.bytes).sum();
                Ok(Sample { ns: span_ns(&times), host_ns: Some(host_ns), bytes_moved: Some(bytes_moved) })
            }
            Prepared::Host(workload) => {
                workload.reset();
                if cold {
                    self.session.flush(false)?;
                }
                let begin = Instant::now();
                workload.run();
                Ok(Sample { ns: begin.elapsed().as_nanos() as f64, host_ns: None, bytes_moved: None })
            }
        }
    }

    /// Compares the result of the last sample with the twin's; `when` is stored in the error.
    ///
    /// # Errors
    /// [`Error::Wrong`] with the first difference; the device is lost.
    pub fn verify(&self, when: &'static str) -> Result<()> {
        let difference: Option<Difference> = match &self.prepared {
            Prepared::Device(workload) => workload.verify(&self.session.device)?,
            Prepared::Host(workload) => workload.verify(),
        };
        let (bench, point) = (self.bench.to_owned(), self.point.to_string());
        difference.map_or(Ok(()), |difference| Err(Error::Wrong { bench, point, when, difference }))
    }
}

/// Returns the time from the first pass's start to the last one's end; 0 if there is none.
fn span_ns(times: &[PassTime]) -> f64 {
    let start = times.iter().map(|t| t.start_ns).fold(f64::INFINITY, f64::min);
    let end = times.iter().map(|t| t.start_ns + t.duration_ns).fold(0.0, f64::max);
    (end - start).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_reach_from_the_first_start_to_the_last_end() {
        let time = |start_ns, duration_ns| PassTime {
            name: "pass".into(),
            start_ns,
            duration_ns,
            bytes: 0,
            elements: None,
            counters: Vec::new(),
        };
        assert_eq!(span_ns(&[time(10.0, 5.0), time(12.0, 1.0), time(20.0, 2.5)]), 12.5);
        assert_eq!(span_ns(&[]), 0.0);
    }
}
