//! `/sessions/{id}/files`: what a prompt could speak of.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::client::bearer;
use crate::support::World;

/// A session in a directory with files of all kinds, one of which leads out.
async fn session(world: &World) -> String {
    let root = world.directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("work/src/deep")).unwrap();
    fs::create_dir_all(root.join("outside")).unwrap();
    for path in ["work/src/main.rs", "work/src/Main.md", "work/setup.sh", "work/.hidden", "work/.env", "outside/secret"]
    {
        fs::write(root.join(path), "").unwrap();
    }
    symlink(root.join("outside"), root.join("work/way-out")).unwrap();
    let wish = json!({ "agent": "guide", "cwd": root.join("work") });
    let begun = world.call("POST /api/v1/sessions", wish).await.ok(201);
    begun["id"].as_str().unwrap().to_owned()
}

async fn named(world: &World, session: &str, prefix: &str) -> Vec<String> {
    let answer = world.get(&format!("/api/v1/sessions/{session}/files?prefix={prefix}")).await.ok(200);
    let files = answer["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn files_go_on_from_what_was_typed() {
    let world = World::open().await;
    let session = session(&world).await;
    assert_eq!(named(&world, &session, "").await, ["setup.sh", "src/", "way-out"]);
    assert_eq!(named(&world, &session, "s").await, ["setup.sh", "src/"]);
    assert_eq!(named(&world, &session, "src/").await, ["src/deep/", "src/Main.md", "src/main.rs"]);
    assert_eq!(named(&world, &session, "src/m").await, ["src/main.rs", "src/Main.md"]);
    assert_eq!(named(&world, &session, "src/deep/").await, [""; 0]);
    assert_eq!(named(&world, &session, ".h").await, [".hidden"]);
    world.close().await;
}

#[tokio::test]
async fn nothing_outside_and_nothing_protected_is_named() {
    let world = World::open().await;
    let session = session(&world).await;
    let outside = world.directory.path().join("outside/");
    let outside = outside.to_str().unwrap();
    for prefix in
        ["../outside/", "../", "src/../../outside/", "way-out/", outside, "/", "/etc/", "~/", "%00/", ".env", "no/"]
    {
        assert_eq!(named(&world, &session, prefix).await, [""; 0], "{prefix}");
    }
    world.close().await;
}

#[tokio::test]
async fn at_most_fifty_are_named() {
    let world = World::open().await;
    let session = session(&world).await;
    for n in 0..60 {
        fs::write(world.directory.path().join(format!("work/many{n:02}")), "").unwrap();
    }
    let many = named(&world, &session, "many").await;
    assert_eq!((many.len(), many[49].as_str()), (50, "many49"));
    world.close().await;
}

/// T19: an agent has tools of its own for this.
#[tokio::test]
async fn only_the_person_is_told() {
    let world = World::open().await;
    let session = session(&world).await;
    let agent = world.agent_token(&session).await;
    let route = format!("GET /api/v1/sessions/{session}/files");
    assert_eq!(world.call_as(bearer(&agent), &route, None).await.summary(), "403 forbidden");
    assert_eq!(world.call_as(vec![], &route, None).await.summary(), "401 unauthenticated");
    let nobody = "/api/v1/sessions/0198c0de-0000-7000-8000-00000000dead/files";
    assert_eq!(world.get(nobody).await.summary(), "404 session_not_found");
    for query in ["prefix=a&prefix=b", "path=/"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/files?{query}")).await;
        assert_eq!(answer.summary(), "400 invalid_query", "{query}");
    }
    world.close().await;
}
