//! Builds OTLP messages in their JSON form from our figures and spans.
//!
//! An attribute is a word of ours, a number, or a session's id: no text of an agent or person can
//! get into one. The form is Protobuf's for JSON, with ids in hex: names in camel case, 64-bit
//! integers as strings, enums as numbers.

use std::fmt::Display;

use journal::Timestamp;
use prometheus_client::registry::Unit;
use serde::{Serialize, Serializer};
use serde_json::json;
use uuid::Uuid;

use crate::daemon::telemetry::figures::{BOUNDS_S, Figure, Value};

const OWN_NAME: &str = env!("CARGO_PKG_NAME");
/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// An attribute.
pub(super) type KeyValue = serde_json::Value;

/// A finished step of a trace, or the whole of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    #[serde(serialize_with = "uuid::serde::simple::serialize")]
    trace_id: Uuid,
    #[serde(serialize_with = "hex")]
    span_id: u64,
    #[serde(serialize_with = "hex", skip_serializing_if = "is_none")]
    parent_span_id: u64,
    name: &'static str,
    kind: u8,
    #[serde(serialize_with = "quoted")]
    start_time_unix_nano: u64,
    #[serde(serialize_with = "quoted")]
    end_time_unix_nano: u64,
    attributes: Vec<KeyValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Status {
    code: u8,
}

impl Span {
    /// A span within `parent`, or the whole trace if that is 0.
    pub(super) fn new(
        trace_id: Uuid,
        (span_id, parent_span_id): (u64, u64),
        name: &'static str,
        (from, to): (Timestamp, Timestamp),
    ) -> Self {
        Self {
            trace_id,
            span_id,
            parent_span_id,
            name,
            kind: INTERNAL,
            start_time_unix_nano: nanos(from),
            end_time_unix_nano: nanos(to.max(from)),
            attributes: Vec::new(),
            status: None,
        }
    }

    pub(super) fn with(mut self, attributes: Vec<KeyValue>) -> Self {
        self.attributes = attributes;
        self
    }

    pub(super) fn failed(&mut self) {
        self.status = Some(Status { code: ERROR });
    }
}

fn quoted<S: Serializer>(number: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn hex<S: Serializer>(id: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{id:016x}"))
}

/// Returns whether a number says that there is nothing.
fn is_none(number: &u64) -> bool {
    *number == 0
}

/// Returns a word of our own as an attribute.
pub(super) fn word(key: &'static str, word: &'static str) -> KeyValue {
    json!({ "key": key, "value": { "stringValue": word } })
}

pub(super) fn number(key: &'static str, number: u64) -> KeyValue {
    json!({ "key": key, "value": { "intValue": int(number) } })
}

pub(super) fn id(key: &'static str, id: Uuid) -> KeyValue {
    json!({ "key": key, "value": { "stringValue": id.to_string() } })
}

/// Returns a point in time in the form of OTLP, in nanoseconds.
fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros())
        .unwrap_or(0)
        .saturating_mul(1_000)
}

/// Whose figures and spans they are, by the names of OpenTelemetry's conventions.
fn resource(instance: Uuid) -> serde_json::Value {
    let attributes = [
        word("service.name", OWN_NAME),
        word("service.version", env!("CARGO_PKG_VERSION")),
        id("service.instance.id", instance),
    ];
    json!({ "attributes": attributes })
}

/// Encodes the export request for spans.
pub(super) fn of_spans(instance: Uuid, spans: &[Span]) -> Vec<u8> {
    let scope = json!({ "scope": { "name": OWN_NAME }, "spans": spans });
    let resource = json!({ "resource": resource(instance), "scopeSpans": [scope] });
    json!({ "resourceSpans": [resource] })
        .to_string()
        .into_bytes()
}

/// Encodes the export request for figures, counted since `began`.
pub(super) fn of_figures(instance: Uuid, figures: Vec<Figure>, began: Timestamp) -> Vec<u8> {
    let (began, now) = (nanos(began), nanos(Timestamp::now()));
    let metrics: Vec<_> = figures
        .into_iter()
        .map(|figure| metric(figure, began, now))
        .collect();
    let scope = json!({ "scope": { "name": OWN_NAME }, "metrics": metrics });
    let resource = json!({ "resource": resource(instance), "scopeMetrics": [scope] });
    json!({ "resourceMetrics": [resource] })
        .to_string()
        .into_bytes()
}

fn metric(figure: Figure, began: u64, now: u64) -> serde_json::Value {
    let (began, now) = (began.to_string(), now.to_string());
    let (kind, data) = match figure.value {
        Value::Counts(counts) => {
            let points = counts.iter().map(|(labels, count)| {
                let words = labels.iter().map(|(key, value)| word(key, value));
                json!({
                    "attributes": Vec::from_iter(words),
                    "startTimeUnixNano": began,
                    "timeUnixNano": now,
                    "asInt": int(*count),
                })
            });
            let points = Vec::from_iter(points);
            let data = json!({
                "dataPoints": points,
                "aggregationTemporality": CUMULATIVE,
                "isMonotonic": true,
            });
            ("sum", data)
        }
        // Gauges have no start time.
        Value::Level(level) => {
            let point = json!({ "attributes": [], "timeUnixNano": now, "asInt": int(level) });
            ("gauge", json!({ "dataPoints": [point] }))
        }
        Value::Times(times) => {
            let point = json!({
                "startTimeUnixNano": began,
                "timeUnixNano": now,
                "count": times.count().to_string(),
                "sum": times.sum_s,
                "bucketCounts": times.classes.map(|count| count.to_string()),
                "explicitBounds": BOUNDS_S,
            });
            let data = json!({ "dataPoints": [point], "aggregationTemporality": CUMULATIVE });
            ("histogram", data)
        }
    };
    // As UCUM writes it, which the conventions ask for.
    let unit = match figure.unit {
        Some(Unit::Seconds) => "s",
        Some(Unit::Bytes) => "By",
        _ => "1",
    };
    let name = format!("{OWN_NAME}.{}", figure.name);
    json!({ "name": name, "description": figure.what, "unit": unit, kind: data })
}

/// 64-bit integers are texts.
fn int(number: u64) -> String {
    number.min(i64::MAX as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_as_the_protocol_says() {
        let at = |micros| Timestamp::from_micros(micros);
        let mut step = Span::new(Uuid::from_u128(7), (3, 255), "decide", (at(1), at(2)))
            .with(vec![number("turn", u64::MAX), word("agent", "claude")]);
        step.failed();
        insta::assert_snapshot!(serde_json::to_string(&step).expect("JSON"), @r#"{"traceId":"00000000000000000000000000000007","spanId":"0000000000000003","parentSpanId":"00000000000000ff","name":"decide","kind":1,"startTimeUnixNano":"1000","endTimeUnixNano":"2000","attributes":[{"key":"turn","value":{"intValue":"9223372036854775807"}},{"key":"agent","value":{"stringValue":"claude"}}],"status":{"code":2}}"#);
    }
}
