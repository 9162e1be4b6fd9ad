//! Tests providers that answer badly or not at all: each gives an error, and none blocks the server.

use std::pin::pin;
use std::time::Duration;

use agents::provider::{MAX_ASK_BYTES, Provider, ProviderError, ProviderKind, ProviderRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::stage::{ASK, KEY, Play, Stage, json, provider};

/// The error for a person, checked to hold nothing secret.
async fn told(provider: &Provider) -> String {
    let err = provider.ask(&ASK).await.unwrap_err();
    let told = err.to_string();
    assert!(!format!("{err:?} {told}").contains(KEY), "{err:?}");
    assert!(!told.contains(char::is_control), "{told:?}");
    assert!(told.len() < 1_000, "{told}");
    told
}

#[tokio::test]
async fn bad_answers_are_told_apart() {
    let words = |text: &str| format!(r#"{{"choices":[{{"message":{{"content":{text}}},"finish_reason":"stop"}}]}}"#);
    let html = |status| Play {
        status,
        headers: vec![("content-type", "text/html".to_owned())],
        body: "<html><script>alert(1)</script></html>".into(),
    };
    let elsewhere = |status| Play {
        status,
        headers: vec![("location", "https://elsewhere.example/v1/chat/completions".to_owned())],
        body: "".into(),
    };
    let unnamed = Play { status: 200, headers: vec![], body: words(r#""Fix""#).into() };
    let cases = [
        ("html", html(200)),
        ("html of a proxy", html(502)),
        ("no content type", unnamed),
        ("no JSON", json(200, "{")),
        ("other JSON", json(200, r#"{"hello":"world"}"#)),
        ("null", json(200, "null")),
        ("deep", json(200, "[".repeat(60_000))),
        ("not UTF-8", json(200, &b"{\"choices\":[{\"message\":{\"content\":\"\xff\xfe\"}}]}"[..])),
        ("a megabyte", json(200, words(&format!("\"{}\"", "x".repeat(1 << 20))))),
        ("an empty body", json(200, "")),
        ("empty words", json(200, words(r#"" \n""#))),
        ("null words", json(200, words("null"))),
        ("no choices", json(200, r#"{"choices":[]}"#)),
        ("a number", json(200, words("7"))),
        ("a failure that looks well", json(200, r#"{"error":{"message":"no such model","code":404}}"#)),
        ("a redirect", elsewhere(302)),
        ("a redirect that keeps the method", elsewhere(308)),
        ("wrong key", json(401, format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#))),
        ("no such model", json(404, r#"{"error":{"message":"no \u001b[31msuch\nmodel\u202e"}}"#)),
        ("too often", json(429, r#"{"error":{"message":"Rate limit reached"}}"#)),
        ("trouble", json(500, r#"{"error":"overloaded"}"#)),
        ("a megabyte of trouble", json(500, "x".repeat(1 << 20))),
        ("a list of faults", json(422, r#"{"detail":[{"loc":["body"],"msg":"wrong"}]}"#)),
        ("nothing to say", json(204, "")),
        ("a teapot", json(418, r#"{"error":{"message":""}}"#)),
    ];
    let mut all = String::new();
    for (name, play) in cases {
        let stage = Stage::open([play]).await;
        all += &format!("{name}: {}\n", told(&stage.provider(ProviderKind::OpenAi, "/v1")).await);
        assert_eq!(stage.heard().len(), 1, "{name}");
    }
    insta::assert_snapshot!(all, @r"
    html: the provider's answer is not what its kind answers: look whether its kind and its address are right
    html of a proxy: the provider refused with status 502: it has trouble of its own; try again later
    no content type: the provider's answer is not what its kind answers: look whether its kind and its address are right
    no JSON: the provider's answer is not what its kind answers: look whether its kind and its address are right
    other JSON: the provider's answer is not what its kind answers: look whether its kind and its address are right
    null: the provider's answer is not what its kind answers: look whether its kind and its address are right
    deep: the provider's answer is not what its kind answers: look whether its kind and its address are right
    not UTF-8: the provider's answer is not what its kind answers: look whether its kind and its address are right
    a megabyte: the provider's answer is too large for a line: look whether its address is right
    an empty body: the provider's answer is not what its kind answers: look whether its kind and its address are right
    empty words: the model said nothing: choose one that answers short questions
    null words: the model said nothing: choose one that answers short questions
    no choices: the provider's answer is not what its kind answers: look whether its kind and its address are right
    a number: the provider's answer is not what its kind answers: look whether its kind and its address are right
    a failure that looks well: the provider refused with status 200 (no such model): look whether the model's name is right
    a redirect: the provider sends elsewhere (status 302), and it is not followed: configure the address it sends to
    a redirect that keeps the method: the provider sends elsewhere (status 308), and it is not followed: configure the address it sends to
    wrong key: the provider refused with status 401 (Incorrect API key provided: [secret]): look whether the key is right and may use the model
    no such model: the provider refused with status 404 (no [31msuch model): look whether the address and the model's name are right
    too often: the provider refused with status 429 (Rate limit reached): its limit is reached; wait, or raise it there
    trouble: the provider refused with status 500 (overloaded): it has trouble of its own; try again later
    a megabyte of trouble: the provider refused with status 500: it has trouble of its own; try again later
    a list of faults: the provider refused with status 422: look whether the model's name is right
    nothing to say: the provider's answer is not what its kind answers: look whether its kind and its address are right
    a teapot: the provider refused with status 418: look whether the model's name is right
    ");
}

/// Sends bytes that no HTTP server sends: reads a request, sends them, and closes.
struct Raw {
    port: u16,
    _tasks: JoinSet<()>,
}

impl Raw {
    async fn open(said: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut stream = hear(&listener).await;
            stream.write_all(&said).await.ok();
            stream.shutdown().await.ok();
        });
        Self { port, _tasks: tasks }
    }
}

/// Reads the beginning of the next request.
async fn hear(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let read = stream.read(&mut [0; 4096]).await.unwrap();
    assert!(read > 0, "nothing was asked");
    stream
}

fn at(port: u16) -> Provider {
    provider(ProviderKind::OpenAi, &format!("http://127.0.0.1:{port}/v1"))
}

#[tokio::test]
async fn what_is_no_http_breaks_off() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let cases: [(&str, Vec<u8>); 8] = [
        ("closed at once", vec![]),
        ("no HTTP", b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        ("closed in the head", b"HTTP/1.1 200 OK\r\ncontent-".to_vec()),
        ("closed in the body", format!("{head}content-length: 100\r\n\r\n{{\"choices\":").into_bytes()),
        ("closed in a chunk", format!("{head}transfer-encoding: chunked\r\n\r\nff\r\n{{\"ch").into_bytes()),
        ("a chunk that is none", format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\n{{}}\r\n").into_bytes()),
        ("a head without end", format!("{head}{}", "x-more: of it\r\n".repeat(100_000)).into_bytes()),
        ("a line without end", format!("{head}x-long: {}", "x".repeat(1 << 20)).into_bytes()),
    ];
    let mut all = String::new();
    for (name, said) in cases {
        let raw = Raw::open(said).await;
        all += &format!("{name}: {}\n", told(&at(raw.port)).await);
    }
    insta::assert_snapshot!(all, @r"
    closed at once: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    no HTTP: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    closed in the head: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    closed in the body: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    closed in a chunk: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    a chunk that is none: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    a head without end: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    a line without end: the provider broke off or does not speak HTTP: try again later, or look whether its address is right
    ");
}

#[tokio::test]
async fn a_length_that_is_not_kept_is_not_believed() {
    let said = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999999999\r\n\r\n";
    let raw = Raw::open([said.as_bytes(), &vec![b'x'; 1 << 20]].concat()).await;
    let err = at(raw.port).ask(&ASK).await.unwrap_err();
    assert!(matches!(err, ProviderError::TooLarge), "{err:?}");
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let err = at(port).ask(&ASK).await.unwrap_err();
    assert!(err.is_unavailable(), "{err:?}");
    assert_eq!(
        err.to_string().replace(&port.to_string(), "PORT"),
        "the provider at http://127.0.0.1:PORT/v1 can not be reached: look whether it runs and whether its address is right"
    );
}

/// Lets the paused clock advance by itself once the request has arrived; `slow` is what the provider does from then
/// on.
async fn told_after_the_limit<S: Future<Output = ()> + Send + 'static>(
    slow: impl FnOnce(TcpStream) -> S + Send + 'static,
) -> ProviderError {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hears) = oneshot::channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let stream = hear(&listener).await;
        heard.send(()).unwrap();
        slow(stream).await;
    });
    let provider = at(port);
    let mut asking = pin!(provider.ask(&ASK));
    tokio::select! {
        early = &mut asking => panic!("{early:?}"),
        heard = hears => heard.unwrap(),
    }
    tokio::time::pause();
    asking.await.unwrap_err()
}

#[tokio::test]
async fn silence_ends_at_the_limit() {
    let err = told_after_the_limit(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    });
    assert!(matches!(err.await, ProviderError::TimedOut));
}

#[tokio::test]
async fn an_answer_that_drips_ends_at_the_limit() {
    let err = told_after_the_limit(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n").await.unwrap();
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    assert!(matches!(err.await, ProviderError::TimedOut));
}

#[tokio::test]
async fn a_head_that_drips_ends_at_the_limit() {
    let err = told_after_the_limit(|mut stream| async move {
        while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    assert!(matches!(err.await, ProviderError::TimedOut));
}

#[tokio::test]
async fn a_key_that_is_said_back_as_words_is_not_passed_on() {
    let said = format!(r#"{{"choices":[{{"message":{{"content":"Use {KEY} here\u001b[2J"}}}}]}}"#);
    let stage = Stage::open([json(200, said)]).await;
    let words = stage.provider(ProviderKind::OpenAi, "/v1").ask(&ASK).await.unwrap();
    assert_eq!(words, "Use [secret] here\u{1b}[2J");
}

#[tokio::test]
async fn a_question_without_measure_is_not_sent() {
    let stage = Stage::open([]).await;
    let user = "x".repeat(MAX_ASK_BYTES);
    let err =
        stage.provider(ProviderKind::OpenAi, "/v1").ask(&ProviderRequest { user: &user, ..ASK }).await.unwrap_err();
    assert!(matches!(err, ProviderError::AskTooLarge), "{err:?}");
    assert!(stage.heard().is_empty());
}

#[test]
fn a_provider_shows_no_key() {
    let shown = format!("{:#?}", at(1));
    assert!(!shown.contains(KEY), "{shown}");
    assert!(shown.contains("small-1") && shown.contains("[secret]"), "{shown}");
}
