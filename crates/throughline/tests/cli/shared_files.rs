//! Tests that `files/` in the data folder is shared with agents, and that nothing beside it is shown.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::{Folder, Running};

struct World {
    folder: Folder,
    server: Running,
    client: Client,
    session: String,
    data: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = Folder::new();
        let server = folder.serve();
        let client = Client::new(&folder, &server);
        let data = folder.data().canonicalize().unwrap();
        let tickets = data.join("files/tickets");
        fs::create_dir_all(&tickets).unwrap();
        fs::write(tickets.join("T-1.md"), "ring the bell").unwrap();
        let session = client.session();
        Self { folder, server, client, session, data }
    }

    /// The guide marks these with the tool, as any agent does.
    fn agent_marks(&self, items: &[&Path]) {
        let marks = json!({ "setName": "files", "items": items });
        let said = self.folder.run(&["send", &self.session, &format!("tool set_relevant_context {marks}")]).ok();
        assert!(said.contains("That is what the tool answered."), "{said}");
    }

    fn person_marks(&self, item: &Path) {
        let wish = json!({ "setContext": { "setName": "files", "items": [item], "mode": "merge" } });
        let told = self.client.call(&format!("PATCH /api/v1/sessions/{}", self.session), None, &wish).unwrap();
        assert_eq!(told.status, 200, "{}", told.body);
    }

    /// The content, or the error code: the same whether the session is named or not.
    fn read(&self, path: &Path) -> String {
        let [one, any] = [format!("&session={}", self.session), String::new()].map(|session| {
            let told = self.client.get(&format!("/storage/file?path={}&confirm=true{session}", path.display()));
            match told.status {
                200 => told.body["content"].as_str().unwrap().to_owned(),
                _ => told.summary(),
            }
        });
        assert_eq!(one, any, "{}", path.display());
        one
    }

    fn packet(&self) -> String {
        let told = self.client.get(&format!("/sessions/{}/resume-packet", self.session));
        told.body["text"].as_str().unwrap_or_else(|| panic!("{}", told.body)).to_owned()
    }
}

#[test]
fn notes_beside_the_database_are_marked_checked_and_read() {
    let world = World::new();
    let (note, gone) = (world.data.join("files/tickets/T-1.md"), world.data.join("files/tickets/T-2.md"));
    world.agent_marks(&[&note, &gone]);
    let packet = world.packet();
    let told = format!("Relevant files:\n- {}\n(1 files not found)", note.display());
    assert!(packet.contains(&told), "{packet}");
    assert_eq!(world.read(&note), "ring the bell");
    assert_eq!(world.read(&gone), "404 file_not_found");
    world.server.stop();
}

#[test]
fn what_else_lies_in_the_data_folder_stays_shut() {
    let world = World::new();
    world.folder.configure("[brief]\nenabled = true\n");
    fs::create_dir_all(world.data.join("sessions/files")).unwrap();
    fs::write(world.data.join("sessions/files/x"), "copy").unwrap();
    std::os::unix::fs::symlink("../token", world.data.join("files/key")).unwrap();
    fs::write(world.data.join("files/.env"), "KEY=1").unwrap();
    for name in
        ["token", "throughline.db", "config.toml", "server.json", "sessions/files/x", "files/../token", "missing"]
    {
        let path = world.data.join(name);
        world.person_marks(&path);
        assert_eq!(world.read(&path), "403 path_not_allowed", "{name}");
    }
    for name in ["files/key", "files/.env"] {
        assert_eq!(world.read(&world.data.join(name)), "403 path_not_allowed", "{name}");
    }
    // A session that works there sees no names, except those of the open part.
    for (cwd, expected) in
        [("", json!([])), ("files", json!([{ "path": "key" }, { "path": "tickets/" }, { "path": "tour/" }]))]
    {
        let begin = json!({ "agent": "guide", "cwd": world.data.join(cwd) });
        let begun = world.client.call("POST /api/v1/sessions", None, &begin).unwrap();
        assert_eq!(begun.status, 201, "{}", begun.body);
        let session = begun.body["id"].as_str().unwrap();
        let named: Value = world.client.get(&format!("/sessions/{session}/files?prefix=")).body;
        assert_eq!(named["files"], expected, "{cwd}");
    }
    world.server.stop();
}

/// What an agent marked elsewhere is closed until the person confirms it.
#[test]
fn an_agents_mark_outside_is_opened_once_the_person_confirms_it() {
    let world = World::new();
    let place = world.folder.home().canonicalize().unwrap();
    let (ticket, other) = (place.join("ticket.md"), place.join("other.md"));
    fs::write(&ticket, "a ticket").unwrap();
    fs::write(&other, "another").unwrap();
    world.agent_marks(&[&ticket, &other]);
    assert_eq!(world.read(&ticket), "403 path_not_allowed");
    world.person_marks(&ticket);
    assert_eq!(world.read(&ticket), "a ticket");
    assert_eq!(world.read(&other), "403 path_not_allowed", "it was not confirmed");
    let packet = world.packet();
    assert!(packet.contains(&format!("- {}\n- {} (not checked)", ticket.display(), other.display())), "{packet}");
    world.server.stop();
}
