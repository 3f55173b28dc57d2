//! `trace.json`: spans in the Chrome trace event format, for Perfetto and `chrome://tracing`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::error::Result;
use crate::json;

/// Track of a span: one per queue, those of what its passes belong to, and one for the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// The host thread that submits to the device.
    Host,
    /// Submissions, as the device executed them.
    Submissions,
    /// Steps of the simulation on the device.
    Steps,
    /// A queue of the device.
    Queue(u32),
}

impl Track {
    /// Returns the process that groups the track in a viewer: one for the host, another for the device.
    fn process(self) -> u32 {
        match self {
            Self::Host => 1,
            Self::Submissions | Self::Steps | Self::Queue(_) => 2,
        }
    }

    fn thread(self) -> u32 {
        match self {
            Self::Host | Self::Submissions => 1,
            Self::Steps => 2,
            Self::Queue(queue) => queue + 3,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Host => "host".to_owned(),
            Self::Submissions => "submissions".to_owned(),
            Self::Steps => "steps".to_owned(),
            Self::Queue(queue) => format!("queue {queue}"),
        }
    }

    fn category(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Submissions => "submission",
            Self::Steps => "step",
            Self::Queue(_) => "device",
        }
    }
}

/// End of an arrow between two spans, drawn by viewers where both ends have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrow {
    /// The arrow with this number begins at the span.
    From(u64),
    /// The arrow with this number ends at the span.
    To(u64),
}

/// Time interval in which one thing happened on one track.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Name, such as that of a pass.
    pub name: String,
    /// Track. Spans on one track are nested or consecutive.
    pub track: Track,
    /// Start in nanoseconds on a clock that all spans share.
    pub start_ns: u64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Additional values for readers of the trace: thread counts, bytes.
    pub args: BTreeMap<String, Value>,
    /// End of an arrow at the span, if there is one.
    pub arrow: Option<Arrow>,
}

/// Writes a trace: one complete event per span, a track per queue under the device's name, an event of a flow
/// per end of an arrow, times from the earliest start.
///
/// The format is that of `docs/schemas/trace_event.schema.json`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), naming the path.
pub fn write_trace(path: &Path, device: &str, spans: &[Span]) -> Result<()> {
    let tracks: BTreeSet<Track> = spans.iter().map(|span| span.track).collect();
    let mut sorted: Vec<&Span> = spans.iter().collect();
    // If two spans start together, the longer one is the outer and must come first.
    sorted.sort_by_key(|span| (span.track, span.start_ns, std::cmp::Reverse(span.duration_ns)));
    let origin_ns = spans.iter().map(|span| span.start_ns).min().unwrap_or(0);

    let metadata = |name: &str, track: Track, args: Value| {
        json!({
            "ph": "M", "name": name, "pid": track.process(), "tid": track.thread(), "args": args,
        })
    };
    let mut events = Vec::with_capacity(spans.len() + 8);
    for (track, process) in [(Track::Host, "frazil"), (Track::Queue(0), device)] {
        events.push(metadata("process_name", track, json!({ "name": process })));
        events.push(metadata("process_sort_index", track, json!({ "sort_index": track.process() })));
    }
    for track in tracks {
        events.push(metadata("thread_name", track, json!({ "name": track.name() })));
        events.push(metadata("thread_sort_index", track, json!({ "sort_index": track.thread() })));
    }
    for span in sorted {
        events.push(json!({
            "ph": "X",
            "name": span.name,
            "cat": span.track.category(),
            "pid": span.track.process(),
            "tid": span.track.thread(),
            "ts": (span.start_ns - origin_ns) as f64 / 1e3,
            "dur": span.duration_ns as f64 / 1e3,
            "args": span.args,
        }));
        let (phase, number) = match span.arrow {
            Some(Arrow::From(number)) => ("s", number),
            Some(Arrow::To(number)) => ("f", number),
            None => continue,
        };
        // An arrow is bound to the span around its time: "bp": "e" for the one that encloses its end.
        events.push(json!({
            "ph": phase,
            "bp": "e",
            "id": number,
            "name": "submission",
            "cat": "submission",
            "pid": span.track.process(),
            "tid": span.track.thread(),
            "ts": (span.start_ns - origin_ns) as f64 / 1e3,
        }));
    }
    json::write(path, &json!({ "displayTimeUnit": "ns", "traceEvents": events }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(name: &str, track: Track, start_ns: u64, duration_ns: u64) -> Span {
        let args = BTreeMap::from([("threads".to_owned(), json!(64))]);
        Span { name: name.to_owned(), track, start_ns, duration_ns, args, arrow: None }
    }

    fn trace(spans: &[Span]) -> Value {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        write_trace(&path, "llvmpipe", spans).unwrap();
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    fn schema() -> jsonschema::Validator {
        let text = include_str!("../../../docs/schemas/trace_event.schema.json");
        jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
    }

    fn example() -> Value {
        trace(&[
            span("pbd.lambda", Track::Queue(0), 5_001_500, 500),
            span("record", Track::Host, 5_000_000, 900),
            span("pbd.predict", Track::Queue(0), 5_001_000, 250),
            span("copy", Track::Queue(1), 5_000_500, 10),
            span("step", Track::Queue(0), 5_001_000, 2000),
            Span { arrow: Some(Arrow::From(7)), ..span("submit", Track::Host, 5_000_900, 50) },
            Span { arrow: Some(Arrow::To(7)), ..span("submission 7", Track::Submissions, 5_001_000, 2100) },
            span("step 3", Track::Steps, 5_001_000, 2000),
        ])
    }

    #[test]
    fn every_queue_has_a_track_on_which_time_runs_forward() {
        let trace = example();
        let events = trace["traceEvents"].as_array().unwrap();
        let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        let order: Vec<_> = complete.iter().map(|e| e["name"].as_str().unwrap()).collect();
        let expected =
            ["record", "submit", "submission 7", "step 3", "step", "pbd.predict", "pbd.lambda", "copy"];
        assert_eq!(order, expected);
        assert_eq!((complete[4]["ts"].as_f64(), complete[4]["dur"].as_f64()), (Some(1.0), Some(2.0)));
        let mut last_ts = BTreeMap::new();
        for event in &complete {
            let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
            let ts = event["ts"].as_f64().unwrap();
            assert!(ts >= last_ts.insert(track, ts).unwrap_or(0.0));
        }
        assert_eq!(last_ts.into_keys().collect::<Vec<_>>(), [(1, 1), (2, 1), (2, 2), (2, 3), (2, 4)]);

        let named = |kind: &str| -> Vec<_> {
            let of_kind = events.iter().filter(|event| event["name"] == kind);
            of_kind.map(|event| event["args"]["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(named("process_name"), ["frazil", "llvmpipe"]);
        assert_eq!(named("thread_name"), ["host", "submissions", "steps", "queue 0", "queue 1"]);

        let arrow = |phase: &str| events.iter().find(|event| event["ph"] == phase).unwrap();
        let (from, to) = (arrow("s"), arrow("f"));
        assert_eq!((&from["id"], &from["tid"], &from["ts"]), (&json!(7), &json!(1), &json!(0.9)));
        assert_eq!((&to["id"], &to["pid"], &to["ts"]), (&json!(7), &json!(2), &json!(1.0)));
    }

    #[test]
    fn traces_have_the_form_of_the_schema() {
        let schema = schema();
        for trace in [example(), trace(&[])] {
            let errors: Vec<_> =
                schema.iter_errors(&trace).map(|e| format!("{}: {e}", e.instance_path)).collect();
            assert!(errors.is_empty(), "{errors:#?}");
        }
    }

    #[test]
    fn the_schema_refuses_invalid_values() {
        let schema = schema();
        let good = example();
        let last = good["traceEvents"].as_array().unwrap().len() - 1;
        let with = |change: &dyn Fn(&mut Value)| {
            let mut trace = good.clone();
            change(&mut trace["traceEvents"][last]);
            trace
        };
        for (what, trace) in [
            ("no duration", with(&|e| drop(e.as_object_mut().unwrap().remove("dur")))),
            ("a negative duration", with(&|e| e["dur"] = json!(-1.0))),
            ("a time as text", with(&|e| e["ts"] = json!("0"))),
            ("no thread", with(&|e| drop(e.as_object_mut().unwrap().remove("tid")))),
            ("an unknown phase", with(&|e| e["ph"] = json!("?"))),
            ("a name that is a number", with(&|e| e["name"] = json!(3))),
            (
                "metadata without a name",
                with(&|e| *e = json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {} })),
            ),
            ("no list of events", json!({ "displayTimeUnit": "ns" })),
        ] {
            assert!(!schema.is_valid(&trace), "{what}");
        }
    }
}
