//! T09: the Unix socket and the stream inside of the process.
//!
//! Invariant: the peer's uid is the credential there, and no request with a browser's headers is served.

use std::os::unix::fs::MetadataExt as _;

use doors::{Limits, serve_stream, serve_unix};
use tokio::{
    io::AsyncWriteExt as _,
    net::{UnixListener, UnixStream},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{BEARER, COOKIE, DEADLINE, Events, HttpResponse, PROOF, app, to_bytes};

struct Socket {
    directory: tempfile::TempDir,
    shutdown: CancellationToken,
    listener: JoinSet<()>,
}

impl Socket {
    fn expecting(choose: impl Fn(u32) -> u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let uid = directory.path().metadata().unwrap().uid();
        let listener = UnixListener::bind(directory.path().join("server.sock")).unwrap();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve_unix(listener, choose(uid), app(Limits::default(), &Events::new()), shutdown.clone()));
        Self { directory, shutdown, listener: tasks }
    }

    async fn ask(&self, request: &str) -> HttpResponse {
        let mut stream = UnixStream::connect(self.directory.path().join("server.sock")).await.unwrap();
        drop(stream.write_all(&to_bytes(request)).await);
        HttpResponse::read(&mut stream).await
    }

    async fn close(mut self) {
        self.shutdown.cancel();
        timeout(DEADLINE, self.listener.join_next()).await.expect("the listener ends").unwrap().unwrap();
    }
}

#[tokio::test]
async fn our_own_uid_is_let_in_without_a_token() {
    let socket = Socket::expecting(|own| own);
    for (name, request, expected) in [
        ("peer", "GET /api/who\nHost: throughline".to_owned(), "200"),
        ("peer by the other name", "GET /api/who\nHost: localhost".to_owned(), "200"),
        ("a bearer still counts", format!("GET /api/who\nHost: throughline\n{BEARER}"), "200"),
        (
            "a wrong bearer is not the peer",
            "GET /api/who\nHost: throughline\nAuthorization: Bearer no".to_owned(),
            "401 unauthenticated",
        ),
        ("other name", "GET /api/who\nHost: desk.example".to_owned(), "403 host_not_allowed"),
        ("a port", "GET /api/who\nHost: localhost:80".to_owned(), "403 host_not_allowed"),
        ("own origin", "GET /api/who\nHost: localhost\nOrigin: http://localhost".to_owned(), "403 origin_not_allowed"),
        ("referer", "GET /\nHost: localhost\nReferer: http://localhost/".to_owned(), "403 origin_not_allowed"),
        ("foreign fetch", "GET /\nHost: localhost\nSec-Fetch-Site: cross-site".to_owned(), "403 cross_site"),
        (
            "a browser's cookie",
            format!("GET /api/who\nHost: localhost\n{COOKIE}\n{PROOF}"),
            "400 ambiguous_credentials",
        ),
    ] {
        let answer = socket.ask(&request).await;
        assert_eq!(answer.summary(), expected, "{name}: {}", answer.text);
        answer.assert_hardened();
    }
    assert_eq!(socket.ask("GET /api/who\nHost: throughline").await.body(), "peer");
    assert_eq!(socket.ask(&format!("GET /api/who\nHost: throughline\n{BEARER}")).await.body(), "person");
    socket.close().await;
}

#[tokio::test]
async fn another_uid_is_closed_at_once() {
    let socket = Socket::expecting(|own| own + 1);
    for request in ["GET /healthz\nHost: throughline", &format!("GET /api/who\nHost: throughline\n{BEARER}")] {
        assert_eq!(socket.ask(request).await.text, "");
    }
    socket.close().await;
}

#[tokio::test]
async fn a_stream_in_the_process_is_served_like_the_socket() {
    let (mut client, server) = tokio::io::duplex(4_096);
    let mut serving = JoinSet::new();
    serving.spawn(serve_stream(server, app(Limits::default(), &Events::new()), CancellationToken::new()));
    client.write_all(&to_bytes("GET /api/who\nHost: throughline")).await.unwrap();
    let answer = HttpResponse::read_one(&mut client).await;
    assert_eq!((answer.summary().as_str(), answer.body()), ("200", "peer"));
    drop(client);
    timeout(DEADLINE, serving.join_next()).await.expect("it ends with its stream").unwrap().unwrap();
}
