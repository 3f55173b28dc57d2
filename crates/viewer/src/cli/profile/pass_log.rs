//! Time stamps of passes, the activity of the host, and the device's copy bandwidth.

use frazil_engine::outputs::{Activity, StepTimer, TimedSubmission};
use frazil_io::{Arrow, Span, Track};
use frazil_kernels::CopyWords;
use frazil_report::{
    HostGaps, KernelSamples, PassRow, ProfileRow, SizedCopy, TimelinePass, host_gaps, pass_rows, profile_rows,
};
use frazil_solvers::SolverError;
use frazil_vk::{Buffer, Device, PassTime, RecorderOptions};
use std::collections::BTreeMap;
use std::time::Instant;

/// Maximum number of spans in a trace: viewers open a few hundred thousand at most.
const MAX_SPANS: usize = 200_000;
/// Number of steps from which the one shown in detail is chosen.
const STEPS_KEPT: usize = 100;

/// Time measurements of a run.
pub struct PassLog {
    started: Instant,
    /// Offset from the device's clock to the time since `started`. Vulkan gives no relation between the
    /// clocks; the end of a pass that the host waited for is known on both, up to the wake-up time of the
    /// host.
    device_to_host_ns: f64,
    copies: Vec<SizedCopy>,
    launch_ns: Option<f64>,
    samples: Samples,
    /// Spans of passes, and of the steps and submissions that they belong to.
    device_spans: Vec<Span>,
    host_spans: Vec<Span>,
    spans_dropped: u64,
    /// Start and end of each submission on the host's clock.
    submissions: Vec<(u64, u64)>,
    submission_ends: Option<(f64, f64)>,
    between_submissions_ns: f64,
    busy_ns: u64,
    steps: u64,
    passes_untimed: u64,
}

/// Raw times of kernels, of passes by their place in a step, and of whole steps.
#[derive(Default)]
pub struct Samples {
    kernels: BTreeMap<String, KernelSamples>,
    passes: BTreeMap<(usize, String), KernelSamples>,
    step_ns: Vec<u64>,
    steps_kept: Vec<Vec<TimelinePass>>,
}

/// Returns the name of an activity of the host in traces.
fn name(activity: Activity) -> &'static str {
    match activity {
        Activity::Record => "record",
        Activity::Submit => "submit",
        Activity::Wait => "wait",
        Activity::Collect => "collect",
    }
}

/// Fractions of the time between the first and the last timed pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Fraction in which the device was idle between two submissions.
    pub between_submissions: f64,
    /// Fraction in which the host recorded and submitted.
    pub host_busy: f64,
}

impl Samples {
    /// Adds the passes of a submission, of which step k ends before pass `step_ends[k]`. Passes after the
    /// last step, which copy results to the host, belong to no step; steps that were not timed completely are
    /// ignored.
    pub fn add(&mut self, times: &[PassTime], step_ends: &[u32]) {
        for time in times {
            add_call(self.kernels.entry(time.name.clone()), time);
        }
        let mut begin = 0;
        for end in step_ends.iter().map(|end| *end as usize) {
            let Some(step) = times.get(begin..end) else { break };
            begin = end;
            for (position, time) in step.iter().enumerate() {
                add_call(self.passes.entry((position, time.name.clone())), time);
            }
            let (Some(first), Some(last)) = (step.first(), step.last()) else { continue };
            self.step_ns.push((last.start_ns + last.duration_ns - first.start_ns) as u64);
            if self.steps_kept.len() < STEPS_KEPT {
                let pass = |time: &PassTime| TimelinePass {
                    kernel: time.name.clone(),
                    start_ns: (time.start_ns - first.start_ns) as u64,
                    duration_ns: time.duration_ns as u64,
                };
                self.steps_kept.push(step.iter().map(pass).collect());
            }
        }
    }

    /// Returns the duration of every call that had elements, by kernel, in ns.
    pub fn by_kernel(&self) -> impl Iterator<Item = (&String, &Vec<u64>)> {
        self.kernels.iter().map(|(name, samples)| (name, &samples.durations_ns))
    }

    /// Returns the device time of every step, in ns.
    pub fn step_ns(&self) -> &[u64] {
        &self.step_ns
    }

    /// Passes of the step of median duration among the first steps.
    fn typical_step(&self) -> Vec<TimelinePass> {
        let duration =
            |step: &Vec<TimelinePass>| step.last().map_or(0, |last| last.start_ns + last.duration_ns);
        let mut steps: Vec<_> = self.steps_kept.iter().collect();
        steps.sort_by_key(|step| duration(step));
        steps.get(steps.len() / 2).map_or_else(Vec::new, |step| (*step).clone())
    }
}

fn add_call<K: Ord>(entry: std::collections::btree_map::Entry<'_, K, KernelSamples>, time: &PassTime) {
    let samples = entry.or_insert_with(|| KernelSamples {
        kernel: time.name.clone(),
        durations_ns: Vec::new(),
        empty_ns: Vec::new(),
        bytes: Some(0),
    });
    let durations_ns = if time.is_empty() { &mut samples.empty_ns } else { &mut samples.durations_ns };
    durations_ns.push(time.duration_ns as u64);
    samples.bytes = samples.bytes.map(|bytes| bytes + time.bytes);
}

impl PassLog {
    /// Measures rates of copies, synchronizes the clocks, and resets the memory peaks. Set-up: it waits
    /// for the device.
    pub fn new(device: &Device) -> Result<Self, SolverError> {
        let rates = CopyWords::rates(device)?;
        let started = Instant::now();
        let marker: Buffer<u32> = device.buffer("clock marker", 1)?;
        let mut recorder = device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        recorder.fill(&marker, 1);
        let submission = device.submit(recorder)?;
        submission.wait()?;
        let host_ns = started.elapsed().as_nanos() as f64;
        let end_ns = submission.pass_times()?.last().map_or(0.0, |last| last.start_ns + last.duration_ns);
        drop(marker);
        device.forget_memory_peaks();
        let launch_ns = rates.as_ref().and_then(|rates| rates.launch_ns);
        let sized = rates.map(|rates| rates.sized).unwrap_or_default();
        let copies = sized.into_iter().map(|(bytes, gb_per_s)| SizedCopy { bytes, gb_per_s }).collect();
        let device_to_host_ns = host_ns - end_ns;
        Ok(Self { started, device_to_host_ns, copies, launch_ns, ..Self::without_bandwidth() })
    }

    /// Makes a log without rates of copies, whose clocks are not synchronized.
    pub fn without_bandwidth() -> Self {
        Self {
            started: Instant::now(),
            device_to_host_ns: 0.0,
            copies: Vec::new(),
            launch_ns: None,
            samples: Samples::default(),
            device_spans: Vec::new(),
            host_spans: Vec::new(),
            spans_dropped: 0,
            submissions: Vec::new(),
            submission_ends: None,
            between_submissions_ns: 0.0,
            busy_ns: 0,
            steps: 0,
            passes_untimed: 0,
        }
    }

    /// Returns one row per kernel, slowest first.
    pub fn rows(&self) -> Vec<ProfileRow> {
        let all = |samples: &mut dyn Iterator<Item = &KernelSamples>| samples.cloned().collect::<Vec<_>>();
        let kernels = all(&mut self.samples.kernels.values());
        profile_rows(&kernels, &all(&mut self.samples.passes.values()), &self.copies)
    }

    /// Returns one row per pass of a step, in order.
    pub fn passes(&self) -> Vec<PassRow> {
        let samples: Vec<KernelSamples> = self.samples.passes.values().cloned().collect();
        pass_rows(&samples, &self.copies)
    }

    /// Returns the raw times.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Returns the passes of a step of median duration.
    pub fn timeline(&self) -> Vec<TimelinePass> {
        self.samples.typical_step()
    }

    /// Returns the times at which the device waited for the host.
    pub fn host_gaps(&self) -> HostGaps {
        host_gaps(&self.submissions, &self.host_spans)
    }

    /// Returns all spans of device and host.
    pub fn spans(&self) -> Vec<Span> {
        self.host_spans.iter().chain(&self.device_spans).cloned().collect()
    }

    /// Returns notes on missing measurements.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.spans_dropped > 0 {
            gaps.push(format!("the trace is full and lacks its last {} spans", self.spans_dropped));
        }
        if self.passes_untimed > 0 {
            gaps.push(format!(
                "{} passes ran untimed: the device has no time stamps, or a submission had too many passes; \
                 then lower solver.steps_per_submission",
                self.passes_untimed
            ));
        }
        gaps
    }

    /// Returns the rates of copies by their size, the largest last.
    pub fn copies(&self) -> &[SizedCopy] {
        &self.copies
    }

    /// Returns the time of a dispatch of almost no work in ns.
    pub fn launch_ns(&self) -> Option<f64> {
        self.launch_ns
    }

    /// Returns the number of timed steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the time from the first to the last pass, in ns on the device's clock.
    pub fn elapsed_ns(&self) -> f64 {
        self.submission_ends.map_or(0.0, |(first_ns, end_ns)| end_ns - first_ns)
    }

    /// Returns the overlap of host and device; none if nothing was timed.
    pub fn idle(&self) -> Option<Idle> {
        let elapsed_ns = self.elapsed_ns();
        (elapsed_ns > 0.0).then(|| Idle {
            between_submissions: self.between_submissions_ns / elapsed_ns,
            host_busy: self.busy_ns as f64 / elapsed_ns,
        })
    }
}

impl PassLog {
    /// Adds a span to the trace, unless it is full.
    fn add_span(&mut self, span: Span) {
        let spans = if span.track == Track::Host { &mut self.host_spans } else { &mut self.device_spans };
        if spans.len() < MAX_SPANS {
            spans.push(span);
        } else {
            self.spans_dropped += 1;
        }
    }

    /// Adds the spans of a submission, of its steps and of its passes, which know each other by their
    /// arguments.
    fn trace(&mut self, submission: &TimedSubmission<'_>) {
        let TimedSubmission { number, times, step_ends, .. } = *submission;
        let first_step = submission.last_step + 1 - step_ends.len() as u64;
        let offset_ns = self.device_to_host_ns;
        let on_host = |device_ns: f64| (device_ns + offset_ns).max(0.0) as u64;
        let around = |name: String, track: Track, times: &[PassTime]| -> Option<Span> {
            let (first, last) = (times.first()?, times.last()?);
            let start_ns = on_host(first.start_ns);
            let duration_ns = on_host(last.start_ns + last.duration_ns) - start_ns;
            let args = BTreeMap::from([("submission".to_owned(), number.into())]);
            Some(Span { name, track, start_ns, duration_ns, args, arrow: None })
        };
        if let Some(span) = around(format!("submission {number}"), Track::Submissions, times) {
            self.add_span(Span { arrow: Some(Arrow::To(number)), ..span });
        }
        let mut begin = 0;
        for (step, end) in (first_step..).zip(step_ends.iter().map(|end| *end as usize)) {
            let Some(of_step) = times.get(begin..end) else { break };
            begin = end;
            if let Some(mut span) = around(format!("step {step}"), Track::Steps, of_step) {
                span.args.insert("step".to_owned(), step.into());
                self.add_span(span);
            }
        }
        // Passes after the last step, of outputs, belong to none.
        let mut place = (first_step, 0);
        let mut ends = step_ends.iter().map(|end| *end as usize).peekable();
        for (position, time) in times.iter().enumerate() {
            while ends.next_if(|end| *end <= position).is_some() {
                place = (place.0 + 1, position);
            }
            let mut args = BTreeMap::from([
                ("bytes".to_owned(), time.bytes.into()),
                ("submission".to_owned(), number.into()),
            ]);
            args.extend(time.elements.map(|n| ("elements".to_owned(), n.into())));
            if ends.peek().is_some() {
                args.insert("step".to_owned(), place.0.into());
                args.insert("pass".to_owned(), (position - place.1).into());
            }
            self.add_span(Span {
                name: time.name.clone(),
                track: Track::Queue(0),
                start_ns: on_host(time.start_ns),
                duration_ns: time.duration_ns as u64,
                args,
                arrow: None,
            });
        }
    }
}

impl StepTimer for PassLog {
    fn submission(&mut self, submission: &TimedSubmission<'_>) {
        let TimedSubmission { times, step_ends, n_passes, .. } = *submission;
        self.passes_untimed += u64::from(n_passes).saturating_sub(times.len() as u64);
        let (Some(first), Some(last)) = (times.first(), times.last()) else { return };
        let end_ns = last.start_ns + last.duration_ns;
        let (first_ns, previous_end_ns) = self.submission_ends.unwrap_or((first.start_ns, first.start_ns));
        self.between_submissions_ns += (first.start_ns - previous_end_ns).max(0.0);
        self.submission_ends = Some((first_ns, end_ns));
        self.steps += step_ends.len() as u64;
        self.samples.add(times, step_ends);
        let on_host = |device_ns: f64| (device_ns + self.device_to_host_ns).max(0.0) as u64;
        self.submissions.push((on_host(first.start_ns), on_host(end_ns)));
        self.trace(submission);
    }

    fn host(&mut self, activity: Activity, begin: Instant, submission: Option<u64>) {
        let duration_ns = begin.elapsed().as_nanos() as u64;
        if matches!(activity, Activity::Record | Activity::Submit) {
            self.busy_ns += duration_ns;
        }
        let args = submission.map(|number| ("submission".to_owned(), number.into())).into_iter().collect();
        self.add_span(Span {
            name: name(activity).to_owned(),
            track: Track::Host,
            start_ns: begin.duration_since(self.started).as_nanos() as u64,
            duration_ns,
            args,
            arrow: submission.filter(|_| activity == Activity::Submit).map(Arrow::From),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(passes: &[(&str, f64, f64)]) -> Vec<PassTime> {
        let pass = |&(name, start_ns, duration_ns): &(&str, f64, f64)| PassTime {
            name: name.to_owned(),
            start_ns,
            duration_ns,
            bytes: 8,
            elements: Some(2),
            counters: Vec::new(),
        };
        passes.iter().map(pass).collect()
    }

    #[test]
    fn passes_are_distinguished_by_their_place_in_the_step() {
        let mut samples = Samples::default();
        let passes = [
            ("a", 0.0, 1.0),
            ("b", 2.0, 3.0),
            ("a", 6.0, 4.0),
            ("a", 20.0, 2.0),
            ("b", 30.0, 3.0),
            ("a", 40.0, 6.0),
            ("metrics", 50.0, 9.0),
        ];
        samples.add(&times(&passes), &[3, 6]);
        assert_eq!(samples.step_ns(), [10, 26]);
        let kernels: Vec<_> = samples.by_kernel().map(|(name, ns)| (name.as_str(), ns.len())).collect();
        assert_eq!(kernels, [("a", 4), ("b", 2), ("metrics", 1)]);
        let places: Vec<_> = samples
            .passes
            .iter()
            .map(|((position, name), s)| (*position, name.as_str(), s.durations_ns.clone(), s.bytes))
            .collect();
        assert_eq!(
            places,
            [(0, "a", vec![1, 2], Some(16)), (1, "b", vec![3, 3], Some(16)), (2, "a", vec![4, 6], Some(16))]
        );
        let typical: Vec<_> = samples.typical_step().iter().map(|pass| pass.start_ns).collect();
        assert_eq!(typical, [0, 10, 20]);
    }

    #[test]
    fn calls_without_elements_are_kept_apart() {
        let mut samples = Samples::default();
        let mut passes = times(&[("a", 0.0, 100.0), ("a", 200.0, 3.0)]);
        (passes[1].elements, passes[1].bytes) = (Some(0), 0);
        samples.add(&passes, &[2]);
        let kernel = &samples.kernels["a"];
        assert_eq!((&kernel.durations_ns[..], &kernel.empty_ns[..]), (&[100][..], &[3][..]));
        assert_eq!(kernel.bytes, Some(8));
    }

    #[test]
    fn a_trace_names_the_step_and_submission_of_each_pass() {
        let mut log = PassLog::without_bandwidth();
        log.host(Activity::Submit, Instant::now(), Some(4));
        let passes =
            [("a", 0.0, 1.0), ("b", 2.0, 3.0), ("a", 6.0, 4.0), ("b", 20.0, 2.0), ("copy", 30.0, 1.0)];
        let (times, step_ends, n_passes) = (times(&passes), [2, 4], 5);
        log.submission(&TimedSubmission {
            number: 4,
            last_step: 12,
            times: &times,
            step_ends: &step_ends,
            n_passes,
        });
        let spans = log.spans();
        let name = |span: &Span| (span.name.clone(), span.start_ns, span.duration_ns, span.arrow);
        let of = |track: Track| spans.iter().filter(move |span| span.track == track).collect::<Vec<_>>();
        let found: Vec<_> = of(Track::Steps).into_iter().map(name).collect();
        assert_eq!(found, [("step 11".to_owned(), 0, 5, None), ("step 12".to_owned(), 6, 16, None)]);
        let found: Vec<_> = of(Track::Submissions).into_iter().map(name).collect();
        assert_eq!(found, [("submission 4".to_owned(), 0, 31, Some(Arrow::To(4)))]);
        assert_eq!(of(Track::Host)[0].arrow, Some(Arrow::From(4)));
        let argument = |span: &Span, name: &str| span.args.get(name).and_then(serde_json::Value::as_u64);
        let places: Vec<_> = of(Track::Queue(0))
            .into_iter()
            .map(|span| ["submission", "step", "pass"].map(|name| argument(span, name)))
            .collect();
        let of_step = |step, pass| [Some(4), Some(step), Some(pass)];
        let expected =
            [of_step(11, 0), of_step(11, 1), of_step(12, 0), of_step(12, 1), [Some(4), None, None]];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_step_that_was_timed_in_part_has_no_duration() {
        let mut samples = Samples::default();
        samples.add(&times(&[("a", 0.0, 1.0), ("a", 2.0, 1.0)]), &[1, 3]);
        assert_eq!((samples.step_ns(), samples.passes.len()), (&[1][..], 1));
    }
}
