//! `/storage/list`: directories, page by page.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::World;

async fn session(world: &World) -> (String, PathBuf) {
    let root = world.directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("work/src")).unwrap();
    fs::create_dir_all(root.join("work-too")).unwrap();
    fs::create_dir_all(root.join("work/.ssh")).unwrap();
    for (path, content) in
        [("work/notes.md", "12345"), ("work/.env", "KEY=1"), ("work/.Env.Local.", "KEY=1"), ("work/a.PEM", "key")]
    {
        fs::write(root.join(path), content).unwrap();
    }
    symlink("../work-too", root.join("work/way-out")).unwrap();
    symlink("src", root.join("work/in")).unwrap();
    let wish = json!({ "agent": "guide", "cwd": root.join("work") });
    let begun = world.call("POST /api/v1/sessions", wish).await.ok(201);
    (begun["id"].as_str().unwrap().to_owned(), root)
}

fn names(page: &Value) -> Vec<&str> {
    page["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_directory_is_listed_without_what_is_protected() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    let work = root.join("work");
    let expected = json!({
        "path": work,
        "files": [
            { "name": "in", "type": "link", "size": 3 },
            { "name": "notes.md", "type": "file", "size": 5 },
            { "name": "src", "type": "directory", "size": fs::metadata(work.join("src")).unwrap().len() },
            { "name": "way-out", "type": "link", "size": 11 },
        ],
        "nextCursor": null,
    });
    for (base, query) in [
        ("/api/v1", format!("session={session}")),
        ("/api", format!("session={session}&path={}", work.display())),
        ("/api/v1", format!("path={}", work.display())),
        ("/api/v1", format!("path={}/", work.display())),
    ] {
        let answer = world.get(&format!("{base}/storage/list?{query}")).await;
        let mut page = answer.ok(200);
        page["path"] = json!(page["path"].as_str().unwrap().trim_end_matches('/'));
        assert_eq!(page, expected, "{query}");
        assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    }
    world.close().await;
}

/// Without a path it is the folder for everybody, which is made when something is written there.
#[tokio::test]
async fn the_shared_folder_is_listed_before_it_is_there() {
    let world = World::keeping_files().await;
    let files = world.directory.path().canonicalize().unwrap().join("data/files");
    let list = async || world.get("/api/v1/storage/list").await.ok(200);
    assert_eq!(list().await, json!({ "path": files, "files": [], "nextCursor": null }));
    assert!(!files.exists());
    let route = format!("POST /api/v1/storage/file?path={}", files.join("t/a.md").display());
    world.call(&route, json!({ "content": "note" })).await.ok(201);
    assert_eq!(names(&list().await), ["t"]);
    let page = world.get(&format!("/api/v1/storage/list?path={}", files.join("t").display())).await.ok(200);
    assert_eq!(page["files"], json!([{ "name": "a.md", "type": "file", "size": 4 }]));
    world.close().await;
}

/// T15, T16, T17, T19: refused alike, whether or not it is there.
#[tokio::test]
async fn what_is_outside_or_protected_is_not_listed() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
    let mut refusals = Vec::new();
    for path in
        ["work-too", "gone", "", "work/..", "work/../work-too", "work/way-out", "work/.ssh", "work/.SSH", "work/.env"]
            .map(at)
            .into_iter()
            .chain(["data", "data/sessions", "data/files/../"].map(at))
            .chain(
                ["/", "/etc", "/proc/self", "/dev", "src", "../work-too", "", "/etc%00", "%2e%2e/work-too"]
                    .map(str::to_owned),
            )
    {
        for session in [format!("&session={session}"), String::new()] {
            let answer = world.get(&format!("/api/v1/storage/list?path={path}{session}")).await;
            assert_eq!(answer.summary(), "403 path_not_allowed", "{path}{session}");
            refusals.push(answer.text());
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    for (path, expected) in [("work/gone", "404 file_not_found"), ("work/notes.md", "404 file_not_found")] {
        let answer = world.get(&format!("/api/v1/storage/list?session={session}&path={}", at(path))).await;
        assert_eq!(answer.summary(), expected, "{path}");
    }
    for (query, expected) in [
        ("limit=0", "400 invalid_query"),
        ("limit=1001", "400 invalid_query"),
        ("limit=x", "400 invalid_query"),
        ("deep=true", "400 invalid_query"),
        ("after=*", "400 invalid_cursor"),
        ("after=", "400 invalid_cursor"),
        ("after=YS9i", "400 invalid_cursor"),
    ] {
        let answer = world.get(&format!("/api/v1/storage/list?session={session}&{query}")).await;
        assert_eq!(answer.summary(), expected, "{query}");
    }
    world.close().await;
}

#[tokio::test]
async fn a_long_directory_comes_in_pages() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    for n in 0..2_345 {
        fs::write(root.join(format!("work/src/{n:04} é+&.txt")), "").unwrap();
    }
    let (mut found, mut after, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let query = format!("session={session}&path={}{after}", root.join("work/src").display());
        let page = world.get(&format!("/api/v1/storage/list?{query}")).await.ok(200);
        found.extend(names(&page).into_iter().map(str::to_owned));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(cursor) => after = format!("&after={cursor}"),
            None => break,
        }
    }
    let expected: Vec<String> = (0..2_345).map(|n| format!("{n:04} é+&.txt")).collect();
    assert_eq!((found == expected, pages), (true, 3));
    let some = world.get(&format!("/api/v1/storage/list?session={session}&limit=2")).await.ok(200);
    assert_eq!(names(&some), ["in", "notes.md"]);
    world.close().await;
}
