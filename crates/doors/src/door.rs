//! Turns routes into something that can be served, with guards in front.
//!
//! Invariant: only [`Door::mount`] makes a [`GuardedApp`]; it puts the guard on every route, on every "method not
//! allowed" and on the fallback. A route's group decides which checks it skips, and the groups are named fields, so a
//! route can be in the wrong group but never in none.

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse as _, Response},
};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    arrival::Source,
    buckets::Buckets,
    credential::Gatekeeper,
    guard::{CountedCaller, guard, harden},
    host::AllowedHosts,
    limits::Limits,
    refusal::Refusal,
    slots::ConnectionSlots,
    tally::Tally,
};

/// What all listeners of one server share: credentials, host names and limits.
#[derive(Clone)]
pub struct Door {
    shared: Arc<Shared>,
}

/// The routes of the server, by what their callers must present.
#[derive(Default)]
pub struct Routes {
    /// The static page: no credential, and links from other sites may lead here. It must hold no data. Its fallback
    /// is the fallback of everything.
    pub page: Router,
    /// No credential, but no links from other sites either: the health check, the one-time code exchange.
    pub open: Router,
    /// The caller is always a [`crate::Caller::Known`].
    pub protected: Router,
    /// WebSocket upgrades: like `protected`, but a browser's upgrade may come as [`crate::Caller::AwaitsProof`].
    pub live: Router,
}

/// Routes behind their guards: the only thing that the `serve_*` functions accept.
#[derive(Clone)]
pub struct GuardedApp {
    pub(crate) router: Router,
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Page,
    Open,
    Protected,
    Live,
}

/// The guard of one group of routes.
#[derive(Clone)]
pub(crate) struct GroupGuard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) group: Group,
}

pub(crate) struct Shared {
    pub(crate) gatekeeper: Arc<dyn Gatekeeper>,
    pub(crate) hosts: AllowedHosts,
    pub(crate) limits: Limits,
    pub(crate) failures: Arc<Buckets<Source>>,
    pub(crate) rates: Buckets<CountedCaller>,
    pub(crate) in_flight: Tally<CountedCaller>,
    /// Bytes of request bodies in memory.
    pub(crate) body_bytes: Tally<CountedCaller>,
    pub(crate) slots: Arc<ConnectionSlots>,
    pub(crate) local_connections: Tally<Source>,
}

impl Door {
    #[must_use]
    pub fn new(gatekeeper: Arc<dyn Gatekeeper>, hosts: AllowedHosts, limits: Limits) -> Self {
        let shared = Shared {
            gatekeeper,
            hosts,
            failures: Arc::new(Buckets::new(limits.failures, limits.max_tracked_callers)),
            rates: Buckets::new(limits.requests, limits.max_tracked_callers),
            in_flight: Tally::new(),
            body_bytes: Tally::new(),
            slots: Arc::default(),
            local_connections: Tally::new(),
            limits,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Puts the guards in front of the routes. Several listeners may mount different routes on one door; they then
    /// share its limits.
    #[must_use]
    pub fn mount(&self, routes: Routes) -> GuardedApp {
        let Routes { page, open, protected, live } = routes;
        let router = self
            .behind(open, Group::Open)
            .merge(self.behind(protected, Group::Protected))
            .merge(self.behind(live, Group::Live))
            .fallback_service(self.behind(page, Group::Page))
            // Ours counts every body, read through an extractor or not, so axum's own default would only surprise.
            .layer(DefaultBodyLimit::disable())
            .layer(CatchPanicLayer::custom(answer_panic))
            .layer(map_response(harden));
        GuardedApp { router, shared: Arc::clone(&self.shared) }
    }

    fn behind(&self, routes: Router, group: Group) -> Router {
        let post = GroupGuard { shared: Arc::clone(&self.shared), group };
        routes.layer(from_fn_with_state(post, guard))
    }
}

/// The panic hook has already logged what happened; the caller learns only that it did.
fn answer_panic(_payload: Box<dyn Any + Send>) -> Response {
    Refusal::HandlerPanicked.into_response()
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, extract::Request, routing::get};
    use tower::ServiceExt as _;

    use super::*;
    use crate::{Presented, Principal};

    struct Anyone;

    impl Gatekeeper for Anyone {
        fn admit(&self, _presented: &Presented) -> Option<Principal> {
            Some(Principal { id: "anyone".to_owned(), role: crate::Role::Person, session: None })
        }

        fn knows_cookie(&self, _cookie: &crate::Secret) -> bool {
            true
        }

        fn cookie_name(&self) -> &str {
            "none"
        }
    }

    /// If a router were served without our accept loops, it would refuse everything.
    #[tokio::test]
    async fn routes_that_are_served_by_another_way_refuse_everything() {
        let route = |path| Router::new().route(path, get(|| async { "reached" }));
        let routes = Routes { page: route("/"), open: route("/o"), protected: route("/p"), live: route("/l") };
        let app = Door::new(Arc::new(Anyone), AllowedHosts::default(), Limits::default()).mount(routes);
        for path in ["/", "/o", "/p", "/l", "/unknown"] {
            let request = Request::get(path).header("host", "localhost").body(Body::empty()).unwrap();
            let response = app.router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), Refusal::NotThroughADoor.status(), "{path}");
        }
    }
}
