//! `POST /storage/file`: where files are written, and under which conditions.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::{Answer, Lines};
use crate::support::World;

fn data(world: &World) -> PathBuf {
    world.directory.path().canonicalize().unwrap().join("data")
}

async fn write(world: &World, path: &Path, body: Value, condition: &[(&'static str, &str)]) -> Answer {
    let mut lines: Lines = world.bearer();
    lines.extend(condition.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let path = path.to_str().unwrap().replace('%', "%25").replace(' ', "%20");
    world.call_as(lines, &format!("POST /api/v1/storage/file?path={path}"), body).await
}

async fn read(world: &World, path: &Path) -> Answer {
    world.get(&format!("/api/storage/file?path={}", path.display())).await
}

#[tokio::test]
async fn a_file_is_made_replaced_and_read_again() {
    let world = World::keeping_files().await;
    for (path, body, content) in [
        ("files/notes/a.md", json!({ "content": "one\n" }), b"one\n".as_slice()),
        ("files/notes/a.md", json!({ "content": "é", "encoding": "utf-8" }), "é".as_bytes()),
        ("applets/clock/content.html", json!({ "content": "<b>now</b>" }), b"<b>now</b>"),
        ("files/picture.png", json!({ "content": "iVBOR/8A", "encoding": "base64" }), b"\x89PNG\xff\0"),
        ("files/empty", json!({ "content": "" }), b""),
    ] {
        let at = data(&world).join(path);
        let is_new = !at.exists();
        let answer = write(&world, &at, body.clone(), &[]).await;
        let bytes = fs::read(&at).unwrap();
        assert_eq!(bytes, content, "{path}");
        let expected = json!({ "path": at, "bytes": bytes.len(), "created": is_new });
        assert_eq!(answer.ok(if is_new { 201 } else { 200 }), expected);
        let found = read(&world, &at).await;
        assert_eq!(found.ok(200)["content"], body["content"], "{path}");
        assert!(found.header("etag").is_some_and(|tag| tag.len() == 66), "{:?}", found.headers);
        assert_eq!(found.header("etag"), answer.header("etag"));
    }
    let mode = fs::metadata(data(&world).join("files")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "the folder is its user's alone");
    let left = fs::read_dir(data(&world).join("files")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_str().unwrap().contains("tmp")));
    world.close().await;
}

/// T15, T16, T18, T19: refused alike, and nothing is made.
#[tokio::test]
async fn nothing_is_written_anywhere_else() {
    let world = World::keeping_files().await;
    let (data, root) = (data(&world), world.directory.path().canonicalize().unwrap());
    for folder in ["files", "files-too", "sessions"] {
        fs::create_dir(data.join(folder)).unwrap();
    }
    fs::create_dir(root.join("work")).unwrap();
    world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": root.join("work") })).await.ok(201);
    fs::write(data.join("token"), "secret").unwrap();
    fs::write(root.join("work/own.md"), "own").unwrap();
    symlink(root.join("work"), data.join("files/way-out")).unwrap();
    symlink("../token", data.join("files/key")).unwrap();
    symlink(root.join("work/new.md"), data.join("files/dangling")).unwrap();
    let count = || walk(&root).len();
    let before = count();
    let mut refusals = Vec::new();
    let inside = |path: &str| data.join(path).to_str().unwrap().to_owned();
    for path in [
        "token",
        "throughline.db",
        "config.toml",
        "sessions/x",
        "new",
        "files-too/x",
        "files/../token",
        "files/a/../../token",
    ]
    .map(inside)
    .into_iter()
    .chain(
        ["files/.env", "files/.ENV.", "files/x/.ssh/id", "files/a.pem", "files/.git/hooks/x", "files/way-out/x"]
            .map(inside),
    )
    .chain(["work/own.md", "work/new.md", "gone/x"].map(|path| root.join(path).to_str().unwrap().to_owned()))
    .chain(["/etc/throughline-test", "/", "notes.md", "files/x", "../x", "~/x", ""].map(str::to_owned))
    {
        let answer = write(&world, Path::new(&path), json!({ "content": "x" }), &[]).await;
        assert_eq!(answer.summary(), "403 path_not_allowed", "{path}");
        refusals.push(answer.text());
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    for null in ["%00", "/x%00y"] {
        let route = format!("POST /api/v1/storage/file?path={}{null}", inside("files"));
        assert_eq!(world.call(&route, json!({ "content": "x" })).await.summary(), "403 path_not_allowed");
    }
    for (path, expected) in [
        ("files", "400 not_a_file"),
        // A link at the end is never written through.
        ("files/key", "400 not_a_file"),
        ("files/dangling", "400 not_a_file"),
    ] {
        let answer = write(&world, &data.join(path), json!({ "content": "x" }), &[]).await;
        assert_eq!(answer.summary(), expected, "{path}");
    }
    assert_eq!((count(), fs::read_to_string(data.join("token")).unwrap()), (before, "secret".to_owned()));
    assert_eq!(fs::read_to_string(root.join("work/own.md")).unwrap(), "own");
    world.close().await;
}

/// Everything below a directory but for what the server itself keeps there.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join("data"), folder.join("work")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

#[tokio::test]
async fn a_write_happens_only_under_its_condition() {
    let world = World::keeping_files().await;
    let at = data(&world).join("files/a.md");
    let content = |text: &str| json!({ "content": text });
    assert_eq!(write(&world, &at, content("x"), &[("if-match", "*")]).await.summary(), "412 file_changed");
    let made = write(&world, &at, content("one"), &[("if-none-match", "*")]).await;
    made.ok(201);
    let one = made.header("etag").unwrap().to_owned();
    assert_eq!(write(&world, &at, content("x"), &[("if-none-match", "*")]).await.summary(), "412 file_changed");
    let two = write(&world, &at, content("two"), &[("if-match", &one)]).await;
    two.ok(200);
    // The same again has happened already; another one expects what is gone.
    write(&world, &at, content("two"), &[("if-match", &one)]).await.ok(200);
    assert_eq!(write(&world, &at, content("x"), &[("if-match", &one)]).await.summary(), "412 file_changed");
    let weak = format!("W/{}", two.header("etag").unwrap());
    assert_eq!(write(&world, &at, content("x"), &[("if-match", &weak)]).await.summary(), "412 file_changed");
    let several = format!("\"else\", {}", two.header("etag").unwrap());
    write(&world, &at, content("three"), &[("if-match", &several)]).await.ok(200);
    write(&world, &at, content("four"), &[("if-match", "*")]).await.ok(200);
    for condition in [("if-match", "four"), ("if-match", ""), ("if-none-match", one.as_str())] {
        assert_eq!(write(&world, &at, content("x"), &[condition]).await.summary(), "400 invalid_condition");
    }
    let both = [("if-match", "*"), ("if-none-match", "*")];
    assert_eq!(write(&world, &at, content("x"), &both).await.summary(), "400 invalid_condition");
    assert_eq!(read(&world, &at).await.ok(200)["content"], "four");
    world.close().await;
}

/// Of many that expect the same content one writes.
#[tokio::test]
async fn writes_at_once_replace_nothing_unseen() {
    let world = World::keeping_files().await;
    let at = data(&world).join("files/a.md");
    let tag = write(&world, &at, json!({ "content": "0" }), &[]).await.header("etag").unwrap().to_owned();
    let condition = [("if-match", tag.as_str())];
    let all = (1..=12).map(|n| write(&world, &at, json!({ "content": format!("{n}") }), &condition));
    let answers = join_all(all).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(answers.iter().all(|answer| ["200", "412 file_changed"].contains(&answer.summary().as_str())));
    world.close().await;
}

#[tokio::test]
async fn a_body_that_is_no_file_is_refused() {
    let world = World::keeping_files().await;
    let at = data(&world).join("files/a.md");
    for body in [
        json!({}),
        json!({ "content": null }),
        json!({ "content": 7 }),
        json!({ "content": "x", "mode": "0777" }),
        json!({ "content": "x", "encoding": "latin-1" }),
        json!({ "content": "not base64!", "encoding": "base64" }),
        json!({ "content": "x", "key": "k" }),
    ] {
        assert_eq!(write(&world, &at, body.clone(), &[]).await.summary(), "400 invalid_body", "{body}");
    }
    let key = [("idempotency-key", "k")];
    assert_eq!(write(&world, &at, json!({ "content": "x" }), &key).await.summary(), "400 key_not_taken");
    for query in ["", "?path=/a&session=x", "?file=/a"] {
        let answer = world.call(&format!("POST /api/v1/storage/file{query}"), json!({ "content": "x" })).await;
        assert_eq!(answer.summary(), "400 invalid_query", "{query}");
    }
    let long = "x".repeat((8 << 20) + 1);
    assert_eq!(write(&world, &at, json!({ "content": long }), &[]).await.summary(), "413 file_too_large");
    assert!(!data(&world).join("files").exists());
    write(&world, &at, json!({ "content": &long[1..] }), &[]).await.ok(201);
    let whole = world.get(&format!("/api/v1/storage/file?path={}&whole=true", at.display())).await.ok(200);
    assert_eq!(whole["bytes"], 8 << 20);
    world.close().await;
}
