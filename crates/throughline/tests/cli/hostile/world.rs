//! A server with hostile agents and a guide beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Told};
use crate::support::{Folder, Running};

/// For what must happen, however slow the machine is.
const DEADLINE: Duration = Duration::from_secs(40);

pub(crate) struct World {
    pub(crate) folder: Folder,
    pub(crate) server: Running,
    pub(crate) client: Client,
    /// A session whose turn runs while others break.
    guide: String,
}

impl World {
    /// A server with agents by name, each with its wishes; `trap` among them makes one that ignores SIGTERM.
    pub(crate) fn new(limits: &str, agents: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let program = example();
        let notes = folder.work().join("notes");
        let mut config = format!("[limits]\n{limits}\n");
        for (name, wishes) in agents {
            let mut args: Vec<String> = wishes.split_whitespace().map(str::to_owned).collect();
            args.push(format!("notes={}", notes.display()));
            let mut command = program.clone();
            if args.first().is_some_and(|wish| wish == "trap") {
                // An ignored signal stays ignored in the program that replaces the shell.
                let run = "trap '' TERM; exec \"$0\" \"$@\"".to_owned();
                args.splice(..1, ["-c".to_owned(), run, program.display().to_string()]);
                command = PathBuf::from("/bin/sh");
            }
            let shared = args.iter().any(|wish| wish == "shared");
            config.push_str(&format!("[agents.{name}]\ncommand = {command:?}\nargs = {args:?}\nshared = {shared}\n"));
        }
        folder.configure(&config);
        let server = folder.serve();
        let client = Client::new(&folder, &server);
        let guide = client.session();
        client.prompt(&guide, "before", "slow 2").unwrap();
        client.until_entry(&guide, |entry| entry["type"] == "turn.started");
        Self { folder, server, client, guide }
    }

    /// Begins a session; returns its id.
    pub(crate) fn session(&self, agent: &str) -> String {
        let body = json!({ "agent": agent, "cwd": self.folder.work() });
        let created = self.client.call("POST /api/v1/sessions", None, &body).unwrap();
        assert_eq!(created.status, 201, "{}", created.body);
        created.body["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&self, session: &str, words: &str) {
        let body = json!({ "text": words });
        let told = self.client.call(&format!("POST /api/v1/sessions/{session}/prompts"), None, &body).unwrap();
        assert_eq!(told.status, 202, "{}", told.body);
    }

    pub(crate) fn cancel(&self, session: &str) {
        let told = self.client.call(&format!("POST /api/v1/sessions/{session}/cancel"), None, &Value::Null).unwrap();
        assert_eq!(told.status, 202, "{}", told.body);
    }

    pub(crate) fn show(&self, session: &str) -> Value {
        let Told { status, body } = self.client.get(&format!("/sessions/{session}"));
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Waits until the session has one of these states.
    pub(crate) fn until(&self, session: &str, states: &[&str]) -> Value {
        let started = Instant::now();
        loop {
            let body = self.show(session);
            if body["state"].as_str().is_some_and(|state| states.contains(&state)) {
                return body;
            }
            let is_over = started.elapsed() > DEADLINE || body["state"] == "failed";
            assert!(!is_over, "never one of {states:?}: {body}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the session is idle.
    pub(crate) fn settled(&self, session: &str) -> Value {
        self.until(session, &["idle", "failed", "needs_you", "interrupted"])
    }

    /// One turn to its end: the session's state, how the turn ended, what was said in it.
    pub(crate) fn turn(&self, session: &str, words: &str) -> String {
        self.settled(session);
        let before = self.entries(session).len();
        self.prompt(session, words);
        let is_over = |entries: &[Value]| {
            let of = |entry: &&Value| entry["type"] == "turn.ended" || entry["data"]["state"] == "failed";
            entries.iter().any(|entry| of(&entry))
        };
        let started = Instant::now();
        while !is_over(&self.entries(session)[before..]) {
            assert!(started.elapsed() < DEADLINE, "{words} does not end");
            thread::sleep(Duration::from_millis(5));
        }
        self.settled(session);
        self.summary(session, before)
    }

    /// The session's state, then what came after so many entries, without what comes automatically.
    pub(crate) fn summary(&self, session: &str, after: usize) -> String {
        let show = self.show(session);
        let mut lines = vec![show["state"].as_str().unwrap().to_owned()];
        lines.extend(show["failure"].as_str().map(|failure| format!("failure: {failure}")));
        let mut words_go_on = false;
        for entry in &self.entries(session)[after..] {
            let data = &entry["data"];
            let kind = entry["type"].as_str().unwrap();
            // Words are stored in parts, as they come: how many depends on how busy the machine is.
            if kind == "text.part" && words_go_on {
                lines.last_mut().unwrap().push_str(data["text"].as_str().unwrap());
                continue;
            }
            words_go_on = kind == "text.part";
            lines.push(match kind {
                "text.part" => format!("text: {}", data["text"].as_str().unwrap()),
                "agent.noticed" => format!("notice: {}", data["notice"]["title"]),
                "agent.raw" => format!("raw: {}", data["message"]),
                "agent.state_changed" if data["state"] == "unresponsive" => "unresponsive".to_owned(),
                "turn.ended" => match &data["reason"] {
                    Value::Null => format!("turn {}", data["outcome"].as_str().unwrap()),
                    reason => format!("turn {}: {}", data["outcome"].as_str().unwrap(), reason.as_str().unwrap()),
                },
                _ => continue,
            });
        }
        lines.join("\n  ") + "\n"
    }

    /// Every entry of a session, over all pages.
    pub(crate) fn entries(&self, session: &str) -> Vec<Value> {
        let mut entries = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.client.get(&format!("/sessions/{session}/entries?limit=1000{after}"));
            assert_eq!(page.status, 200, "{}", page.body);
            entries.extend(page.body["entries"].as_array().unwrap().iter().cloned());
            match page.body["nextCursor"].as_str() {
                Some(cursor) => after = format!("&after={cursor}"),
                None => return entries,
            }
        }
    }

    /// Everything that its agent ever said.
    pub(crate) fn text(&self, session: &str) -> String {
        let entries = self.entries(session);
        let parts = entries.iter().filter(|entry| entry["type"] == "text.part");
        parts.map(|entry| entry["data"]["text"].as_str().unwrap()).collect()
    }

    /// The guide's turn ends as if it were alone, and another one is answered.
    pub(crate) fn guide_is_unharmed(&self) {
        assert_eq!(self.turn(&self.guide, "say unharmed"), "idle\n  text: unharmed\n  turn completed\n");
        assert_eq!(self.text(&self.guide), "Taking 2 s. Done.unharmed");
    }

    /// What the agents noted that begins with this word, once they did.
    pub(crate) fn noted(&self, word: &str) -> Vec<String> {
        self.noted_times(1, word)
    }

    /// The same, once they did so often.
    pub(crate) fn noted_times(&self, times: usize, word: &str) -> Vec<String> {
        let started = Instant::now();
        loop {
            let notes = fs::read_to_string(self.folder.work().join("notes")).unwrap_or_default();
            let found: Vec<_> = notes.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect();
            if found.len() >= times {
                return found;
            }
            assert!(started.elapsed() < DEADLINE, "never noted: {word}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Waits until there is no process with this id.
pub(crate) fn gone(pid: &str) {
    let started = Instant::now();
    while Path::new("/proc").join(pid).exists() {
        assert!(started.elapsed() < DEADLINE, "{pid} is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/hostile-agent")
}
