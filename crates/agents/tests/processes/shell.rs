//! Tests the login shell's `PATH` with real shells.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use agents::process::login_shell_path;

use crate::support::{PATH, Place};

fn environment(place: &Place, shell: &str) -> BTreeMap<String, String> {
    let home = place.path().to_str().unwrap();
    [("HOME", home), ("SHELL", shell), ("PATH", PATH)].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[tokio::test]
async fn what_the_shells_files_add_comes_behind_the_servers_own() {
    let place = Place::new();
    let profile = "echo 'PATH=/greeting'; PATH=\"$HOME/agents:$PATH\"; export PATH; sleep 1000 &";
    fs::write(place.path().join(".profile"), profile).unwrap();
    for shell in ["/bin/sh", "/bin/bash"].into_iter().filter(|shell| Path::new(shell).exists()) {
        let path = login_shell_path(&place.launcher, &environment(&place, shell)).await;
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
        assert_eq!(login_shell_path(&place.launcher, &environment(&place, shell)).await, PATH, "{shell}");
    }
}
