//! The tools of `/mcp/show` with which an agent shows, saves and reads applets.

use std::fs;

use engine::OpenApplet;
use model::{AppletName, SessionId};
use serde_json::{Value, json};

use crate::mcp::Client;
use crate::outputs::{listed, showing};
use crate::support::World;

/// What `get_applet_state` answers; the words and what is structured are the same.
async fn state(agent: &Client, arguments: Value) -> Value {
    let result = agent.result("get_applet_state", arguments.clone()).await;
    let structured = result.structured_content.unwrap();
    assert_eq!(agent.call("get_applet_state", arguments).await, format!("{structured:#}"));
    structured
}

fn folder(world: &World) -> std::path::PathBuf {
    world.directory.path().canonicalize().unwrap().join("data/applets")
}

#[tokio::test]
async fn an_applet_is_shown_saved_and_shown_again() {
    let world = World::keeping_files().await;
    let (session, _, agent) = showing(&world).await;
    let nothing = state(&agent, json!({})).await;
    assert_eq!((&nothing["hasApplet"], nothing["note"].as_str().is_some()), (&json!(false), true));
    for (tool, arguments) in
        [("save_applet", json!({ "slug": "a", "name": "A" })), ("set_applet_state", json!({ "data": { "a": 1 } }))]
    {
        let answer = agent.call(tool, arguments).await;
        assert!(answer.starts_with("FAILED Nothing was done: session") && answer.contains("set_applet"), "{answer}");
    }
    let none = agent.call("list_applets", json!({})).await;
    assert!(none.contains("\ncounter \"Counter\" [comes with the program] Counts"), "{none}");
    assert!(none.ends_with("None of the person's own is saved yet: set_applet shows a new one, save_applet keeps it."));

    let page = json!({ "html": "<p>hello</p>", "js": "start()", "title": "A board" });
    let answer = agent.call("set_applet", page).await;
    let own = folder(&world).join("_shown").join(&session);
    let files = "meta.json, content.html, script.js, style.css, state.json";
    let sizes = "12 bytes of HTML, 7 of script, 0 of style";
    let (marker, rest) = answer.split_once(' ').unwrap();
    assert!(marker.starts_with("[output:out_"), "{answer}");
    let expected =
        format!("The person sees the applet \"A board\" ({sizes}).\nIts files, in {}: {files}.\n", own.display());
    assert!(rest.starts_with(&expected) && rest.contains("The open applet follows"), "{answer}");
    assert_eq!(fs::read_to_string(own.join("content.html")).unwrap(), "<p>hello</p>");
    assert_eq!(listed(&world, &session).await[0]["type"], "applet");

    let told = state(&agent, json!({})).await;
    assert_eq!((&told["activeSlug"], &told["title"], &told["state"]), (&json!(null), &json!("A board"), &json!({})));
    let answer = agent.call("set_applet_state", json!({ "data": { "count": 3, "names": ["a"] } })).await;
    assert!(answer.starts_with("Set 2 keys of the state of \"A board\", which has version "), "{answer}");
    assert!(answer.ends_with("No page shows it at the moment; it has this when it is opened."), "{answer}");

    fs::write(own.join("content.html"), "<p>edited</p>").unwrap();
    let saved = json!({ "slug": "my-board", "name": "My board", "description": "Sorts tasks" });
    let answer = agent.call("save_applet", saved).await;
    let place = folder(&world).join("my-board");
    let expected = format!(
        "Saved \"My board\" (my-board); it is the applet that is shown now.\nIts files, in {}: {files}.",
        place.display()
    );
    assert_eq!(answer, expected);
    assert_eq!(fs::read_to_string(place.join("content.html")).unwrap(), "<p>edited</p>");
    let answer = agent.call("list_applets", json!({})).await;
    let first = format!("9 applets, newest first:\nmy-board \"My board\" [{}] Sorts tasks\n", place.display());
    assert!(answer.starts_with(&first) && !answer.contains("None of"), "{answer}");
    let told = state(&agent, json!({})).await;
    let expected = (&json!("my-board"), &json!({ "count": 3, "names": ["a"] }), &json!(false));
    assert_eq!((&told["activeSlug"], &told["state"], &told["isOpen"]), expected);
    assert!(told["version"].as_u64().is_some_and(|version| version > 0), "{told}");

    let answer = agent.call("load_applet", json!({ "slug": "my-board", "params": { "q": "x" } })).await;
    assert!(
        answer.starts_with("[output:out_") && answer.contains(" The person sees the applet \"My board\" (my-board) ")
    );
    assert!(!answer.contains("edited"), "{answer}");
    assert_eq!(state(&agent, json!({})).await["params"], json!({ "q": "x" }));
    world.close().await;
}

#[tokio::test]
async fn a_state_is_read_by_key_and_set_where_a_page_shows_it() {
    let world = World::keeping_files().await;
    let (session, _, agent) = showing(&world).await;
    let answer = agent.call("load_applet", json!({ "slug": "no-such" })).await;
    assert!(answer.contains("there is no applet no-such; there are applet-browser, counter, "), "{answer}");
    let answer = agent.call("load_applet", json!({ "slug": "text-editor" })).await;
    assert!(answer.contains("It comes with the program") && answer.contains("It was not given path"), "{answer}");
    agent.call("load_applet", json!({ "slug": "counter" })).await;
    assert_eq!(state(&agent, json!({})).await["note"], "the applet is loaded and its state is empty");

    let viewer = world.engine.new_viewer();
    let id: SessionId = session.parse().unwrap();
    let open = OpenApplet { name: AppletName::Saved("counter".parse().unwrap()), params: [].into() };
    world.engine.open_applet(viewer, id, open).await.unwrap();
    let answer = agent.call("set_applet_state", json!({ "data": { "count": 5, "by": "agent" } })).await;
    assert!(answer.ends_with("The person has it open and sees the change."), "{answer}");
    agent.call("set_applet_state", json!({ "data": { "by": null } })).await;
    let told = state(&agent, json!({ "key": "count" })).await;
    assert_eq!((&told["value"], &told["isOpen"], &told["activeSlug"]), (&json!(5), &json!(true), &json!("counter")));
    let told = state(&agent, json!({ "key": "by" })).await;
    assert_eq!((&told["note"], &told["keys"]), (&json!("the state has no key \"by\""), &json!(["count"])));

    for (data, why) in [
        (json!({ "text": "x".repeat(300_000) }), "this state has"),
        (json!("{\"count\":1}"), "data is an object such as {\"count\":5}, and this is a text"),
    ] {
        let answer = agent.call("set_applet_state", json!({ "data": data })).await;
        assert!(answer.starts_with("FAILED Nothing was done: ") && answer.contains(why), "{answer}");
    }
    assert_eq!(state(&agent, json!({})).await["state"], json!({ "count": 5 }));
    world.close().await;
}

#[tokio::test]
async fn how_applets_are_used_and_written_is_told() {
    let world = World::keeping_files().await;
    let (_, _, agent) = showing(&world).await;
    let of_one = agent.call("applet_usage", json!({ "slug": "text-editor" })).await;
    assert!(of_one.contains("\ntext-editor \"Text editor\" Lets the person"), "{of_one}");
    assert!(
        of_one.contains("\n  ?applet=text-editor&path=…[&line=…]\n  path (required): The file.\n  line (optional): "),
        "{of_one}"
    );
    assert!(of_one.contains("\n  get drafts: ") && of_one.contains("\n  Example: "), "{of_one}");
    let of_all = agent.call("applet_usage", json!({})).await;
    assert!(of_all.contains("?applet=counter\n") && of_all.contains("  set count: "), "{of_all}");
    assert_eq!(agent.call("applet_howto", json!({})).await, engine::APPLET_HOWTO);
    world.close().await;
}

#[tokio::test]
async fn what_is_no_applet_is_refused() {
    let world = World::keeping_files().await;
    let (session, _, agent) = showing(&world).await;
    let before = world.entries(&session).await.len();
    let slug = |slug: &str| json!({ "slug": slug, "name": "A" });
    for (tool, arguments, why) in [
        ("set_applet", json!({ "html": " " }), "no HTML and no script"),
        ("set_applet", json!({ "html": "é".repeat(600_000) }), "at most 1048576 are kept"),
        ("set_applet", json!({ "html": "x".repeat(1_048_577) }), "html has 1048577 characters"),
        ("set_applet", json!({ "html": "x", "title": "two\nlines" }), "the title is one line"),
        ("set_applet", json!({ "js": "x" }), "html is missing"),
        ("save_applet", slug("../up"), "1 to 64 lower-case letters, digits and hyphens"),
        ("save_applet", slug("_shown"), "1 to 64 lower-case letters, digits and hyphens"),
        ("save_applet", slug("Board"), "1 to 64 lower-case letters, digits and hyphens"),
        ("load_applet", json!({ "slug": "counter", "params": { "n": 1 } }), "its \"n\" is a number"),
        ("load_applet", json!({ "slug": "counter", "params": { "n": "a\nb" } }), "params are at most 20"),
        ("applet_usage", json!({ "slug": "no-such" }), "there is no applet no-such"),
    ] {
        let answer = agent.call(tool, arguments).await;
        assert!(answer.starts_with("FAILED Nothing was done: ") && answer.contains(why), "{tool}: {answer}");
    }
    assert_eq!(world.entries(&session).await.len(), before);
    assert!(!folder(&world).join("_shown").exists());
    world.close().await;
}

/// `/mcp` takes 256 KiB.
#[tokio::test]
async fn an_applet_may_be_longer_than_what_the_other_mount_takes() {
    let world = World::keeping_files().await;
    let (_, _, agent) = showing(&world).await;
    let answer = agent.call("set_applet", json!({ "html": "\"\n".repeat(1 << 17) })).await;
    assert!(answer.contains("\"Applet\" (262144 bytes of HTML"), "{answer}");
    world.close().await;
}

#[tokio::test]
async fn the_guide_shows_an_applet() {
    let world = World::keeping_files().await;
    world.engine.mount_at(server::mcp_url(world.address));
    let session = world.session().await;
    world.turn(&session, "applet counter").await;
    world.turn(&session, "applet a b.txt").await;
    let outputs = listed(&world, &session).await;
    assert_eq!(outputs.iter().map(|output| &output["slug"]).collect::<Vec<_>>(), ["counter", "text-editor"]);
    let entries = world.entries(&session).await;
    let shown: Vec<_> = entries.iter().filter(|entry| entry["type"] == "applet.shown").collect();
    assert_eq!(shown[1]["data"]["params"], json!({ "path": "a b.txt" }));
    world.close().await;
}
