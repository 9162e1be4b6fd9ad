//! A copy that was left at any step of its writing, or edited, is the same as any other after the next look.

use std::fs;

use super::{World, finish_turn};
use crate::conformance::{act, session_id};
use crate::copies::{Depth, Difference, Touched, What};
use model::Command;

/// All that a kill can leave between two states of a session: its words cut anywhere, its meta old or new, with or
/// without a file that was not put in its place.
#[tokio::test]
async fn a_kill_at_any_step_is_mended_by_the_next_look() {
    let world = World::with_two_turns().await;
    let (words, meta) = (world.file(1, "transcript.jsonl"), world.file(1, "meta.json"));
    let before = (fs::read(&words).unwrap(), fs::read(&meta).unwrap());
    finish_turn(&world.store, 1, 3, "third").await;
    finish_turn(&world.store, 1, 4, "fourth").await;
    world.update(1).await;
    let after = (fs::read(&words).unwrap(), fs::read(&meta).unwrap());
    let expected = world.tree();
    assert_eq!(expected[&format!("{}/transcript.jsonl", session_id(1))].lines().count(), 4);

    for length in before.0.len()..=after.0.len() {
        for meta_left in [&before.1, &after.1] {
            fs::write(&words, &after.0[..length]).unwrap();
            fs::write(&meta, meta_left).unwrap();
            if *meta_left == before.1 {
                fs::write(world.file(1, "meta.json.new"), &after.1[..length % after.1.len()]).unwrap();
            }
            world.update(1).await;
            assert_eq!(world.tree(), expected, "{length} bytes of words were left");
            assert_eq!(world.update(1).await, Touched::No);
        }
    }
}

#[tokio::test]
async fn a_file_that_was_being_written_anew_is_begun_again() {
    let world = World::with_two_turns().await;
    let expected = world.tree();
    fs::write(world.file(1, "transcript.jsonl"), "not ours\n").unwrap();
    fs::write(world.file(1, "transcript.jsonl.new"), "half of someth").unwrap();
    assert_eq!(world.update(1).await, Touched::Yes);
    assert_eq!(world.tree(), expected);
}

#[tokio::test]
async fn an_end_that_is_not_ours_has_the_file_written_anew() {
    let world = World::with_two_turns().await;
    let expected = world.tree();
    let words = world.file(1, "transcript.jsonl");
    let sound = fs::read_to_string(&words).unwrap();
    let (first, second) = sound.split_once('\n').unwrap();
    for edited in [
        format!("{sound}and a remark\n"),
        format!("{sound}\n"),
        format!("{sound}{}", second.replace("\"turn\":2", "\"turn\":9")),
        format!("{sound}{}", second.replace("\"turn\":2", "\"turn\":0")),
        format!("{first}\n{}", second.replace("completed", "cancelled")),
        format!("{first}\n{}", second.replace("\"turn\":2", "\"turn\": 2")),
        "\n\n".to_owned(),
        "\0".repeat(100_000) + "\n",
    ] {
        fs::write(&words, &edited).unwrap();
        assert_eq!(world.update(1).await, Touched::Yes, "{edited}");
        assert_eq!(world.tree(), expected, "{edited}");
    }
    fs::remove_dir_all(words.parent().unwrap()).unwrap();
    assert_eq!(world.update(1).await, Touched::Yes);
    assert_eq!(world.tree(), expected);
}

/// Edits further up cost a reading of everything, so they are found by those who ask for that.
#[tokio::test]
async fn an_edit_in_the_middle_is_found_by_looking_at_the_whole() {
    let world = World::with_two_turns().await;
    let expected = world.tree();
    let words = world.file(1, "transcript.jsonl");
    fs::write(&words, fs::read_to_string(&words).unwrap().replacen("first", "fjrst", 1)).unwrap();
    assert_eq!(world.update(1).await, Touched::No);
    let different = vec![Difference { session: session_id(1), what: What::Transcript }];
    assert_eq!(world.copies.check(&*world.store, &[session_id(1)]).await.unwrap(), different);
    assert_eq!(world.copies.update(&*world.store, session_id(1), Depth::Whole).await.unwrap(), Touched::Yes);
    assert_eq!(world.tree(), expected);
}

#[tokio::test]
async fn what_differs_is_named() {
    let world = World::with_two_turns().await;
    super::begin(&world.store, 2).await;
    fs::write(world.file(1, "meta.json"), "{}").unwrap();
    let named = async || {
        let found = world.copies.check(&*world.store, &[session_id(1), session_id(2), session_id(3)]).await.unwrap();
        found.into_iter().map(|difference| (difference.session, difference.what)).collect::<Vec<_>>()
    };
    assert_eq!(named().await, [(session_id(1), What::Meta), (session_id(2), What::Missing)]);
    world.update(1).await;
    world.update(2).await;
    assert_eq!(named().await, []);
    act(&world.store, 2, Command::Delete, 300).await;
    world.update(2).await;
    let head = world.store.session(session_id(2)).await.unwrap().unwrap().head;
    world.store.purge(session_id(2), head, crate::conformance::at(400)).await.unwrap();
    assert_eq!(named().await, [(session_id(2), What::Purged)]);
    assert_eq!(world.update(2).await, Touched::Yes);
    assert_eq!(named().await, []);
    assert!(!world.file(2, "").exists());
}
