//! How a listener ends.
//!
//! Invariant: running requests may finish within the drain time, and after it nothing of the listener is left.

use doors::Limits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::support::{Answer, BEARER, DEADLINE, House, SHORT, happens};

#[tokio::test]
async fn a_running_request_is_answered_and_then_all_is_closed() {
    let mut house = House::open().await;
    let mut idle = house.connect().await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", house.address.port());
    idle.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::read_one(&mut idle).await.summary(), "200");

    let hold = format!("GET /api/hold\nHost: localhost:PORT\n{BEARER}");
    let (held, ()) = tokio::join!(house.ask(&hold), async {
        happens(&house.events.entered).await;
        house.shutdown.cancel();
        assert_eq!(Answer::read(&mut idle).await.text, "", "idle connections close at once");
        house.events.release.add_permits(1);
    });
    assert_eq!(held.summary(), "200");
    house.ended().await;
    assert!(TcpStream::connect(house.address).await.is_err(), "nothing listens");
}

#[tokio::test]
async fn what_outlasts_the_drain_is_cut() {
    let mut house = House::with(Limits { drain_timeout: SHORT, ..Limits::default() }).await;
    let mut held = house.connect().await;
    held.write_all(&house.bytes(&format!("GET /api/hold\nHost: localhost:PORT\n{BEARER}"))).await.unwrap();
    happens(&house.events.entered).await;

    let mut live = house.connect().await;
    let upgrade = format!(
        "GET /api/live HTTP/1.1\r\nHost: localhost:{}\r\n{BEARER}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        house.address.port()
    );
    live.write_all(upgrade.as_bytes()).await.unwrap();
    assert_eq!(Answer::read_one(&mut live).await.status(), "101");

    house.shutdown.cancel();
    house.ended().await;
    assert_eq!(Answer::read(&mut held).await.text, "");
    let mut rest = Vec::new();
    drop(timeout(DEADLINE, live.read_to_end(&mut rest)).await.expect("the upgraded connection is cut too"));
}
