//! An agent that misbehaves on request, for the tests: by its arguments while a session begins, and afterwards by the
//! first word of a prompt. It writes the protocol by hand, so that it can send what no library would.

#![expect(clippy::unwrap_used, reason = "whoever reads its words is a test")]
#![expect(clippy::exit, reason = "to end in the middle of something is what it is for")]
#![expect(clippy::print_stderr, reason = "its last words")]
#![expect(clippy::needless_pass_by_value, reason = "what is said is made where it is said")]

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::{env, fs, io, thread, time::Duration};

use serde_json::{Value, json};

fn main() {
    let mut agent = Hostile { wishes: env::args().skip(1).collect(), ..Hostile::default() };
    if agent.wants("pids") {
        agent.note(&format!("pid {}", std::process::id()));
    }
    while let Some(message) = agent.read() {
        agent.hear(&message);
    }
    agent.note("ended");
    if agent.wants("stays") {
        thread::sleep(Duration::from_secs(1_000));
    }
}

#[derive(Default)]
struct Hostile {
    wishes: Vec<String>,
    sessions: u32,
    next_request: u32,
    /// Prompts that are not answered until they are cancelled: session and id.
    open: Vec<(String, Value)>,
    is_deaf: bool,
    is_signed_in: bool,
}

impl Hostile {
    fn wants(&self, wish: &str) -> bool {
        self.wishes.iter().any(|wanted| wanted == wish)
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).unwrap() == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    fn say(&self, message: &Value) {
        raw(format!("{message}\n").as_bytes());
    }

    fn answer(&self, id: &Value, result: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&self, id: &Value, code: i32, message: &str) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn update(&self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.say(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn text(&self, session: &str, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    }

    fn tool(&self, session: &str, mut call: Value) {
        call["sessionUpdate"] = json!("tool_call_update");
        self.update(session, call);
    }

    fn stop(&self, id: &Value) {
        self.answer(id, json!({ "stopReason": "end_turn" }));
    }

    /// Sends a request and waits for the reply; other messages are handled meanwhile.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_request += 1;
        let id = json!(format!("h{}", self.next_request));
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        while let Some(message) = self.read() {
            if message["id"] == id && message.get("method").is_none() {
                return message.get("result").or(message.get("error")).cloned().unwrap_or_default();
            }
            self.hear(&message);
        }
        std::process::exit(0);
    }

    fn ask_permission(&mut self, session: &str, call: Value) -> Value {
        let params = json!({ "sessionId": session, "toolCall": call, "options": yes_or_no() });
        self.ask("session/request_permission", params)
    }

    /// Asks outside of any turn, and notes the answer.
    fn ask_aside(&mut self, session: &str, call: Value) {
        let reply = self.ask_permission(session, call);
        self.note(&reply.to_string());
    }

    fn hear(&mut self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        let session = params["sessionId"].as_str().unwrap_or_default();
        if self.wants("told")
            && ["session/new", "session/resume", "session/load"].iter().any(|way| message["method"] == *way)
        {
            let told = json!([params["mcpServers"], params["systemPrompt"], params["_meta"]]);
            self.note(&format!("{} {told}", message["method"].as_str().unwrap()));
        }
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => self.initialize(id, params),
            "authenticate" => {
                if self.wants("sign-in:ask") {
                    // About the request, since there is no session yet.
                    let about = json!({ "requestId": id, "mode": "url", "message": "Sign in there",
                        "elicitationId": "e1", "url": "https://example.org" });
                    let reply = self.ask("elicitation/create", about);
                    self.note(&reply.to_string());
                }
                self.is_signed_in = params["methodId"] == "key";
                if self.is_signed_in { self.answer(id, json!({})) } else { self.refuse(id, -32603, "no such way") }
            }
            "session/new" => self.new_session(id),
            "session/resume" => self.take_up("resume", id, session),
            "session/load" => self.take_up("load", id, session),
            "session/prompt" => {
                let words =
                    params["prompt"].as_array().unwrap().iter().find(|block| {
                        block["type"] == "text" && !block["text"].as_str().unwrap().starts_with("[Context")
                    });
                let words = words.unwrap()["text"].as_str().unwrap().to_owned();
                self.prompt(id, session, &words, params);
            }
            "session/cancel" if !self.is_deaf => {
                self.misbehave_at("cancel");
                let (cancelled, open) = self.open.drain(..).partition(|(open, _)| open == session);
                self.open = open;
                for (_, id) in cancelled {
                    self.answer(&id, json!({ "stopReason": "cancelled" }));
                }
            }
            "session/list" => self.list(id, params),
            "session/set_model" => {
                self.note(&format!("set_model {}", params["modelId"].as_str().unwrap()));
                self.answer(id, json!({}));
            }
            "session/set_mode" if self.wants("mode:refuse") => self.refuse(id, -32603, "I like it here"),
            "session/set_mode" if self.wants("mode:note") => {
                self.note(&format!("set_mode {}", params["modeId"].as_str().unwrap()));
                self.answer(id, json!({}));
            }
            "session/delete" if self.wants("delete:refuse") => self.refuse(id, -32603, "mine"),
            "session/set_mode" | "session/close" | "session/delete" => {
                self.note(&format!("{} {session}", message["method"].as_str().unwrap()));
                self.answer(id, json!({}));
            }
            "" => self.note(&format!("an answer to {id}, which nobody waits for")),
            _ => {}
        }
    }

    /// Appends to the file in which tests look for what is not said.
    fn note(&self, line: &str) {
        if let Some(path) = self.wishes.iter().find_map(|wish| wish.strip_prefix("notes=")) {
            let mut notes = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            writeln!(notes, "{line}").unwrap();
        }
    }

    fn misbehave_at(&self, phase: &str) {
        if self.wants(&format!("{phase}:crash")) {
            eprintln!("about to break\nbroke at {phase} \u{1b}[31mred\u{7}");
            std::process::exit(3);
        }
        if self.wants(&format!("{phase}:hang")) {
            thread::sleep(Duration::from_secs(1_000));
        }
        if self.wants(&format!("{phase}:junk")) {
            raw(b"npm WARN deprecated\n[1,2]\n{\"id\":{}}\n\x00\xff\xfe\n\n{}\n17\n");
        }
    }

    fn initialize(&self, id: &Value, params: &Value) {
        self.misbehave_at("initialize");
        if self.wants("files") {
            self.note(&format!("files {}", params["clientCapabilities"]["fs"]));
        }
        if self.wants("initialize:refuse") {
            return self.refuse(id, -32603, "not today");
        }
        let version = if self.wants("initialize:version") { 2 } else { 1 };
        let mut sessions =
            if self.wants("resume") { json!({ "resume": {}, "close": {}, "delete": {} }) } else { json!({}) };
        if self.wants("list") {
            sessions["list"] = json!({});
        }
        if self.wants("prompted") {
            sessions["systemPrompt"] = json!({});
        }
        let capabilities = json!({ "loadSession": self.wants("load"), "sessionCapabilities": sessions,
            "mcpCapabilities": { "http": self.wants("mcp") },
            "promptCapabilities": { "image": self.wants("images") } });
        let mut ways = json!([{ "id": "key", "name": "With a key" }, { "id": "luck", "name": "With luck" }]);
        if self.wants("terminal") && params["clientCapabilities"]["auth"]["terminal"] == true {
            let login = json!({ "id": "login", "type": "terminal", "name": "In a terminal",
                "args": ["login", "--as", "it's me"], "env": { "MODE": "a b" } });
            let unseen = json!({ "id": "unseen", "type": "terminal", "name": "Unseen", "args": ["x\u{202e}\ny"] });
            ways.as_array_mut().unwrap().extend([login, unseen]);
        }
        self.answer(
            id,
            json!({ "protocolVersion": version, "agentCapabilities": capabilities,
            "agentInfo": { "name": "hostile", "version": "1.0" },
            "authMethods": ways }),
        );
    }

    fn new_session(&mut self, id: &Value) {
        self.misbehave_at("new");
        if self.wants("new:refuse") {
            return self.refuse(id, -32603, "no room");
        }
        if self.wants("new:signed-out") && !self.is_signed_in {
            return self.refuse(id, -32000, "Authentication required");
        }
        if !self.wants("new:same-id") || self.sessions == 0 {
            self.sessions += 1;
        }
        let session = format!("s{}", self.sessions);
        if self.wants("new:early") {
            let commands = json!([{ "name": "go", "description": "Goes" }]);
            self.update(
                &session,
                json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands }),
            );
            self.update("nobody", json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }));
        }
        let modes = json!({ "currentModeId": "ask", "availableModes": [
            { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" }] });
        let modes = if self.wants("modes") { modes } else { self.own_modes() };
        let models = json!({ "currentModelId": "auto", "availableModels": [
            { "modelId": "auto", "name": "Auto" }, { "modelId": "pro", "name": "Pro" }] });
        let models = if self.wants("models") { models } else { Value::Null };
        self.answer(id, json!({ "sessionId": session, "modes": modes, "models": models }));
        self.misbehave_at("begun");
        if self.wants("new:ask") {
            let input = json!({ "command": "make watch" });
            let call = json!({ "toolCallId": "w1", "title": "Watch?", "kind": "execute", "rawInput": input });
            self.ask_aside(&session, call);
        }
    }

    /// `mode=yolo` begins in that mode; without it there are no modes.
    fn own_modes(&self) -> Value {
        let Some(current) = self.wishes.iter().find_map(|wish| wish.strip_prefix("mode=")) else { return Value::Null };
        let mode = |id: &str, name: &str| json!({ "id": id, "name": name });
        let offered = [mode("yolo", "YOLO"), mode("fast", "Fast"), mode("ask", "Ask")];
        let offered = if self.wants("mode:one") { &offered[..1] } else { &offered };
        json!({ "currentModeId": current, "availableModes": offered })
    }

    /// Two pages: the sessions that it began, in every requested directory, and records that nobody should believe.
    fn list(&mut self, id: &Value, params: &Value) {
        self.misbehave_at("list");
        if self.wants("list:refuse") {
            return self.refuse(id, -32603, "none of your business");
        }
        if self.wants("list:signed-out") {
            return self.refuse(id, -32000, "Authentication required");
        }
        let cwd = params["cwd"].as_str().unwrap_or("/anywhere");
        if params["cursor"] == "more" {
            let odd = json!([
                { "sessionId": "", "cwd": cwd },
                { "sessionId": "x".repeat(2_000), "cwd": cwd },
                { "cwd": cwd },
                17,
                { "sessionId": "odd", "cwd": cwd, "title": "Tidy\u{1b}[2K \u{202e}up", "updatedAt": "yesterday" },
            ]);
            return self.answer(id, json!({ "sessions": odd }));
        }
        let mut own: Vec<_> = (1..=self.sessions.max(1))
            .map(|n| {
                json!({ "sessionId": format!("s{n}"), "cwd": cwd, "title": format!("Number {n}"),
                "updatedAt": "2026-01-02T03:04:05Z" })
            })
            .collect();
        if self.wants("list:many") {
            own = (0..5_000).map(|n| json!({ "sessionId": format!("m{n}"), "cwd": cwd })).collect();
        }
        self.answer(id, json!({ "sessions": own, "nextCursor": "more" }));
    }

    fn take_up(&mut self, way: &str, id: &Value, session: &str) {
        self.misbehave_at(way);
        if session == "lost" {
            return self.refuse(id, -32002, "no such session");
        }
        if way == "load" {
            self.text(session, "old words");
            self.tool(session, json!({ "toolCallId": "old", "title": "old call" }));
            if self.wants("load:ask") {
                self.ask_aside(session, json!({ "toolCallId": "l1", "title": "Trust this directory?" }));
            }
        }
        let modes = self.own_modes();
        self.answer(id, if modes.is_null() { Value::Null } else { json!({ "modes": modes }) });
        if self.wants("load:on-and-on") {
            self.read_on(session);
        }
    }

    /// Continues to replay its record after it has replied, a little at a time, and reads nothing meanwhile.
    fn read_on(&self, session: &str) {
        for turn in 1..=10 {
            thread::sleep(Duration::from_millis(20));
            let content = json!({ "type": "text", "text": format!("old prompt {turn}") });
            self.update(session, json!({ "sessionUpdate": "user_message_chunk", "content": content }));
            self.text(session, &format!("old answer {turn} "));
            self.tool(session, json!({ "toolCallId": format!("old{turn}"), "title": "old call" }));
        }
    }

    fn prompt(&mut self, id: &Value, session: &str, words: &str, params: &Value) {
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        match word {
            "hello" => self.text(session, "hello"),
            "mode" => self.update(session, json!({ "sessionUpdate": "current_mode_update", "currentModeId": rest })),
            "long" => {
                // So many messages, of so many bytes each; the last ends in a word of its own.
                let (count, bytes) = rest.split_once(' ').unwrap();
                let (count, bytes): (u32, usize) = (count.parse().unwrap(), bytes.parse().unwrap());
                for n in 1..=count {
                    let end = if n == count { " lastword" } else { " more" };
                    let line = "some words of a \"long\" message\n";
                    let words = line.repeat(bytes / line.len() + 1);
                    self.text(session, &(words[..bytes - end.len()].to_owned() + end));
                }
            }
            "calls" => {
                for n in 0..rest.parse::<u32>().unwrap() {
                    self.tool(session, json!({ "toolCallId": n.to_string(), "title": "Look", "status": "completed" }));
                }
            }
            "echo" | "/echo" => self.text(session, &params["prompt"].to_string()),
            "stop" => return self.answer(id, json!({ "stopReason": rest })),
            "error" => {
                let error = json!({ "code": -32603, "message": "Internal error", "data": { "details": rest } });
                return self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            "signout" => return self.refuse(id, -32000, "Authentication required"),
            "crash" => {
                self.text(session, "I was about to");
                self.wishes.push("prompt:crash".to_owned());
                self.misbehave_at("prompt");
            }
            "fork" => {
                let child = Command::new("setsid").args(["sleep", "1000"]).stdin(Stdio::null()).spawn().unwrap();
                self.note(&format!("child {}", child.id()));
                std::process::exit(4);
            }
            "daemon" => {
                let away = ["-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!"];
                let child = Command::new("sh").args(away).stdin(Stdio::null()).output().unwrap();
                self.note(&format!("child {}", String::from_utf8(child.stdout).unwrap().trim()));
                return self.open.push((session.to_owned(), id.clone()));
            }
            "plugged" => {
                let params = json!({ "sessionId": session, "terminalId": "none" });
                for number in 0..100_000 {
                    let (id, method) = (format!("u{number}"), "terminal/output");
                    self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
                }
                thread::sleep(Duration::from_secs(1_000));
            }
            "hoard" => {
                // Requests a file again and again, and reads no answer.
                let params = json!({ "sessionId": session, "path": rest });
                for number in 0..60 {
                    let (id, method) = (format!("h{number}"), "fs/read_text_file");
                    self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
                }
                self.text(session, "asked");
                thread::sleep(Duration::from_secs(1_000));
            }
            "hang" => return self.open.push((session.to_owned(), id.clone())),
            "deaf" => {
                self.is_deaf = true;
                return;
            }
            "asleep" => thread::sleep(Duration::from_secs(1_000)),
            "quiet" => {
                rustix::stdio::dup2_stdout(fs::File::open("/dev/null").unwrap()).unwrap();
                thread::sleep(Duration::from_secs(1_000));
            }
            "babble" => loop {
                self.text(session, "and ");
            },
            "brittle" => {
                self.wishes.push("cancel:crash".to_owned());
                return;
            }
            "junk" => {
                self.wishes.push("prompt:junk".to_owned());
                self.misbehave_at("prompt");
                self.text(session, "still here");
            }
            "longline" => {
                raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":\"");
                let piece = vec![b'x'; 1 << 20];
                (0..100).for_each(|_| raw(&piece));
                raw(b"\"}\n");
            }
            "utf8" => {
                let content = json!({ "type": "text", "text": "a?b" });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                let params = json!({ "sessionId": session, "update": update });
                let line = json!({ "method": "session/update", "params": params }).to_string() + "\n";
                raw(&line.bytes().map(|byte| if byte == b'?' { 0xff } else { byte }).collect::<Vec<_>>());
            }
            "unknown" => {
                self.update(session, json!({ "sessionUpdate": "telepathy", "strength": 9 }));
                self.say(&json!({ "jsonrpc": "2.0", "method": "_hostile/pulse", "params": { "sessionId": session } }));
                self.answer(&json!(99_999), json!({ "stopReason": "end_turn" }));
                self.answer(&json!("odd"), json!(null));
                let reply = self.ask("_hostile/favour", json!({ "sessionId": session }));
                self.text(session, &format!("favour: {}", reply["code"]));
                let reply = self.ask("fs/read_text_file", json!({ "sessionId": session }));
                self.text(session, &format!(", read: {}", reply["code"]));
                let reply = self.ask("fs/read_text_file", json!({ "sessionId": "nobody", "path": "/etc/passwd" }));
                self.text(session, &format!(", other's: {}", reply["code"]));
            }
            "flood" => {
                for n in 0..rest.parse().unwrap() {
                    self.text(session, &format!("{n} "));
                }
            }
            "foreign" => {
                for other in ["s9", "", "nobody"] {
                    self.text(other, "not ours");
                }
                self.say(&json!({ "method": "session/update", "params": { "update": {} } }));
                self.text(session, "mine");
            }
            "twice" => {
                self.stop(id);
                self.answer(id, json!({ "stopReason": "refusal" }));
            }
            "late" => {
                self.stop(id);
                return self.text(session, "one more thing");
            }
            "titles" => {
                let title = format!("{rest}\u{1b}]0;x\u{7}\u{1b}[2K\u{202e}dne\u{e0041}\u{9b}31m");
                self.update(session, json!({ "sessionUpdate": "session_info_update", "title": title }));
                self.update(session, json!({ "sessionUpdate": "notice", "severity": "warning", "title": title }));
                self.tool(session, json!({ "toolCallId": "c1", "title": title, "status": "completed" }));
            }
            "ask" | "disguise" => {
                let input = match word {
                    "ask" => json!({ "command": rest }),
                    _ => json!({ "command": "ls", "description": "Lists files", "args": ["-l", rest] }),
                };
                let call = json!({ "toolCallId": "c1", "title": "List\u{1b}[2K files\u{202e}", "kind": "execute",
                    "rawInput": input });
                let reply = self.ask_permission(session, call);
                self.text(session, &reply.to_string());
            }
            "make" | "make-from-empty" => {
                // The input is first sent as the text of the call, or by a file that is said to have been empty.
                let input = json!({ "path": rest, "content": "written" });
                let shown = match word {
                    "make" => json!({ "type": "content", "content": { "type": "text", "text": input.to_string() } }),
                    _ => json!({ "type": "diff", "path": rest, "oldText": "", "newText": "written" }),
                };
                let call = json!({ "toolCallId": "c1", "title": "Write", "kind": "edit", "content": [shown] });
                self.tool(session, call);
                self.ask_permission(session, json!({ "toolCallId": "c1", "title": "Write" }));
                fs::write(rest, "written").unwrap();
                let located = json!([{ "path": rest }]);
                let end = json!({ "toolCallId": "c1", "status": "completed", "locations": located, "rawInput": input });
                self.tool(session, end);
            }
            "own" => {
                // By its kind, its name and its input.
                let (kind, rest) = rest.split_once(' ').unwrap();
                let (name, input) = rest.split_once(' ').unwrap();
                let text = json!([{ "type": "content", "content": { "type": "text", "text": input } }]);
                self.tool(session, json!({ "toolCallId": "c1", "title": name, "kind": kind, "content": text }));
                self.ask_permission(session, json!({ "toolCallId": "c1", "title": name }));
            }
            "ask-late" => {
                self.tool(session, json!({ "toolCallId": "c1", "kind": "execute", "rawInput": { "command": rest } }));
                self.stop(id);
                return self.ask_aside(session, json!({ "toolCallId": "c1", "title": "Go on?" }));
            }
            "ask-and-withdraw" => {
                self.stop(id);
                let call = json!({ "toolCallId": "c1", "title": "Go on?" });
                let params = json!({ "sessionId": session, "toolCall": call, "options": yes_or_no() });
                let request = json!({ "jsonrpc": "2.0", "id": "w", "method": "session/request_permission" });
                self.say(&with(request, "params", params));
                let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": "w" } });
                return self.say(&cancel);
            }
            "form" => {
                let schema = json!({ "type": "object", "properties": { "branch": { "type": "string" } } });
                let params =
                    json!({ "sessionId": session, "mode": "form", "message": "Which?", "requestedSchema": schema });
                let reply = self.ask("elicitation/create", params);
                self.text(session, &reply.to_string());
            }
            "grow" => {
                let mut output = String::new();
                for n in 0..rest.parse::<u32>().unwrap() {
                    output.push_str(&format!("line {n}\n"));
                    let content = json!([{ "type": "content", "content": { "type": "text", "text": output } }]);
                    self.tool(session, json!({ "toolCallId": "c1", "title": "Count", "content": content }));
                }
                self.tool(session, json!({ "toolCallId": "c1", "status": "completed" }));
            }
            "read" | "write" => {
                let method = format!("fs/{word}_text_file");
                let params = json!({ "sessionId": session, "path": rest, "content": "written" });
                let reply = self.ask(&method, params);
                self.text(session, &reply.to_string());
            }
            "run" => self.run(session, rest),
            "start" => {
                let reply = self.ask("terminal/create", json!({ "sessionId": session, "command": rest }));
                self.text(session, &reply.to_string());
            }
            other => self.text(session, &format!("no such misbehaviour: {other}")),
        }
        self.stop(id);
    }

    fn run(&mut self, session: &str, line: &str) {
        let params = json!({ "sessionId": session, "command": "sh", "args": ["-c", line],
            "env": [{ "name": "GREETING", "value": "hi" }, { "name": "LD_PRELOAD", "value": "/x.so" }] });
        let terminal = self.ask("terminal/create", params)["terminalId"].clone();
        let about = json!({ "sessionId": session, "terminalId": terminal });
        let content = json!([{ "type": "terminal", "terminalId": terminal }]);
        self.tool(session, json!({ "toolCallId": "c1", "title": "Run", "kind": "execute", "content": content }));
        if line.contains("sleep") {
            while self.ask("terminal/output", about.clone())["output"] == "" {}
            self.ask("terminal/kill", about.clone());
        }
        let exit = self.ask("terminal/wait_for_exit", about.clone());
        let output = self.ask("terminal/output", about.clone());
        self.ask("terminal/release", about.clone());
        let gone = self.ask("terminal/output", about);
        self.tool(session, json!({ "toolCallId": "c1", "status": "completed" }));
        self.text(session, &format!("{exit} {output} {}", gone["code"]));
    }
}

/// If the output is closed, the reader is gone.
fn raw(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

fn yes_or_no() -> Value {
    json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" },
        { "optionId": "n", "name": "No", "kind": "reject_once" }])
}

fn with(mut message: Value, member: &str, value: Value) -> Value {
    message[member] = value;
    message
}
