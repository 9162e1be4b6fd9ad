//! Maps doors to engine calls: HTTP, WebSocket, MCP and the embedded page. It decides nothing.
//!
//! A request comes in through `doors` already guarded and with its caller known. A handler turns the wire into a
//! command, the engine carries it out, `convert.rs` turns what it gave back into the wire, and `error.rs` is the one
//! place where a failure becomes a status. This crate must never know SQL, agents or the rules of a session. Start
//! reading at `router.rs`, which is the whole URL table.

mod access;
mod applet_frame;
mod conditions;
mod convert;
mod error;
mod extract;
mod gatekeeper;
mod http;
mod live;
mod mcp;
mod metrics;
mod openapi;
mod qr;
mod router;
mod turns;
mod web_assets;
mod who;
pub mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use doors::{AllowedHosts, Door, GuardedApp, Limits};
use engine::{AgentSwitch, Engine, TokenSecret};
use tokio_util::sync::CancellationToken;

pub use mcp::{STANDARD_BRIEF, own_tools};
pub use openapi::openapi;
pub use qr::QrSquares;
pub use web_assets::HAS_PAGE;

/// Puts the person's token where programs find it.
pub type KeepToken = Box<dyn Fn(&TokenSecret) -> io::Result<()> + Send + Sync>;

/// What the server is given beside the engine.
pub struct ServerSettings {
    /// Names beside loopback on which it answers.
    pub hosts: AllowedHosts,
    /// What bounds every caller.
    pub limits: Limits,
    /// The address that sign-in links lead to.
    pub url: String,
    /// Whether only this machine reaches it.
    pub local_only: bool,
    /// Whether that address is served over TLS, by us or by a proxy; the cookie then says so.
    pub secure_cookie: bool,
    /// Where the server was started, offered for new sessions.
    pub directory: Option<String>,
    /// A directory in which the guide may show a newcomer around.
    pub tour_directory: Option<String>,
    /// Where programs of the person put bundles that are to be taken in.
    pub incoming: PathBuf,
    /// What the server was started with, as it is shown.
    pub configuration: wire::Settings,
    /// Where the person's new token is put when all credentials are rotated.
    pub keep_token: KeepToken,
    /// Whose tools reach sessions of other projects.
    pub all_sessions: AgentSwitch,
    /// What pieces of work are called as a group, on the page.
    pub specs_label: String,
    /// Ends open sockets with a word of farewell.
    pub stopping: CancellationToken,
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    engine: Engine,
    settings: Arc<Shared>,
}

pub(crate) struct Shared {
    gatekeeper: gatekeeper::TokenGatekeeper,
    url: String,
    local_only: bool,
    secure_cookie: bool,
    directory: Option<String>,
    tour_directory: Option<String>,
    incoming: PathBuf,
    configuration: wire::Settings,
    specs_label: String,
    keep_token: KeepToken,
    stopping: CancellationToken,
    mcp: mcp::Mount,
}

/// What listeners serve. They share one door, and so its limits.
pub struct Apps {
    /// All routes.
    pub whole: GuardedApp,
    /// Only what agents need: for a listener of their own, where they can not use the one that people do.
    pub only_mcp: GuardedApp,
}

/// All routes behind all guards, ready to be served by `doors`.
pub fn apps(engine: Engine, settings: ServerSettings) -> Apps {
    let ServerSettings {
        hosts,
        limits,
        url,
        local_only,
        secure_cookie,
        directory,
        tour_directory,
        incoming,
        configuration,
        keep_token,
        all_sessions,
        specs_label,
        stopping,
    } = settings;
    metrics::install();
    let gatekeeper = gatekeeper::TokenGatekeeper::new(engine.clone(), secure_cookie);
    let door = Door::new(Arc::new(gatekeeper.clone()), hosts, limits);
    let mcp = mcp::Mount::new(&engine, all_sessions, stopping.clone());
    let shared = Shared {
        gatekeeper,
        url,
        local_only,
        secure_cookie,
        directory,
        tour_directory,
        incoming,
        configuration,
        specs_label,
        keep_token,
        stopping,
        mcp,
    };
    let app = App { engine, settings: Arc::new(shared) };
    Apps { only_mcp: door.mount(router::only_mcp(app.clone())), whole: door.mount(router::routes(app)) }
}

/// Where agents find the mount on a listener of this machine.
pub fn mcp_url(listener: SocketAddr) -> String {
    format!("http://{listener}{}", router::MCP)
}

/// A link that signs one browser in, once.
pub fn sign_in_link(url: &str, code: &TokenSecret) -> String {
    // In the fragment, which browsers never send: no server log and no Referer can carry it.
    format!("{url}/#code={}", code.expose())
}
