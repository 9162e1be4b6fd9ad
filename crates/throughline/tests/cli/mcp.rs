//! Tests `throughline mcp`, the mount of a real server, and what a real agent's process gets of it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{DEADLINE, Folder};

/// An agent that records what it receives, begins a session, and exits at the first prompt.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
  printf '%s\n' "$line" >> "$NOTES"
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true},"sessionCapabilities":{"systemPrompt":{}}}}}\n' "$id" ;;
    *'"method":"session/new"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1"}}\n' "$id" ;;
    *'"method":"session/prompt"'*) exit 3 ;;
  esac
done
"#;

struct Handed {
    new_session: Value,
    address: String,
    authorization: String,
}

impl Handed {
    /// The status of a request to the mount with the lent credential.
    fn knock(&self) -> String {
        self.ask("POST /mcp").split(' ').nth(1).unwrap().to_owned()
    }

    fn ask(&self, request: &str) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
        let Self { address, authorization, .. } = self;
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// A session of the agent above, under the name of an agent that can be told which tools need no asking.
fn handed(folder: &Folder, config: &str) -> Handed {
    let (program, notes) = (folder.work().join("agent"), folder.work().join("notes"));
    fs::write(&program, AGENT).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder.configure(&format!(
        "{config}\n[agents.claude]\ncommand = {program:?}\nenv = {{ NOTES = {notes:?} }}\n\
         [mcp_servers.notes]\nurl = \"https://notes.example/mcp\"\n"
    ));
    let server = folder.begin(&["serve", "--listen", "127.0.0.1:0", "--no-open"]);
    folder.run(&["new", "--agent", "claude"]).ok();
    let started = Instant::now();
    let new_session = loop {
        let told = fs::read_to_string(&notes).unwrap_or_default();
        let line = told.lines().find(|line| line.contains("\"session/new\""));
        match line.and_then(|line| serde_json::from_str::<Value>(line).ok()) {
            Some(message) => break message["params"].clone(),
            None => assert!(started.elapsed() < DEADLINE, "the agent was not asked for a session: {}", folder.log()),
        }
        thread::sleep(Duration::from_millis(10));
    };
    let own = &new_session["mcpServers"][0];
    assert_eq!((&own["name"], &own["type"]), (&json!("throughline"), &json!("http")), "{new_session}");
    if let Some(show) = show_server(&new_session) {
        assert_eq!(show["headers"], own["headers"], "{new_session}");
        assert_eq!(show["url"], json!(format!("{}/show", own["url"].as_str().unwrap())));
    }
    assert_eq!(new_session["mcpServers"].as_array().unwrap().last().unwrap()["name"], "notes");
    let address =
        own["url"].as_str().unwrap().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    assert_eq!(own["headers"][0]["name"], "Authorization");
    let authorization = own["headers"][0]["value"].as_str().unwrap().to_owned();
    let handed = Handed { new_session, address, authorization };
    assert_eq!(handed.knock(), "200");
    // The loan ends with the agent.
    let other_door = !server.url.ends_with(&handed.address);
    if other_door {
        assert!(handed.address.starts_with("127.0.0.1:"), "{}", handed.address);
        assert!(handed.ask("GET /api/v1/sessions").starts_with("HTTP/1.1 404"), "only the mount is served there");
    }
    folder.run(&["send", "last", "--no-wait", "end"]).ok();
    let started = Instant::now();
    while handed.knock() != "401" {
        assert!(started.elapsed() < DEADLINE, "what was lent is still good");
        thread::sleep(Duration::from_millis(10));
    }
    // T42: no secret of it is stored.
    let secret = handed.authorization.strip_prefix("Bearer ").unwrap();
    assert!(!folder.log().contains(secret));
    assert!(!folder.run(&["show", "last", "--json"]).ok().contains(secret));
    server.stop();
    handed
}

#[test]
fn an_agent_is_handed_the_mount_the_brief_and_what_needs_no_asking() {
    let handed = handed(&Folder::new(), "");
    let prompt = &handed.new_session["systemPrompt"];
    assert_eq!(prompt["mode"], "append");
    assert_eq!(prompt["content"], json!([{ "type": "text", "text": server::STANDARD_BRIEF }]));
    let tools = server::own_tools().unasked;
    let tools: Vec<_> = tools.iter().map(|tool| format!("mcp__{}__{}", tool.server, tool.name)).collect();
    assert_eq!(handed.new_session["_meta"], json!({ "claudeCode": { "options": { "allowedTools": tools } } }));
}

/// The server of the tools that show something, if the agent was handed it.
fn show_server(new_session: &Value) -> Option<&Value> {
    new_session["mcpServers"].as_array().unwrap().iter().find(|server| server["name"] == "throughline-show")
}

#[test]
fn an_agent_that_is_to_show_nothing_has_no_tools_for_it() {
    for (config, expected) in [
        ("", true),
        ("[tools]\nshow = false\n", false),
        ("[tools]\nshow = false\n[agents.guide]\nshow = true\n", false),
    ] {
        let handed = handed(&Folder::new(), config);
        assert_eq!(show_server(&handed.new_session).is_some(), expected, "{config}");
        let unasked = handed.new_session["_meta"].to_string();
        assert_eq!(unasked.contains("throughline-show"), expected, "{config}");
    }
}

#[test]
fn agents_have_a_door_of_their_own_where_people_use_a_proxy_and_no_brief_where_none_is_wanted() {
    let config = "[server]\nbehind_proxy = true\nhosts = [\"box.example\"]\n[brief]\nenabled = false\n";
    let handed = handed(&Folder::new(), config);
    assert_eq!(handed.new_session["systemPrompt"], Value::Null);
}

#[test]
fn the_tools_have_a_port_of_their_own_where_one_is_configured() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // It also checks that this port serves only the mount, and that nobody gets in without a credential.
    let handed = handed(&Folder::new(), &format!("[server]\nmcp_listen = \"{free}\"\n"));
    assert_eq!(handed.address, free.to_string());
}

#[test]
fn the_brief_is_shown_with_the_configuration() {
    let folder = Folder::new();
    let shown: Value = serde_json::from_str(&folder.run(&["config", "show", "--json"]).ok()).unwrap();
    assert_eq!(shown["brief"], json!({ "enabled": true, "text": server::STANDARD_BRIEF }));
    assert!(folder.run(&["config"]).ok().contains("## Marking is required"));
    folder.configure("[brief]\ntext = \"Mark what you read.\"");
    assert!(folder.run(&["config"]).ok().contains("text = \"Mark what you read.\""));
}

fn line(id: u32, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
}

fn answers(said: &str) -> Vec<Value> {
    said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect()
}

#[test]
fn on_stdio_both_revisions_have_the_tools_and_nothing_else_is_said() {
    let folder = Folder::new();
    let refused = folder.run(&["mcp"]).failed();
    assert!(refused.contains("no server runs on this data folder"), "{refused}");
    let server = folder.serve();
    let refused = folder.run(&["mcp"]).failed();
    assert!(refused.contains("no session works in") && refused.contains("--session"), "{refused}");
    folder.run(&["new"]).ok();

    let client = json!({ "name": "a test", "version": "1" });
    let marked = json!({ "name": "set_relevant_context", "arguments": { "setName": "files", "items": ["/a.rs"] } });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let input = [
        line(1, "initialize", &hello),
        format!("{ready}\n\nno JSON\n"),
        line(2, "tools/list", &json!({})),
        line(3, "tools/call", &marked),
    ];
    let said = answers(&folder.run_with_input(&["mcp"], &input.concat()).ok());
    assert_eq!(
        said.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(),
        [json!(1), Value::Null, json!(2), json!(3)]
    );
    assert_eq!(said[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(said[0]["result"]["instructions"], server::STANDARD_BRIEF);
    assert_eq!(said[1]["error"]["code"], -32700);
    let own = server::own_tools().unasked.iter().filter(|tool| tool.server == "throughline").count();
    assert_eq!(said[2]["result"]["tools"].as_array().unwrap().len(), own);
    assert_eq!(said[3]["result"]["content"][0]["text"], "Set files: 1 item.");

    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let got = json!({ "name": "get_relevant_context", "arguments": {}, "_meta": meta });
    let input = [line(1, "server/discover", &json!({ "_meta": meta })), line(2, "tools/call", &got)];
    let said = answers(&folder.run_with_input(&["mcp", "--session", "last"], &input.concat()).ok());
    assert_eq!(said[0]["result"]["instructions"], server::STANDARD_BRIEF, "{said:?}");
    assert_eq!(said[1]["result"]["content"][0]["text"], "{\n  \"files\": [\n    \"/a.rs\"\n  ]\n}");

    let entries: Vec<_> = {
        let client = Client::new(&folder, &server);
        let session = client.get("/sessions").body["sessions"][0]["id"].as_str().unwrap().to_owned();
        client.entries(&session).into_iter().filter(|entry| entry["type"] == "context.set").collect()
    };
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["data"], json!({ "set": "files", "items": ["/a.rs"], "by": "agent" }));
    server.stop();
}

/// The guide as a process of its own, with the mount of the real server.
#[test]
fn the_guide_marks_what_is_relevant() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let said =
        folder.run(&["send", "last", "tool set_relevant_context {\"setName\": \"ports\", \"items\": [\"8080\"]}"]);
    assert!(said.ok().contains("That is what the tool answered."));
    let shown = folder.run(&["show", "last", "--json"]).ok();
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let set: Vec<_> = entries.iter().filter(|entry| entry["type"] == "context.set").collect();
    assert_eq!(set.len(), 1, "{shown}");
    assert_eq!(set[0]["data"], json!({ "set": "ports", "items": ["8080"], "by": "agent" }));
    assert!(entries.iter().all(|entry| entry["type"] != "permission.asked"));
    server.stop();
}
