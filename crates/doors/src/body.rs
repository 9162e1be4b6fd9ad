//! Request and response bodies that enforce the limits while they flow.
//!
//! Invariant: a handler reads at most the allowed size of a request body, and reading ends within the idle time and
//! within what the bytes need at the least rate. A `Content-Length` is neither needed for that nor trusted. The
//! reason of a cut is kept separately, so that the caller gets the right refusal whatever the handler does with its
//! read error.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::{guard::CountedCaller, limits::Limits, principal::Role, refusal::Refusal, tally::Permit};

/// Why a body was cut, if it was.
#[derive(Clone, Default)]
pub(crate) struct CutReason(Arc<OnceLock<Refusal>>);

impl CutReason {
    pub(crate) fn reason(&self) -> Option<Refusal> {
        self.0.get().copied()
    }
}

/// How large a body may be, and how long it may take.
pub(crate) struct BodyLimits {
    pub(crate) bytes: u64,
    /// Together with all other bodies of the same caller.
    in_flight: u64,
    /// How many requests the caller may have in flight, until their responses are read.
    pub(crate) requests: usize,
    idle: Duration,
    whole: Duration,
    least_rate: u64,
}

impl BodyLimits {
    /// For known callers; a browser whose proof is still to come has no role yet.
    pub(crate) fn of_known(limits: &Limits, role: Option<Role>) -> Self {
        let short = limits.max_agent_body_bytes.min(limits.max_body_bytes);
        let requests = limits.max_in_flight_per_principal;
        let (bytes, in_flight, requests) = match role {
            Some(Role::Person) => (limits.max_body_bytes, limits.max_body_bytes_in_flight, requests),
            Some(Role::Agent | Role::Applet) => (short, short, requests.min(limits.max_in_flight_per_agent)),
            None => (short, short, requests),
        };
        Self {
            bytes,
            in_flight,
            requests,
            idle: limits.body_idle_timeout,
            whole: limits.body_timeout,
            least_rate: limits.body_least_rate,
        }
    }

    /// For callers without a credential.
    pub(crate) fn of_strangers(limits: &Limits) -> Self {
        let whole = limits.open_body_timeout;
        // Their connections are bounded, and each has one request at a time.
        Self {
            bytes: limits.max_open_body_bytes,
            in_flight: u64::MAX,
            requests: limits.max_in_flight_per_principal,
            idle: whole,
            whole,
            least_rate: u64::MAX,
        }
    }
}

/// Reads the whole body, for routes whose callers get a slot only when the body is complete.
pub(crate) async fn read_whole(
    body: Body,
    limits: &BodyLimits,
    held: Arc<Permit<CountedCaller>>,
) -> Result<Body, Refusal> {
    let (body, cut) = bounded(body, limits, held);
    match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => Ok(Body::from(bytes)),
        Err(_) => Err(cut.reason().unwrap_or(Refusal::BodyBroken)),
    }
}

/// The body that a handler may read. The bytes that were read stay counted in `held` while that lives.
pub(crate) fn bounded(body: Body, limits: &BodyLimits, held: Arc<Permit<CountedCaller>>) -> (Body, CutReason) {
    let cut = CutReason::default();
    // Most requests have no body; they need no timers.
    if body.is_end_stream() {
        return (body, cut);
    }
    let bounded = BoundedBody {
        body,
        limit_bytes: limits.bytes,
        read_bytes: 0,
        in_flight: limits.in_flight,
        held,
        idle: limits.idle,
        whole: limits.whole,
        least_rate: limits.least_rate.max(1),
        timers: None,
        cut: cut.clone(),
    };
    (Body::new(bounded), cut)
}

struct BoundedBody {
    body: Body,
    limit_bytes: u64,
    read_bytes: u64,
    in_flight: u64,
    held: Arc<Permit<CountedCaller>>,
    idle: Duration,
    whole: Duration,
    least_rate: u64,
    /// Started with the first read: until then the handler is slow, not the caller.
    timers: Option<BodyTimers>,
    cut: CutReason,
}

struct BodyTimers {
    idle: Pin<Box<Sleep>>,
    whole: Pin<Box<Sleep>>,
    started: Instant,
}

impl BoundedBody {
    fn cut(&self, refusal: Refusal) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let refusal = *self.cut.0.get_or_init(|| refusal);
        Poll::Ready(Some(Err(axum::Error::new(refusal))))
    }
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Some(refusal) = this.cut.reason() {
            return this.cut(refusal);
        }
        let timers = this.timers.get_or_insert_with(|| BodyTimers {
            idle: Box::pin(sleep(this.idle)),
            whole: Box::pin(sleep(this.whole)),
            started: Instant::now(),
        });
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            if timers.idle.as_mut().poll(cx).is_ready() || timers.whole.as_mut().poll(cx).is_ready() {
                return this.cut(Refusal::BodyTimeout);
            }
            return Poll::Pending;
        };
        timers.idle.as_mut().reset(Instant::now() + this.idle);
        if let Some(Ok(frame)) = &frame {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            this.read_bytes += bytes as u64;
            if this.read_bytes > this.limit_bytes {
                return this.cut(Refusal::BodyTooLarge { limit_bytes: this.limit_bytes });
            }
            let limit = usize::try_from(this.in_flight).unwrap_or(usize::MAX);
            if this.held.grow(bytes, usize::MAX, limit).is_err() {
                return this.cut(Refusal::TooMuchInFlight { limit_bytes: this.in_flight });
            }
            // Bytes that arrived at the least rate extend the time.
            let earned = Duration::from_millis(this.read_bytes.saturating_mul(1_000) / this.least_rate);
            timers.whole.as_mut().reset(timers.started + this.whole + earned);
            // A caller that never pauses would never reach the Pending arm above.
            if timers.whole.as_mut().poll(cx).is_ready() {
                return this.cut(Refusal::BodyTimeout);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response body that keeps something (the caller's slot among the running requests) until it has been sent.
pub(crate) fn holding<T: Send + Unpin + 'static>(body: Body, held: T) -> Body {
    Body::new(HoldingBody { body, _held: held })
}

struct HoldingBody<T> {
    body: Body,
    _held: T,
}

impl<T: Unpin> HttpBody for HoldingBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
