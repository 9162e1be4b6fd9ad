//! The lab's own MCP server: one tool, `lookup_note`, over HTTP with a bearer token and over stdio.
//!
//! Invariant: its answer names the note and the transport, so nobody can make it up.

use std::io::{self, BufRead as _, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::http::{self, HttpResponse};

pub(super) const TOKEN: &str = "lab-notes-token";

/// The server over HTTP, with the names that were looked up.
pub(super) struct Notes {
    pub(super) address: SocketAddr,
    looked_up: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    pub(super) fn start() -> anyhow::Result<Self> {
        let looked_up = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&looked_up);
        let address = http::serve(move |request| {
            if request.method != "POST" {
                return HttpResponse::Whole { status: 405, body: String::new() };
            }
            let expected = format!("Bearer {TOKEN}");
            if request.headers.get("authorization") != Some(&expected) {
                return HttpResponse::Whole { status: 401, body: String::new() };
            }
            let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
                return HttpResponse::Whole { status: 400, body: String::new() };
            };
            if let Some(name) = note_asked_for(&message) {
                kept.lock().expect("no writer panics").push(name.to_owned());
            }
            match answer(&message, "http") {
                Some(answer) => HttpResponse::Whole { status: 200, body: answer.to_string() },
                None => HttpResponse::Whole { status: 202, body: String::new() },
            }
        })?;
        Ok(Self { address, looked_up })
    }

    pub(super) fn looked_up(&self) -> Vec<String> {
        self.looked_up.lock().expect("no writer panics").clone()
    }
}

/// `xtask notes`: the same on stdio, until its input ends.
pub(crate) fn serve_stdio() -> anyhow::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line.context("could not read standard input")?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(answer) = answer(&message, "stdio") {
            let mut stdout = io::stdout().lock();
            writeln!(stdout, "{answer}").context("could not answer")?;
            stdout.flush().context("could not answer")?;
        }
    }
    Ok(())
}

/// The answer to a lookup over this transport.
pub(super) fn note(name: &str, way: &str) -> String {
    format!("the note about {name}, over {way}")
}

fn note_asked_for(message: &Value) -> Option<&str> {
    (message["method"] == "tools/call").then(|| message["params"]["arguments"]["name"].as_str()).flatten()
}

/// `None` for a notification.
fn answer(message: &Value, way: &str) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "lab-notes", "version": "1" },
            "instructions": "Notes of the lab, by name.",
        }),
        Some("ping") => json!({}),
        Some("tools/list") => json!({ "tools": [tool()] }),
        Some("tools/call") => {
            let name = note_asked_for(message).unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": note(name, way) }], "isError": false })
        }
        Some(_) | None => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn tool() -> Value {
    json!({
        "name": "lookup_note",
        "title": "Look up a note",
        "description": "Finds a note by its name.",
        "inputSchema": {
            "type": "object",
            "properties": { "name": { "type": "string", "description": "The note's name" } },
            "required": ["name"],
        },
        "annotations": { "readOnlyHint": true },
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    fn ask(notes: &Notes, token: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(notes.address).unwrap();
        let head =
            format!("POST /mcp HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_note_is_found_with_the_token_alone() {
        let notes = Notes::start().unwrap();
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "lookup_note", "arguments": { "name": "plum" } },
        });
        let refused = ask(&notes, "wrong", &call.to_string());
        assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
        assert_eq!(notes.looked_up(), Vec::<String>::new());
        let answered = ask(&notes, TOKEN, &call.to_string());
        assert!(answered.starts_with("HTTP/1.1 200 ") && answered.contains(&note("plum", "http")), "{answered}");
        assert_eq!(notes.looked_up(), ["plum"]);
        let notified = ask(&notes, TOKEN, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(notified.starts_with("HTTP/1.1 202 "), "{notified}");
    }
}
