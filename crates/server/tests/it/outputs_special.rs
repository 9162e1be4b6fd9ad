//! The tools that show files on what is no ordinary file: pipes, sockets, devices, directories, a terabyte of nothing, and links
//! that are swapped meanwhile (T16, T17). Nothing outside is shown, and nothing is waited for.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::mcp::Client;
use crate::outputs::{listed, showing};
use crate::support::{World, within};

const TERABYTE: u64 = 1 << 40;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A file of a terabyte that begins so and goes on with zeros that take no room.
fn sparse(path: &Path, start: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(start).unwrap();
    file.set_len(TERABYTE).unwrap();
}

/// What a tool says of a file; it has to say it soon.
async fn show(agent: &Client, tool: &str, arguments: Value) -> String {
    Box::pin(within(&format!("an answer about {arguments}"), agent.call(tool, arguments.clone()))).await
}

fn files(world: &World, session: &str) -> usize {
    let folder = world.directory.path().join("sessions").join(session).join("outputs");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn pipes_sockets_devices_and_directories_are_not_shown() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    assert!(Command::new("mkfifo").arg(cwd.join("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(cwd.join("socket")).unwrap();
    fs::create_dir(cwd.join("folder")).unwrap();
    symlink("pipe", cwd.join("to-pipe")).unwrap();
    symlink("/dev/zero", cwd.join("to-zero")).unwrap();
    symlink("/dev/stdin", cwd.join("to-stdin")).unwrap();
    symlink("/proc/self/environ", cwd.join("to-environ")).unwrap();
    let mut cases = vec![
        ("pipe", "no plain file"),
        ("to-pipe", "no plain file"),
        ("socket", "no plain file"),
        ("folder", "no plain file"),
        ("to-zero", "outside the directories"),
        ("to-stdin", "outside the directories"),
        ("to-environ", "outside the directories"),
        ("/dev/zero", "outside the directories"),
        ("/proc/self/environ", "outside the directories"),
    ];
    // Only root makes devices.
    let device = Command::new("mknod").arg(cwd.join("zero")).args(["c", "1", "5"]).output();
    if device.is_ok_and(|made| made.status.success()) {
        cases.push(("zero", "no plain file"));
    }
    for (path, why) in cases {
        for (tool, arguments) in [
            ("render_file_contents", json!({ "path": path })),
            ("render_file_contents", json!({ "path": path, "startLine": 1, "endLine": 3 })),
            ("display_image", json!({ "path": path })),
        ] {
            let answer = show(&agent, tool, arguments).await;
            assert!(answer.starts_with("FAILED") && answer.contains(why), "{tool} {path}: {answer}");
        }
    }
    assert_eq!((listed(&world, &session).await.len(), files(&world, &session)), (0, 0));
    world.close().await;
}

/// Its first lines are shown, and everything is refused by its size before it is read.
#[tokio::test]
async fn of_a_terabyte_only_some_lines_are_shown() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    // More than is looked at to see what it is.
    sparse(&cwd.join("text"), "a line of text\n".repeat(10_000).as_bytes());
    sparse(&cwd.join("picture"), PNG);
    for (tool, path) in [("render_file_contents", "text"), ("display_image", "picture")] {
        let answer = show(&agent, tool, json!({ "path": path })).await;
        assert!(answer.contains("more than 1 MiB"), "{path}: {answer}");
    }
    assert_eq!(files(&world, &session), 0);
    let answer = show(&agent, "render_file_contents", json!({ "path": "text", "startLine": 2, "endLine": 4 })).await;
    assert!(answer.contains("lines 2 to 4, 45 bytes"), "{answer}");
    let outputs = listed(&world, &session).await;
    assert_eq!((outputs.len(), &outputs[0]["bytes"]), (1, &json!(45)));
    let id = outputs[0]["id"].as_str().unwrap();
    let shown = world.get(&format!("/api/v1/outputs/{id}")).await;
    assert_eq!(shown.text(), "a line of text\n".repeat(3));
    // The last line has no end, and is more than one output may be.
    let answer = show(&agent, "render_file_contents", json!({ "path": "text", "startLine": 10_001 })).await;
    assert!(answer.contains("more than 1 MiB"), "{answer}");
    assert_eq!(files(&world, &session), 1);
    world.close().await;
}

/// Also if the test panics, or the swapping would go on for ever.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whichever of the two a call meets, it never shows what is behind the link.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_swapped_for_a_link_is_not_shown_through() {
    let world = World::open().await;
    let (session, cwd, agent) = showing(&world).await;
    let root = world.directory.path().canonicalize().unwrap();
    fs::write(root.join("secret"), [PNG, b"SECRET"].concat()).unwrap();
    fs::write(root.join("secret.txt"), "SECRET").unwrap();
    fs::write(cwd.join("inside.txt"), "inside").unwrap();
    fs::write(cwd.join("inside"), [PNG, b"inside"].concat()).unwrap();
    let is_over = AtomicBool::new(false);
    let swap = |name: &str, inside: &str, secret: &str| {
        let (file, link) = (cwd.join(name), cwd.join(format!("{name}.link")));
        while !is_over.load(Ordering::Relaxed) {
            drop(fs::hard_link(cwd.join(inside), &link));
            fs::rename(&link, &file).unwrap();
            drop(fs::remove_file(&link));
            symlink(root.join(secret), &link).unwrap();
            fs::rename(&link, &file).unwrap();
        }
    };
    std::thread::scope(|scope| {
        let end = End(&is_over);
        scope.spawn(|| swap("text", "inside.txt", "secret.txt"));
        scope.spawn(|| swap("picture", "inside", "secret"));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for _ in 0..40 {
                    for (tool, path) in [("render_file_contents", "text"), ("display_image", "picture")] {
                        let answer = show(&agent, tool, json!({ "path": path })).await;
                        let is_known = answer.starts_with("[output:")
                            || answer.contains("outside the directories")
                            || answer.contains("there is nothing");
                        assert!(is_known, "{answer}");
                    }
                }
            });
        });
        drop(end);
    });
    for output in listed(&world, &session).await {
        let shown = world.get(&format!("/api/v1/outputs/{}", output["id"].as_str().unwrap())).await;
        let expected = if output["type"] == "image" { [PNG, b"inside"].concat() } else { b"inside".to_vec() };
        assert_eq!(shown.body.as_ref(), expected);
    }
    world.close().await;
}
