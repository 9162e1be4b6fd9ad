//! The order of the checks, on one page.
//!
//! Invariant: Host, then Origin and Fetch-Metadata, then the credential, then the limits. The first refusal ends the
//! request, and only a request that passed all four reaches a handler.

use std::{sync::Arc, time::Instant};

use axum::{
    body::{Body, HttpBody as _},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, Method, header, request::Parts};

use crate::{
    arrival::{Arrival, Source},
    body::{self, BodyLimits, CutReason},
    credential::{self, FoundCredential, Presented},
    door::{Group, GroupGuard},
    host, origin,
    origin::Provenance,
    principal::{Caller, Role},
    refusal::Refusal,
    tally::Permit,
};

/// Whose rate and running requests a request counts towards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CountedCaller {
    Principal(String),
    /// A browser with one of our cookies, on routes where no proof comes with it.
    KnownBrowser,
    Source(Source),
}

/// The credential name under which connections of such browsers are counted.
const KNOWN_BROWSER: &str = "a browser's cookie";

/// The middleware of every route.
pub(crate) async fn guard(State(group_guard): State<GroupGuard>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let (holder, limits) = match group_guard.examine(&mut parts, &body) {
        Ok(examined) => examined,
        Err(refusal) => return refusal.into_response(),
    };
    // The bytes of the body stay counted until the handler has answered.
    let held = Arc::new(group_guard.shared.body_bytes.open(holder.clone()));
    let (body, cut) = match group_guard.body(body, &limits, Arc::clone(&held)).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let slot = match group_guard.enter(holder, limits.requests) {
        Ok(slot) => slot,
        Err(refusal) => return refusal.into_response(),
    };
    let mut response = next.run(Request::from_parts(parts, body)).await;
    drop(held);
    if let Some(refusal) = cut.reason() {
        return refusal.into_response();
    }
    // A missing page must not be cached either: it may exist tomorrow.
    if group_guard.group != Group::Page || !response.status().is_success() {
        let headers = response.headers_mut();
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    }
    response.map(|body| body::holding(body, slot))
}

/// Sets the headers of every response, refusals included.
pub(crate) async fn harden(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // No handler may open this server to another origin.
    for name in [
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        header::ACCESS_CONTROL_ALLOW_METHODS,
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        header::ACCESS_CONTROL_MAX_AGE,
        header::HeaderName::from_static("access-control-allow-private-network"),
        header::HeaderName::from_static("timing-allow-origin"),
    ] {
        headers.remove(name);
    }
    response
}

impl GroupGuard {
    /// Runs the four checks, and adds the [`Caller`]; returns who is counted, and the limits of the body.
    fn examine(&self, parts: &mut Parts, body: &Body) -> Result<(CountedCaller, BodyLimits), Refusal> {
        let shared = &*self.shared;
        let Some(arrival) = parts.extensions.get::<Arrival>().cloned() else {
            tracing::error!("a request reached the guard through no accept loop of ours");
            return Err(Refusal::NotThroughADoor);
        };

        let named = host::check(&parts.headers, &parts.uri, &arrival.channel, &shared.hosts)?;

        let provenance = origin::check(&parts.method, &parts.headers, &arrival.channel, &named, self.group)?;
        // No request is tunnelled from here. No route has OPTIONS or TRACE either, but the router that says so knows
        // which methods there are instead.
        if parts.method == Method::CONNECT {
            return Err(Refusal::MethodNotAllowed);
        }

        let found = credential::take(&mut parts.headers, shared.gatekeeper.cookie_name(), &arrival.channel);
        let (holder, limits) = match self.group {
            Group::Page | Group::Open => {
                (self.open_route_caller(found.ok(), &arrival)?, BodyLimits::of_strangers(&shared.limits))
            }
            Group::Protected | Group::Live => {
                let caller = self.identify(found?, provenance, &arrival, parts)?;
                let (holder, role) = match &caller {
                    Caller::Known(principal) => (CountedCaller::Principal(principal.id.clone()), Some(principal.role)),
                    Caller::AwaitsProof(_) => (CountedCaller::KnownBrowser, None),
                };
                self.recognise(&arrival, &holder, role)?;
                parts.extensions.insert(caller);
                (holder, BodyLimits::of_known(&shared.limits, role))
            }
        };

        self.bound(&holder, &limits, parts, body)?;
        Ok((holder, limits))
    }

    /// The caller of a route that needs no credential. A credential that is shown all the same is counted by itself;
    /// a wrong one counts as none here.
    fn open_route_caller(&self, found: Option<FoundCredential>, arrival: &Arrival) -> Result<CountedCaller, Refusal> {
        let gatekeeper = &self.shared.gatekeeper;
        let known = match found {
            Some(FoundCredential::Whole(presented)) => gatekeeper
                .admit(&presented)
                .map(|principal| (CountedCaller::Principal(principal.id), Some(principal.role))),
            Some(FoundCredential::CookieAlone(cookie)) => {
                gatekeeper.knows_cookie(&cookie).then_some((CountedCaller::KnownBrowser, None))
            }
            Some(FoundCredential::Nothing | FoundCredential::Unreadable) | None => None,
        };
        let (holder, role) = known.unwrap_or_else(|| (CountedCaller::Source(arrival.source()), None));
        self.recognise(arrival, &holder, role)?;
        Ok(holder)
    }

    /// With its first credential a connection is no longer a stranger's.
    fn recognise(&self, arrival: &Arrival, holder: &CountedCaller, role: Option<Role>) -> Result<(), Refusal> {
        let limit = match role {
            Some(Role::Agent | Role::Applet) => self.shared.limits.max_connections_per_agent,
            Some(Role::Person) | None => self.shared.limits.max_connections_per_principal,
        };
        match holder {
            CountedCaller::Principal(id) => arrival.recognise(id, limit),
            CountedCaller::KnownBrowser => arrival.recognise(KNOWN_BROWSER, limit),
            CountedCaller::Source(_) => Ok(()),
        }
    }

    fn needs_credential(&self) -> bool {
        match self.group {
            Group::Page | Group::Open => false,
            Group::Protected | Group::Live => true,
        }
    }

    /// The body for the handler. Without a credential it has to be complete and small before anything else is
    /// reserved for it.
    async fn body(
        &self,
        body: Body,
        limits: &BodyLimits,
        held: Arc<Permit<CountedCaller>>,
    ) -> Result<(Body, CutReason), Refusal> {
        match self.needs_credential() {
            true => Ok(body::bounded(body, limits, held)),
            false => Ok((body::read_whole(body, limits, held).await?, CutReason::default())),
        }
    }

    fn identify(
        &self,
        found: FoundCredential,
        provenance: Provenance,
        arrival: &Arrival,
        parts: &Parts,
    ) -> Result<Caller, Refusal> {
        let presented = match found {
            FoundCredential::Nothing | FoundCredential::Unreadable => return Err(Refusal::Unauthenticated),
            FoundCredential::CookieAlone(cookie) => {
                provenance.admits_cookie(self.group)?;
                // Only a real upgrade may send its proof later; a plain request could have sent the header.
                let upgrades =
                    self.group == Group::Live && parts.method == Method::GET && asks_for_websocket(&parts.headers);
                return match upgrades {
                    false => Err(Refusal::ProofMissing),
                    true if self.shared.gatekeeper.knows_cookie(&cookie) => Ok(Caller::AwaitsProof(cookie)),
                    true => Err(arrival.credential_failed()),
                };
            }
            FoundCredential::Whole(presented) => presented,
        };
        match presented {
            Presented::Cookie { .. } => provenance.admits_cookie(self.group)?,
            Presented::Bearer(_) | Presented::Peer => (),
        }
        self.shared.gatekeeper.admit(&presented).map(Caller::Known).ok_or_else(|| arrival.credential_failed())
    }

    fn bound(&self, holder: &CountedCaller, bodies: &BodyLimits, parts: &Parts, body: &Body) -> Result<(), Refusal> {
        let limits = &self.shared.limits;
        self.shared.rates.take(holder, Instant::now()).map_err(|retry_after| Refusal::RateLimited { retry_after })?;
        if parts.uri.path_and_query().map_or(0, |target| target.as_str().len()) > limits.max_uri_bytes {
            return Err(Refusal::UriTooLong { limit_bytes: limits.max_uri_bytes });
        }
        if !body.is_end_stream() {
            let limit_bytes = bodies.bytes;
            if body.size_hint().lower() > limit_bytes {
                return Err(Refusal::BodyTooLarge { limit_bytes });
            }
            // Any page can send forms and plain text without a preflight; JSON it can not.
            if !matches!(parts.method, Method::GET | Method::HEAD) && !is_json(&parts.headers) {
                return Err(Refusal::UnsupportedMediaType);
            }
        }
        Ok(())
    }

    /// Takes a slot among the caller's running requests.
    fn enter(&self, holder: CountedCaller, limit: usize) -> Result<Permit<CountedCaller>, Refusal> {
        self.shared.in_flight.enter(holder, usize::MAX, limit).map_err(|_| Refusal::TooManyInFlight { limit })
    }
}

fn asks_for_websocket(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = origin::single_value(headers, &header::CONTENT_TYPE) else { return false };
    let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}
