//! T12, T13: how many connections are accepted, and from whom.
//!
//! Invariant: a connection over a limit is closed without a byte, and a freed slot is used again.

use doors::{BindError, Limits, ServeError, Transport, serve_tcp};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{BEARER, DEADLINE, Events, HttpResponse, TestServer, app};

const STRANGER: &str = "GET /healthz\nHost: localhost:PORT";
const KNOWN: &str = "GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer person-token";

/// A connection that has been answered once and stays open.
async fn settled(server: &TestServer, request: &str) -> TcpStream {
    let mut stream = server.connect().await;
    let request = String::from_utf8(server.bytes(request)).unwrap().replace("Connection: close\r\n", "");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(HttpResponse::read_one(&mut stream).await.summary(), "200");
    stream
}

async fn is_served(server: &TestServer) -> bool {
    server.ask(STRANGER).await.status() == "200"
}

async fn is_closed(mut stream: TcpStream) -> bool {
    HttpResponse::read(&mut stream).await.summary() == "closed"
}

#[tokio::test]
async fn all_who_are_known_together_have_a_cap() {
    let server = TestServer::with(Limits { max_connections: 2, ..Limits::default() }).await;
    let first = settled(&server, KNOWN).await;
    let _second = settled(&server, &KNOWN.replace("person", "agent")).await;
    assert!(!is_served(&server).await);
    drop(first);
    timeout(DEADLINE, async { while !is_served(&server).await {} }).await.expect("the place is given back");
    server.close().await;
}

#[tokio::test]
async fn one_credential_has_a_cap_and_others_do_not_share_it() {
    let server = TestServer::with(Limits { max_connections_per_principal: 1, ..Limits::default() }).await;
    let _first = settled(&server, KNOWN).await;
    let agent = KNOWN.replace("person", "agent");
    server
        .check(&[
            ("a second connection", KNOWN, "429 too_many_connections"),
            ("the page with it", &format!("GET /\nHost: localhost:PORT\n{BEARER}"), "429 too_many_connections"),
            ("another credential", &agent, "200"),
            ("none", STRANGER, "200"),
        ])
        .await;
    server.close().await;
}

/// T13: a caller with a credential gets in, however many strangers are connected, also from the same address.
#[tokio::test]
async fn the_oldest_stranger_gives_way_to_a_newcomer() {
    let server = TestServer::with(Limits { max_strangers: 2, ..Limits::default() }).await;
    let mut known = settled(&server, KNOWN).await;
    let silent = server.connect().await;
    let answered = settled(&server, STRANGER).await;
    let dripping = settled(&server, STRANGER).await;
    assert!(is_closed(silent).await);
    server.check(&[("known", KNOWN, "200"), ("the page", STRANGER, "200")]).await;
    assert!(is_closed(answered).await);
    drop(dripping);
    // It has a slot of its own, and can still be used.
    known.write_all(&server.bytes(KNOWN)).await.unwrap();
    assert_eq!(HttpResponse::read(&mut known).await.summary(), "200");
    server.close().await;
}

#[tokio::test]
async fn an_upgraded_connection_keeps_its_place() {
    let server = TestServer::with(Limits { max_connections: 1, ..Limits::default() }).await;
    let (live, _) = server.live(BEARER).await;
    for _ in 0..20 {
        assert!(!is_served(&server).await);
    }
    drop(live);
    timeout(DEADLINE, async { while !is_served(&server).await {} }).await.expect("the place is given back");
    server.close().await;
}

#[tokio::test]
async fn an_exposed_listener_is_not_served_in_plain() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = app(Limits::default(), &Events::new());
    let serving = serve_tcp(listener, Transport::Plain, app, CancellationToken::new());
    let refused = timeout(DEADLINE, serving).await.expect("it is refused at once");
    assert!(matches!(refused, Err(ServeError::Bind(BindError::Exposed { address: at })) if at == address));
    assert!(TcpStream::connect(("127.0.0.1", address.port())).await.is_err(), "nothing listens");
}
