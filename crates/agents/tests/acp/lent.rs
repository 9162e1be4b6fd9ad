//! Tests what agents get of the session's own tools.

use agents::{AgentStart, Lent, McpServer, OWN_MCP_SERVER, OwnTool};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, Talk};

fn lent() -> Option<Lent> {
    let server = McpServer::Http {
        name: "throughline".to_owned(),
        url: "http://127.0.0.1:1/mcp".to_owned(),
        headers: vec![("Authorization".to_owned(), "Bearer x".to_owned())],
    };
    let mark = OwnTool { server: OWN_MCP_SERVER, name: "mark".to_owned(), asks_itself: false };
    Some(Lent { servers: vec![server], unasked: vec![mark], brief: Some("Mark it.".to_owned()) })
}

/// What an agent with these capabilities receives when its conversation begins.
async fn told(wishes: &str, earlier: Option<&str>, way: &str) -> Value {
    let place = Place::new(&[wishes]);
    let earlier = earlier.map(str::to_owned);
    let talk = place.start_with(AgentStart { lent: lent(), earlier, ..place.asking(wishes) });
    let noted = place.noted(way).await;
    drop(talk);
    place.agents.shutdown().await;
    serde_json::from_str(noted.strip_prefix(way).unwrap()).unwrap()
}

#[tokio::test]
async fn it_is_the_same_for_a_new_conversation_and_for_one_that_is_taken_up() {
    let all = json!([
        [{ "type": "http", "name": "throughline", "url": "http://127.0.0.1:1/mcp",
           "headers": [{ "name": "Authorization", "value": "Bearer x" }] }],
        { "mode": "append", "content": [{ "type": "text", "text": "Mark it." }] },
        { "claudeCode": { "options": { "allowedTools": ["mcp__throughline__mark"] } } },
    ]);
    assert_eq!(told("told mcp prompted unasked", None, "session/new ").await, all);
    assert_eq!(told("told mcp prompted unasked resume", Some("s7"), "session/resume ").await, all);
    assert_eq!(told("told mcp prompted unasked load", Some("s7"), "session/load ").await, all);
}

#[tokio::test]
async fn an_agent_is_told_no_more_than_it_takes() {
    let nothing = json!([[], null, null]);
    assert_eq!(told("told prompted unasked", None, "session/new ").await, nothing);
    let tools = told("told mcp", None, "session/new ").await;
    assert_eq!((tools[0].as_array().unwrap().len(), &tools[1], &tools[2]), (1, &Value::Null, &Value::Null));
}

/// The texts of the blocks of a prompt.
async fn sent(talk: &mut Talk, words: &str) -> Vec<String> {
    let told = talk.turn(words).await;
    let echoed = told.strip_prefix("text 0 ").unwrap().lines().next().unwrap();
    let blocks: Vec<Value> = serde_json::from_str(echoed).unwrap();
    blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_agent_that_passes_nothing_on_gets_the_brief_once_with_its_first_words() {
    let agents = ["mcp briefed", "mcp briefed resume", "mcp", "briefed"];
    let place = Place::new(&agents);
    let briefed = "[Context from Throughline about the session that you work in. It is not a request.]\n\nMark it.";
    let mut talk = place.start_with(AgentStart { lent: lent(), ..place.asking(agents[0]) });
    talk.begun().await;
    talk.turn("/no such").await;
    assert_eq!(sent(&mut talk, "echo").await, [briefed, "echo"]);
    assert_eq!(sent(&mut talk, "echo").await, ["echo"]);
    // These have had it before, get it in another way, or have none of the tools that it is about.
    for (agent, earlier) in [(agents[1], Some("s7".to_owned())), (agents[2], None), (agents[3], None)] {
        let mut talk = place.start_with(AgentStart { lent: lent(), earlier, ..place.asking(agent) });
        talk.begun().await;
        assert_eq!(sent(&mut talk, "echo").await, ["echo"], "{agent}");
    }
}

/// A question about one of the session's own tools names the tool and its input; by the tool's name, not by text that
/// a model may have written.
#[tokio::test]
async fn a_question_about_one_of_the_own_tools_names_it() {
    let agents = ["mcp titled", "mcp", "titled", "mcp wrapping"];
    let place = Place::new(&agents);
    let mark = r#"own other mcp__throughline__mark {"items":["a"]}"#;
    let mut told = String::new();
    let lent = lent().map(|mut lent| {
        lent.unasked.push(OwnTool { server: OWN_MCP_SERVER, name: "run".to_owned(), asks_itself: true });
        lent
    });
    for (agent, words) in [
        ("mcp titled", mark),
        ("mcp titled", r#"own execute mcp__throughline__mark {"items":["a"]}"#),
        // It asks the person itself, whatever the agent thinks of it; but it deletes nothing.
        ("mcp titled", r#"own execute mcp__throughline__run {"command":"a"}"#),
        ("mcp titled", r#"own delete mcp__throughline__run {"command":"a"}"#),
        ("mcp titled", r#"own other mcp__throughline__bash {"items":["a"]}"#),
        ("mcp titled", r#"own other mcp__other__mark {"items":["a"]}"#),
        ("mcp titled", "own other mcp__throughline__mark items"),
        // Its titles may be anything, or it was lent nothing.
        ("mcp", mark),
        ("titled", mark),
        (
            "mcp wrapping",
            r#"own execute mcp.throughline.run {"server":"throughline","tool":"run","arguments":{"command":"a"}}"#,
        ),
        // What it wraps is another call than its title says, or no call at all.
        ("mcp wrapping", r#"own execute mcp.throughline.run {"server":"other","tool":"run","arguments":{}}"#),
        ("mcp wrapping", r#"own execute mcp.throughline.run {"server":"throughline","tool":"mark","arguments":{}}"#),
        ("mcp wrapping", r#"own execute mcp.other.run {"server":"throughline","tool":"run","arguments":{}}"#),
        (
            "mcp wrapping",
            r#"own execute mcp.throughline.run {"server":"throughline","tool":"run","arguments":{},"command":"a"}"#,
        ),
        ("mcp wrapping", r#"own execute mcp.throughline.run {"command":"a"}"#),
        ("mcp wrapping", mark),
    ] {
        let mut talk = place.start_with(AgentStart { lent: lent.clone(), ..place.asking(agent) });
        talk.begun().await;
        talk.prompt(words).await;
        let (_, asked) = talk.asked().await;
        let asked = asked.lines().last().unwrap_or_default();
        told += &format!("{}\n", asked.split_once(" {\"tool\"").map_or(asked, |(start, _)| start));
    }
    assert_snapshot!(told, @r#"
    asked 1 own mark {"items":["a"]}
    asked 1
    asked 1 own run {"command":"a"}
    asked 1
    asked 1
    asked 1
    asked 1
    asked 1
    asked 1
    asked 1 own run {"command":"a"}
    asked 1
    asked 1
    asked 1
    asked 1
    asked 1
    asked 1
    "#);
}
