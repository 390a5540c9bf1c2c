//! Builds OTLP messages in their JSON form from our figures and spans.
//!
//! An attribute is a word of ours, a number, or a session's id: no text of an agent or person can
//! get into one. The form is Protobuf's for JSON, with ids in hex: names in camel case, 64-bit
//! integers as strings, enums as numbers.

use journal::Timestamp;
use prometheus_client::registry::Unit;
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
pub(super) type Span = serde_json::Value;

/// Returns a span within `parent`, or the whole trace if that is 0.
pub(super) fn span(
    trace: Uuid,
    (id, parent): (u64, u64),
    name: &'static str,
    (from, to): (Timestamp, Timestamp),
    attributes: Vec<KeyValue>,
) -> Span {
    let mut span = json!({ "traceId": trace.simple(), "spanId": format!("{id:016x}") });
    if parent != 0 {
        span["parentSpanId"] = format!("{parent:016x}").into();
    }
    span["name"] = name.into();
    span["kind"] = INTERNAL.into();
    span["startTimeUnixNano"] = nanos(from).to_string().into();
    span["endTimeUnixNano"] = nanos(to.max(from)).to_string().into();
    span["attributes"] = attributes.into();
    span
}

/// Notes that a step failed.
pub(super) fn failed(span: &mut Span) {
    span["status"] = json!({ "code": ERROR });
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
        let attributes = vec![number("turn", u64::MAX), word("agent", "claude")];
        let times = (at(1), at(2));
        let mut step = span(Uuid::from_u128(7), (3, 255), "decide", times, attributes);
        failed(&mut step);
        insta::assert_snapshot!(serde_json::to_string(&step).expect("JSON"), @r#"{"traceId":"00000000000000000000000000000007","spanId":"0000000000000003","parentSpanId":"00000000000000ff","name":"decide","kind":1,"startTimeUnixNano":"1000","endTimeUnixNano":"2000","attributes":[{"key":"turn","value":{"intValue":"9223372036854775807"}},{"key":"agent","value":{"stringValue":"claude"}}],"status":{"code":2}}"#);
    }
}
