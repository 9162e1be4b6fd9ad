//! `embed_media`: cards of media elsewhere, whose picture is kept here.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use agents::embed::{Embeds, StagedNetwork};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

use crate::outputs::{listed, showing};
use crate::support::World;

const VIDEO: &str = "https://youtu.be/dQw4w9WgXcQ?si=x";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0 a picture";
const SVG: &[u8] = b"<svg onload='alert(1)'/>";
/// An address of the public web, behind which the staged site stands.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));

/// YouTube as far as its certificate goes, on this machine.
async fn site(status: u16, said: Value, picture: &'static [u8]) -> (Embeds, JoinSet<()>) {
    slow_site(status, said, picture, None).await
}

/// A site that answers once it is let.
struct Held {
    asked: Notify,
    go: Notify,
}

async fn slow_site(status: u16, said: Value, picture: &'static [u8], held: Option<Arc<Held>>) -> (Embeds, JoinSet<()>) {
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/fixtures").join(name);
    let certificate = CertificateDer::from_pem_file(fixture("providers-cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(fixture("providers-key.pem")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let names = ["www.youtube.com", "i.ytimg.com"].map(|name| (name.to_owned(), vec![PUBLIC])).into();
    let servers = [(PUBLIC, listener.local_addr().unwrap())].into();
    let network = StagedNetwork { names, servers, certificates: vec![certificate.to_vec()] };
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut request = vec![0; 8_192];
            let count = stream.read(&mut request).await.unwrap();
            if let Some(held) = &held {
                held.asked.notify_one();
                held.go.notified().await;
            }
            let is_picture = String::from_utf8_lossy(&request[..count]).contains("host: i.ytimg.com\r\n");
            let (status, body) =
                if is_picture { (200, picture.to_vec()) } else { (status, said.to_string().into_bytes()) };
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
            stream.shutdown().await.ok();
        }
    });
    (Embeds::staged(network), tasks)
}

fn said() -> Value {
    json!({
        "title": "A \u{202e}title\nin two",
        "author_name": "Ada",
        "html": "<script>alert(1)</script>",
        "thumbnail_url": "https://i.ytimg.com/vi/dQw4w9WgXcQ/hq.jpg",
    })
}

/// What is shown belongs to the turn in which it was asked for, and to no other.
#[tokio::test]
async fn a_card_whose_turn_has_ended_meanwhile_is_not_shown_in_the_next() {
    let held = Arc::new(Held { asked: Notify::new(), go: Notify::new() });
    let (embeds, _site) = slow_site(200, said(), JPEG, Some(Arc::clone(&held))).await;
    let world = World::embedding(embeds).await;
    let (session, _, agent) = showing(&world).await;
    let next_turn = async {
        held.asked.notified().await;
        world.call(&format!("POST /api/v1/sessions/{session}/cancel"), json!({})).await;
        world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
        let prompt = json!({ "text": "slow 60" });
        world.call(&format!("POST /api/v1/sessions/{session}/prompts"), prompt).await.ok(202);
        world.until_entry(&session, |entry| entry["type"] == "turn.started" && entry["data"]["turn"] == 2).await;
        held.go.notify_one();
        held.go.notify_one();
    };
    let (answer, ()) = tokio::join!(agent.call("embed_media", json!({ "url": VIDEO })), next_turn);
    assert!(answer.starts_with("FAILED "), "{answer}");
    assert_eq!(listed(&world, &session).await, Vec::<Value>::new());
    world.close().await;
}

#[tokio::test]
async fn a_card_keeps_the_sites_words_and_its_picture() {
    let (embeds, _site) = site(200, said(), JPEG).await;
    let world = World::embedding(embeds).await;
    let (session, _, agent) = showing(&world).await;
    let answer = agent.call("embed_media", json!({ "url": VIDEO })).await;
    let outputs = listed(&world, &session).await;
    let id = outputs[0]["id"].as_str().unwrap();
    let url = "https://www.youtube.com/watch?v=dQw4w9WgXcQ";
    assert_eq!(answer, format!("[output:{id}] The person sees a card of {url} (YouTube, \"A title in two\")."));
    for (key, value) in [
        ("type", "embed"),
        ("mimeType", "image/jpeg"),
        ("url", url),
        ("provider", "YouTube"),
        ("title", "A title in two"),
        ("author", "Ada"),
    ] {
        assert_eq!(outputs[0][key], value, "{key}");
    }
    let picture = world.get(&format!("/api/v1/sessions/{session}/outputs/{id}")).await;
    assert_eq!((picture.body.as_ref(), picture.header("content-type")), (JPEG, Some("image/jpeg")));
    let entries = serde_json::to_string(&world.entries(&session).await).unwrap();
    assert!(!entries.contains("alert(1)"), "markup of a site is kept nowhere");
    // A saved page carries the picture too, and where that is gone, the card still leads there.
    let export = format!("/api/v1/sessions/{session}/export?as=html");
    let card = format!("<div><a href=\"{url}\"");
    let drawn = format!("<img src=\"data:image/jpeg;base64,{}\" alt=\"\">{card}", BASE64_STANDARD.encode(JPEG));
    let html = world.get(&export).await.text();
    assert!(html.contains(&drawn), "{html}");
    let kept = world.directory.path().join("sessions").join(&session).join("outputs").join(format!("{id}.jpg"));
    fs::remove_file(kept).unwrap();
    let html = world.get(&export).await.text();
    assert!(html.contains("its bytes are gone") && html.contains(&card) && !html.contains("<img"), "{html}");
    world.close().await;
}

#[tokio::test]
async fn without_a_network_or_a_picture_it_is_a_plain_link() {
    let (silent, _site) = site(503, json!({}), JPEG).await;
    let (drawn, _other) = site(200, said(), SVG).await;
    for (embeds, title) in [(Embeds::offline(), Value::Null), (silent, Value::Null), (drawn, json!("A title in two"))] {
        let world = World::embedding(embeds).await;
        let (session, _, agent) = showing(&world).await;
        let answer = agent.call("embed_media", json!({ "url": VIDEO })).await;
        assert!(answer.starts_with("[output:out_"), "{answer}");
        let output = &listed(&world, &session).await[0];
        assert_eq!((&output["type"], &output["title"]), (&json!("embed"), &title));
        let path = format!("/api/v1/sessions/{session}/outputs/{}", output["id"].as_str().unwrap());
        assert_eq!(world.get(&path).await.text(), "https://www.youtube.com/watch?v=dQw4w9WgXcQ\n");
        world.close().await;
    }
}

#[tokio::test]
async fn what_has_no_card_is_an_error_that_names_the_sites() {
    let (embeds, _site) = site(404, json!({}), JPEG).await;
    let world = World::embedding(embeds).await;
    let (session, _, agent) = showing(&world).await;
    for url in
        ["https://example.com/video", "http://youtu.be/dQw4w9WgXcQ", "https://127.0.0.1/watch", "file:///etc/passwd"]
    {
        let answer = agent.call("embed_media", json!({ "url": url })).await;
        let names = ["YouTube", "SoundCloud", "Vimeo", "Spotify", "Twitter/X"];
        assert!(answer.starts_with("FAILED") && names.iter().all(|name| answer.contains(name)), "{url}: {answer}");
    }
    let answer = agent.call("embed_media", json!({ "url": VIDEO })).await;
    assert!(answer.contains("YouTube has nothing at"), "{answer}");
    assert_eq!(listed(&world, &session).await, Vec::<Value>::new());
    world.close().await;
}

/// The guide shows a card with what it was lent, and asks nobody.
#[tokio::test]
async fn the_guide_shows_a_card() {
    let world = World::embedding(Embeds::offline()).await;
    world.engine.mount_at(server::mcp_url(world.address));
    let session = world.session().await;
    world.turn(&session, "embed https://vimeo.com/76979871").await;
    let output = &listed(&world, &session).await[0];
    assert_eq!((&output["type"], &output["provider"]), (&json!("embed"), &json!("Vimeo")));
    let markdown = world.get(&format!("/api/v1/sessions/{session}/markdown")).await.text();
    assert!(markdown.contains("*Shown:* `https://vimeo.com/76979871` *(embed, "), "{markdown}");
    world.close().await;
}
