//! One connection, from its first byte to its last response.
//!
//! Invariant: HTTP/1 only, with a timer installed (hyper's header timeout is inert without one), and every request
//! carries the [`Arrival`] of its connection.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use axum::body::Body;
use http::StatusCode;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{
    arrival::{Arrival, Channel, Source},
    door::GuardedApp,
    framing::Framing,
    limits::Limits,
    slots::ConnectionSlot,
    stream::{ConnectionStream, Signals},
    tally::Permit,
};

/// hyper refuses a smaller buffer.
const SMALLEST_BUFFER_BYTES: usize = 8_192;

/// What a connection holds while its bytes can move.
pub(crate) struct HeldConnection {
    slot: Option<Arc<ConnectionSlot>>,
    _permit: Option<Permit<Source>>,
    /// Closes this connection alone.
    pub(crate) cut: CancellationToken,
    /// Never used to send: the listener's drain waits until all senders are dropped.
    _alive: mpsc::Sender<()>,
}

impl HeldConnection {
    /// Takes a slot within the limits; `None` if there is none.
    pub(crate) fn admit(
        app: &GuardedApp,
        source: Source,
        alive: mpsc::Sender<()>,
        cut: CancellationToken,
    ) -> Option<Self> {
        let shared = &app.shared;
        let limits = &shared.limits;
        let held = match source {
            Source::Address(_) => {
                let slot = shared.slots.enter(limits, cut.clone());
                slot.map(|slot| Self::new(Some(slot), None, alive, cut))
            }
            Source::Local => {
                let most = limits.max_local_connections;
                let permit = shared.local_connections.enter(source, most, most).ok();
                permit.map(|permit| Self::new(None, Some(permit), alive, cut))
            }
        };
        if held.is_none() {
            metrics::counter!("doors_connections_over_cap_total").increment(1);
        }
        held
    }

    /// For a stream inside of this process, which no outsider can open.
    pub(crate) fn in_process(alive: mpsc::Sender<()>, cut: CancellationToken) -> Self {
        Self::new(None, None, alive, cut)
    }

    fn new(
        slot: Option<Arc<ConnectionSlot>>,
        permit: Option<Permit<Source>>,
        alive: mpsc::Sender<()>,
        cut: CancellationToken,
    ) -> Self {
        metrics::counter!("doors_connections_opened_total").increment(1);
        metrics::gauge!("doors_connections_open").increment(1);
        Self { slot, _permit: permit, cut, _alive: alive }
    }

    fn slot(&self) -> Weak<ConnectionSlot> {
        self.slot.as_ref().map(Arc::downgrade).unwrap_or_default()
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        metrics::counter!("doors_connections_closed_total").increment(1);
        metrics::gauge!("doors_connections_open").decrement(1);
    }
}

pub(crate) async fn run<IO>(io: IO, held: HeldConnection, channel: Channel, app: GuardedApp, signals: Signals)
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let arrival = Arrival { channel, failures: Arc::clone(&app.shared.failures), slot: held.slot() };
    let upgraded = Arc::new(AtomicBool::new(false));
    let severed = held.cut.clone();
    let line = ConnectionStream::new(
        io,
        held,
        &signals.ending,
        severed,
        Framing::new(Arc::clone(&upgraded)),
        &app.shared.limits,
    );
    let router = app.router;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(arrival.clone());
        let (answering, upgraded) = (router.clone().oneshot(request), Arc::clone(&upgraded));
        async move {
            let answer = answering.await;
            if matches!(&answer, Ok(answer) if answer.status() == StatusCode::SWITCHING_PROTOCOLS) {
                upgraded.store(true, Ordering::Release);
            }
            answer
        }
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
    // Callers that disconnect, send nonsense or are too slow are normal; they are logged at debug level only.
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
