//! Tests `throughline guide`: the built-in agent as a program.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::Folder;

fn request(id: u32, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
}

fn initialize() -> String {
    request(1, "initialize", &json!({ "protocolVersion": 1, "clientCapabilities": {} }))
}

#[test]
fn it_answers_on_its_pipes_and_ends_with_its_input() {
    let folder = Folder::new();
    let said = folder.run_with_input(&["guide"], &initialize()).ok();
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["agentInfo"]["name"]), (&json!(1), &json!("guide")));
    assert!(!folder.data().exists(), "it keeps nothing");
    assert_eq!(folder.run_with_input(&["guide"], "").ok(), "");
}

/// The guide with a session in which a command runs that holds `hold` open; killed when it is dropped.
struct Busy {
    child: Child,
    stdin: Option<ChildStdin>,
    held: File,
}

impl Busy {
    fn start(cwd: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_throughline"))
            .arg("guide")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let lines = BufReader::new(stdout).lines();
        let mut messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        stdin.write_all(initialize().as_bytes()).unwrap();
        assert_eq!(messages.next().unwrap()["id"], 1);
        let prompt = json!([{ "type": "text", "text": "run exec 3>hold; sleep 1000 & sleep 1000; :" }]);
        let requests = [
            request(2, "session/resume", &json!({ "sessionId": "s", "cwd": cwd, "mcpServers": [] })),
            request(3, "session/prompt", &json!({ "sessionId": "s", "prompt": prompt })),
        ];
        stdin.write_all(requests.concat().as_bytes()).unwrap();
        let asked = messages.by_ref().find(|message| {
            assert!(message["error"].is_null(), "{message}");
            message["method"] == "session/request_permission"
        });
        let asked = asked.unwrap();
        // The rest is read too: the guide must not end because nobody reads.
        std::thread::spawn(move || messages.count());
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome });
        stdin.write_all(format!("{answer}\n").as_bytes()).unwrap();
        // Opens once the command has opened the other end.
        let held = File::open(cwd.join("hold")).unwrap();
        Self { child, stdin: Some(stdin), held }
    }

    /// Waits until nobody holds it any more, and for the guide.
    fn ended(mut self) {
        assert_eq!(self.held.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It may have exited by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn what_it_started_ends_with_it() {
    let folder = Folder::new();
    let cwd = folder.work();
    assert!(Command::new("mkfifo").arg(cwd.join("hold")).status().unwrap().success());
    let mut busy = Busy::start(&cwd);
    drop(busy.stdin.take());
    busy.ended();
    let busy = Busy::start(&cwd);
    kill_process(Pid::from_child(&busy.child), Signal::TERM).unwrap();
    busy.ended();
}
