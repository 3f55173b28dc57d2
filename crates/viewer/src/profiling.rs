//! Collecting time stamps of passes beside what the host did meanwhile, and the device's own copy bandwidth.

use frazil_io::{KernelSamples, ProfileRow, Span, profile_rows};
use frazil_vk::{Buffer, Device, PassTime, RecorderOptions};
use std::collections::BTreeMap;
use std::time::Instant;

/// Spans that a trace keeps: a viewer opens a few hundred thousand at most.
const MAX_SPANS: usize = 200_000;
/// Bytes of each of the two buffers that the copy bandwidth is measured with: far beyond any cache, yet quick to copy.
const COPY_BYTES: u64 = 64 << 20;
const COPIES: usize = 8;

/// Everything that was timed in a run.
pub struct PassLog {
    started: Instant,
    /// What to add to a time on the device's clock to get one since `started`. Vulkan tells no relation between the
    /// clocks; the end of a pass that the host waited for is known on both up to the wake-up of the host.
    device_to_host_ns: f64,
    copy_gb_per_s: Option<f64>,
    kernels: BTreeMap<String, KernelSamples>,
    spans: Vec<Span>,
    spans_dropped: u64,
    submission_ends: Option<(f64, f64)>,
    between_submissions_ns: f64,
    host_ns: u64,
    steps: u64,
    passes_untimed: u64,
}

/// Shares of the time between the first and the last pass that was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Share in which the device had finished a submission and not begun the next.
    pub between_submissions: f64,
    /// Time the host spent on recording and submitting, over the same time.
    pub host_busy: f64,
}

impl PassLog {
    /// Measures the copy bandwidth, and sets the clocks by it. Set-up: it waits for the device.
    pub fn new(device: &Device) -> frazil_vk::Result<Self> {
        let started = Instant::now();
        let bytes = COPY_BYTES.min(device.capabilities().max_storage_range);
        let n_words = bytes as usize / size_of::<u32>();
        let from: Buffer<u32> = device.buffer("copy source", n_words)?;
        let to: Buffer<u32> = device.buffer("copy target", n_words)?;
        let mut recorder = device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        // Memory that was never written may not be there yet.
        recorder.fill(&from, 1);
        recorder.fill(&to, 2);
        for _ in 0..COPIES {
            recorder.copy(&from, &to, n_words);
        }
        let submission = device.submit(recorder)?;
        submission.wait()?;
        let host_ns = started.elapsed().as_nanos() as f64;
        let times = submission.pass_times()?;
        let end_ns = times.last().map_or(0.0, |last| last.start_ns + last.duration_ns);
        let mut rates: Vec<f64> =
            times.iter().filter(|t| t.name == "copy").map(|t| t.bytes as f64 / t.duration_ns).collect();
        rates.sort_by(f64::total_cmp);
        Ok(Self {
            started,
            device_to_host_ns: host_ns - end_ns,
            copy_gb_per_s: rates.get(rates.len() / 2).copied().filter(|rate| rate.is_finite()),
            kernels: BTreeMap::new(),
            spans: Vec::new(),
            spans_dropped: 0,
            submission_ends: None,
            between_submissions_ns: 0.0,
            host_ns: 0,
            steps: 0,
            passes_untimed: 0,
        })
    }

    /// Adds a submission of `steps` steps in `n_passes` passes, in the order of submissions.
    pub fn submission(&mut self, times: &[PassTime], steps: u64, n_passes: u32) {
        self.passes_untimed += u64::from(n_passes).saturating_sub(times.len() as u64);
        let (Some(first), Some(last)) = (times.first(), times.last()) else { return };
        let end_ns = last.start_ns + last.duration_ns;
        let (first_ns, previous_end_ns) = self.submission_ends.unwrap_or((first.start_ns, first.start_ns));
        self.between_submissions_ns += (first.start_ns - previous_end_ns).max(0.0);
        self.submission_ends = Some((first_ns, end_ns));
        self.steps += steps;
        for time in times {
            let duration_ns = time.duration_ns as u64;
            let kernel = self.kernels.entry(time.name.clone()).or_insert_with_key(|name| KernelSamples {
                kernel: name.clone(),
                durations_ns: Vec::new(),
                bytes: Some(0),
            });
            kernel.durations_ns.push(duration_ns);
            kernel.bytes = kernel.bytes.map(|bytes| bytes + time.bytes);
            let start_ns = (time.start_ns + self.device_to_host_ns).max(0.0) as u64;
            let args = BTreeMap::from([("bytes".to_owned(), time.bytes.into())]);
            self.span(Span { name: time.name.clone(), track: "device".into(), start_ns, duration_ns, args });
        }
    }

    /// Adds what the host did from `begin` until now.
    pub fn host(&mut self, name: &str, begin: Instant) {
        let duration_ns = begin.elapsed().as_nanos() as u64;
        self.host_ns += duration_ns;
        let start_ns = begin.duration_since(self.started).as_nanos() as u64;
        self.span(Span {
            name: name.into(),
            track: "host".into(),
            start_ns,
            duration_ns,
            args: BTreeMap::new(),
        });
    }

    fn span(&mut self, span: Span) {
        if self.spans.len() < MAX_SPANS { self.spans.push(span) } else { self.spans_dropped += 1 }
    }

    /// One row a kernel, the costliest first.
    pub fn rows(&self) -> Vec<ProfileRow> {
        let samples: Vec<KernelSamples> = self.kernels.values().cloned().collect();
        profile_rows(&samples, self.copy_gb_per_s)
    }

    /// The duration of every call, by kernel, in ns.
    pub fn samples_ns(&self) -> BTreeMap<String, Vec<u64>> {
        self.kernels.iter().map(|(name, samples)| (name.clone(), samples.durations_ns.clone())).collect()
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// What the measurements lack, in words.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.spans_dropped > 0 {
            gaps.push(format!("the trace is full and lacks its last {} spans", self.spans_dropped));
        }
        if self.passes_untimed > 0 {
            gaps.push(format!(
                "{} passes ran untimed: the device has no time stamps, or a submission had too many passes; then lower \
                 solver.steps_per_submission",
                self.passes_untimed
            ));
        }
        gaps
    }

    /// What the device reaches copying a buffer, bytes read and written counted, in GB/s.
    pub fn copy_gb_per_s(&self) -> Option<f64> {
        self.copy_gb_per_s
    }

    /// Steps timed.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time from the first to the last pass, in ns on the device's clock.
    pub fn elapsed_ns(&self) -> f64 {
        self.submission_ends.map_or(0.0, |(first_ns, end_ns)| end_ns - first_ns)
    }

    /// How well host and device work side by side; none where nothing was timed.
    pub fn idle(&self) -> Option<Idle> {
        let elapsed_ns = self.elapsed_ns();
        (elapsed_ns > 0.0).then(|| Idle {
            between_submissions: self.between_submissions_ns / elapsed_ns,
            host_busy: self.host_ns as f64 / elapsed_ns,
        })
    }
}
