//! Copies come from anywhere: what does not hold together is left out by name, and the rest comes back.

use std::fs;
use std::os::unix::fs::symlink;

use model::Incarnation;

use super::{World, begin, finish_turn};
use crate::MemoryStore;
use crate::conformance::session_id;
use crate::copies::MAX_LINE_BYTES;
use crate::prelude::*;

/// What is said of the first session's copy after `spoil` had it; the second session's is sound.
async fn said_of(spoil: impl FnOnce(&World)) -> String {
    let world = World::with_two_turns().await;
    begin(&world.store, 2).await;
    finish_turn(&world.store, 2, 1, "sound").await;
    world.update(2).await;
    spoil(&world);
    let spoilt = world.tree();
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert!(fresh.session(session_id(2)).await.unwrap().is_some(), "the sound one comes back");
    assert_eq!(fresh.session(session_id(1)).await.unwrap(), None, "nothing of the other does");
    assert_eq!(hydrated.sessions, 1);
    assert_eq!(world.tree(), spoilt, "the files stay as they are");
    let [skipped] = hydrated.skipped.as_slice() else { panic!("{:?}", hydrated.skipped) };
    assert_eq!(skipped.session, session_id(1));
    skipped.why.to_string()
}

async fn said_of_edit(name: &str, from: &str, to: &str) -> String {
    said_of(|world| {
        let text = fs::read_to_string(world.file(1, name)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(world.file(1, name), text.replacen(from, to, 1)).unwrap();
    })
    .await
}

#[tokio::test]
async fn a_copy_that_breaks_a_rule_is_left_out() {
    let long = "x".repeat(300);
    for (from, to, expected) in [
        (
            "a name",
            "a\\nname",
            "it breaks a rule: a name is one line of at most 200 characters, without control characters",
        ),
        ("a name", &long, "it breaks a rule: a name is one line of at most 200 characters, without control characters"),
        ("guide", &long, "it breaks a rule: a name is one line of at most 200 characters, without control characters"),
        ("\"/w\"", "\"w\"", "it breaks a rule: a directory is an absolute path of at most 4096 bytes"),
        (
            "\"envHint\": \"\"",
            "\"envHint\": \"\\u0000\"",
            "it breaks a rule: an environment hint has at most 2000 characters and no control characters but line ends",
        ),
        ("\"format\": 7", "\"format\": 8", "its format is 8, this program knows formats up to 7"),
        ("01010101-", "02010101-", "its meta.json names the session 02010101-0101-0101-0101-010101010101"),
        ("00:00:00.100Z", "yesterday", "its meta.json cannot be understood"),
        ("{", "", "its meta.json cannot be understood"),
    ] {
        assert_eq!(said_of_edit("meta.json", from, to).await, expected);
    }
    for (from, to, expected) in [
        ("first", " ", "it breaks a rule: the prompt is empty"),
        ("\"turn\":2", "\"turn\":3", "line 2 of its transcript is the turn t3"),
        ("\"turn\":1", "\"turn\":4294967295", "line 1 of its transcript is the turn t4294967295"),
        ("\"completed\"", "null", "line 1 of its transcript is no finished turn"),
        ("\"completed\"", "\"done\"", "line 1 of its transcript is no finished turn"),
        ("\n", "\n\n", "line 2 of its transcript is no finished turn"),
        ("\"type\":\"text\"", "\"type\":\"dream\"", "line 1 of its transcript is no finished turn"),
        (
            "\"images\":[]",
            "\"images\":[{\"mimeType\":\"text/html\",\"data\":\"AA==\"}]",
            "it breaks a rule: a prompt takes at most 8 pictures with 8388608 bytes of Base64 in all, each a PNG, JPEG, \
             GIF or WebP",
        ),
        (
            "\"items\":[",
            "\"items\":[{\"type\":\"permission\",\"request\":0,\"title\":\"\",\"kind\":\"edit\",\"options\":[],\
             \"answer\":{\"option\":\"yes\",\"by\":{\"type\":\"nobody\"}}},",
            "it breaks a rule: p0 does not wait for an answer; it was answered or withdrawn",
        ),
        (
            "\"items\":[",
            "\"items\":[{\"type\":\"permission\",\"request\":4294967295,\"title\":\"\",\"kind\":\"edit\",\"options\":[],\
             \"answer\":{\"option\":\"yes\",\"by\":{\"type\":\"nobody\"}}},",
            "it breaks a rule: p4294967295 does not wait for an answer; it was answered or withdrawn",
        ),
        ("00000000-0000", "zz000000-0000", "line 1 of its transcript is no finished turn"),
    ] {
        assert_eq!(said_of_edit("transcript.jsonl", from, to).await, expected);
    }
}

/// Nobody is given a button that no agent's words could have brought, and none is used twice.
#[tokio::test]
async fn a_copy_with_blocks_that_are_none_is_left_out() {
    let block =
        |nth: u32, next: &str| format!(r#"{{"nth":{nth},"block":0,"start":0,"end":1,"shown":{{"next":{{{next}}}}}}}"#);
    let sound = r#""label":"go","command":"go on","metaContext":"loom""#;
    let (no_turn, no_block) =
        ("line 1 of its transcript is no finished turn", "line 1 of its transcript shows blocks that are none");
    let long = format!(r#""label":"{}","command":"go""#, "x".repeat(121));
    for (blocks, expected) in [
        (block(0, sound), no_block),
        (block(101, sound), no_block),
        (format!("{},{}", block(2, sound), block(2, sound)), no_block),
        (block(1, r#""label":"","command":"go""#), no_block),
        (block(1, r#""label":"go","command":" ""#), no_block),
        (block(1, &long), no_block),
        (block(1, r#""label":"go","command":"go","metaContext":"a\u200bb""#), no_block),
        (block(1, r#""label":"go""#), no_turn),
        (r#"{"nth":1,"block":0,"start":0,"end":1,"shown":{"card":{"kind":"dream"}}}"#.to_owned(), no_turn),
    ] {
        let said = said_of_edit("transcript.jsonl", "\"blocks\":[]", &format!("\"blocks\":[{blocks}]")).await;
        assert_eq!(said, expected, "{blocks}");
    }
    let id = session_id(2);
    let click = format!(r#"{{"block":"t1.n1","metaContext":"{id}","session":"{id}","at":"1970-01-01T00:00:00.122Z"}}"#);
    let unknown = "its meta.json tells of a click on t1.n1, which does not wait for one";
    assert_eq!(said_of_edit("meta.json", "\"clicks\": []", &format!("\"clicks\": [{click}]")).await, unknown);
    let twice = said_of(|world| {
        let edit = |name: &str, from: &str, to: &str| {
            let text = fs::read_to_string(world.file(1, name)).unwrap();
            fs::write(world.file(1, name), text.replacen(from, to, 1)).unwrap();
        };
        edit("transcript.jsonl", "\"blocks\":[]", &format!("\"blocks\":[{}]", block(1, sound)));
        edit("meta.json", "\"clicks\": []", &format!("\"clicks\": [{click},{click}]"));
    });
    assert_eq!(twice.await, unknown);
    let odd = said_of_edit("meta.json", "\"from\": null", "\"from\": {\"session\": 7, \"block\": \"t1.n1\"}").await;
    assert_eq!(odd, "its meta.json cannot be understood");
}

#[tokio::test]
async fn a_copy_that_cannot_be_reached_is_left_out() {
    assert_eq!(said_of(|world| fs::remove_file(world.file(1, "meta.json")).unwrap()).await, "it has no meta.json");
    let huge = said_of(|world| fs::write(world.file(1, "transcript.jsonl"), "x".repeat(MAX_LINE_BYTES + 1)).unwrap());
    assert_eq!(huge.await, "line 1 of its transcript is longer than 16777216 bytes");
    for name in ["meta.json", "transcript.jsonl", ""] {
        let said = said_of(|world| {
            let path = world.copies.path().join(session_id(1).to_string());
            let path = if name.is_empty() { path } else { path.join(name) };
            let outside = world.folder.path().join("outside");
            fs::rename(&path, &outside).unwrap();
            symlink(&outside, &path).unwrap();
        });
        let said = said.await;
        assert!(said.ends_with("is not ours: it is a link, or not what should be there"), "{said}");
    }
}

/// As a crash leaves it: the turn was not whole, so it is not there.
#[tokio::test]
async fn a_last_line_without_its_end_is_no_turn() {
    let world = World::with_two_turns().await;
    let words = world.file(1, "transcript.jsonl");
    let text = fs::read_to_string(&words).unwrap();
    fs::write(&words, &text[..text.len() - 1]).unwrap();
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    assert_eq!(world.copies.hydrate(&fresh).await.unwrap().sessions, 1);
    assert_eq!(fresh.session(session_id(1)).await.unwrap().unwrap().row.turns, model::Turn(1));
}

#[tokio::test]
async fn what_is_no_session_is_not_looked_at() {
    let world = World::with_two_turns().await;
    fs::write(world.copies.path().join("README.md"), "mine").unwrap();
    fs::create_dir(world.copies.path().join("../sessions/notes")).unwrap();
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert_eq!((hydrated.sessions, hydrated.skipped.len()), (1, 0));
}
