//! How a listener ends.
//!
//! Invariant: running requests may finish within the drain time, and after it nothing of the listener is left.

use doors::Limits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::support::{Answer, BEARER, DEADLINE, House, SHORT, happens, hear};

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

    let (mut live, _) = house.live(BEARER).await;
    house.shutdown.cancel();
    house.ended().await;
    assert_eq!(Answer::read(&mut held).await.text, "");
    let mut rest = Vec::new();
    drop(timeout(DEADLINE, live.read_to_end(&mut rest)).await.expect("the upgraded connection is cut too"));
}

#[tokio::test]
async fn an_upgraded_connection_may_say_goodbye() {
    let mut house = House::open().await;
    let (mut live, _) = house.live(BEARER).await;
    house.shutdown.cancel();
    let refused = async { while TcpStream::connect(house.address).await.is_ok() {} };
    timeout(DEADLINE, refused).await.expect("the listener closes first");
    // A text frame "bye" with a mask of zeros.
    live.write_all(&[0x81, 0x83, 0, 0, 0, 0, b'b', b'y', b'e']).await.unwrap();
    assert_eq!(hear(&mut live).await, "bye");
    drop(live);
    house.ended().await;
}
