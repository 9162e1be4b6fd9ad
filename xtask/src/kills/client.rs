//! One client of a cycle: it creates, prompts, renames, has files and pictures shown and removes them without pause, follows what
//! it touches, and records every answer, until the server is gone.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread;

use fastrand::Rng;
use serde_json::{Value, json};

use super::http::{Http, Request};
use super::ledger::{Change, ClientNumber, Outcome, RecordedRequest, Report};
use super::live::{Frame, Live, SeenEntry};
use super::promises::Violation;
use super::server::Endpoint;

pub(super) struct Plan {
    pub(super) number: ClientNumber,
    pub(super) cycle: u32,
    /// The working directory of its sessions.
    pub(super) cwd: PathBuf,
    /// Sessions to continue with, each with the cursor to follow from.
    pub(super) sessions: Vec<(String, Option<String>)>,
}

pub(super) struct Client {
    plan: Plan,
    endpoint: Endpoint,
    http: Http,
    random: Rng,
    acts: u64,
    report: Report,
}

/// The server is gone, or as good as gone.
struct ServerGone;

impl Client {
    pub(super) fn new(plan: Plan, endpoint: Endpoint, random: Rng) -> Self {
        let report = Report { client: plan.number, ..Report::default() };
        Self { plan, http: Http::new(endpoint.clone()), endpoint, random, acts: 0, report }
    }

    /// Runs until the server is gone. Sends a message to `acknowledged` for each acknowledgement.
    pub(super) fn run(mut self, acknowledged: &Sender<()>) -> Report {
        if (self.plan.sessions.is_empty() || self.random.bool())
            && let Err(ServerGone) = self.create(acknowledged)
        {
            return self.report;
        }
        let follows = self.plan.sessions.clone();
        let endpoint = self.endpoint.clone();
        thread::scope(|scope| {
            let follower = scope.spawn(move || follow(&endpoint, &follows));
            while let Ok(()) = self.act(acknowledged) {}
            let (seen, violations) = follower.join().expect("a follower does not panic");
            self.report.seen = seen;
            self.report.violations = violations;
        });
        self.report
    }

    fn act(&mut self, acknowledged: &Sender<()>) -> Result<(), ServerGone> {
        let session = self.random.choice(&self.plan.sessions).map(|(id, _)| id.clone());
        match (session, self.random.u32(..20)) {
            (None, _) | (_, 0) => self.create(acknowledged),
            (Some(session), 1..4) => {
                let name = self.unique("name");
                let request = self.request("PATCH", &format!("/sessions/{session}"), &json!({ "name": name }));
                self.submit(Some(session), Change::Rename { name }, request, acknowledged)
            }
            (Some(session), 4..7) => self.remove(&session, acknowledged),
            (Some(session), _) => {
                let text = self.prompt_text();
                let path = format!("/sessions/{session}/prompts");
                let request = self.request("POST", &path, &json!({ "text": text }));
                self.submit(Some(session), Change::Prompt { text }, request, acknowledged)
            }
        }
    }

    fn create(&mut self, acknowledged: &Sender<()>) -> Result<(), ServerGone> {
        let name = self.unique("session");
        let body = json!({ "agent": "guide", "cwd": self.plan.cwd, "name": name });
        let request = self.request("POST", "/sessions", &body);
        self.submit(None, Change::Create { name }, request, acknowledged)
    }

    /// Removes one of the outputs that it had shown. Nobody else does, so whether it is there is known.
    fn remove(&mut self, session: &str, acknowledged: &Sender<()>) -> Result<(), ServerGone> {
        let listed = Request::get(format!("/api/v1/sessions/{session}/outputs?limit=200"));
        let listed = self.http.send(&listed).map_err(|_| ServerGone)?;
        let listed: Value = serde_json::from_str(&listed.body).unwrap_or_default();
        let outputs = listed["outputs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let own = outputs.iter().filter(|output| self.is_own(output["path"].as_str().unwrap_or_default()));
        let own: Vec<&str> = own.filter_map(|output| output["id"].as_str()).collect();
        let Some(output) = self.random.choice(&own).map(|output| (*output).to_owned()) else { return Ok(()) };
        let path = format!("/sessions/{session}/outputs/{output}");
        let request = Request { body: None, ..self.request("DELETE", &path, &Value::Null) };
        self.submit(Some(session.to_owned()), Change::Remove { output }, request, acknowledged)
    }

    /// Whether this client had the file shown, in this cycle or an earlier one: its number is in the name.
    fn is_own(&self, path: &str) -> bool {
        path.rsplit('/').next().and_then(|name| name.split('-').nth(2)) == Some(self.plan.number.to_string().as_str())
    }

    /// Sends a request once and records the outcome.
    fn submit(
        &mut self,
        session: Option<String>,
        change: Change,
        request: Request,
        acknowledged: &Sender<()>,
    ) -> Result<(), ServerGone> {
        let result = self.http.send(&request);
        let (outcome, next) = match result {
            Ok(answer) => (Outcome::of(answer), Ok(())),
            Err(_) => (Outcome::Unanswered, Err(ServerGone)),
        };
        let mut session = session;
        if let Outcome::Acknowledged(answer) = &outcome {
            // After the first acknowledgement nobody waits any more.
            let _: Result<(), _> = acknowledged.send(());
            if session.is_none() {
                session = created_id(&answer.body);
                self.plan.sessions.extend(session.clone().map(|id| (id, None)));
            }
        }
        let recorded = RecordedRequest { client: self.plan.number, change, request, outcome, recent: true };
        self.report.requests.push((session, recorded));
        next
    }

    fn request(&mut self, method: &'static str, path: &str, body: &Value) -> Request {
        Request {
            method,
            path: format!("/api/v1{path}"),
            body: Some(body.to_string()),
            // Keys have no spaces.
            idempotency_key: Some(self.unique("key").replace(' ', "-")),
        }
    }

    /// A text that occurs once in a trial.
    fn unique(&mut self, what: &str) -> String {
        self.acts += 1;
        format!("{what} {}-{}-{}", self.plan.cycle, self.plan.number, self.acts)
    }

    /// Mostly short; sometimes long enough for several pages of the store; sometimes with characters that are hard to
    /// keep; sometimes the wish to be shown a file or a picture, which becomes an output, or to have a file read, whose text
    /// leaves the log if it is long.
    fn prompt_text(&mut self) -> String {
        let mut text = self.unique("prompt");
        match self.random.u32(..20) {
            4..9 => {
                let (wish, extension) = *self
                    .random
                    .choice(&[("show", "txt"), ("read", "txt"), ("image", "png")])
                    .expect("there are three");
                let name = format!("{}.{extension}", text.replace(' ', "-"));
                // Without the file the guide says that there is none, and nothing is shown.
                if fs::write(self.plan.cwd.join(&name), shown_bytes(&name)).is_ok() {
                    text = format!("{wish} {name}");
                }
            }
            0 => text += &" and so on".repeat(self.random.usize(100..4_000)),
            1..4 => text += " \u{0} 𝕏 \"quoted\"\nsecond line\t\u{202e}end",
            _ => (),
        }
        text
    }
}

/// What a file of this name holds, so that its output can be compared when both are long gone: up to a few hundred kB, in lines
/// so long that those which the guide reads out are often too much for an entry.
fn shown_text(name: &str) -> String {
    let line = format!("{name} is shown, and stays as it was{}.\n", ", and so on".repeat(30));
    line.repeat(pieces(name))
}

/// The same for a picture; a server that shows it sends [`shown_data`].
fn shown_picture(name: &str) -> Vec<u8> {
    b"\x89PNG\r\n\x1a\n\0".repeat(pieces(name))
}

fn shown_bytes(name: &str) -> Vec<u8> {
    if name.ends_with(".png") { shown_picture(name) } else { shown_text(name).into_bytes() }
}

/// What the JSON of its output has: a text as it is, and a picture in Base64.
pub(super) fn shown_data(name: &str) -> String {
    // The nine bytes that it repeats are these twelve characters.
    if name.ends_with(".png") { "iVBORw0KGgoA".repeat(pieces(name)) } else { shown_text(name) }
}

/// How long what a name stands for is.
fn pieces(name: &str) -> usize {
    1 + name.bytes().map(usize::from).sum::<usize>() % 97 * 8
}

/// The id in the answer to a create.
pub(super) fn created_id(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    body["id"].as_str().map(str::to_owned)
}

/// Follows all of them over one socket until it breaks.
fn follow(endpoint: &Endpoint, sessions: &[(String, Option<String>)]) -> (Vec<SeenEntry>, Vec<Violation>) {
    let (mut seen, mut violations) = (Vec::new(), Vec::new());
    let Ok(mut live) = Live::connect(endpoint) else { return (seen, violations) };
    for (session, cursor) in sessions {
        if live.follow(session, cursor.as_deref()).is_err() {
            return (seen, violations);
        }
    }
    while let Ok(frame) = live.read() {
        match frame {
            Frame::Entry(entry) => seen.push(entry),
            Frame::Broken(violation) => violations.push(violation),
            Frame::CaughtUp { .. } | Frame::Other => (),
        }
    }
    (seen, violations)
}
