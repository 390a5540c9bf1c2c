//! Builds OTLP messages from our figures and spans.
//!
//! An attribute is a word of ours, a number, or a session's id: no text of an agent or person can
//! get into one.

use journal::Timestamp;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prometheus_client::registry::Unit;
use prost::Message;
use uuid::Uuid;

use crate::daemon::telemetry::figures::{BOUNDS_S, Figure, Label, Value};

const OWN_NAME: &str = env!("CARGO_PKG_NAME");

/// Returns a word of our own as an attribute.
pub(super) fn word(key: &'static str, word: &'static str) -> KeyValue {
    attribute(key, Any::StringValue(word.to_owned()))
}

pub(super) fn number(key: &'static str, number: u64) -> KeyValue {
    attribute(
        key,
        Any::IntValue(i64::try_from(number).unwrap_or(i64::MAX)),
    )
}

pub(super) fn id(key: &'static str, id: Uuid) -> KeyValue {
    attribute(key, Any::StringValue(id.to_string()))
}

fn attribute(key: &'static str, value: Any) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// Returns a point in time in the form of OTLP, in nanoseconds.
pub(super) fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_micros())
        .unwrap_or(0)
        .saturating_mul(1_000)
}

/// Whose figures and spans they are, by the names of OpenTelemetry's conventions.
fn resource(instance: Uuid) -> Resource {
    let version = word("service.version", env!("CARGO_PKG_VERSION"));
    let attributes = vec![
        word("service.name", OWN_NAME),
        version,
        id("service.instance.id", instance),
    ];
    Resource {
        attributes,
        ..Resource::default()
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: OWN_NAME.to_owned(),
        ..InstrumentationScope::default()
    }
}

/// Encodes the export request for spans.
pub(super) fn of_spans(instance: Uuid, spans: Vec<Span>) -> Vec<u8> {
    let scope_spans = vec![ScopeSpans {
        scope: Some(scope()),
        spans,
        ..ScopeSpans::default()
    }];
    let resource_spans = vec![ResourceSpans {
        resource: Some(resource(instance)),
        scope_spans,
        ..ResourceSpans::default()
    }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

/// Encodes the export request for figures, counted since `began`.
pub(super) fn of_figures(instance: Uuid, figures: Vec<Figure>, began: Timestamp) -> Vec<u8> {
    let began = nanos(began);
    let now = nanos(Timestamp::now());
    let metrics = figures
        .into_iter()
        .map(|figure| metric(figure, began, now))
        .collect();
    let scope_metrics = vec![ScopeMetrics {
        scope: Some(scope()),
        metrics,
        ..ScopeMetrics::default()
    }];
    let resource_metrics = vec![ResourceMetrics {
        resource: Some(resource(instance)),
        scope_metrics,
        ..ResourceMetrics::default()
    }];
    ExportMetricsServiceRequest { resource_metrics }.encode_to_vec()
}

fn metric(figure: Figure, began: u64, now: u64) -> Metric {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let point = |labels: &[Label], count: u64, start: u64| NumberDataPoint {
        attributes: labels.iter().map(|(key, value)| word(key, value)).collect(),
        start_time_unix_nano: start,
        time_unix_nano: now,
        value: Some(number_data_point::Value::AsInt(
            i64::try_from(count).unwrap_or(i64::MAX),
        )),
        ..NumberDataPoint::default()
    };
    let data = match figure.value {
        Value::Counts(counts) => Data::Sum(Sum {
            data_points: counts
                .iter()
                .map(|(labels, count)| point(labels, *count, began))
                .collect(),
            aggregation_temporality,
            is_monotonic: true,
        }),
        // What there is now began at no time.
        Value::Level(level) => Data::Gauge(Gauge {
            data_points: vec![point(&[], level, 0)],
        }),
        Value::Times(times) => Data::Histogram(Histogram {
            data_points: vec![HistogramDataPoint {
                start_time_unix_nano: began,
                time_unix_nano: now,
                count: times.count(),
                sum: Some(times.sum_s),
                bucket_counts: times.classes.to_vec(),
                explicit_bounds: BOUNDS_S.to_vec(),
                ..HistogramDataPoint::default()
            }],
            aggregation_temporality,
        }),
    };
    // A unit as UCUM writes it, which the conventions ask for.
    let unit = match figure.unit {
        Some(Unit::Seconds) => "s",
        Some(Unit::Bytes) => "By",
        _ => "1",
    };
    Metric {
        name: format!("{OWN_NAME}.{}", figure.name),
        description: figure.what,
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}
