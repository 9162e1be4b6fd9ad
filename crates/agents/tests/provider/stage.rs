//! A provider on loopback that plays given answers, one a request, and keeps what it received.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use agents::provider::{
    PlainHttp, Provider, ProviderKey, ProviderKind, ProviderRequest, ProviderSettings, ProviderUrl,
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(crate) const KEY: &str = "canary-4711";
pub(crate) const ASK: ProviderRequest<'_> =
    ProviderRequest { system: "One line.", user: "fix it", max_tokens: 50, temperature: 0.3 };

/// An answer with its status and content type.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
}

pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Play {
    Play { status, headers: vec![("content-type", "application/json".to_owned())], body: body.into() }
}

/// The requests as text: the line, the headers that count, the body.
pub(crate) type Heard = Arc<Mutex<Vec<String>>>;

pub(crate) struct Stage {
    pub(crate) port: u16,
    heard: Heard,
    _tasks: JoinSet<()>,
}

impl Stage {
    pub(crate) async fn open(plays: impl IntoIterator<Item = Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let plays = Arc::new(Mutex::new(plays.into_iter().collect::<VecDeque<_>>()));
        let heard = Heard::default();
        let mut tasks = JoinSet::new();
        let heard_there = heard.clone();
        tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let answer = service_fn(|request| perform(request, plays.clone(), heard_there.clone()));
                let connection = hyper::server::conn::http1::Builder::new();
                connection.serve_connection(TokioIo::new(stream), answer).await.ok();
            }
        });
        Self { port, heard, _tasks: tasks }
    }

    pub(crate) fn provider(&self, kind: ProviderKind, path: &str) -> Provider {
        provider(kind, &format!("http://127.0.0.1:{}{path}", self.port))
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

pub(crate) fn provider(kind: ProviderKind, url: &str) -> Provider {
    let url = ProviderUrl::parse(url, PlainHttp::ThisMachineOnly).unwrap();
    let key = Some(ProviderKey::new(KEY).unwrap());
    Provider::new(ProviderSettings { kind, url, model: "small-1".to_owned(), key }).unwrap()
}

async fn perform(
    request: Request<Incoming>,
    plays: Arc<Mutex<VecDeque<Play>>>,
    heard: Heard,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut told = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        if name != "host" && name != "content-length" {
            told += &format!("{name}: {}\n", value.to_str().unwrap());
        }
    }
    told += std::str::from_utf8(&body).unwrap();
    heard.lock().unwrap().push(told);
    let play = plays.lock().unwrap().pop_front().unwrap_or_else(|| json(500, r#"{"error":"nothing left to play"}"#));
    let mut response = Response::builder().status(play.status);
    for (name, value) in play.headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(play.body)).unwrap())
}
