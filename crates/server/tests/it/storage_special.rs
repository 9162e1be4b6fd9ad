//! `/storage/file` on what is no ordinary file: pipes, devices, huge ones, other names of protected ones, and links that
//! are swapped meanwhile (T16, T17).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::World;

async fn session(world: &World) -> (String, PathBuf) {
    let root = world.directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("work")).unwrap();
    fs::create_dir_all(root.join("outside")).unwrap();
    fs::write(root.join("work/.env"), "KEY=1").unwrap();
    fs::write(root.join("outside/secret"), "SECRET").unwrap();
    let wish = json!({ "agent": "guide", "cwd": root.join("work") });
    let begun = world.call("POST /api/v1/sessions", wish).await.ok(201);
    (begun["id"].as_str().unwrap().to_owned(), root)
}

async fn read(world: &World, session: &str, path: &Path, more: &str) -> String {
    let path = path.to_str().unwrap().replace('%', "%25").replace(' ', "%20").replace(':', "%3A");
    let answer = world.get(&format!("/api/v1/storage/file?session={session}&path={path}{more}")).await;
    if answer.status == 200 { answer.json()["content"].as_str().unwrap().to_owned() } else { answer.summary() }
}

/// None of them is waited for, and none is opened.
#[tokio::test]
async fn pipes_sockets_and_devices_are_no_files() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    assert!(Command::new("mkfifo").arg(root.join("work/pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("work/socket")).unwrap();
    let mut names = vec!["pipe", "socket"];
    // Only root makes devices.
    let device = Command::new("mknod").arg(root.join("work/zero")).args(["c", "1", "5"]).output();
    if device.is_ok_and(|made| made.status.success()) {
        names.push("zero");
    }
    for name in names {
        for more in ["", "&whole=true"] {
            assert_eq!(read(&world, &session, &root.join("work").join(name), more).await, "400 not_a_file", "{name}");
        }
    }
    let page = world.get(&format!("/api/v1/storage/list?session={session}")).await.ok(200);
    assert_eq!(page["files"][0], json!({ "name": "pipe", "type": "other", "size": 0 }));
    world.close().await;
}

#[tokio::test]
async fn a_terabyte_of_nothing_is_not_read() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    let path = root.join("work/huge");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&world, &session, &path, "&whole=true").await, "413 file_too_large");
    let route = format!("/api/v1/storage/file?session={session}&path={}", path.display());
    let start = world.get(&route).await.ok(200);
    assert_eq!(
        (&start["bytes"], &start["cut"], &start["encoding"]),
        (&json!(1_u64 << 40), &json!(true), &json!("base64"))
    );
    assert_eq!(start["content"].as_str().unwrap().len(), (1_usize << 20).div_ceil(3) * 4);
    world.close().await;
}

#[tokio::test]
async fn no_spelling_of_a_protected_name_is_read() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    for name in [
        ".env",
        ".ENV",
        ".Env.",
        ".env...",
        ".env ",
        ".env::$DATA",
        ".env\u{200b}",
        ".env.local",
        "x/../.env",
        ".env/",
        "./.env",
        ".ſsh/x",
        ".git/config",
        "deploy_KEY",
        "a.pem.",
        "%2eenv/../.env",
    ] {
        // Where nothing has this very name it would be missing; it is refused all the same.
        assert_eq!(read(&world, &session, &root.join("work").join(name), "").await, "403 path_not_allowed", "{name}");
    }
    fs::hard_link(root.join("work/.env"), root.join("work/harmless.txt")).unwrap();
    assert_eq!(read(&world, &session, &root.join("work/harmless.txt"), "").await, "403 path_not_allowed");
    fs::write(root.join("work/one"), "twice").unwrap();
    fs::hard_link(root.join("work/one"), root.join("work/two")).unwrap();
    assert_eq!(read(&world, &session, &root.join("work/two"), "").await, "twice");
    let encoded = root.join("work/.env").display().to_string().replace("/.env", "%2F%2e%65nv");
    let answer = world.get(&format!("/api/v1/storage/file?session={session}&path={encoded}")).await;
    assert_eq!(answer.summary(), "403 path_not_allowed");
    world.close().await;
}

/// Also if the test panics, or the swapping would go on for ever.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whichever of the two a request meets, it never reads through the link.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_swapped_for_a_link_is_not_read_through() {
    let world = World::keeping_files().await;
    let (session, root) = session(&world).await;
    let (file, link) = (root.join("work/file"), root.join("work/link"));
    fs::write(root.join("work/inside"), "inside").unwrap();
    let is_over = AtomicBool::new(false);
    let swap = || {
        while !is_over.load(Ordering::Relaxed) {
            drop(fs::hard_link(root.join("work/inside"), &link));
            fs::rename(&link, &file).unwrap();
            drop(fs::remove_file(&link));
            symlink(root.join("outside/secret"), &link).unwrap();
            fs::rename(&link, &file).unwrap();
        }
    };
    std::thread::scope(|scope| {
        let end = End(&is_over);
        scope.spawn(swap);
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                for _ in 0..60 {
                    let found = read(&world, &session, &file, "").await;
                    assert!(
                        ["inside", "403 path_not_allowed", "404 file_not_found"].contains(&found.as_str()),
                        "{found}"
                    );
                }
            });
        });
        drop(end);
    });
    world.close().await;
}
