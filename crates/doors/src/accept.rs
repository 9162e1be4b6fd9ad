//! The accept loops.
//!
//! Invariant: every connection is a task that its loop owns. A loop ends only by its shutdown token, never by what a
//! caller does; when it has ended (or was dropped) no connection of it moves a byte, upgraded ones included.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener},
    sync::mpsc,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    arrival::{Channel, Source},
    bind::{BindError, Transport},
    connection::{self, HeldConnection},
    door::GuardedApp,
    stream::Signals,
};

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("could not read the address of the listener")]
    Address(#[source] io::Error),
}

/// Serves until `shutdown`, then gives open connections the drain time to end. Refuses a listener that is exposed
/// without TLS or a proxy, whoever bound it.
pub async fn serve_tcp(
    listener: TcpListener,
    transport: Transport,
    app: GuardedApp,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Address)?;
    transport.may_bind(address)?;
    let mut connections = Connections::new(app, shutdown);
    while let Some((stream, peer)) = connections.next(|| listener.accept()).await {
        let Some(held) = connections.admit(Source::of(peer.ip())) else { continue };
        let channel = Channel::Tcp { peer, bound_port: address.port(), exposure: transport.exposure() };
        // Responses are written whole; waiting to fill a packet would only delay them.
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        match &transport {
            Transport::Plain | Transport::BehindProxy => connections.serve(stream, held, channel),
            Transport::Tls(settings) => connections.serve_tls(stream, held, channel, settings.acceptor.clone()),
        }
    }
    drop(listener);
    connections.drain().await;
    Ok(())
}

/// Like [`serve_tcp`], for processes of one user: a peer with another uid than `expected_uid` is closed before it can
/// send anything. The caller passes its own effective uid and has made the socket with mode 0600.
pub async fn serve_unix(listener: UnixListener, expected_uid: u32, app: GuardedApp, shutdown: CancellationToken) {
    let mut connections = Connections::new(app, shutdown);
    while let Some((stream, _)) = connections.next(|| listener.accept()).await {
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == expected_uid) {
            metrics::counter!("doors_connections_foreign_uid_total").increment(1);
            tracing::warn!("closed a connection of another user to the socket");
            continue;
        }
        let Some(held) = connections.admit(Source::Local) else { continue };
        connections.serve(stream, held, Channel::Local);
    }
    drop(listener);
    connections.drain().await;
}

/// Serves one stream inside of this process as if it had come through the Unix socket, until it ends or `shutdown`.
pub async fn serve_stream<IO>(io: IO, app: GuardedApp, shutdown: CancellationToken)
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut connections = Connections::new(app, shutdown);
    let held = HeldConnection::in_process(connections.alive.clone(), connections.signals.severed.child_token());
    connections.serve(io, held, Channel::Local);
    connections.finish().await;
}

/// The connections of one accept loop.
struct Connections {
    app: GuardedApp,
    tasks: JoinSet<()>,
    signals: Signals,
    alive: mpsc::Sender<()>,
    gone: mpsc::Receiver<()>,
    /// Closes the remaining connections when the loop has drained, and also when its future is dropped half way.
    _sever: DropGuard,
}

impl Connections {
    fn new(app: GuardedApp, shutdown: CancellationToken) -> Self {
        let severed = CancellationToken::new();
        let (alive, gone) = mpsc::channel(1);
        Self {
            app,
            tasks: JoinSet::new(),
            _sever: severed.clone().drop_guard(),
            signals: Signals { ending: shutdown, severed },
            alive,
            gone,
        }
    }

    /// The next accepted stream, or `None` after shutdown.
    async fn next<T, F>(&mut self, accept: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = io::Result<T>>,
    {
        let mut failing = false;
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.signals.ending.cancelled() => return None,
                Some(ended) = self.tasks.join_next() => {
                    report(ended);
                    continue;
                }
                accepted = accept() => accepted,
            };
            match accepted {
                Ok(stream) => return Some(stream),
                Err(error) if is_callers_fault(&error) => (),
                Err(error) => {
                    // Out of descriptors or memory: the pending connection stays queued, and accepting again at once
                    // would spin until another one closes. One log line per run of errors, not twenty a second.
                    if !failing {
                        tracing::warn!(error = &error as &dyn std::error::Error, "can not accept connections");
                    }
                    failing = true;
                    metrics::counter!("doors_accept_errors_total").increment(1);
                    tokio::select! {
                        () = self.signals.ending.cancelled() => return None,
                        () = sleep(self.app.shared.limits.accept_backoff) => (),
                    }
                }
            }
        }
    }

    fn admit(&self, source: Source) -> Option<HeldConnection> {
        HeldConnection::admit(&self.app, source, self.alive.clone(), self.signals.severed.child_token())
    }

    fn serve<IO>(&mut self, io: IO, held: HeldConnection, channel: Channel)
    where
        IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.tasks.spawn(connection::run(io, held, channel, self.app.clone(), self.signals.clone()));
    }

    fn serve_tls(
        &mut self,
        stream: TcpStream,
        held: HeldConnection,
        channel: Channel,
        acceptor: tokio_rustls::TlsAcceptor,
    ) {
        let (app, signals) = (self.app.clone(), self.signals.clone());
        self.tasks.spawn(async move {
            let limits = &app.shared.limits;
            let handshake = tokio::select! {
                () = signals.ending.cancelled() => return,
                () = held.cut.cancelled() => return,
                handshake = timeout(limits.tls_handshake_timeout, acceptor.accept(stream)) => handshake,
            };
            let Ok(Ok(stream)) = handshake else {
                metrics::counter!("doors_tls_handshakes_failed_total").increment(1);
                return;
            };
            connection::run(stream, held, channel, app, signals).await;
        });
    }

    /// Waits for the connections to end by themselves; shutdown bounds the wait.
    async fn finish(mut self) {
        let ending = self.signals.ending.clone();
        tokio::select! {
            () = ending.cancelled() => (),
            () = self.wait_until_idle() => return,
        }
        self.drain().await;
    }

    async fn drain(mut self) {
        let bound = self.app.shared.limits.drain_timeout;
        if timeout(bound, self.wait_until_idle()).await.is_err() {
            tracing::debug!("connections outlasted the drain time and are cut");
            self.tasks.shutdown().await;
        }
    }

    /// Returns when no task runs and no upgraded connection is open.
    async fn wait_until_idle(&mut self) {
        // Our own sender is dropped first, or the channel would never close.
        self.alive = mpsc::channel(1).0;
        while let Some(ended) = self.tasks.join_next().await {
            report(ended);
        }
        while self.gone.recv().await.is_some() {}
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(error = &error as &dyn std::error::Error, "a connection task panicked");
    }
}

/// Whether an error is about one caller and not about us.
fn is_callers_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, sync::Arc};

    use super::*;
    use crate::{AllowedHosts, Door, Gatekeeper, Limits, Presented, Principal, Routes};

    struct Nobody;

    impl Gatekeeper for Nobody {
        fn admit(&self, _presented: &Presented) -> Option<Principal> {
            None
        }

        fn knows_cookie(&self, _cookie: &crate::Secret) -> bool {
            false
        }

        fn cookie_name(&self) -> &str {
            "none"
        }
    }

    /// A real shortage needs a process without descriptors, which would break the tests beside it.
    #[tokio::test]
    async fn running_out_of_descriptors_pauses_the_loop_and_does_not_end_it() {
        const EMFILE: i32 = 24;
        let backoff = std::time::Duration::from_millis(5);
        let limits = Limits { accept_backoff: backoff, ..Limits::default() };
        let app = Door::new(Arc::new(Nobody), AllowedHosts::default(), limits).mount(Routes::default());
        let mut connections = Connections::new(app, CancellationToken::new());
        let outcomes = RefCell::new(vec![
            Ok("stream"),
            Err(io::ErrorKind::ConnectionAborted.into()),
            Err(io::Error::from_raw_os_error(EMFILE)),
            Err(io::Error::from_raw_os_error(EMFILE)),
        ]);
        let started = tokio::time::Instant::now();
        let next = connections.next(|| std::future::ready(outcomes.borrow_mut().pop().expect("not asked again"))).await;
        assert_eq!(next, Some("stream"));
        assert!(started.elapsed() >= backoff * 2, "asking again at once would spin");
    }
}
