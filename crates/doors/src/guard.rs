//! The order of the steps, on one page.
//!
//! Invariant: Host, then Origin and Fetch-Metadata, then the credential, then the limits; the first that refuses ends
//! the request, and only a request that passed all four reaches a handler.

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
    body::{self, BodyLimits, Cut},
    credential::{self, Presented, Shown},
    door::{Group, Post},
    host, origin,
    origin::Provenance,
    principal::{Caller, Role},
    refusal::Refusal,
    tally::Permit,
};

/// Whose rate and running requests a request counts towards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Principal(String),
    /// A browser whose cookie we gave, on routes where no proof comes with it.
    KnownBrowser,
    Source(Source),
}

/// As which credential the connections of such browsers count.
const KNOWN_BROWSER: &str = "a browser's cookie";

/// The middleware of every route.
pub(crate) async fn guard(State(post): State<Post>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let (holder, limits) = match post.examine(&mut parts, &body) {
        Ok(examined) => examined,
        Err(refusal) => return refusal.into_response(),
    };
    // The bytes of the body are held until the handler has answered.
    let held = Arc::new(post.shared.body_bytes.open(holder.clone()));
    let (body, cut) = match post.body(body, &limits, Arc::clone(&held)).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let place = match post.enter(holder, limits.requests) {
        Ok(place) => place,
        Err(refusal) => return refusal.into_response(),
    };
    let mut response = next.run(Request::from_parts(parts, body)).await;
    drop(held);
    if let Some(refusal) = cut.reason() {
        return refusal.into_response();
    }
    // What the page does not have is not to be kept either: it may be there tomorrow.
    if post.group != Group::Page || !response.status().is_success() {
        let headers = response.headers_mut();
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    }
    response.map(|body| body::holding(body, place))
}

/// What every answer says, refusals included.
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
    // No handler, however well meant, opens this server to another origin.
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

impl Post {
    /// Runs the four steps, and puts the [`Caller`]; whose request it is, and what its body may be.
    fn examine(&self, parts: &mut Parts, body: &Body) -> Result<(Holder, BodyLimits), Refusal> {
        let shared = &*self.shared;
        let Some(arrival) = parts.extensions.get::<Arrival>().cloned() else {
            tracing::error!("a request reached the guard through no accept loop of ours");
            return Err(Refusal::NotThroughADoor);
        };

        let named = host::check(&parts.headers, &parts.uri, &arrival.channel, &shared.hosts)?;

        let provenance = origin::check(&parts.method, &parts.headers, &arrival.channel, &named, self.group)?;
        // Nobody is connected to elsewhere from here. No route has OPTIONS or TRACE either, but the router that says so
        // knows which methods there are instead.
        if parts.method == Method::CONNECT {
            return Err(Refusal::MethodNotAllowed);
        }

        let shown = credential::take(&mut parts.headers, shared.gatekeeper.cookie_name(), &arrival.channel);
        let (holder, limits) = match self.group {
            Group::Page | Group::Open => {
                (self.visitor(shown.ok(), &arrival)?, BodyLimits::of_strangers(&shared.limits))
            }
            Group::Protected | Group::Live => {
                let caller = self.identify(shown?, provenance, &arrival, parts)?;
                let (holder, role) = match &caller {
                    Caller::Known(principal) => (Holder::Principal(principal.id.clone()), Some(principal.role)),
                    Caller::AwaitsProof(_) => (Holder::KnownBrowser, None),
                };
                self.recognise(&arrival, &holder, role)?;
                parts.extensions.insert(caller);
                (holder, BodyLimits::of_known(&shared.limits, role))
            }
        };

        self.bound(&holder, &limits, parts, body)?;
        Ok((holder, limits))
    }

    /// Who comes to a route that needs no credential. One that is shown all the same keeps its holder apart from those
    /// who have none; a wrong one is as good as none here.
    fn visitor(&self, shown: Option<Shown>, arrival: &Arrival) -> Result<Holder, Refusal> {
        let gatekeeper = &self.shared.gatekeeper;
        let known = match shown {
            Some(Shown::Whole(presented)) => {
                gatekeeper.admit(&presented).map(|principal| (Holder::Principal(principal.id), Some(principal.role)))
            }
            Some(Shown::CookieAlone(cookie)) => {
                gatekeeper.knows_cookie(&cookie).then_some((Holder::KnownBrowser, None))
            }
            Some(Shown::Nothing | Shown::Unreadable) | None => None,
        };
        let (holder, role) = known.unwrap_or_else(|| (Holder::Source(arrival.source()), None));
        self.recognise(arrival, &holder, role)?;
        Ok(holder)
    }

    /// From its first credential on, a connection is no stranger's.
    fn recognise(&self, arrival: &Arrival, holder: &Holder, role: Option<Role>) -> Result<(), Refusal> {
        let limit = match role {
            Some(Role::Agent | Role::Applet) => self.shared.limits.max_connections_per_agent,
            Some(Role::Person) | None => self.shared.limits.max_connections_per_principal,
        };
        match holder {
            Holder::Principal(id) => arrival.recognise(id, limit),
            Holder::KnownBrowser => arrival.recognise(KNOWN_BROWSER, limit),
            Holder::Source(_) => Ok(()),
        }
    }

    fn needs_credential(&self) -> bool {
        match self.group {
            Group::Page | Group::Open => false,
            Group::Protected | Group::Live => true,
        }
    }

    /// The body as the handler gets it. Without a credential it has to be there, whole and small, before anything else
    /// is held for it.
    async fn body(&self, body: Body, limits: &BodyLimits, held: Arc<Permit<Holder>>) -> Result<(Body, Cut), Refusal> {
        match self.needs_credential() {
            true => Ok(body::bounded(body, limits, held)),
            false => Ok((body::whole(body, limits, held).await?, Cut::default())),
        }
    }

    fn identify(
        &self,
        shown: Shown,
        provenance: Provenance,
        arrival: &Arrival,
        parts: &Parts,
    ) -> Result<Caller, Refusal> {
        let presented = match shown {
            Shown::Nothing | Shown::Unreadable => return Err(Refusal::Unauthenticated),
            Shown::CookieAlone(cookie) => {
                provenance.admits_cookie(self.group)?;
                // Only a real upgrade may bring its proof later; a plain request could have sent the header.
                let upgrades =
                    self.group == Group::Live && parts.method == Method::GET && asks_for_websocket(&parts.headers);
                return match upgrades {
                    false => Err(Refusal::ProofMissing),
                    true if self.shared.gatekeeper.knows_cookie(&cookie) => Ok(Caller::AwaitsProof(cookie)),
                    true => Err(arrival.credential_failed()),
                };
            }
            Shown::Whole(presented) => presented,
        };
        match presented {
            Presented::Cookie { .. } => provenance.admits_cookie(self.group)?,
            Presented::Bearer(_) | Presented::Peer => (),
        }
        self.shared.gatekeeper.admit(&presented).map(Caller::Known).ok_or_else(|| arrival.credential_failed())
    }

    fn bound(&self, holder: &Holder, bodies: &BodyLimits, parts: &Parts, body: &Body) -> Result<(), Refusal> {
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
            // Forms and plain text can be sent by any page without a preflight; JSON can not.
            if !matches!(parts.method, Method::GET | Method::HEAD) && !is_json(&parts.headers) {
                return Err(Refusal::UnsupportedMediaType);
            }
        }
        Ok(())
    }

    /// A place among the caller's running requests.
    fn enter(&self, holder: Holder, limit: usize) -> Result<Permit<Holder>, Refusal> {
        self.shared.in_flight.enter(holder, usize::MAX, limit).map_err(|_| Refusal::TooManyInFlight { limit })
    }
}

fn asks_for_websocket(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = origin::only(headers, &header::CONTENT_TYPE) else { return false };
    let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}
