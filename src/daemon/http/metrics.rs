//! `GET /metrics`: the figures as OpenMetrics.

use std::fmt;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Registry;

use super::state::Api;
use crate::daemon::http::answers::refuse;
use crate::daemon::telemetry::figures::{BOUNDS_S, Figure, Metrics, Value};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Renders the figures as OpenMetrics.
#[derive(Debug)]
struct Scrape(Vec<Figure>);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for Figure {
            name,
            what,
            unit,
            value,
        } in &self.0
        {
            let kind = match value {
                Value::Counts(_) => MetricType::Counter,
                Value::Level(_) => MetricType::Gauge,
                Value::Times(_) => MetricType::Histogram,
            };
            let figure =
                encoder.encode_descriptor(name, &format!("{what}."), unit.as_ref(), kind)?;
            encode(value, figure)?;
        }
        Ok(())
    }
}

fn encode(value: &Value, mut figure: MetricEncoder) -> fmt::Result {
    const NO_EXEMPLAR: Option<&Exemplar<NoLabelSet, u64>> = None;
    match value {
        Value::Counts(counts) => counts.iter().try_for_each(|(labels, count)| {
            if labels.is_empty() {
                figure.encode_counter(count, NO_EXEMPLAR)
            } else {
                figure
                    .encode_family(labels)?
                    .encode_counter(count, NO_EXEMPLAR)
            }
        }),
        Value::Level(level) => figure.encode_gauge(level),
        Value::Times(times) => {
            let bounds = BOUNDS_S.into_iter().chain([f64::INFINITY]);
            let classes: Vec<_> = bounds.zip(times.classes).collect();
            figure.encode_histogram::<NoLabelSet>(times.sum_s, times.count(), &classes, None)
        }
    }
}

pub(super) fn routes(config: &mut web::ServiceConfig) {
    config.route("/metrics", web::get().to(metrics));
}

async fn metrics(api: web::Data<Api>, metrics: web::Data<Metrics>) -> HttpResponse {
    if !api.shared.config().settings.metrics.enabled {
        return refuse(
            StatusCode::NOT_FOUND,
            "`metrics: {enabled: true}` in config.yml switches this on",
        );
    }
    let shared = Arc::clone(&api.shared);
    // Gauges read the journal and folders.
    let written = web::block(move || -> Result<String, String> {
        let figures = metrics
            .figures(&shared)
            .map_err(|error| error.to_string())?;
        let mut registry = Registry::with_prefix("checkpointd");
        registry.register_collector(Box::new(Scrape(figures)));
        let mut written = String::new();
        text::encode(&mut written, &registry).map_err(|error| error.to_string())?;
        Ok(written)
    });
    match written.await {
        Ok(Ok(text)) => HttpResponse::Ok().content_type(CONTENT_TYPE).body(text),
        Ok(Err(error)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}
