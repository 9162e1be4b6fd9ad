//! Tests disks that fail and processes that die between two steps: everything acknowledged is kept, once.
//!
//! The fail points exist only in the program that tests run: see `main.rs`.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::Value;

use crate::client::{Client, Told};
use crate::support::{Folder, Running};

/// SQLite's code for a failed flush.
const FLUSH_FAILED: &str = "1034";
const SIGABRT: i32 = 6;

/// What a client did until the server was gone, and what a follower saw meanwhile.
struct Story {
    session: String,
    /// Each prompt with its answer, in order; only the last may have none.
    prompts: Vec<(String, Option<Told>)>,
    frames: Vec<Value>,
}

impl Story {
    /// A slow turn runs, so each prompt waits and is one commit of its own.
    fn tell(folder: &Folder, server: &Running) -> Self {
        let client = Client::new(folder, server);
        let session = client.session();
        let mut follower = client.follow(&session);
        let mut frames = vec![follower.next()];
        while frames.last().is_some_and(|frame| frame["type"] != "caught_up") {
            frames.push(follower.next());
        }
        let mut prompts: Vec<(String, Option<Told>)> = Vec::new();
        while prompts.last().is_none_or(|(_, told)| told.as_ref().is_some_and(|told| told.status == 202)) {
            assert!(prompts.len() < 40, "nothing fails");
            let text = if prompts.is_empty() { "slow 600".to_owned() } else { format!("say {}", prompts.len()) };
            let told = client.prompt(&session, &text.replace(' ', "-"), &text);
            prompts.push((text, told));
        }
        frames.extend(follower.rest());
        Self { session, prompts, frames }
    }

    fn acknowledged(&self) -> Vec<&str> {
        let acknowledged = |told: &Option<Told>| told.as_ref().is_some_and(|told| told.status == 202);
        self.prompts.iter().filter(|(_, told)| acknowledged(told)).map(|(text, _)| text.as_str()).collect()
    }

    /// R01, R04: every entry that was shown is there, unchanged.
    fn check_what_was_seen(&self, entries: &[Value]) {
        let seen: Vec<&Value> =
            self.frames.iter().map(|frame| &frame["entry"]).filter(|entry| !entry.is_null()).collect();
        assert!(seen.len() >= 3, "the follower saw nothing: {:?}", self.frames);
        let kept: Vec<&Value> = entries.iter().take(seen.len()).collect();
        assert_eq!(kept, seen, "what was shown is not what is kept");
    }
}

/// The prompts of a log in order, each once by its id: one that waited appears again when it is sent.
fn prompts_of(entries: &[Value]) -> Vec<&str> {
    let mut seen = Vec::new();
    let mut texts = Vec::new();
    for entry in entries.iter().filter(|entry| entry["type"].as_str().unwrap().starts_with("prompt.")) {
        let data = &entry["data"];
        if !seen.contains(&&data["interactionId"]) {
            seen.push(&data["interactionId"]);
            texts.push(data["text"].as_str().unwrap());
        }
    }
    texts
}

/// R03: what could not be flushed is not acknowledged and not retried; followers are told, the server exits with a
/// failure, and the next one has what was acknowledged and nothing else.
#[test]
fn a_failed_flush_is_never_acknowledged_and_ends_the_server() {
    for commits in [4, 5, 7] {
        let folder = Folder::new();
        let server = folder.serve_failing(&format!("store-commit={commits}*off->1*return({FLUSH_FAILED})"));
        let story = Story::tell(&folder, &server);
        let status = server.ended();
        assert_eq!(status.code(), Some(1), "{}", folder.log());
        let log = folder.log();
        assert!(log.contains("error: the store can not be written any more"), "{log}");
        for name in ["server.json", "server.sock"] {
            assert!(!folder.file(name).exists(), "{name} is still there");
        }
        // Whichever write failed, the next prompt was refused.
        let refused = story.prompts.last().and_then(|(_, told)| told.as_ref()).map(Told::summary);
        let refused = refused.as_deref().unwrap_or("gone");
        assert!(["503 storage_failed", "503 stopping", "gone"].contains(&refused), "{refused}");
        let [.., bye, close] = story.frames.as_slice() else { panic!("{:?}", story.frames) };
        assert_eq!((&bye["type"], &close["code"]), (&"bye".into(), &1001.into()), "{:?}", story.frames);

        let server = folder.serve();
        let entries = Client::new(&folder, &server).entries(&story.session);
        story.check_what_was_seen(&entries);
        assert_eq!(prompts_of(&entries), story.acknowledged());
        server.stop();
    }
}

/// R01, R04, R09: the process dies before the commit, and between it and its answer, at each step of the way. What
/// was acknowledged is kept, nobody saw anything else, and repeating the prompt that got no answer has one effect.
#[test]
fn a_crash_between_commit_and_answer_loses_nothing_and_repeats_nothing() {
    for point in ["store-commit", "store-committed", "engine-appended", "engine-published"] {
        let mut kept_and_never_told = 0;
        for commits in [4, 5, 7] {
            let folder = Folder::new();
            let server = folder.serve_failing(&format!("{point}={commits}*off->panic"));
            let story = Story::tell(&folder, &server);
            assert_eq!(server.ended().signal(), Some(SIGABRT), "{}", folder.log());

            let server = folder.serve();
            let client = Client::new(&folder, &server);
            let entries = client.entries(&story.session);
            story.check_what_was_seen(&entries);
            let kept = prompts_of(&entries);
            let acknowledged = story.acknowledged();
            assert_eq!(kept[..acknowledged.len()], acknowledged, "{point} after {commits}");
            let (last, answer) = story.prompts.last().unwrap();
            assert_eq!(*answer, None, "{point} after {commits}");
            kept_and_never_told += usize::from(kept.last() == Some(&last.as_str()));

            // All of them again, with the same keys: the same answers, and no second effect.
            for (text, told) in &story.prompts {
                let again = client.prompt(&story.session, &text.replace(' ', "-"), text).unwrap();
                assert_eq!(again.status, 202, "{}", again.body);
                assert!(told.as_ref().is_none_or(|told| *told == again), "{told:?} became {again:?}");
                assert_eq!(client.prompt(&story.session, &text.replace(' ', "-"), text), Some(again));
            }
            let told: Vec<&str> = story.prompts.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(prompts_of(&client.entries(&story.session)), told, "{point} after {commits}");
            server.stop();
        }
        // A death before a commit loses that commit: the prompt's own, or one of its agent's while the answer was on
        // its way.
        let expected = if point == "store-commit" { 0..=3 } else { 1..=3 };
        assert!(expected.contains(&kept_and_never_told), "{point}: {kept_and_never_told} were kept and never told");
    }
}
