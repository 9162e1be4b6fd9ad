//! `/storage/file`: what the person may look at.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Answer, bearer};
use crate::support::World;

/// A session in `work`, beside which there is more.
async fn session(world: &World) -> (String, PathBuf) {
    let root = world.directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("work/src")).unwrap();
    fs::create_dir_all(root.join("work-too")).unwrap();
    fs::create_dir_all(root.join("outside")).unwrap();
    for (path, content) in [
        ("work/notes.md", "one\ntwo <b>bold</b>\n"),
        ("work/.env", "KEY=1"),
        ("work-too/near.md", "near"),
        ("outside/ticket.md", "a ticket"),
        ("outside/other.md", "other"),
        ("outside/.env", "KEY=2"),
    ] {
        fs::write(root.join(path), content).unwrap();
    }
    symlink(root.join("outside/ticket.md"), root.join("work/way-out.md")).unwrap();
    symlink(root.join("work/.env"), root.join("work/harmless.txt")).unwrap();
    symlink("notes.md", root.join("work/also.md")).unwrap();
    symlink("other.md", root.join("outside/beside.md")).unwrap();
    symlink(root.join("work-too/near.md"), root.join("outside/elsewhere.md")).unwrap();
    let wish = json!({ "agent": "guide", "cwd": root.join("work") });
    let begun = world.call("POST /api/v1/sessions", wish).await.ok(201);
    (begun["id"].as_str().unwrap().to_owned(), root)
}

async fn open(world: &World, session: &str, path: &Path, more: &str) -> Answer {
    let path = path.to_str().unwrap().replace('%', "%25").replace(' ', "%20");
    world.get(&format!("/api/v1/storage/file?session={session}&path={path}{more}")).await
}

/// The code, or the content.
async fn told(world: &World, session: &str, path: &Path, more: &str) -> String {
    let answer = open(world, session, path, more).await;
    if answer.summary().starts_with("200") {
        answer.json()["content"].as_str().unwrap().to_owned()
    } else {
        answer.summary()
    }
}

async fn mark(world: &World, session: &str, files: &[PathBuf]) {
    let wish = json!({ "setContext": { "setName": "files", "items": files, "mode": "merge" } });
    world.call(&format!("PATCH /api/v1/sessions/{session}"), wish).await.ok(200);
}

#[tokio::test]
async fn a_file_of_the_session_is_data() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let path = root.join("work/notes.md");
    let answer = open(&world, &session, &path, "").await;
    let expected: Value = json!({
        "path": path, "content": "one\ntwo <b>bold</b>\n", "encoding": "utf-8",
        "bytes": 20, "cut": false, "outside": false
    });
    assert_eq!(answer.ok(200), expected);
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(told(&world, &session, &root.join("work/also.md"), "").await, "one\ntwo <b>bold</b>\n");
    assert_eq!(told(&world, &session, &root.join("work/src/../notes.md"), "").await, "one\ntwo <b>bold</b>\n");
    for (path, expected) in [
        ("work/gone.md", "404 file_not_found"),
        ("work/notes.md/deeper", "404 file_not_found"),
        ("work/src", "400 not_a_file"),
        ("work", "400 not_a_file"),
    ] {
        assert_eq!(told(&world, &session, &root.join(path), "").await, expected, "{path}");
    }
    world.close().await;
}

/// T15, T16, T17, T19: told alike, whether or not it is there.
#[tokio::test]
async fn what_is_outside_or_protected_is_refused_alike() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let mut words = Vec::new();
    for path in [
        "outside/ticket.md",
        "outside/gone.md",
        "outside",
        "work-too/near.md",
        "work/../outside/ticket.md",
        "work/way-out.md",
        "work/.env",
        "work/.ENV",
        "work/.env.",
        "work/harmless.txt",
        "work/.env/deeper",
        "work/.ssh/id_rsa",
        "outside/.env",
    ] {
        for more in ["", "&confirm=true"] {
            let answer = open(&world, &session, &root.join(path), more).await;
            assert_eq!(answer.summary(), "403 path_not_allowed", "{path}{more}");
            words.push(answer.text());
        }
    }
    for path in ["/etc/hostname", "/etc/gone", "/proc/self/environ", "notes.md", "~/notes.md", "", "/"] {
        let answer = open(&world, &session, Path::new(path), "&confirm=true").await;
        assert_eq!(answer.summary(), "403 path_not_allowed", "{path}");
        words.push(answer.text());
    }
    words.dedup();
    assert_eq!(words.len(), 1, "{words:?}");
    let null = world.get(&format!("/api/v1/storage/file?session={session}&path=/etc%00/x")).await;
    assert_eq!(null.summary(), "403 path_not_allowed");
    world.close().await;
}

#[tokio::test]
async fn what_the_person_marked_outside_is_opened_once_they_say_so() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let at = |name: &str| root.join("outside").join(name);
    mark(
        &world,
        &session,
        &[at("ticket.md"), at("gone.md"), at(".env"), at(".ssh/id_ed25519"), at("beside.md"), at("elsewhere.md")],
    )
    .await;
    for (name, asked, confirmed) in [
        ("ticket.md", "409 outside_needs_confirm", "a ticket"),
        ("gone.md", "404 file_not_found", "404 file_not_found"),
        (".env", "403 path_not_allowed", "403 path_not_allowed"),
        // Not even whether its directory is there is told.
        (".ssh/id_ed25519", "403 path_not_allowed", "403 path_not_allowed"),
        // A link beside it is followed, one that leads elsewhere is not.
        ("beside.md", "409 outside_needs_confirm", "other"),
        ("elsewhere.md", "403 path_not_allowed", "403 path_not_allowed"),
        ("other.md", "403 path_not_allowed", "403 path_not_allowed"),
    ] {
        assert_eq!(told(&world, &session, &at(name), "").await, asked, "{name}");
        assert_eq!(told(&world, &session, &at(name), "&confirm=true").await, confirmed, "{name}");
    }
    assert_eq!(open(&world, &session, &at("ticket.md"), "&confirm=true").await.ok(200)["outside"], json!(true));
    world.close().await;
}

/// Without a session all of them decide, by the same rules.
#[tokio::test]
async fn without_a_session_the_files_of_all_are_shown() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let begun = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": root.join("work-too") })).await;
    begun.ok(201);
    mark(&world, &session, &[root.join("outside/ticket.md")]).await;
    for (path, more, expected) in [
        ("work/notes.md", "", "one\ntwo <b>bold</b>\n"),
        ("work-too/near.md", "", "near"),
        ("work/gone.md", "", "404 file_not_found"),
        ("work/.env", "", "403 path_not_allowed"),
        ("work/way-out.md", "", "403 path_not_allowed"),
        ("work/../outside/other.md", "&confirm=true", "403 path_not_allowed"),
        ("outside/ticket.md", "", "409 outside_needs_confirm"),
        ("outside/ticket.md", "&confirm=true", "a ticket"),
        ("outside/other.md", "&confirm=true", "403 path_not_allowed"),
        ("outside/gone.md", "&confirm=true", "403 path_not_allowed"),
    ] {
        let answer = world.get(&format!("/api/v1/storage/file?path={}{more}", root.join(path).display())).await;
        let told = match answer.summary().starts_with("200") {
            true => answer.json()["content"].as_str().unwrap().to_owned(),
            false => answer.summary(),
        };
        assert_eq!(told, expected, "{path}{more}");
    }
    world.close().await;
}

/// T19: an agent that marks a path opens nothing by it.
#[tokio::test]
async fn what_an_agent_marked_outside_stays_shut() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let agent = world.agent_token(&session).await;
    let ticket = root.join("outside/ticket.md");
    let wish = json!({ "setContext": { "setName": "files", "items": [ticket] } });
    world.call_as(bearer(&agent), &format!("PATCH /api/v1/sessions/{session}"), wish).await.ok(200);
    assert_eq!(told(&world, &session, &ticket, "&confirm=true").await, "403 path_not_allowed");
    world.close().await;
}

#[tokio::test]
async fn what_is_no_text_and_what_is_long_is_told_as_such() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let put = |name: &str, bytes: &[u8]| {
        let path = root.join("work").join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for (name, bytes, base64) in
        [("a.bin", b"a\0b".as_slice(), "YQBi"), ("b.bin", b"\xff\xfe", "//4="), ("c.bin", b"ok \xc3", "b2sgww==")]
    {
        let answer = open(&world, &session, &put(name, bytes), "").await.ok(200);
        assert_eq!((&answer["content"], &answer["encoding"]), (&json!(base64), &json!("base64")), "{name}");
        assert_eq!((&answer["bytes"], &answer["cut"]), (&json!(bytes.len()), &json!(false)), "{name}");
    }
    // The bound lies in the middle of a character.
    let long = "é".repeat(600_000);
    let answer = open(&world, &session, &put("long.md", format!("x{long}").as_bytes()), "").await.ok(200);
    assert_eq!(answer["content"].as_str().unwrap().len(), (1 << 20) - 1);
    assert_eq!((&answer["bytes"], &answer["cut"]), (&json!(1_200_001), &json!(true)));
    let whole = open(&world, &session, &root.join("work/long.md"), "&whole=true").await;
    assert_eq!(whole.ok(200)["content"].as_str().unwrap().len(), 1_200_001);
    let answer = open(&world, &session, &root.join("work/long.md"), "").await;
    assert!(answer.header("etag").is_none() && whole.header("etag").is_some(), "only a whole content has a tag");
    put("longer.md", &vec![b'x'; (8 << 20) + 1]);
    let answer = open(&world, &session, &root.join("work/longer.md"), "&whole=true").await;
    assert_eq!(answer.summary(), "413 file_too_large");
    let answer = open(&world, &session, &put("empty", b""), "").await.ok(200);
    assert_eq!((&answer["content"], &answer["bytes"]), (&json!(""), &json!(0)));
    world.close().await;
}

#[tokio::test]
async fn a_directory_that_went_has_nothing_in_it() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    fs::remove_dir_all(root.join("work")).unwrap();
    assert_eq!(told(&world, &session, &root.join("work/notes.md"), "").await, "404 file_not_found");
    assert_eq!(told(&world, &session, &root.join("work/../outside/ticket.md"), "").await, "403 path_not_allowed");
    world.close().await;
}

/// T19, T29: an agent sees what lies in its own session's directories, and of the rest not even what the person marked.
#[tokio::test]
async fn an_agent_reads_its_own_sessions_files_and_no_others() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let begun = world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": root.join("work-too") })).await;
    let other = begun.ok(201)["id"].as_str().unwrap().to_owned();
    let agent = world.agent_token(&session).await;
    mark(&world, &session, &[root.join("outside/ticket.md")]).await;
    for (of, path, expected) in [
        (&session, "work/notes.md", "200"),
        (&session, "work/.env", "403 path_not_allowed"),
        (&session, "outside/ticket.md", "403 path_not_allowed"),
        (&session, "work-too/near.md", "403 path_not_allowed"),
        (&other, "work-too/near.md", "404 session_not_found"),
    ] {
        let path = root.join(path);
        let route = format!("GET /api/v1/storage/file?session={of}&path={}&confirm=true", path.display());
        assert_eq!(world.call_as(bearer(&agent), &route, None).await.summary(), expected, "{route}");
    }
    for (of, expected) in [(&session, "200"), (&other, "404 session_not_found")] {
        let route = format!("GET /api/v1/storage/list?session={of}");
        assert_eq!(world.call_as(bearer(&agent), &route, None).await.summary(), expected);
    }
    let route = format!("POST /api/v1/storage/file?path={}", root.join("work/new").display());
    let wish = json!({ "content": "x" });
    assert_eq!(world.call_as(bearer(&agent), &route, wish).await.summary(), "403 forbidden");
    world.close().await;
}

#[tokio::test]
async fn whoever_names_no_session_is_the_person() {
    let world = World::open().await;
    let (session, root) = session(&world).await;
    let agent = world.agent_token(&session).await;
    let path = root.join("work/notes.md");
    let route = format!("GET /api/v1/storage/file?session={session}&path={}", path.display());
    assert_eq!(world.call_as(vec![], &route, None).await.summary(), "401 unauthenticated");
    let anywhere = format!("GET /api/v1/storage/file?path={}", path.display());
    assert_eq!(world.call_as(bearer(&agent), &anywhere, None).await.summary(), "403 forbidden");
    let nobody = "0198c0de-0000-7000-8000-00000000dead";
    assert_eq!(told(&world, nobody, &path, "").await, "404 session_not_found");
    for query in
        ["path=/a&b=c", "session=x&path=/a", &format!("session={session}"), &format!("session={session}&path=/a&b=c")]
    {
        assert_eq!(world.get(&format!("/api/v1/storage/file?{query}")).await.summary(), "400 invalid_query", "{query}");
    }
    world.close().await;
}
