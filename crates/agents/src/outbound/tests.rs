//! Tests the outbound client against real servers on this machine that answer badly.

use std::future::pending;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

const LIMITS: OutboundLimits =
    OutboundLimits { head: Duration::from_secs(3600), pause: Duration::from_secs(3600), body_bytes: 1 << 20 };

/// A server that reads one request, answers it and keeps the connection open, and a client for it.
async fn answering(head: &str, body: Vec<u8>) -> (OutboundClient, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let said = [head.as_bytes(), &body].concat();
    let mut server = JoinSet::new();
    server.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        stream.write_all(&said).await.ok();
        // The connection never ends.
        pending::<()>().await;
    });
    (OutboundClient::new(Address::parse(&url, AddressRule::ThisMachine).unwrap(), LIMITS).unwrap(), server)
}

async fn ask(client: &OutboundClient) -> Result<HttpResponse, OutboundError> {
    client.send(Method::GET, "/", HeaderMap::new(), Vec::new()).await
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location = elsewhere.local_addr().unwrap();
    for status in [301, 302, 303, 307, 308] {
        let head = format!("HTTP/1.1 {status} Moved\r\nlocation: http://{location}/\r\ncontent-length: 0\r\n\r\n");
        let (client, _server) = answering(&head, Vec::new()).await;
        let err = ask(&client).await.err().unwrap();
        assert!(matches!(err, OutboundError::Redirected { status: told } if told == status), "{err:?}");
    }
    let nobody = futures_util::FutureExt::now_or_never(elsewhere.accept());
    assert!(nobody.is_none(), "somebody followed it");
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_while_it_arrives() {
    let endless = "HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n";
    let (client, _server) = answering(endless, vec![b'x'; LIMITS.body_bytes + 1]).await;
    let err = ask(&client).await.unwrap().body.read().await.unwrap_err();
    assert!(matches!(err, OutboundError::TooLarge { max_bytes } if max_bytes == LIMITS.body_bytes), "{err:?}");

    let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", LIMITS.body_bytes);
    let (client, _server) = answering(&whole, vec![b'x'; LIMITS.body_bytes]).await;
    assert_eq!(ask(&client).await.unwrap().body.read().await.unwrap().len(), LIMITS.body_bytes);
}

#[tokio::test]
async fn a_head_over_the_bound_is_refused() {
    let (client, _server) = answering("HTTP/1.1 200 OK\r\nx-long: ", vec![b'x'; 1 << 20]).await;
    let err = ask(&client).await.err().unwrap();
    assert!(matches!(err, OutboundError::BrokeOff { .. }), "{err:?}");
}

#[tokio::test]
async fn a_path_that_is_too_long_to_be_sent_is_an_error() {
    let (client, _server) = answering("", Vec::new()).await;
    let path = format!("/{}", "x".repeat(70_000));
    let err = client.send(Method::GET, &path, HeaderMap::new(), Vec::new()).await.err().unwrap();
    assert!(matches!(err, OutboundError::Unsendable), "{err:?}");
}

#[tokio::test]
async fn whoever_falls_silent_is_not_waited_for() {
    let (client, _server) = answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", b"x".to_vec()).await;
    let mut body = ask(&client).await.unwrap().body;
    assert_eq!(body.next().await.unwrap().as_deref(), Some(&b"x"[..]));
    // Nothing else is waited for any more, so the paused clock advances by itself.
    tokio::time::pause();
    let err = body.next().await.unwrap_err();
    assert!(matches!(err, OutboundError::TimedOut), "{err:?}");
}

#[tokio::test]
async fn an_address_that_no_rule_allows_is_not_connected_to() {
    let anywhere = AddressRule::Configured(PlainHttp::Anywhere);
    for url in ["http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://224.0.0.1/"] {
        let client = OutboundClient::new(Address::parse(url, anywhere).unwrap(), LIMITS).unwrap();
        let err = ask(&client).await.err().unwrap();
        assert!(matches!(err, OutboundError::NoAddress), "{url}: {err:?}");
    }
}
