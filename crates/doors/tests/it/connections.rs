//! T12, T13: how many connections, and from where.
//!
//! Invariant: a connection over a cap is closed without a byte, and a place that was given back is given again.

use doors::{BindError, Limits, ServeError, Transport, serve_tcp};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Answer, BEARER, DEADLINE, Events, House, app};

/// A connection that has been accepted for certain, because it was answered.
async fn settled(house: &House, mut stream: TcpStream) -> TcpStream {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", house.address.port());
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::read_one(&mut stream).await.summary(), "200");
    stream
}

async fn connect_from(house: &House, source: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    socket.connect(house.address).await.unwrap()
}

async fn is_served(house: &House) -> bool {
    house.ask("GET /healthz\nHost: localhost:PORT").await.status() == "200"
}

#[tokio::test]
async fn one_address_has_a_cap_and_others_do_not_share_it() {
    let house = House::with(Limits { max_connections_per_source: 2, ..Limits::default() }).await;
    let first = settled(&house, house.connect().await).await;
    let _second = settled(&house, house.connect().await).await;
    assert!(!is_served(&house).await);
    let _elsewhere = settled(&house, connect_from(&house, "127.0.0.2").await).await;
    drop(first);
    timeout(DEADLINE, async { while !is_served(&house).await {} }).await.expect("the place is given back");
    house.close().await;
}

#[tokio::test]
async fn all_addresses_together_have_a_cap() {
    let house = House::with(Limits { max_connections: 2, ..Limits::default() }).await;
    let first = settled(&house, connect_from(&house, "127.0.0.2").await).await;
    let _second = settled(&house, connect_from(&house, "127.0.0.3").await).await;
    assert!(!is_served(&house).await);
    drop(first);
    timeout(DEADLINE, async { while !is_served(&house).await {} }).await.expect("the place is given back");
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
