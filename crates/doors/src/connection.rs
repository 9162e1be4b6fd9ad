//! One connection, from its first byte to its last answer.
//!
//! Invariant: HTTP/1 only, with a timer installed (hyper's header timeout is inert without one), and every request
//! carries the [`Arrival`] of its connection.

use std::sync::Arc;

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tower::ServiceExt as _;

use crate::{
    arrival::{Arrival, Channel, Source},
    door::GuardedApp,
    limits::Limits,
    line::{Line, Signals},
    tally::{Full, Permit},
};

/// hyper refuses a smaller buffer.
const SMALLEST_BUFFER_BYTES: usize = 8_192;

/// What a connection holds as long as its bytes can move.
pub(crate) struct Held {
    _permit: Option<Permit<Source>>,
    /// Never sent on: the listener's drain waits until all are dropped.
    _alive: mpsc::Sender<()>,
}

impl Held {
    /// A place under the caps, or none.
    pub(crate) fn admit(app: &GuardedApp, source: Source, alive: mpsc::Sender<()>) -> Option<Self> {
        let shared = &app.shared;
        let limits = &shared.limits;
        let permit = match source {
            Source::Address(_) => {
                shared.tcp_connections.enter(source, limits.max_connections, limits.max_connections_per_source)
            }
            Source::Local => {
                shared.local_connections.enter(source, limits.max_local_connections, limits.max_local_connections)
            }
        };
        match permit {
            Ok(permit) => Some(Self::new(Some(permit), alive)),
            Err(full) => {
                let cap = match full {
                    Full::InAll => "in_all",
                    Full::ForKey => "per_source",
                };
                metrics::counter!("doors_connections_over_cap_total", "cap" => cap).increment(1);
                None
            }
        }
    }

    /// For a stream inside this process, which no outsider can open.
    pub(crate) fn in_process(alive: mpsc::Sender<()>) -> Self {
        Self::new(None, alive)
    }

    fn new(permit: Option<Permit<Source>>, alive: mpsc::Sender<()>) -> Self {
        metrics::counter!("doors_connections_opened_total").increment(1);
        metrics::gauge!("doors_connections_open").increment(1);
        Self { _permit: permit, _alive: alive }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        metrics::counter!("doors_connections_closed_total").increment(1);
        metrics::gauge!("doors_connections_open").decrement(1);
    }
}

pub(crate) async fn run<IO>(line: Line<IO, Held>, channel: Channel, app: GuardedApp, signals: Signals)
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let arrival = Arrival { channel, failures: Arc::clone(&app.shared.failures) };
    let router = app.router;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(arrival.clone());
        router.clone().oneshot(request)
    });
    let connection = protocol(&app.shared.limits).serve_connection(TokioIo::new(line), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = signals.ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // Callers that go away, send nonsense or take too long are everyday; they are worth a line only when looked for.
    if let Err(error) = ended {
        tracing::debug!(error = &error as &dyn std::error::Error, "connection ended early");
    }
}

fn protocol(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(limits.max_headers)
        .max_header_size(limits.max_header_bytes)
        .max_buf_size(limits.max_header_bytes.max(SMALLEST_BUFFER_BYTES));
    builder
}
