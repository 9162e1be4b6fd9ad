//! `/directories`: where a new session could work.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::bearer;
use crate::support::{CWD, World};

/// The world's own folder, without links on the way to it, as sessions have it.
fn root(world: &World) -> PathBuf {
    world.directory.path().canonicalize().unwrap()
}

async fn suggested(world: &World, prefix: &str) -> Value {
    world.get(&format!("/api/v1/directories?prefix={prefix}")).await.ok(200)["directories"].clone()
}

#[tokio::test]
async fn directories_go_on_from_what_was_typed() {
    let world = World::open().await;
    let root = root(&world);
    for path in ["code/.git", "Code-old", "home/deep/.git", "home/.hidden"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::write(root.join("code.txt"), "no directory").unwrap();
    let directory = |path: &str, is_project: bool| json!({ "path": root.join(path), "isProject": is_project });
    let typed = |path: &str| root.join(path).to_str().unwrap().to_owned();
    let code = json!([directory("code", true), directory("Code-old", false)]);
    assert_eq!(suggested(&world, &typed("cod")).await, code);
    let other = world.get(&format!("/api/directories?prefix={}", typed("cod").replace('/', "%2F"))).await.ok(200);
    assert_eq!(other, json!({ "directories": code, "recent": [] }));
    let home = json!([{ "path": world.directory.path().join("home/deep"), "isProject": true }]);
    for prefix in ["~/", "~", "", "~/d", "%7E/DE"] {
        assert_eq!(suggested(&world, prefix).await, home, "{prefix}");
    }
    assert_eq!(world.get("/api/v1/directories").await.ok(200)["directories"], home);
    let hidden = json!([{ "path": world.directory.path().join("home/.hidden"), "isProject": false }]);
    assert_eq!(suggested(&world, "~/.h").await, hidden);
    for prefix in ["code", "..", "~nobody/", "/nowhere/at/all", "%00", "/usr%00/", "%ff"] {
        assert_eq!(suggested(&world, prefix).await, json!([]), "{prefix}");
    }
    for n in 0..60 {
        fs::create_dir(root.join(format!("many{n:02}"))).unwrap();
    }
    let many = suggested(&world, &typed("many")).await;
    assert_eq!((many.as_array().unwrap().len(), &many[49]), (50, &directory("many49", false)));
    world.close().await;
}

/// The newest first, each once, and none that is gone.
#[tokio::test]
async fn directories_of_the_newest_sessions_are_offered() {
    let world = World::open().await;
    let root = root(&world);
    fs::create_dir_all(root.join("project/.git")).unwrap();
    let begin = async |cwd: PathBuf| {
        fs::create_dir_all(&cwd).unwrap();
        world.clock.advance(Duration::from_secs(1));
        world.call("POST /api/v1/sessions", json!({ "agent": "guide", "cwd": cwd })).await.ok(201);
    };
    for n in 0..12 {
        begin(root.join(format!("project/part{n:02}"))).await;
    }
    begin(CWD.into()).await;
    begin(root.join("gone")).await;
    begin(root.join("project/part10")).await;
    fs::remove_dir(root.join("gone")).unwrap();

    let recent = world.get("/api/v1/directories?prefix=/nowhere").await.ok(200)["recent"].clone();
    let paths: Vec<_> = recent.as_array().unwrap().iter().map(|recent| recent["path"].as_str().unwrap()).collect();
    let part = |n: u32| root.join(format!("project/part{n:02}")).to_str().unwrap().to_owned();
    let expected = [part(10), CWD.to_owned(), part(11), part(9), part(8), part(7), part(6), part(5), part(4)];
    assert_eq!(paths, expected);
    let newest = json!({
        "path": part(10),
        "project": root.join("project"),
        "agent": "guide",
        "activeAt": "2025-11-15T03:00:15.000Z",
    });
    assert_eq!(recent[0], newest);
    world.close().await;
}

/// T19: names of files anywhere on the machine are for the person alone.
#[tokio::test]
async fn agents_are_told_of_no_directory() {
    let world = World::open().await;
    let session = world.session().await;
    let agent = world.agent_token(&session).await;
    for prefix in ["", "?prefix=/", "?prefix=/nowhere/at/all", "?prefix=~/"] {
        let answer = world.call_as(bearer(&agent), &format!("GET /api/v1/directories{prefix}"), None).await;
        assert_eq!(answer.summary(), "403 forbidden", "{prefix}");
        let answer = world.call_as(vec![], &format!("GET /api/v1/directories{prefix}"), None).await;
        assert_eq!(answer.summary(), "401 unauthenticated", "{prefix}");
    }
    for query in ["prefix=/&prefix=/usr", "path=/", "prefix=/&limit=1"] {
        let answer = world.get(&format!("/api/v1/directories?{query}")).await;
        assert_eq!(answer.summary(), "400 invalid_query", "{query}");
    }
    world.close().await;
}
