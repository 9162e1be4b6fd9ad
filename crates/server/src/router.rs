//! The whole URL table. `openapi.rs` makes the API's description from it.

use axum::Router;
use axum::routing::{any, get};
use doors::Routes;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::ApiError;
use crate::http::{
    agent, agents, applets, auth, bodies, changes, contents, context, directories, entries, export, files, forks,
    health, imports, markdown, outputs, permissions, prompts, search, sessions, settings, storage, tickets, tokens,
    unsent, usage, work,
};
use crate::{App, applet_frame, live, mcp, web_assets};

/// The session's own tools, for its agent. They are described by their own protocol, not in `openapi.json`.
pub(crate) const MCP: &str = "/mcp";
/// Those that show the person something.
const MCP_SHOW: &str = "/mcp/show";

/// Routes that need a known caller, relative to `/api/v1`.
pub(crate) fn protected() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::show, sessions::change, sessions::delete))
        .routes(routes!(sessions::restore))
        .routes(routes!(sessions::deleted))
        .routes(routes!(sessions::tags))
        .routes(routes!(sessions::cancel))
        .routes(routes!(sessions::observe))
        .routes(routes!(forks::fork))
        .routes(routes!(unsent::show, unsent::put))
        .routes(routes!(prompts::send))
        .routes(routes!(prompts::change, prompts::remove))
        .routes(routes!(permissions::answer))
        .routes(routes!(permissions::list))
        .routes(routes!(permissions::forget))
        .routes(routes!(agent::resume))
        .routes(routes!(agent::set_option))
        .routes(routes!(agent::sign_in))
        .routes(routes!(entries::list))
        .routes(routes!(markdown::show))
        .routes(routes!(export::show))
        .routes(routes!(outputs::list))
        .routes(routes!(outputs::show, outputs::remove))
        .routes(routes!(outputs::state))
        .routes(routes!(tickets::offer))
        .routes(routes!(tickets::offer_export))
        .routes(routes!(outputs::lines))
        .routes(routes!(outputs::prune))
        .routes(routes!(outputs::find))
        .routes(routes!(bodies::show))
        .routes(routes!(outputs::find_lines))
        .routes(routes!(files::list))
        .routes(routes!(changes::list))
        .routes(routes!(changes::file))
        .routes(routes!(contents::toc))
        .routes(routes!(contents::turn))
        .routes(routes!(contents::range))
        .routes(routes!(search::inside))
        .routes(routes!(search::everywhere))
        .routes(routes!(imports::show, imports::begin, imports::stop))
        .routes(routes!(imports::take_in_bundle))
        .routes(routes!(contents::titles))
        .routes(routes!(contents::interaction))
        .routes(routes!(contents::summaries, contents::upgrade))
        .routes(routes!(work::offers))
        .routes(routes!(work::click))
        .routes(routes!(work::list))
        .routes(routes!(work::show, work::rename, work::delete))
        .routes(routes!(work::toc))
        .routes(routes!(context::show))
        .routes(routes!(context::packet))
        .routes(routes!(storage::file, storage::write))
        .routes(routes!(storage::list))
        .routes(routes!(applets::list))
        .routes(routes!(applets::show, applets::save, applets::delete))
        .routes(routes!(applets::state, applets::set_state))
        .routes(routes!(applets::versions))
        .routes(routes!(applets::version))
        .routes(routes!(applets::grants, applets::grant))
        .routes(routes!(applets::offer_ticket))
        .routes(routes!(usage::list))
        .routes(routes!(usage::of_session))
        .routes(routes!(agents::list))
        .routes(routes!(agents::sessions))
        .routes(routes!(agents::test))
        .routes(routes!(directories::list))
        .routes(routes!(auth::whoami))
        .routes(routes!(tokens::list, tokens::issue))
        .routes(routes!(tokens::revoke))
        .routes(routes!(tokens::rotate))
        .routes(routes!(tokens::link))
        .routes(routes!(settings::show))
}

/// Routes that a caller without a credential may use, relative to `/api/v1`.
pub(crate) fn open() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(auth::exchange)).routes(routes!(tickets::read))
}

pub(crate) fn routes(app: App) -> Routes {
    let (protected, _) = protected().split_for_parts();
    let (open, _) = open().split_for_parts();
    let protected = versioned(&protected)
        .route("/metrics", get(health::metrics))
        .route(MCP, any(mcp::serve))
        .route(MCP_SHOW, any(mcp::serve_show))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    let open = versioned(&open)
        .route("/healthz", get(health::healthz))
        .route("/applet-frame/{ticket}", get(applet_frame::show))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    let live = versioned(&Router::new().route("/live", any(live::upgrade))).with_state(app);
    Routes { page: Router::new().fallback(web_assets::serve), open, protected, live }
}

/// What a listener has that is there for agents alone.
pub(crate) fn only_mcp(app: App) -> Routes {
    let page = Router::new().fallback(async || ApiError::RouteNotFound);
    let tools = Router::new().route(MCP, any(mcp::serve)).route(MCP_SHOW, any(mcp::serve_show));
    Routes { page, protected: tools.with_state(app), ..Routes::default() }
}

/// The same routes with and without the version.
fn versioned(routes: &Router<App>) -> Router<App> {
    Router::new().nest("/api/v1", routes.clone()).nest("/api", routes.clone())
}

async fn method_not_allowed() -> ApiError {
    ApiError::MethodNotAllowed
}
