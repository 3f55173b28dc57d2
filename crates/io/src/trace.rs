//! `trace.json`: spans in the Chrome trace event format, for Perfetto and `chrome://tracing`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::Result;
use crate::json;

/// A stretch of time in which one thing happened on one track.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// What happened: the name of a pass.
    pub name: String,
    /// Where: a queue of the device, a thread of the host. Spans on one track nest or follow one another.
    pub track: String,
    /// The start in nanoseconds on a clock that all spans share.
    pub start_ns: u64,
    /// The length in nanoseconds.
    pub duration_ns: u64,
    /// What else a reader of the trace should see: thread counts, bytes.
    pub args: BTreeMap<String, Value>,
}

const PROCESS: u32 = 1;

/// Writes a trace: one complete event per span, tracks in the order of their first span, times from the earliest start.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), naming the path.
pub fn write_trace(path: &Path, process: &str, spans: &[Span]) -> Result<()> {
    let mut tracks: Vec<&str> = Vec::new();
    let mut placed: Vec<(usize, &Span)> = Vec::with_capacity(spans.len());
    for span in spans {
        let known = tracks.iter().position(|track| *track == span.track);
        placed.push((known.unwrap_or(tracks.len()), span));
        if known.is_none() {
            tracks.push(&span.track);
        }
    }
    // Of two spans that start together the longer is the outer one and must come first.
    placed.sort_by_key(|(track, span)| (*track, span.start_ns, std::cmp::Reverse(span.duration_ns)));
    let origin_ns = spans.iter().map(|span| span.start_ns).min().unwrap_or(0);

    let mut events =
        vec![json!({ "ph": "M", "name": "process_name", "pid": PROCESS, "args": { "name": process } })];
    for (track, name) in tracks.iter().enumerate() {
        let (tid, args) = (track + 1, json!({ "name": name }));
        events.push(json!({ "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": tid, "args": args }));
        let args = json!({ "sort_index": tid });
        events.push(
            json!({ "ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": tid, "args": args }),
        );
    }
    for (track, span) in placed {
        events.push(json!({
            "ph": "X",
            "name": span.name,
            "cat": span.track,
            "pid": PROCESS,
            "tid": track + 1,
            "ts": (span.start_ns - origin_ns) as f64 / 1e3,
            "dur": span.duration_ns as f64 / 1e3,
            "args": span.args,
        }));
    }
    json::write(path, &json!({ "displayTimeUnit": "ns", "traceEvents": events }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(name: &str, track: &str, start_ns: u64, duration_ns: u64) -> Span {
        let args = BTreeMap::from([("threads".to_owned(), json!(64))]);
        Span { name: name.to_owned(), track: track.to_owned(), start_ns, duration_ns, args }
    }

    fn events(spans: &[Span]) -> Vec<Value> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        write_trace(&path, "frazil", spans).unwrap();
        let trace: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn every_event_has_its_keys_and_time_runs_forward_on_each_track() {
        let spans = [
            span("pbd.lambda", "device", 5_001_500, 500),
            span("record", "host", 5_000_000, 900),
            span("pbd.predict", "device", 5_001_000, 250),
            span("step", "device", 5_001_000, 2000),
        ];
        let events = events(&spans);
        let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(complete.len(), spans.len());
        let mut last_ts = BTreeMap::new();
        for event in &complete {
            assert!(event["name"].is_string() && event["pid"].is_u64() && event["args"]["threads"] == 64);
            let (tid, ts) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
            assert!(event["dur"].as_f64().unwrap() >= 0.0);
            let last = last_ts.insert(tid, ts).unwrap_or(0.0);
            assert!(ts >= last, "{ts} after {last} on track {tid}");
        }
        let device: Vec<_> =
            complete.iter().filter(|event| event["cat"] == "device").map(|e| &e["name"]).collect();
        assert_eq!(device, ["step", "pbd.predict", "pbd.lambda"]);
        assert_eq!((complete[0]["ts"].as_f64(), complete[0]["dur"].as_f64()), (Some(1.0), Some(2.0)));

        let named = |kind: &str| -> Vec<_> {
            events
                .iter()
                .filter(|event| event["name"] == kind)
                .map(|event| event["args"]["name"].clone())
                .collect()
        };
        assert_eq!(named("process_name"), ["frazil"]);
        assert_eq!(named("thread_name"), ["device", "host"]);
    }

    #[test]
    fn a_trace_without_spans_is_still_a_trace() {
        assert_eq!(events(&[]).len(), 1);
    }
}
