//! The whole URL table, and the API description made from it.

use axum::Router;
use axum::routing::{any, get};
use doors::Routes;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::ApiError;
use crate::http::{agents, auth, entries, health, prompts, sessions, tokens};
use crate::{App, live, web_assets, wire};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Throughline",
        description = "The session server for AI agents. Paths are under /api/v1 and, the same, under /api. \
                       Programs send a bearer token; the WebSocket at /api/v1/live speaks ClientFrame and ServerFrame."
    ),
    components(schemas(wire::ClientFrame, wire::ServerFrame, wire::ErrorBody))
)]
struct Description;

/// Routes that need a known caller, relative to `/api/v1`.
fn protected() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::show, sessions::change, sessions::delete))
        .routes(routes!(sessions::restore))
        .routes(routes!(sessions::cancel))
        .routes(routes!(sessions::observe))
        .routes(routes!(prompts::send))
        .routes(routes!(prompts::change, prompts::remove))
        .routes(routes!(entries::list))
        .routes(routes!(agents::list))
        .routes(routes!(auth::whoami))
        .routes(routes!(tokens::list, tokens::issue))
        .routes(routes!(tokens::revoke))
        .routes(routes!(tokens::rotate))
        .routes(routes!(tokens::link))
}

/// Routes that a caller without a credential may use, relative to `/api/v1`.
fn open() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(auth::exchange))
}

pub(crate) fn routes(app: App) -> Routes {
    let (protected, _) = protected().split_for_parts();
    let (open, _) = open().split_for_parts();
    let protected = versioned(&protected)
        .route("/metrics", get(health::metrics))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    let open = versioned(&open)
        .route("/healthz", get(health::healthz))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    let live = versioned(&Router::new().route("/live", any(live::upgrade))).with_state(app);
    Routes { page: Router::new().fallback(web_assets::serve), open, protected, live }
}

/// The same routes with and without the version.
fn versioned(routes: &Router<App>) -> Router<App> {
    Router::new().nest("/api/v1", routes.clone()).nest("/api", routes.clone())
}

async fn method_not_allowed() -> ApiError {
    ApiError::MethodNotAllowed
}

/// The API's description, as committed in `openapi.json`.
pub fn openapi() -> String {
    let paths = OpenApiRouter::new().merge(protected()).merge(open());
    let (_, document) =
        OpenApiRouter::<App>::with_openapi(Description::openapi()).nest("/api/v1", paths).split_for_parts();
    let mut text = document.to_pretty_json().expect("the description is plain data");
    text.push('\n');
    text
}
