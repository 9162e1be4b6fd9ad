//! T12, T13: how many connections, and from where.
//!
//! Invariant: a connection over a cap is closed without a byte, and a place that was given back is given again.

use doors::{BindError, Limits, ServeError, Transport, serve_tcp};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Answer, BEARER, DEADLINE, Events, House, app};

const STRANGER: &str = "GET /healthz\nHost: localhost:PORT";
const KNOWN: &str = "GET /api/who\nHost: localhost:PORT\nAuthorization: Bearer person-token";

/// A connection that has been answered once and stays open.
async fn settled(house: &House, request: &str) -> TcpStream {
    let mut stream = house.connect().await;
    let request = String::from_utf8(house.bytes(request)).unwrap().replace("Connection: close\r\n", "");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::read_one(&mut stream).await.summary(), "200");
    stream
}

async fn is_served(house: &House) -> bool {
    house.ask(STRANGER).await.status() == "200"
}

async fn is_closed(mut stream: TcpStream) -> bool {
    Answer::read(&mut stream).await.summary() == "closed"
}

#[tokio::test]
async fn all_who_are_known_together_have_a_cap() {
    let house = House::with(Limits { max_connections: 2, ..Limits::default() }).await;
    let first = settled(&house, KNOWN).await;
    let _second = settled(&house, &KNOWN.replace("person", "agent")).await;
    assert!(!is_served(&house).await);
    drop(first);
    timeout(DEADLINE, async { while !is_served(&house).await {} }).await.expect("the place is given back");
    house.close().await;
}

#[tokio::test]
async fn one_credential_has_a_cap_and_others_do_not_share_it() {
    let house = House::with(Limits { max_connections_per_principal: 1, ..Limits::default() }).await;
    let _first = settled(&house, KNOWN).await;
    let agent = KNOWN.replace("person", "agent");
    house
        .check(&[
            ("a second connection", KNOWN, "429 too_many_connections"),
            ("the page with it", &format!("GET /\nHost: localhost:PORT\n{BEARER}"), "429 too_many_connections"),
            ("another credential", &agent, "200"),
            ("none", STRANGER, "200"),
        ])
        .await;
    house.close().await;
}

/// T13: whoever has a credential gets in, however many without one are there, and from the same address.
#[tokio::test]
async fn the_oldest_stranger_gives_way_to_a_newcomer() {
    let house = House::with(Limits { max_strangers: 2, ..Limits::default() }).await;
    let mut known = settled(&house, KNOWN).await;
    let silent = house.connect().await;
    let answered = settled(&house, STRANGER).await;
    let dripping = settled(&house, STRANGER).await;
    assert!(is_closed(silent).await);
    house.check(&[("known", KNOWN, "200"), ("the page", STRANGER, "200")]).await;
    assert!(is_closed(answered).await);
    drop(dripping);
    // It has a place of its own, and can still be used.
    known.write_all(&house.bytes(KNOWN)).await.unwrap();
    assert_eq!(Answer::read(&mut known).await.summary(), "200");
    house.close().await;
}

#[tokio::test]
async fn an_upgraded_connection_keeps_its_place() {
    let house = House::with(Limits { max_connections: 1, ..Limits::default() }).await;
    let (live, _) = house.live(BEARER).await;
    for _ in 0..20 {
        assert!(!is_served(&house).await);
    }
    drop(live);
    timeout(DEADLINE, async { while !is_served(&house).await {} }).await.expect("the place is given back");
    house.close().await;
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
