//! Counters for whoever watches the server, in Prometheus' text form.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// The recorder is one for the process, whoever asks first.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

pub(crate) fn install() {
    HANDLE.get_or_init(|| PrometheusBuilder::new().install_recorder().ok());
}

pub(crate) fn render() -> String {
    HANDLE.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default()
}
