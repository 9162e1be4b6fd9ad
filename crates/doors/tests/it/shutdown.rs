//! How a listener ends.
//!
//! Invariant: running requests may finish within the drain time, and after it nothing of the listener is left.

use doors::Limits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::support::{BEARER, DEADLINE, HttpResponse, SHORT, TestServer, happens, read_frame};

#[tokio::test]
async fn a_running_request_is_answered_and_then_all_is_closed() {
    let mut server = TestServer::open().await;
    let mut idle = server.connect().await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.address.port());
    idle.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(HttpResponse::read_one(&mut idle).await.summary(), "200");

    let hold = format!("GET /api/hold\nHost: localhost:PORT\n{BEARER}");
    let (held, ()) = tokio::join!(server.ask(&hold), async {
        happens(&server.events.entered).await;
        server.shutdown.cancel();
        assert_eq!(HttpResponse::read(&mut idle).await.text, "", "idle connections close at once");
        server.events.release.add_permits(1);
    });
    assert_eq!(held.summary(), "200");
    server.ended().await;
    assert!(TcpStream::connect(server.address).await.is_err(), "nothing listens");
}

#[tokio::test]
async fn what_outlasts_the_drain_is_cut() {
    let mut server = TestServer::with(Limits { drain_timeout: SHORT, ..Limits::default() }).await;
    let mut held = server.connect().await;
    held.write_all(&server.bytes(&format!("GET /api/hold\nHost: localhost:PORT\n{BEARER}"))).await.unwrap();
    happens(&server.events.entered).await;

    let (mut live, _) = server.live(BEARER).await;
    server.shutdown.cancel();
    server.ended().await;
    assert_eq!(HttpResponse::read(&mut held).await.text, "");
    let mut rest = Vec::new();
    drop(timeout(DEADLINE, live.read_to_end(&mut rest)).await.expect("the upgraded connection is cut too"));
}

#[tokio::test]
async fn an_upgraded_connection_may_say_goodbye() {
    let mut server = TestServer::open().await;
    let (mut live, _) = server.live(BEARER).await;
    server.shutdown.cancel();
    let refused = async { while TcpStream::connect(server.address).await.is_ok() {} };
    timeout(DEADLINE, refused).await.expect("the listener closes first");
    // A text frame "bye" with a mask of zeros.
    live.write_all(&[0x81, 0x83, 0, 0, 0, 0, b'b', b'y', b'e']).await.unwrap();
    assert_eq!(read_frame(&mut live).await, "bye");
    drop(live);
    server.ended().await;
}
