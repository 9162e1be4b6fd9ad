//! One client of a server that will fail: it makes a session, sends prompts until one is refused, and follows; then
//! it compares what it saw with what the next server has.

use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::kills::http::{Http, HttpAnswer, Request};
use crate::kills::live::{Frame, Live, SeenEntry};
use crate::kills::server::{Endpoint, Server};

pub(super) struct Story {
    session: String,
    prompts: Vec<(String, Option<HttpAnswer>)>,
    follower: JoinHandle<Vec<SeenEntry>>,
}

impl Story {
    /// Sends prompts until one is not acknowledged. The first keeps the agent busy, so the others wait and each is
    /// one write of its own.
    pub(super) fn run(server: &Server) -> anyhow::Result<Self> {
        let endpoint = server.endpoint();
        let mut http = Http::new(endpoint.clone());
        let session = begin(&mut http)?;
        let (caught_up, follows) = mpsc::channel();
        let follower = thread::spawn({
            let session = session.clone();
            move || follow(&endpoint, &session, &caught_up)
        });
        // Either it follows, or the server is gone already.
        let _either_way = follows.recv();
        let mut prompts: Vec<(String, Option<HttpAnswer>)> = Vec::new();
        loop {
            let text = if prompts.is_empty() { "slow 600".to_owned() } else { format!("say {}", prompts.len()) };
            let answer = http.send(&prompt(&session, &text)).ok();
            let taken = answer.as_ref().is_some_and(HttpAnswer::is_success);
            prompts.push((text, answer));
            if !taken {
                break;
            }
        }
        Ok(Self { session, prompts, follower })
    }

    pub(super) fn acknowledged(&self) -> Vec<&str> {
        let taken = |answer: &Option<HttpAnswer>| answer.as_ref().is_some_and(HttpAnswer::is_success);
        self.prompts.iter().filter(|(_, answer)| taken(answer)).map(|(text, _)| text.as_str()).collect()
    }

    /// The answer to the refused prompt; none if the server was gone.
    pub(super) fn refusal(&self) -> Option<&HttpAnswer> {
        self.prompts.last().and_then(|(_, answer)| answer.as_ref())
    }

    /// R01, R04: everything acknowledged is there, once and in order, and so is everything that was shown.
    pub(super) fn check(self, server: &Server) -> anyhow::Result<()> {
        let entries = entries(&mut Http::new(server.endpoint()), &self.session)?;
        let kept = prompts_of(&entries);
        let told = self.acknowledged();
        ensure!(kept.starts_with(&told), "R01: {told:?} was acknowledged and {kept:?} is kept");
        let asked: Vec<&str> = self.prompts.iter().map(|(text, _)| text.as_str()).collect();
        ensure!(asked.starts_with(&kept), "R01: {asked:?} was asked and {kept:?} is kept");
        // The server that it followed is gone.
        let seen = self.follower.join().expect("a follower does not panic");
        for SeenEntry { seq, entry, .. } in &seen {
            let kept = usize::try_from(*seq).ok().and_then(|seq| entries.get(seq - 1));
            ensure!(kept == Some(entry), "R04: entry {seq} was shown as {entry} and is {kept:?}");
        }
        ensure!(!seen.is_empty(), "the follower saw nothing");
        Ok(())
    }
}

/// Makes a session of the guide that is ready; returns its id.
pub(super) fn begin(http: &mut Http) -> anyhow::Result<String> {
    begin_in(http, Path::new("/usr"))
}

/// The same in this directory.
pub(super) fn begin_in(http: &mut Http, cwd: &Path) -> anyhow::Result<String> {
    let body = json!({ "agent": "guide", "cwd": cwd });
    let request = Request {
        method: "POST",
        path: "/api/v1/sessions".to_owned(),
        body: Some(body.to_string()),
        idempotency_key: None,
    };
    let answer = http.send(&request).context("no session was begun")?;
    ensure!(answer.status == 201, "a session was refused: {}", answer.body);
    let created: Value = serde_json::from_str(&answer.body)?;
    created["id"].as_str().map(str::to_owned).context("a session without an id")
}

/// A prompt whose idempotency key is its beginning.
pub(super) fn prompt(session: &str, text: &str) -> Request {
    let begins: String = text.chars().take(60).map(|c| if c == ' ' { '-' } else { c }).collect();
    Request {
        method: "POST",
        path: format!("/api/v1/sessions/{session}/prompts"),
        body: Some(json!({ "text": text }).to_string()),
        idempotency_key: Some(format!("{session}-{begins}")),
    }
}

/// Every entry of a session.
pub(super) fn entries(http: &mut Http, session: &str) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let page = read(http, &format!("/api/v1/sessions/{session}/entries?after={}&limit=1000", all.len()))?;
        all.extend(page["entries"].as_array().context("a page without entries")?.iter().cloned());
        if page["nextCursor"].is_null() {
            return Ok(all);
        }
    }
}

pub(super) fn read(http: &mut Http, path: &str) -> anyhow::Result<Value> {
    let answer = http.send(&Request::get(path)).with_context(|| format!("no answer to GET {path}"))?;
    ensure!(answer.status == 200, "GET {path} was answered with {} {}", answer.status, answer.body);
    serde_json::from_str(&answer.body).with_context(|| format!("GET {path} gave no JSON"))
}

/// The prompts of a log in order, each once by its id: one that waited appears again when it is sent.
fn prompts_of(entries: &[Value]) -> Vec<&str> {
    let (mut ids, mut texts) = (Vec::new(), Vec::new());
    for data in entries.iter().filter(|entry| entry["data"]["interactionId"].is_string()).map(|entry| &entry["data"]) {
        if let Some(text) = data["text"].as_str()
            && !ids.contains(&&data["interactionId"])
        {
            ids.push(&data["interactionId"]);
            texts.push(text);
        }
    }
    texts
}

/// Follows until the connection breaks.
fn follow(endpoint: &Endpoint, session: &str, caught_up: &mpsc::Sender<()>) -> Vec<SeenEntry> {
    let mut seen = Vec::new();
    let Ok(mut live) = Live::connect(endpoint) else { return seen };
    if live.follow(session, None).is_err() {
        return seen;
    }
    while let Ok(frame) = live.read() {
        match frame {
            Frame::Entry(entry) => seen.push(entry),
            // After the first time nobody waits for it.
            Frame::CaughtUp { .. } => {
                let _nobody_waits = caught_up.send(());
            }
            Frame::Broken(_) | Frame::Other => (),
        }
    }
    seen
}
