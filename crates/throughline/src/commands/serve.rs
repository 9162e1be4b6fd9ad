//! `throughline serve`: opens the folder, the port and the socket, and closes them in order.
//!
//! Scripts rely on two things: the first line of standard output is the sign-in link, and `server.json` exists by
//! then.

use std::fs;
use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use doors::Transport;
use engine::{Clock as _, SystemClock};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::agency::own_environment;
use crate::cli;
use crate::config::{Config, Override, Start, StartSetting};
use crate::data_dir::{DATA_DIR_VARIABLE, DataDir, ServerFile, write_private};
use crate::host::{Host, LinkAddress, Purpose};
use crate::terminal::{self, safe};
use crate::{hint, link, log};

/// The longest path of a Unix socket on Linux.
const MAX_SOCKET_PATH_BYTES: usize = 107;
/// The time limit for stopping; what is not settled by then is settled by the next start.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// The most open files that are asked for.
const MAX_OPEN_FILES: u64 = 1 << 20;
/// How many of them are never used for connections.
const RESERVED_FILES: u64 = 1_024;

const STORE_FAILED: &str = "the store can not be written any more, so the server has stopped; what was acknowledged is \
                            kept. See that the disk is sound and has room, then start again";

/// Serves until it is told to stop. The printed link offers a session in `directory`.
pub(super) async fn run(data: &DataDir, serve: &cli::Serve, directory: Option<&str>) -> Result<()> {
    log::start()?;
    // Without a handler, a write beyond the limit on file sizes would kill the process instead of returning an error.
    // The handler stays when this is dropped.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    let (mut config, text) = Config::load_with_text(&data.config())?;
    let start = apply_start(&mut config, data, serve);
    let transport = config.transport()?;
    transport.may_bind(config.server.listen)?;
    warn_of_expired(&transport);
    config.check_reachable()?;

    let host = Host::open(data, &config, Purpose::Serving).await?;
    let stopping = CancellationToken::new();
    let listener = bind(config.server.listen).await?;
    let bound = listener.local_addr()?;
    let url = url(&config, bound);
    let local_only = !config.server.behind_proxy && bound.ip().to_canonical().is_loopback();
    let socket = bind_socket(&data.socket())?;
    host.keep_token_file(data).await?;
    let address = LinkAddress { url: url.clone(), local_only };
    let configuration = config.report(&data.config(), text.as_deref(), &start, &address);
    let apps = host.apps(&config, data, configuration, stopping.clone())?;
    let for_agents = listen_for_agents(&transport, bound, config.server.mcp_listen).await?;
    let reach = for_agents.as_ref().unwrap_or(&listener).local_addr()?;
    host.engine.mount_at(server::mcp_url(reach));
    match host.engine.start_unbegun().await {
        Ok(0) => (),
        Ok(sessions) => tracing::info!(sessions, "steps that were taken just before the server ended go on now"),
        Err(err) => {
            tracing::warn!(error = %err, "steps that were taken just before the server ended could not be found");
        }
    }

    let uid = rustix::process::geteuid().as_raw();
    let tcp = doors::serve_tcp(listener, transport, apps.whole.clone(), stopping.clone());
    let unix = doors::serve_unix(socket, uid, apps.whole, stopping.clone());
    let unix = async {
        unix.await;
        Ok(())
    };
    let for_agents = async {
        match for_agents {
            Some(listener) => doors::serve_tcp(listener, Transport::Plain, apps.only_mcp, stopping.clone()).await,
            None => Ok(()),
        }
    };
    // If one of them ends, the server is no longer complete.
    let all = async { tokio::try_join!(tcp, unix, for_agents) };
    tokio::pin!(all);

    if !server::HAS_PAGE {
        terminal::remark(
            "this build has no page: it was made with THROUGHLINE_SKIP_WEB=1. `cargo build --release` without that \
             variable makes one that has; everything else works",
        );
    }
    // Before the first line is printed: a reader may end us at once, and that has to be clean too.
    let mut signals = Signals::new()?;
    write_server_file(data, &url)?;
    announce(server::sign_in_link(&url, &host.engine.offer_code()), serve.clone(), directory.map(str::to_owned));
    let (serves, served) = tokio::select! {
        ended = &mut all => (false, ended.map(|_| ()).map_err(anyhow::Error::from)),
        () = signals.next() => (true, Ok(())),
        cause = host.store.failed() => (true, Err(anyhow::Error::new(cause).context(STORE_FAILED))),
    };
    tracing::info!("stopping");
    let stop = async {
        // Sessions settle while their sockets are still open, so that their last entries are sent; then the sockets
        // are closed, and only then the store.
        let settle = async {
            host.engine.shutdown().await;
            stopping.cancel();
        };
        let drain = async {
            if serves {
                drop(all.await);
            }
        };
        tokio::join!(settle, drain);
        host.store.close().await;
    };
    let closed = tokio::select! {
        closed = timeout(STOP_LIMIT, stop) => closed.is_ok(),
        () = signals.next() => false,
    };
    if !closed {
        tracing::warn!("stopped with something still open; the next start settles it");
        // Dropping the store would wait for its threads, however long a disk blocks them.
        std::mem::forget(Arc::clone(&host.store));
    }
    for file in [data.server_file(), data.socket()] {
        // It may be gone already.
        drop(fs::remove_file(file));
    }
    served
}

/// Changes the configuration by what the command line and the system say, and keeps what did it.
fn apply_start(config: &mut Config, data: &DataDir, serve: &cli::Serve) -> Start {
    let mut overrides = Vec::new();
    let allowed = max_connections(raise_open_files());
    if allowed < config.limits.connections {
        config.limits.connections = allowed;
        overrides.push(("limits.connections", Override::System("the system allows no more open files")));
    }
    if let Some(listen) = serve.listen {
        config.server.listen = listen;
        overrides.push(("server.listen", Override::Flag("--listen")));
    }
    let environment = own_environment();
    let is_set = |name: &'static str| environment.get(name).is_some_and(|value| !value.is_empty());
    let folder = StartSetting {
        key: "--data-dir",
        about: "The folder that everything is kept in.",
        value: data.path().display().to_string(),
        set_by: match () {
            () if hint::names_a_folder() => Some(Override::Flag("--data-dir")),
            () if is_set(DATA_DIR_VARIABLE) => Some(Override::Environment(DATA_DIR_VARIABLE)),
            () => None,
        },
        command: "throughline --data-dir FOLDER",
    };
    let log = StartSetting {
        key: log::LOG_VARIABLE,
        about: "How much the server logs: error, warn, info or debug.",
        value: environment.get(log::LOG_VARIABLE).cloned().unwrap_or_else(|| "info".to_owned()),
        set_by: is_set(log::LOG_VARIABLE).then_some(Override::Environment(log::LOG_VARIABLE)),
        command: "THROUGHLINE_LOG=debug throughline",
    };
    Start { overrides, settings: vec![folder, log] }
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("could not listen on {address}; choose another with --listen, for instance 127.0.0.1:0 for a free port")
    })
}

/// Binds a separate listener for agents, if one is configured or if the main one is not plain HTTP on loopback.
async fn listen_for_agents(
    transport: &Transport,
    bound: SocketAddr,
    wanted: Option<SocketAddr>,
) -> Result<Option<TcpListener>> {
    if let Some(wanted) = wanted {
        let listener = TcpListener::bind(wanted).await;
        let why =
            || format!("could not listen on {wanted}; choose another port in server.mcp_listen, 0 for a free one");
        return listener.with_context(why).map(Some);
    }
    let own_names = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    match transport {
        Transport::Plain if own_names.contains(&bound.ip()) => Ok(None),
        Transport::Plain | Transport::Tls(_) | Transport::BehindProxy => {
            bind((Ipv4Addr::LOCALHOST, 0).into()).await.map(Some)
        }
    }
}

/// We own the store, so an existing socket file is left from a server that has ended.
fn bind_socket(path: &Path) -> Result<UnixListener> {
    if path.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
        bail!("{} is too long for a socket; choose a shorter --data-dir", path.display());
    }
    drop(fs::remove_file(path));
    let socket = UnixListener::bind(path).with_context(|| format!("could not listen on {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Warns only: browsers refuse an expired certificate, but after a reset the clock may be wrong and not the
/// certificate.
fn warn_of_expired(transport: &Transport) {
    let Transport::Tls(settings) = transport else { return };
    let now = jiff::Timestamp::from_millisecond(SystemClock.now().as_millis()).unwrap_or_default();
    let now = now.strftime("%Y%m%d%H%M%SZ").to_string();
    if let Some(until) = settings.valid_until().filter(|until| **until < *now) {
        tracing::warn!(until, "the certificate has expired, so browsers will refuse it: renew it, or set the clock");
    }
}

/// Raises the limit of open files as far as allowed, and returns it. Agents get their own limit from their
/// supervisor.
fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Some systems allow a billion, and kernel tables grow with the number in use.
    let wanted = maximum.unwrap_or(MAX_OPEN_FILES).min(MAX_OPEN_FILES);
    let raised = current.is_some_and(|current| current < wanted)
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok();
    if raised { wanted } else { current.unwrap_or(wanted) }
}

/// How many of the open files may be connections; the rest is for the store, the index, the command line and agents.
fn max_connections(open_files: u64) -> usize {
    let reserve = RESERVED_FILES.min(open_files / 2);
    usize::try_from(open_files - reserve).unwrap_or(usize::MAX)
}

/// The address that people open; never one that other machines could reach unguarded.
fn url(config: &Config, bound: SocketAddr) -> String {
    let scheme = if config.server.tls.is_some() || config.server.behind_proxy { "https" } else { "http" };
    match config.server.hosts.first() {
        Some(name) if name.contains("://") => name.trim_end_matches('/').to_owned(),
        Some(name) if config.server.behind_proxy => format!("{scheme}://{name}"),
        Some(name) if name.contains(':') => format!("{scheme}://{name}"),
        Some(name) => format!("{scheme}://{name}:{}", bound.port()),
        None => format!("{scheme}://{bound}"),
    }
}

fn write_server_file(data: &DataDir, url: &str) -> Result<()> {
    let file = ServerFile {
        url: url.to_owned(),
        socket: data.socket(),
        pid: std::process::id(),
        started_at: SystemClock.now(),
    };
    write_private(&data.server_file(), &serde_json::to_vec_pretty(&file)?).context("could not write server.json")
}

/// Prints the link on a thread of its own: a reader of standard output that blocks or closes it does not stop the
/// server.
fn announce(link: String, serve: cli::Serve, directory: Option<String>) {
    drop(tokio::task::spawn_blocking(move || {
        if let Err(err) = show_link(&link, &serve, directory.as_deref()) {
            let again = hint::command("token link");
            tracing::warn!(error = %err, "the sign-in link could not be printed; `{again}` makes another");
        }
    }));
}

fn show_link(link: &str, serve: &cli::Serve, directory: Option<&str>) -> Result<()> {
    let link = directory.map_or_else(|| link.to_owned(), |directory| link::with_new_session(link, directory));
    terminal::line(&link)?;
    if std::io::stdout().is_terminal() {
        let offer = directory.map(|directory| format!(", and offers a session in {}", safe(directory)));
        let offer = offer.unwrap_or_default();
        terminal::line(&format!(
            "Throughline is running. The link signs one browser in, once{offer}; Ctrl+C stops the server."
        ))?;
        show_page(&link, serve)?;
    }
    Ok(())
}

/// Opens the page in the person's browser, unless told not to.
pub(super) fn show_page(link: &str, serve: &cli::Serve) -> Result<()> {
    if !serve.no_open && open::that_detached(link).is_err() {
        terminal::line("No browser could be opened: open the link yourself.")?;
    }
    Ok(())
}

/// The signal to a process that writes beyond the limit on file sizes; by default it kills.
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Ctrl+C, the signal of service managers, and the end of the terminal.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None if the parent wants it ignored, as `nohup` does.
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Result<Self> {
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => (),
            _ = self.terminate.recv() => (),
            Some(_) = async { self.hang_up.as_mut()?.recv().await } => (),
        }
    }
}

/// Reads the mask of ignored signals, in which the lowest bit is this one. Known on Linux only.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
