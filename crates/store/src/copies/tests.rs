//! What the copies promise: that they are what the log says, that a crash is mended, that nothing foreign is touched,
//! and that a log can be filled from them again.

mod arriving;
mod beside;
mod crashes;
mod foreign;
mod outputs;
mod purging;
mod round_trip;
mod untrusted;
mod works;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{AgentReport, Command, Incarnation, NextId, Outcome, Stop, StreamId, Turn, WorkEvent};
use tempfile::TempDir;

use crate::conformance::{
    AnyStore, act, at, batch, click, create, next_step, note, offers, prompt, session_id, work_id,
};
use crate::copies::{Copies, Depth, Touched};
use crate::{Head, MemoryStore, Part, Reader};

struct World {
    folder: TempDir,
    store: AnyStore,
    copies: Copies,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: AnyStore = Arc::new(MemoryStore::new(Incarnation::from_bits(7)));
        let copies = Copies::at(folder.path().join("sessions"));
        Self { folder, store, copies }
    }

    /// One with the first session and two turns in it, copied.
    async fn with_two_turns() -> Self {
        let world = Self::new();
        begin(&world.store, 1).await;
        finish_turn(&world.store, 1, 1, "first").await;
        finish_turn(&world.store, 1, 2, "second").await;
        assert_eq!(world.update(1).await, Touched::Yes);
        world
    }

    async fn update(&self, n: u8) -> Touched {
        self.copies.update(&*self.store, session_id(n), Depth::End).await.unwrap()
    }

    /// One in which the first session's agent offers three steps; two were taken, of one work, which was renamed.
    async fn with_a_work() -> Self {
        let world = Self::new();
        begin(&world.store, 1).await;
        start_turn(&world.store, 1, 1, "plan").await;
        for (nth, work) in [(1, Some("loom")), (2, Some("loom")), (3, Some("weft"))] {
            note(&world.store, 1, offers(1, nth, next_step(&format!("step {nth}"), work)), 112).await;
        }
        let stop = Stop { outcome: Outcome::Completed, reason: None };
        act(&world.store, 1, Command::Agent(AgentReport::Stopped(stop)), 113).await;
        world.click(1, 5, 200).await;
        world.click(2, 6, 300).await;
        world
            .tell_works(WorkEvent::WorkRenamed { work: work_id(5), project: "/w".to_owned(), name: "warp".to_owned() })
            .await;
        world.update_all().await;
        world
    }

    /// Takes the first session's step.
    async fn click(&self, nth: u32, new: u8, when: i64) {
        let clicked = click(&*self.store, 1, NextId { turn: Turn(1), nth }, new, when).await.unwrap();
        self.store.append(clicked).await.unwrap();
    }

    async fn tell_works(&self, event: WorkEvent) {
        let Head::At(head) = self.store.head(StreamId::Work).await.unwrap() else { panic!("it is never purged") };
        self.store.append(batch([Part::of_works(head, vec![event], at(400))])).await.unwrap();
    }

    async fn update_all(&self) {
        for n in 1..8 {
            self.update(n).await;
        }
        self.copies.update_works(&*self.store).await.unwrap();
    }

    fn works(&self) -> String {
        fs::read_to_string(self.copies.works_path()).unwrap()
    }

    fn file(&self, n: u8, name: &str) -> PathBuf {
        self.copies.path().join(session_id(n).to_string()).join(name)
    }

    fn tree(&self) -> Tree {
        tree(self.copies.path())
    }
}

/// Every file under a folder with what it holds, but for the cursor.
type Tree = BTreeMap<String, String>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(inside) = fs::read_dir(&folder) else { continue };
        for entry in inside {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name != "copies.json" {
                found.insert(name, String::from_utf8(fs::read(&path).unwrap()).unwrap());
            }
        }
    }
    found
}

async fn begin(store: &AnyStore, n: u8) {
    act(store, n, create("a name"), i64::from(n) * 100).await;
    act(store, n, Command::Agent(AgentReport::Ready { attached: None }), i64::from(n) * 100 + 1).await;
}

async fn start_turn(store: &AnyStore, n: u8, turn: u64, text: &str) {
    act(store, n, prompt(turn, text), i64::from(n) * 100 + turn.cast_signed() * 10).await;
}

async fn finish_turn(store: &AnyStore, n: u8, turn: u64, text: &str) {
    start_turn(store, n, turn, text).await;
    let when = i64::from(n) * 100 + turn.cast_signed() * 10 + 1;
    for (block, words) in [(0, "one "), (0, "two"), (1, "three\n")] {
        act(store, n, Command::Agent(AgentReport::Text { block, text: words.to_owned() }), when).await;
    }
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(store, n, Command::Agent(AgentReport::Stopped(stop)), when + 1).await;
}

/// Copies of the first sessions, written from nothing.
async fn written_anew(store: &dyn Reader, sessions: u8) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let copies = Copies::at(folder.path().join("sessions"));
    for n in 0..sessions {
        copies.update(store, session_id(n), Depth::End).await.unwrap();
    }
    tree(copies.path())
}
