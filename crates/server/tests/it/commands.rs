//! `run_and_display` over a real port: one question a call, live frames, and what is kept of a command.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Live, bearer};
use crate::live::follow;
use crate::mcp::Client;
use crate::outputs::{listed, session_in, showing};
use crate::support::World;

/// Waits for the newest question of a session and gives the path at which it is answered.
async fn asked(world: &World, session: &str, nth: u64) -> (String, Value) {
    let is_it = |entry: &Value| entry["type"] == "permission.asked" && entry["data"]["request"] == nth;
    let asked = world.until_entry(session, is_it).await;
    (format!("POST /api/v1/sessions/{session}/permissions/p{nth}"), asked["data"].clone())
}

/// Calls the tool and answers the question that this brings, the nth of the session.
async fn run(world: &World, session: &str, agent: &Client, nth: u64, arguments: Value, option: &str) -> String {
    let answering = async {
        let (answer, _) = asked(world, session, nth).await;
        world.call(&answer, json!({ "option": option })).await.ok(200);
    };
    Box::pin(async { tokio::join!(agent.call("run_and_display", arguments), answering).0 }).await
}

fn id_in(answer: &str) -> String {
    answer.strip_prefix("[output:").unwrap_or_else(|| panic!("{answer}")).split(']').next().unwrap().to_owned()
}

async fn count(world: &World, session: &str, kind: &str) -> usize {
    world.entries(session).await.iter().filter(|entry| entry["type"] == kind).count()
}

#[tokio::test]
async fn an_allowed_command_is_shown_whole_and_the_agent_gets_a_line() {
    let world = World::running_commands().await;
    let (session, cwd, agent) = showing(&world).await;
    let line = r"printf 'one\n\033]52;c;aGk=\007two\342\200\256\n'; echo three >&2";
    let answer = run(&world, &session, &agent, 1, json!({ "command": line }), "allow-once").await;
    assert!(answer.contains("printed: it succeeded after"), "{answer}");
    assert!(answer.contains("(3 lines, 29 bytes).") && answer.lines().count() == 1, "{answer}");
    assert!(!answer.contains("three\n"), "{answer}");
    let id = id_in(&answer);
    assert_eq!(count(&world, &session, "permission.asked").await, 1);

    let [output] = &listed(&world, &session).await[..] else { panic!("one") };
    assert_eq!((&output["id"], &output["type"], &output["command"]), (&json!(id), &json!("terminal"), &json!(line)));
    assert_eq!((&output["exitCode"], &output["endedBy"], &output["cut"]), (&json!(0), &Value::Null, &Value::Null));
    assert!(output["durationMs"].is_u64(), "{output}");
    let bytes = world.get(&format!("/api/v1/sessions/{session}/outputs/{id}")).await;
    assert_eq!(bytes.text(), "one\n\u{1b}]52;c;aGk=\u{7}two\u{202e}\nthree\n");
    let read = agent.call("retrieve_output", json!({ "id": id })).await;
    assert!(read.ends_with("     1| one\n     2| two\n     3| three\n"), "nothing but text: {read:?}");
    let found = agent.call("retrieve_output", json!({ "id": id, "grep": "THREE" })).await;
    assert!(found.ends_with(").\n     3| three\n"), "{found}");

    // Its directory may be named.
    fs::create_dir(cwd.join("below")).unwrap();
    let answer = run(&world, &session, &agent, 2, json!({ "command": "pwd", "cwd": "below" }), "allow-once").await;
    let read = agent.call("retrieve_output", json!({ "id": id_in(&answer) })).await;
    assert!(read.contains(&format!("1| {}\n", cwd.join("below").display())), "{read}");

    drop(agent);
    let world = world.restart().await;
    assert_eq!(world.get(&format!("/api/v1/outputs/{id}")).await.text(), bytes.text());
    world.close().await;
}

#[tokio::test]
async fn a_failure_comes_with_what_is_needed_to_act_on_it() {
    let world = World::running_commands().await;
    let (session, _, agent) = showing(&world).await;
    let answer = run(&world, &session, &agent, 1, json!({ "command": "echo oops; exit 7" }), "allow-once").await;
    assert!(answer.contains("failed with exit code 7") && answer.ends_with("\n     1| oops\n"), "{answer}");

    let long = json!({ "command": "seq 1 20000; printf '\\033[31mthe end\\n'; exit 1" });
    let answer = run(&world, &session, &agent, 2, long, "allow-once").await;
    assert!(answer.len() < 24_000 && answer.contains("\n     1| 1\n     2| 2\n"), "{} bytes", answer.len());
    assert!(answer.contains(" lines left out: retrieve_output gets them"), "{answer}");
    assert!(answer.ends_with(" 20000| 20000\n 20001| the end\n"), "{}", &answer[answer.len() - 100..]);
    // The rest by lines and by words; without either, the ends again.
    let id = id_in(&answer);
    let lines = agent.call("retrieve_output", json!({ "id": id, "startLine": 9_000, "endLine": 9_001 })).await;
    assert!(lines.ends_with("\n  9000| 9000\n  9001| 9001\n"), "{lines}");
    let found = agent.call("retrieve_output", json!({ "id": id, "grep": "12345" })).await;
    assert!(found.ends_with("\n 12345| 12345\n"), "{found}");
    let ends = agent.call("retrieve_output", json!({ "id": id })).await;
    assert!(ends.contains("lines left out") && ends.ends_with("the end\n"), "{}", ends.len());
    world.close().await;
}

#[tokio::test]
async fn followers_see_it_live_wherever_they_come_from_until_it_is_stored() {
    let world = World::running_commands().await;
    let (session, cwd, agent) = showing(&world).await;
    let mut live = Live::local(&world).await;
    live.ask(follow(&session)).await;
    let line = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo done";
    let calling = run(&world, &session, &agent, 1, json!({ "command": line }), "allow-once");
    let watching = async {
        let frames = live.until_that(|frame| frame["type"] == "output_preview" && frame["text"] == "begun\n").await;
        let first = frames.iter().find(|frame| frame["type"] == "output_preview").unwrap();
        assert_eq!((&first["offset"], &first["command"], &first["turn"]), (&json!(0), &json!(line), &json!(1)));
        let id = first["output"].as_str().unwrap().to_owned();
        // Somebody comes late, and the agent looks.
        let mut late = Live::local(&world).await;
        late.ask(follow(&session)).await;
        let frames = late.until("output_preview").await;
        let last = frames.last().unwrap();
        assert_eq!((&last["offset"], &last["text"], &last["output"]), (&json!(0), &json!("begun\n"), &json!(id)));
        let progress = agent.call("retrieve_output", json!({ "id": id })).await;
        assert!(progress.contains("] Running:") && progress.ends_with("\nbegun\n"), "{progress}");
        fs::write(cwd.join("go"), "").unwrap();
        for live in [&mut live, &mut late] {
            let frames = live.until_that(|frame| frame["entry"]["type"] == "output.stored").await;
            assert_eq!(frames.last().unwrap()["entry"]["data"]["output"]["id"], json!(id));
        }
        id
    };
    let (answer, id) = tokio::join!(calling, watching);
    assert_eq!(id_in(&answer), id);
    world.close().await;
}

#[tokio::test]
async fn of_two_devices_the_first_answers_and_an_agent_never_does() {
    let world = World::running_commands().await;
    let (session, cwd, agent) = showing(&world).await;
    let token = world.agent_token(&session).await;
    let answering = async {
        let (answer, question) = asked(&world, &session, 1).await;
        assert_eq!(question["subject"], json!(format!("touch ran\nin {}", cwd.display())));
        let allow = json!({ "option": "allow-once" });
        assert_eq!(world.call_as(bearer(&token), &answer, allow.clone()).await.summary(), "403 forbidden");
        world.call(&answer, json!({ "option": "reject-once" })).await.ok(200);
        assert_eq!(world.call(&answer, allow).await.status, 409);
    };
    let (refused, ()) = tokio::join!(agent.call("run_and_display", json!({ "command": "touch ran" })), answering);
    assert!(refused.contains("] Refused:"), "{refused}");
    assert!(!cwd.join("ran").exists());
    let read = agent.call("retrieve_output", json!({ "id": id_in(&refused) })).await;
    assert_eq!(read, refused);
    assert_eq!(listed(&world, &session).await, Vec::<Value>::new());
    world.close().await;
}

#[tokio::test]
async fn always_is_remembered_and_can_be_forgotten_like_every_answer() {
    let world = World::running_commands().await;
    let (session, _, agent) = showing(&world).await;
    let call = json!({ "command": "true" });
    let first = run(&world, &session, &agent, 1, call.clone(), "allow-always").await;
    assert!(first.contains("it succeeded"), "{first}");
    let rows = world.get("/api/v1/permissions").await.ok(200);
    let [row] = &rows["permissions"].as_array().unwrap()[..] else { panic!("{rows}") };
    let again = agent.call("run_and_display", call.clone()).await;
    assert!(again.contains("it succeeded"), "{again}");
    let answered = world.entries(&session).await;
    let answered = answered.iter().rfind(|entry| entry["type"] == "permission.answered").unwrap();
    assert_eq!(answered["data"]["by"], json!({ "type": "remembered", "id": row["id"] }));
    world.call(&format!("DELETE /api/v1/permissions/{}", row["id"].as_str().unwrap()), None).await.ok(204);
    let refused = run(&world, &session, &agent, 3, call, "reject-once").await;
    assert!(refused.contains("] Refused:"), "{refused}");
    world.close().await;
}

#[tokio::test]
async fn what_is_more_than_an_output_may_have_is_cut_and_bad_input_changes_nothing() {
    let world = World::running_commands().await;
    let (session, _, agent) = showing(&world).await;
    let before = world.entries_count(&session).await;
    for (input, why) in [
        (json!({ "command": " " }), "the command is empty"),
        (json!({ "command": "ls", "cwd": ".." }), "outside the directories"),
        (json!({ "command": "ls", "cwd": "/etc" }), "outside the directories"),
        (json!({ "command": "x".repeat(8_001) }), "command"),
        (json!({ "command": "ls", "timeout": 9 }), "timeout"),
        (json!({}), "command"),
    ] {
        let answer = agent.call("run_and_display", input.clone()).await;
        assert!(answer.starts_with("FAILED") && answer.contains(why), "{input}: {answer}");
    }
    assert_eq!(world.entries_count(&session).await, before);
    let answer = run(&world, &session, &agent, 1, json!({ "command": "yes" }), "allow-once").await;
    assert!(answer.contains("printed as much as is kept") && answer.contains("the rest was cut"), "{answer:.300}");
    let [output] = &listed(&world, &session).await[..] else { panic!("one") };
    assert_eq!(
        (&output["cut"], &output["endedBy"], &output["bytes"]),
        (&json!(true), &json!("limit"), &json!(1 << 20))
    );
    world.close().await;
}

/// The guide calls the real tool, and the person is asked once.
#[tokio::test]
async fn the_guide_displays_a_command_with_one_question() {
    let world = World::running_commands().await;
    world.engine.mount_at(server::mcp_url(world.address));
    let (session, _) = session_in(&world).await;
    world.prompt(&session, "display echo hello; exit 4").await;
    let (answer, question) = asked(&world, &session, 1).await;
    assert!(question["subject"].as_str().unwrap().starts_with("echo hello; exit 4\nin /"), "{question}");
    world.call(&answer, json!({ "option": "allow-once" })).await.ok(200);
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    let entries = world.entries(&session).await;
    let kinds: Vec<_> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    let at = |kind: &str| kinds.iter().rposition(|other| *other == kind).unwrap();
    assert!(at("tool.started") < at("permission.asked") && at("output.stored") < at("tool.ended"), "{kinds:?}");
    assert_eq!(count(&world, &session, "permission.asked").await, 1);
    let shown = &listed(&world, &session).await[0];
    assert_eq!((&shown["exitCode"], &shown["turn"]), (&json!(4), &json!(1)));
    world.close().await;
}
