//! Tests the records that agents keep of sessions: listed, and deleted with the session.

use serde_json::{Value, json};

use super::world::World;

impl World {
    fn delete(&self, session: &str, how: &str) {
        let told = self.client.call(&format!("DELETE /api/v1/sessions/{session}{how}"), None, &Value::Null).unwrap();
        assert_eq!(told.status, 204, "{}", told.body);
    }
}

#[test]
fn a_session_that_is_purged_takes_its_agents_record_with_it() {
    let world = World::new("", &[("own", "resume"), ("shared", "shared resume"), ("keeps", "resume delete:refuse")]);
    // By its own process, which ends with it.
    let own = world.session("own");
    world.settled(&own);
    world.delete(&own, "?now=true");
    assert_eq!(world.noted("session/delete "), ["s1"]);
    // A session that was deleted before, by a process that others still use.
    let [one, two] = [(); 2].map(|()| {
        let session = world.session("shared");
        world.settled(&session);
        session
    });
    world.delete(&one, "");
    assert_eq!(world.noted("session/close "), ["s1"]);
    world.delete(&one, "?now=true");
    assert_eq!(world.noted_times(2, "session/delete "), ["s1", "s1"]);
    assert_eq!(world.turn(&two, "hello"), "idle\n  text: hello\n  turn completed\n");
    // A record that an agent refuses to delete blocks nobody.
    let kept = world.session("keeps");
    world.settled(&kept);
    world.delete(&kept, "?now=true");
    assert_eq!(world.client.get(&format!("/sessions/{kept}")).status, 404);
    assert_eq!(world.noted("session/close "), ["s1"]);
    world.guide_is_unharmed();
    world.server.stop();
}

#[test]
fn the_sessions_that_an_agent_keeps_are_told_with_those_that_are_ours() {
    let world = World::new(
        "agent_start_seconds = 5",
        &[("keeps", "shared list"), ("refuses", "list list:refuse"), ("hangs", "list list:hang"), ("none", "")],
    );
    let session = world.session("keeps");
    world.settled(&session);
    let page = world.client.get("/agents/keeps/sessions?cwd=/here");
    let kept = json!({ "id": "s1", "title": "Number 1", "cwd": "/here", "updatedAt": "2026-01-02T03:04:05.000Z",
        "sessionId": session });
    assert_eq!((page.status, page.body), (200, json!({ "sessions": [kept], "nextCursor": "more" })));
    let page = world.client.get("/agents/keeps/sessions?cursor=more");
    let odd = json!({ "id": "odd", "title": "Tidy [2K up", "cwd": "/anywhere", "updatedAt": null, "sessionId": null });
    assert_eq!((page.status, page.body), (200, json!({ "sessions": [odd], "nextCursor": null })));

    let printed = world.folder.run(&["agents", "keeps"]).ok();
    let words: Vec<&str> = printed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((words[0], words[1]), ("s1", &session[session.len() - 8..]), "{printed}");
    assert!(printed.ends_with("(there are more: --cursor more)\n"), "{printed}");

    for (path, status, code) in [
        ("refuses/sessions", 502, "agent_failed"),
        ("hangs/sessions", 504, "agent_timeout"),
        ("none/sessions", 409, "not_supported"),
        ("guide/sessions", 409, "not_supported"),
        ("copilot/sessions", 409, "agent_not_installed"),
        ("nobody/sessions", 404, "unknown_agent"),
        ("keeps/sessions?cwd=here", 400, "invalid_query"),
        ("keeps/sessions?limit=1", 400, "invalid_query"),
    ] {
        let told = world.client.get(&format!("/agents/{path}"));
        assert_eq!((told.status, told.body["error"]["code"].as_str()), (status, Some(code)), "{path}");
    }
    world.guide_is_unharmed();
    world.server.stop();
}
