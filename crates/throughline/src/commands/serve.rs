//! `throughline serve`: opens the folder, the port and the socket, and closes them in order.
//!
//! Scripts rely on the first line of standard output being the sign-in link, and on `server.json` being there by then.

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

use crate::cli;
use crate::config::Config;
use crate::data_dir::{DataDir, ServerFile, write_private};
use crate::host::{Address, Host, Purpose};
use crate::terminal::{self, safe};
use crate::{hint, link, log};

/// What a Unix socket's path may have on Linux.
const MAX_SOCKET_PATH_BYTES: usize = 107;
/// How long all of stopping may take; what is not settled by then the next start settles.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// More open files than this are not asked for.
const MAX_OPEN_FILES: u64 = 1 << 20;
/// So many are never connections.
const RESERVED_FILES: u64 = 1_024;

const STORE_FAILED: &str = "the store can not be written any more, so the server has stopped; what was acknowledged is \
                            kept. See that the disk is sound and has room, then start again";

/// Serves until it is told to stop. The link that it prints offers a session in `directory`.
pub(super) async fn run(data: &DataDir, serve: &cli::Serve, directory: Option<&str>) -> Result<()> {
    log::start()?;
    // A limit on the size of files is to be an error of the write that meets it, not the end of the process. The handler
    // stays when this is dropped.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    let mut config = Config::load(&data.config())?;
    config.limits.connections = config.limits.connections.min(room_for_connections(raise_open_files()));
    if let Some(listen) = serve.listen {
        config.server.listen = listen;
    }
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
    let apps = host.apps(&config, data, Address { url: url.clone(), local_only }, stopping.clone())?;
    let for_agents = listen_for_agents(&transport, bound, config.server.mcp_listen).await?;
    let reach = for_agents.as_ref().unwrap_or(&listener).local_addr()?;
    host.engine.mount_at(server::mcp_url(reach));
    match host.engine.finish_clicks().await {
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
    // Without one of them the server is no longer whole.
    let all = async { tokio::try_join!(tcp, unix, for_agents) };
    tokio::pin!(all);

    if !server::HAS_PAGE {
        terminal::remark(
            "this build has no page: it was made with THROUGHLINE_SKIP_WEB=1. `cargo build --release` without that \
             variable makes one that has; everything else works",
        );
    }
    // Before the first line is out: whoever reads it may end us at once, and that is to be clean too.
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
        // Sessions settle while their sockets still listen, so that what they say last is heard; then the sockets are
        // told goodbye, and only then may the store go.
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
        // Dropping the store would wait for its threads, however long a disk holds them up.
        std::mem::forget(Arc::clone(&host.store));
    }
    for file in [data.server_file(), data.socket()] {
        // A file that is gone already is as it should be.
        drop(fs::remove_file(file));
    }
    served
}

async fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("could not listen on {address}; choose another with --listen, for instance 127.0.0.1:0 for a free port")
    })
}

/// A listener of their own for agents, where one is wanted, or where the one that people use is not plain HTTP on loopback.
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

/// We own the store, so a socket that lies here was left by a server that is gone.
fn bind_socket(path: &Path) -> Result<UnixListener> {
    if path.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
        bail!("{} is too long for a socket; choose a shorter --data-dir", path.display());
    }
    drop(fs::remove_file(path));
    let socket = UnixListener::bind(path).with_context(|| format!("could not listen on {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Browsers refuse it, but it is no reason not to serve: after a reset the clock may be wrong, not the certificate.
fn warn_of_expired(transport: &Transport) {
    let Transport::Tls(settings) = transport else { return };
    let now = jiff::Timestamp::from_millisecond(SystemClock.now().as_millis()).unwrap_or_default();
    let now = now.strftime("%Y%m%d%H%M%SZ").to_string();
    if let Some(until) = settings.valid_until().filter(|until| **until < *now) {
        tracing::warn!(until, "the certificate has expired, so browsers will refuse it: renew it, or set the clock");
    }
}

/// Lets this process open as many files as it may, and gives back how many that are. Agents get their own limit from their
/// supervisor.
fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Some systems allow a billion, and kernel tables grow with the number that is in use.
    let wanted = maximum.unwrap_or(MAX_OPEN_FILES).min(MAX_OPEN_FILES);
    let raised = current.is_some_and(|current| current < wanted)
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok();
    if raised { wanted } else { current.unwrap_or(wanted) }
}

/// How many of the open files may be connections: the store, the index, the command line and agents need some as well.
fn room_for_connections(open_files: u64) -> usize {
    let reserve = RESERVED_FILES.min(open_files / 2);
    usize::try_from(open_files - reserve).unwrap_or(usize::MAX)
}

/// The address that people open: never one that other machines could reach unguarded.
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

/// Prints the link where it may block: whoever reads standard output, or does not, holds up nothing and ends nothing.
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

/// What a process is sent that writes past a limit on the size of its files; its default is death.
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

/// Ctrl+C, what service managers send, and the end of the terminal.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None where whoever started us wants it ignored, as `nohup` does.
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

/// The kernel tells it as a mask, in which the lowest bit is this signal. Elsewhere than on Linux it is not known.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
