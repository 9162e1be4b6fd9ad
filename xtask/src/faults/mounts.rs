//! Bind mounts in a session's directory: what is protected stays so where it is mounted a second time, and everything else that
//! is mounted there belongs to the directory, since only the person can have put it there (T16).

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::SceneContext;
use super::disks::{mount, stop};
use super::story::{begin_in, entries, prompt};
use crate::kills::http::{Http, Request};
use crate::kills::live::{Frame, Live};
use crate::kills::server::{self, Server};

const SECRET: &str = "the secret of the loom";
const THEIRS: &str = "put there by the person";
const FORBIDDEN: u16 = 403;

pub(super) fn play(context: &SceneContext, root: &Path) -> anyhow::Result<String> {
    let [home, data, work, elsewhere] = ["home", "data", "work", "elsewhere"].map(|name| root.join(name));
    for (folder, file, text) in [
        (home.join(".ssh"), "config", SECRET),
        (home.join(".ssh"), "id_loom", SECRET),
        (home.join(".config/gh"), "hosts.yml", SECRET),
        (elsewhere.clone(), "notes.txt", THEIRS),
        (work.clone(), "own.txt", THEIRS),
    ] {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(file), text)?;
    }
    let mut command = server::command(&context.binary, &data);
    command.env("HOME", &home);
    let server = Server::launch(command, &data, &context.log())?;
    for (from, to) in [
        (home.join(".ssh"), "keys"),
        (home.join(".config/gh"), "settings"),
        (data.clone(), "server"),
        (elsewhere.clone(), "notes"),
    ] {
        fs::create_dir(work.join(to))?;
        mount(&["--bind", from.to_str().context("a path that is no text")?], &work.join(to))?;
    }
    // A name that is protected stays so over whatever is mounted there, and a file that is mounted has the name it got.
    File::create(work.join(".env"))?;
    mount(&["--bind", elsewhere.join("notes.txt").to_str().context("a path that is no text")?], &work.join(".env"))?;

    let mut http = Http::new(server.endpoint());
    let session = begin_in(&mut http, &work)?;
    for (path, is_open) in [
        ("own.txt", true),
        ("notes/notes.txt", true),
        ("keys/config", false),
        ("keys/id_loom", false),
        ("settings/hosts.yml", false),
        ("server/token", false),
        ("server/throughline.db", false),
        (".env", false),
    ] {
        let named = work.join(path);
        let answer =
            http.send(&Request::get(format!("/api/v1/storage/file?session={session}&path={}", named.display())))?;
        let expected = if is_open { 200 } else { FORBIDDEN };
        ensure!(answer.status == expected, "T16: {path} was answered with {} {}", answer.status, answer.body);
        ensure!(is_open == answer.body.contains(THEIRS), "T16: {path} was answered with {}", answer.body);
        for wish in ["show", "read"] {
            take(&mut http, &server, &session, &format!("{wish} {path}"))?;
        }
    }
    for folder in ["keys", "settings", "server"] {
        let path = work.join(folder);
        let answer =
            http.send(&Request::get(format!("/api/v1/storage/list?session={session}&path={}", path.display())))?;
        ensure!(answer.status == FORBIDDEN, "T16: the list of {folder} was answered with {}", answer.status);
    }
    let entries = entries(&mut http, &session)?;
    let stored = entries.iter().filter(|entry| entry["type"] == "output.stored").count();
    ensure!(stored == 2, "T16: {stored} files were shown, and two are open");
    let log = entries.iter().map(Value::to_string).collect::<String>();
    ensure!(!log.contains(SECRET), "T16: a secret is in the log");
    stop(server)?;
    Ok("what is protected stayed so where it was mounted again, and what else was mounted was shown".to_owned())
}

/// Sends a prompt and waits until its turn has ended.
fn take(http: &mut Http, server: &Server, session: &str, text: &str) -> anyhow::Result<()> {
    let before = ended_turns(&entries(http, session)?);
    let answer = http.send(&prompt(session, text))?;
    ensure!(answer.status == 202, "{text:?} was answered with {} {}", answer.status, answer.body);
    let mut live = Live::connect(&server.endpoint())?;
    live.follow(session, None)?;
    let mut ended = 0;
    while ended <= before {
        if let Frame::Entry(seen) = live.read()? {
            ended += usize::from(seen.entry["type"] == "turn.ended");
        }
    }
    Ok(())
}

fn ended_turns(entries: &[Value]) -> usize {
    entries.iter().filter(|entry| entry["type"] == "turn.ended").count()
}
