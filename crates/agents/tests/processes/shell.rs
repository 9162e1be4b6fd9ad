//! Tests the login shell's `PATH` with real shells.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use agents::process::login_shell_path;

use tokio_util::sync::CancellationToken;

use crate::support::{PATH, Place};

fn environment(place: &Place, shell: &str) -> BTreeMap<String, String> {
    let home = place.path().to_str().unwrap();
    [("HOME", home), ("SHELL", shell), ("PATH", PATH)].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

async fn path_of(place: &Place, shell: &str) -> String {
    login_shell_path(&place.launcher, &environment(place, shell), &CancellationToken::new()).await
}

#[tokio::test]
async fn what_the_shells_files_add_comes_behind_the_servers_own() {
    let place = Place::new();
    let profile = "echo 'PATH=/greeting'; PATH=\"$HOME/agents:$PATH\"; export PATH; sleep 1000 &";
    fs::write(place.path().join(".profile"), profile).unwrap();
    for shell in ["/bin/sh", "/bin/bash"].into_iter().filter(|shell| Path::new(shell).exists()) {
        let path = path_of(&place, shell).await;
        let added = path.strip_prefix(&format!("{PATH}:")).unwrap_or_else(|| panic!("{shell}: {path}"));
        let agents = place.path().join("agents");
        assert_eq!(added.split(':').next(), agents.to_str(), "{shell}: {path}");
    }
    place.launcher.wait_until_idle().await;
}

#[tokio::test]
async fn a_shell_that_fails_leaves_the_servers_own() {
    let place = Place::new();
    for shell in ["/bin/false", "/no/such/shell", "sh", ""] {
        assert_eq!(path_of(&place, shell).await, PATH, "{shell}");
    }
}

/// One that is killed while it holds a lock makes every later shell wait for it.
#[tokio::test]
async fn a_shell_that_is_not_waited_for_can_clean_up() {
    let place = Place::new();
    let lock = place.path().join("lock");
    // A program that the shell's files run, as tools that keep an index do: it holds a lock until it ends.
    let holder = format!("trap 'rm {0}' EXIT\ntrap 'exit 1' TERM\n: > {0}\nread -r forever < fifo\n", lock.display());
    fs::write(place.path().join("holder"), holder).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap();
    assert!(made.success());
    fs::write(place.path().join(".profile"), "cd \"$HOME\"; sh ./holder\n").unwrap();
    let stopping = CancellationToken::new();
    let environment = environment(&place, "/bin/sh");
    let path = login_shell_path(&place.launcher, &environment, &stopping);
    let stop_once_locked = async {
        while !lock.exists() {
            tokio::task::yield_now().await;
        }
        stopping.cancel();
    };
    let (path, ()) = tokio::join!(path, stop_once_locked);
    assert_eq!(path, PATH);
    assert!(!lock.exists(), "the lock is still there");
    place.launcher.wait_until_idle().await;
}
