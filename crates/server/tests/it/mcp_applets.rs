//! The tools of `/mcp/show` with which an agent shows, saves and reads applets.

use std::fs;

use engine::OpenApplet;
use model::{AppletName, SessionId};
use rmcp::model::{PaginatedRequestParams, ReadResourceRequestParams};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;

use crate::mcp::{Client, Era};
use crate::outputs::{listed, showing};
use crate::support::{World, within};

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

const PAGE: &str = "text/html;profile=mcp-app";

/// The document of a resource, as a host gets it.
async fn document(agent: &Client, uri: &str) -> Result<String, String> {
    let read = within(uri, agent.peer().read_resource(ReadResourceRequestParams::new(uri))).await;
    let read = serde_json::to_value(read.map_err(|err| err.to_string())?).unwrap();
    let contents = &read["contents"][0];
    assert_eq!((&contents["mimeType"], &contents["uri"]), (&json!(PAGE), &json!(uri)));
    assert_eq!(contents["_meta"], json!({ "ui": { "csp": {}, "permissions": {} } }));
    Ok(contents["text"].as_str().unwrap().to_owned())
}

/// What a document tells of its applet.
fn told(document: &str) -> Value {
    let (_, rest) = document.split_once("data-applet=\"").unwrap();
    let (attribute, _) = rest.split_once('"').unwrap();
    serde_json::from_str(&attribute.replace("&quot;", "\"").replace("&amp;", "&")).unwrap()
}

#[tokio::test]
async fn other_hosts_find_applets_and_read_their_documents() {
    let world = World::keeping_files().await;
    let (session, _, agent) = showing(&world).await;
    let saved = json!({ "name": "A \"board\"\n</script>", "description": "Sorts tasks", "html": "<p>hello</p>" });
    let bad = world.call("PUT /api/v1/storage/applet/a-board", saved).await;
    assert_eq!(bad.status, 400);
    let saved = json!({ "name": "A \"board\" &amp; </script>", "description": "Sorts tasks", "html": "<p>hello</p>" });
    world.call("PUT /api/v1/storage/applet/a-board", saved).await.ok(201);
    let listed = within("the list", agent.peer().list_all_resources()).await.unwrap();
    let listed = serde_json::to_value(&listed).unwrap();
    let first = json!({
        "uri": "ui://throughline/applet/a-board",
        "name": "a-board",
        "title": "A \"board\" &amp; </script>",
        "description": "Sorts tasks",
        "mimeType": PAGE,
        "_meta": { "ui": { "csp": {}, "permissions": {} } },
    });
    assert_eq!((&listed[0], listed.as_array().unwrap().len()), (&first, 9));
    let templates = within("the templates", agent.peer().list_all_resource_templates()).await.unwrap();
    assert_eq!(templates[0].uri_template, "ui://throughline/applet/{slug}");

    let text = document(&agent, "ui://throughline/applet/a-board").await.unwrap();
    assert!(text.contains("<div id=\"applet\">\n<p>hello</p>\n</div>"), "{text}");
    let about = told(&text);
    assert_eq!((&about["applet"], &about["session"]), (&json!("a-board"), &json!(session)));
    assert_eq!(about["title"], "A \"board\" &amp; </script>");
    assert_eq!(told(&text), told(&document(&agent, "ui://throughline/applet/a-board").await.unwrap()));

    agent.call("set_applet", json!({ "html": "<p>mine</p>", "title": "Mine" })).await;
    let listed = within("the list", agent.peer().list_all_resources()).await.unwrap();
    assert_eq!((&*listed[0].uri, listed.len()), ("ui://throughline/shown", 10));
    let text = document(&agent, "ui://throughline/shown").await.unwrap();
    assert!(text.contains("<p>mine</p>") && told(&text)["applet"] == "_shown", "{text}");
    let shell = document(&agent, "ui://throughline/applet").await.unwrap();
    assert!(shell.contains("data-applet=\"\"") && !shell.contains("<p>"), "{shell}");
    for uri in [
        "ui://throughline/applet/no-such",
        "ui://throughline/applet/",
        "ui://throughline/applet/_shown",
        "ui://throughline/applet/../shown",
        "ui://throughline/applet/a-board/",
        "ui://throughline/applet/A-board",
        "ui://throughline/",
        "ui://elsewhere/applet/a-board",
        "throughline://skills/throughline/SKILL.md",
        &format!("ui://throughline/applet/{}", "x".repeat(1_000)),
    ] {
        let refused = document(&agent, uri).await.unwrap_err();
        assert!(refused.contains("there is no resource") && refused.len() < 500, "{refused}");
    }
    world.close().await;
}

#[tokio::test]
async fn a_long_list_of_applets_comes_in_pages() {
    let world = World::keeping_files().await;
    let (_, _, agent) = showing(&world).await;
    for n in 0..195 {
        let place = folder(&world).join(format!("n{n:03}"));
        fs::create_dir_all(&place).unwrap();
        let at = "2026-11-19T00:00:00.000Z";
        let about = json!({ "name": "N", "description": "d".repeat(1_000), "createdAt": at, "updatedAt": at });
        fs::write(place.join("meta.json"), about.to_string()).unwrap();
        fs::write(place.join("content.html"), "<p>n</p>").unwrap();
    }
    let mut cursor = None;
    let mut pages = Vec::new();
    loop {
        let request = PaginatedRequestParams::default().with_cursor(cursor);
        let page = within("a page", agent.peer().list_resources(Some(request))).await.unwrap();
        assert!(serde_json::to_vec(&page).unwrap().len() < 100_000);
        pages.push(page.resources.into_iter().map(|resource| resource.uri).collect::<Vec<_>>());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 3]);
    let all = pages.concat();
    assert!(all.is_sorted() && all.first().is_some_and(|uri| uri.ends_with("/applet-browser")), "{all:?}");
    world.close().await;
}

#[tokio::test]
async fn a_page_elsewhere_reaches_its_own_applet_and_nothing_else() {
    let world = World::keeping_files().await;
    let (session, _, agent) = showing(&world).await;
    let handle = told(&document(&agent, "ui://throughline/applet/counter").await.unwrap())["handle"].clone();
    let result = async |tool: &str, arguments: Value| {
        let result = agent.result(tool, arguments).await;
        (result.is_error == Some(true), result.structured_content.unwrap())
    };
    assert_eq!(
        result("applet_state_get", json!({ "handle": handle })).await,
        (false, json!({ "state": {}, "version": 0 }))
    );
    let (_, written) = result("applet_state_set", json!({ "handle": handle, "merge": { "count": 3 } })).await;
    let version = written["version"].as_u64().unwrap();
    let now = json!({ "state": { "count": 3 }, "version": version });
    assert_eq!(result("applet_state_get", json!({ "handle": handle, "version": version - 1 })).await, (false, now));
    let known = result("applet_state_get", json!({ "handle": handle, "version": version })).await;
    assert_eq!(known, (false, json!({ "version": version })));
    let shown = world.get("/api/v1/storage/applet/counter/state").await.ok(200);
    assert_eq!((&shown["state"], &shown["version"]), (&json!({ "count": 3 }), &json!(version)));
    let (_, document) = result("applet_document", json!({ "handle": handle })).await;
    assert!(document["js"].as_str().unwrap().contains("throughline.setState"), "{document}");

    let secret = handle.as_str().unwrap().strip_prefix("counter").unwrap();
    let other = world.session().await;
    let token = world.agent_token(&other).await;
    let elsewhere = Client::open_at(&format!("http://{}/mcp/show", world.address), Era::Handshake, &token).await;
    assert_eq!(elsewhere.result("applet_state_get", json!({ "handle": handle })).await.is_error, Some(true));
    for (tool, arguments, code) in [
        ("applet_state_get", json!({ "handle": format!("plan{secret}") }), "not_found"),
        ("applet_state_get", json!({ "handle": "counter" }), "not_found"),
        ("applet_document", json!({ "handle": format!("_shown{secret}") }), "not_found"),
        ("applet_state_get", json!({}), "bad_arguments"),
        ("applet_state_get", json!({ "handle": handle, "slug": "plan" }), "bad_arguments"),
        ("applet_state_set", json!({ "handle": handle }), "bad_arguments"),
        ("applet_state_set", json!({ "handle": handle, "state": {}, "merge": {} }), "bad_arguments"),
        ("applet_state_set", json!({ "handle": handle, "state": [] }), "bad_arguments"),
        ("applet_state_set", json!({ "handle": handle, "merge": { "a": 1 }, "version": version - 1 }), "conflict"),
        ("applet_state_set", json!({ "handle": handle, "merge": { "a": "x".repeat(300_000) } }), "too_large"),
    ] {
        let (is_error, refused) = result(tool, arguments.clone()).await;
        assert!(is_error && refused["code"] == code, "{tool} {arguments:.200}: {refused}");
    }
    let (_, conflict) = result("applet_state_set", json!({ "handle": handle, "state": {}, "version": 0 })).await;
    assert_eq!(conflict, json!({ "code": "conflict", "version": version }));

    // What the model is offered, no page may call, and the other way round.
    let tools = within("the tools", agent.peer().list_all_tools()).await.unwrap();
    for tool in serde_json::to_value(&tools).unwrap().as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let is_for_pages = ["applet_document", "applet_state_get", "applet_state_set"].contains(&name);
        let ui = &tool["_meta"]["ui"];
        assert_eq!(ui["visibility"], if is_for_pages { json!(["app"]) } else { json!(["model"]) }, "{name}");
        let has_page = ["set_applet", "load_applet"].contains(&name);
        assert_eq!(ui["resourceUri"], if has_page { json!("ui://throughline/applet") } else { Value::Null }, "{name}");
    }

    // The page of a tool learns from its result which applet it is; without a turn only such a page shows it.
    let shown = agent.result("load_applet", json!({ "slug": "counter", "params": { "a": "b" } })).await;
    let told = json!({ "throughline/applet": { "handle": handle, "params": { "a": "b" } } });
    assert_eq!(serde_json::to_value(&shown.meta).unwrap(), told);
    world.call(&format!("POST /api/v1/sessions/{session}/cancel"), json!({})).await;
    world.until_entry(&session, |entry| entry["type"] == "turn.ended").await;
    let before = world.entries(&session).await.len();
    let shown = agent.result("load_applet", json!({ "slug": "counter", "params": { "a": "b" } })).await;
    assert_eq!(serde_json::to_value(&shown.meta).unwrap(), told);
    let words = agent.call("load_applet", json!({ "slug": "counter" })).await;
    assert!(words.starts_with("No turn of this session runs") && words.contains("\"Counter\" (counter)"), "{words}");
    assert_eq!(world.entries(&session).await.len(), before);
    world.close().await;
}

/// The credential that the agent of a new session is lent, as it arrives where its tools are said to be.
async fn lent(world: &World) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    world.engine.mount_at(format!("http://{}/mcp", listener.local_addr().unwrap()));
    let session = world.session().await;
    world.prompt(&session, "tool get_relevant_context {}").await;
    let (stream, _) = within("the agent's call", listener.accept()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = within("its headers", lines.next_line()).await.unwrap() {
        if let Some((name, value)) = line.split_once(": Bearer ")
            && name.eq_ignore_ascii_case("authorization")
        {
            return value.to_owned();
        }
    }
    panic!("the agent has shown no credential");
}

/// It has our page, so its model does not pay for what other hosts need.
#[tokio::test]
async fn an_agent_that_runs_here_is_not_offered_what_pages_elsewhere_need() {
    let world = World::keeping_files().await;
    let session = world.session().await;
    let names = async |token: &str| {
        let url = format!("http://{}/mcp/show", world.address);
        let client = Client::open_at(&url, Era::Handshake, token).await;
        let tools = within("the tools", client.peer().list_all_tools()).await.unwrap();
        let told = tools.iter().filter(|tool| tool.meta.is_some()).count();
        (tools.len(), told)
    };
    assert_eq!(names(&lent(&world).await).await, (13, 0));
    assert_eq!(names(&world.agent_token(&session).await).await, (16, 16));
    world.close().await;
}
